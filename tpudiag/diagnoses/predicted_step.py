"""The predicted step in a report: its figures, its largest instructions, and their table."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace

from tpudiag import input_verdict, location
from tpudiag.compiled import Compilation
from tpudiag.diagnoses import report_parts
from tpudiag.diagnoses.report_parts import Columns, Figures
from tpudiag.hardware import Target
from tpudiag.prediction.step import PredictedStep
from tpudiag.prediction.times import Bound
from tpudiag.report_figures import (
    OperationFigures,
    PredictedInstruction,
    Series,
    StepPrediction,
    Table,
)
from tpudiag.signals import Signals
from tpudiag.sources.compiler import libtpu_process

TITLE = "Predicted: the instructions that take most"
COLUMNS: Columns[PredictedInstruction] = {
    "instruction": lambda each: each.name,
    "operation": lambda each: each.operation,
    "line": lambda each: str(each.location or ""),
    "ms": lambda each: f"{each.ms:.3g} ({each.low_ms:.3g} to {each.high_ms:.3g})",
    "% of step": lambda each: round(100 * each.share, 1),
    "MB of HBM": lambda each: round(each.hbm_bytes / 1e6, 1),
    "GFLOP": lambda each: round(each.flops / 1e9, 2),
    "bound by": lambda each: each.bound_by,
    "helps": lambda each: each.helps,
}
OPERATIONS_KEPT = 400
"""The most operations whose figures a report keeps for comparisons, largest first."""
ALONE = "the input pipeline run alone on this machine: CPU time of the process"
SOURCE = "predicted, not measured: the program of the {compiler} for {target}"


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


def measurements(signals: Signals) -> Figures:
    """Figures of the predicted step and of the compiled program, where they exist."""
    compiled = signals.compiler.step if signals.compiler is not None else None
    figures = Figures()
    _put_pipeline(figures, signals)
    if compiled is not None and signals.target is not None:
        step = Figures()
        step.put("hbm_need_bytes", compiled.need_bytes, "bytes", compiled.source)
        if compiled.predicted is not None:
            replicas = input_verdict.replicas(signals, signals.target)
            _put_step(step, compiled, compiled.predicted, signals.target, replicas)
        _put_program(step, compiled)
        known = signals.batch is not None  # else the program's stands for all of a step
        figures |= {name: each for name, each in step.items() if known or "example" not in name}
        _put_verdict(figures, signals)
    return figures


def _put_pipeline(figures: Figures, signals: Signals) -> None:
    """The input pipeline's cost per example, measured anywhere: it does not depend on the TPU."""
    pipeline = input_verdict.measured(signals)
    cost = pipeline.cost if pipeline is not None else None
    if cost is None:
        return
    rate = input_verdict.per_core(cost)
    figures.put("input_examples_per_second_per_core", rate, "examples/s", ALONE, 2)
    for name, seconds, unit in (
        ("cpu", cost.cpu_s_per_example, "us of one core"),
        ("python", cost.python_s_per_example, "us, one after the other"),
        ("serial", cost.serial_s_per_example, "us that no other core can take"),
    ):
        microseconds = None if seconds is None else 1e6 * seconds
        figures.put(f"input_{name}_us_per_example", microseconds, unit, ALONE, 3)
    read = None if cost.read_bytes is None else cost.read_bytes / cost.examples
    figures.put("input_read_bytes_per_example", read, "bytes", ALONE, 1)


def _put_verdict(figures: Figures, signals: Signals) -> None:
    """Rates that a host of the target reaches by the pipeline alone, and that the step needs."""
    verdict = input_verdict.of_signals(signals)
    if verdict is None:
        return
    host, read = verdict.host, verdict.read_bytes_per_second
    source = f"predicted, not measured: {ALONE}, on the {host.vcpus} vCPUs of {host.machine_type}"
    figures.put("input_cores_needed_per_host", verdict.cores_needed, "vCPUs", source, 3)
    figures.put("input_vcpus_per_host", host.vcpus, "vCPUs", host.machine_type)
    capacity = "input_capacity_examples_per_second_per_host"
    figures.put(capacity, verdict.capacity, "examples/s", source, 1)
    bytes_per_second = None if read is None else round(read)
    figures.put("input_read_bytes_per_second_per_host", bytes_per_second, "bytes/s", source)
    step = of_signals(signals)
    # A step bound by dispatch is predicted too roughly to be compared with the input.
    ruled = step and step.predicted and step.predicted.bound_by is Bound.DISPATCH
    if verdict.starves and not ruled:
        figures.put("predicted_bound_by", Bound.HOST_INPUT.value, "", source)


def _put_step(
    figures: Figures, compiled: Compilation, step: PredictedStep, target: Target, replicas: int
) -> None:
    source = SOURCE.format(compiler=f"TPU compiler ({compiled.compiler})", target=target.name)
    split = ", ".join(f"{bound.value} {ms:.3g} ms" for bound, ms in step.split_ms)
    rate = step.examples_per_second(replicas)
    example = step.ms * (1e3 / step.batch)
    figures.put("predicted_step_ms", step.ms, "ms", source, 4)
    figures.put("predicted_us_per_example", example, "us on one replica", source, 4)
    figures.put("predicted_bound_by", step.bound_by.value, "", f"{source}; {split}")
    figures.put("predicted_mfu", step.mfu, "of the bfloat16 peak", source, 4)
    figures.put("predicted_hbm_use", step.hbm_use, "of the bandwidth", source, 4)
    for name, parts in (
        ("predicted_examples_per_second", 1),
        ("predicted_examples_per_second_per_chip", target.chips),
        ("input_needed_examples_per_second_per_host", target.hosts),
    ):
        figures.put(name, rate * (1 / parts), "examples/s", source, 1)
    for name, value, unit, counted in (
        ("flops_per_example", step.flops_per_example, "FLOP", "matrix products"),
        ("hbm_bytes_per_example", step.hbm_bytes_per_example, "bytes", "counted in the program"),
        ("collective_bytes_per_step", step.collective_bytes, "bytes", "that one replica gives"),
    ):
        figures.put(name, value, unit, f"{counted}, {compiled.source}")


def _put_program(figures: Figures, compiled: Compilation) -> None:
    program = compiled.program
    if program is None:
        return
    padding = sum(t.padded_bytes - t.logical_bytes for t in program.padded)
    recomputed = len(program.recomputed)
    cycles = None if program.cycles is None else program.cycles / compiled.batch
    figures.put("padding_bytes", padding, "bytes", compiled.source)
    figures.put("recomputed_operations", recomputed, "operations", compiled.source)
    figures.put("compiler_cycles_per_example", cycles, "cycles", compiled.source, 3)


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
        instructions=tuple(
            replace(each, location=location.parsed(compiled.lines.get(each.operation)))
            for each in step.top
        ),
        operations=_operations(compiled),
    )


def _operations(compiled: Compilation) -> tuple[OperationFigures, ...]:
    total: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for work in (compiled.program.work if compiled.program else None) or ():
        # the compiler renumbers its own additions in each program: one row for each kind
        total[work.op_name or f"({work.kind.value})"].update(
            cycles=(work.cycles or 0) * work.trips,
            flops=work.flops * work.trips,
            hbm_bytes=work.hbm_bytes * work.trips,
            collective_bytes=work.link_bytes * work.trips,
            # Without the trip count: a loop writes its result into the same buffer each time.
            result_bytes=work.result_bytes,
        )
    # Sum of both: gathers, copies and kernels have bytes but no cycles.
    ranked = sorted(total.items(), key=lambda of: (-of[1]["cycles"] - of[1]["hbm_bytes"], of[0]))
    return tuple(
        OperationFigures(
            operation=name, location=location.parsed(compiled.lines.get(name)), **spent
        )
        for name, spent in ranked[:OPERATIONS_KEPT]
    )


def table(step: StepPrediction) -> Table:
    """The largest instructions as a table."""
    source = f"predicted for {step.target}, not measured"
    return report_parts.table(TITLE, COLUMNS, step.instructions, source)


def roofline(step: StepPrediction, target: Target) -> Iterator[Series]:
    """The largest instructions as points: FLOPs per byte of HBM, and predicted TFLOP/s."""
    points = [
        (each.flops / each.hbm_bytes, each.flops / each.ms / 1e9, each.name)
        for each in step.instructions
        if each.flops and each.hbm_bytes and each.ms > 0
    ]
    chip = target.hardware
    peak, bandwidth = chip.peak_flops_per_device, chip.hbm_gb_per_s_per_chip / chip.devices_per_chip
    source = f"predicted for {step.target}, not measured"
    return report_parts.roofline("instructions", points, peak / 1e12, bandwidth / 1e3, source)
