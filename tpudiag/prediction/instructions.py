"""The work of a program's instructions: loops unrolled, the longest of branches."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import prod

from tpudiag.prediction import product_flops
from tpudiag.prediction.arrays import Array
from tpudiag.prediction.module import Instruction, Module
from tpudiag.prediction.traffic import traffic
from tpudiag.prediction.work import Kind, Work, hbm_bytes_of

CAUSAL = 0.5
"""The share of position pairs in causal attention, which skips half of them."""
PRODUCTS = 2
"""Products of queries with keys, and of weights with values."""
_ATTENTION = re.compile(r"attention|mha|mqa|gqa", re.I)
_BACKWARD = {"dkv": 4, "dq": 3, "bwd": 5, "backward": 5}
"""Products of the gradient kernels, which recompute the weights."""


def attention_flops(name: str, operands: Sequence[Array]) -> int:
    """FLOPs of a causal attention kernel; 0 where name or operands do not match.

    Queries are [..., heads, positions, width], followed by keys with heads of the same width.
    """
    # Integer operands are segment ids, block masks and lengths.
    large = [each for each in operands if len(each.dims) >= 3 and each.kind in ("bf16", "f32")]
    if not _ATTENTION.search(name) or len(large) < 3:
        return 0
    queries, keys = large[0], large[1]
    if queries.dims[-1] != keys.dims[-1]:
        return 0
    # dkv before dq and both before bwd: names such as `bwd_dkv` contain two of the words.
    products = next((n for word, n in _BACKWARD.items() if word in name), PRODUCTS)
    if "dkv" in name and "fused" in name:
        products = _BACKWARD["bwd"]
    return int(2 * products * CAUSAL * queries.elements * keys.dims[-2])


SHAPE_KEPT = 80
"""The kept characters of a result's type."""
MOST_HOPS = 8
"""The most copies, bitcasts and tuple elements between a move and its array's origin."""
# They only name or wait: an asynchronous pair's work counts at its start.
_FREE = frozenset((
    "parameter", "constant", "tuple", "get-tuple-element", "bitcast", "after-all", "opt-barrier",
    "partition-id", "replica-id", "add-dependency", "copy-done", "async-done", "async-update",
    "all-reduce-done", "all-gather-done", "collective-permute-done", "slice-done", "recv-done",
    "send-done", "domain",
))  # fmt: skip
COLLECTIVE = re.compile(
    r"(all-reduce|reduce-scatter|all-gather|all-to-all|collective-permute|ragged-all-to-all)"
    r"(-start)?$"
)
_GROUPS = re.compile(r"replica_groups=(?:\{\{([\d,]*)\}|\[(\d+),(\d+)\])")
_MESH = re.compile(r"replica_groups=mesh\[([^\]]*)\] ?\{([^}]*)\}")
_AXIS = re.compile(r"'([^']+)'(?:=(\d+)|:\(\d+\)(\d+))?")
_COST = re.compile(r'"cost_estimate":\{([^}]*)\}')
_FIELD = re.compile(r'"(\w+)":"?(\d+)')


class OpenLoop(Exception):
    """A loop of unknown length."""


def work_of(module: Module) -> tuple[Work, ...]:
    """The work of one step; OpenLoop where the length of a loop is not known."""
    return tuple(_computation(module, module.entry, 1))


def _computation(module: Module, name: str, trips: int) -> Iterator[Work]:
    lines = module.instructions(name)
    made = {line.name: line for line in lines}
    for line in lines:
        if line.opcode == "while":
            yield from _loop(module, line, made, trips)
        elif line.opcode == "conditional":
            branches = [list(_computation(module, each, trips)) for each in line.branches]
            # The one taken is unknown: the longest, so that the prediction is not too fast.
            yield from max(branches, key=hbm_bytes_of, default=list[Work]())
        elif line.opcode == "call":
            yield from _computation(module, line.called("to_apply"), trips)
        elif line.opcode == "async-start":
            # Started here and awaited later.
            begun = _computation(module, line.called("calls"), trips)
            yield from (replace(each, hidden=True) for each in begun)
        elif line.opcode not in _FREE:
            yield _instruction(module, line, made, trips)


def _loop(
    module: Module, line: Instruction, made: dict[str, Instruction], trips: int
) -> Iterator[Work]:
    """The work of a loop's body, times its iterations."""
    body = list(_computation(module, line.called("body"), 1))
    # Before its length is needed: an open loop around nothing must not keep a step from being
    # predicted.
    if not body:
        return
    count = module.trips(line, made)
    if count is None:
        raise OpenLoop(line.name)
    yield from _computation(module, line.called("body"), trips * count)


def _instruction(
    module: Module, line: Instruction, made: dict[str, Instruction], trips: int
) -> Work:
    inner = module.instructions(line.called("calls")) if line.opcode == "fusion" else ()
    operands = _operands(line, made)
    collective = _collective(module, line, inner, operands)
    made_for = line.op_name or _inner_name(inner)
    work = Work(
        name=line.name,
        kind=Kind.ELEMENTWISE,
        trips=trips,
        op_name=made_for,
        shape=line.shape[:SHAPE_KEPT],
        result_bytes=sum(array.hbm_bytes for array in line.results),
    )
    if collective is not None:
        word, size, members, hidden = collective
        return replace(
            work,
            kind=Kind.COLLECTIVE,
            cycles=line.cycles,
            link_bytes=size,
            members=members,
            collective=word,
            hidden=hidden,
            flops=_flops(module, inner),
        )
    if line.opcode in ("copy-start", "slice-start"):
        moved = made_for or _maker(line, made)
        # A copy's tuple is (to, from, context): one of the two ends is mostly in VMEM.
        ends = line.results[:2]
        in_hbm = max((array.hbm_bytes for array in ends), default=0)
        size = min(in_hbm, min((array.padded_bytes for array in ends), default=0))
        return replace(work, kind=Kind.PREFETCH, op_name=moved, hbm_bytes=size, hidden=True)
    if line.opcode == "custom-call":
        cost = _COST.search(line.rest)
        stated = {name: int(value) for name, value in _FIELD.findall(cost[1])} if cost else {}
        size = stated.get("bytes_accessed") or sum(a.hbm_bytes for a in operands + line.results)
        kind = Kind.CUSTOM if "tpu_custom_call" in line.rest else Kind.ELEMENTWISE
        flops = stated.get("flops") or attention_flops(f"{line.name} {made_for}", operands)
        return replace(work, kind=kind, cycles=line.cycles, hbm_bytes=size, flops=flops)
    size, strided = traffic(module, line, inner, made)
    flops = _flops(module, inner) if inner else _product(line, made)
    return replace(
        work,
        kind=_kind(line, inner, flops),
        cycles=line.cycles,
        hbm_bytes=size,
        strided_bytes=strided,
        flops=flops,
    )


def _maker(line: Instruction, made: dict[str, Instruction]) -> str:
    """The framework operation that made the compiler's moved array; empty for an argument."""
    for _ in range(MOST_HOPS):
        source = made.get(line.operands[0]) if line.operands else None
        if source is None or source.op_name:
            return source.op_name if source else ""
        line = source
    return ""


def _operands(line: Instruction, made: dict[str, Instruction]) -> tuple[Array, ...]:
    return tuple(array for name in line.operands if name in made for array in made[name].results)


def _kind(line: Instruction, inner: Sequence[Instruction], flops: int) -> Kind:
    if flops:
        return Kind.PRODUCT
    moves = {"broadcast", "pad", "copy", "iota", "slice", "transpose", "concatenate", "reverse"}
    root = next((each for each in inner if each.root), line)
    # Up to three: parameter, one operation and the move. Longer fusions compute before they move.
    if line.opcode in moves or (inner and root.opcode in moves and len(inner) <= 3):
        return Kind.MOVE
    return Kind.ELEMENTWISE


def _inner_name(inner: Sequence[Instruction]) -> str:
    """The framework operation at the end of a nameless fusion."""
    root = next((each for each in inner if each.root), None)
    if root is None or root.op_name:
        return root.op_name if root else ""
    return next((each.op_name for each in reversed(inner) if each.op_name), "")


def _flops(module: Module, inner: Sequence[Instruction]) -> int:
    """FLOPs of the products inside a fusion, including nested fusions."""
    made = {each.name: each for each in inner}
    total = 0
    for each in inner:
        if each.opcode == "fusion":
            total += _flops(module, module.instructions(each.called("calls")))
        else:
            total += _product(each, made)
    return total


def _product(line: Instruction, made: dict[str, Instruction]) -> int:
    if line.opcode not in ("convolution", "dot") or not line.results:
        return 0
    return product_flops.flops(line.opcode, _operands(line, made), line.results[0], line.attributes)


def _collective(
    module: Module, line: Instruction, inner: Sequence[Instruction], operands: Sequence[Array]
) -> tuple[str, int, int, bool] | None:
    """Its word, bytes given by one device, group size, and whether it runs asynchronously."""
    direct = COLLECTIVE.match(line.opcode)
    if direct:
        size = sum(array.bytes for array in operands)
        return direct[1], size, _members(line), direct[2] is not None
    for each in inner:
        if COLLECTIVE.match(each.opcode):
            size = sum(array.bytes for array in _operands(each, {one.name: one for one in inner}))
            word = "reduce-scatter" if "all-reduce-scatter" in line.called("calls") else each.opcode
            # An asynchronous fusion is marked only by its name.
            return word.removesuffix("-start"), size, _members(each), "async" in line.name
        if each.opcode == "fusion":
            nested = module.instructions(each.called("calls"))
            wrapped = _collective(module, each, nested, _operands(each, {o.name: o for o in inner}))
            if wrapped:
                return wrapped
    return None


def _members(line: Instruction) -> int:
    """Devices in one group of a collective; 2 where unknown."""
    groups, mesh = _GROUPS.search(line.rest), _MESH.search(line.rest)
    if mesh is not None:  # {'x'} of mesh['x'=16,'y'=16]; a part of an axis as 'x':(2)8
        axes = {name: int(size) for name, size, _ in _AXIS.findall(mesh[1])}
        return prod(int(part or axes.get(name, 1)) for name, _, part in _AXIS.findall(mesh[2]))
    if groups is None:
        return 2
    if groups[1] is not None:
        return len([each for each in groups[1].split(",") if each])
    return int(groups[3])
