"""gRPC channels to trainers, and the meaning of their errors."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress

import grpc

from tpudiag.sources.live.address import Address
from tpudiag.sources.live.sockets import accepted, connections_to

OPTIONS = (
    ("grpc.max_receive_message_length", -1),
    ("grpc.enable_http_proxy", 0),
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.enable_retries", 0),
)
"""Captures have any size, trainers stand behind no proxy, and failures are not cached."""
Call = Callable[..., bytes]
TRY_S, TRIES_S = 0.5, 5.0
"""Time limits of one connection, and of all tries to reach a process."""
_ONE_AT_A_TIME = threading.Lock()


class NotReached(Exception):
    """Of several processes at an address, the requested one took no connection."""


@contextmanager
def channel(address: Address) -> Generator[grpc.Channel, None, None]:
    """A channel that is closed with the block; raises NotReached for an address with a pid."""
    with _to_process(address) if address.pid else _opened(address) as opened:
        yield opened


def _opened(address: Address) -> grpc.Channel:
    """A channel to whoever listens there."""
    return grpc.insecure_channel(address.endpoint, options=OPTIONS)


def _to_process(address: Address) -> grpc.Channel:
    """A channel to the process with the address's pid: the kernel spreads connections evenly."""
    until = time.monotonic() + TRIES_S
    while time.monotonic() < until:
        opened = _opened(address)
        # The new connection between two looks must be this one, so no other may be opened
        # meanwhile.
        with _ONE_AT_A_TIME:
            before = connections_to(address.port)
            # Not ready in time: another process took it and does not answer, or its queue is full.
            with suppress(grpc.FutureTimeoutError):
                grpc.channel_ready_future(opened).result(timeout=TRY_S)
            new = connections_to(address.port) - before
        # SO_REUSEPORT: the kernel chooses by a hash of the ports, so another connection may reach
        # another process.
        if len(new) == 1 and accepted(address.pid, address.port, min(new)):
            return opened
        opened.close()
    raise NotReached(
        f"several processes listen there, and in {TRIES_S:g} s none of the connections came to "
        f"pid {address.pid}"
    )


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
