"""What TensorFlow's own calls for files answer of a bucket that is out of reach."""

import sys
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from tpudiag.sources.job.held_back import tensorflow_files

AWAY = "Couldn't resolve host name, reading metadata of gs://bucket/model"


class AbsentError(Exception):
    """TensorFlow's NotFoundError."""

    def __init__(self, _node: object, _op: object, message: str) -> None:
        super().__init__(message)


def asked(by: str, path: bytes, error: str) -> Callable[[], Any]:
    """A question whether there is something at a path, by a module of that name."""

    def exists(_: bytes) -> None:
        raise RuntimeError(error)

    space = {"__name__": by, "ask": tensorflow_files._absent_where_unreached}  # pyright: ignore
    file = "train.py" if by == "__main__" else "/x/site-packages/keras/callbacks.py"
    exec(compile("def call(*args):\n    return ask(*args)", file, "exec"), space)
    call: Any = space["call"]
    return lambda: call(exists, path)


def test_a_library_is_told_that_nothing_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    tensorflow = ModuleType("tensorflow")
    vars(tensorflow)["errors"] = SimpleNamespace(NotFoundError=AbsentError)
    monkeypatch.setitem(sys.modules, "tensorflow", tensorflow)
    with pytest.raises(AbsentError):
        asked("keras.src.callbacks", b"gs://bucket/model", AWAY)()
    for by, path, error in (
        ("__main__", b"gs://bucket/model", AWAY),
        ("keras.src.callbacks", b"/home/model", AWAY),
        ("keras.src.callbacks", b"gs://bucket/model", "PERMISSION_DENIED"),
    ):
        with pytest.raises(RuntimeError):
            asked(by, path, error)()
