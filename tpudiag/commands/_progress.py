"""Progress of long work on stderr: a spinner or bar on a terminal, a line per phase elsewhere."""

import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from time import monotonic

from tpudiag.phases import OnPhase, Phase
from tpudiag.printing import say
from tpudiag.sanitized import one_line

WAITING = "tpu: "
"""The prefix of phases that wait for the TPU, which may take long and fail."""
LEAST_S = 2.0
"""Shorter phases get no line of their own."""
STILL_S = 20.0
"""A phase that takes longer is announced before it ends."""


@contextmanager
def progress(quiet_off_terminal: bool = False) -> Generator[OnPhase]:
    """Show each phase with its elapsed time; as lines off a terminal, for CI logs."""
    if sys.stderr.isatty():
        with _bar() as on_phase:
            yield on_phase
    elif quiet_off_terminal:
        yield lambda _: None
    else:
        lines = _Lines()
        try:
            yield lines.show
        finally:
            lines.end()


class _Lines:
    """A line for each longer phase, with its seconds; phases come from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._phase = self._plain = ""
        self._began = monotonic()
        self._still: threading.Timer | None = None

    def show(self, phase: str) -> None:
        """Begin a phase, which ends the previous one; a repeated one only updates its count."""
        with self._lock:
            if self._plain == str(phase) and isinstance(phase, Phase):
                self._phase = _words(phase)
                return
            self._close()
            self._plain, self._phase, self._began = str(phase), _words(phase), monotonic()
            if phase.startswith(WAITING):
                say(self._phase)
            self._still = threading.Timer(STILL_S, self._say_still, [self._plain])
            self._still.daemon = True
            self._still.start()

    def end(self) -> None:
        """End the last phase."""
        with self._lock:
            self._close()

    def _close(self) -> None:
        if self._still is not None:
            self._still.cancel()
        took_s = monotonic() - self._began
        if self._phase and took_s >= LEAST_S:
            say(f"{self._phase}: {took_s:.1f} s")
        self._phase = self._plain = ""

    def _say_still(self, phase: str) -> None:
        with self._lock:
            if phase == self._plain:
                say(f"{self._phase}: {STILL_S:.0f} s so far")


def _words(phase: str) -> str:
    waiting = phase.removeprefix(WAITING)
    words = f"waiting for the TPU ({waiting})" if waiting != phase else str(phase)
    how_far = phase.how_far if isinstance(phase, Phase) else ""
    return f"{words} ({how_far})" if how_far else words


@contextmanager
def _bar() -> Generator[OnPhase]:
    """A spinner with the elapsed time; a bar while a phase has a total."""
    # Imported only for a terminal, since it would slow down the start of every verb.
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    counted = (BarColumn(bar_width=20), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    ) as shown:
        task = shown.add_task("starting", total=None)

        def on_phase(phase: str) -> None:
            total = phase.total if isinstance(phase, Phase) else None
            plain = shown.columns[:3]
            shown.columns = (*plain, *counted) if total is not None else plain
            done = getattr(phase, "done", None) or 0
            words = one_line(_words(str(phase)))
            # File and program names may contain brackets, which are rich's markup.
            shown.update(task, description=escape(words), total=total, completed=done)

        yield on_phase
