"""Operations that a compiled step cannot have: what is written in their place."""

from __future__ import annotations

from tpudiag.known_errors.readings.step_operations import read


def fix_of(family: str, text: str = "", **values: str) -> str:
    reading = read(family, values, text)
    assert reading is not None
    return f"{reading.cause} {reading.fix}"


def test_constant_that_data_decides() -> None:
    assert "x.shape[1]" in fix_of("constant-shape", op="Range")
    assert "axis=-1" in fix_of("constant-shape", op="Mean")
    assert read("constant-shape", {"op": "Odd"}, "") is None
    assert read("constant-shape", {}, "") is None


def test_operation_of_the_host() -> None:
    assert "RandomFlip" in fix_of("unsupported-op", op="ImageProjectiveTransformV3")
    assert "sklearn" in fix_of("unsupported-op", op="EagerPyFunc")
    assert "one_hot" in fix_of("unsupported-op", op="DenseBincount")
    assert "three arguments" in fix_of("unsupported-op", op="Where")
    assert "float32" in fix_of("unsupported-op", op="Odd", type="DT_UINT8")
    # Of losses and updates that a TPU has, sparse only by name.
    assert read("unsupported-op", {"op": "SparseSoftmaxCrossEntropyWithLogits"}, "") is None


def test_operation_that_has_another_form() -> None:
    assert "sampled_values" in fix_of("unsupported-op", op="LogUniformCandidateSampler")
    assert "bilinear" in fix_of("unsupported-op", op="ResizeBicubic")
    assert "tf.reverse" in fix_of("unsupported-op", op="MirrorPadGrad")
    assert "tf.argsort" in fix_of("unsupported-op", op="StatelessShuffle")
    assert "layers.LSTM(" in fix_of("unsupported-op", op="LSTMBlockCell")
    # What checks weights says so by the name of its scope.
    sets = "DenseToDenseSetOperation"
    assert "three arguments" in fix_of("unsupported-op", op=sets)
    assert "ensure_shape" in fix_of("unsupported-op", "{{node broadcast_weights/x}}", op=sets)


def test_bounded_dimension_is_the_batch_or_a_length() -> None:
    assert "dimension 0, the batch" in fix_of("dynamic-dimension", "Inputshape:[<=16,1,1,64]")
    assert "dimension 1" in fix_of("dynamic-dimension", "f32[8,<=128,64]")
    assert read("dynamic-dimension", {}, "[16,1]") is None


def test_types_that_a_tpu_lacks() -> None:
    assert "tokenize" in fix_of("type-not-on-tpu", type="STRING")
    assert "np.float32" in fix_of("type-not-on-tpu", type="float64")
    assert read("type-not-on-tpu", {"type": "float32"}, "") is None
