"""TPU105."""

from __future__ import annotations

from collections.abc import Iterator

from tpudiag.model import Evidence, Finding, Severity, check
from tpudiag.signals import Signals

from ._need import need

LIMIT = 0
"""Ops inside the step that call back to the host's Python."""
HOW = "record a profile with some steps, then `tpudiag read logdir`"


@check("TPU105", Severity.WARNING)
def host_callback(signals: Signals, limit: float = LIMIT) -> Iterator[Finding | Evidence]:
    """The step calls back to the host.

    ## What it sees
    In a profile, the calls of py_function, numpy_function, tf.print and outside-compiled ops on
    the host while steps run.

    ## Why it costs
    The device stops, sends its tensors to the host, waits for Python and gets the result back:
    at every step, on every replica.

    ## What to do
    ```python
    x = tf.math.log1p(x)          # not tf.py_function(np.log1p, [x], tf.float32)
    if step % 100 == 0:
        print(float(loss))        # outside the tf.function, not tf.print inside it
    ```

    ## Source
    XProf's overview page (outside compilation above 5 %), smart suggestions (debug print)
    """
    profile = need(signals.profile, "a profile of the step", HOW)
    callbacks = need(profile.callbacks, "an op of the step on the host", HOW)
    steps = len(need(signals.steps, "a training step in the profile", HOW).step_ms)
    count = sum(callback.count for callback in callbacks)
    evidence = Evidence("callbacks", count, "calls", int(limit), profile.source)
    if count > limit:
        worst = max(callbacks, key=lambda callback: callback.ms)
        yield Finding(
            f"{worst.op} calls back to the host's Python {worst.count} times.",
            "replace it by TensorFlow ops, or call it outside the tf.function every 100th step",
            (evidence, *(Evidence(c.op, round(c.ms, 3), "ms", source=profile.source)
                         for c in callbacks[:3])),
            cost_ms_per_step=sum(c.ms for c in callbacks) / steps if steps else None,
        )  # fmt: skip
    yield evidence
