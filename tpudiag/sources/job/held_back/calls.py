"""Blocks calls that send by more than one request: each returns a marked answer at once.

A push to a hub makes several requests that build on each other's answers; mail and FTP have
protocols of their own. One row per class: which calls, and their answers.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from tpudiag.signals import SendKind
from tpudiag.sources.job.held_back import connections, request_rules
from tpudiag.sources.job.held_back.answers import Answer
from tpudiag.sources.job.held_back.program_shim import note
from tpudiag.sources.job.held_back.remote_calls import RemoteCalls
from tpudiag.sources.job.held_back.requests import Requests
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
    "helo": (250, b"ok"),
    "starttls": (220, b"ready"),
    "login": (235, b"ok"),
    "auth": (235, b"ok"),
    "docmd": (250, b"ok"),
    "mail": (250, b"ok"),
    "rcpt": (250, b"ok"),
    "data": (250, b"ok"),
    "sendmail": {},
    "quit": (221, b"bye"),
    "close": None,
}
"""A mail server's answers; for `smtplib`, which all Python mail goes through."""


class Calls:
    """The hooks on calls that send."""

    def __init__(self, note: Callable[[SendKind, str], None]) -> None:
        self._note = note

    def by_module(self) -> Watches:
        """The hooks by the module whose import triggers them."""
        found: Watches = {at.module: partial(self._watch, at, what) for at, what in CALLS}
        return {**found, "smtplib": self._watch_smtp, "ftplib": self._watch_ftp}

    def _watch(self, at: Point, what: str, module: Library) -> None:
        def call(*_: object, **__: object) -> object:
            self._note(SendKind.PUSH, what)
            return Answer("not-sent")

        callables = [n for n, value in vars(resolved(at.owners[0])).items() if callable(value)]
        names = at.names or tuple(filter(request_rules.is_sending_name, callables))
        hooks.around(at.named(*names), call, sends=hooks.always)
        # The package exports the methods of one internal object as functions.
        api = getattr(module, "api", None)
        for name in [each for each in names if hasattr(api, each) and hasattr(module, each)]:
            hooks.stand_in(table.FUNCTION_OF_HUB.named(name), getattr(api, name), module)

    def _watch_smtp(self, _: object) -> None:
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

    def _watch_ftp(self, _: object) -> None:
        def call(name: str, original: Call, ftp: object, *args: object, **kwargs: object) -> object:
            host = str(getattr(ftp, "host", ""))
            if request_rules.is_own(host):
                return original(ftp, *args, **kwargs)
            removes = name in ("delete", "rmd", "rename")
            self._note(SendKind.DELETION if removes else SendKind.UPLOAD, f"ftp://{host}")
            return "250 ok"

        for each in table.SENT_BY_FTP.each():
            hooks.around(each, partial(call, each.names[0]), sends=hooks.always)


def by_module(note_kind: Callable[[SendKind, str], None]) -> Watches:
    """The hooks by the module whose import triggers them."""
    every = (Requests(note_kind), RemoteCalls(note_kind), Calls(note_kind))
    return {name: watch for each in every for name, watch in each.by_module().items()}


def of_child() -> Watches:
    """The same in a Python that the job started, which appends to the job's file."""
    known = by_module(lambda kind, what: note(kind.value, what))
    return {**known, "socket": lambda _: connections.refuse()}
