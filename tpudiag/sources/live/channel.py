"""gRPC channels to trainers, and the meaning of their errors."""

from __future__ import annotations

from collections.abc import Callable

import grpc

from tpudiag.sources.live.address import Address

OPTIONS = (
    ("grpc.max_receive_message_length", -1),
    ("grpc.enable_http_proxy", 0),
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.enable_retries", 0),
)
"""Captures have any size, trainers stand behind no proxy, and failures are not cached."""
Call = Callable[..., bytes]


def channel(address: Address) -> grpc.Channel:
    """A channel to whoever listens there; used in a `with`, it is closed at its end."""
    return grpc.insecure_channel(str(address), options=OPTIONS)


def method(opened: grpc.Channel, name: str) -> grpc.UnaryUnaryMultiCallable[bytes, bytes]:
    """A method whose request and response are bytes."""
    return opened.unary_unary(name, request_serializer=None, response_deserializer=None)


def code_of(error: grpc.RpcError) -> grpc.StatusCode:
    """The status of a failed call."""
    code = error.code() if isinstance(error, grpc.Call) else None
    return code if isinstance(code, grpc.StatusCode) else grpc.StatusCode.UNKNOWN


def details_of(error: grpc.RpcError) -> str:
    """The other side's error message, on one line."""
    details = error.details() if isinstance(error, grpc.Call) else None
    return " ".join((details or "").split())
