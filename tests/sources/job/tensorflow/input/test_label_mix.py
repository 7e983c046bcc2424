"""Whether the labels of batches in a row are mixed, on arrays as TensorFlow gives them."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tpudiag.signals.input_pipeline import UnmixedLabel
from tpudiag.sources.job.tensorflow.input import label_mix

CLASSES = np.repeat(np.arange(8), 1_280)
RANDOM = np.random.default_rng(0)


def shuffled(values: Any, buffer: int) -> Any:
    """As by a shuffle of such a buffer."""
    values = values.copy()
    for at in range(len(values)):
        other = min(at + RANDOM.integers(buffer), len(values) - 1)
        values[[at, other]] = values[[other, at]]
    return values


def batches(labels: Any, size: int = 512) -> list[Any]:
    """Pairs (x, y)."""
    return [(None, as_tensor(labels[at : at + size])) for at in range(0, 10 * size, size)]


def found(labels: Any) -> UnmixedLabel | None:
    return label_mix.unmixed([label_mix.of_batch(each) for each in batches(labels)])


def as_tensor(values: Any) -> Any:
    return SimpleNamespace(shape=values.shape, numpy=lambda: values)


@pytest.mark.parametrize(
    ("labels", "label"),
    [
        (shuffled(CLASSES, 1_000), True),
        (shuffled(CLASSES, 10_240), False),
        (CLASSES, True),
        (np.tile(np.arange(8), 1_280), False),
        # Each its own, as identifiers are; measurements; one class; a rare one.
        (np.arange(10_240), False),
        (RANDOM.normal(size=10_240), False),
        (np.zeros(10_240), False),
        (RANDOM.random(10_240) < 0.001, False),
    ],
    ids=["small", "whole", "none", "in turn", "own", "measured", "one", "rare"],
)
def test_sorted_labels_show(labels: Any, label: bool) -> None:
    assert (found(labels) is not None) is label


@pytest.mark.parametrize("labels", [CLASSES[:, None], np.eye(8)[CLASSES]])
def test_columns_and_one_hot_labels_with_their_shares(labels: Any) -> None:
    assert found(labels) == UnmixedLabel("0", 0.0, 1.0, 10)


@pytest.mark.parametrize("element", [as_tensor(CLASSES), {"y": 1}, (None, np.zeros((4, 8, 8, 3)))])
def test_what_has_no_labels(element: Any) -> None:
    assert label_mix.of_batch(element) is None
