from tpudiag.model import BOTH, Evidence, Finding, Judgement, NotMeasured, Severity, check
from tpudiag.signals import FitData, Signals

from ._need import need, of_a_job

RAN_OUT = "Your input ran out of data; interrupting training"
"""What both Keras say when it has happened."""
_FIX = (
    "dataset = dataset.repeat()             # before batch; steps_per_epoch says what an epoch is\n"
    "model.fit(dataset, epochs=epochs)      # or leave steps_per_epoch out"
)


@check("TPU212", Severity.WARNING, needs_data=True, frameworks=BOTH)
def out_of_data(signals: Signals) -> Judgement:
    """The dataset ends before the training requested from fit.

    ## What it sees
    Batches of the dataset that `fit` gets, compared with steps_per_epoch x epochs. If tf.data does
    not know the number of batches and the fit was given its steps, Keras' own message in the job's
    output. Without given steps Keras 3 prints the same message at the end of the first epoch, when
    it has counted the batches, and cuts nothing short.

    ## Why it costs
    tf-keras ends the training when the dataset ends, with one warning in the log: most of the
    epochs are silently skipped. Keras 3 cuts the epoch and starts the dataset again in the next
    one, so that epochs of two lengths alternate. Both start it again in each epoch if
    steps_per_epoch is exactly the number of its batches.

    ## What to do
    ```python
    dataset = dataset.repeat()                       # or: leave steps_per_epoch out
    model.fit(dataset, steps_per_epoch=500, epochs=20)
    ```

    ## Source
    https://keras.io/api/models/model_training_apis/#fit-method
    """
    of_a_job(signals, "what fit was asked for")
    loop = need(signals.loop, "a job's training loop")
    # -2 is tf.data's UNKNOWN_CARDINALITY, -1 the INFINITE one.
    known = [data for data in loop.fits if data.batches != -2]
    short = [data for data in known if 0 <= done(data) < data.steps_per_epoch * data.epochs]
    yield from (_finding(data) for data in short)
    unsized = [data for data in loop.fits if data.batches == -2 and not data.validation_unknown]
    if unsized and not short and (signals.end is not None and RAN_OUT in signals.end.log_tail):
        yield Finding(
            "Keras ran out of data and cut the training short.",
            _FIX,
            (Evidence("output", RAN_OUT, source="the job's output"),),
            unsized[0].location,
        )
    elif not known:
        raise NotMeasured(
            "no fit was seen that counts the steps of a dataset of known size",
            "assert it: `dataset.apply(tf.data.experimental.assert_cardinality(n))`",
        )
    for data in known:
        yield Evidence("steps asked for", data.steps_per_epoch * data.epochs, "steps")


def done(data: FitData) -> int:
    """The steps that are taken before the data ends; all where it is endless."""
    wanted, batches = data.steps_per_epoch * data.epochs, data.batches
    # Every Keras begins a dataset anew in each epoch whose steps are all of its batches.
    if batches < 0 or batches >= wanted or batches == data.steps_per_epoch:
        return wanted
    if not data.starts_again:
        return batches
    taken, left = 0, batches
    for _ in range(data.epochs):
        steps = min(left, data.steps_per_epoch)
        taken, left = taken + steps, left - steps
        # Keras 3 begins the dataset again in the next epoch, where this one ended early or took
        # just all of it.
        if steps < data.steps_per_epoch or left == 0:
            left = batches
    return taken


def _finding(data: FitData) -> Finding:
    wanted, taken = data.steps_per_epoch * data.epochs, done(data)
    happens = "epochs are cut short" if data.starts_again else "the training ends there"
    return Finding(
        f"fit is asked for {data.epochs} epochs of {data.steps_per_epoch} steps, and the dataset "
        f"has {data.batches:,} batches without repeat: {happens}, {1 - taken / wanted:.0%} of the "
        "steps are not done.",
        _FIX,
        (
            Evidence("batches of the dataset", data.batches, "batches", wanted),
            Evidence("steps asked for", wanted, "steps"),
            Evidence("steps done", taken, "steps", wanted),
        ),
        data.location,
    )
