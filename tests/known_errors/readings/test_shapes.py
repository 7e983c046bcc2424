# ruff: noqa: E501  (texts of other programs stay as they are)
"""Two shapes that do not fit are told by how they differ, and where they meet."""

import re

import pytest

from tpudiag.known_errors.readings import of_unknown
from tpudiag.known_errors.readings.dimensions import bounded
from tpudiag.known_errors.search import match

MEANT = {
    "Shape must be rank 1 but is rank 0 for '{{node Reshape_1}} = Reshape[T=DT_FLOAT, Tshape=DT_INT32](Reshape, Reshape_1/shape)' with input shapes: [2,2], [].": (
        r"list of 1 dimension.*`Reshape_1/shape`.*a single number"
    ),
    "Shape must be rank 2 but is rank 3 for '{{node m}} = MatMul[T=DT_FLOAT](a, b)' with input shapes: [2,2,2], [2,2].": (
        "takes an input of rank 2 as `a` and gets one of rank 3"
    ),
    "Dimension 0 in both shapes must be equal, but are 1 and 9. Shapes are [1,1,8,7] and [9,8,1,1]. for 'Assign_4' (op: 'Assign') with input shapes: [1,1,8,7], [9,8,1,1].": (
        "dimensions 0 and 1 and 2 and 3: two different things"
    ),
    "Incompatible shapes: [0,64] vs. [0,256]": "empty",
    "Incompatible shapes: [64,59,93] vs. [1,93,1] [Op:AddV2]": "along axis 1, .* axis 2 of the other",
    "Incompatible shapes: [12,100,2,40] vs. [12,400,1,1] [Op:Mul]": "dimension 1 alone",
    "Cannot feed value of shape (30, 64) for Tensor 's:0', which has shape '(30, 1, 64)'": "Axis 1, of length 1",
    'ScopeParamShapeError: Inconsistent shapes between value and initializer for parameter "s" in "/G": (1, 1, 8), (8,).': "same 8 values",
    'ScopeParamShapeError: Inconsistent shapes between value and initializer for parameter "s" in "/G": (4, 8), (4, 9).': "another configuration",
    "Error when checking target: expected d to have shape (None, 1) but got array with shape (9, 5)": "labels come in 5",
    "Incompatible shapes: [16,10] vs. [128,10] [Op:Mul]": r"a factor of 8.* They meet in Mul\.",
    "Incompatible shapes: [1,63,4] vs. [1,64,4] [[Node: gradients/Loss/sub_grad/BroadcastGradientArgs = BroadcastGradientArgs[T=DT_INT32]": (
        "dimension 1 alone: 63 against 64.*part of the loss"
    ),
    "ValueError: Shapes (None, 1) and (None, 10) are incompatible": "class numbers meets 10",
    "ValueError: Shapes (32,) and (32, 10) are incompatible": "one column for each class",
    "logits and labels must have the same first dimension, got logits shape [32,10] and labels shape [320]": (
        "were flattened"
    ),
    "Matrix size-incompatible: In[0]: [32,2048], In[1]: [4096,10] [Op:MatMul]": (
        "2048 columns meet 4096 rows"
    ),
    "Input to reshape is a tensor with 1000 values, but the requested shape has 768": "no multiple",
    "Incompatible shapes: [65536] vs. [196608] [Op:Mul]": "3 channels against one.*; or 3 times as many examples",
    "Dimensions must be equal, but are 49152 and 16384 for '{{node dice_loss/mul}} = Mul[T=DT_FLOAT](a, b)' with input shapes: [?,49152], [?,16384].": (
        "Mostly 3 channels against one .*`dice_loss/mul"
    ),
    "Incompatible shapes: [65536] vs. [4096] [[node loss/mask_loss/mul]]": (
        "do not tell .* height and width 4 times as large .* or 16 times as many examples"
    ),
    "Incompatible shapes: [70000] vs. [9000] [Op:Mul]": "no multiple of each other: maps that were flattened",
    "Dimension 0 in both shapes must be equal, but are 3 and 1. Shapes are [3] and [1]. for '{{node my_loss/AssignAddVariableOp}} = AssignAddVariableOp[dtype=DT_FLOAT](h, x)' with input shapes: [], [1].": (
        "running value of .3. is to be changed by values of .1."
    ),
    "Incompatible shapes: [8,16] vs. [8,16,5] [[{{node categorical_crossentropy/mul}}]]": "class numbers meet one column",
    "Cannot feed value of shape (32, 7) for Tensor 'dense_1_target:0', which has shape '(?, ?, ?)'": "class numbers meet one column",
    "Cannot feed value of shape (32, 45) for Tensor 'relu1_target:0', which has shape '(?, ?, ?, ?)'": "model gives a map for each example",
    "cannot reshape array of size 2457600 into shape (8,40,newaxis,15360)": "no multiple of 4,915,200",
    "Input to reshape is a tensor with 100 values, but the requested shape has 50 [[{{node gradient_tape/embedding/embedding_lookup/Reshape_1}}]]": "gradient of an Embedding",
    "Incompatible shapes: [32,810,128,128] vs. [32,9,128,128]": "number of classes",
    "Incompatible shapes: [4,15,32,32] vs. [4,60,32,32] [[node class_loss/mul]]": "15 x 1 and 15 x 4",
    "Incompatible shapes: [4,15,32,32] vs. [4,25,32,32] [[node class_loss/mul]]": "5 x 3 and 5 x 5",
    "ValueError: Shapes (5, 5, 1, 32) and (32, 4, 5, 5) are incompatible": "once for 1 input channels and once for 4",
    'ScopeParamShapeError: Inconsistent shapes between value and initializer for parameter "s" in "/G": (100, 8), (101, 8).': "miss each other by one row",
    'keras/engine/base_layer.py", line 1807, in set_weights ValueError: Layer weight shape (101, 64) not compatible with provided weight shape (90, 64)': "given is .90, 64. and the model makes it .101, 64.",
    "Shape mismatch: The shape of labels (received (1579014,)) should equal the shape of logits except for the last dimension (received (6534, 2)).": "no multiples of each other",
    "dot_general requires contracting dimensions to have the same shape, got (128,) and (64,).": "128 columns meet 64 rows",
    "Arguments `target` and `output` must have the same shape. Received: target.shape=(8, 64, 64, 1), output.shape=(8, 128, 128, 1)": "height and width",
    "logits and labels must have the same shape ((None, 7, 7, 5) vs (None, 5))": "model gives a map for each example",
    "In[0] mismatch In[1] shape: 64 vs. 32: [8,64] [32,10] 0 0 [Op:BatchMatMulV2]": "64 columns meet 32 rows",
    "In[0] and In[1] must have compatible batch dimensions: [8,2,3] vs. [4,3,2] [Op:BatchMatMulV2]": "dimension 0 alone: 8 against 4",
    "cannot reshape array of size 2 into shape (1,64)": "2 are here, and the mesh was written or saved for 64",
    "np.array(jax.devices()).reshape(mesh)\nValueError: cannot reshape array of size 1 into shape (0,8)": "1 are here, and the mesh was written or saved for 8",
    "Error when checking target: expected fc2 to have shape (1,) but got array with shape (2,)": "labels come in 2 columns",
    "Incompatible shapes: [8,8,8,495] vs. [8,8,8,45]": "45 x 11 and 45 x 1",
    "Incompatible shapes: [8,8,8,128] vs. [8,8,8,64]": "sizes that must be equal are not",
    "Expected size[0] in [0, 100], but got 109": "109 are taken of 100",
    "ConcatOp : Dimension 2 in both shapes must be equal: shape[0] = [16,26,26,256] vs. shape[1] = [16,26,27,512]": (
        "halved an odd height or width"
    ),
    "operands could not be broadcast together with shapes (32,224,224,3) (32,256,256,3)": (
        "height and width"
    ),
    "Input 0 of layer dense is incompatible with the layer: expected axis -1 of input shape to have value 784 but received input with shape [None, 3072]": (
        "built for 784 in axis -1 and gets 3072"
    ),
    "Input 0 of layer conv2d is incompatible with the layer: expected min_ndim=4, found ndim=3. Full shape received: [32, 28, 28]": (
        "axis of channels"
    ),
}


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("all inputs must match: values[0].shape = [9,9,3] != values[1].shape = [9,9]", "channels"),
        (
            "reshape array of shape (2, 6) (size 12) into shape (2, 5) (size 10)",
            "12 values come and 10",
        ),
        ("weight shape (8, 2) is not compatible with shape (8, 3).", "in dimension 1 alone"),
    ],
)
def test_two_shapes_are_read_in_any_words(text: str, meant: str) -> None:
    reading = of_unknown(text)
    assert reading and meant in reading.cause


@pytest.mark.parametrize("text", MEANT)
def test_shapes_are_read(text: str) -> None:
    answer = match(f"InvalidArgumentError: {text}")[0]
    assert re.search(MEANT[text], answer.message)
    assert answer.reading
    assert answer.fix.startswith(answer.reading.fix)
    assert answer.confidence != "low"


@pytest.mark.parametrize(
    "text",
    [
        "Cannot batch tensors with different shapes in component 0. First element had shape [640,427,3] and element 1 had shape [1600,1067,3].",
        "physical and logical shapes must have the same product physical_shape=[2, 2, 2] logical_shape=[128]",
        # Beside another error, and not there at all.
        "InvalidArgumentError: Value for attr 'T' of string is not in the list of allowed values for '{{node add}} = AddV2[T=DT_STRING](a, b)' with input shapes: [10], [10,3].",
        "InvalidArgumentError: required broadcastable shapes",
    ],
)
def test_shapes_of_a_case_that_tells_its_cause_are_not_read_in_any_words(text: str) -> None:
    assert match(text)[0].reading is None


def test_bounded_dimension_is_the_batch_or_a_length() -> None:
    batch, length = bounded({}, "Inputshape:[<=16,1,1,64]"), bounded({}, "f32[8,<=128,64]")
    assert batch is not None and "dimension 0, the batch" in batch.cause
    assert length is not None and "dimension 1" in length.cause
    assert bounded({}, "[16,1]") is None
