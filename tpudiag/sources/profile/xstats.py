"""Reads selected stats of many events at once."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tpudiag.sources.profile.event_pattern import Events, next_stat
from tpudiag.sources.profile.varints import Ints, Words, numbers

FAR = 1 << 62
UINT, INT, REF = 0x18, 0x20, 0x38
"""Tags of the values that are varints: uint64_value, int64_value, ref_value."""
DOUBLE = np.uint64(0x11)
"""The tag of double_value."""
TEXT = np.uint64(0x2A)
"""The tag of str_value."""
_BYTE, _LOW = np.uint64(0xFF), np.uint64(0x7F)


class Found(NamedTuple):
    """One stat of several events: their indices, its id, its value's tag, and the value."""

    events: Ints
    ids: Ints
    tags: Ints
    values: Ints


class _Heads(NamedTuple):
    """One stat of several events: its id, its value's tag and position, and where it ends."""

    events: Ints
    ids: Ints
    tags: Words
    values_at: Ints
    ends: Ints

    def chosen(self, which: NDArray[np.bool_]) -> _Heads:
        """Those where a mask is true."""
        columns: Any = (column[which] for column in self)
        return self if which.all() else _Heads(*columns)


def whole_numbers(events: Events, wanted: Collection[int]) -> Iterator[Found]:
    """The whole numbers and references in stats of these ids, the first of each event first.

    Numbers of more than 56 bits (addresses, hashes) are left out.
    """
    for heads in _walk(events, wanted):
        tags = heads.tags
        some = heads.chosen((tags == UINT) | (tags == INT) | (tags == REF))
        values, size = numbers(events.words[some.values_at])
        columns = (some.events, some.ids, some.tags.view(np.int64), values)
        yield Found(*(column[size > 0] for column in columns))


def _walk(events: Events, wanted: Collection[int]) -> Iterator[_Heads]:
    """The stats of these ids that hold a value, the first of each event first."""
    index = np.flatnonzero(events.stats_from < events.stats_to)
    at, ends = events.stats_from[index], events.stats_to[index]
    while len(index):
        heads = _heads(events.words, index, at)
        plain = (heads.values_at <= heads.ends) & np.isin(heads.ids, list(wanted))
        if plain.any():
            yield heads.chosen(plain)
        more = heads.ends < ends
        at = heads.ends
        if not more.all():
            index, at, ends = index[more], at[more], ends[more]


def texts(events: Events, ids: Mapping[str, int | None]) -> dict[str, dict[int, str]]:
    """The strings of the stats with these ids, by name and by the index of the event.

    TensorFlow 2.4 to 2.8 wrote them out in each event (str_value); later ones refer to them.
    """
    wanted = {id_: name for name, id_ in ids.items() if id_ is not None}
    by_name: dict[str, dict[int, str]] = {name: {} for name in ids}
    known: dict[tuple[int, int, int], str] = {}
    words = events.words
    for heads in _walk(events, wanted) if wanted else ():
        some = heads.chosen(heads.tags == TEXT)
        sizes, width = numbers(words[some.values_at])
        begin = some.values_at + width
        good = (width > 0) & (begin + sizes == some.ends)
        for event, id_, start, size in zip(
            some.events[good].tolist(),
            some.ids[good].tolist(),
            begin[good].tolist(),
            sizes[good].tolist(),
            strict=True,
        ):
            by_name[wanted[id_]][event] = _text(words, start, size, known)
    return by_name


def fractions(events: Events, id_: int | None) -> NDArray[np.float64]:
    """The double_value of the stat with this id, one for each event; NaN where it is not set."""
    values = np.full(len(events), np.nan)
    for heads in _walk(events, (id_,)) if id_ is not None else ():
        some = heads.chosen(heads.tags == DOUBLE)
        values[some.events] = events.words[some.values_at].view(np.float64)
    return values


def _text(words: Words, start: int, size: int, known: dict[tuple[int, int, int], str]) -> str:
    """The string of `size` bytes at a position, cached: the same few occur in every event."""
    key = (size, int(words[start]), int(words[start + size - 8])) if 8 <= size <= 16 else None
    if key is not None and key in known:
        return known[key]
    chunks = words[start : start + size : 8].tolist()
    text = b"".join(c.to_bytes(8, "little") for c in chunks)[:size].decode("utf-8", "replace")
    if key is not None:
        known[key] = text
    return text


def _heads(words: Words, index: Ints, at: Ints) -> _Heads:
    """The stats at some positions; malformed ones get the id -1, and a value out of range."""
    head = words[at]
    ids = ((head >> np.uint64(24)) & _LOW).view(np.int64)
    tags = (head >> np.uint64(32)) & _BYTE
    values_at = at + 5
    ends, _ = next_stat(words, at)
    odd = np.flatnonzero((head & np.uint64(0x80FF8000)) != np.uint64(0x00080000))
    content = at[odd] + 2 + ((head[odd] & np.uint64(0x8000)) != 0)
    long_ids, width = numbers(words[content] >> np.uint64(8))
    tag_at = content + 1 + width
    good = ((words[content] & _BYTE) == 8) & (width > 0) & (tag_at < ends[odd])
    ids[odd] = np.where(good, long_ids, -1)
    values_at[odd] = np.where(good, tag_at + 1, FAR)
    tags[odd[good]] = words[tag_at[good]] & _BYTE
    return _Heads(index, ids, tags, values_at, ends)


def named(
    events: Events, ids: Mapping[str, int | None]
) -> dict[str, tuple[Ints, NDArray[np.bool_]]]:
    """The values of the stats with these ids, by name: one per event, and where it is set."""
    count = len(events)
    wanted = {id_: name for name, id_ in ids.items() if id_ is not None}
    columns = {name: (np.zeros(count, np.int64), np.zeros(count, np.bool_)) for name in ids}
    for some in whole_numbers(events, wanted) if wanted else ():
        for id_, name in wanted.items():
            here = some.ids == id_
            values, known = columns[name]
            values[some.events[here]] = some.values[here]
            known[some.events[here]] = True
    return columns
