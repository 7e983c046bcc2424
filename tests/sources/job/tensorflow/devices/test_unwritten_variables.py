"""Large variables of a planned job take no memory."""

import sys
from functools import partial
from pathlib import Path

import pytest

from tpudiag.sources.job.tensorflow.devices import unwritten_variables

GIB = 2**30


def _resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


@pytest.mark.slow
def test_a_large_variable_is_reserved_and_not_written() -> None:
    tf = pytest.importorskip("tensorflow")
    runs: list[int] = []

    def ones() -> object:
        runs.append(1)
        return tf.ones((16384, 16384))

    before = _resident_bytes()
    made = unwritten_variables.initial(tf, ones, None)
    assert made is not None
    variable = tf.Variable(made, dtype=tf.float32)
    assert (tuple(variable.shape), variable.dtype) == ((16384, 16384), tf.float32)
    assert _resident_bytes() - before < GIB / 2
    assert len(runs) == 1, "traced once for its shape"


def test_a_shape_that_is_told_needs_no_trace() -> None:
    def made(shape: object) -> object:
        raise AssertionError(f"traced for {shape}")

    assert unwritten_variables.initial(sys, partial(made, (4, 4)), None) is None
    assert unwritten_variables.initial(sys, partial(made, shape=[8]), None) is None


@pytest.mark.slow
def test_small_ones_and_what_cannot_be_traced_are_made_as_the_job_makes_them() -> None:
    tf = pytest.importorskip("tensorflow")

    def wayward() -> object:
        raise ValueError("only eagerly")

    assert unwritten_variables.initial(tf, lambda: tf.ones((4, 4)), None) is None
    assert unwritten_variables.initial(tf, wayward, tf.float32) is None
