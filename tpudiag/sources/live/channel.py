"""gRPC channels to trainers, and what their errors mean."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager

import grpc

from tpudiag.sources.live.address import Address

OPTIONS = (
    ("grpc.max_receive_message_length", -1),
    ("grpc.enable_http_proxy", 0),
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.enable_retries", 0),
)
"""A capture has any size, trainers stand behind no proxy, and no failure is remembered."""
Call = Callable[..., bytes]


@contextmanager
def channel(address: Address) -> Generator[grpc.Channel, None, None]:
    """A channel that is closed with the block."""
    with grpc.insecure_channel(str(address), options=OPTIONS) as opened:
        yield opened


def method(opened: grpc.Channel, name: str) -> grpc.UnaryUnaryMultiCallable[bytes, bytes]:
    """A method that takes and gives bytes."""
    return opened.unary_unary(name, request_serializer=None, response_deserializer=None)


def code_of(error: grpc.RpcError) -> grpc.StatusCode:
    """The status of a failed call."""
    code = error.code() if isinstance(error, grpc.Call) else None
    return code if isinstance(code, grpc.StatusCode) else grpc.StatusCode.UNKNOWN


def details_of(error: grpc.RpcError) -> str:
    """What the other side said of it, on one line."""
    said = error.details() if isinstance(error, grpc.Call) else None
    return " ".join((said or "").split())
