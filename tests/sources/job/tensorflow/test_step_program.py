"""The program of a step, and the lines of what does not lower."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.slow

PROGRAM = """
import json
import tensorflow as tf
from tpudiag.sources.job.tensorflow.step_program import StepProgram

kernel = tf.Variable(tf.ones((4, 8)), name="dense/kernel")

def step(x):
    return tf.reduce_sum(x @ kernel)

program = StepProgram(tf, step, [tf.TensorSpec((2, 4))])
text = program.stablehlo()
places = program.places(text)

def words(x):
    return tf.strings.length(tf.strings.as_string(x))

refused = StepProgram(tf, words, [tf.TensorSpec((2,), tf.int32)])
try:
    refused.stablehlo()
    error = ""
except Exception as raised:
    error = str(raised)
print(json.dumps({
    "dot": "stablehlo.dot" in text, "arguments": places["arguments"],
    "refused": [op.kind for op in refused.refused(error)],
    "named": [op.kind for op in program.refused("No OpKernel at {{node matmul}} [in step]")],
    "strings": [op.kind for op in program.refused("_Arg (No registered '_Arg' OpKernel for XLA")],
    "nothing": program.refused("out of memory"),
}))
"""


def test_arguments_and_refusals(in_tensorflow: Callable[[str], Any]) -> None:
    results = in_tensorflow(PROGRAM)
    assert results["dot"] and results["arguments"] == ["input 0", "dense/kernel"]
    assert results["refused"] == ["AsString"]
    assert results["named"] == ["MatMul"]
    assert results["strings"] == ["An argument of type string"]
    assert results["nothing"] == []
