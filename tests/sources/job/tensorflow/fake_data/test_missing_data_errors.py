"""Which errors are of the code, whatever data are missing."""

import sysconfig
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tpudiag.sources.job.tensorflow.fake_data import missing_data_errors
from tpudiag.sources.job.tensorflow.fake_data.ledger import MARKER


@pytest.mark.parametrize(
    ("error", "of_code"),
    [
        (ValueError("Triggering __jax_array__() during tracing is no longer supported."), True),
        (TypeError("load() got an unexpected keyword argument 'split'"), True),
        (ValueError("the table is no longer than its header"), False),
        (KeyError("label"), False),
        # An array has no truth value.
        (AttributeError("no attribute 'numpy'", name="numpy", obj=np.ones(2)), False),
    ],
)
def test_what_a_release_took_away_is_of_the_code(error: Exception, of_code: bool) -> None:
    assert missing_data_errors.is_of_code(error) is of_code


def test_what_a_strategy_no_longer_has_is_of_the_code_in_a_function_too() -> None:
    strategy: Any = type("Strategy", (), {"__module__": "tensorflow.python.distribute"})()
    with pytest.raises(AttributeError) as raised:
        try:
            strategy.experimental_run_v2()
        finally:
            raise AttributeError("in user code:")  # as AutoGraph does
    assert missing_data_errors.is_of_code(raised.value)


def test_what_an_object_of_the_library_refuses_in_its_own_words_is_of_the_code() -> None:
    class Options:
        def __setattr__(self, name: str, value: Any) -> None:
            value.conjugate()
            raise AttributeError(f"Cannot set the property {name}.")

    Options.__module__ = "tensorflow.python.data"
    options: Any = Options()
    for value, of_code in ((1, True), (None, False)):
        with pytest.raises(AttributeError) as raised:
            options.auto_shard = value
        assert missing_data_errors.is_of_code(raised.value) is of_code


@pytest.mark.parametrize(("folder", "of_training"), [("tensorflow", True), ("images", False)])
def test_a_file_that_tensorflow_itself_lacks_is_no_data(folder: str, of_training: bool) -> None:
    for said in ("No files match `file_pattern` data.csv.", "Tried a: <urlopen error [Errno -2]>"):
        assert missing_data_errors.is_absent(ValueError(said))
    own = ValueError("no such model is known")
    assert not missing_data_errors.is_absent(own)
    own.__context__ = ConnectionError()
    assert missing_data_errors.is_absent(own), "a library says it in its own words"
    file = f"{sysconfig.get_paths()['purelib']}/{folder}/__init__.py"
    with pytest.raises(FileNotFoundError) as raised:
        exec(compile("open('/none.so')", file, "exec"))
    assert missing_data_errors.is_of_training(raised.value) is of_training


@pytest.mark.parametrize(
    ("raises", "absent"),
    [
        ("raise RuntimeError(\"Error opening '/none/a.wav': System error.\")", True),
        ("raise RuntimeError(\"Error opening '/none/a.opus': Format not known.\")", True),
        ("raise RuntimeError('No file or directory found at ../model')", True),
        (f"raise RuntimeError('cannot decode {MARKER}hole')", True),
        ("raise RuntimeError(\"Node: 'model/dense/BiasAdd'\")", False),
        ("import os; os.environ['KAGGLE_KERNEL_RUN_TYPE']", True),
        ("{}['KAGGLE_KERNEL_RUN_TYPE']", False),
    ],
)
def test_what_names_a_file_or_a_variable_that_is_not_there(raises: str, absent: bool) -> None:
    with pytest.raises((RuntimeError, KeyError)) as raised:
        exec(raises, {})
    assert missing_data_errors.is_absent(raised.value) is absent


@pytest.mark.parametrize(("call", "of_names"), [("plot(1, 2)", True), ("plot(*[1, 2])", False)])
def test_arguments_that_no_value_gives_are_of_the_code(
    tmp_path: Path, call: str, of_names: bool
) -> None:
    file = tmp_path / "job.py"
    file.write_text(f"def plot(x=0): pass\n{call}\n")
    with pytest.raises(TypeError) as raised:
        exec(compile(file.read_text(), str(file), "exec"), {})
    assert missing_data_errors.is_of_names(raised.value) is of_names


LIBRARY = """
class Module:
    def __setattr__(self, name, value):
        raise ValueError(f"cannot assign {value} to {name}")
"""


@pytest.mark.parametrize(
    ("body", "of_model"),
    [
        ("__init__(self): self.part = 1", True),
        ("__init__(self): int('part')", False),
        ("load(self): self.part = 1", False),
    ],
)
def test_what_a_class_of_modules_refuses_as_one_is_made_is_of_the_model(
    body: str, of_model: bool
) -> None:
    space: dict[str, Any] = {"__name__": "haiku.module"}
    exec(LIBRARY, space)
    own: dict[str, Any] = {"__name__": "__main__", "Module": space["Module"]}
    exec(f"class Net(Module):\n    def {body}\n", own)
    with pytest.raises(ValueError) as raised:
        own["Net"]().load()
    assert missing_data_errors.is_of_model(raised.value) is of_model


def test_arrays_on_other_devices_are_of_no_values() -> None:
    error = ValueError("Received incompatible devices for jitted computation. Got argument x of f")
    assert missing_data_errors.is_of_names(error)
