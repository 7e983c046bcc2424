"""Shapes that mean something by the operation in which they meet."""

from __future__ import annotations

from tpudiag.known_errors.readings.shape_uses import of_rows, of_use


def test_values_by_example_lack_their_axes() -> None:
    reading = of_use((2, 49104), (2,), "", "translation/truediv")
    assert reading is not None and "x[:, tf.newaxis]" in reading.fix
    assert of_use((2, 49104), (49104,), "RealDiv", "") is None
    assert of_use((32, 10), (32,), "SparseSoftmaxCrossEntropyWithLogits", "loss/xent") is None


def test_a_variable_and_what_it_is_set_to() -> None:
    other = of_use((32128, 512), (32128, 1024), "Assign", "save/Assign_3")
    assert other is not None and "another model" in other.cause
    order = of_use((1, 1, 384, 1536), (1536, 384, 1, 1), "Assign", "")
    assert order is not None and "another order" in order.cause


def test_labels_and_rows_of_outputs() -> None:
    pixels = of_rows(1_579_014, 6_534, 2)
    assert pixels is not None and "smaller than the label image" in pixels.cause
    steps = of_rows(32, 4_096, 10)
    assert steps is not None and "return_sequences" in steps.cause
    assert of_rows(320, 32, 10) is None
    unlike = of_rows(33, 32, 10)
    assert unlike is not None and unlike.guess
