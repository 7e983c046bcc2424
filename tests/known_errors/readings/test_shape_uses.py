"""Shapes that mean something by the operation in which they meet."""

from __future__ import annotations

from tpudiag.known_errors.readings.shape_uses import of_rows, of_use
from tpudiag.known_errors.search import match


def test_values_by_example_lack_their_axes() -> None:
    reading = of_use((2, 49104), (2,), "", "translation/truediv")
    assert reading is not None and "x[:, tf.newaxis]" in reading.fix
    assert of_use((2, 49104), (49104,), "RealDiv", "") is None
    assert of_use((32, 10), (32,), "SparseSoftmaxCrossEntropyWithLogits", "loss/xent") is None


def test_labels_and_rows_of_outputs() -> None:
    assert of_rows(320, 32, 10) is None
    unlike = of_rows(33, 32, 10)
    assert unlike is not None and unlike.guess


def test_values_that_are_compared_are_no_weights() -> None:
    (hit, *_) = match(
        "InvalidArgumentError: Incompatible shapes: [2] vs. [3]\n"
        "\t [[node Equal (defined at a.py:205) ]]"
    )
    assert hit.message.startswith("In Equal [2] and [3] are compared")
