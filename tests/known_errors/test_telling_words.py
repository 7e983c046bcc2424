"""One word of a text decides its answer: an operation, a device, a negation, a size."""

import pytest

from tpudiag.known_errors.model import Match
from tpudiag.known_errors.reader import in_text, is_answered
from tpudiag.known_errors.unknown import UnknownError


def first(text: str) -> Match:
    """The first answer to a text."""
    answer = in_text(text)[0]
    assert isinstance(answer, Match)
    return answer


BOOL = (
    "OperatorNotAllowedInGraphError: Using a symbolic `tf.Tensor` as a Python `bool` is not allowed"
)
NO_KERNEL = "because no supported kernel for TPU devices is available."
ON_TPU = "Could not satisfy explicit device specification '/device:TPU:0'"
WIDTH = (
    "Input 0 with name 'None' of layer 'dense' is incompatible with the layer: expected axis -1 of"
    " input shape to have value 180, but received input with shape (32, 245)"
)
CALLED = "ValueError: Exception encountered when calling Sequential.call().\n\n"
TELLING = (
    (f"{BOOL}: AutoGraph did convert this function.", "did convert", "tf.reduce_any"),
    (f"{BOOL}: AutoGraph did not convert this function.", "not converted", "@tf.function"),
    (f"Cannot assign a device for operation PyFunc: {ON_TPU} {NO_KERNEL}", "PyFunc", "placement"),
    (f"InvalidArgumentError: {ON_TPU} {NO_KERNEL}", "TPU", "set_soft_device_placement(True)"),
    (f"ValueError: {WIDTH}", "180 in axis -1 and gets 245", "180"),
    (f"{CALLED}{WIDTH}\n\nArguments received by", "180 in axis -1 and gets 245", "180"),
    (
        "ValueError: Error when checking input: expected a_input to have shape (33,) but got array"
        " with shape (1,)",
        "built for 33",
        "33",
    ),
    (
        "ValueError: Input 0 is incompatible with layer model: expected shape=(None, 9, 4), found"
        " shape=(9, 4)",
        "without the axis of the batch",
        "dataset.batch",
    ),
    ("UserWarning: Some donated buffers were not usable: float32[8].", "second copy", "donate"),
    (
        "WatchTasksAsync failed for task 3: UNAVAILABLE: failed to connect to all addresses",
        "coordination service",
        "process 0",
    ),
    (
        '  File "keras/engine/compile_utils.py", line 201, in __call__\n'
        "ValueError: None values not supported.",
        "without labels",
        "(x, x)",
    ),
    ("LookupError: gradient registry has no entry for: MaxPoolGrad", "of MaxPool ", "MaxPool"),
    ("input_fn should return (features, labels) as a len 2 tuple.", "a pair", "element_spec"),
    (
        "logits and labels must be broadcastable: logits_size=[128,10] labels_size=[1,128]",
        "class numbers",
        "sparse_categorical",
    ),
    (
        '  File "/x/pytorch_lightning/a.py", line 1, in f\nE: No TPU devices were found.',
        "PyTorch/XLA sees no TPU",
        "PJRT_DEVICE",
    ),
    ("RuntimeError: No TPU platform found. Platform manager status: OK", "no TPU", "libtpu"),
    ("plugins/profile/1/w-0.xplane.pb is 0 bytes", "2 GB", "host_tracer_level=1"),
    (
        "Failed to serialize XSpace: exceeded maximum protobuf size of 2GB",
        "2 GB",
        "ProfilerOptions",
    ),
)


@pytest.mark.parametrize(("text", "cause", "fix"), TELLING)
def test_what_the_text_says_is_answered(text: str, cause: str, fix: str) -> None:
    answer = first(text)
    assert cause in answer.message
    assert fix in answer.fix


def test_a_sentence_is_no_name_of_a_key() -> None:
    (told,) = in_text("KeyError: 'Invalid mesh_dim_names (dp, tp) specified.'")
    assert isinstance(told, UnknownError)
    assert "expected axis -1 of input shape" in first(f"ValueError: {WIDTH}").message


def test_source_by_itself_raised_nothing() -> None:
    source = 'def f(x):\n    raise ValueError("Shapes (8, 3) and (8, 10) are incompatible")\n'
    assert in_text(source) == []
    assert in_text(f'  File "a.py", line 2, in f\n{source}')


REMARK = "I tensorflow/core/util/port.cc:153] oneDNN custom operations are on.\n"


def test_a_failure_that_is_not_known_stands_before_remarks_and_is_not_answered() -> None:
    answers = in_text(REMARK + "OddError: the frobnicator is out of tune")
    assert isinstance(answers[0], UnknownError)
    assert not is_answered(answers)
    assert is_answered(in_text(REMARK))


def test_a_warning_elsewhere_hides_no_failure() -> None:
    retracing = (
        "WARNING: 5 out of the last 5 calls to <function f> triggered tf.function retracing\n"
    )
    answers = in_text(retracing + "step\n" * 20 + "AssertionError: 3 != 4")
    assert isinstance(answers[0], UnknownError)
    assert "3 != 4" in answers[0].text
