# ruff: noqa: E501  (texts of other programs stay as they are)
"""Which release is too old or too new for a name that is not there, and who asks for it."""

import re

import pytest

from tpudiag.known_errors.reader import in_text
from tpudiag.known_errors.releases import reasons
from tpudiag.known_errors.releases.lacking import canonical
from tpudiag.known_errors.search import match
from tpudiag.known_errors.unknown import UnknownError

FRAME = """Traceback (most recent call last):
  File "train.py", line 3, in <module>
    import {package}
  File "{folder}/{package}/{file}.py", line 8, in <module>
    {source}
{error}
"""
PACKAGES = "/usr/lib/python3.10/site-packages"


@pytest.mark.parametrize(
    ("package", "file", "source", "folder", "error", "says"),
    [
        ("spektral", "layers/base", "", PACKAGES,  # asks one whose names are not known
         "AttributeError: module 'tensorboard' has no attribute 'odd'",
         r"`spektral` \(spektral/layers/base.py\) asks for"),
        ("kerastuner", "engine/tuner", "", PACKAGES.replace("3.10", "3.8"),
         "AttributeError: module 'tensorflow._api.v2.distribute' has no attribute 'TPUStrategy'",
         "from 2.3 on, .*too old for the installed package `kerastuner`"),
        ("flax", "core/frozen_dict", "", PACKAGES,  # what no release lost
         "AttributeError: module 'jax.tree_util' has no attribute 'new'",
         "jax is too old for this flax"),
        ("torch_tb_profiler", "plugin", "from tensorboard import errors", PACKAGES,
         "ImportError: cannot import name 'errors'",
         "`tensorboard.errors`.*`torch_tb_profiler`|`torch_tb_profiler`.*`tensorboard.errors`"),
        ("tf_keras", "src/base", "", PACKAGES,
         "ImportError: cannot import name 'backend' from 'tf_keras.src'", "parts of two releases"),
        ("tensorflow_hub", "native", "", "C:\\Users\\me\\venv\\lib\\site-packages",
         "AttributeError: module 'collections' has no attribute 'Sequence'",
         "tensorflow_hub is older than this Python"),
    ],
)  # fmt: skip
def test_a_package_whose_line_failed_is_told_with_what_it_asks_for(
    package: str, file: str, source: str, folder: str, error: str, says: str
) -> None:
    text = FRAME.format(package=package, file=file, source=source, error=error, folder=folder)
    assert re.search(says, match(text)[0].message)


@pytest.mark.parametrize(
    ("text", "cause", "fix"),
    [
        (
            "The conflict is caused by:\n  The user requested protobuf==3.20.0\n  tensorboardx 2.6.2 depends on protobuf\n  tensorflow 2.7.4 depends on protobuf<3.20 and >=3.9.2",
            "tensorflow 2.7.4 wants `protobuf<3.20,>=3.9.2`",
            '"tensorflow==2.7.4" "protobuf<3.20,>=3.9.2"',
        ),
        (
            "conflicting dependencies: a[x] 1.2 depends on c~=1.4.0 and b 2.0 depends on c==1.5.*",
            "a 1.2 wants `c~=1.4.0`, and b 2.0 wants `c==1.5.*`",
            'pip install "b<2.0"',
        ),
        (
            "ImportError: cannot import name 'ops' from 'keras'",
            "from 3.0 on, and Keras here is an older one",
            '"tensorflow>=2.16" "keras>=3.0"',
        ),
        (
            "AttributeError: module 'tensorflow.contrib.distribute' has no attribute 'initialize_tpu_system'",
            "from 1.14 to 1.15, and TensorFlow here is an older one",
            '"tensorflow>=1.14,<1.16"',
        ),
        (
            "keras 2.14.0\nImportError: cannot import name 'preprocessing' from 'keras.layers'",
            "up to 2.12 and gone since",
            '"keras==2.12.*"',
        ),
        (
            "python 3.10, jax==0.4.30\nImportError: cannot import name 'linear_util' from 'jax'",
            "JAX here is 0.4.30: its version is too new",
            '"jax==0.4.23"',
        ),
        (
            "module 'tensorflow._api.v2.nn' has no attribute 'gelu'\nAttributeError: module 'tensorflow._api.v2.nn' has no attribute 'gelu'",
            "from 2.4 on",
            '"tensorflow>=2.4"',
        ),
        (
            "AttributeError: 'Functional' object has no attribute 'fit_generator'",
            "`Functional.fit_generator` is in Keras up to 2.15",
            "model.fit(generator)",
        ),
        (
            "keras 2.15.0\nAttributeError: 'Functional' object has no attribute 'quantize'",
            "from 3.1 on, and Keras here is 2.15.0",
            '"keras>=3.1"',
        ),
    ],
)
def test_release_is_told_with_its_direction_and_what_fits(text: str, cause: str, fix: str) -> None:
    answer = match(text)[0]
    assert cause in answer.message
    assert fix in answer.fix


@pytest.mark.parametrize(
    ("source", "function", "argument", "cause"),
    [
        ("x = dropout(h, embeddings_data=0.1)  # keras", "dropout", "embeddings_data", ""),
        ("x = keras.callbacks.TensorBoard(a(b), embeddings_data=c)", "__init__", "embeddings_data", "after 2.15"),
        ("x = keras.f(b, embeddings_data=c)", "f", "embeddings_data", ""),
    ],
)  # fmt: skip
def test_argument_of_some_releases(source: str, function: str, argument: str, cause: str) -> None:
    error = f"TypeError: {function}() got an unexpected keyword argument '{argument}'"
    said = match(f'  File "train.py", line 3, in <module>\n    {source}\n{error}')[0].message
    assert cause in said if cause else "is in Keras" not in said


def test_name_that_no_table_knows_is_left_to_the_cases() -> None:
    assert reasons.read("AttributeError: module 'tensorflow' has no attribute 'odd'", 1) is None
    assert reasons.read("loss: 0.1", 1) is None


def test_what_numpy_says_it_removed_is_asked_for_by_the_package_whose_line_failed() -> None:
    error = "AttributeError: `np.complex_` was removed in the NumPy 2.0 release."
    own = f'  File "{PACKAGES}/numpy/__init__.py", line 397, in __getattr__\n    raise'
    (hit,) = in_text(
        FRAME.format(package="tensorflow", file="np", source=own, error=error, folder=PACKAGES)
    )
    assert isinstance(hit, UnknownError)
    assert hit.fix.index('"numpy==1.26.*"') < hit.fix.index("-U tensorflow")


def test_your_own_line_that_asks_is_told_what_to_write() -> None:
    text = """  File "train.py", line 3, in <module>
    keras.backend.tf.Session()
AttributeError: module 'keras.backend' has no attribute 'tf'
"""
    assert "Not your code" not in match(text)[0].message


def test_the_modules_behind_the_public_names_are_these() -> None:
    assert canonical("tensorflow.python.keras.api._v1.keras.losses") == "tf.keras.losses"
    assert canonical("tensorflow.python.ops.array_ops") == "tensorflow.python.ops.array_ops"


def test_what_the_line_asks_for_within_a_module_that_went_is_looked_up() -> None:
    error = "AttributeError: module 'tensorflow' has no attribute 'contrib'"
    (hit, *_) = match(f"---> 17 cell = tf.contrib.rnn.LSTMCell(10)\n{error}\n")
    assert "asks for `tf.contrib.rnn.LSTMCell`" in hit.message
    assert hit.fix.startswith("tf.compat.v1.nn.rnn_cell.LSTMCell ")


def test_attribute_of_the_users_own_class_is_no_matter_of_a_release() -> None:
    error = "AttributeError: 'Functional' object has no attribute 'fit_generator'"
    frame = 'Traceback (most recent call last):\n  File "train.py", line 9, in fit\n    {}\n'
    assert "up to 2.15" not in match(frame.format("self.fit_generator(data)") + error)[0].message
    assert "up to 2.15" in match(frame.format("model.fit_generator(data)") + error)[0].message
    assert not match("AttributeError: 'PolicyModel' object has no attribute 'targets'")[0].reading
    assert not match("AttributeError: 'Variable' object has no attribute 'read_value'")[0].reading
    of_pandas = match("AttributeError: 'DataFrame' object has no attribute 'as_matrix'")[0]
    assert of_pandas.fix.startswith("frame.to_numpy()")


def test_a_class_or_function_that_is_not_said_to_be_of_a_package_is_none_of_it() -> None:
    for text in (
        "import torch\nAttributeError: 'Layer' object has no attribute 'get_input_at'",
        "import keras\nx = utils.load_model(p, safe_mode=False)\n"
        "TypeError: load_model() got an unexpected keyword argument 'safe_mode'",
    ):
        assert reasons.read(text, text.count("\n") + 1) is None
    text = "optax==0.2.8\nx = optax.adamw(r, nesterov=True)\nTypeError: adamw() got an unexpected keyword argument 'nesterov'"
    assert reasons.read(text, 3) is None  # 0.2.8 takes it


def test_an_argument_is_passed_by_the_package_whose_line_failed() -> None:
    error = "TypeError: jit() got an unexpected keyword argument 'odd_axes'"
    text = FRAME.format(
        package="flax", file="nnx", source="jax.jit(f, odd_axes=None)", error=error, folder=PACKAGES
    )
    answer = match(text)[0]
    assert "the installed package `flax` (flax/nnx.py) asks for" in answer.message
    assert "pip install -U flax jax" in answer.fix
