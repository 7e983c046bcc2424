"""The sequences of batches in a row, on arrays as TensorFlow gives them."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tpudiag.signals.input_pipeline import PaddedLength
from tpudiag.sources.job.tensorflow.input import padded_lengths

TF: Any = SimpleNamespace(nest=SimpleNamespace(flatten=list))
RANDOM = np.random.default_rng(0)


def tokens(longest: int, width: int = 80, rows: int = 50) -> Any:
    """Rows of up to so many tokens, filled up with zeros."""
    lengths = RANDOM.integers(3, longest + 1, rows)
    lengths[0] = longest
    return RANDOM.integers(1, 999, (rows, width)) * (np.arange(width) < lengths[:, None])


def batch(*arrays: Any) -> Any:
    def tensor(array: Any) -> Any:
        dtype = SimpleNamespace(is_integer=array.dtype.kind == "i")
        return SimpleNamespace(shape=array.shape, dtype=dtype, numpy=lambda: array)

    return padded_lengths.of_batch(TF, [tensor(array) for array in arrays])


LABELS = np.zeros(50, "int32")


@pytest.mark.parametrize(
    ("batches", "expected"),
    [
        ([batch(tokens(9), LABELS), batch(tokens(12), LABELS)], PaddedLength(80, 12, 100)),
        ([batch(tokens(9)[:, ::-1])], PaddedLength(80, 9, 50)),
        ([batch(tokens(9, 16), tokens(9))], PaddedLength(80, 9, 50)),
        ([batch(tokens(9)), batch(RANDOM.integers(0, 2, (50, 80)))], None),
        ([batch(RANDOM.integers(0, 2, (50, 80)))], None),
        ([batch(tokens(9).astype("float32")), None], None),
    ],
)
def test_the_longest_of_them_beside_their_width(batches: Any, expected: PaddedLength) -> None:
    assert padded_lengths.worst(batches) == expected
