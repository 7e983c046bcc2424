"""What every diagnosis makes its report of: figures, tables, and words for several things."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from tpudiag.prediction.times import Range
from tpudiag.report_figures import Measurement, Series, Table, Value

Item = TypeVar("Item")
Columns = Mapping[str, Callable[[Item], Value]]
"""The columns of a table, each with its cell of an item."""


class Figures(dict[str, Measurement]):
    """Measurements by name, without those that are not known."""

    def put(
        self,
        name: str,
        value: Value | Range | None,
        unit: str,
        source: str,
        digits: int | None = None,
    ) -> None:
        """Take a figure, where it is known; `digits` behind the point, or all."""
        if isinstance(value, Range):
            low, middle, high = (_cut(end, digits) for end in (value.low, value.value, value.high))
            self[name] = Measurement(middle, unit, source, low, high)
        elif value is not None:
            cut = _cut(value, digits) if isinstance(value, float) else value
            self[name] = Measurement(cut, unit, source)


def _cut(value: float, digits: int | None) -> float:
    return value if digits is None else round(value, digits)


def table(title: str, columns: Columns[Item], items: Iterable[Item], source: str) -> Table:
    """A row for each item."""
    rows = tuple(tuple(cell(item) for cell in columns.values()) for item in items)
    return Table(title, tuple(columns), rows, source)


def roofline(
    name: str,
    points: Sequence[tuple[float, float, str]],
    limit: float | None,
    limit_per_x: float | None,
    source: str,
) -> Iterator[Series]:
    """Operations as points: FLOPs per byte of HBM, TFLOP/s and the name of each."""
    if points:
        x, y, labels = zip(*points, strict=True)
        yield Series(
            kind="roofline",
            name=name,
            x_unit="FLOPs a byte",
            unit="TFLOP/s",
            x=x,
            y=y,
            limit=limit,
            limit_per_x=limit_per_x,
            labels=labels,
            source=source,
        )


def count(number: int, noun: str, nouns: str = "") -> str:
    """`1 host`, `2 hosts`."""
    return f"{number:,} {noun if number == 1 else nouns or noun + 's'}"


def listed(things: Sequence[str], most: int, separator: str = ", ") -> str:
    """`a, b and 3 more`."""
    more = f" and {len(things) - most} more" if len(things) > most else ""
    return separator.join(things[:most]) + more
