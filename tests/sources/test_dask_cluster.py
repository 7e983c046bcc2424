"""The scheduler of a cluster that does not answer."""

from __future__ import annotations

import logging
import socket
from types import SimpleNamespace

import pytest

from tpudiag.errors import MissingExtra, UnreadableInput
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
    assert dask_cluster.line(OSError("a\n  b")) == "a b"
    assert dask_cluster.line(TimeoutError()) == "TimeoutError"
