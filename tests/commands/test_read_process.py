"""What a verb sets for its process must not reach the processes that it starts."""

import ctypes
import gc
import os
import sys
from collections.abc import Iterator

import pytest

from tpudiag.commands import read


@pytest.fixture
def collector() -> Iterator[object]:
    """The garbage collector's thresholds, put back."""
    before = gc.get_threshold()
    yield before
    gc.set_threshold(*before)


@pytest.mark.usefixtures("collector")
@pytest.mark.parametrize("given", [None, "3"])
def test_the_threads_of_children_stay_as_they_were(
    monkeypatch: pytest.MonkeyPatch, given: str | None
) -> None:
    monkeypatch.delenv(read.BLAS_THREADS, raising=False)
    if given is not None:
        monkeypatch.setenv(read.BLAS_THREADS, given)
    imported: list[tuple[str, str | None]] = []

    def import_module(name: str) -> None:
        imported.append((name, os.environ.get(read.BLAS_THREADS)))

    monkeypatch.setattr(read, "import_module", import_module)
    monkeypatch.delitem(sys.modules, "numpy", raising=False)
    read.prepare_for_vectors()
    assert os.environ.get(read.BLAS_THREADS) == given
    assert imported == ([("numpy", "1")] if given is None else [])


@pytest.mark.usefixtures("collector")
def test_another_c_library_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:

    def musl(_: object) -> object:
        return object()

    monkeypatch.setattr(ctypes, "CDLL", musl)
    read.prepare_for_vectors()
