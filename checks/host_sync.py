from tpudiag.model import BOTH, Evidence, Finding, Judgement, Severity, check
from tpudiag.signals import ResultFetch, Signals

from ._loop import FEWEST_STEPS, loop_of
from ._need import by_framework

LIMIT = 0.9
"""Share of the steps after which a line fetches, from which on it counts as each step."""
_WHAT = {
    "result": "fetches a result of the step from the device",
    "metric": "fetches a metric's result from the device",
    "summary": "writes a summary of a result",
    "variable": "reads the values of variables from the device",
    "update": "sets variables from Python",
    "checkpoint": "saves a checkpoint",
    "batch": "hands Keras a batch and gets numbers back",
}
_PRINT = "if step % 100 == 0:  # the step number as a Python int\n    "
_FIXES = {
    **dict.fromkeys(("result", "metric"), _PRINT + "print(step, float(loss))"),
    "summary": _PRINT + "tf.summary.scalar('loss', loss, step=step)",
    "batch": (
        "dataset = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(len(x)).repeat().batch(n)\n"
        "model.fit(dataset.prefetch(tf.data.AUTOTUNE), steps_per_epoch=1000)"
    ),
    "checkpoint": (
        "options = orbax.checkpoint.CheckpointManagerOptions(save_interval_steps=1000)\n"
        "manager = orbax.checkpoint.CheckpointManager(folder, options=options)  # waits for none"
    ),
    **dict.fromkeys(
        ("variable", "update"),
        "do it on the device, within the step's tf.function, or every 1000th step:\n"
        "mean.assign(decay * mean + (1 - decay) * variable)  # variables made in strategy.scope()\n"
        "optimizer = keras.optimizers.Adam(1e-3, use_ema=True)  # Keras' own moving average",
    ),
}
_OF_JAX = {
    **_FIXES,
    "summary": _PRINT + "writer.add_scalar('loss', float(loss), step)",
    **dict.fromkeys(
        ("variable", "update"),
        "do it on the device, within the jitted step, or every 1000th step:\n"
        "mean = optax.incremental_update(params, mean, 1 - decay)\n"
        "optimizer = keras.optimizers.Adam(1e-3, use_ema=True)  # Keras' own moving average",
    ),
}


@check("TPU108", Severity.WARNING, frameworks=BOTH)
def host_sync(signals: Signals, limit: float = LIMIT) -> Judgement:
    """The host waits for the device after each step.

    ## What it sees
    Results of the training step (floating-point ones), metrics' results, weights, and values
    computed from them: the lines where Python reads their value (`float`, `.numpy()`, `if loss >
    x`, `print`, f-strings, summaries, `train_on_batch`), and after how many steps. Lines that set
    eight variables and more from Python. In a JAX job, also calls that save a checkpoint. Several
    steps in one dispatch are left out.

    ## Why it costs
    A step is dispatched without waiting for the last one, so the device never idles. A fetch waits
    until the step is done, copies, and only then dispatches the next: 10 to 50 % of short steps.

    ## What to do
    ```python
    if step % 100 == 0:
        print(step, float(loss))       # 1 fetch in 100 steps; keep the sum in a tf.Variable
    ```

    ## Source
    https://www.tensorflow.org/guide/tpu#improving_performance_with_multiple_steps_inside_tffunction
    """
    loop = loop_of(signals, FEWEST_STEPS)
    per_dispatch = signals.dispatch.steps_per_dispatch if signals.dispatch is not None else 1
    # One step fewer: the last may have been cut off.
    least = FEWEST_STEPS - 1
    each_step = [f for f in loop.fetches if f.steps >= max(least, limit * (f.of_steps - 1))]
    # With several steps in a dispatch the fetch waits once for all of them, as is advised.
    if per_dispatch == 1:
        # Turned round twice: of several on one line the first stays, in the order of the script.
        found = {(f.kind == "checkpoint", str(f.location)): f for f in reversed(each_step)}
        for fetch in list(found.values())[::-1][:3]:
            yield _finding(fetch, limit, by_framework(signals, _FIXES, _OF_JAX)[fetch.kind])
    yield Evidence("lines that fetch after each dispatch", len(each_step), "lines")
    yield Evidence("steps in a dispatch", per_dispatch, "steps")


def _finding(fetch: ResultFetch, limit: float, fix: str) -> Finding:
    cost = "the next step is dispatched only when the last one is done."
    if fetch.kind == "update":  # dispatched without waiting
        cost = "each of them takes dispatches of its own."
    return Finding(
        f"this line {_WHAT[fetch.kind]} after {fetch.steps} of {fetch.of_steps} steps: {cost}",
        fix,
        (
            Evidence("steps with a fetch", fetch.steps, "steps", int(limit * fetch.of_steps)),
            Evidence("steps", fetch.of_steps, "steps"),
        ),
        fetch.location,
    )
