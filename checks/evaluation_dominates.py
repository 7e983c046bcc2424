import math
from dataclasses import replace

from tpudiag.model import (
    BOTH,
    Confidence,
    Evidence,
    Finding,
    Judgement,
    NotMeasured,
    Severity,
    check,
)
from tpudiag.signals import Pause, Signals

from ._compiler import PREDICTED
from ._loop import loop_of
from ._need import by_framework, need, percent, share_of
from ._predicted import predicted_step

LIMIT = 0.5
"""Share of the time that evaluation, predictions or saving may take beside training."""
EAGER_LIMIT = 0.1
"""The same for a model that is called outside any tf.function, or by a callback at each batch: the
steps of a TPU are far faster than those here; eager operations, and the start of a `predict`, are
not."""
OFTEN = 20
"""Steps between two saves by the number of the step (`save_freq=5`, `if step % 5 == 0`),
up to which they are often. Epochs of so few steps are those of a toy, or of data that was stood in
for."""
OFTEN_IN_LOOP = 9
"""The same in a custom loop, where an epoch may be counted in steps; toys have few."""
EACH_FEW = 4
"""Steps between two evaluations by a callback at each batch, up to which these are too
many whatever they take here: their start on the host stays as long beside a TPU's faster steps."""
LEAST_MS = 1_000.0
"""All evaluations together, or one save, below which a job is too small to judge its shares."""
_FIXES = {
    "evaluation": (
        "model.fit(..., validation_freq=5)              # or evaluate every fifth epoch\n"
        "model.fit(..., validation_steps=50)            # or on a part of the data"
    ),
    "eager evaluation": (
        "@tf.function\n"
        "def eval_step(batch):\n"
        "    return strategy.run(lambda x, y: metric.update_state(y, model(x)), args=batch)"
    ),
    "predict": "predict once after training, or on a few batches: model.predict(dataset.take(10))",
    "saving": (
        'keras.callbacks.ModelCheckpoint(path, save_freq="epoch")   # not every few steps\n'
        "tf.train.CheckpointOptions(enable_async=True)              # saves beside the steps"
    ),
}
_OF_JAX = _FIXES | {
    "eager evaluation": (
        "@jax.jit\ndef eval_step(params, batch):\n    return metrics(model(params, batch))"
    ),
    "saving": (
        'keras.callbacks.ModelCheckpoint(path, save_freq="epoch")   # not every few steps\n'
        "ocp.AsyncCheckpointer(ocp.StandardCheckpointHandler())     # saves beside the steps"
    ),
}


@check("TPU606", Severity.WARNING, frameworks=BOTH)
def evaluation_dominates(signals: Signals, limit: float = LIMIT) -> Judgement:
    """Evaluation, predictions or saving take more of the time than they should.

    ## What it sees
    Lines that evaluate, predict or save repeatedly: their time from the second call on, and the
    time of the training steps in between, in processor time of this machine. Evaluation and
    training scale alike on a TPU. Saving every few steps weighs more there, as its steps are faster
    (the predicted step shows how much); so does a model that is called eagerly, or by a callback at
    each batch.

    ## Why it costs
    While the job evaluates, it does not train: a pass over a large validation set after each short
    epoch doubles the bill.

    ## What to do
    ```python
    model.fit(train, validation_data=validation, validation_freq=5, validation_steps=50)
    ```

    ## Source
    https://keras.io/api/models/model_training_apis/#fit-method
    """
    loop = loop_of(signals)
    dispatch = signals.dispatch
    at_once = dispatch.steps_per_dispatch if dispatch and not dispatch.ran_singly else 1
    # Few examples after each step are those of a policy that acts between its updates.
    batch = signals.batch.global_batch if signals.batch is not None else math.inf
    pauses = [
        replace(pause, dispatches_between=pause.dispatches_between * at_once)
        for pause in loop.pauses
        if pause.training_ms > 0 and not 0 < pause.examples < batch
    ]
    if signals.stood_in:  # how long an epoch is, and an evaluation, is the data's
        pauses = [pause for pause in pauses if pause.each_batch]
        if not pauses:
            raise NotMeasured("the data was stood in for (--fake-data)", "run where the data is")
    need(
        pauses or None,
        "evaluation or saving between training steps, twice",
        "rehearse more than two evaluations: `--steps` beyond the steps of two epochs",
    )
    fixes = by_framework(signals, _FIXES, _OF_JAX)
    for pause in pauses:
        fix = fixes[f"eager {pause.kind}" if pause.eager else pause.kind]
        share = pause.spent_ms / (pause.spent_ms + pause.training_ms)
        most = min(limit, EAGER_LIMIT) if _starts_anew(pause) else limit
        evidence = share_of(f"share of {pause.kind}", share, "%", most)
        if share > most and _weighs(pause):
            yield _finding(pause, fix, share, evidence)
        elif pause.each_batch and pause.kind != "saving" and pause.dispatches_between <= EACH_FEW:
            yield _at_each_batch(pause, fix, evidence)
        elif pause.kind == "saving" and _starts_anew(pause) and _weighs(pause):
            yield from _on_the_tpu(pause, fix, signals, most)
        yield evidence


def _at_each_batch(pause: Pause, fix: str, evidence: Evidence) -> Finding:
    """A callback that evaluates after each step or nearly, and takes little beside steps on CPU."""
    every = "step" if pause.dispatches_between < 2 else f"{pause.dispatches_between:.0f} steps"
    return Finding(
        f"a callback runs {pause.kind} after each {every}, {pause.times} times here: it waits for "
        "the device and starts anew on the host, which takes as long beside a TPU's faster steps.",
        fix,
        (evidence, Evidence("times", pause.times, "times")),
        pause.location,
        confidence=Confidence.MEDIUM,
    )


def _on_the_tpu(pause: Pause, fix: str, signals: Signals, most: float) -> Judgement:
    """Frequent saves that weigh little beside the steps of CPU replicas: beside those of the TPU.

    A save is the host's work and stays as long; raises NotMeasured where its share is not known.
    """
    step = predicted_step(signals)
    if step is None:
        raise NotMeasured(
            "beside the slow steps here frequent saves weigh little; a TPU's are faster",
            "let the compiler predict the step (without --no-compile), or profile on the TPU",
        )
    each_ms = pause.spent_ms / (pause.times - 1)
    between = pause.dispatches_between
    low, high = (each_ms / (each_ms + between * ms) for ms in (step.ms.high, step.ms.low))
    evidence = Evidence(
        "share of saving, predicted",
        f"{low:.0%} to {high:.0%}",
        limit=percent(most),
        source=PREDICTED,
    )
    if low > most:
        yield _finding(pause, fix, low, evidence, step.target)
    elif high > most:
        raise NotMeasured(
            f"saving is predicted to take {low:.0%} to {high:.0%} of the time: either side of the "
            f"limit of {most:.0%}",
            "profile some steps on the TPU",
        )
    yield evidence


def _weighs(pause: Pause) -> bool:
    """Whether the time is more than that of a toy, whose saves outlast its epochs."""
    # The first time is left out of spent_ms, so it is left out of the count.
    each = pause.times - 1 if pause.kind == "saving" else 1
    return pause.spent_ms / max(each, 1) >= LEAST_MS * (EAGER_LIMIT if _starts_anew(pause) else 1)


def _starts_anew(pause: Pause) -> bool:
    """Whether each call has a price on the host that faster steps do not lower."""
    if pause.kind == "saving":
        often = OFTEN if pause.each_batch else OFTEN_IN_LOOP if pause.in_step_loop else 0
        return 0 < pause.dispatches_between <= often
    return pause.eager or pause.each_batch


def _how_often(pause: Pause) -> str:
    if pause.kind == "saving" and _starts_anew(pause):
        return f" It is done every {pause.dispatches_between:.0f} steps."
    if not pause.each_batch:
        return ""
    often = round(pause.dispatches_between)
    how = f"every {often} steps" if often > 1 else "at each batch"
    return f" A callback does it {how}."


def _finding(pause: Pause, fix: str, share: float, evidence: Evidence, target: str = "") -> Finding:
    eagerly = (
        f" The model is called outside any tf.function, {pause.times} times: each of its "
        "operations is dispatched by itself."
    )
    times = f"{pause.spent_ms / 1e3:.1f} s beside {pause.training_ms / 1e3:.1f} s of training steps"
    share_text = (
        f"at least {share:.0%} of the time of the loop, predicted for {target} ({times} here)."
        if target
        else f"{share:.0%} of the time of the loop: {times}, on this machine."
    )
    return Finding(
        f"{pause.kind} takes {share_text}" + (eagerly if pause.eager else "") + _how_often(pause),
        fix,
        (
            evidence,
            Evidence("times", pause.times, "times"),
            Evidence("training steps in between", round(pause.training_ms), "ms"),
        ),
        pause.location,
        confidence=Confidence.MEDIUM,
    )
