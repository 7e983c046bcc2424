from tpudiag.model import BOTH, Evidence, Finding, Framework, Judgement, Severity, check
from tpudiag.signals import HalfState, Signals

from ._loop import numerics_of
from ._need import HALF, by_framework, mib, need, of_a_job, share_of

LIMIT = 0.2
"""The share of values that a step leaves as they were from which on updates are called lost."""


@check("TPU408", Severity.WARNING, frameworks=BOTH)
def updates_lost(signals: Signals, limit: float = LIMIT) -> Judgement:
    """Weights in 16 bit, without a copy in 32: small updates are rounded away.

    ## What it sees
    The dtype of trained variables. In JAX, by its values before two calls, how much of the state a
    step does not change. Left out are arrays that no step changes, and arrays that are only the
    rounded values of a float32 array that is updated with them.

    ## Why it costs
    bfloat16 has 8 bits: an update of less than 1/512 of a weight is lost, and so is each change of
    an average that keeps 99.9 % (Adam's second moment). Training slows down or stops, silently.

    ## What to do
    ```python
    model = Model(dtype=jnp.bfloat16, param_dtype=jnp.float32)     # flax: compute in 16, keep in 32
    keras.mixed_precision.set_global_policy("mixed_bfloat16")      # and not "bfloat16"
    ```

    ## Source
    arXiv:2010.06192; https://keras.io/api/mixed_precision/policy
    """
    half = _of_variables(signals) if signals.framework is Framework.TENSORFLOW else _of_jax(signals)
    if half is not None:
        yield _finding(half, limit, signals)
    yield Evidence("trained state in 16 bit", half.bytes if half is not None else 0, "B", 0)


def _of_jax(signals: Signals) -> HalfState | None:
    numerics = numerics_of(signals)
    need(numerics.state_compared or None, "the state over three steps")
    return numerics.half_state


def _of_variables(signals: Signals) -> HalfState | None:
    of_a_job(signals, "the variables")
    variables = need(signals.variables, "a variable")
    half = [v for v in variables if v.trainable and not v.optimizer and v.dtype in HALF]
    if not half:
        return None
    total, dtype, where = sum(each.bytes for each in half), half[0].dtype, half[0].location
    if signals.precision is not None and signals.precision.global_policy == dtype:
        where = signals.precision.set_at or where  # what made them so, not the first layer
    return HalfState(dtype=dtype, bytes=total, unchanged=None, location=where)


def _finding(half: HalfState, limit: float, signals: Signals) -> Finding:
    share = half.unchanged
    kept = "" if share is None else f", and a step leaves {share:.0%} of its values as they were"
    left = share_of("values that a step left", share or 0.0, "%", limit)
    return Finding(
        f"{mib(half.bytes)} of trained state is in {half.dtype}, with no copy in float32{kept}.",
        by_framework(
            signals,
            'keras.mixed_precision.set_global_policy("mixed_bfloat16")  # not "bfloat16"',
            "Model(dtype=jnp.bfloat16, param_dtype=jnp.float32)  # flax; moments follow\n"
            "params = jax.tree.map(lambda a: a.astype(jnp.float32), params)",
        ),
        (Evidence("state in 16 bit", half.bytes, "B", 0), *((left,) if share is not None else ())),
        half.location,
        severity=Severity.INFO if share is not None and share < limit else Severity.WARNING,
    )
