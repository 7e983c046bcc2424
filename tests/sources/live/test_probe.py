"""How a port is identified, over the wire: real servers of other kinds on loopback."""

import socket
import threading
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, HTTPServer, ThreadingHTTPServer
from pathlib import Path

import grpc
import pytest

from tests import loopback
from tests.kubernetes_api import over_tls
from tpudiag.errors import UsageError
from tpudiag.sources.live.address import Address, addresses
from tpudiag.sources.live.probe import probe, probe_all

Server = Callable[[Path], AbstractContextManager[int]]


@contextmanager
def http(_: Path) -> Generator[int]:
    """An HTTP server."""
    with loopback.serving(ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)) as port:
        yield port


@contextmanager
def https(folder: Path) -> Generator[int]:
    """An HTTP server behind TLS."""
    server = HTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    over_tls(server, folder)
    with loopback.serving(server) as port:
        yield port


@contextmanager
def plain_grpc(_: Path) -> Generator[int]:
    """A gRPC server with no service at all."""
    server = grpc.server(ThreadPoolExecutor(2))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield port
    server.stop(None).wait()


@contextmanager
def silent(_: Path) -> Generator[int]:
    """A port that takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def chatty(_: Path) -> AbstractContextManager[int]:
    """A server of another protocol, which speaks first."""
    return loopback.answering(lambda one: one.sendall(b"220 mail.example ESMTP\r\n"))


@contextmanager
def unreachable(_: Path) -> Generator[int]:
    """A port that takes no more connections: what is sent to it gets no answer at all."""
    with ExitStack() as stack:
        server = stack.enter_context(socket.socket())
        server.bind(("127.0.0.1", 0))
        server.listen(0)
        for _connection in range(3):
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(server.getsockname())
        yield server.getsockname()[1]


@contextmanager
def nobody(_: Path) -> Generator[int]:
    """A port that was free a moment ago."""
    yield loopback.free_port()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("server", "said"),
    [
        (http, "no profiler service"),
        (https, "no profiler service"),
        (plain_grpc, "a gRPC server, but no profiler service"),
        (silent, "did not answer within 0.5 s"),
        (chatty, "no profiler service"),
        (unreachable, "no connection within 0.5 s"),
        (nobody, "nobody listens there: the trainer needs tf.profiler.experimental.server.start("),
    ],
)
def test_what_is_no_profiler(server: Server, said: str, tmp_path: Path) -> None:
    with server(tmp_path) as port:
        # A limit that is met is short; one within which an answer comes is not.
        limit_s = 0.5 if server in (silent, unreachable) else 20.0
        fault = probe(Address("127.0.0.1", port), limit_s).fault
    assert fault is not None
    assert said in fault
    assert "\n" not in fault


def test_a_host_that_does_not_exist() -> None:
    fault = probe(Address("no-such-host.invalid", 1), 5.0).fault
    assert fault is not None
    assert "no such host" in fault


def test_a_name_service_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    enough = threading.Event()

    def wait(*_: object, **__: object) -> list[object]:
        enough.wait(60)
        return []

    monkeypatch.setattr(socket, "getaddrinfo", wait)
    fault = probe(Address("slow.example", 1), 0.2).fault
    enough.set()
    assert fault is not None
    assert "within 0.2 s: the name service" in fault


@pytest.mark.slow
def test_all_are_asked_at_once() -> None:
    together = threading.Barrier(20)

    def waits_for_the_others() -> AbstractContextManager[int]:
        first = iter([together.wait])

        def reply(_: socket.socket) -> None:
            with suppress(threading.BrokenBarrierError):
                for wait in first:
                    wait()

        return loopback.answering(reply)

    with ExitStack() as stack:
        ports = [stack.enter_context(waits_for_the_others()) for _ in range(20)]
        stack.callback(together.abort)
        found = probe_all([Address("127.0.0.1", port) for port in ports], 30.0)
        assert not together.broken, "each was asked while all others waited"
    assert all(answer.fault is not None for answer in found)
    assert not any("within" in str(answer.fault) for answer in found)


def test_addresses() -> None:
    assert addresses("a:1, grpc://b.c:65535 ,[::1]:6009,") == (
        Address("a", 1),
        Address("b.c", 65535),
        Address("::1", 6009),
    )
    assert str(Address("::1", 6009)) == "[::1]:6009"
    assert Address("::1", 6009).file_name == "--1_6009"
    for wrong in ("a", "a:", ":1", "a:b", "a:0", "a:65536", "grpcs://a:1", "a b:1", "::1:6009"):
        with pytest.raises(UsageError):
            addresses(wrong)
