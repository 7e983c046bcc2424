"""Profiler services on loopback that answer as TensorFlow's do."""

from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import grpc

from tpudiag.sources.live.address import Address
from tpudiag.sources.profile.schema import message

Profile = Callable[[bytes], bytes]
HOST = {"name": "/host:CPU"}
SPACE = bytes(message("XSpace")(planes=[{**HOST, "lines": [{"events": [{}]}]}]).SerializeToString())
"""A plane with a line with an event."""
EMPTY = bytes(message("XSpace")(planes=[HOST]).SerializeToString())


@contextmanager
def served(profile: Profile, old: bool = False) -> Generator[Address]:
    """A profiler service as TensorFlow's answers; `old` is one before 2.21."""

    def refuse(_: bytes, context: Any) -> bytes:
        context.abort(grpc.StatusCode.UNIMPLEMENTED, "unimplemented.")
        raise AssertionError

    def none_yet(_: bytes, context: Any) -> bytes:
        context.abort(grpc.StatusCode.NOT_FOUND, "No continuous profiling session found.")
        raise AssertionError

    def answer(request: bytes, _: Any) -> bytes:
        return profile(request)

    def nothing(_: bytes, __: Any) -> bytes:
        return b""

    functions = {"Profile": answer, "Terminate": nothing, "Monitor": refuse}
    if not old:
        functions["GetSnapshot"] = none_yet
    methods: dict[str, grpc.RpcMethodHandler[bytes, bytes]] = {
        name: grpc.unary_unary_rpc_method_handler(function) for name, function in functions.items()
    }
    server = grpc.server(ThreadPoolExecutor(4))
    handler = grpc.method_handlers_generic_handler("tensorflow.ProfilerService", methods)
    server.add_generic_rpc_handlers((handler,))
    port = server.add_insecure_port("localhost:0")
    server.start()
    try:
        yield Address("localhost", port)
    finally:
        server.stop(None).wait()


def response(space: bytes) -> bytes:
    return bytes(message("ProfileResponse")(xspace=space).SerializeToString())
