"""Records redirected writes and blocked sends, each kind once, for the report."""

import contextlib
import json
import os
import threading
from collections.abc import Callable
from dataclasses import replace

from tpudiag.model import Location
from tpudiag.signals import HeldBack, SendKind
from tpudiag.sources.job.points import user_lines

_MOST = 100
"""The most different things listed."""


class Ledger:
    """Counts what was held back, and reports it to the parent."""

    def __init__(self, put: Callable[..., None], file: str = "") -> None:
        """`file`: where child processes append what they held back."""
        self._put, self._file = put, file
        self._read_to = 0
        self._held: dict[tuple[SendKind, str], HeldBack] = {}
        self._reported: dict[tuple[SendKind, str], int] = {}
        self._paths: set[tuple[str, bool]] = set()
        self._lock = threading.Lock()
        put(held_back=())

    def note(self, kind: SendKind, what: str, location: Location | None = None) -> None:
        """Note one held-back thing; by default at the current line of the user's code."""
        location = location or user_lines.caller()
        with self._lock:
            known = self._held.get((kind, what))
            if known is None and len(self._held) >= _MOST:
                return
            known = known or HeldBack(kind, what, 0, location)
            self._held[kind, what] = held = replace(known, count=known.count + 1)
            # A job may send at every step: report whenever the count has doubled.
            due = held.count >= 2 * self._reported.get((kind, what), 0)
            if due:
                self._reported[kind, what] = held.count
        if due:
            self._report()

    def note_file(self, path: str, removed: bool) -> None:
        """A bucket's file was written or removed; each counts once."""
        scheme, separator, rest = path.partition("://")
        if not separator or (path, removed) in self._paths:
            return
        self._paths.add((path, removed))
        kind = SendKind.DELETION if removed else SendKind.UPLOAD
        self.note(kind, f"{scheme}://{rest.partition('/')[0]}")

    def lines(self) -> set[Location]:
        """The user's lines where something was held back."""
        held_back = (each for each in self._held.values() if each.kind is not SendKind.UNJUDGED)
        return {held.location for held in held_back if held.location is not None}

    def flush(self) -> None:
        """Report everything, including what child processes held back."""
        for kind, what, location in self._of_children():
            self.note(kind, what, location)
        self._report()

    def _of_children(self) -> list[tuple[SendKind, str, Location | None]]:
        """What was appended to the file since the last read."""
        found: list[tuple[SendKind, str, Location | None]] = []
        with contextlib.suppress(OSError):
            descriptor = os.open(self._file, os.O_RDONLY)
            with os.fdopen(descriptor, "rb") as file:
                file.seek(self._read_to)
                text = file.read()
                self._read_to = file.tell()
            for line in text.splitlines():
                with contextlib.suppress(ValueError, TypeError):
                    kind, what, at = json.loads(line)
                    file_name, _, number = str(at).rpartition(":")
                    location = Location(file_name, int(number)) if file_name else None
                    found.append((SendKind(kind), str(what), location))
        return found

    def _report(self) -> None:
        self._put(held_back=tuple(self._held.values()))
