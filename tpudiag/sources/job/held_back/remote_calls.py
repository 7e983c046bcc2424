"""gRPC calls that send: redirected to tpudiag's own server, which returns an empty message.

A channel creates each call by a name that says what it does, whatever the service:
`/google.pubsub.v1.Publisher/Publish`. Channels and the calls that they create are hooked.
"""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from tpudiag.signals import SendKind
from tpudiag.sources.job.held_back import request_rules
from tpudiag.sources.job.points import Call, Library, Watches, hooks, table

_TALKS = "stream_stream"
"""The kind of call in which each message may wait for its answer."""
Note = Callable[[SendKind, str], None]


class RemoteCalls:
    """The hooks on gRPC."""

    def __init__(self, note: Note) -> None:
        self._note = note
        self._server: object = None
        self._address = ""
        self._lock = threading.Lock()

    def by_module(self) -> Watches:
        """The hooks by the module whose import triggers them."""
        return {"grpc": self._watch}

    def _watch(self, grpc: Library) -> None:
        """Hook the opening of channels; those of `aio` are asynchronous."""
        opens = {"grpc": grpc.insecure_channel, "grpc.aio": grpc.aio.insecure_channel}
        for each in table.CHANNEL_OPENED.each():
            call = partial(self._opened, grpc, opens[each.owners[0]])
            hooks.around(each, call, grpc, hooks.always)

    def _opened(
        self, grpc: Library, opens: Call, original: Call, target: object, *a: object, **kw: object
    ) -> object:
        channel = original(target, *a, **kw)
        host = _host(str(target))
        if not request_rules.is_own(host):
            for each in table.CHANNEL_CALLS.each():
                form = each.names[0]
                made = partial(self._made, lambda: opens(self._sink(grpc)), form, host)
                hooks.around(each, made, channel, hooks.always)
        return channel

    def _made(
        self, to_sink: Callable[[], object], form: str, host: str, original: Call,
        method: object, serializer: object = None, deserializer: object = None,
        *args: object, **kwargs: object,
    ) -> object:  # fmt: skip
        """Create a call by its name: unchanged, or to our own server."""
        path = method.decode() if isinstance(method, bytes) else str(method)
        name = path.rpartition("/")[2]
        encode: Any = kwargs.pop("request_serializer", serializer)
        decode = kwargs.pop("response_deserializer", deserializer)
        if not request_rules.names_sending(name):
            return original(method, encode, decode, *args, **kwargs)
        removes = name.lower().startswith(("delete", "remove"))
        kind = SendKind.DELETION if removes else SendKind.REQUEST

        def encoded(request: object) -> object:
            hooks.quietly(self._note, kind, f"{name} {host}")
            return encode(request) if encode is not None else request

        return getattr(to_sink(), form)(f"/{form}{path}", encoded, decode)

    def _sink(self, grpc: Library) -> str:
        """The address of a server that answers everything as done, for this process's life."""
        with self._lock:
            if self._server is None:
                server = grpc.server(ThreadPoolExecutor(4))
                server.add_generic_rpc_handlers((_Sink(grpc),))
                self._address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
                server.start()
                self._server = server
        return self._address


class _Sink:
    def __init__(self, grpc: Library) -> None:
        self._grpc = grpc

    def service(self, details: Any) -> object:
        """Answers a call; messages are bytes here, and an empty one is valid for every type."""
        talks = details.method.startswith(f"/{_TALKS}/")

        def answered(requests: Iterator[bytes], _context: object) -> Iterator[bytes]:
            for _ in requests:
                if talks:
                    yield b""
            if not talks:
                yield b""

        return self._grpc.stream_stream_rpc_method_handler(answered)


def _host(target: str) -> str:
    """The host of a target: `host:443`, `dns:///host:443`, `ipv6:[::1]:80`, `unix:/socket`."""
    scheme, colon, rest = target.partition(":")
    if scheme in ("unix", "unix-abstract", "vsock"):
        return "localhost"
    known = colon and (rest.startswith("/") or scheme in ("dns", "ipv4", "ipv6", "xds"))
    return (rest if known else target).rpartition("/")[2].rpartition(":")[0] or target
