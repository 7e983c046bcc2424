"""Of an error that only its form tells, the operation says what it mostly refuses."""

from __future__ import annotations

from tpudiag.known_errors.readings.operations import refusal_of
from tpudiag.known_errors.search import match
from tpudiag.known_errors.unknown import unknown


def test_the_operation_of_a_vague_error_is_read() -> None:
    text = "InvalidArgumentError: frobnication must be positive [Op:OneHot]"
    assert "takes indices of an integer type" in match(text)[0].message


def test_the_operation_of_an_error_that_is_not_known_is_read() -> None:
    failure = unknown("InternalError: something new\n\t [[{{node model/a/DecodeJpeg_3}}]]")
    assert failure
    assert "decodes an image" in failure.guidance.meaning


def test_an_operation_that_is_not_known_is_left_alone() -> None:
    assert not refusal_of("Frobnicate")
    assert refusal_of("model/MatMul_1").startswith("The operation MatMul multiplies")
