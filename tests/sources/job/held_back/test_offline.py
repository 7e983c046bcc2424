"""No network where none is wanted, in a process of its own."""

from tests.sources.job.programs import told

PROGRAM = """
import json, socket, threading
from tpudiag.sources.job.held_back import connections
connections.refuse()
from urllib import request
server = socket.create_server(("127.0.0.1", 0))
def refused(call, *args):
    try:
        call(*args)
    except OSError as error:
        return str(getattr(error, "reason", error))
client = socket.create_connection(server.getsockname())
print(json.dumps([
    refused(socket.create_connection, ("files.example", 80)),
    refused(socket.create_connection, ("192.0.2.1", 80)),
    refused(request.urlopen, "http://files.example/"),
    refused(request.urlopen, "http://localhost:%d/" % 1),
]))
"""


def test_nothing_but_this_machine_is_reached() -> None:
    *refused, own = told(PROGRAM)
    assert all("--offline" in text for text in refused), refused
    assert "--offline" not in own, "as without it"
