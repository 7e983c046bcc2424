"""Which metrics a function updates."""

from types import SimpleNamespace
from typing import Any

from tpudiag.sources.job.tensorflow.watches.metric_resets import MetricResetWatch


class Metric:
    """As Keras 2 has them: each binds its methods before it is initialised."""

    def __new__(cls) -> Any:
        made: Any = super().__new__(cls)
        made.update_state = made.update_state
        return made

    def update_state(self, value: object) -> None:
        """Take a value."""


def test_the_first_metric_of_a_class_is_seen_too() -> None:
    tensorflow = SimpleNamespace(executing_eagerly=lambda: False)
    watch = MetricResetWatch(tensorflow, lambda: 0)  # type: ignore[arg-type]
    watch.watch_keras(SimpleNamespace(metrics=SimpleNamespace(Metric=Metric)))  # type: ignore[arg-type]
    Metric().update_state(1.0)
    assert watch.traced(trains=False)
