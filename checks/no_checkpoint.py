from collections import Counter
from collections.abc import Iterator

from tpudiag.model import BOTH, Evidence, Finding, Judgement, NotMeasured, Severity, check
from tpudiag.signals import Checkpoints, CheckpointUse, Signals

from ._need import by_framework, by_library, need, of_a_job

_MANAGER = (
    "manager = tf.train.CheckpointManager(checkpoint, checkpoint_dir, max_to_keep=3)\n"
    "manager.save()  # every few minutes\n# with fit:\n"
)
_BY_FIT = "model.fit(..., callbacks=[keras.callbacks.BackupAndRestore(checkpoint_dir)])"
_ORBAX = (
    "manager = orbax.checkpoint.CheckpointManager(checkpoint_dir)  # each host: its shards\n"
    "manager.save(step, args=orbax.checkpoint.args.StandardSave(state))  # every few minutes"
)
_AGAIN = ("tf.train.CheckpointManager", "orbax.checkpoint.CheckpointManager")


@check("TPU601", Severity.WARNING, frameworks=BOTH)
def no_checkpoint(signals: Signals) -> Judgement:
    """The job saves no checkpoint.

    ## What it sees
    Checkpoint managers, checkpoint callbacks and save calls of the job, made or reached up to the
    end of the observation. A save call in the source that was not reached is mentioned. In a JAX
    job those of Orbax, Flax and Keras; since there are other ways, it is only information there.
    Of TensorFlow's own, Orbax' and Flax' also what they hold: all that is trained, and nothing of
    the optimizer's arrays (in JAX: one of three or more of each shape that the step carries), where
    none other is saved.

    ## Why it costs
    A preempted or failed TPU job starts again from nothing. Without the optimizer it goes on with
    moments of zero, and with the first learning rate of its schedule.

    ## What to do
    ```python
    checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer)
    manager = tf.train.CheckpointManager(checkpoint, "gs://bucket/job", max_to_keep=3)
    checkpoint.restore(manager.latest_checkpoint)
    ...
    manager.save()                                   # every few minutes
    model.fit(..., callbacks=[keras.callbacks.BackupAndRestore("gs://bucket/job")])
    ```

    ## Source
    https://www.tensorflow.org/guide/checkpoint
    """
    of_a_job(signals, "what the job saves")
    seen = need(signals.checkpoints, "the job")
    idle = _idle(signals, seen)
    uses = tuple(use for use in seen.uses if use.given and use not in idle)
    for use in uses:
        yield Evidence(use.kind, use.path or "a path", source=str(use.location or "job"))
    if uses:
        yield from _bare(signals, uses)
        return
    if idle:
        yield Finding(
            f"{idle[0].kind} is made, and the whole script saves nothing by it.",
            "manager.save()  # every few minutes",
            (Evidence("saves", 0, "saves", 1),),
            idle[0].location,
        )
        return
    waiting = [f"{use.kind} at {use.location}" for use in seen.uses]
    if seen.mentioned or waiting:
        raise NotMeasured(
            f"{seen.mentioned[0]} saves, and was not reached in the observed steps"
            if seen.mentioned
            else f"{waiting[0]} is made, and was given to no loop in the observed steps",
            "rehearse until it is reached: `--steps` beyond the first save",
        )
    # A job that never came to train might have set its checkpoints up behind the point where it
    # stopped.
    need(signals.dispatch, "a training step")
    yield Finding(
        "the job sets up no checkpoint and saves none.",
        by_framework(signals, _MANAGER, "") + by_library(signals, _BY_FIT, _ORBAX),
        (Evidence("checkpoints set up", 0, "managers and callbacks", 1),),
        signals.keras.fit_at if signals.keras is not None else None,
        # Saving has many ways in JAX, of which not all are known.
        severity=by_framework(signals, Severity.WARNING, Severity.INFO),
    )


def _idle(signals: Signals, seen: Checkpoints) -> list[CheckpointUse]:
    """Managers that have saved nothing when the script had ended, and are asked nowhere to."""
    idle = [use for use in seen.uses if use.kind in _AGAIN and not use.saved]
    elsewhere = {*seen.mentioned} - {use.location for use in idle}
    whole = signals.coverage is not None and signals.coverage.end == "whole"
    return idle if whole and not elsewhere else []


def _bare(signals: Signals, uses: tuple[CheckpointUse, ...]) -> Iterator[Finding]:
    # What is saved once, at the end, is for use: nothing goes on from it.
    saved = [use for use in uses if use.saved and (use.kind in _AGAIN or use.saved > 1)]
    for use in saved if all(_without_optimizer(signals, each) for each in saved) else ():
        yield Finding(
            f"{use.kind} saves what is trained without the optimizer: after a preemption its "
            "moments and its schedule begin anew.",
            by_framework(
                signals,
                "checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer, step=step)",
                "state = {'params': params, 'opt_state': opt_state, 'step': step}  # all saved",
            ),
            (Evidence("arrays of the optimizer that are saved", 0, "arrays", 1),),
            use.location,
        )


def _without_optimizer(signals: Signals, use: CheckpointUse) -> bool:
    """Whether it holds all that is trained, and nothing of the optimizer's arrays."""
    held, step = Counter(use.shapes), signals.sharding
    if step is not None:
        own = int(step.mapped)
        carried = Counter(a.shape[own:] for a in step.state if a.shape[own:])
        # Of two, one may be an average or a target network, which is made anew.
        return bool(held) and held + held + held <= carried
    seen = [each for each in signals.variables or () if each.shape]
    trained = Counter(each.shape for each in seen if each.trained)
    others = Counter(each.shape for each in seen if not each.optimizer)
    slots = Counter(each.shape for each in seen if each.optimizer)
    # What has the shapes of the optimizer's beside the trained may be the optimizer's.
    return bool(slots and trained) and trained <= held <= others and not trained + slots <= held
