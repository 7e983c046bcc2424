"""Reads an XSpace plane by plane and line by line.

The file is mapped, taken apart by the wire format, and only one line at a time is parsed, so
memory is bounded by the largest line and not by the file. Times are in picoseconds since the
start of the capture (or the epoch: what the profiler wrote), the same for all planes of a file.
"""

from __future__ import annotations

import mmap
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from google.protobuf.message import DecodeError

from tpudiag.sources.profile import wire
from tpudiag.sources.profile.schema import XEvent, XLine, XPlane, XStat, new_line, new_plane
from tpudiag.sources.profile.wire import Damaged

StatValue = float | int | str | bytes
SPACE_FIELDS: Mapping[int, int] = dict.fromkeys(range(1, 5), wire.BYTES)
PLANE_FIELDS: Mapping[int, int] = {1: wire.VARINT, **dict.fromkeys((2, 3, 4, 5, 6), wire.BYTES)}
PLANES, ERRORS, WARNINGS, HOSTNAMES = 1, 2, 3, 4
LINES = 3


@dataclass(frozen=True)
class Line:
    """One time line of a plane, parsed."""

    name: str
    message: XLine
    unknown_bytes: int
    """Bytes in fields that this reader does not know."""

    def span(self, event: XEvent) -> tuple[int, int]:
        """Start and end of an event in ps; raises Damaged where it ends before it starts."""
        duration = event.duration_ps
        if duration < 0:
            raise Damaged(f"corrupt: an event of the line {self.name!r} ends before it starts")
        start = self.message.timestamp_ns * 1000 + event.offset_ps
        return start, start + duration

    def events(self) -> Iterator[tuple[int, int, int, XEvent]]:
        """Metadata id, start and end in ps, and the event itself; raises Damaged."""
        for event in self.message.events:
            yield event.metadata_id, *self.span(event), event


@dataclass(frozen=True)
class Plane:
    """One plane: its metadata parsed, its lines still bytes."""

    header: XPlane
    parts: tuple[memoryview, ...]
    unknown_bytes: int
    names: Mapping[int, str] = field(repr=False)
    """Event names by metadata id."""
    stat_names: Mapping[int, str] = field(repr=False)
    """Names of stats, and the strings that stats refer to, by metadata id."""

    @property
    def name(self) -> str:
        """E.g. `/device:TPU:0`, `/host:CPU`, `Task Environment`."""
        return self.header.name

    @property
    def stats(self) -> dict[str, StatValue]:
        """What the plane says of itself, by name."""
        return self.values(self.header.stats)

    def lines(self) -> Iterator[Line]:
        """The lines, each parsed when its turn comes; raises Damaged."""
        for part in self.parts:
            line = new_line()
            unknown = _parse(line, bytes(part), "a line")
            yield Line(line.name, line, unknown)

    def values(self, stats: Iterable[XStat]) -> dict[str, StatValue]:
        """Stats by name, references resolved."""
        names = self.stat_names
        found: dict[str, StatValue] = {}
        for stat in stats:
            kind = stat.WhichOneof("value")
            if kind is None or stat.metadata_id not in names:
                continue
            value: StatValue = getattr(stat, kind)
            found[names[stat.metadata_id]] = (
                names.get(stat.ref_value, "") if kind == "ref_value" else value
            )
        return found

    def stat_id(self, name: str) -> int | None:
        """The metadata id of a stat, None where no event of the plane can carry it."""
        return next((key for key, known in self.stat_names.items() if known == name), None)


@dataclass(frozen=True)
class Space:
    """An XSpace whose planes are parsed as they are asked for."""

    parts: tuple[memoryview, ...]
    hostnames: tuple[str, ...]
    errors: tuple[str, ...]
    warnings: tuple[str, ...]

    def planes(self) -> Iterator[Plane]:
        """The planes in the order of the file; raises Damaged."""
        return map(plane, self.parts)


def space(data: memoryview) -> Space:
    """Take an XSpace apart; raises Damaged where it is none, or not whole."""
    if len(data) == 0:
        raise Damaged("the file is empty (0 bytes)")
    if bytes(data[:2]) == b"\x1f\x8b":
        raise Damaged("gzip-compressed; uncompress it first (gunzip)")
    found: dict[int, list[memoryview]] = {number: [] for number in SPACE_FIELDS}
    try:
        for part in _known(data, SPACE_FIELDS, "an XSpace"):
            found[part.number].append(data[part.start : part.end])
    except Damaged as damage:
        if not found[PLANES] and not str(damage).startswith("truncated"):
            raise Damaged(f"not an XSpace ({damage})") from damage
        raise
    if not found[PLANES]:
        raise Damaged("an XSpace without planes: nothing was captured")
    return Space(
        tuple(found[PLANES]),
        _texts(found[HOSTNAMES]),
        _texts(found[ERRORS]),
        _texts(found[WARNINGS]),
    )


def plane(data: memoryview) -> Plane:
    """Parse a plane's metadata and set its lines aside; raises Damaged."""
    lines: list[memoryview] = []
    rest: list[memoryview] = []
    try:
        for part in _known(data, PLANE_FIELDS, "a plane"):
            if part.number == LINES:
                lines.append(data[part.start : part.end])
            else:
                rest.append(data[part.tag : part.end])
    except Damaged as damage:
        raise Damaged(f"corrupt: a plane is not whole ({damage})") from damage
    header = new_plane()
    unknown = _parse(header, b"".join(rest), "a plane")
    names = {key: value.name for key, value in header.event_metadata.items()}
    stat_names = {key: value.name for key, value in header.stat_metadata.items()}
    return Plane(header, tuple(lines), unknown, names, stat_names)


@contextmanager
def opened(file: Path) -> Generator[memoryview, None, None]:
    """The bytes of a file, mapped and not read; raises OSError."""
    with file.open("rb") as stream:
        if not file.stat().st_size:
            yield memoryview(b"")
            return
        mapped = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
        # Not closed: views of it may outlive this block in a traceback; it ends with the last one.
        yield memoryview(mapped)


def _known(data: memoryview, allowed: Mapping[int, int], what: str) -> Iterator[wire.Field]:
    """The fields of a message whose fields are all known; a stranger means damage."""
    for part in wire.fields(data):
        if allowed.get(part.number) != part.wire_type:
            raise Damaged(
                f"corrupt at byte {part.tag} of {what}:"
                f" field {part.number} of wire type {part.wire_type} is no part of it"
            )
        yield part


def _parse(message: XLine | XPlane, data: bytes, what: str) -> int:
    """Fill the message; the number of bytes in fields that the schema does not know."""
    try:
        message.ParseFromString(data)
    except (DecodeError, UnicodeDecodeError) as error:
        raise Damaged(f"corrupt: {what} cannot be decoded") from error
    message.DiscardUnknownFields()
    if message.ByteSize() == len(data):
        return 0
    # Not as long as what was parsed: something was unknown, or written in another way.
    known = message.ByteSize()
    message.ParseFromString(data)
    return message.ByteSize() - known


def _texts(parts: Iterable[memoryview]) -> tuple[str, ...]:
    """Strings of the file; raises Damaged."""
    try:
        return tuple(str(bytes(part), "utf-8") for part in parts)
    except UnicodeDecodeError as error:
        raise Damaged("corrupt: text that is not UTF-8") from error
