"""Shared by checks: reporting a missing signal, and wording figures."""

from math import prod
from typing import TypeVar

from tpudiag.model import Evidence, Framework, NotMeasured
from tpudiag.signals import Origin, Signals, TensorSeen

T = TypeVar("T")

_BY_POLICY = 'keras.mixed_precision.set_global_policy("mixed_bfloat16")  # before building'
_BY_DTYPE = (
    "# compute in bfloat16, and keep the parameters in float32:\n"
    "model = Model(dtype=jnp.bfloat16, param_dtype=jnp.float32)  # one of flax\n"
    "params, x = jax.tree.map(lambda a: a.astype(jnp.bfloat16), (params, x))  # others: in the loss"
)

RUN_THE_JOB = "rehearse the job: `tpudiag check train.py --for v5e-8`"
ON_THE_TPU = (
    "profile some steps on the TPU (`tf.profiler.experimental.start(logdir)` ... `stop()`, in JAX "
    "`jax.profiler.start_trace(logdir)` ... `stop_trace()`), then `tpudiag read logdir`"
)
RECORD_IT = (
    "record the job (`model.fit(..., callbacks=[tpudiag.ThroughputCallback()])`, or "
    "`for batch in tpudiag.track(dataset):`), then `tpudiag watch tpudiag-logs`"
)
RECORD_THE_WAIT = (
    "record a custom loop by `for batch in tpudiag.track(dataset):`, or put "
    "`with tracker.input():` around `next(iterator)`; for `fit`, profile some steps and "
    "`tpudiag read logdir`"
)


HALF = ("bfloat16", "float16")
"""The floating-point types of 16 bit."""
_BYTES = {
    "float64": 8,
    "int64": 8,
    "uint64": 8,
    "float16": 2,
    "bfloat16": 2,
    "int16": 2,
    "int8": 1,
    "uint8": 1,
    "bool": 1,
}


def need(value: T | None, what: str, how: str = RUN_THE_JOB) -> T:
    """The signal; raises NotMeasured with the way to measure it."""
    if value is None:
        raise NotMeasured(f"{what} was not seen", how)
    return value


def by_framework(signals: Signals, of_tensorflow: T, of_jax: T) -> T:
    """The variant for the job's framework, usually a fix."""
    return of_jax if signals.framework is Framework.JAX else of_tensorflow


def by_library(signals: Signals, of_keras: T, of_plain_jax: T) -> T:
    """What holds for a job that Keras trains, or for a loop of the job's own in JAX."""
    step, sent = signals.sharding, signals.dispatch
    eager = sent is not None and (sent.run_eagerly or sent.not_compiled)
    fitted = eager or (step is not None and step.by_fit)
    return of_keras if fitted or signals.framework is not Framework.JAX else of_plain_jax


def by_model(signals: Signals, of_keras: T, of_others: T) -> T:
    """What holds where Keras computes, or for a model of JAX alone, whichever trains it."""
    step = signals.sharding
    return by_framework(signals, of_keras, of_keras if step and step.of_keras else of_others)


def in_bfloat16(signals: Signals) -> str:
    """The fix that makes the job compute in bfloat16."""
    return by_model(signals, _BY_POLICY, _BY_DTYPE)


def recomputed(signals: Signals) -> str:
    """The fix that makes a block be computed again in place of being kept."""
    return by_framework(
        signals, "block = tf.recompute_grad(block)", "block = jax.checkpoint(block)"
    )


def of_a_job(signals: Signals, what: str) -> None:
    """Skip where there is no job, only a profile."""
    if signals.origin is Origin.PROFILE:
        raise NotMeasured(f"a profile does not hold {what}", RUN_THE_JOB)


def two_numbers(version: str) -> tuple[int, ...]:
    """Of a release, to compare by: 2.15.0rc1 is one of 2.15."""
    return tuple(int(part) for part in version.split(".")[:2] if part.isdigit())


def mib(size_bytes: float) -> str:
    """A size for a sentence, e.g. `3.2 GiB` or `70 KiB`."""
    for unit, scale in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if size_bytes >= scale:
            return f"{size_bytes / scale:,.1f} {unit}"
    return f"{size_bytes:.0f} B"


def percent(share: float) -> float:
    """A share as a percentage for evidence, rounded to a tenth."""
    return round(100 * share, 1)


def share_of(name: str, share: float, unit: str, limit: float, source: str = "job") -> Evidence:
    """A share, 0 to 1, and its limit as percentages."""
    return Evidence(name, percent(share), unit, percent(limit), source)


def input_bytes(tensor: TensorSeen) -> int:
    """Size of an input tensor; unknown dimensions count as 1."""
    # 4: float32, int32 and anything not listed. Strings never reach a TPU.
    return prod(size or 1 for size in tensor.shape or ()) * _BYTES.get(tensor.dtype, 4)
