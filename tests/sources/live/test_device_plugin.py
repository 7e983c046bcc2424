"""The device plugin's figures, from a server on loopback."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tpudiag.sources.live.device_plugin import figures

TEXT = """# HELP duty_cycle Percent of time in which the accelerator was busy
# TYPE duty_cycle gauge
duty_cycle{accelerator_id="48-0",make="cloud-tpu",model="tpu-v5",pod="bert-0"} 37
duty_cycle{accelerator_id="48-1",make="cloud-tpu",model="tpu-v5",pod="bert-0"} 36.5
duty_cycle{accelerator_id="48-0",make="nvidia",pod="bert-0"} 99
memory_used{accelerator_id="48-0",make="cloud-tpu",pod="bert-0"} 8.5e+09
memory_used{accelerator_id="48-2",make="cloud-tpu",pod="other-0"} 1
duty_cycle{accelerator_id="48-3",make="cloud-tpu",pod="bert-0"} what
go_goroutines 12
"""


@pytest.fixture
def port() -> Iterator[int]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200 if self.path == "/metrics" else 404)
            self.end_headers()
            self.wfile.write(TEXT.encode())

        def log_message(self, format: str, *args: object) -> None:
            del format, args

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_address[1]
    server.shutdown()
    server.server_close()


def test_the_chips_of_a_pod(port: int) -> None:
    seen = [
        (one.device, one.name, one.value, one.unit) for one in figures("127.0.0.1", "bert-0", port)
    ]
    assert seen == [
        (0, "HBM in use", 8.5e9, "bytes"),
        (0, "TensorCore duty cycle", 37.0, "%"),
        (1, "TensorCore duty cycle", 36.5, "%"),
    ]
    assert len(figures("127.0.0.1", port=port)) == 4


def test_a_node_without_it_gives_none(port: int) -> None:
    assert figures("127.0.0.1", "nobody", port) == ()
    assert figures("127.0.0.1", port=1) == ()
    assert figures("no host", port=port) == ()
