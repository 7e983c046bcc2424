"""Reads chosen stats of many events at once."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tpudiag.sources.profile.events import Events, Ints, Words, next_stat, numbers

FAR = 1 << 62
UINT, INT, REF = 0x18, 0x20, 0x38
"""Tags of the values that are varints: uint64_value, int64_value, ref_value."""
DOUBLE = np.uint64(0x11)
"""The tag of double_value."""
TEXT = np.uint64(0x2A)
"""The tag of str_value."""


class Found(NamedTuple):
    """A stat of some events: their indices, its id, the tag of its value, and the value."""

    events: Ints
    ids: Ints
    tags: Ints
    values: Ints


def whole_numbers(events: Events, wanted: Collection[int] | None = None) -> Iterator[Found]:
    """All stats that hold a whole number or a reference, the first of each event first.

    `wanted` are the ids asked for, None all of them. Numbers of more than 56 bits (addresses,
    hashes) are left out.
    """
    index = np.flatnonzero(events.stats_from < events.stats_to)
    at, ends = events.stats_from[index], events.stats_to[index]
    words = events.words
    while len(index):
        after, _ = next_stat(words, at)
        ids, value_at = _head(words, at)
        plain = value_at < after
        if wanted is not None:
            plain &= np.logical_or.reduce([ids == id_ for id_ in wanted])
        if plain.any():
            yield from _values(words, value_at[plain], index[plain], ids[plain])
        more = np.flatnonzero(after < ends)
        index, at, ends = index[more], after[more], ends[more]


def texts(events: Events, ids: Mapping[str, int | None]) -> dict[str, dict[int, str]]:
    """The strings of the stats with these ids, by name and by the index of the event.

    TensorFlow 2.4 to 2.8 wrote them out in each event (str_value); later ones refer to them.
    """
    wanted = {id_: name for name, id_ in ids.items() if id_ is not None}
    by_name: dict[str, dict[int, str]] = {name: {} for name in ids}
    known: dict[tuple[int, int, int], str] = {}
    index = np.flatnonzero(events.stats_from < events.stats_to)
    at, ends = events.stats_from[index], events.stats_to[index]
    words = events.words
    while wanted and len(index):
        after, _ = next_stat(words, at)
        stat_ids, value_at = _head(words, at)
        plain = value_at < after
        plain &= np.logical_or.reduce([stat_ids == id_ for id_ in wanted])
        plain[plain] = (words[value_at[plain]] & np.uint64(0xFF)) == TEXT
        sizes, width = numbers(words[value_at[plain] + 1])
        begin = value_at[plain] + 1 + width
        good = (width > 0) & (begin + sizes == after[plain])
        for event, id_, start, size in zip(
            index[plain][good].tolist(), stat_ids[plain][good].tolist(),
            begin[good].tolist(), sizes[good].tolist(), strict=True,
        ):  # fmt: skip
            by_name[wanted[id_]][event] = _text(words, start, size, known)
        more = np.flatnonzero(after < ends)
        index, at, ends = index[more], after[more], ends[more]
    return by_name


def fractions(events: Events, id_: int | None) -> NDArray[np.float64]:
    """The double_value of the stat with this id, one for each event; NaN where it is not set."""
    found = np.full(len(events), np.nan)
    index = np.flatnonzero(events.stats_from < events.stats_to)
    at, ends = events.stats_from[index], events.stats_to[index]
    words = events.words
    while id_ is not None and len(index):
        after, _ = next_stat(words, at)
        stat_ids, value_at = _head(words, at)
        plain = (value_at < after) & (stat_ids == id_)
        plain[plain] = (words[value_at[plain]] & np.uint64(0xFF)) == DOUBLE
        found[index[plain]] = words[value_at[plain] + 1].view(np.float64)
        more = np.flatnonzero(after < ends)
        index, at, ends = index[more], after[more], ends[more]
    return found


def _text(words: Words, start: int, size: int, known: dict[tuple[int, int, int], str]) -> str:
    """The string of `size` bytes at a position; the same few stand in every event."""
    key = (size, int(words[start]), int(words[start + size - 8])) if 8 <= size <= 16 else None
    if key is not None and key in known:
        return known[key]
    chunks = words[start : start + size : 8].tolist()
    text = b"".join(c.to_bytes(8, "little") for c in chunks)[:size].decode("utf-8", "replace")
    if key is not None:
        known[key] = text
    return text


def _head(words: Words, at: Ints) -> tuple[Ints, Ints]:
    """The id of each stat, and where the tag of its value lies; -1 and far away for odd ones."""
    head = words[at]
    short = (head & np.uint64(0x80FF8000)) == np.uint64(0x00080000)
    ids = ((head >> np.uint64(24)) & np.uint64(0x7F)).astype(np.int64)
    value_at = at + 4
    if not short.all():
        odd = np.flatnonzero(~short)
        content = at[odd] + 2 + ((head[odd] & np.uint64(0x8000)) != 0)
        long_ids, width = numbers(words[content] >> np.uint64(8))
        good = ((words[content] & np.uint64(0xFF)) == 8) & (width > 0)
        ids[odd] = np.where(good, long_ids, -1)
        value_at[odd] = np.where(good, content + 1 + width, FAR)
    return ids, value_at


def _values(words: Words, at: Ints, index: Ints, ids: Ints) -> Iterator[Found]:
    """The values at some tags, of those that are whole numbers."""
    tags = (words[at] & np.uint64(0xFF)).astype(np.int64)
    values, size = numbers(words[at + 1])
    good = ((tags == UINT) | (tags == INT) | (tags == REF)) & (size > 0)
    if good.all():
        yield Found(index, ids, tags, values)
    elif good.any():
        yield Found(index[good], ids[good], tags[good], values[good])


def named(
    events: Events, ids: Mapping[str, int | None]
) -> dict[str, tuple[Ints, NDArray[np.bool_]]]:
    """The values of the stats with these ids, by name: one for each event, and where it is set."""
    count = len(events)
    wanted = {id_: name for name, id_ in ids.items() if id_ is not None}
    columns = {name: (np.zeros(count, np.int64), np.zeros(count, np.bool_)) for name in ids}
    for some in whole_numbers(events, wanted) if wanted else ():
        for id_, name in wanted.items():
            here = some.ids == id_
            if len(here) == count and here.all():
                columns[name] = (some.values, np.ones(count, np.bool_))
            elif here.any():
                values, known = columns[name]
                values[some.events[here]] = some.values[here]
                known[some.events[here]] = True
    return columns
