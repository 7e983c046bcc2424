"""Calls that send by more than one request: they are answered at once, and marked by their answer.

What pushes to a hub asks for several things in turn and builds on the answers; mail and FTP talk
protocols of their own. One row a class: which calls, and what they are answered with.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from tpudiag.signals import SendKind
from tpudiag.sources.job.held_back import request_rules
from tpudiag.sources.job.held_back.answers import Answer
from tpudiag.sources.job.points import hooks
from tpudiag.sources.job.points.point import point


@dataclass(frozen=True)
class Sending:
    """Calls of a module, or of a class in it, that send."""

    module: str
    names: tuple[str, ...]
    """Empty for all of a class whose names say that they send: `create_repo`, `upload_file`."""
    kind: SendKind
    what: str


def _sending(module: str, names: str, kind: SendKind, what: str) -> Sending:
    return Sending(module, tuple(names.split()), kind, what)


CALLS = (
    _sending(
        "huggingface_hub.hf_api:HfApi",
        "",
        SendKind.PUSH,
        "Hugging Face hub",
    ),
    _sending(
        "kagglehub", "model_upload dataset_upload notebook_upload", SendKind.PUSH, "kagglehub"
    ),
    _sending(
        "kaggle.api.kaggle_api_extended:KaggleApi",
        "competition_submit dataset_create_new dataset_create_version kernels_push"
        " model_create_new model_instance_create model_instance_version_create",
        SendKind.PUSH,
        "kaggle",
    ),
)
"""What pushes to hubs."""
SMTP: dict[str, Any] = {
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
"""What a mail server answers; `smtplib`, with which all of Python sends mail."""
FTP = ("storbinary", "storlines", "delete", "rename", "mkd", "rmd")


class Calls:
    """The hooks on calls that send."""

    def __init__(self, note: Callable[[SendKind, str], None]) -> None:
        self._note = note

    def by_module(self) -> dict[str, Callable[[Any], None]]:
        """What is to be told of the import of which module."""
        found: dict[str, Callable[[Any], None]] = {
            each.module.partition(":")[0]: partial(self._watch, each) for each in CALLS
        }
        return {**found, "smtplib": self._watch_smtp, "ftplib": self._watch_ftp}

    def _watch(self, sending: Sending, module: Any) -> None:
        """Answer the calls of a row."""
        owner: Any = module
        for part in filter(None, sending.module.partition(":")[2].split(".")):
            owner = getattr(owner, part)

        def call(*_: Any, **__: Any) -> Any:
            self._note(sending.kind, sending.what)
            return Answer("not-sent")

        names = sending.names or _sending_names(owner)
        for name in names:
            if callable(getattr(owner, name, None)):
                hooks.around(point("", name, sending.what), call, owner, hooks.always)
                # The package gives out methods of one object of its own as functions.
                bound = getattr(getattr(module, "api", None), name, None)
                if owner is not module and bound is not None and hasattr(module, name):
                    setattr(module, name, bound)

    def _watch_smtp(self, module: Any) -> None:
        """Mail: the connection is never opened."""

        def call(name: str, original: Any, mail: Any, *args: Any, **kwargs: Any) -> Any:
            if name == "connect":
                host = args[0] if args else kwargs.get("host", "localhost")
                mail._tpudiag_host = "" if request_rules.is_own(str(host)) else str(host)
            host = getattr(mail, "_tpudiag_host", "")
            if not host:
                return original(mail, *args, **kwargs)
            if name == "sendmail":
                self._note(SendKind.MAIL, host)
            ends = name == "docmd" and str(args[0] if args else "").upper() == "QUIT"
            return SMTP["quit" if ends else name]

        for name in SMTP:
            hooks.around(point("", name, "mail"), partial(call, name), module.SMTP, hooks.always)

    def _watch_ftp(self, module: Any) -> None:
        """Files that are sent by FTP; those that are read are read."""

        def call(name: str, original: Any, ftp: Any, *args: Any, **kwargs: Any) -> Any:
            host = str(getattr(ftp, "host", ""))
            if request_rules.is_own(host):
                return original(ftp, *args, **kwargs)
            removes = name in ("delete", "rmd", "rename")
            self._note(SendKind.DELETION if removes else SendKind.UPLOAD, f"ftp://{host}")
            return "250 ok"

        for name in FTP:
            hooks.around(point("", name, "files"), partial(call, name), module.FTP, hooks.always)


def _sending_names(owner: Any) -> tuple[str, ...]:
    """The calls of a module or class whose names say that they send."""
    names: list[str] = list(vars(owner))  # pyright: ignore
    return tuple(filter(request_rules.is_sending_name, names))
