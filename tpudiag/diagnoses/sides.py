"""The two sides of a comparison: saved reports or profiles, read and compared."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tpudiag import report_json
from tpudiag.diagnoses import changes, comparison, profile
from tpudiag.diagnoses.changes import Change
from tpudiag.errors import NothingDiagnosed
from tpudiag.model import Report
from tpudiag.phases import OnPhase
from tpudiag.records import dataclass
from tpudiag.settings import Settings


@dataclass(frozen=True)
class Comparison:
    """The result: what was compared, the report, and its changes."""

    names: comparison.Names
    sides: comparison.Sides
    report: Report
    changes: Sequence[Change]


def loaded(
    path: str, engine: str, settings: Settings, on_phase: OnPhase, xprof: Sequence[str]
) -> Report:
    """A saved report (`.json`), or a profile's, linked to an XProf at one of the addresses.

    Raises UnreadableInput.
    """
    if path.endswith(".json"):
        return report_json.load(path)
    # XProf is linked but not queried: its own figures are not compared.
    request = profile.ProfileRequest(path=path, engine=engine, xprof_limit_s=0, xprof=tuple(xprof))
    report = profile.diagnose(request, settings, on_phase)
    if report.interrupted:
        raise KeyboardInterrupt
    return report


def compared_runs(
    sides: tuple[Sequence[str | Path | Report], Sequence[str | Path | Report]],
    engine: str,
    settings: Settings,
    on_phase: OnPhase,
    *,
    limit: float,
    across_hardware: bool,
    xprof: Sequence[str] = (),
) -> Comparison:
    """Compare given reports, or read the sides first; raises as `compared` does."""
    before, after = (
        tuple(
            run if isinstance(run, Report) else loaded(str(run), engine, settings, on_phase, xprof)
            for run in side
        )
        for side in sides
    )
    first, second = (
        [run.subject.name if isinstance(run, Report) else str(run) for run in side]
        for side in sides
    )
    return compared((first, second), (before, after), limit=limit, across_hardware=across_hardware)


def compared(
    names: comparison.Names,
    sides: comparison.Sides,
    *,
    limit: float = comparison.DEFAULT_LIMIT,
    across_hardware: bool = False,
) -> Comparison:
    """Both sides, one or more runs each; `limit` is the share above which a change regressed.

    Raises NothingDiagnosed where the hardware differs and the request does not allow that.
    """
    before, after = sides
    across = changes.other_hardware(before, after)
    if across and not across_hardware:
        raise NothingDiagnosed(
            f"A and B ran on different hardware ({across}): their times do not compare; "
            "--across-hardware compares what is a share of each chip's peak"
        )
    differences = changes.changes(before, after, bool(across))
    report = comparison.report(names, sides, differences, limit, across)
    return Comparison(names, sides, report, differences)


def gated(made: Comparison, limit: float, *, strict: bool) -> tuple[Report, str | None]:
    """The comparison as a gate: its report with the verdict; and a line where that is not obvious.

    `strict` closes it also where too few steps decide. Raises NothingDiagnosed where no common
    figure can regress.
    """
    if not any(change.worse is not None for change in made.changes):
        raise NothingDiagnosed(
            f"{' '.join(made.names[0])} and {' '.join(made.names[1])} share no figure that "
            "could regress (step time, throughput, MXU utilisation, peak memory, the TPU "
            "compiler's figures)"
        )
    if lost := changes.lost(*made.sides):
        said = f"{' '.join(made.names[1])} does not tell {', '.join(lost)}"
        return replace(made.report, regressed=True), said
    untested = comparison.unsure(made.changes, limit)
    regressed = any(change.regressed(limit) for change in made.changes)
    return replace(made.report, regressed=regressed or bool(strict and untested)), untested


def held_against(
    baseline: Report, name: str, report: Report, limit: float | None
) -> tuple[Report, str]:
    """The gate of `check --baseline`: a report compared with an earlier one of the same job.

    It has its changes and the verdict, which is a line besides; without a limit the gate is open.
    """
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
    return with_changes, verdict
