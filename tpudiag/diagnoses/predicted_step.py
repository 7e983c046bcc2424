"""The predicted step in a report: its figures, its largest instructions, and their table."""

from dataclasses import dataclass, replace

from tpudiag import input_verdict, location
from tpudiag.compiled import Compilation
from tpudiag.hardware import Target
from tpudiag.prediction.step import PredictedStep, TopInstruction
from tpudiag.prediction.times import Bound, Range
from tpudiag.prediction.work import Work
from tpudiag.report_figures import (
    Measurement,
    OperationFigures,
    PredictedInstruction,
    Series,
    StepPrediction,
    Table,
)
from tpudiag.signals import Signals
from tpudiag.sources.compiler import libtpu_process

TITLE = "Predicted: the instructions that take most"
COLUMNS = (
    "instruction", "operation", "line", "ms", "% of step", "MB of HBM", "GFLOP", "bound by",
    "helps",
)  # fmt: skip
OPERATIONS_KEPT = 400
"""The most operations whose figures a report keeps for comparisons, largest first."""
ALONE = "the input pipeline run alone on this machine: CPU time of the process"
SOURCE = "predicted, not measured: the program of the {compiler} for {target}"


@dataclass
class _Sum:
    """One operation's figures, being summed."""

    cycles: int = 0
    flops: int = 0
    hbm_bytes: int = 0
    collective_bytes: int = 0
    result_bytes: int = 0

    def add(self, work: Work) -> None:
        """Add one of its instructions."""
        self.cycles += (work.cycles or 0) * work.trips
        self.flops += work.flops * work.trips
        self.hbm_bytes += work.hbm_bytes * work.trips
        self.collective_bytes += work.link_bytes * work.trips
        # Without the trip count: a loop writes its result into the same buffer each time.
        self.result_bytes += work.result_bytes


def of_signals(signals: Signals) -> Compilation | None:
    """The compilation of the job's own step, if it has a predicted step."""
    step = signals.compiler.step if signals.compiler is not None else None
    return step if step is not None and step.predicted is not None else None


def dispatched(signals: Signals) -> Signals:
    """Signals with the predicted step of a job that dispatches several steps at once."""
    compiler, target = signals.compiler, signals.target
    dispatch, keras = signals.dispatch, signals.keras
    steps = max(
        # Keras' own setting, too: CPU replicas take one step per execution, whatever the job set.
        dispatch.steps_per_dispatch if dispatch else 1,
        keras.steps_per_execution if keras else 1,
    )
    if compiler is None or compiler.step is None or target is None or steps < 2:
        return signals
    step = libtpu_process.timed(compiler.step, target, steps)
    return replace(signals, compiler=replace(compiler, step=step))


def measurements(signals: Signals) -> dict[str, Measurement]:
    """Figures of the predicted step and of the compiled program, where they exist."""
    compiled = signals.compiler.step if signals.compiler is not None else None
    figures = _of_pipeline(signals)
    if compiled is None or signals.target is None:
        return figures
    if compiled.need_bytes is not None:
        figures["hbm_need_bytes"] = Measurement(compiled.need_bytes, "bytes", compiled.source)
    if compiled.predicted is not None:
        figures |= _of_step(compiled, compiled.predicted, signals.target)
    return figures | _of_program(compiled) | _of_verdict(signals)


def _of_pipeline(signals: Signals) -> dict[str, Measurement]:
    """The input pipeline's cost per example, measured anywhere: it does not depend on the TPU."""
    pipeline = input_verdict.measured(signals)
    cost = pipeline.cost if pipeline is not None else None
    if cost is None:
        return {}
    rate = input_verdict.per_core(cost)
    figures = {"input_examples_per_second_per_core": _ranged(rate, "examples/s", ALONE, 2)}
    for name, seconds, unit in (
        ("cpu", cost.cpu_s_per_example, "us of one core"),
        ("python", cost.python_s_per_example, "us, one after the other"),
        ("serial", cost.serial_s_per_example, "us that no other core can take"),
    ):
        if seconds is not None:
            microseconds = Measurement(round(1e6 * seconds, 3), unit, ALONE)
            figures[f"input_{name}_us_per_example"] = microseconds
    if cost.read_bytes_per_example is not None:
        figures["input_read_bytes_per_example"] = Measurement(
            round(cost.read_bytes_per_example, 1), "bytes", ALONE
        )
    return figures


def _of_verdict(signals: Signals) -> dict[str, Measurement]:
    """Rates that a host of the target reaches by the pipeline alone, and that the step needs."""
    verdict = input_verdict.of_signals(signals)
    if verdict is None:
        return {}
    source = (
        f"predicted, not measured: {ALONE}, on the {verdict.vcpus} vCPUs of {verdict.machine_type}"
    )
    figures = {
        "input_cores_needed_per_host": _ranged(verdict.cores_needed, "vCPUs", source, 3),
        "input_vcpus_per_host": Measurement(verdict.vcpus, "vCPUs", verdict.machine_type),
        "input_capacity_examples_per_second_per_host": _ranged(
            verdict.capacity, "examples/s", source, 1
        ),
    }
    if verdict.read_bytes_per_second is not None:
        figures["input_read_bytes_per_second_per_host"] = Measurement(
            round(verdict.read_bytes_per_second), "bytes/s", source
        )
    step = of_signals(signals)
    # A step bound by dispatch is predicted too roughly to be compared with the input.
    ruled = step and step.predicted and step.predicted.bound_by is Bound.DISPATCH
    if verdict.starves and not ruled:
        figures["predicted_bound_by"] = Measurement(Bound.HOST_INPUT.value, "", source)
    return figures


def _of_step(compiled: Compilation, step: PredictedStep, target: Target) -> dict[str, Measurement]:
    source = SOURCE.format(compiler=f"TPU compiler ({compiled.compiler})", target=target.name)
    split = ", ".join(f"{bound.value} {ms:.3g} ms" for bound, ms in step.split_ms)
    rate = step.examples_per_second(target.replicas)
    return {
        "predicted_step_ms": _ranged(step.ms, "ms", source, 4),
        "predicted_us_per_example": _ranged(
            step.ms * (1e3 / step.batch), "us on one replica", source, 4
        ),
        "predicted_bound_by": Measurement(step.bound_by.value, "", f"{source}; {split}"),
        "predicted_mfu": _ranged(step.mfu, "of the bfloat16 peak", source, 4),
        "predicted_hbm_use": _ranged(step.hbm_use, "of the bandwidth", source, 4),
        "predicted_examples_per_second": _ranged(rate, "examples/s", source, 1),
        "predicted_examples_per_second_per_chip": _ranged(
            rate * (1 / target.chips), "examples/s", source, 1
        ),
        "input_needed_examples_per_second_per_host": _ranged(
            rate * (1 / target.hosts), "examples/s", source, 1
        ),
        "flops_per_example": Measurement(
            step.flops_per_example, "FLOP", f"matrix products, {compiled.source}"
        ),
        "hbm_bytes_per_example": Measurement(
            step.hbm_bytes_per_example, "bytes", f"counted in the program, {compiled.source}"
        ),
        "collective_bytes_per_step": Measurement(
            step.collective_bytes, "bytes", f"that one replica gives, {compiled.source}"
        ),
    }


def _of_program(compiled: Compilation) -> dict[str, Measurement]:
    program = compiled.program
    if program is None:
        return {}
    padding = sum(t.padded_bytes - t.logical_bytes for t in program.padded)
    figures = {
        "padding_bytes": Measurement(padding, "bytes", compiled.source),
        "recomputed_operations": Measurement(
            len(program.recomputed), "operations", compiled.source
        ),
    }
    if program.cycles is not None:
        figures["compiler_cycles_per_example"] = Measurement(
            round(program.cycles / compiled.batch, 3), "cycles", compiled.source
        )
    return figures


def _ranged(value: Range, unit: str, source: str, digits: int) -> Measurement:
    return Measurement(
        round(value.value, digits),
        unit,
        source,
        round(value.low, digits),
        round(value.high, digits),
    )


def prediction(compiled: Compilation) -> StepPrediction | None:
    """The predicted step as the report keeps it; None where there is none."""
    step = compiled.predicted
    if step is None:
        return None
    return StepPrediction(
        target=compiled.target,
        batch_per_replica=compiled.batch,
        replicas=compiled.replicas,
        compiler=compiled.compiler,
        step_ms=step.ms.value,
        low_ms=step.ms.low,
        high_ms=step.ms.high,
        bound_by=step.bound_by.value,
        split_ms={bound.value: ms for bound, ms in step.split_ms},
        instructions=tuple(_instruction(each, compiled.lines) for each in step.top),
        operations=_operations(compiled),
    )


def _instruction(each: TopInstruction, lines: dict[str, str]) -> PredictedInstruction:
    return PredictedInstruction(
        name=each.name,
        operation=each.op_name,
        location=location.parsed(lines.get(each.op_name)),
        runs=each.runs,
        ms=each.ms.value,
        low_ms=each.ms.low,
        high_ms=each.ms.high,
        share=each.share,
        hbm_bytes=each.hbm_bytes,
        flops=each.flops,
        bound_by=each.bound_by.value,
        helps=each.helps,
    )


def _operations(compiled: Compilation) -> tuple[OperationFigures, ...]:
    total: dict[str, _Sum] = {}
    for work in (compiled.program.work if compiled.program else None) or ():
        # the compiler renumbers its own additions in each program: one row for each kind
        total.setdefault(work.op_name or f"({work.kind.value})", _Sum()).add(work)
    # Sum of both: gathers, copies and kernels have bytes but no cycles.
    ranked = sorted(total.items(), key=lambda item: (-item[1].cycles - item[1].hbm_bytes, item[0]))
    return tuple(
        OperationFigures(
            operation=name,
            location=location.parsed(compiled.lines.get(name)),
            **vars(each),
        )
        for name, each in ranked[:OPERATIONS_KEPT]
    )


def table(step: StepPrediction) -> Table:
    """The largest instructions as a table."""
    rows = tuple(
        (
            each.name,
            each.operation,
            str(each.location or ""),
            f"{each.ms:.3g} ({each.low_ms:.3g} to {each.high_ms:.3g})",
            round(100 * each.share, 1),
            round(each.hbm_bytes / 1e6, 1),
            round(each.flops / 1e9, 2),
            each.bound_by,
            each.helps,
        )
        for each in step.instructions
    )
    return Table(TITLE, COLUMNS, rows, f"predicted for {step.target}, not measured")


def roofline(step: StepPrediction, target: Target) -> tuple[Series, ...]:
    """The largest instructions as points: FLOPs per byte of HBM, and predicted TFLOP/s."""
    points = [
        (each.flops / each.hbm_bytes, each.flops / each.ms / 1e9, each.name)
        for each in step.instructions
        if each.flops and each.hbm_bytes and each.ms > 0
    ]
    if not points:
        return ()
    x, y, names = zip(*points, strict=True)
    chip = target.hardware
    return (
        Series(
            kind="roofline",
            name="instructions",
            x_unit="FLOPs a byte",
            unit="TFLOP/s",
            x=tuple(x),
            y=tuple(y),
            labels=tuple(names),
            limit=chip.peak_flops_per_device / 1e12,
            limit_per_x=chip.hbm_gb_per_s_per_chip / chip.devices_per_chip / 1e3,
            source=f"predicted for {step.target}, not measured",
        ),
    )
