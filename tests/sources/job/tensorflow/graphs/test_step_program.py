"""The program of a step, and the lines of what does not lower."""

import pytest

from tests.sources.job.programs import InTensorFlow
from tpudiag.sources.job.tensorflow.graphs.step_program import only_on_tpu

PROGRAM = """
from tpudiag.sources.job.tensorflow.graphs.step_program import StepProgram

kernel = tf.Variable(tf.ones((4, 8)), name="dense/kernel")

def step(x):
    return tf.reduce_sum(x @ kernel)

program = StepProgram(tf, step, [tf.TensorSpec((2, 4))])
text = program.lowered()
places = program.places()

class Older:
    # A function of TensorFlow before 2.19.

    def __init__(self, function):
        self.function = function

    def __getattr__(self, name):
        return getattr(self.function, name)

    def experimental_get_compiler_ir(self, *specs):
        given = self.function.experimental_get_compiler_ir(*specs)

        def compiled(stage):
            if stage == "stablehlo":
                raise ValueError("Invalid stage selected: 'stablehlo'. Valid values are: 'hlo'")
            return given(stage=stage)

        return compiled

older = StepProgram(tf, step, [tf.TensorSpec((2, 4))])
older._function = Older(older._function)
hlo = older.lowered()

def words(x):
    return tf.strings.length(tf.strings.as_string(x))

refused = StepProgram(tf, words, [tf.TensorSpec((2,), tf.int32)])
try:
    refused.lowered()
    error = ""
except Exception as raised:
    error = str(raised)
print(json.dumps({
    "dot": "stablehlo.dot" in text, "arguments": places["arguments"],
    "refused": [op.kind for op in refused.refused(error)],
    "named": [op.kind for op in program.refused("No OpKernel at {{node matmul}} [in step]")],
    "strings": [op.kind for op in program.refused("_Arg (No registered '_Arg' OpKernel for XLA")],
    "older": type(hlo).__name__,
    "nothing": program.refused("out of memory"),
}))
"""


@pytest.mark.slow
def test_arguments_and_refusals(in_tensorflow: InTensorFlow) -> None:
    results = in_tensorflow(PROGRAM)
    assert results["dot"] and results["arguments"] == ["input 0", "dense/kernel"]
    assert results["refused"] == ["AsString"]
    assert results["named"] == ["MatMul"]
    assert results["strings"] == ["An argument of type string"]
    assert results["older"] == "bytes"
    assert results["nothing"] == []


@pytest.mark.parametrize(
    ("error", "own"),
    [
        ("ResizeNearestNeighborGrad (No registered 'ResizeNearestNeighborGrad' OpKernel for XLA)",
         "ResizeNearestNeighborGrad"),
        ("ResizeBilinearGrad with align_corners=False is not yet implemented",
         "ResizeBilinearGrad"),
        ("Unique (No registered 'Unique' OpKernel for XLA), Bincount (No registered 'Bincount' "
         "OpKernel for XLA)", ""),
        ("{{node resize/ResizeBilinear}} must be a compile-time constant", ""),
    ],
)  # fmt: skip
def test_what_tpus_have_kernels_for_is_not_refused(error: str, own: str) -> None:
    assert only_on_tpu(error) == own
