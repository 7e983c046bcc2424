from collections.abc import Sequence

from tpudiag.compiled import Compilation, OutOfMemory
from tpudiag.hardware import Target
from tpudiag.model import BOTH, Evidence, Finding, Judgement, Location, NotMeasured, Severity, check
from tpudiag.signals import Signals, VariableSeen

from ._compiler import TOO_LARGE, compilation
from ._need import ON_THE_TPU, by_framework, in_bfloat16, input_bytes, mib, need, of_a_job, percent
from ._profile import replicas_of

LIMIT = 0.10
"""Headroom below which it is a warning, as a share of what the compiler may use."""
ERROR_BAR = 0.40
"""How far the analytic estimate may be too low, as a share of it; see tests/benchmarks."""
_SHARDED = "tf.tpu.experimental.embedding", "NamedSharding(mesh, P('model'))"
_SMALLER = "halve the per-replica batch, or keep activations in bfloat16:\n"


@check("TPU301", Severity.ERROR, needs_model=True, frameworks=BOTH)
def oom_headroom(signals: Signals, limit: float = LIMIT) -> Judgement:
    """Peak HBM leaves too little headroom on the target.

    ## What it sees
    The TPU compiler's figures for the lowered step if it is installed (the extra `compiler`):
    arguments, temporaries, outputs and code of one replica, and its own out-of-memory message.
    Without it, an estimate for one replica from the traced step, by shape: variables, optimizer
    slots, gradients, the input, and the activations that the backward pass reads. For a job that
    reached no step, its variables alone, if they do not fit. The estimate ignores the compiler's
    fusion and recomputation, which lower the need, and tile padding, which raises it: it may be 40
    % too low, was seen up to 3.3 times too large (a small transformer in float32), and is an error
    or a warning only if the step would not fit, or leave too little, even then.

    ## Why it costs
    Past the limit the compiler first recomputes (slower steps), then refuses (RESOURCE_EXHAUSTED).

    ## What to do
    A smaller per-replica batch, bfloat16 activations, or recomputation that you choose:
    ```python
    keras.mixed_precision.set_global_policy("mixed_bfloat16")
    loss = tf.recompute_grad(block)(x)
    ```

    ## Source
    Compiler-usable HBM by generation: the TPU compiler's own out-of-memory messages.
    """
    if signals.profile is not None and signals.profile.memory:
        yield from _measured(signals, limit)
        return
    of_a_job(signals, "the sizes of variables and activations")
    step = compilation(signals)
    if step is not None:
        yield from _compiled(signals, step, limit)
        return
    yield from _estimated(signals, limit)


def _estimated(signals: Signals, limit: float) -> Judgement:
    target = need(signals.target, "the target", "name it: `--for v5e-8`")
    asked = by_framework(signals, "the job's variables", "what the TPU compiler says of the step")
    variables = need(signals.variables, asked)
    usable = target.hardware.usable_hbm_bytes
    if signals.activations is None and sum(v.bytes for v in variables) > usable:
        yield _by_variables_alone(variables, target, by_framework(signals, *_SHARDED))
        return
    activations = need(signals.activations, "a traced training step")
    parts = {
        "variables": sum(v.bytes for v in variables if not v.optimizer),
        "optimizer slots": sum(v.bytes for v in variables if v.optimizer),
        "gradients": sum(v.bytes for v in variables if v.trainable),
        "input": sum(input_bytes(tensor) for tensor in signals.step_inputs or ()),
        "activations": activations.activation_bytes,
    }
    need_bytes = sum(parts.values())
    headroom = 1 - need_bytes / usable
    evidence = (
        Evidence("estimated need", need_bytes, "B", usable, "estimate from the traced step"),
        Evidence("estimate may be too low by", percent(ERROR_BAR), "%", source="tests/benchmarks"),
        Evidence("seen too large by up to", TOO_LARGE, "times", source="tests/benchmarks"),
        *(Evidence(name, size, "B", source="estimate") for name, size in parts.items()),
        Evidence("headroom", percent(headroom), "%", percent(limit), "estimate"),
    )
    if activations.unknown_tensors:
        raise NotMeasured(
            f"{activations.unknown_tensors} activations have no static size (see TPU102)",
            "make the shapes static, then rehearse again",
        )
    if headroom < limit:
        # Activations alone are guessed at (the compiler fuses and reuses): too large at the most.
        least = sum(parts.values()) - parts["activations"] * (1 - 1 / TOO_LARGE)
        possible = Severity.WARNING if least > usable * (1 - limit) else Severity.INFO
        largest = ", ".join(f"{name} {mib(size)}" for name, size in activations.largest[:3])
        yield Finding(
            f"{mib(least)} to {mib(need_bytes)} of HBM needed for one replica, {mib(usable)} "
            f"usable on {target.generation}: an estimate from shapes, seen up to {TOO_LARGE} "
            "times too large. The TPU compiler (of the extra `compiler`) says what it is.",
            _SMALLER + in_bfloat16(signals),
            (*evidence, Evidence("largest activations", largest, source="traced step")),
            signals.batch.location if signals.batch else None,
            severity=Severity.ERROR if least > usable else possible,
            cost_bytes=need_bytes,
        )
    elif need_bytes * (1 + ERROR_BAR) > usable * (1 - limit):
        raise NotMeasured(
            f"the estimate of {mib(need_bytes)} is nearer to the {mib(usable)} usable than its "
            f"error of {ERROR_BAR:.0%}",
            "ask the TPU compiler (pip install 'tpudiag[compiler]'), or run one step on the TPU "
            "and read its memory profile: `tpudiag read logdir`",
        )
    yield from evidence


def _by_variables_alone(variables: Sequence[VariableSeen], target: Target, sharded: str) -> Finding:
    """Where no step was traced: variables that do not fit by themselves."""
    size_bytes = sum(v.bytes for v in variables)
    usable = target.hardware.usable_hbm_bytes
    # Nothing is guessed at here: variables are counted to the byte, so that no range is given.
    largest = max(variables, key=lambda variable: variable.bytes)
    return Finding(
        f"the variables alone need {mib(size_bytes)} of HBM on each replica, {mib(usable)} are "
        f"usable on {target.generation}; the largest, {largest.name}, has {mib(largest.bytes)}.",
        f"shard the large tables over the chips ({sharded}), make them smaller, "
        "or choose an optimizer with fewer slots",
        (
            Evidence("variables and slots", size_bytes, "B", usable, "job"),
            Evidence(f"largest: {largest.name}", largest.bytes, "B", source="job"),
        ),
        largest.location,
        cost_bytes=size_bytes,
    )


def _compiled(signals: Signals, step: Compilation, limit: float) -> Judgement:
    where = signals.batch.location if signals.batch else None
    if step.out_of_memory is not None:
        yield _refused(signals, step, step.out_of_memory, where)
        return
    usable, needed = step.usable_bytes, step.need_bytes or 0
    headroom = 1 - needed / usable
    parts = {
        "arguments": step.argument_bytes,
        "temporaries": step.temporary_bytes,
        # Variables that a step updates in place are its arguments and its outputs: counted once.
        "outputs": step.output_bytes - step.alias_bytes,
        "code": step.code_bytes,
    }
    evidence = (
        Evidence("HBM need", needed, "B", usable, step.source),
        *(Evidence(name, size, "B", source=step.source) for name, size in parts.items()),
        Evidence("headroom", percent(headroom), "%", percent(limit), step.source),
        Evidence("headroom in bytes", usable - needed, "B", source=step.source),
    )
    if headroom < limit:
        yield Finding(
            f"{mib(needed)} of HBM needed for one replica, {mib(usable)} usable on {step.target} "
            "(the TPU compiler's figures).",
            _SMALLER + in_bfloat16(signals),
            evidence,
            where,
            severity=Severity.ERROR if headroom <= 0 else Severity.WARNING,
            cost_bytes=needed,
        )
    yield from evidence


def _refused(
    signals: Signals, step: Compilation, full: OutOfMemory, where: Location | None
) -> Finding:
    available = full.usable_bytes or step.usable_bytes
    largest = tuple(
        Evidence(
            f"large: {tensor.name} {tensor.shape}",
            tensor.logical_bytes,
            "B",
            source="the step as lowered, before fusion",
        )
        for tensor in full.largest
    )
    needed: tuple[Evidence, ...] = ()
    if full.needed_bytes is not None:
        headroom = percent(1 - full.needed_bytes / available)
        needed = (
            Evidence("HBM need", full.needed_bytes, "B", available, step.source),
            Evidence("headroom", headroom, "%", source=step.source),
        )
    first = next((tensor.location for tensor in full.largest if tensor.location), None)
    return Finding(
        f"a per-replica batch of {step.batch} does not fit on {step.target}: {full.message}",
        _SMALLER + in_bfloat16(signals),
        (*needed, Evidence("compiler", full.message, source=step.source), *largest),
        first or where,
        severity=Severity.ERROR,
        cost_bytes=full.needed_bytes,
    )


def _measured(signals: Signals, limit: float) -> Judgement:
    profile = need(signals.profile, "a device profile", ON_THE_TPU)
    known = [m for m in profile.memory_in_order if m.capacity_bytes and not m.of_host]
    measured = need(known or None, "an allocator's capacity", ON_THE_TPU)
    fullest = max(measured, key=lambda memory: memory.peak_bytes / (memory.capacity_bytes or 1))
    capacity = fullest.capacity_bytes or 0
    headroom = 1 - fullest.peak_bytes / capacity
    source = f"{profile.source}, {fullest.host} {fullest.allocator}"
    held = ", ".join(f"{name} {mib(size)}" for name, size in fullest.held_by[:3])
    evidence = (
        Evidence("peak HBM", fullest.peak_bytes, "bytes", capacity, source),
        Evidence("headroom", percent(headroom), "%", percent(limit), source),
        Evidence("held by", held, source=source),
    )
    if headroom < limit:
        yield Finding(
            f"{mib(fullest.peak_bytes)} of {mib(capacity)} of HBM are taken at the peak on "
            f"{fullest.host} {fullest.allocator}.",
            _SMALLER + in_bfloat16(signals),
            evidence,
            severity=Severity.ERROR if headroom <= 0 else Severity.WARNING,
            cost_bytes=fullest.peak_bytes,
        )
    replicas_of(signals)  # that no step was seen at a low peak proves nothing
    yield from evidence
