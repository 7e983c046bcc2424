"""What the host takes between the steps of a loop."""

from tpudiag.model import Location


class StepGaps:
    """Of each step but those that compiled: from the end of the one before, and its own time."""

    def __init__(self) -> None:
        self.pairs_ms: list[tuple[float, float]] = []
        self._last_end: float | None = None
        self._lines: set[Location | None] = set()
        """Those of the job's that called a step."""

    def stepped(self, began: float, ended: float, at: Location | None, compiled: bool) -> None:
        """A step ran; what lies before the first call of a line is no loop's."""
        if self._last_end is not None and at in self._lines and not compiled:
            self.pairs_ms.append(((began - self._last_end) * 1e3, (ended - began) * 1e3))
        self._lines.add(at)

    def looked(self, seconds: float) -> None:
        """A look of ours took so long before a step."""
        if self._last_end is not None:
            self._last_end += seconds

    def over(self, now: float) -> None:
        """All that we do after a step is done."""
        self._last_end = now
