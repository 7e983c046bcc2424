from tpudiag.model import (
    BOTH,
    Confidence,
    Evidence,
    Finding,
    Framework,
    Judgement,
    NotMeasured,
    Severity,
    check,
)
from tpudiag.prediction.step import DISPATCH_MS
from tpudiag.signals import Origin, Signals

from ._compiler import PREDICTED
from ._need import ON_THE_TPU, by_library, need, share_of
from ._predicted import as_predicted, predicted_step
from ._profile import every_device, every_step, replicas_of, share

LIMIT = 0.03
"""Share of the window in which the device idles between steps (XProf's own threshold)."""

_SCAN = (
    "@jax.jit\ndef train_steps(state, batches):  # batches[k]: the k-th of several steps\n"
    "    return jax.lax.scan(train_step, state, batches)"
)


@check("TPU106", Severity.WARNING, frameworks=BOTH)
def single_step_dispatch(signals: Signals, limit: float = LIMIT) -> Judgement:
    """One step per dispatch, and the device idles between steps.

    ## What it sees
    The number of optimizer steps per call from Python, and in a TPU's profile the share of time in
    which no program ran. A rehearsal knows only the first; it passes if the predicted step of the
    device is longer than any dispatch. A JAX step that is predicted to be shorter than the fastest
    dispatch is reported: `steps_per_execution` of Keras on JAX is a loop in Python, and joins
    nothing.

    ## Why it costs
    Each dispatch costs the host a fixed time. If the step is short, the chip waits for it.

    ## What to do
    ```python
    model.compile(..., steps_per_execution=50)          # Keras fit

    @tf.function
    def train_steps(iterator):                          # custom loop
        for _ in tf.range(50):
            strategy.run(step, args=(next(iterator),))
    ```

    ## Source
    XProf's input pipeline analysis (TensorCore idle above 3 %: run multiple steps in a tf.function)
    """
    per_dispatch = signals.dispatch.steps_per_dispatch if signals.dispatch else None
    if per_dispatch is not None and per_dispatch > 1:
        yield Evidence("steps in a dispatch", per_dispatch, "steps")
        return
    if signals.origin is Origin.REHEARSAL:
        yield from _rehearsed(signals)
        return
    profile, replicas = replicas_of(signals)
    if per_dispatch is None:
        per_dispatch = _steps_per_run(signals)
    # Devices, steps or runs that the trace lost would make it look like many steps a run.
    if per_dispatch > 1:
        every_device(profile)
        every_step(profile)
        yield Evidence("steps in a dispatch", per_dispatch, "steps", source=profile.source)
        return
    idle = share(replicas, "idle")
    evidence = share_of("device idle", idle, "%", limit, profile.source)
    if idle > limit:
        yield Finding(
            f"every step is dispatched by itself, and the device idles {idle:.0%} of the time.",
            by_library(signals, "model.compile(..., steps_per_execution=50)", _SCAN),
            (evidence, Evidence("steps in a dispatch", 1, "steps")),
        )
    else:
        every_device(profile)
        every_step(profile)
    yield evidence


def _rehearsed(signals: Signals) -> Judgement:
    """A predicted step that is longer than any dispatch; nothing else is known on a CPU."""
    need(signals.dispatch, "a training step")
    step = predicted_step(signals)
    of_jax = signals.framework is Framework.JAX
    if of_jax and step is not None and step.device_ms.high < DISPATCH_MS[0]:
        text = f"{max(step.device_ms.high, 1e-3):.3g}"
        yield Finding(
            f"the device's step is predicted to take {text} ms at most, and one dispatch takes "
            f"{DISPATCH_MS[0]} ms at least: the host rules it.",
            _SCAN,
            (Evidence("the device's step, predicted", text, "ms", DISPATCH_MS[0], PREDICTED),),
            severity=Severity.INFO,
            confidence=Confidence.MEDIUM,
        )
        return
    # The longest dispatch against the shortest step of the prediction: else it may go either way.
    if step is None or step.device_ms.low < DISPATCH_MS[-1]:
        raise NotMeasured(
            "one step per dispatch; whether the device idles between steps is not seen on CPU "
            "replicas",
            ON_THE_TPU,
        )
    yield as_predicted("the device's step, predicted", step.device_ms)
    yield Evidence("a dispatch takes at most", DISPATCH_MS[-1], "ms", source=PREDICTED)


def _steps_per_run(signals: Signals) -> int:
    profile, _ = replicas_of(signals)
    if signals.steps is None or signals.steps.recovered or not profile.runs:
        raise NotMeasured("a profile without marked steps does not tell their dispatch", ON_THE_TPU)
    runs = {(device.host, device.name): device.program_runs for device in profile.devices}
    each = [
        len(replica.step_ms) / ran
        for replica in profile.replicas
        if (ran := runs.get((replica.host, replica.replica)))
    ]
    if not each:
        raise NotMeasured("the trace holds no runs of a program", ON_THE_TPU)
    # The least over the devices: runs that a trace lost make the others look like several steps a
    # run.
    return max(round(min(each)), 1)
