"""Compiles a job's step for the TPU: from lowered steps to facts."""

import contextlib
import json
import re
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

import msgspec

from tpudiag import location
from tpudiag.bounded_numbers import whole
from tpudiag.compiled import Compilation, CompilerFacts, HbmTensor, LoweredStep, RefusedOp
from tpudiag.errors import MissingExtra, UsageError
from tpudiag.hardware import GIB, Target
from tpudiag.model import Framework
from tpudiag.sources.cell_lines import CellMap
from tpudiag.sources.compiler import libtpu_process
from tpudiag.sources.job.process.host_memory import available_bytes
from tpudiag.sources.job.process.protocol import LOWERING

LONGEST = 200
"""The most characters of a compiler's message in a check's reason."""
NEVER_RECOMPUTES = 0.5
"""Below this share of the HBM the compiler has no reason to recompute: no second compilation."""

EARLY_BYTES = 4 * GIB
"""Memory to leave free if the compiler starts before the job has ended: for ResNet-50 it takes
about 2 GiB."""


@dataclass(frozen=True, kw_only=True)
class CompilerRequest:
    """Whether and how to run the compiler."""

    wanted: bool = True
    python: str | None = None
    """Another Python with jax and libtpu; None for this one."""
    timeout_s: float


class StepCompilation:
    """Compiles a job's step while the job does its last work.

    The compiler is loaded when the job begins to lower its step, and compiles once that is done:
    all timing of the job is over by then. A context that ends what is still in progress.
    """

    def __init__(
        self, target: Target, request: CompilerRequest, cells: CellMap | None = None
    ) -> None:
        self._target, self._request, self._cells = target, request, cells
        # One thread for all: a compiler's child process dies with the thread that started it.
        self._worker = ThreadPoolExecutor(max_workers=1)
        self._compiler: Future[libtpu_process.Compiler | None] | None = None
        self._early: tuple[LoweredStep, Future[Compilation]] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._compiler is not None and not self._compiler.cancel():
            with contextlib.suppress(UsageError):
                compiler = self._compiler.result()
                if compiler is not None:
                    compiler.stop()
        self._worker.shutdown(cancel_futures=True)

    def heard(self, facts: dict[str, object]) -> None:
        """Take a line of the job's facts."""
        if not self._request.wanted:
            return
        if facts.get("phase") == LOWERING and available_bytes() > EARLY_BYTES:
            self._found()
        if "lowered" in facts and self._compiler is not None and self._early is None:
            own = msgspec.convert(facts["lowered"], tuple[LoweredStep, ...])[0]
            if own.path is not None:
                self._early = own, self._submitted(own)

    def of_job(
        self, facts: dict[str, object], interrupted: bool, on_phase: Callable[[str], None]
    ) -> CompilerFacts:
        """The compiler's facts for the job with these facts."""
        if not self._request.wanted:
            reason = "the TPU compiler was not asked"
            return CompilerFacts(reason=reason, how="leave out --no-compile")
        lowered = msgspec.convert(facts.get("lowered", ()), tuple[LoweredStep, ...])
        if interrupted or (not lowered and facts.get("phase") == LOWERING):
            ended = "was interrupted" if interrupted else "died of being lowered"
            return CompilerFacts(reason=f"the job {ended}", how="check again")
        if not lowered:
            return CompilerFacts(
                reason="the job showed no training step of a known batch, to be lowered",
                how="take the gradients within a function of jax.jit"
                if facts.get("framework") == Framework.JAX.value
                else "train under strategy.run or Keras fit, in the scope of a TPUStrategy, on a "
                "dataset with drop_remainder=True",
            )
        try:
            return self.of_steps(lowered, on_phase)
        except KeyboardInterrupt:
            reason = "the compilation was interrupted"
            return CompilerFacts(lowered[0], reason=reason, how="check again", interrupted=True)

    def of_steps(
        self, lowered: tuple[LoweredStep, ...], on_phase: Callable[[str], None]
    ) -> CompilerFacts:
        """The compiler's facts for the step, and for its small batch where it may recompute."""
        own = lowered[0]
        if own.path is None:
            kinds = ", ".join(operation.kind for operation in own.refused_ops[:3])
            fault = "does not lower" if kinds else "was not lowered"
            why = f"the step {fault} to XLA: {kinds or first_line(own.error)}"
            # Without a refused operation neither of the checks may have a message.
            mend = "mend what TPU102 and TPU103 say, then check again"
            return CompilerFacts(own, reason=why, how=mend if kinds else "run one step on the TPU")
        if self._found().result() is None:
            return CompilerFacts(own, reason=libtpu_process.MISSING, how=libtpu_process.INSTALL)
        on_phase(f"compiling the step for {self._target.name}")
        early = self._early[1] if self._early is not None and self._early[0] == own else None
        step = located((early or self._submitted(own)).result(), own, self._cells)
        small: Compilation | None = None
        # The second compilation takes as long as the first: it is run only where it can
        # differ.
        tight = step.headroom is not None and step.headroom < 1 - NEVER_RECOMPUTES
        if step.compiled and tight and len(lowered) > 1 and lowered[1].path:
            on_phase(f"compiling a small batch for {self._target.name}")
            try:
                small = self._submitted(lowered[1]).result()
            except KeyboardInterrupt:  # what is known of the step itself stays
                return CompilerFacts(own, step, interrupted=True)
        if step.error is not None:
            why = f"the TPU compiler gave no answer: {first_line(step.error)}"
            return CompilerFacts(own, step, reason=why, how="run one step on the TPU")
        return CompilerFacts(own, step, small)

    def _found(self) -> Future[libtpu_process.Compiler | None]:
        """The compiler, searched once."""
        if self._compiler is None:
            self._compiler = self._worker.submit(self._prepared)
        return self._compiler

    def _prepared(self) -> libtpu_process.Compiler | None:
        """The compiler, loaded for the target; None where it is not installed."""
        installed = libtpu_process.find(self._request.python)
        if installed is None:
            return None
        compiler = libtpu_process.Compiler(installed, self._request.timeout_s)
        compiler.prepare(self._target)
        return compiler

    def _submitted(self, step: LoweredStep) -> Future[Compilation]:
        """A compilation, queued after the worker's current task."""
        found = self._found()

        def compiled() -> Compilation:
            compiler = found.result()
            if compiler is None:
                raise MissingExtra(libtpu_process.MISSING)
            return compiler.compile(step, self._target)

        return self._worker.submit(compiled)


def located(
    compilation: Compilation, step: LoweredStep, cells: CellMap | None = None
) -> Compilation:
    """The compilation with the user's lines and the names of the program's arguments.

    `cells` maps a notebook's program to its cells.
    """
    if step.locations_path is None or step.path is None:
        return compilation
    places = json.loads(Path(step.locations_path).read_text(encoding="utf-8"))
    of_stacks = _in_cells(places["operations"], cells)
    of_keras = _in_cells(places.get("layers", {}), cells)
    # A finding points to the user's call, where there is such a line; in the table of instructions
    # the line of `model(x)` would be at nearly all of them.
    lines, of_work = of_keras | of_stacks, of_stacks | of_keras
    arguments: list[str] = places["arguments"]
    # XLA drops unused arguments: the names' order is then unknown, and wrong names would be worse
    # than none. The program of an older TensorFlow was converted beside its own.
    if _argument_count(Path(step.path).with_suffix(".mlir")) != len(arguments):
        arguments = []

    def tensor(given: HbmTensor) -> HbmTensor:
        # The program numbers its arguments; the lowering recorded which variable each is.
        number = whole(given.name.removeprefix("argument "))
        if number is not None and number < len(arguments):
            return replace(given, name=arguments[number])
        return replace(given, location=location.parsed(lines.get(given.name)))

    def operation(op: RefusedOp) -> RefusedOp:
        return replace(op, location=location.parsed(lines.get(op.name)))

    program, full = compilation.program, compilation.out_of_memory
    work = (compilation.program.work if compilation.program else None) or ()
    return replace(
        compilation,
        program=program and replace(program, padded=tuple(map(tensor, program.padded))),
        out_of_memory=full and replace(full, largest=tuple(map(tensor, full.largest))),
        dynamic=tuple(map(operation, compilation.dynamic)),
        lines={each.op_name: of_work[each.op_name] for each in work if each.op_name in of_work},
    )


def _argument_count(program: Path) -> int:
    """The arguments of a program's text; -1 where there is none."""
    if not program.is_file():
        return -1
    with program.open(encoding="utf-8") as lines:
        head = next((line for line in lines if " @main(" in line), "")
    return len(re.findall(r"%arg\d+: ", head.partition("->")[0]))


def _in_cells(lines: dict[str, str], cells: CellMap | None) -> dict[str, str]:
    """The lines mapped to a notebook's cells, where the job is one."""
    return lines if cells is None else {name: cells.named(line) for name, line in lines.items()}


def first_line(text: str | None) -> str:
    """The first informative line of a message, with the next one after a colon."""
    lines = [line.strip() for line in (text or "it said nothing").splitlines() if line.strip()]
    if len(lines) > 1 and lines[0].endswith(":"):
        lines[:2] = [f"{lines[0]} {lines[1]}"]
    if not lines or len(lines[0]) <= LONGEST:
        return lines[0] if lines else "it said nothing"
    whole = lines[0][:LONGEST]
    return f"{whole.rpartition(' ')[0] or whole} ..."
