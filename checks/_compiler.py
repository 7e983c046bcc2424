"""Shared by the checks on the TPU compiler's answer."""

from tpudiag.compiled import Compilation, HbmTensor, Program
from tpudiag.model import NotMeasured
from tpudiag.signals import Signals

from ._need import mib

TOO_LARGE = 3.3
"""The largest overestimate from shapes that was seen: a small transformer in float32."""
UNVERIFIED = "estimate by the TPU compiler, unverified on hardware"
PREDICTED = "predicted from the TPU compiler's program, not measured"


def compilation(signals: Signals) -> Compilation | None:
    """The compiler's answer for the step, None where there is none."""
    step = signals.compiler.step if signals.compiler is not None else None
    return step if step is not None and step.fits is not None else None


def program_of(signals: Signals) -> tuple[Compilation, Program] | None:
    """The step's program where there is no profile; None where a profile is to be looked at.

    Raises NotMeasured where there is neither.
    """
    step = compilation(signals)
    if signals.profile is None and step is not None:
        if step.program is not None:
            return step, step.program
        if step.out_of_memory is not None:
            raise NotMeasured("the step does not fit at all (see TPU301)", "take a smaller batch")
        raise NotMeasured(
            "this jax cannot read the program that its libtpu made", "pip install -U jax libtpu"
        )
    why_not_compiled(signals)
    return None


def why_not_compiled(signals: Signals) -> None:
    """Skip with the compiler's own reason, where it was run without an answer."""
    facts = signals.compiler
    if signals.profile is None and facts is not None and facts.reason is not None:
        raise NotMeasured(facts.reason, facts.how or "check again")


def fits_at(signals: Signals, replica_batch: int) -> bool | None:
    """Whether the step would fit with another batch; None where neither compiler nor shapes decide.

    Extrapolated from the compiler's two batches, or else from the traced shapes, which overestimate
    by up to `TOO_LARGE`: only what exceeds even that does not fit.
    """
    step = compilation(signals)
    if step is not None:
        if step.out_of_memory is not None:
            # A smaller one may fit or not: the message names the shortage, not how it grows.
            return False if replica_batch >= step.batch else None
        small = signals.compiler.small if signals.compiler is not None else None
        need_bytes = step.need_bytes or 0
        # With one batch compiled: arguments stay, temporaries grow about as the batch does.
        slope = step.temporary_bytes / step.batch
        if small is not None and small.need_bytes is not None and small.batch < step.batch:
            slope = (need_bytes - small.need_bytes) / (step.batch - small.batch)
        return need_bytes + slope * (replica_batch - step.batch) <= step.usable_bytes
    batch, kept = signals.batch, signals.activations
    if batch is None or kept is None or signals.target is None:
        return None
    fixed = sum(variable.bytes for variable in signals.variables or ())
    scaled = kept.activation_bytes * replica_batch / max(batch.per_replica_batch, 1)
    # Never True: the same estimate may be too low as well.
    return None if fixed + scaled / TOO_LARGE <= signals.target.hardware.usable_hbm_bytes else False


def tensor_text(tensor: HbmTensor) -> str:
    """`dense/MatMul f32[8192,8] takes 4.0 MiB for 256.0 KiB (16.0 x)`."""
    times = tensor.padded_bytes / max(tensor.logical_bytes, 1)
    return (
        f"{tensor.name} {tensor.shape.partition('{')[0]} takes {mib(tensor.padded_bytes)} for "
        f"{mib(tensor.logical_bytes)} ({times:.1f} x)"
    )
