"""The schedule of a fit's optimizer, as Keras writes it down."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tpudiag.signals.training_loop import FitSchedule
from tpudiag.sources.job.tensorflow.watches import schedules


def model(name: str, **config: object) -> Any:
    rate = {"class_name": name, "config": config}
    return SimpleNamespace(optimizer=SimpleNamespace(get_config=lambda: {"learning_rate": rate}))


COSINE = model("CosineDecay", initial_learning_rate=1e-3, decay_steps=90, warmup_steps=10)
PIECES = model("PiecewiseConstantDecay", boundaries=[10, 20], values=[0.1, 0.01, 0.001])


@pytest.mark.parametrize(
    ("of", "given", "batches", "steps", "each"),
    [
        (COSINE, {"epochs": 3, "steps_per_epoch": 7}, -1, 100, 7),
        (COSINE, {"epochs": 3}, 40, 100, 40),
        (COSINE, {"epochs": 3, "x": np.zeros((100, 2)), "batch_size": 8}, -2, 100, 13),
        (PIECES, {"epochs": 3}, 40, 20, 40),
    ],
)
def test_its_end_beside_the_steps_of_the_fit(
    of: Any, given: dict[str, Any], batches: int, steps: int, each: int
) -> None:
    rate = of.optimizer.get_config()["learning_rate"]
    expected = FitSchedule(
        name=rate["class_name"],
        steps=steps,
        warmup=rate["config"].get("warmup_steps", 0),
        last_rate=rate["config"].get("values", [0.0])[-1],
        steps_per_epoch=each,
        epochs=3,
        location=None,
    )
    assert schedules.of_fit(of, given, batches, None) == expected
    mixed = {"inner_optimizer": {"config": of.optimizer.get_config()}}
    wrapped = SimpleNamespace(optimizer=SimpleNamespace(get_config=lambda: mixed))
    assert schedules.of_fit(wrapped, given, batches, None) == expected


@pytest.mark.parametrize(
    "of",
    [
        SimpleNamespace(),
        SimpleNamespace(optimizer="adam"),
        model("ExponentialDecay", initial_learning_rate=1e-3, decay_steps=90),
        model("PolynomialDecay", initial_learning_rate=0.0, end_learning_rate=1e-3, decay_steps=9),
        model("CosineDecay", initial_learning_rate=0.0, warmup_target=None, decay_steps=9),
    ],
)
def test_none_that_ends_and_falls(of: Any) -> None:
    assert schedules.of_fit(of, {"epochs": 3}, 40, None) is None


def test_data_of_unknown_length() -> None:
    assert schedules.of_fit(COSINE, {"epochs": 3, "x": iter(())}, -2, None) is None


@pytest.mark.parametrize(
    ("of", "taken", "told"),
    [(COSINE, 200, True), (COSINE, 199, False), (COSINE, None, False), (PIECES, 200, False)],
)
def test_a_loop_goes_on_at_a_rate_of_0(of: Any, taken: int | None, told: bool) -> None:
    found = schedules.of_loop(of.optimizer, taken)
    assert (found is not None) is told
    assert found is None or (found.steps, found.steps_per_epoch, found.epochs) == (100, taken, 0)
