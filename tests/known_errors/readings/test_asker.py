"""Who asks whom for a name that is not there: told by the last frame of the traceback."""

from __future__ import annotations

from tpudiag.known_errors.search import match

FRAME = """Traceback (most recent call last):
  File "train.py", line 3, in <module>
    import {package}
  File "{folder}/{package}/{file}.py", line 8, in <module>
    {source}
{error}
"""
PACKAGES = "/usr/lib/python3.10/site-packages"


def _answer(
    package: str, file: str, error: str, *, source: str = "", folder: str = PACKAGES
) -> str:
    text = FRAME.format(package=package, file=file, source=source, error=error, folder=folder)
    return match(text)[0].message


def test_a_package_that_asks_another_one() -> None:
    said = _answer(
        "spektral", "layers/base", "AttributeError: module 'keras.backend' has no attribute 'tf'"
    )
    assert "`spektral`" in said and "spektral is too old for this keras" in said


def test_the_one_that_is_asked_is_too_old() -> None:
    error = "AttributeError: module 'tensorflow' has no attribute 'types'"
    assert "tensorflow is too old for this flatland" in _answer("flatland", "core", error)


def test_a_name_without_its_module_stands_in_the_source() -> None:
    said = _answer(
        "torch_tb_profiler",
        "plugin",
        "ImportError: cannot import name 'errors'",
        source="from tensorboard import errors",
    )
    assert "asks `tensorboard` for `errors`" in said


def test_a_package_that_lacks_its_own_part() -> None:
    error = "ImportError: cannot import name 'backend' from 'tf_keras.src'"
    assert "parts of two releases" in _answer("tf_keras", "src/base", error)


def test_a_package_older_than_this_python() -> None:
    error = "AttributeError: module 'collections' has no attribute 'Sequence'"
    folder = "C:\\Users\\me\\venv\\lib\\site-packages"
    said = _answer("tensorflow_hub", "native", error, folder=folder.replace("/", "\\"))
    assert "tensorflow_hub is older than this Python" in said


def test_your_own_line_that_asks_is_told_what_to_write() -> None:
    text = """  File "train.py", line 3, in <module>
    keras.backend.tf.Session()
AttributeError: module 'keras.backend' has no attribute 'tf'
"""
    assert "Not your code" not in match(text)[0].message
