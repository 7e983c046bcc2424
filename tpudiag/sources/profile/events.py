"""Decodes the events of a line by vectors: ids, times and where the stats lie.

A window of bytes is searched for what can be the start of an event (the tag, a length, a
metadata id, an offset: no other message of an XSpace begins so), and a candidate counts where
the one before it ends there. So the walk over a window takes a handful of vector operations,
and is as exact as one field after the other: what does not fit the pattern is parsed alone.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from typing import Any, NamedTuple, cast

import numpy as np
from google.protobuf.message import DecodeError
from numpy.typing import NDArray

from tpudiag.records import dataclass
from tpudiag.sources.profile import wire
from tpudiag.sources.profile.schema import message
from tpudiag.sources.profile.varints import Ints, Words, numbers
from tpudiag.sources.profile.wire import Damaged

WINDOW = 1 << 20
LONGEST = 1 << 14
"""An event of the pattern has a length of at most two bytes."""
EVENT_TAG, STAT_TAG = 0x22, 0x22
ID_TAG, OFFSET_TAG = 0x08, 0x10
"""Of an event's metadata id and offset."""
LAST_PS = 1 << 61
"""Times beyond this (26 days) are damage; sums of two stay inside 64 bits."""
_U = tuple(np.uint64(n) for n in range(65))
_BYTE, _LOW, _MARK = np.uint64(0xFF), np.uint64(0x7F), np.uint64(0x80)
_SECOND, _TOP = np.uint64(0x8000), np.uint64(0xFF << 56)


@dataclass(frozen=True, kw_only=True)
class Events:
    """Events of one window: parallel vectors, times in ps since the line's own start."""

    ids: Ints
    offsets: Ints
    durations: Ints
    stats_from: Ints
    stats_to: Ints
    words: Words
    """The eight bytes at every position that the stats' positions count in."""

    def __len__(self) -> int:
        return len(self.ids)

    def chosen(self, which: NDArray[np.bool_] | Ints) -> Events:
        """Those at some indices, or where a mask is true."""
        return Events(
            ids=self.ids[which],
            offsets=self.offsets[which],
            durations=self.durations[which],
            stats_from=self.stats_from[which],
            stats_to=self.stats_to[which],
            words=self.words,
        )


class _Fitting(NamedTuple):
    """Events that fit the pattern, with where each starts and where the next would."""

    events: Events
    starts: Ints
    ends: Ints


class Line:
    """Walks over the bytes of one XLine; what it says of itself is known once it is made."""

    def __init__(self, data: memoryview) -> None:
        self.data = data
        self.name = ""
        self.timestamp_ns = 0
        self.unknown_bytes = 0
        self.events = 0
        self._at = 0
        while self._at < len(data) and data[self._at] != EVENT_TAG:
            self._field()

    def windows(self) -> Iterator[Events]:
        """The events, a window of bytes at a time; raises Damaged. To be asked for once."""
        while self._at < len(self.data):
            for window in self._window():
                self.events += len(window)
                yield window

    def _window(self) -> Iterator[Events]:
        """The events that start in the next window; moves on to the first that does not."""
        first, size = self._at, min(WINDOW, len(self.data) - self._at)
        # Sixteen zeros at the end, so that eight bytes can be read at every position; and LONGEST
        # beyond the window, so that an event that starts in it is whole.
        bytes_ = bytes(self.data[first : first + WINDOW + LONGEST]) + bytes(16)
        fitting = _fitting(np.frombuffer(bytes_, np.uint8), size, len(self.data) - first)
        starts, ends = fitting.starts, fitting.ends
        # Candidates are only bytes that look like an event's start, which may lie inside a string
        # of another. They are events where an unbroken chain of ends and starts leads to them from
        # the start of the window.
        breaks: list[int] = np.flatnonzero(ends[:-1] != starts[1:]).tolist()
        runs: list[Ints] = []
        local = 0
        while local < size:
            index = int(np.searchsorted(starts, local))
            if index < len(starts) and starts[index] == local:
                place = bisect_left(breaks, index)
                last = breaks[place] if place < len(breaks) else len(starts) - 1
                runs.append(np.arange(index, last + 1))
                local = int(ends[last])
            else:
                self._at = first + local
                if (event := self._field()) is not None:
                    yield event
                local = self._at - first
        self._at = first + local
        # The usual window is one chain: no copy of six vectors then.
        if sum(map(len, runs)) == len(starts) > 0:
            yield fitting.events
        elif runs:
            yield fitting.events.chosen(np.concatenate(runs))

    def _field(self) -> Events | None:
        """One field that is no event of the pattern; the event where it is one all the same."""
        data, tag = self.data, self._at
        key, at = wire.varint(data, tag)
        start, end = wire.content(data, key & 7, at, tag)
        if key >> 3 == 0 or end > len(data):
            raise Damaged(f"corrupt: a line is not whole (its byte {tag})")
        self._at = end
        match key:
            # Keys are field << 3 | wire type, as in xplane.proto: name 2, timestamp_ns 3, events 4,
            # display_name 11; id 1, duration_ps 9 and display_id 10 tell nothing here.
            case 0x22:
                return self._odd(bytes(data[start:end]))
            case 0x12:
                self.name = _text(data[start:end])
            case 0x18:
                self.timestamp_ns = _signed(wire.varint(data, start)[0])
                if self.events:
                    # The events before it were already given with another start.
                    raise Damaged("corrupt: a line's start follows its events")
            case 0x5A:
                _text(data[start:end])
            case 0x08 | 0x48 | 0x50:
                pass
            case _ if key >> 3 in (1, 2, 3, 4, 9, 10, 11):
                raise Damaged(f"corrupt: field {key >> 3} of a line has wire type {key & 7}")
            case _:
                self.unknown_bytes += end - tag
        return None

    def _odd(self, data: bytes) -> Events:
        """An event that is written in another way; raises Damaged."""
        event: Any = message("XEvent")()
        try:
            event.ParseFromString(data)
        except (DecodeError, UnicodeDecodeError) as error:
            raise Damaged("corrupt: an event cannot be decoded") from error
        if event.duration_ps < 0:
            raise Damaged(f"corrupt: an event of the line {self.name!r} ends before it starts")
        if max(abs(event.offset_ps), event.duration_ps) > LAST_PS:
            raise Damaged(f"corrupt: absurd times in the line {self.name!r}")
        whole = event.ByteSize()
        event.DiscardUnknownFields()
        self.unknown_bytes += whole - event.ByteSize()
        # Written again in the one form that the vectors read, so that an odd event goes the same
        # way as all others from here on.
        raws = [stat.SerializeToString() for stat in event.stats]
        stats = b"".join(bytes((STAT_TAG, *_length(len(raw)))) + raw for raw in raws)
        values = (event.metadata_id, event.offset_ps, event.duration_ps, 0, len(stats))
        ids, offsets, durations, first, last = np.array(values, np.int64).reshape(5, 1)
        words = _words(np.frombuffer(stats + bytes(16), np.uint8))
        return Events(
            ids=ids,
            offsets=offsets,
            durations=durations,
            stats_from=first,
            stats_to=last,
            words=words,
        )


def _words(bytes_: NDArray[np.uint8]) -> Words:
    """The eight bytes at every position."""
    return cast(Words, np.ndarray((len(bytes_) - 7,), "<u8", bytes_.data, 0, (1,)))


def _fitting(bytes_: NDArray[np.uint8], size: int, remaining: int) -> _Fitting:
    """What is an event of the pattern by all of its bytes, among those that start below `size`."""
    words = _words(bytes_)
    starts, ids, at, ends = _begun(_candidates(bytes_, size), words)
    inside = (at < ends) & (ends <= remaining)
    if not inside.all():
        starts, ids, at, ends = starts[inside], ids[inside], at[inside], ends[inside]
    offsets, width = numbers(words[at])
    whole = width > 0
    at += width
    head = words[at]
    # Proto3 writes no zero: an event without a length has no duration field at all.
    timed = ((head & _BYTE) == _U[0x18]) & (at < ends)
    # The duration starts one byte on; its ninth byte comes from the word at the next position,
    # since a shift alone would lose it.
    durations, width = numbers((head >> _U[8]) | (words[at + 1] & _TOP))
    whole &= ~timed | (width > 0)
    durations = np.where(timed, durations, 0)
    at += np.where(timed, width + 1, 0)
    whole &= _stats_end_at(words, at, np.where(whole, ends, at))
    fitting = Events(
        ids=ids, offsets=offsets, durations=durations, stats_from=at, stats_to=ends, words=words
    )
    if whole.all():
        return _Fitting(fitting, starts, ends)
    return _Fitting(fitting.chosen(whole), starts[whole], ends[whole])


def _candidates(bytes_: NDArray[np.uint8], size: int) -> Ints:
    """Where an event may start: its tag, that of its id behind the length, its offset's behind.

    Bytes are compared sixteen at a time, so this is cheaper than to look at each tag alone.
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
    """What begins as an event: its start, its id, where its offset lies, and its end."""
    head = words[starts + 1]
    long = (head & _MARK) != 0
    after = np.where(long, head >> _U[16], head >> _U[8])
    # The metadata id's last byte has no mark, and the tag of the offset follows it.
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
    """Whether stats, and nothing else, reach from `at` to the end of each event."""
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
    """Where the stats at some positions end, and whether they are stats."""
    head = words[at]
    is_stat = (head & _BYTE) == _U[STAT_TAG]
    long = (head & _SECOND) != 0
    # Nearly all stats are shorter than 128 bytes: one comparison saves the work of both lengths.
    if not long.any():
        return at + (2 + ((head >> _U[8]) & _LOW).view(np.int64)), is_stat
    is_stat &= ~long | ((head & np.uint64(0x800000)) == 0)
    size = ((head >> _U[8]) & _LOW) | np.where(long, (head >> _U[9]) & np.uint64(0x3F80), _U[0])
    return at + 2 + long + size.view(np.int64), is_stat


def _text(data: memoryview) -> str:
    """A string of the file; raises Damaged."""
    try:
        return str(data, "utf-8")
    except UnicodeDecodeError as error:
        raise Damaged("corrupt: text that is not UTF-8") from error


def _signed(value: int) -> int:
    """A varint of 64 bits as the int64 that it stands for."""
    value &= (1 << 64) - 1
    return value - (1 << 64) if value >> 63 else value


def _length(size: int) -> Iterator[int]:
    """A varint."""
    while size > 0x7F:
        yield size & 0x7F | 0x80
        size >>= 7
    yield size
