"""Where what holds back fails itself, nothing is sent, and reads stay open."""

import os
from http.server import HTTPServer
from pathlib import Path

from tests import loopback
from tests.sources.job.programs import printed, told
from tpudiag.sources.job.held_back import child_python

PROGRAM = """
import errno, http.client, json, subprocess, sys
from tpudiag.signals import SendKind
from tpudiag.sources.job.held_back import request_rules
from tpudiag.sources.job.held_back.file_calls import FileCalls
from tpudiag.sources.job.held_back.layer import Layer
from tpudiag.sources.job.held_back.requests import Requests
from tpudiag.sources.job.points import barrier

def broken(*_args, **_kwargs):
    raise LookupError("planted")

layer = Layer(sys.argv[1], lambda path: True)
FileCalls(layer).install()
Requests(broken).watch_http_client(http.client)
layer.whole = request_rules.sends = broken

def tried(call, *args):
    try:
        return str(call(*args))
    except Exception as error:
        return type(error).__name__

class Connection(http.client.HTTPConnection):
    def connect(self):
        raise ConnectionRefusedError(errno.ECONNREFUSED, "reached")

def asked(method):
    connection = Connection("remote.example")
    connection.request(method, "/x", body=b"x")
    return connection.getresponse().status

print(json.dumps({
    "to a bucket": tried(open, "gs://bucket/a", "w"),
    "of a bucket": tried(open, "gs://bucket/a"),
    "POST": tried(asked, "POST"),
    "DELETE": tried(asked, "DELETE"),
    "GET": tried(asked, "GET"),
    "defects": sorted({each.hook for each in barrier.defects()}),
}))
"""
CHILD = """
import importlib, sys
def broken(name):
    raise SyntaxError("a Python of long ago")
importlib.import_module = broken
from urllib import request
import socket
print(request.urlopen(sys.argv[1]).read())
try:
    socket.create_connection(("192.0.2.1", 9), timeout=5)
except OSError as error:
    print(error.strerror)
"""


def test_a_hook_that_fails_lets_reads_go_and_nothing_else(tmp_path: Path) -> None:
    seen = told(PROGRAM, str(tmp_path))
    assert seen["to a bucket"] == "Withheld" and seen["of a bucket"] == "FileNotFoundError"
    assert seen["POST"] == seen["DELETE"] == "Withheld"
    assert seen["GET"] == "ConnectionRefusedError"
    assert seen["defects"] == ["HTTPConnection.putrequest", "builtins.open"]


class Handler(loopback.Handler):
    def do_GET(self) -> None:
        self.answer(200, b"near")


def test_a_python_that_cannot_be_hooked_reaches_its_own_machine_alone() -> None:
    with loopback.serving(HTTPServer(("127.0.0.1", 0), Handler)) as port:
        folder = Path(child_python.__file__).parent
        hooked = {**os.environ, "PYTHONPATH": str(folder), "TPUDIAG_SENDS": "/dev/null"}
        said = printed(CHILD, f"http://127.0.0.1:{port}", env=hooked)
    assert said.startswith("b'near'\nno network: tpudiag")
