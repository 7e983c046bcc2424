"""Operations that grew between two programs of the TPU compiler, with their lines."""

import re
from collections.abc import Iterator

from tpudiag.diagnoses.report_parts import Columns, table
from tpudiag.model import Location, Report
from tpudiag.records import dataclass
from tpudiag.report_figures import OperationFigures, StepPrediction, Table

KEPT = 10
LEAST = 0.001
"""The least growth of an operation worth a row, as a share of the whole program's figure."""
UNITS = {
    "cycles": "cycles",
    "flops": "FLOP",
    "hbm_bytes": "B through HBM",
    "collective_bytes": "B over links",
    "result_bytes": "B in HBM",
}
FOLLOWS = re.compile(
    r"(.*/)?(gradient_tape|transpose\(jvp)\b.*"
    r"|.*\b(Assign(Add|Sub)?VariableOp|ResourceApply\w*)(_\d+)?"
    r"|.+/(\w*AllReduce|CrossReplicaSum)(_\d+)?"
)
"""Gradients, their exchange and the optimizer's updates, which grow along with their cause."""
WEIGHT_OF_WHAT_FOLLOWS, WEIGHT_WITHOUT_A_LINE = 0.1, 0.02
"""A following operation ranks below a cause that grew a tenth as much."""


@dataclass(frozen=True, kw_only=True)
class Growth:
    """The growth of one figure of an operation, per example."""

    target: str
    operation: str
    location: Location | None
    figure: str
    before: float
    after: float
    share: float
    """As a share of the whole program's figure before."""

    @property
    def weight(self) -> float:
        """Its share, reduced where it probably only follows from another change."""
        if self.location is None:
            return WEIGHT_WITHOUT_A_LINE * self.share
        return self.share * (WEIGHT_OF_WHAT_FOLLOWS if FOLLOWS.fullmatch(self.operation) else 1.0)


COLUMNS: Columns[Growth] = {
    "target": lambda g: g.target,
    "operation": lambda g: g.operation,
    "line": lambda g: str(g.location or ""),
    "figure": lambda g: UNITS[g.figure],
    "A": lambda g: round(g.before),
    "B": lambda g: round(g.after),
    "of the whole": lambda g: f"{g.share:+.1%}",
}


def grown(before: Report, after: Report) -> tuple[Growth, ...]:
    """The operations that grew, on each target in both reports.

    Causes come before what follows from them, each sorted by growth.
    """
    left = {step.target: step for step in before.predictions}
    growths = [
        growth
        for step in after.predictions
        if step.target in left
        for growth in _of_step(left[step.target], step)
    ]
    return tuple(sorted(growths, key=lambda g: (-g.weight, g.operation, g.figure)))


def _of_step(before: StepPrediction, after: StepPrediction) -> Iterator[Growth]:
    """One row per operation: its figure that grew most."""
    old = {each.operation: each for each in before.operations}
    # Per example: twice the batch takes twice of nearly everything, which is no growth.
    more = before.batch_per_replica / after.batch_per_replica
    whole = {name: sum(_value(o, name) for o in before.operations) or 1.0 for name in UNITS}
    for each in after.operations:
        rows = [
            Growth(
                target=after.target,
                operation=each.operation,
                location=each.location,
                figure=name,
                before=was,
                after=now,
                share=(now - was) / whole[name],
            )
            for name in UNITS
            for was in [_value(old.get(each.operation), name)]
            # Gradients are exchanged once per step, whatever the batch.
            for now in [_value(each, name) * (more if name != "collective_bytes" else 1.0)]
        ]
        # One figure per operation: cycles, FLOPs and bytes grow together.
        worst = max(rows, key=lambda row: row.share)
        if worst.share >= LEAST:
            yield worst


def _value(operation: OperationFigures | None, figure: str) -> float:
    return 0.0 if operation is None else float(getattr(operation, figure))


def tables(before: Report, after: Report) -> Iterator[Table]:
    """The operations that grew, as tables."""
    if rows := grown(before, after)[:KEPT]:
        yield table("What grew in the program", COLUMNS, rows, "TPU compiler, both reports")


def notes(before: Report, after: Report) -> Iterator[str]:
    """The worst of them in a sentence, and a different batch."""
    left = {step.target: step.batch_per_replica for step in before.predictions}
    for step in after.predictions:
        batch = left.get(step.target, step.batch_per_replica)
        if batch != step.batch_per_replica:
            yield (
                f"The per-replica batch on {step.target} was {batch} and is "
                f"{step.batch_per_replica}."
            )
    worst = next(iter(grown(before, after)), None)
    if worst is not None:
        at = f" ({worst.location})" if worst.location else ""
        yield (
            f"Most grew {worst.operation}{at}: {worst.before:,.0f} to {worst.after:,.0f} "
            f"{UNITS[worst.figure]} ({worst.share:+.1%} of the whole)."
        )
