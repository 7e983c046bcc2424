"""Blocks HTTP requests that send: each gets a fake success and stays on the machine.

Hooked where Python's HTTP stacks meet: `http.client` (urllib, requests, urllib3, boto3 and Google's
clients), httpcore (httpx) and aiohttp. Answers are JSON objects with a mark, which identifies
errors caused by them.
"""

import io
import json as json_text
from collections.abc import Awaitable, Callable
from typing import Any, cast
from urllib.parse import urlencode, urlsplit

from tpudiag.signals import SendKind
from tpudiag.sources.job.held_back import answers, request_rules
from tpudiag.sources.job.points import Call, Kwargs, Library, barrier, hooks, privates, table

_MOST_KNOWN = 10_000
Note = Callable[[SendKind, str], None]


class Requests:
    """The hooks on HTTP stacks."""

    def __init__(self, note: Note) -> None:
        self._note_kind = note
        self._uploads: set[tuple[str, str]] = set()

    def note(self, method: str, host: str, target: str) -> None:
        """Note a held-back request; only its host, since the rest may be secret."""
        kind = SendKind(request_rules.kind(method, target))
        # The parts of one file go to one address, given in the answer to the first request.
        part = method.upper() == "PUT" and (host, target) in self._uploads
        if kind is SendKind.UPLOAD and len(self._uploads) < _MOST_KNOWN:
            self._uploads.add((host, target))
        if not part:
            what = host if kind is not SendKind.REQUEST else f"{method.upper()} {host}"
            self._note_kind(kind, what)

    def watch_http_client(self, _: object) -> None:
        """Hook the standard library's connections."""
        hooks.around(table.REQUEST_BEGUN, self._put, sends=lambda args, _: _may_send(args[1]))
        hooks.around(table.REQUEST_ANSWERED, self._answered, sends=hooks.always)

    def _put(
        self,
        original: Call,
        connection: Any,
        method: object,
        url: object,
        *args: object,
        **kwargs: object,
    ) -> object:
        """A request begins: if it may send, it is buffered until it is complete."""
        target = str(url or "/")
        host = str(
            urlsplit(target).hostname or privates.TUNNEL.of(connection, None) or connection.host
        )
        known = request_rules.sends(str(method), host, target, {}, b"")
        if known or (str(method).upper() == "POST" and not request_rules.is_own(host)):
            connection.sock = _Kept(connection.sock, str(method), host, target)
        return original(connection, method, url, *args, **kwargs)

    def _answered(self, original: Call, connection: Any, *args: object, **kwargs: object) -> object:
        kept = connection.sock
        if isinstance(kept, _Kept):
            if kept.sends():
                self.note(kept.method, kept.host, kept.target)
            else:
                connection.sock = kept.real
                if kept.real is None:
                    connection.connect()
                connection.sock.sendall(bytes(kept.sent))
        return original(connection, *args, **kwargs)

    def watch_httpcore(self, module: Library) -> None:
        """Hook the pools of httpcore, which httpx is based on."""

        def handle(original: Call, pool: object, request: Any) -> object:
            held = self._judged_by(module, request, _read(request))
            return held if held is not None else original(pool, request)

        hooks.around(table.REQUEST_POOLED, handle, module)

        async def handle_async(
            original: Callable[..., Awaitable[object]], pool: object, request: Any
        ) -> object:
            held = self._judged_by(module, request, await _read_async(request))
            return held if held is not None else await original(pool, request)

        hooks.around(table.REQUEST_POOLED_ASYNC, handle_async, module)

    def _judged_by(self, module: Library, request: Any, body: bytes | None) -> object:
        """The answer to a sending request of httpcore; None for any other."""
        may_send = _may_send(request.method)
        return barrier.judged("httpcore", self._of_httpcore, may_send, module, request, body)

    def _of_httpcore(self, module: Library, request: Any, body: bytes | None) -> object:
        """The answer to a sending request; None for any other."""
        method, host = request.method.decode(), request.url.host.decode()
        target = request.url.target.decode()
        headers = {
            name.decode().lower(): value.decode("latin-1") for name, value in request.headers
        }
        if body is not None:
            request.stream = type(request)(request.method, request.url, content=body).stream
        known = b" " * (request_rules.LIMIT_BYTES + 1) if body is None else body
        if not request_rules.sends(method, host, target, headers, known):
            return None
        self.note(method, host, target)
        header, content = answers.http(f"{request.url.scheme.decode()}://{host}{target}", headers)
        fields = [(name.encode(), value.encode()) for name, value in header.items()]
        return module.Response(200, headers=fields, content=content)

    def watch_aiohttp(self, _: object) -> None:
        """Hook aiohttp: sending requests go to our own server on loopback."""

        async def request(
            original: Callable[..., Awaitable[object]],
            session: object,
            method: object,
            url: object,
            **kwargs: object,
        ) -> object:
            may_send = _may_send(method)
            sink = barrier.judged(
                "aiohttp", self._of_aiohttp, may_send, session, method, url, kwargs
            )
            if sink is not None:
                url = sink
                kwargs = {k: v for k, v in kwargs.items() if not k.startswith(("proxy", "ssl"))}
            return await original(session, method, url, **kwargs)

        hooks.around(table.REQUEST_OF_AIOHTTP, request)

    def _of_aiohttp(
        self, session: object, method: object, url: object, kwargs: dict[str, Any]
    ) -> str | None:
        """The address for a sending request; None for any other."""
        base = privates.BASE_URL.of(session, None)
        whole = urlsplit(str(base.join(type(base)(str(url))) if base is not None else url))
        body, kind = kwargs.get("data"), ""
        if kwargs.get("json") is not None:
            body = json_text.dumps(kwargs["json"], default=str)
        elif isinstance(body, dict):
            body, kind = urlencode(cast("Kwargs", body)), "application/x-www-form-urlencoded"
        elif body is not None and not isinstance(body, (str, bytes)):
            body = b" " * (request_rules.LIMIT_BYTES + 1)  # a stream, or a form of files
        body = body.encode() if isinstance(body, str) else bytes(body or b"")
        given: dict[object, object] = dict(kwargs.get("headers") or {})
        headers = {"content-type": kind, **{str(k).lower(): str(v) for k, v in given.items()}}
        target = whole.path + (f"?{whole.query}" if whole.query else "")
        if not request_rules.sends(str(method), whole.hostname or "", target, headers, body):
            return None
        self.note(str(method), whole.hostname or "", target)
        from tpudiag.sources.job.held_back import sink  # slow to load, and rarely needed

        return sink.started() + target


class _Kept:
    """Replaces a connection's socket until it is known whether a request may go."""

    def __init__(self, real: Any, method: str, host: str, target: str) -> None:
        self.real, self.method, self.host, self.target = real, method, host, target
        self.sent = bytearray()

    def sendall(self, data: bytes) -> None:
        """Buffer a part of the request; of a long one the beginning suffices."""
        if len(self.sent) <= 2 * request_rules.LIMIT_BYTES:
            self.sent += data

    send = sendall

    def sends(self) -> bool:
        """Whether the request sends."""
        headers, body = self._parts()
        return request_rules.sends(self.method, self.host, self.target, headers, body)

    def _parts(self) -> tuple[dict[str, str], bytes]:
        head, _, body = bytes(self.sent).partition(b"\r\n\r\n")
        lines = [line.partition(b":") for line in head.split(b"\r\n")[1:]]
        return {n.decode("latin-1").lower(): v.decode("latin-1").strip() for n, _, v in lines}, body

    def makefile(self, *_: object, **__: object) -> io.BytesIO:
        """The answer, as http.client reads it."""
        url = self.target if "://" in self.target else f"https://{self.host}{self.target}"
        headers, body = answers.http(url, self._parts()[0])
        lines = [f"{name}: {value}" for name, value in headers.items()]
        return io.BytesIO("\r\n".join(["HTTP/1.1 200 OK", *lines, "", ""]).encode() + body)

    def close(self) -> None:
        """Close the connection, including a real one opened before."""
        if self.real is not None:
            self.real.close()

    def __getattr__(self, name: str) -> object:
        return getattr(self.real, name) if self.real is not None else _nothing


def _nothing(*_: object, **__: object) -> None:
    """Ignores settimeout, setsockopt, shutdown."""


def _may_send(method: object) -> bool:
    name = method.decode("latin-1") if isinstance(method, bytes) else str(method)
    return name.upper() not in request_rules.SAFE


def _may_read(request: Any) -> bool:
    """Whether it depends on a request's body if it sends, and the body is short enough."""
    if request.method != b"POST" or request_rules.is_own(request.url.host.decode()):
        return False
    sizes = [int(value) for name, value in request.headers if name.lower() == b"content-length"]
    return bool(sizes) and sizes[0] <= request_rules.LIMIT_BYTES


def _read(request: Any) -> bytes | None:
    return b"".join(request.stream) if hooks.quietly(_may_read, request) else None


async def _read_async(request: Any) -> bytes | None:
    """The same, for an asynchronous request."""
    if not hooks.quietly(_may_read, request):
        return None
    return b"".join([part async for part in request.stream])
