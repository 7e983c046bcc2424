"""Asks the TPU compiler about the step that a job showed: from lowered steps to facts."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from tpudiag import location
from tpudiag.compiled import Compilation, CompilerFacts, HbmTensor, LoweredStep, RefusedOp
from tpudiag.hardware import Target
from tpudiag.sources.compiler import libtpu_process
from tpudiag.sources.job.process.protocol import LOWERING

INTERRUPTED = "the compilation was interrupted"
LONGEST = 200
"""Characters of a compiler's message in the reason of a check."""
NEVER_RECOMPUTES = 0.5
"""Below this share of the HBM the compiler has no reason to recompute: no second compilation."""


@dataclass(frozen=True)
class CompilerRequest:
    """Whether and how the compiler is to be asked."""

    wanted: bool = True
    python: str | None = None
    """Another Python that has jax and libtpu; None for this one."""
    timeout_s: float = 600.0


def of_job(
    facts: dict[str, object],
    interrupted: bool,
    target: Target,
    asked: CompilerRequest,
    on_phase: Callable[[str], None],
) -> CompilerFacts:
    """What the compiler says of the job that left these facts."""
    if not asked.wanted:
        return CompilerFacts(reason="the TPU compiler was not asked", how="leave out --no-compile")
    lowered = msgspec.convert(facts.get("lowered", ()), tuple[LoweredStep, ...])
    if interrupted or (not lowered and facts.get("phase") == LOWERING):
        ended = "was interrupted" if interrupted else "died of being lowered"
        return CompilerFacts(reason=f"the job {ended}", how="check again")
    try:
        return ask(lowered, target, asked, on_phase)
    except KeyboardInterrupt:
        return CompilerFacts(lowered[0], reason=INTERRUPTED, how="check again")


def ask(
    lowered: tuple[LoweredStep, ...],
    target: Target,
    asked: CompilerRequest,
    on_phase: Callable[[str], None],
) -> CompilerFacts:
    """What the compiler says of the step, and of its small batch where it may recompute."""
    if not lowered:
        return CompilerFacts(
            reason="the job showed no training step of a known batch, to be lowered",
            how="train under strategy.run or Keras fit, in the scope of a TPUStrategy, on a "
            "dataset with drop_remainder=True",
        )
    own = lowered[0]
    if own.path is None:
        return CompilerFacts(
            own,
            reason=f"the step {'does not lower' if own.refused_ops else 'was not lowered'} to XLA: "
            f"{_obstacle(own)}",
            # Without an operation that was refused there may be nothing that either of them says.
            how="mend what TPU102 and TPU103 say, then check again"
            if own.refused_ops
            else "run one step on the TPU",
        )
    installed = libtpu_process.find(asked.python)
    if installed is None:
        return CompilerFacts(own, reason=libtpu_process.MISSING, how=libtpu_process.INSTALL)
    compiler = libtpu_process.Compiler(installed, asked.timeout_s)
    on_phase(f"compiling the step for {target.name}")
    step = located(compiler.compile(own, target), own)
    small: Compilation | None = None
    # The second compilation takes as long as the first: it is asked for only where it can differ.
    tight = step.headroom is not None and step.headroom < 1 - NEVER_RECOMPUTES
    if step.compiled and tight and len(lowered) > 1 and lowered[1].path:
        on_phase(f"compiling a small batch for {target.name}")
        small = compiler.compile(lowered[1], target)
    if step.error is not None:
        why = f"the TPU compiler gave no answer: {first_line(step.error)}"
        return CompilerFacts(own, step, reason=why, how="run one step on the TPU")
    return CompilerFacts(own, step, small)


def located(compilation: Compilation, step: LoweredStep) -> Compilation:
    """The compilation with the user's lines and the names of the program's arguments."""
    if step.locations_path is None:
        return compilation
    places = json.loads(Path(step.locations_path).read_text(encoding="utf-8"))
    lines: dict[str, str] = places["operations"]
    arguments: list[str] = places["arguments"]

    def tensor(given: HbmTensor) -> HbmTensor:
        # The program knows its arguments by number; the lowering wrote down which variable each is.
        number = given.name.removeprefix("argument ")
        if number.isdigit() and int(number) < len(arguments):
            return replace(given, name=arguments[int(number)])
        return replace(given, location=location.parsed(lines.get(given.name)))

    def operation(op: RefusedOp) -> RefusedOp:
        return replace(op, location=location.parsed(lines.get(op.name)))

    program, full = compilation.program, compilation.out_of_memory
    return replace(
        compilation,
        program=program and replace(program, padded=tuple(map(tensor, program.padded))),
        out_of_memory=full and replace(full, largest=tuple(map(tensor, full.largest))),
        dynamic=tuple(map(operation, compilation.dynamic)),
        lines=_of_program(compilation, lines),
    )


def _of_program(compilation: Compilation, lines: dict[str, str]) -> dict[str, str]:
    """The lines of the operations that the program still holds."""
    work = (compilation.program.work if compilation.program else None) or ()
    return {each.op_name: lines[each.op_name] for each in work if each.op_name in lines}


def _obstacle(step: LoweredStep) -> str:
    """What keeps a step from being lowered, shortly."""
    if step.refused_ops:
        return ", ".join(operation.kind for operation in step.refused_ops[:3])
    return first_line(step.error)


def first_line(text: str | None) -> str:
    """The first telling line of a message."""
    lines = [line.strip() for line in (text or "it said nothing").splitlines() if line.strip()]
    if not lines or len(lines[0]) <= LONGEST:
        return lines[0] if lines else "it said nothing"
    whole = lines[0][:LONGEST]
    return f"{whole.rpartition(' ')[0] or whole} ..."
