"""Shapes that mean something by the operation in which they meet."""

from tpudiag.known_errors.readings.meeting import Meeting, meaning
from tpudiag.known_errors.search import match


def test_values_by_example_lack_their_axes() -> None:
    reading = meaning(Meeting((2, 49104), (2,), "", "translation/truediv"))
    assert "x[:, tf.newaxis]" in reading.fix
    assert "tf.newaxis" not in meaning(Meeting((2, 49104), (49104,), "RealDiv")).fix


def test_labels_and_rows_of_outputs() -> None:
    pair = Meeting((33,), (32, 10))
    pair.sparse = True
    assert meaning(pair).guess


def test_values_that_are_compared_are_no_weights() -> None:
    (hit, *_) = match(
        "InvalidArgumentError: Incompatible shapes: [2] vs. [3]\n"
        "\t [[node Equal (defined at a.py:205) ]]"
    )
    assert hit.message.startswith("In Equal [2] and [3] are compared")
