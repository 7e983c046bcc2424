"""Finds events in bytes by vectors: ids, times and where the stats lie.

Bytes are searched for what can be the start of an event (the tag, a length, a metadata id, an
offset: no other message of an XSpace begins so). The walk in `events` decides whether a candidate
counts, since it knows where the previous event ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from tpudiag.records import dataclass
from tpudiag.sources.profile.varints import Ints, Words, numbers

EVENT_TAG, STAT_TAG = 0x22, 0x22
ID_TAG, OFFSET_TAG = 0x08, 0x10
"""Of an event's metadata id and offset."""
_U = tuple(np.uint64(n) for n in range(65))
_BYTE, _LOW, _MARK = np.uint64(0xFF), np.uint64(0x7F), np.uint64(0x80)
_SECOND, _TOP = np.uint64(0x8000), np.uint64(0xFF << 56)


@dataclass(frozen=True)
class Events:
    """Events of one window: parallel vectors, times in ps since the line's own start."""

    words: Words
    """The eight bytes at every position; the stats' positions index into it."""
    ids: Ints
    offsets: Ints
    durations: Ints
    stats_from: Ints
    stats_to: Ints

    def __len__(self) -> int:
        return len(self.ids)

    def chosen(self, which: NDArray[np.bool_] | Ints | slice) -> Events:
        """The events at some indices, in a range, or where a mask is true."""
        columns = (self.ids, self.offsets, self.durations, self.stats_from, self.stats_to)
        return Events(self.words, *(column[which] for column in columns))


def joined(parts: Sequence[tuple[Events, int]]) -> Events:
    """Events of lines that were decoded together, each with its line's start, in one object."""
    columns = (
        (part.ids, part.offsets + begin, part.durations, part.stats_from, part.stats_to)
        for part, begin in parts
    )
    return Events(parts[0][0].words, *map(np.concatenate, zip(*columns, strict=True)))


class Fitting(NamedTuple):
    """Events that fit the pattern, with where each starts and where the next one would."""

    events: Events
    starts: Ints
    ends: Ints

    def chosen(self, which: NDArray[np.bool_]) -> Fitting:
        """Those where a mask is true."""
        if which.all():
            return self
        return Fitting(self.events.chosen(which), self.starts[which], self.ends[which])


def words_of(bytes_: NDArray[np.uint8]) -> Words:
    """The eight bytes at every position."""
    return cast(Words, np.ndarray((len(bytes_) - 7,), "<u8", bytes_.data, 0, (1,)))


def fitting(bytes_: NDArray[np.uint8], size: int, remaining: int) -> Fitting:
    """The events whose every byte fits the pattern, among those that start below `size`."""
    words = words_of(bytes_)
    starts, ids, at, ends = _begun(_candidates(bytes_, size), words)
    inside = (at < ends) & (ends <= remaining)
    starts, ids, at, ends = starts[inside], ids[inside], at[inside], ends[inside]
    offsets, width = numbers(words[at])
    whole = width > 0
    at += width
    head = words[at]
    # Proto3 writes no zero: an event without a length has no duration field at all.
    timed = ((head & _BYTE) == _U[0x18]) & (at < ends)
    # The duration starts one byte on; a shift would lose its ninth byte, so that comes from the
    # word at the next position.
    durations, width = numbers((head >> _U[8]) | (words[at + 1] & _TOP))
    whole &= ~timed | (width > 0)
    durations = np.where(timed, durations, 0)
    at += np.where(timed, width + 1, 0)
    whole &= _stats_end_at(words, at, np.where(whole, ends, at))
    return Fitting(Events(words, ids, offsets, durations, at, ends), starts, ends).chosen(whole)


def _candidates(bytes_: NDArray[np.uint8], size: int) -> Ints:
    """Where an event may start: its tag, the id's tag behind the length, then the offset's tag.

    Compares sixteen bytes at a time, which is cheaper than to look for each tag alone.
    """
    # An id has one to three bytes, and a length one or two.
    offset = bytes_[4 : size + 8] == OFFSET_TAG
    with_id = offset[:-2] | offset[1:-1]
    with_id[:-1] |= offset[2:-1]
    with_id = with_id[: size + 1]
    with_id &= bytes_[2 : size + 3] == ID_TAG
    starts = bytes_[:size] == EVENT_TAG
    starts &= with_id[:-1] | with_id[1:]
    return np.flatnonzero(starts)


def _begun(starts: Ints, words: Words) -> tuple[Ints, Ints, Ints, Ints]:
    """The candidates: start, id, position of the offset, and end."""
    head = words[starts + 1]
    long = (head & _MARK) != 0
    after = np.where(long, head >> _U[16], head >> _U[8])
    # The last byte of the metadata id has no continuation bit, and the offset's tag follows it.
    one = (after & np.uint64(0xFF80FF)) == np.uint64(0x100008)
    two = (after & np.uint64(0xFF8080FF)) == np.uint64(0x10008008)
    three = (after & np.uint64(0xFF808080FF)) == np.uint64(0x1000808008)
    which = np.flatnonzero(one | two | three)
    starts, head, after, long = starts[which], head[which], after[which], long[which]
    two, three = two[which], three[which]
    length = np.where(long, (head & _LOW) | ((head >> _U[1]) & np.uint64(0x3F80)), head & _LOW)
    ids = (after >> _U[8]) & _LOW
    ids |= np.where(two | three, (after >> _U[9]) & np.uint64(0x3F80), _U[0])
    ids |= np.where(three, (after >> _U[10]) & np.uint64(0x1FC000), _U[0])
    content = starts + 2 + long
    ends = content + length.view(np.int64)
    # A length of three bytes: larger than LONGEST, so it is parsed alone.
    ends[long & ((head & _SECOND) != 0)] = -1
    return starts, ids.view(np.int64), content + 3 + two + 2 * three, ends


def _stats_end_at(words: Words, at: Ints, ends: Ints) -> NDArray[np.bool_]:
    """Whether stats, and nothing else, fill the bytes from `at` to the end of each event."""
    good: NDArray[np.bool_] = at == ends
    index = np.flatnonzero(at < ends)
    at, ends = at[index], ends[index]
    while len(index):
        at, is_stat = next_stat(words, at)
        good[index[is_stat & (at == ends)]] = True
        more = np.flatnonzero(is_stat & (at < ends))
        index, at, ends = index[more], at[more], ends[more]
    return good


def next_stat(words: Words, at: Ints) -> tuple[Ints, NDArray[np.bool_]]:
    """Where the stats at some positions end, and whether they are stats at all."""
    head = words[at]
    is_stat = (head & _BYTE) == _U[STAT_TAG]
    long = (head & _SECOND) != 0
    # Nearly all stats are shorter than 128 bytes: one comparison saves the work of both lengths.
    if not long.any():
        return at + (2 + ((head >> _U[8]) & _LOW).view(np.int64)), is_stat
    is_stat &= ~long | ((head & np.uint64(0x800000)) == 0)
    size = ((head >> _U[8]) & _LOW) | np.where(long, (head >> _U[9]) & np.uint64(0x3F80), _U[0])
    return at + 2 + long + size.view(np.int64), is_stat
