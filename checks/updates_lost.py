"""TPU408."""

from tpudiag.model import BOTH, Evidence, Finding, Judgement, Severity, check
from tpudiag.signals import HalfState, Signals

from ._loop import numerics_of
from ._need import by_framework, mib, percent

LIMIT = 0.2
"""The share of values that a step leaves as they were from which on updates are called lost."""


@check("TPU408", Severity.WARNING, frameworks=BOTH)
def updates_lost(signals: Signals, limit: float = LIMIT) -> Judgement:
    """Weights in 16 bit, without a copy in 32: small updates are rounded away.

    ## What it sees
    The dtype of what goes from one step to the next, and, by its values before two calls, how much
    of it a step leaves as it was. Arrays that no step changes, and those beside which a float32
    array of the same shape goes along, are left out.

    ## Why it costs
    bfloat16 has 8 bits: an update of less than 1/512 of a weight is lost, and so is each change of
    an average that keeps 99.9 % (Adam's second moment). Training slows down or stands, silently.

    ## What to do
    ```python
    model = Model(dtype=jnp.bfloat16, param_dtype=jnp.float32)     # flax: compute in 16, keep in 32
    keras.mixed_precision.set_global_policy("mixed_bfloat16")      # and not "bfloat16"
    ```

    ## Source
    arXiv:2010.06192; https://keras.io/api/mixed_precision/policy
    """
    half = numerics_of(signals).half_state
    if half is not None:
        yield _finding(half, limit, signals)
    yield Evidence("trained state in 16 bit", half.bytes if half is not None else 0, "B", 0)


def _finding(half: HalfState, limit: float, signals: Signals) -> Finding:
    """State in 16 bit, and what was measured of it."""
    share = half.unchanged
    told = "" if share is None else f", and a step leaves {share:.0%} of its values as they were"
    left = Evidence("values that a step left", percent(share or 0.0), "%", percent(limit))
    return Finding(
        f"{mib(half.bytes)} of trained state is in {half.dtype}, with no copy in float32{told}.",
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
