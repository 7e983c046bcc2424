"""Links to a running XProf: only where it shows this profile, known by name and hosts."""

import gzip
import json
import socket
import tracemalloc
import zlib
from collections.abc import Generator
from contextlib import contextmanager
from http.server import HTTPServer
from threading import Event
from urllib.parse import parse_qs, urlsplit

import pytest

from tests import loopback
from tpudiag.errors import UsageError
from tpudiag.sources.profile.locate import Run
from tpudiag.sources.profile.xprof_server import GZIP, XProfServer, showing
from tpudiag.xprof_pages import listens

RUN = Run(
    name="2025_05_01_00_00_00",
    folder="/logs/plugins/profile/2025_05_01_00_00_00",
    files=("/logs/plugins/profile/2025_05_01_00_00_00/vm.xplane.pb",),
    sizes=(1,),
    when=0.0,
)


@contextmanager
def served(answers: dict[str, bytes], *, packed: bool = True) -> Generator[str]:
    """The address of a server that answers the plugin's routes, as XProf does packed unasked."""

    class Handler(loopback.Handler):
        def do_GET(self) -> None:
            body = answers.get(urlsplit(self.path).path.rpartition("/")[2], b"no such route")
            if packed:
                self.answer(200, gzip.compress(body), Content_Encoding="gzip")
            else:
                self.answer(200, body)

    with loopback.serving(HTTPServer(("127.0.0.1", 0), Handler)) as port:
        yield f"http://127.0.0.1:{port}/"


def answers(runs: list[str], hosts: list[str]) -> dict[str, bytes]:
    named = [{"hostname": host} for host in hosts]
    return {"runs": json.dumps(runs).encode(), "hosts": json.dumps(named).encode()}


def test_an_answer_that_unpacks_to_much_takes_little() -> None:
    packed = zlib.compressobj(wbits=GZIP)
    bomb = b"".join(packed.compress(bytes(1 << 20)) for _ in range(100)) + packed.flush()
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n"

    def reply(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(head + bomb)

    with loopback.answering(reply) as port:
        tracemalloc.start()
        try:
            assert showing((f"http://127.0.0.1:{port}",), RUN) is None
            assert tracemalloc.get_traced_memory()[1] < 20 << 20
        finally:
            tracemalloc.stop()


@pytest.mark.parametrize("head", [b"", b"HTTP/1.1 200 OK\r\n\r\n", b"HTTP/1.1 200 OK\r\nA: "])
def test_an_answer_that_never_ends_is_not_waited_for(head: bytes) -> None:
    gone = Event()

    def drip(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(head)
        try:
            while True:
                connection.sendall(b"a")
                gone.wait(0.02)
        except OSError:
            gone.set()

    with loopback.answering(drip) as port:
        assert showing((f"http://127.0.0.1:{port}",), RUN, limit_s=0.3) is None
        assert gone.wait(100)


@pytest.mark.parametrize(
    "address", ["localhost:6006", "http://", "http://[", "http://h:99999", "http://h:x", "ftp://h"]
)
def test_what_is_no_address_is_said(address: str) -> None:
    with pytest.raises(UsageError, match="not a URL such as http://localhost:8791"):
        showing((address,), RUN)


@pytest.mark.parametrize("packed", [True, False])
def test_the_server_that_shows_the_run(packed: bool) -> None:
    shown = answers(["train/2025_05_01_00_00_00", "2024_01_01_00_00_00"], ["vm", "other"])
    with served(shown, packed=packed) as address:
        server = showing(("http://127.0.0.1:1", address), RUN)
    assert server is not None
    assert (server.run, server.hosts) == ("train/2025_05_01_00_00_00", ("vm", "other"))
    assert server.address == address.rstrip("/")


@pytest.mark.parametrize(
    "shown",
    [
        answers(["2024_01_01_00_00_00"], ["vm"]),
        answers(["2025_05_01_00_00_00"], ["another-vm"]),
        answers(["a/2025_05_01_00_00_00", "b/2025_05_01_00_00_00"], ["vm"]),
        {"runs": b"<html>a page of something else</html>"},
        {"runs": b'{"not": "a list"}'},
        {"runs": b"[1, null]"},
        {"runs": b"[" * 100_000},
    ],
)
def test_a_server_of_other_things_is_not_linked_to(shown: dict[str, bytes]) -> None:
    with served(shown) as address:
        assert showing((address,), RUN) is None


def test_the_links_under_a_path_of_the_server() -> None:
    server = XProfServer(address="http://vm:6006/board", run="a b&c", hosts=("vm",))
    query = parse_qs(urlsplit(server.moment("vm", 12.5, 20.0)).query)
    assert (query["view_start"], query["view_end"]) == (["12.500"], ["20.000"])
    data = urlsplit(query["trace_data_url"][0])
    assert data.path == "/board/data/plugin/profile/data"
    assert parse_qs(data.query) == {"run": ["a b&c"], "tag": ["trace_viewer@"], "host": ["vm"]}
    page = urlsplit(server.page("op_profile"))
    assert page.fragment == "profile"
    assert parse_qs(page.query) == {"tool": ["op_profile"], "run": ["a b&c"]}


def test_a_port_is_asked_before_anything_else() -> None:
    with served({}) as address:
        here = address.rstrip("/")
        assert listens(here) and not listens("http://127.0.0.1:1")
    assert not listens(here)
