"""Decodes the events of a line by vectors: ids, times and where the stats lie.

A window of bytes is searched for what can be the start of an event (the tag, a length, a
metadata id, an offset: no other message of an XSpace begins so), and a candidate counts where
the one before it ends there. So the walk over a window takes a handful of vector operations,
and is as exact as one field after the other: what does not fit the pattern is parsed alone.
"""

from bisect import bisect_left
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from tpudiag.sources.profile import wire
from tpudiag.sources.profile.event_pattern import EVENT_TAG, Events, Fitting, fitting, words_of
from tpudiag.sources.profile.schema import decoding, message
from tpudiag.sources.profile.varints import Ints
from tpudiag.sources.profile.wire import Damaged

WINDOW = 1 << 20
LONGEST = 1 << 14
"""An event of the pattern has a length of at most two bytes."""
PADDING = bytes(16)
"""Behind a window, so that eight bytes can be read at every position."""
LAST_PS = 1 << 61
"""Times beyond this (26 days) are damage; sums of two stay inside 64 bits."""


class Region:
    """Short lines that follow each other in a file: searched together at the first access."""

    def __init__(self, data: memoryview, start: int, end: int) -> None:
        self._data, self._start, self._end = data, start, end

    @cached_property
    def _whole(self) -> Fitting:
        bytes_ = np.frombuffer(bytes(self._data[self._start : self._end]) + PADDING, np.uint8)
        size = self._end - self._start
        return fitting(bytes_, size, size)

    def within(self, start: int, end: int) -> Fitting:
        """Candidates between two positions of the data, counted from the first."""
        whole, first = self._whole, start - self._start
        low, high = np.searchsorted(whole.starts, (first, end - self._start)).tolist()
        starts, ends = whole.starts[low:high] - first, whole.ends[low:high] - first
        found = Fitting(whole.events.chosen(slice(low, high)), starts, ends)
        return found.chosen(ends <= end - start)


class Line:
    """Walks over the bytes of one XLine; its name, id and start are known once it is made."""

    def __init__(self, data: memoryview, region: Region | None = None, offset: int = 0) -> None:
        """`offset` is the line's position in its region."""
        self.data = data
        self._region, self._offset = region, offset
        self.name = ""
        self.timestamp_ns = 0
        self.unknown_bytes = 0
        self.events = 0
        self._at = 0
        while self._at < len(data) and data[self._at] != EVENT_TAG:
            self._field()

    def windows(self) -> Iterator[Events]:
        """The events, a window of bytes at a time; raises Damaged. Can be iterated once."""
        while self._at < len(self.data):
            for window in self._window():
                self.events += len(window)
                yield window

    def _window(self) -> Iterator[Events]:
        """The events that start in the next window; moves on to the first that does not."""
        first, size = self._at, min(WINDOW, len(self.data) - self._at)
        found = self._fitting(first, size)
        starts, ends = found.starts, found.ends
        # Candidates are bytes that look like an event's start and may lie inside another's string.
        # They are events where an unbroken chain of ends and starts leads to them from the window's
        # start.
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
        # The usual window is one chain: avoid copying six vectors.
        if sum(map(len, runs)) == len(starts) > 0:
            yield found.events
        elif runs:
            yield found.events.chosen(np.concatenate(runs))

    def _fitting(self, first: int, size: int) -> Fitting:
        """Candidates among the events that start in a window."""
        # Short lines are searched together: one numpy call costs more than a whole line's bytes.
        if self._region is not None:
            return self._region.within(self._offset + first, self._offset + len(self.data))
        # LONGEST beyond the window, so that an event that starts in it is whole.
        bytes_ = bytes(self.data[first : first + WINDOW + LONGEST]) + PADDING
        return fitting(np.frombuffer(bytes_, np.uint8), size, len(self.data) - first)

    def _field(self) -> Events | None:
        """One field that does not fit the pattern; the event, where it is one all the same."""
        data, tag = self.data, self._at
        key, at = wire.varint(data, tag)
        start, end = wire.content(data, key & 7, at, tag)
        if key >> 3 == 0 or end > len(data):
            raise Damaged(f"corrupt: a line is not whole (its byte {tag})")
        self._at = end
        match key:
            # Keys are field << 3 | wire type, as in xplane.proto: name 2, timestamp_ns 3, events 4,
            # display_name 11; id 1, duration_ps 9 and display_id 10 are not needed.
            case 0x22:
                return self._odd(bytes(data[start:end]))
            case 0x12:
                self.name = text_of(data[start:end])
            case 0x18:
                value = wire.varint(data, start)[0] & ((1 << 64) - 1)
                self.timestamp_ns = value - (1 << 64) if value >> 63 else value  # an int64
                if self.events:
                    # The events before it were already returned with another start.
                    raise Damaged("corrupt: a line's start follows its events")
            case 0x5A:
                text_of(data[start:end])
            case 0x08 | 0x48 | 0x50:
                pass
            case _ if key >> 3 in (1, 2, 3, 4, 9, 10, 11):
                raise Damaged(f"corrupt: field {key >> 3} of a line has wire type {key & 7}")
            case _:
                self.unknown_bytes += end - tag
        return None

    def _odd(self, data: bytes) -> Events:
        """An event in another encoding; raises Damaged."""
        event: Any = message("XEvent")()
        with decoding("an event cannot be decoded"):
            event.ParseFromString(data)
        if event.duration_ps < 0:
            raise Damaged(f"corrupt: an event of the line {self.name!r} ends before it starts")
        if max(abs(event.offset_ps), event.duration_ps) > LAST_PS:
            raise Damaged(f"corrupt: absurd times in the line {self.name!r}")
        whole = event.ByteSize()
        event.DiscardUnknownFields()
        self.unknown_bytes += whole - event.ByteSize()
        # Encoded again in the one form that the vectors read, so that an odd event takes the same
        # path as all others from here on.
        stats = message("XEvent")(stats=event.stats).SerializeToString()
        values = (event.metadata_id, event.offset_ps, event.duration_ps, 0, len(stats))
        ids, offsets, durations, first, last = np.array(values, np.int64).reshape(5, 1)
        words = words_of(np.frombuffer(stats + bytes(16), np.uint8))
        return Events(words, ids, offsets, durations, first, last)


def text_of(data: memoryview) -> str:
    """Some bytes as text; raises Damaged."""
    with decoding("text that is not UTF-8"):
        return str(data, "utf-8")


class Clock:
    """Puts the lines of a file on one time scale that fits 64 bits of picoseconds."""

    def __init__(self) -> None:
        self._base_ns: int | None = None

    @property
    def since_start(self) -> bool:
        """Whether the profiler wrote times since the capture began, and not since the epoch."""
        return not self._base_ns

    def begin(self, lines: Iterator[Line]) -> None:
        """Set the scale by the first line of all, so that others may be read side by side."""
        if self._base_ns is None and (first := next(lines, None)) is not None:
            self.start_ps(first)

    def start_ps(self, line: Line) -> int:
        """A line's start; raises Damaged where it is weeks away from that of the first line."""
        if self._base_ns is None:
            # Nanoseconds since the epoch are 61 bits: in picoseconds they do not fit 64. Device
            # lines start near 0, and stay as they are.
            self._base_ns = line.timestamp_ns if abs(line.timestamp_ns) * 1000 > LAST_PS else 0
        start = (line.timestamp_ns - self._base_ns) * 1000
        if abs(start) > LAST_PS:
            raise Damaged(f"corrupt: the line {line.name!r} starts at an absurd time")
        return start
