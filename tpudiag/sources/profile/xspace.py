"""Reads an XSpace plane by plane and line by line.

The file is mapped and split by the wire format; a line is decoded in windows of bytes, whose pages
are released when it is done: memory is bounded by the largest line, not by the file. Times are in
picoseconds since the start of the capture (or since the epoch, as the profiler wrote them), the
same for all planes of a file.
"""

import mmap
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from tpudiag.records import dataclass
from tpudiag.sources.profile import wire
from tpudiag.sources.profile.events import WINDOW, Line, Region, text_of
from tpudiag.sources.profile.schema import message
from tpudiag.sources.profile.tables import Tables, parse, tables
from tpudiag.sources.profile.wire import Damaged

HEAD = 4096
"""Bytes at a file's start that identify it."""
REPLACED = b"\xef\xbf\xbd"
"""U+FFFD: replaces a byte that could not be decoded as text."""
MOST_REPLACED = 8
STARTS = (
    (b"\x1f\x8b", "gzip-compressed; uncompress it first (gunzip)"),
    (
        b"version https://git-lfs",
        "a pointer of Git LFS, not the file: fetch it with `git lfs pull`",
    ),
    (b"PK\x03\x04", "a zip archive; unpack it first (unzip)"),
    (b"SQLite format 3", "not an XSpace but a database; the profile is the *.xplane.pb beside it"),
    (b'{"', "not an XSpace but JSON: of a trace viewer's export the profile is the *.xplane.pb"),
    (b"<", "not an XSpace but a web page: was it saved from a browser?"),
)


def stranger(head: bytes) -> str | None:
    """The kind of a file that is no XSpace, by its first bytes, where it is known."""
    known = next((what for start, what in STARTS if head.lstrip().startswith(start)), None)
    if known is None and head.count(REPLACED) >= MOST_REPLACED:
        return "damaged: it was copied as text (UTF-8), which lost its bytes; copy it as binary"
    return known


StatValue = float | int | str | bytes
Release = Callable[[memoryview], None]
"""Called with a part of the file that is done with, so that its pages can be released."""
SPACE_FIELDS: Mapping[int, int] = dict.fromkeys(range(1, 5), wire.BYTES)
PLANE_FIELDS: Mapping[int, int] = {1: wire.VARINT, **dict.fromkeys((2, 3, 4, 5, 6), wire.BYTES)}
SMALL = 64
"""Planes of at most this many bytes are compared with known ones before they are parsed."""
PLANES, ERRORS, WARNINGS, HOSTNAMES = 1, 2, 3, 4
LINES, EVENT_METADATA, STAT_METADATA = 3, 4, 5


@dataclass(frozen=True, kw_only=True)
class Plane:
    """One plane: parsed metadata, unparsed lines; `header` are the bytes of neither."""

    header: Any
    data: memoryview = field(repr=False)
    spans: tuple[tuple[int, int], ...]
    """The positions of its lines in its bytes."""
    counts: Counter[str]
    """Events, strangers (those without metadata) and unknown_bytes, in the parts read so far."""
    tables: Tables
    release: Release = field(default=lambda _: None, repr=False)

    @property
    def names(self) -> Mapping[int, str]:
        """Event names by metadata id."""
        return self.tables.names

    @property
    def stat_names(self) -> Mapping[int, str]:
        """Names of stats, and the strings that stats refer to, by metadata id."""
        return self.tables.stat_names

    @property
    def name(self) -> str:
        """E.g. `/device:TPU:0`, `/host:CPU`, `Task Environment`."""
        return str(self.header.name)

    @property
    def size(self) -> int:
        """Bytes of its lines."""
        return sum(end - start for start, end in self.spans)

    @property
    def stats(self) -> dict[str, StatValue]:
        """The plane's own stats, by name."""
        return self.values(self.header.stats)

    def lines(self) -> Iterator[Line]:
        """The lines, each split off when its turn comes; raises Damaged."""
        for group in _near(self.spans):
            region = Region(self.data, group[0][0], group[-1][1]) if len(group) > 1 else None
            for start, end in group:
                part = self.data[start:end]
                line = Line(part, region, start)
                yield line
                self.counts.update(events=line.events, unknown_bytes=line.unknown_bytes)
                self.release(part)

    def values(self, stats: Iterable[Any]) -> dict[str, StatValue]:
        """Stats by name, with references resolved."""
        names = self.stat_names
        by_name: dict[str, StatValue] = {}
        for stat in stats:
            kind = stat.WhichOneof("value")
            if kind is None or stat.metadata_id not in names:
                continue
            value: StatValue = getattr(stat, kind)
            by_name[names[stat.metadata_id]] = (
                names.get(stat.ref_value, "") if kind == "ref_value" else value
            )
        return by_name

    def stat_id(self, name: str) -> int | None:
        """The metadata id of a stat; None where no event of the plane can carry it."""
        return self._stat_ids.get(name)

    @cached_property
    def _stat_ids(self) -> dict[str, int]:
        # Of a name that stands twice the first id.
        return {name: id_ for id_, name in reversed([*self.stat_names.items()])}


@dataclass(frozen=True, kw_only=True)
class Space:
    """An XSpace whose planes are parsed one by one on demand."""

    parts: tuple[memoryview, ...]
    hostnames: tuple[str, ...]
    errors: tuple[str, ...]
    warnings: tuple[str, ...]
    release: Release = field(default=lambda _: None, repr=False)
    repeated: list[int] = field(default_factory=list[int], repr=False)
    """Sizes of planes that the file holds a second time, left out; complete once all are read."""

    def planes(self) -> Iterator[Plane]:
        """The planes in the order of the file; raises Damaged.

        Of many small ones with the same bytes and without lines, only the first is given.
        """
        seen: set[bytes] = set()
        large: dict[int, list[memoryview]] = {}
        for part in self.parts:
            if len(part) <= SMALL and bytes(part) in seen:
                continue
            if len(part) > SMALL:
                if any(part == other for other in large.setdefault(len(part), [])):
                    self.repeated.append(len(part))
                    continue
                large[len(part)].append(part)
            whole = plane(part, self.release)
            if len(part) <= SMALL and not whole.spans and not whole.counts["unknown_bytes"]:
                seen.add(bytes(part))
            yield whole


def space(data: memoryview, release: Release = lambda _: None) -> Space:
    """Split an XSpace; raises Damaged where it is none, or not whole."""
    if len(data) == 0:
        raise Damaged(
            "the file is empty (0 bytes): a capture of over 2 GB, or on a full disk, leaves this; "
            "capture again, for fewer seconds"
        )
    if what := stranger(bytes(data[:HEAD])):
        raise Damaged(what)
    parts: dict[int, list[memoryview]] = {number: [] for number in SPACE_FIELDS}
    try:
        for part in _known(data, SPACE_FIELDS, "an XSpace"):
            parts[part.number].append(data[part.start : part.end])
    except Damaged as damage:
        if not parts[PLANES] and not str(damage).startswith("truncated"):
            raise Damaged(f"not an XSpace ({damage})") from damage
        raise
    if not parts[PLANES]:
        raise Damaged("an XSpace without planes: nothing was captured")
    return Space(
        parts=tuple(parts[PLANES]),
        hostnames=tuple(map(text_of, parts[HOSTNAMES])),
        errors=tuple(map(text_of, parts[ERRORS])),
        warnings=tuple(map(text_of, parts[WARNINGS])),
        release=release,
    )


def plane(data: memoryview, release: Release = lambda _: None) -> Plane:
    """Parse a plane's metadata and set its lines aside; raises Damaged."""
    spans: list[tuple[int, int]] = []
    parts: dict[int, list[memoryview]] = {EVENT_METADATA: [], STAT_METADATA: []}
    rest: list[memoryview] = []
    try:
        for part in _known(data, PLANE_FIELDS, "a plane"):
            if part.number == LINES:
                spans.append((part.start, part.end))
            else:
                parts.get(part.number, rest).append(data[part.tag : part.end])
    except Damaged as damage:
        raise Damaged(f"corrupt: a plane is not whole ({damage})") from damage
    header = message("XPlane")()
    unknown = parse(header, b"".join(rest), "a plane")
    parsed = tables(parts[EVENT_METADATA], parts[STAT_METADATA])
    return Plane(
        header=header,
        data=data,
        spans=tuple(spans),
        counts=Counter(unknown_bytes=unknown + parsed.unknown_bytes),
        tables=parsed,
        release=release,
    )


def _near(spans: Sequence[tuple[int, int]]) -> Iterator[list[tuple[int, int]]]:
    """The lines, grouped so that no group spans more than a window."""
    group: list[tuple[int, int]] = []
    for span in spans:
        if group and span[1] - group[0][0] > WINDOW:
            yield group
            group = []
        group.append(span)
    if group:
        yield group


@contextmanager
def opened(file: Path) -> Generator[tuple[memoryview, Release], None, None]:
    """The bytes of a file, mapped and not read, and a function to release parts; raises OSError."""
    if file.exists() and not file.is_file() and not file.is_dir():
        raise OSError("not a file")  # opening a pipe waits for a writer
    with file.open("rb") as stream:
        if not file.stat().st_size:
            yield memoryview(b""), lambda _: None
            return
        mapped = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
        # Not closed: views of it may outlive this block in a traceback; the last one closes it.
        whole = memoryview(mapped)
        base = _address(whole)

        def release(part: memoryview) -> None:
            # The pages that lie wholly inside a part; they are read again if needed.
            first = _address(part) - base
            start = -(-first // mmap.PAGESIZE) * mmap.PAGESIZE
            size = (first + len(part) - start) // mmap.PAGESIZE * mmap.PAGESIZE
            if size > 0:
                mapped.madvise(mmap.MADV_DONTNEED, start, size)

        yield whole, release


def _address(part: memoryview) -> int:
    return int(np.frombuffer(part, np.uint8).ctypes.data) if len(part) else 0


def _known(data: memoryview, allowed: Mapping[int, int], what: str) -> Iterator[wire.Field]:
    """The fields of a message whose fields are all known; an unknown one means damage."""
    for part in wire.fields(data):
        if allowed.get(part.number) != part.wire_type:
            raise Damaged(
                f"corrupt at byte {part.tag} of {what}:"
                f" field {part.number} of wire type {part.wire_type} is no part of it"
            )
        yield part
