"""Reads the optimised HLO of the TPU compiler: cycles, padding, recomputation, work."""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress

from tpudiag.compiled import Collective, HbmTensor, Program
from tpudiag.prediction.instructions import COLLECTIVE, OpenLoop, work_of
from tpudiag.prediction.module import Instruction, Module, parse
from tpudiag.prediction.work import Work

MOST = 1 << 22
"""The most visited instructions, each as often as it is called: forty times those of the largest
program seen; a small text may call for any number."""
KEPT = 10
"""The worst tensors and products, which are kept."""
_COPIED = re.compile(r"\.remat\d*(\.|_|$)")
_NO_BUFFER = frozenset((
    "tuple", "get-tuple-element", "bitcast", "while", "conditional", "call", "opt-barrier",
    "after-all", "copy-start", "all-reduce-start", "all-gather-start", "async-start",
    "async-update", "slice-start", "collective-permute-start",
))  # fmt: skip
"""Operations whose result shares or contains another's buffer."""


def read(text: str) -> Program | None:
    """The facts of an optimised module; None for an unknown format."""
    try:
        module = parse(text)
        return _read(text, module) if _size(module, module.entry, {}) <= MOST else None
    # Sizes of thousands of digits, computations that call themselves, dimensions without a label.
    except (ArithmeticError, LookupError, RecursionError, ValueError):
        return None


def _size(module: Module, name: str, known: dict[str, int]) -> int:
    """The instructions of a computation, those of called ones as often as they are called."""
    if name not in known:
        lines = module.instructions(name)
        called = (other for line in lines for other in line.computations)
        known[name] = len(lines) + sum(_size(module, other, known) for other in called)
    return known[name]


def _read(text: str, module: Module) -> Program:
    held = tuple(_held(module, module.entry))
    recomputed = [i for i in held if _COPIED.search(i.name)]
    cycles: int | None = None
    work: tuple[Work, ...] | None = None
    with suppress(OpenLoop):
        cycles = _cycles(module, module.entry)
        work = tuple(each for each in work_of(module) if each.counts)
    return Program(
        cycles=cycles,
        recomputed=tuple(i.name for i in recomputed),
        recomputed_cycles=sum(i.cycles or 0 for i in recomputed),
        padded=_worst(held, module),
        collectives=_collectives(held),
        # Known by the compiler's own names: the text has no attribute for it.
        sharded_update="cross-replica-sharding" in text,
        products=_products(held),
        work=work,
    )


def _made_by(instruction: Instruction) -> str:
    if instruction.opcode == "parameter":
        return f"argument {instruction.rest.partition(')')[0]}"
    return instruction.op_name or instruction.name


def _called(instruction: Instruction) -> tuple[str, ...]:
    """The computations that an instruction runs, without fusions and reductions."""
    if instruction.opcode == "while":
        return instruction.called("condition"), instruction.called("body")
    if instruction.opcode == "call":
        return (instruction.called("to_apply"),)
    if instruction.opcode == "async-start":
        return (instruction.called("calls"),)
    return instruction.branches if instruction.opcode == "conditional" else ()


def _held(module: Module, name: str) -> Iterator[Instruction]:
    """The separately run instructions, each once: none inside a fusion."""
    for instruction in module.instructions(name):
        yield instruction
        for called in _called(instruction):
            yield from _held(module, called)


def _cycles(module: Module, name: str) -> int:
    """The estimate for a computation: loops times their length, the longest of branches."""
    total = 0
    made = {each.name: each for each in module.instructions(name)}
    for instruction in module.instructions(name):
        total += instruction.cycles or 0
        inner = [_cycles(module, called) for called in _called(instruction)]
        if instruction.opcode == "while" and any(inner):
            trips = module.trips(instruction, made)
            if trips is None:
                raise OpenLoop(instruction.name)
            total += trips * sum(inner)
        elif instruction.opcode == "conditional":
            total += max(inner, default=0)
        else:
            total += sum(inner)
    return total


def _worst(held: Iterable[Instruction], module: Module) -> tuple[HbmTensor, ...]:
    """The tensors with the largest padding loss; one entry per operation and shape."""
    own = {instruction.name for instruction in module.instructions(module.entry)}
    tensors: dict[tuple[str, str], HbmTensor] = {}
    for instruction in held:
        if instruction.opcode in _NO_BUFFER:
            continue
        # Only the entry's parameters are buffers of their own: a loop body's name the carried
        # values.
        if instruction.opcode == "parameter" and instruction.name not in own:
            continue
        for array in instruction.results:
            if array.in_hbm and array.padded_bytes > array.bytes:
                name = _made_by(instruction)
                tensor = HbmTensor(name, array.text, array.bytes, array.padded_bytes)
                tensors.setdefault((name, array.text), tensor)
    lost_most = sorted(tensors.values(), key=lambda t: (t.logical_bytes - t.padded_bytes, t.name))
    return tuple(lost_most[:KEPT])


def _collectives(held: Iterable[Instruction]) -> tuple[Collective, ...]:
    """The collectives by kind; a started one counts its result, half of its shapes."""
    total: dict[str, tuple[int, int]] = {}
    for instruction in held:
        kind = COLLECTIVE.match(instruction.opcode)
        if kind is None:
            continue
        made = [array.bytes for array in instruction.results]
        # A start's result is (given, made); an all-reduce's is only what it makes.
        if kind[2] and kind[1] != "all-reduce":
            made = made[1:2]
        count, size = total.get(kind[1], (0, 0))
        total[kind[1]] = (count + 1, size + sum(made))
    return tuple(Collective(kind, *total[kind]) for kind in sorted(total))


def _products(held: Iterable[Instruction]) -> tuple[tuple[str, int], ...]:
    """The instructions with matrix products, and their cycles."""
    total: dict[str, int] = {}
    for instruction in held:
        multiplies = instruction.opcode in ("convolution", "dot")
        if multiplies or "convolution_algorithm_config" in instruction.rest:
            name = _made_by(instruction)
            total[name] = total.get(name, 0) + (instruction.cycles or 0)
    return tuple(sorted(total.items(), key=lambda item: (-item[1], item[0]))[:KEPT])
