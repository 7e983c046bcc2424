"""The live view: current throughput and baseline, a sparkline, alerts."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tpudiag.diagnoses.lost_time import lines
from tpudiag.diagnoses.watch_session import WatchSession
from tpudiag.diagnoses.watched_figures import job_headline
from tpudiag.printing import say
from tpudiag.sanitized import one_line

if TYPE_CHECKING:
    from rich.console import RenderableType

BARS = "▁▂▃▄▅▆▇█"
SAY_EVERY_S = 60.0


@contextmanager
def view(source: str) -> Generator[Callable[[WatchSession], None]]:
    """Shows a session on stderr: as a live panel on a terminal, a line per minute elsewhere."""
    if not sys.stderr.isatty():
        yield _lines()
        return
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    waiting = Text(one_line(f"waiting for a recording in {source}"), style="dim")
    # Redrawn on news only, which saves a thread beside the sampling one.
    with Live(waiting, console=Console(stderr=True), auto_refresh=False) as live:
        yield lambda session: live.update(panel(session), refresh=True)


def _lines() -> Callable[[WatchSession], None]:
    """Prints alerts at once, and the throughput periodically."""
    said, due = 0, 0.0

    def show(session: WatchSession) -> None:
        nonlocal said, due
        for alert in session.alerts.lines[said:]:
            say(f"alert: {alert}")
        said = len(session.alerts.lines)
        if time.monotonic() >= due:
            due = time.monotonic() + SAY_EVERY_S
            say(job_headline(session.job))

    return show


def panel(session: WatchSession) -> RenderableType:
    """The session as a panel for the terminal."""
    from rich.console import Group
    from rich.panel import Panel
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 2))
    for name, value in _rows(session):
        grid.add_row(Text(one_line(name), style="dim"), Text(one_line(value)))
    parts: list[RenderableType] = [
        Text(one_line(job_headline(session.job)), style="bold"),
        Text(sparkline(session.job.slowest.rates, 60), style="cyan"),
        grid,
    ]
    parts += [Text(one_line(alert), style="bold red") for alert in session.alerts.lines[-5:]]
    return Panel(Group(*parts), title="tpudiag watch", title_align="left", expand=False)


def _rows(session: WatchSession) -> list[tuple[str, str]]:
    """Names and figures, without unmeasured ones."""
    figures = session.job.slowest.figures()
    p50, p90, p99 = figures.step_ms
    rows: list[tuple[str, str]] = []
    if p50 is not None and p90 is not None and p99 is not None:
        rows.append(("step time", f"{p50:,.1f} ms; p90 {p90:,.1f}, p99 {p99:,.1f}"))
    if figures.input_share is not None:
        rows.append(("input wait", f"{figures.input_share:.1%} of step time"))
    if figures.hbm_bytes is not None:
        rows.append(("HBM in use", f"{figures.hbm_bytes / 2**30:,.2f} GiB"))
    if figures.silent_s is not None:
        pausing = f" in a pause for {figures.run.pausing}" if figures.run.pausing else ""
        rows.append(("last step", f"{figures.silent_s:,.0f} s ago{pausing}"))
    rows += [("goodput", line) for line in lines(session.account(), session.price)]
    rows.append((figures.run.unit, f"{figures.steps:,}"))
    if figures.run.lost_steps:
        rows.append(("not recorded", f"{figures.run.lost_steps:,} steps"))
    return rows


def sparkline(rates: Sequence[float], width: int) -> str:
    """The rates as bars from 0 up, each the mean of an equal part."""
    values = list(rates)
    if not values:
        return ""
    width = min(width, len(values))
    parts = [
        values[i * len(values) // width : (i + 1) * len(values) // width] for i in range(width)
    ]
    means = [sum(part) / len(part) for part in parts]
    top = max(means) or 1.0
    # The maximum itself would be one bar beyond the last.
    return "".join(BARS[min(int(mean / top * len(BARS)), len(BARS) - 1)] for mean in means)
