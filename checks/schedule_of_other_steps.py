from tpudiag.model import BOTH, Evidence, Finding, Judgement, NotMeasured, Severity, check
from tpudiag.signals import Signals
from tpudiag.signals.training_loop import FitSchedule

from ._need import need, of_a_job

_MOST_OFF = 0.02
"""Rounding, where the steps of an epoch are cut to whole ones."""
_FEW_STEPS = 10
"""In a trial's epochs of fewer, fewer than the epochs are no evidence; just as many are."""


@check("TPU517", Severity.WARNING, needs_data=True, frameworks=BOTH)
def schedule_of_other_steps(signals: Signals) -> Judgement:
    """The learning rate schedule is counted in epochs, or in the batches of one replica.

    ## What it sees
    A schedule that falls and ends: Keras' CosineDecay, PolynomialDecay and PiecewiseConstantDecay,
    and any that an optimizer of optax is given. In the only `fit` of a job, beside its epochs and
    the steps of each: it ends within as many steps as there are epochs, or lasts as many times too
    long as there are replicas. There, and in a loop of the job's own: it ends at 0, and most of the
    steps are taken after that. In a loop also: it lasts as long as there are calls of the step, of
    which several make one update (`optax.MultiSteps`).

    ## Why it costs
    A schedule counts steps, of the global batch. Counted in epochs it is over in one of the first,
    and all others train at its last rate, mostly 0. Counted in batches of one replica, on 8 of them
    it passes an eighth, and the rate never falls.

    ## What to do
    ```python
    steps = (examples // (batch_per_replica * strategy.num_replicas_in_sync)) * epochs
    rate = tf.keras.optimizers.schedules.CosineDecay(1e-3, decay_steps=steps)
    ```

    ## Source
    https://keras.io/api/optimizers/learning_rate_schedules/cosine_decay
    """
    of_a_job(signals, "what fit was asked for")
    loop = need(signals.loop, "a job's training loop")
    if not loop.schedules:
        raise NotMeasured(
            "no fit was seen that is the only one and has a schedule of Keras that ends, no loop "
            "that goes on after the end of one, and no end of a loop with one of optax",
            "give the optimizer one: `tf.keras.optimizers.schedules.CosineDecay`",
        )
    for each in loop.schedules:
        if not each.epochs:
            yield from _of_loop(each)
            continue
        replicas = signals.batch.replicas if signals.batch is not None else 1
        counted = _counted_in(each, replicas)
        whole = each.steps_per_epoch * each.epochs
        if counted is not None:
            yield Finding(
                f"{each.name} ends after {each.steps:,} steps, and fit takes {whole:,}: {counted}.",
                f"decay_steps = {each.steps_per_epoch} * {each.epochs}  # steps an epoch x epochs",
                (Evidence("steps of the schedule", each.steps, "steps", whole),),
                each.location,
            )
        elif not each.last_rate and whole >= 2 * each.steps:
            yield _past(each, whole)
        yield Evidence("steps of the schedule", each.steps, "steps", whole)


def _of_loop(schedule: FitSchedule) -> Judgement:
    """A loop of the job's own: all of its steps, or as many as were seen."""
    calls, each = schedule.steps_per_epoch, schedule.calls_each
    updates = calls // each
    if each > 1 and abs(schedule.steps / calls - 1) < _MOST_OFF:
        yield Finding(
            f"{schedule.name} lasts {schedule.steps:,} steps, as many as there are calls, but "
            f"{each} of these make one update: it only gets to step {updates:,}.",
            f"decay_steps = {schedule.steps} // {each}  # counted in updates, as is its warm-up",
            (Evidence("steps of the schedule", schedule.steps, "steps", updates),),
            schedule.location,
        )
    elif not schedule.last_rate and updates >= 2 * schedule.steps:
        yield _past(schedule, schedule.steps_per_epoch)
    yield Evidence("steps of the schedule", schedule.steps, "steps", updates)


def _past(schedule: FitSchedule, taken: int) -> Finding:
    """Steps at a rate of 0."""
    return Finding(
        f"{schedule.name} ends at a rate of 0 after {schedule.steps:,} steps, and the loop takes "
        f"{taken:,}: the others are in vain. It may be counted in epochs.",
        "decay_steps = epochs * steps_per_epoch  # an update each, however many a call makes",
        (Evidence("steps of the schedule", schedule.steps, "steps", taken),),
        schedule.location,
    )


def _counted_in(schedule: FitSchedule, replicas: int) -> str | None:
    """What its steps seem to be; None where they may be meant."""
    whole = schedule.steps_per_epoch * schedule.epochs
    # Steps of all epochs may be given as those of the fall, whose warm-up comes before it.
    lasts = {schedule.steps, schedule.steps - schedule.warmup}
    exact = schedule.epochs in lasts and schedule.steps_per_epoch > 2
    short = exact or schedule.steps_per_epoch >= _FEW_STEPS
    if 1 < schedule.epochs >= min(lasts) and short:
        over = -(-schedule.steps // schedule.steps_per_epoch)  # rounded up
        return f"it is counted in epochs ({schedule.epochs}), and over in epoch {over}"
    if replicas > 1 and any(abs(n / whole / replicas - 1) < _MOST_OFF for n in lasts):
        return f"it is counted in the batches of one of {replicas} replicas"
    return None
