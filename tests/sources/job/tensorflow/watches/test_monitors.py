"""The metric that a callback waits for, and what the epochs report to it."""

from types import SimpleNamespace
from typing import Any

import pytest

from tpudiag.sources.job.points import hooks
from tpudiag.sources.job.tensorflow.watches.monitors import MonitorWatch


class Stopping:
    """As much of a callback as is hooked."""

    def __init__(self, **settings: Any) -> None:
        vars(self).update(monitor="val_auc", **settings)

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None: ...


class Model:
    """As much of a model as is hooked."""

    def fit(self, callback: Any, *epochs: dict[str, float], **_: Any) -> None:
        for number, logs in enumerate(epochs):
            callback.on_epoch_end(number, logs)


VALIDATED = {"loss": 1.0, "val_loss": 1.0}


@pytest.mark.parametrize(
    ("epochs", "given", "settings", "reported"),
    [
        ([VALIDATED], {"validation_data": 1}, {}, [("loss", "val_loss")]),
        ([{"loss": 1.0}], {}, {}, [("loss",)]),
        # validation_freq=2, or a validation that the rehearsal has left out
        ([{"loss": 1.0}], {"validation_data": 1}, {}, []),
        ([VALIDATED, {"val_auc": 1.0}], {"validation_data": 1}, {}, [("val_auc",)]),
        ([VALIDATED], {}, {"save_best_only": False}, []),
        ([VALIDATED], {}, {"save_best_only": True, "save_freq": 100}, []),
    ],
)
def test_what_the_epochs_report(
    epochs: list[dict[str, float]], given: Any, settings: Any, reported: list[tuple[str, ...]]
) -> None:
    callbacks = SimpleNamespace(EarlyStopping=Stopping)
    watch = MonitorWatch()
    watch.watch_keras(SimpleNamespace(Model=Model, callbacks=callbacks))  # type: ignore[arg-type]
    Model().fit(Stopping(**settings), *epochs, **given)
    hooks.undo()
    assert [each.reported for each in watch.facts()] == reported
    assert {(each.callback, each.metric) for each in watch.facts()} <= {("Stopping", "val_auc")}
