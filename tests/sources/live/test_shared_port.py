"""Two processes that listen on one port: each is reached by its pid."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Generator

import pytest

from tpudiag.sources.live import channel as channels
from tpudiag.sources.live.address import Address
from tpudiag.sources.live.channel import NotReached, channel, method
from tpudiag.sources.live.probe import probe

pytestmark = pytest.mark.slow

SERVER = """\
import os, sys, time
from concurrent.futures import ThreadPoolExecutor
import grpc
pid = str(os.getpid()).encode()
methods = {"Who": grpc.unary_unary_rpc_method_handler(lambda request, context: pid)}
server = grpc.server(ThreadPoolExecutor(2))
handler = grpc.method_handlers_generic_handler("tests.Server", methods)
server.add_generic_rpc_handlers((handler,))
print(server.add_insecure_port("localhost:" + sys.argv[1]), flush=True)
server.start()
time.sleep(600)
"""


def started(port: int) -> tuple[subprocess.Popen[str], int]:
    process = subprocess.Popen(
        [sys.executable, "-c", SERVER, str(port)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    return process, int(process.stdout.readline())


@pytest.fixture(scope="module")
def pair() -> Generator[tuple[int, tuple[subprocess.Popen[str], ...]]]:
    first, port = started(0)
    second, same = started(port)
    assert same == port, "gRPC sets SO_REUSEPORT"
    yield port, (first, second)
    for process in (first, second):
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def test_a_connection_comes_to_the_process_that_was_named(
    pair: tuple[int, tuple[subprocess.Popen[str], ...]],
) -> None:
    port, processes = pair
    for process in processes * 6:
        with channel(Address("localhost", port, process.pid)) as opened:
            who = method(opened, "/tests.Server/Who")(b"", timeout=5)
        assert int(who) == process.pid


def test_a_process_that_takes_none_is_not_mistaken_for_another(
    pair: tuple[int, tuple[subprocess.Popen[str], ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    port, (first, second) = pair
    monkeypatch.setattr(channels, "TRIES_S", 1.5)
    second.send_signal(signal.SIGSTOP)
    try:
        with pytest.raises(NotReached, match=f"to pid {second.pid}"):
            channel(Address("localhost", port, second.pid)).__enter__()
        monkeypatch.setattr(channels, "TRIES_S", 20.0)
        with channel(Address("localhost", port, first.pid)) as opened:
            assert int(method(opened, "/tests.Server/Who")(b"", timeout=5)) == first.pid
    finally:
        second.send_signal(signal.SIGCONT)
    monkeypatch.setattr(channels, "TRIES_S", 0.5)
    fault = probe(Address("localhost", port, 1)).fault
    assert fault is not None
    assert "none of the connections came to pid 1" in fault
