"""What an error says of a name that is not there is answered with what is written in its place."""

import pytest

from tpudiag.known_errors.search import match

PLACES = {
    "AttributeError: module 'tensorflow' has no attribute 'to_float'": "tf.cast(x, tf.float32)",
    "AttributeError: module 'tensorflow._api.v2.train' has no attribute 'AdamOptimizer'": (
        "tf.keras.optimizers.Adam"
    ),
    "AttributeError: module 'tensorflow._api.v2.data' has no attribute 'AUTOTUNE'": (
        'pip install -U "tensorflow>=2.4"'
    ),
    "ModuleNotFoundError: No module named 'keras.layers.merge'": "from keras.layers import Concat",
    "ImportError: cannot import name 'Layer' from 'tensorflow.python.keras.engine'": (
        "keras.layers.Layer"
    ),
    "ImportError: cannot import name 'plot_model' from 'keras.utils'": (
        "from tensorflow.keras.utils import plot_model"
    ),
    "ImportError: cannot import name 'PartitionSpec' from 'jax.experimental.pjit'": (
        "jax.sharding.PartitionSpec"
    ),
    "TypeError: reduce_sum() got an unexpected keyword argument 'keep_dims'": "keepdims=True",
    "AttributeError: module 'jax.interpreters.ad' has no attribute 'recast_to_float0'": (
        'pip install -U "jax>=0.2.2,<0.4.34"'
    ),
    "TypeError: from_generator() got an unexpected keyword argument 'args'": (
        'pip install -U "tensorflow>=1.9"'
    ),
    "TypeError: compile() got an unexpected keyword argument 'steps_per_execution'": (
        'pip install -U "tensorflow>=2.4"'
    ),
    "TypeError: ('Keyword argument not understood:', 'groups')": 'pip install -U "tensorflow>=2.3"',
    "ValueError: Argument(s) not recognized: {'lr': 0.002}": "learning_rate=RATE",
    "TypeError: LeakyReLU.__init__() got an unexpected keyword argument 'negative_slope'": (
        "keras.layers.LeakyReLU(alpha="
    ),
}


@pytest.mark.parametrize("text", PLACES)
def test_a_name_that_is_gone_is_answered_with_what_takes_its_place(text: str) -> None:
    answer = match(text)[0]
    assert answer.fix.startswith(PLACES[text])
    assert answer.reading
    assert answer.message.startswith(answer.reading.cause)


def test_a_name_that_wraps_is_read_whole() -> None:
    text = "AttributeError: module 'tensorflow._api.v2.image' has no\n  attribute 'resize_images'"
    assert match(text)[0].fix.startswith("tf.image.resize ")


def test_names_of_keras_2_in_its_own_package_are_those_of_keras() -> None:
    said = "AttributeError: module 'tf_keras.api._v2.keras.utils' has no attribute 'np_utils'"
    assert "to_categorical" in match(said)[0].fix


def test_argument_of_another_function_is_left() -> None:
    found = match("TypeError: my_function() got an unexpected keyword argument 'tape'")[0]
    assert found.reading is None


@pytest.mark.parametrize(
    ("built", "here", "age"), [("0x10", "0xf", "too old"), ("a", "d", "older")]
)
def test_the_older_of_two_is_told_by_their_numbers(built: str, here: str, age: str) -> None:
    said = f"module compiled against API version {built} but this version of numpy is {here}"
    found = match(f"RuntimeError: {said}\nImportError: numpy.core.multiarray failed to import")[0]
    assert found.reading is not None and age in found.reading.cause
