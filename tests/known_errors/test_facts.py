"""What is read in a text whether or not it is known."""

from tpudiag.known_errors.answers import unknown_rows
from tpudiag.known_errors.facts import facts_near, facts_of, unwrapped
from tpudiag.known_errors.unknown import unknown

WRAPPED = """\
2026-01-02 10:00:00 worker-1: starting
Traceback (most recent call last):
  File "train.py", line 12, in <module>
    model.fit(data)
  File "/usr/lib/python3.11/site-packages/keras/src/layers/layer.py", line 300, in call
    x = f(x)
ValueError: Exception encountered when calling Sequential.call().

\x1b[31mfrobnicated (3, 4) must match [3, 5], of float32, not bfloat16\x1b[0m, 17.5G of 16G, on \
/job:worker/replica:0/task:0/device:TPU:0

Arguments received by Sequential.call():
  x=tf.Tensor(shape=(9, 9), dtype=int32)"""


def test_a_text_is_freed_of_what_stands_around_its_error() -> None:
    assert unwrapped(WRAPPED).count("Exception encountered") == 0
    assert "frobnicated" in unwrapped(WRAPPED)


def test_what_a_text_names_is_read() -> None:
    read = dict(facts_of(WRAPPED).rows())
    assert read["exception"] == "ValueError"
    assert read["devices"] == "/job:worker/replica:0/task:0/device:TPU:0"
    assert read["types"].startswith("float32, bfloat16")
    assert read["shapes"].startswith("[3,4], [3,5]")
    assert read["differ in"] == "dimension 1: 4 and 5"
    assert read["sizes"] == "17.5G, 16G"
    assert read["your line"] == "train.py:12"
    assert read["library"].endswith("keras/src/layers/layer.py:300")


def test_an_index_is_no_shape_and_a_frame_is_no_quotation() -> None:
    assert (
        facts_of("if mesh_shape[2] != 1 or x[0]: return int(x.shape[0]), out_shape[1]").shapes == ()
    )
    assert facts_of("key of shape (2,), got [[0, 1], [2, 3]]").shapes == ("[2]",)
    assert not facts_of('OSError: from File "/home/me/bin/trainer", line 3').quoted
    assert facts_of("allocating tensor with shape[1024] and input_shape[2,3]").shapes


def test_of_an_empty_text_nothing_is_read() -> None:
    assert not list(facts_of("").rows())


def test_an_error_that_is_not_known_is_told_with_what_was_read_and_what_is_nearest() -> None:
    text = "RuntimeError: TPU chips were not released by the earlier program of this host"
    failure = unknown(text)
    assert failure is not None
    assert "E899" in [each.id for each in failure.nearest]
    told = "\n".join(unknown_rows(failure, str))
    assert "exception  RuntimeError" in told
    assert "each may be it or not" in told


def test_the_kernels_there_are_and_the_strides_are_no_types_and_shapes_of_the_error() -> None:
    read = facts_of(
        "InvalidArgumentError: No OpKernel was registered to support Op 'Conv2D' with these attrs."
        "\n  device='CPU'; T in [DT_FLOAT]\n  device='GPU'; T in [DT_HALF]\n"
        "[[Node: conv = Conv2D[T=DT_BFLOAT16, dilations=[1, 1, 1, 1], strides=[1, 2, 2, 1]](a, b)]]"
    )
    assert read.types == ("bfloat16",)
    assert read.shapes == ()
    one = facts_of("TypeError: 'x' has DataType int64 not in list of allowed values: half, float32")
    assert one.types == ("int64",)
    laid_out = "Shape: bf16[128,256,256,192]{0,3,2,1:T(8,128)(2,1)}"
    assert facts_of(laid_out).shapes == ("[128,256,256,192]",)
    assert facts_of("argument x with shape float32[8,4] and device ids [0, 1]").shapes == ("[8,4]",)
    assert facts_of("ValueError: pmap got step of type int32[4] and x float32[1,16]").types == ()


def test_operation_of_the_error_itself_comes_before_those_of_the_log() -> None:
    log = "[[node OutfeedDequeue (defined at x)]]\n\nNo registered 'Const' OpKernel for TPU\n"
    assert facts_near(log, 3).place.operation == "Const"


def test_a_mesh_and_a_range_are_no_shapes_of_tensors() -> None:
    assert facts_of("Mesh of shape (1, 8). Expected begin[0] in [0, 224]").shapes == ()


def test_what_keras_met_itself_is_the_error() -> None:
    assert (
        unwrapped("ValueError: Build it.\nException encountered:\n'Odd one'") == "Error: Odd one'"
    )


def test_names_that_one_of_two_structures_has_alone_are_told() -> None:
    said = "TypeError: odd structures, got PyTreeDef({'a': *}) and PyTreeDef({'a': *, 'b': *})"
    assert facts_of(said).unsaid("odd") == "Only the second structure has `b`."
