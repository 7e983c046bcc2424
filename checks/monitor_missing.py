from tpudiag.model import BOTH, Evidence, Finding, Judgement, Severity, check
from tpudiag.signals import Signals
from tpudiag.signals.training_loop import Monitor

from ._loop import loop_of
from ._need import need

_IDLE = {
    "ModelCheckpoint": "no model is ever saved",
    "EarlyStopping": "training is never stopped",
    "ReduceLROnPlateau": "the learning rate is never lowered",
}
_OF_RATES = ("lr", "learning_rate")
"""What callbacks add themselves."""


@check("TPU612", Severity.WARNING, frameworks=BOTH)
def monitor_missing(signals: Signals) -> Judgement:
    """A callback waits for a metric that no epoch reports.

    ## What it sees
    Keras' ModelCheckpoint of the best model, EarlyStopping and ReduceLROnPlateau at the end of an
    epoch: the metric that each of them monitors, and the names that the epoch reports. A metric of
    the validation counts once an epoch has validated, or where fit has no data for validation.

    ## Why it costs
    Keras prints a warning among others and goes on: no best model is saved and the training is
    lost, or it is not stopped and its rate stays. A metric has the name that was given to it
    (`AUC(name="roc")` is `val_roc`), a second one of a class has a number (`auc_1`).

    ## What to do
    ```python
    model.compile(..., metrics=[keras.metrics.AUC(name="auc")])
    keras.callbacks.ModelCheckpoint("gs://bucket/job/{epoch:04d}.keras", monitor="val_auc",
                                    mode="max", save_best_only=True)
    ```

    ## Source
    https://keras.io/api/callbacks/model_checkpoint
    """
    monitors = need(loop_of(signals).monitors or None, "a callback of Keras that monitors a metric")
    for each in monitors:
        if each.metric not in each.reported:
            yield _finding(each)
        yield Evidence("monitored metric", each.metric, source=str(each.location or "job"))


def _finding(monitor: Monitor) -> Finding:
    names = [name for name in monitor.reported if name not in _OF_RATES]
    idle = _IDLE.get(monitor.callback, "it never acts")
    return Finding(
        f"{monitor.callback} waits for {monitor.metric}, which no epoch reports: {idle}.",
        f"monitor={_nearest(monitor.metric, names)!r}  # an epoch reports {', '.join(names)}",
        (Evidence("metrics of an epoch", ", ".join(names) or "none"),),
        monitor.location,
    )


def _nearest(metric: str, names: list[str]) -> str:
    """One of the validation where that was meant, else of the training."""
    of_validation = metric.startswith("val_")
    same = [name for name in names if name.startswith("val_") == of_validation]
    better = [name for name in same or names if not name.endswith("loss")]
    return next(iter(better or same or names), "loss")
