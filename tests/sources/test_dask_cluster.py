"""The scheduler of a cluster that does not answer."""

import logging
import socket
from types import SimpleNamespace

import pytest

from tpudiag.errors import MissingExtra, UnreadableInput, line_of
from tpudiag.sources import dask_cluster


def test_a_scheduler_that_is_not_there_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def package(_: str) -> object:
        return SimpleNamespace()

    monkeypatch.setattr(dask_cluster, "import_module", package)
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))  # bound and not listening: nobody answers there
        port = held.getsockname()[1]
        for address in (f"127.0.0.1:{port}", "127.0.0.1:0", "127.0.0.1", "127.0.0.1:99999999"):
            with pytest.raises(UnreadableInput, match=r"^--dask x: no Dask scheduler answers: .+"):
                dask_cluster.connected("--dask x", address)


def test_without_the_extra_it_says_which(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(dask_cluster, "import_module", missing)
    with pytest.raises(MissingExtra, match=r"tpudiag\[dask\]"):
        dask_cluster.connected("--dask x", "127.0.0.1:1")


def test_its_own_log_is_kept_off_stderr() -> None:
    logger = logging.getLogger("distributed.test_logger")
    dask_cluster.quieten()
    assert logger.level == logging.CRITICAL
    assert line_of(OSError("a\n  b")) == "a b"
    assert line_of(TimeoutError()) == "TimeoutError"


class GivenUp:
    """A task whose answer is fetched twice: the first fetch is ended by another's short wait."""

    status = "finished"

    def __init__(self) -> None:
        self._fetches = iter((UnboundLocalError("result"), "answer"))

    def result(self, timeout: float) -> str:
        del timeout
        fetched = next(self._fetches)
        if isinstance(fetched, BaseException):
            raise fetched
        return fetched

    def cancelled(self) -> bool:
        return False


class OneTask:
    """The client of a cluster with a worker, which gives out `GivenUp` alone."""

    status = "running"
    scheduler = SimpleNamespace(identity=None)

    def wait_for_workers(self, count: int, timeout: float) -> None:
        del count, timeout

    def submit(self, *_: object, **__: object) -> GivenUp:
        return GivenUp()

    def sync(self, *_: object, **__: object) -> dict[str, object]:
        return {"workers": {"one": None}}


def one_task(option: str, address: str) -> OneTask:
    del option, address
    return OneTask()


def test_a_fetch_that_was_ended_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_cluster, "connected", one_task)
    cluster = dask_cluster.Cluster("--engine dask://127.0.0.1:1", "127.0.0.1:1")
    assert cluster.ask(len, "x") == "answer"
