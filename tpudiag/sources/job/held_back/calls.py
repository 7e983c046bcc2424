"""Blocks calls that send by more than one request: each returns a marked answer at once.

A push to a hub makes several requests that build on each other's answers; mail and FTP have
protocols of their own. Calls of gRPC go to tpudiag's own server, which returns an empty message: a
channel creates each by a name that says what it does, `/google.pubsub.v1.Publisher/Publish`.
"""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from types import SimpleNamespace
from typing import Any

from tpudiag.signals import SendKind
from tpudiag.sources.job.held_back import connections, request_rules
from tpudiag.sources.job.held_back.answers import Answer
from tpudiag.sources.job.held_back.program_shim import note
from tpudiag.sources.job.held_back.requests import Note, Requests
from tpudiag.sources.job.points import Call, Kwargs, Library, Watches, hooks, table
from tpudiag.sources.job.points.point import Point, resolved

CALLS = (
    (table.PUSHED_TO_HUGGING_FACE, "Hugging Face hub"),
    (table.PUSHED_TO_KAGGLEHUB, "kagglehub"),
    (table.PUSHED_TO_KAGGLE, "kaggle"),
)
"""Pushes to hubs, with the kind that they are reported as."""
SMTP: Kwargs = {
    "connect": (220, b"ready"),
    "ehlo": (250, b"8BITMIME"),
    "starttls": (220, b"ready"),
    **dict.fromkeys(("login", "auth"), (235, b"ok")),
    **dict.fromkeys(("helo", "docmd", "mail", "rcpt", "data"), (250, b"ok")),
    "sendmail": {},
    "quit": (221, b"bye"),
    "close": None,
}
"""A mail server's answers; for `smtplib`, which all Python mail goes through."""
_TALKS = "stream_stream"
"""The kind of call in which each message may wait for its answer."""


class Calls:
    """The hooks on calls that send."""

    def __init__(self, note: Note) -> None:
        self._note = note

    def watch(self, at: Point, what: str, module: Library) -> None:
        """Pushes: those of a row, or all whose names say so."""

        def call(*_: object, **__: object) -> object:
            self._note(SendKind.PUSH, what)
            return Answer("not-sent")

        callables = [n for n, value in vars(resolved(at.owners[0])).items() if callable(value)]
        names = at.names or tuple(filter(request_rules.SENDS.match, callables))
        hooks.around(at.named(*names), call, sends=hooks.always)
        # The package exports the methods of one internal object as functions.
        api = getattr(module, "api", None)
        for name in [each for each in names if hasattr(api, each) and hasattr(module, each)]:
            hooks.stand_in(table.FUNCTION_OF_HUB.named(name), getattr(api, name), module)

    def watch_smtp(self, _: object) -> None:
        """Mail: the connection is never opened."""

        def call(name: str, original: Call, mail: Any, *args: object, **kwargs: object) -> object:
            if name == "connect":
                host = args[0] if args else kwargs.get("host", "localhost")
                mail._tpudiag_host = "" if request_rules.is_own(str(host)) else str(host)
            host = str(getattr(mail, "_tpudiag_host", ""))
            if not host:
                return original(mail, *args, **kwargs)
            if name == "sendmail":
                self._note(SendKind.MAIL, host)
            ends = name == "docmd" and str(args[0] if args else "").upper() == "QUIT"
            return SMTP["quit" if ends else name]

        for name in SMTP:
            hooks.around(table.MAILED.named(name), partial(call, name), sends=hooks.always)

    def watch_ftp(self, _: object) -> None:
        """FTP: what is sent is answered as done."""

        def call(name: str, original: Call, ftp: object, *args: object, **kwargs: object) -> object:
            host = str(getattr(ftp, "host", ""))
            if request_rules.is_own(host):
                return original(ftp, *args, **kwargs)
            removes = name in ("delete", "rmd", "rename")
            self._note(SendKind.DELETION if removes else SendKind.UPLOAD, f"ftp://{host}")
            return "250 ok"

        for each in table.SENT_BY_FTP.each():
            hooks.around(each, partial(call, each.names[0]), sends=hooks.always)


class RemoteCalls:
    """The hooks on gRPC."""

    def __init__(self, note: Note) -> None:
        self._note = note
        self._server: object = None
        self._address = ""
        self._lock = threading.Lock()

    def watch(self, grpc: Library) -> None:
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
                made = partial(self._made, lambda: opens(self._sink(grpc)), each.names[0], host)
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
                sink = SimpleNamespace(service=partial(_answered, grpc))
                server.add_generic_rpc_handlers((sink,))
                self._address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
                server.start()
                self._server = server
        return self._address


def _answered(grpc: Library, details: Any) -> object:
    """Answers a call; messages are bytes here, and an empty one is valid for every type."""
    talks = details.method.startswith(f"/{_TALKS}/")

    def answered(requests: Iterator[bytes], _context: object) -> Iterator[bytes]:
        for _ in requests:
            if talks:
                yield b""
        if not talks:
            yield b""

    return grpc.stream_stream_rpc_method_handler(answered)


def _host(target: str) -> str:
    """The host of a target: `host:443`, `dns:///host:443`, `ipv6:[::1]:80`, `unix:/socket`."""
    scheme, colon, rest = target.partition(":")
    if scheme in ("unix", "unix-abstract", "vsock"):
        return "localhost"
    known = colon and (rest.startswith("/") or scheme in ("dns", "ipv4", "ipv6", "xds"))
    return (rest if known else target).rpartition("/")[2].rpartition(":")[0] or target


def by_module(note_kind: Note) -> Watches:
    """The hooks by the module whose import triggers them."""
    requests, calls = Requests(note_kind), Calls(note_kind)
    return {
        "http.client": requests.watch_http_client,
        **dict.fromkeys(("httpcore", "httpcore2"), requests.watch_httpcore),
        "aiohttp": requests.watch_aiohttp,
        "grpc": RemoteCalls(note_kind).watch,
        **{at.module: partial(calls.watch, at, what) for at, what in CALLS},
        "smtplib": calls.watch_smtp,
        "ftplib": calls.watch_ftp,
    }


def of_child() -> Watches:
    """The same in a Python that the job started, which appends to the job's file."""
    known = by_module(lambda kind, what: note(kind.value, what))
    return {**known, "socket": lambda _: connections.refuse()}
