"""Servers on loopback, each for as long as a block of code runs."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Generator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import grpc

from tpudiag.sources.live.address import Address

Functions = dict[str, Callable[[bytes, Any], bytes]]
"""Of a gRPC service: what a method makes of a request and its context."""


class Handler(BaseHTTPRequestHandler):
    """Answers requests, and says nothing on stderr."""

    def answer(self, status: int, body: bytes, **headers: str) -> None:
        """A whole answer; headers by their names, with underscores."""
        self.send_response(status)
        for name, value in {"Content_Length": str(len(body)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


@contextmanager
def serving(server: HTTPServer) -> Generator[int]:
    """The port of a server that answers."""
    with server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def answering(reply: Callable[[socket.socket], None]) -> Generator[int]:
    """The port of a server that does this with each connection, one after the other."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            with suppress(OSError):
                while True:
                    connection, _ = server.accept()
                    with connection, suppress(OSError):
                        reply(connection)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)
        thread.join()


@contextmanager
def serving_grpc(
    service: str,
    functions: Functions | Mapping[str, grpc.RpcMethodHandler[Any, Any]],
    credentials: grpc.ServerCredentials | None = None,
) -> Generator[Address]:
    """The address of a gRPC service, whose mere functions take and give bytes."""
    server = grpc.server(ThreadPoolExecutor(4))
    methods: dict[str, grpc.RpcMethodHandler[Any, Any]] = {
        name: grpc.unary_unary_rpc_method_handler(each) if callable(each) else each
        for name, each in functions.items()
    }
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, methods),))
    if credentials is None:
        port = server.add_insecure_port("localhost:0")
    else:
        port = server.add_secure_port("localhost:0", credentials)
    server.start()
    try:
        yield Address("localhost", port)
    finally:
        server.stop(None).wait()


def free_port() -> int:
    """A port at which nobody listened a moment ago."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port
