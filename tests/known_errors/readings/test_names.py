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
