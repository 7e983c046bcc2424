"""A report compared with an earlier one of the same job: the gate of `check --baseline`."""

from dataclasses import dataclass, replace

from tpudiag.diagnoses import changes, comparison
from tpudiag.model import Report


@dataclass(frozen=True)
class Gated:
    """The report with its changes and the gate's verdict."""

    report: Report
    verdict: str
    """In one line: what regressed, or that nothing did."""


def held_against(baseline: Report, name: str, report: Report, limit: float | None) -> Gated:
    """Compare figures of the compiled program; without a limit the gate stays open."""
    sides = (baseline,), (report,)
    differences = changes.changes(*sides)
    shown = comparison.DEFAULT_LIMIT if limit is None else limit
    made = comparison.report(((name,), ("this run",)), sides, differences, shown, None)
    lost = changes.lost(*sides)
    measured = any(change.worse is not None for change in differences)
    # A figure missing from this run may be the one that regressed: the gate passes only on
    # evidence.
    closes = limit is not None and (
        bool(lost) or not measured or any(change.regressed(limit) for change in differences)
    )
    verdict = made.headline
    if lost:
        verdict = f"This run does not tell {', '.join(lost)}, which {name} does."
    elif not measured:
        verdict = f"{name} and this run share no figure that could regress."
    with_changes = replace(
        report,
        # The first two notes of a comparison say which reports A and B are, which is plain here.
        notes=(*report.notes, f"Against {name}: {verdict}", *made.notes[2:]),
        tables=(*report.tables, *made.tables),
        regressed=closes,
    )
    return Gated(with_changes, verdict)
