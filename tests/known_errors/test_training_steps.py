"""Mistakes of training steps are told apart by their frames: the same sentence, other causes."""

import pytest

from tpudiag.known_errors.search import match

MERGE_CALL = (
    "RuntimeError: `merge_call` called while defining a new graph or a tf.function. This can often"
    " happen if the function `fn` passed to `strategy.run()` contains a nested `@tf.function`"
)
ONCE = "ValueError: tf.function only supports singleton tf.Variables created on the first call."


@pytest.mark.parametrize(
    ("frames", "said", "told"),
    [
        ("", MERGE_CALL, "in a nested tf.function or in a condition"),
        ("    tf.cond(ready, apply, skip)\n", MERGE_CALL, "inside a condition or loop on tensors"),
        (
            '  File "site-packages/keras/src/backend/tensorflow/optimizer.py", line 159, in f\n'
            "RuntimeError: Exception encountered when calling Cond.call().\n",
            MERGE_CALL,
            "gradient_accumulation_steps",
        ),
        (
            '  File "site-packages/keras/src/optimizers/sgd.py", line 60, in __init__\n',
            ONCE,
            "An optimizer is made inside the function",
        ),
        (
            '  File "train.py", line 3, in copy\n    state.assign(value)\n',
            "ValueError: Cannot assign value to variable ' Variable:0': Shape mismatch.The variable"
            " shape (2,), and the assigned value shape (3,) are incompatible.",
            "Nothing around it says that a file was loaded",
        ),
        (
            '  File "site-packages/tf_keras/src/engine/training.py", line 1, in compute_loss\n',
            "AttributeError: 'NoneType' object has no attribute 'dtype'",
            "call() returns nothing",
        ),
    ],
)
def test_frames_decide(frames: str, said: str, told: str) -> None:
    assert told in match(frames + said)[0].message


def test_a_loss_of_a_further_output_is_told_by_its_node() -> None:
    said = (
        "logits and labels must have the same first dimension, got logits shape [2048,64] and"
        " labels shape [1020]\n\t [[{{node NODE/SparseSoftmaxCrossEntropyWithLogits}}]]"
    )
    further = match(said.replace("NODE", "sparse_categorical_crossentropy_3"))[0]
    assert "several outputs" in further.message
    first = match(said.replace("NODE", "sparse_categorical_crossentropy"))[0]
    assert "several outputs" not in first.message
    assert first.confidence == "medium"


def test_names_that_only_tensorflow_1_has_are_where_they_were() -> None:
    for module, name, place in (
        ("tensorflow._api.v2.train", "Optimizer", "tf.compat.v1.train.Optimizer"),
        ("tensorflow._api.v2.spectral", "rfft", "tf.signal.rfft"),
        ("tensorflow", "FixedLengthRecordReader", "tf.compat.v1.FixedLengthRecordReader"),
    ):
        answer = match(f"AttributeError: module '{module}' has no attribute '{name}'")[0]
        assert place in answer.fix


def test_what_an_old_keras_takes_in_fit_is_told_by_the_frames_of_its_engine() -> None:
    frame = '  File "keras/engine/training_utils.py", line 28, in standardize_single_array\n'
    said = "AttributeError: 'generator' object has no attribute 'ndim'"
    assert "fit_generator" in match(frame + said)[0].fix
    assert "fit_generator" not in match(said)[0].fix
    tuples = "AttributeError: 'tuple' object has no attribute 'ndim'"
    assert "lists in place of tuples" in match(frame + tuples)[0].fix


def test_a_check_of_tensorflow_itself_is_no_if_of_ones_own() -> None:
    said = (
        "OperatorNotAllowedInGraphError: using a `tf.Tensor` as a Python `bool` is not allowed in"
        " Graph execution."
    )
    inner = (
        '  File "tensorflow_core/python/ops/check_ops.py", line 506, in assert_equal\n'
        "    if not condition:\n"
        '  File "tensorflow_core/python/framework/ops.py", line 765, in __bool__\n'
    )
    assert "own check" in match(inner + said)[0].message
    assert "own check" not in match(said)[0].message


def test_an_attribute_that_a_layer_gets_in_its_init_tells_of_a_missing_super() -> None:
    said = "AttributeError: 'Scale' object has no attribute '_expects_mask_arg'"
    assert match(said)[0].error.family == "super-init"
    assert match(said.replace("Scale", "Conv2D"))[0].error.family != "super-init"


def test_a_callback_of_another_keras_is_told_before_what_fits_any_attribute() -> None:
    lacks = "object has no attribute '_implements_train_batch_hooks'"
    said = f"AttributeError: 'LearningRateScheduler' {lacks}"
    answer = match(said)[0]
    assert answer.error.family == "two-keras" and answer.confidence != "low"
    wrapped = "AttributeError: 'TFOptimizer' object has no attribute 'lr'"
    assert "tf.train" in match(wrapped)[0].message
