"""One time scale for the lines of a file."""

from collections.abc import Iterator

from tpudiag.sources.profile.events import LAST_PS, Line
from tpudiag.sources.profile.wire import Damaged


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
