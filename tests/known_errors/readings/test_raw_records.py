"""Reshapes of what a record holds."""

import pytest

from tpudiag.known_errors.search import match

RAW = "[[Node: Reshape = Reshape[T=DT_UINT8](DecodeRaw, Reshape/shape)]]"
PIPELINE = "[[{{node Reshape_2}}]] [[input/IteratorGetNext]]"


def told(values: int, wanted: int, behind: str) -> tuple[str, str]:
    """The cause and the confidence of a reshape's error."""
    answer = match(
        "InvalidArgumentError: Input to reshape is a tensor with"
        f" {values} values, but the requested shape has {wanted}\n\t {behind}"
    )[0]
    return answer.message, answer.confidence


@pytest.mark.parametrize(
    ("values", "wanted", "cause"),
    [
        (40_000, 30_000, "four channels (RGBA) where three are wanted"),
        (10_000, 30_000, "one channel (grey) where three are wanted"),
        (120_000, 30_000, "written as 4 bytes (float32 or int32) and is read as one"),
        (30_000, 60_000, "bytes of uint8 read as int16 or float16"),
    ],
)
def test_bytes_of_a_record_were_read_otherwise_than_written(
    values: int, wanted: int, cause: str
) -> None:
    message, confidence = told(values, wanted, RAW)
    assert cause in message
    assert confidence == "high"


def test_without_raw_bytes_the_batch_is_named_as_well_and_nothing_is_sure() -> None:
    message, confidence = told(120_000, 30_000, PIPELINE)
    assert "float32" in message
    assert "its size is written into the reshape" in message
    assert confidence == "medium"


def test_outside_a_pipeline_it_is_a_reshape_like_any_other() -> None:
    message, _ = told(120_000, 30_000, "[[{{node model/Reshape}}]]")
    assert "decode_raw" not in message
