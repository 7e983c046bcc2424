"""A plane's two tables of metadata, which describe its events and stats.

The devices of a run write the same tables in different orders, so the last few are cached: those
of a pod are parsed, and its operations described, once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from tpudiag.sources.profile.schema import decoding, message

KEPT, KEPT_BYTES = 8, 1 << 20
"""How many tables are cached, and up to which size."""


@dataclass(frozen=True, eq=False)
class Tables:
    """The metadata of events and stats by id; shared by all planes that write the same."""

    metadata: Mapping[int, Any] = field(repr=False)
    names: Mapping[int, str] = field(repr=False)
    """Event names by metadata id."""
    stat_names: Mapping[int, str] = field(repr=False)
    """Names of stats, and strings that stats refer to, by metadata id."""
    unknown_bytes: int
    described: dict[int, Any] = field(default_factory=dict[int, Any], repr=False)
    """The operations described so far, by metadata id."""


def tables(events: Sequence[memoryview], stats: Sequence[memoryview]) -> Tables:
    """The tables in these fields of a plane, tags included; raises Damaged."""
    if sum(map(len, events)) + sum(map(len, stats)) > KEPT_BYTES:
        return _made(b"".join((*events, *stats)))
    known = _kept(b"".join(sorted(map(bytes, events))), b"".join(sorted(map(bytes, stats))))
    if len(known.names) == len(events) and len(known.stat_names) == len(stats):
        return known
    return _made(b"".join((*events, *stats)))  # of an id that occurs twice the last one counts


@lru_cache(KEPT)
def _kept(events: bytes, stats: bytes) -> Tables:
    """The tables of fields in a fixed order."""
    return _made(events + stats)


def _made(data: bytes) -> Tables:
    plane = message("XPlane")()
    unknown = parse(plane, data, "a plane")
    return Tables(
        metadata=plane.event_metadata,
        names={key: value.name for key, value in plane.event_metadata.items()},
        stat_names={key: value.name for key, value in plane.stat_metadata.items()},
        unknown_bytes=unknown,
    )


def parse(into: Any, data: bytes, what: str) -> int:
    """Fill a message; the number of bytes in fields that the schema does not know."""
    with decoding(f"{what} cannot be decoded"):
        into.ParseFromString(data)
    into.DiscardUnknownFields()
    known = int(into.ByteSize())
    if known == len(data):
        return 0
    # Another length than what was parsed: unknown fields, or another encoding.
    into.ParseFromString(data)
    return int(into.ByteSize()) - known
