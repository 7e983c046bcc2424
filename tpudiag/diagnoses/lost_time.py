"""Where a job's time went, and its cost: table, figures and timeline of the ledger."""

from collections.abc import Iterator
from dataclasses import dataclass

from tpudiag.diagnoses.report_parts import Figures
from tpudiag.monitoring.ledger import Account, TimeUse
from tpudiag.report_figures import Series, Table, Value

MOST_POINTS = 240
SOURCE = "the recordings' own clocks"


@dataclass(frozen=True)
class Price:
    """The price of a chip-hour, and a worker's number of chips."""

    per_chip_hour: float
    chips: int = 1

    def of(self, seconds: float) -> float:
        """The cost of a worker's time."""
        return seconds / 3_600 * self.per_chip_hour * self.chips


def table(account: Account, price: Price | None, source: str) -> Table:
    """Each use of the time with its share, and its cost where known."""
    total_s = account.total_s
    # Less than 0.05 s would be shown as 0.0 s.
    uses = [use for use in TimeUse if account.spent.get(use, 0.0) >= 0.05]
    rows: list[tuple[Value, ...]] = []
    # Steps always come first: everything else is compared with them.
    for use in sorted(uses, key=lambda one: (one is not TimeUse.STEPS, -account.spent[one])):
        seconds = account.spent[use]
        money = (f"{price.of(seconds):,.2f}",) if price is not None else ()
        rows.append((use.value, duration(seconds), f"{seconds / total_s:.1%}", *money))
    columns = ("what", "time", "share", *(("cost",) if price is not None else ()))
    return Table("Where the time went", columns, tuple(rows), source)


def measurements(account: Account, price: Price | None, examples: int | None) -> Figures:
    """Goodput, lost time, and money."""
    figures, goodput = Figures(), account.goodput
    if goodput is None:
        return figures
    lost_s = account.total_s - account.spent.get(TimeUse.STEPS, 0.0)
    figures.put("goodput", 100 * goodput, "%", SOURCE, 1)
    figures.put("lost_time_s", lost_s, "s", SOURCE, 1)
    if price is not None:
        cost = price.of(account.total_s)
        figures.put("cost", cost, "money", SOURCE, 2)
        figures.put("cost_of_lost_time", price.of(lost_s), "money", SOURCE, 2)
        each = cost / examples * 1e6 if examples else None
        figures.put("cost_per_million_examples", each, "money", SOURCE, 4)
    return figures


def timeline(account: Account) -> tuple[Series, ...]:
    """Shares of the time by use along the job; minutes are merged for a long one."""
    if not account.minutes:
        return ()
    first, last = min(account.minutes), max(account.minutes)
    # A job of weeks has tens of thousands of minutes, a chart a few hundred pixels.
    width = max((last - first) // MOST_POINTS + 1, 1)
    starts = range(first, last + 1, width)
    shares = _parts(account, first, width)
    parts = [shares.get(start, {}) for start in starts]
    x = tuple(float(start - first) for start in starts)
    return tuple(
        Series(
            kind="ledger",
            name=use.value,
            x_unit="min",
            unit="%",
            x=x,
            y=tuple(round(part.get(use, 0.0), 2) for part in parts),
            source=SOURCE,
        )
        for use in TimeUse
        if any(part.get(use, 0.0) for part in parts)
    )


def lines(account: Account, price: Price | None) -> Iterator[str]:
    """The ledger in a line, for the live view."""
    goodput = account.goodput
    if goodput is None:
        return
    lost = {use: s for use, s in account.spent.items() if use is not TimeUse.STEPS and s >= 1}
    worst = sorted(lost, key=lambda use: -lost[use])[:3]
    largest = ", ".join(f"{use.value} {duration(lost[use])}" for use in worst)
    money = f"; lost {price.of(sum(lost.values())):,.2f}" if price is not None else ""
    yield f"{goodput:.1%}" + (f" ({largest}{money})" if largest else "")


def duration(seconds: float) -> str:
    """`3.2 s`, `4 min 10 s` or `2 h 5 min`."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def _parts(account: Account, first: int, width: int) -> dict[int, dict[TimeUse, float]]:
    """Percent of the time in each group of `width` minutes, by its first minute.

    Sparse: where a clock was wrong, years may lie between two minutes.
    """
    spent: dict[int, dict[TimeUse, float]] = {}
    for minute, uses in account.minutes.items():
        kept = spent.setdefault(minute - (minute - first) % width, {})
        for use, seconds in uses.items():
            kept[use] = kept.get(use, 0.0) + seconds
    return {
        start: {use: 100 * seconds / total_s for use, seconds in uses.items()}
        for start, uses in spent.items()
        if (total_s := sum(uses.values()))
    }
