"""Connections that nobody here can judge."""

from tests.sources.job.programs import told

PROGRAM = """
import http.client, json, socket
from tpudiag.sources.job.held_back import connections
from tpudiag.sources.job.points import barrier
seen = []
connections.watch(lambda kind, what: seen.append([kind.value, what]))

def tried(call, *args):
    try:
        call(*args)
    except OSError:
        pass

def reached(kind, port, how="connect"):
    with socket.socket(socket.AF_INET, kind) as made:
        made.settimeout(0.01)
        args = (b"x",) if how == "sendto" else ()
        tried(getattr(made, how), *args, ("192.0.2.1", port))

reached(socket.SOCK_STREAM, 5432)
reached(socket.SOCK_DGRAM, 8125, "sendto")
reached(socket.SOCK_DGRAM, 53, "sendto")
tried(http.client.HTTPConnection("192.0.2.1", 80, timeout=0.01).connect)
with socket.create_server(("127.0.0.1", 0)) as server:
    socket.create_connection(server.getsockname()).close()
near, far = socket.socketpair()
near.close(), far.close()
print(json.dumps([seen, [each.text for each in barrier.defects()]]))
"""


def test_a_protocol_of_its_own_is_told_and_no_other() -> None:
    assert told(PROGRAM) == [
        [["connection", "192.0.2.1:5432"], ["connection", "192.0.2.1:8125"]],
        [],
    ]
