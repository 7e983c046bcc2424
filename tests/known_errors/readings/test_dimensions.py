"""A dimension of which only the bound is known is the batch or a length."""

from tpudiag.known_errors.readings.dimensions import bounded as read


def test_bounded_dimension_is_the_batch_or_a_length() -> None:
    batch, length = read({}, "Inputshape:[<=16,1,1,64]"), read({}, "f32[8,<=128,64]")
    assert batch is not None and "dimension 0, the batch" in batch.cause
    assert length is not None and "dimension 1" in length.cause
    assert read({}, "[16,1]") is None
