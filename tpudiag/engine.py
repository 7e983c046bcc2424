"""Runs checks over signals; one broken check hides no other."""

from collections.abc import Iterable
from dataclasses import replace

from tpudiag import comments
from tpudiag.model import (
    Check,
    Confidence,
    Evidence,
    Finding,
    NotMeasured,
    Outcome,
    Severity,
    Silenced,
    Verdict,
    skipped_reason,
)
from tpudiag.settings import Settings
from tpudiag.signals import Signals

STOOD_IN = "the data was stood in for (--fake-data)"
MODEL_STOOD_IN = "a part of the model is a stand-in of another size (--fake-data)"


def examine(signals: Signals, checks: Iterable[Check], settings: Settings) -> tuple[Outcome, ...]:
    """One outcome for each selected check, in the order given."""
    return tuple(
        _outcome(check, signals, settings) for check in checks if settings.selects(check.id)
    )


def _outcome(check: Check, signals: Signals, settings: Settings) -> Outcome:
    """The verdict of one check: passed only on evidence; what it found stands, however it ends."""
    findings: list[Finding] = []
    evidence: list[Evidence] = []
    if signals.framework not in check.frameworks:
        others = " and ".join(framework.value for framework in check.frameworks)
        return _skipped(check, f"it is about jobs of {others}", f"check a job of {others}")
    # Before it runs: what it would find is a fault of the stand-ins.
    if check.needs_data and signals.stood_in and signals.stand_in_kinds != ("service",):
        return _skipped(check, STOOD_IN, "run where the data is")
    if check.needs_model and "model" in signals.stand_in_kinds:
        return _skipped(check, MODEL_STOOD_IN, "run where the model is")
    ended = _run(check, signals, settings, findings, evidence)
    shown, silenced = _parted(check, findings, settings)
    if shown:
        # Evidence that a finding shows already is not shown twice.
        named = {item.name for finding in shown for item in finding.evidence}
        return replace(
            ended or _ended(check, Verdict.FAILED),
            verdict=Verdict.FAILED,
            severity=max(finding.severity or check.severity for finding in shown),
            findings=tuple(shown),
            evidence=tuple(item for item in evidence if item.name not in named),
            silenced=silenced,
        )
    if silenced:
        quiet = ended or _skipped(check, f"a finding is silenced: {silenced[0].reason}")
        return replace(quiet, silenced=silenced)
    if ended is not None:
        return ended
    if not evidence:
        return _skipped(check, "the check saw nothing to judge")
    # Only NaN differs from itself: a figure that is none proves nothing.
    if unknown := [item.name for item in evidence if item.value != item.value]:
        return _skipped(check, f"{unknown[0]} is not a number")
    return replace(_ended(check, Verdict.PASSED), evidence=tuple(evidence))


def _parted(
    check: Check, findings: Iterable[Finding], settings: Settings
) -> tuple[list[Finding], tuple[Silenced, ...]]:
    """The shown findings, uncertain ones a warning at most, and the silenced."""
    shown: list[Finding] = []
    silenced: list[Silenced] = []
    # One line may be met in two pipelines or functions that it made: it is mended once.
    for finding in {(each.message, each.location): each for each in findings}.values():
        reason = comments.reason_to_ignore(finding.location, check.id)
        if reason is None and finding.confidence is Confidence.LOW and not settings.pedantic:
            reason = "its confidence is low (--pedantic shows it)"
        if reason is not None:
            silenced.append(Silenced(finding, reason))
        elif finding.confidence is Confidence.HIGH:
            shown.append(finding)
        else:
            # An error ends a CI run: what is not sure must not.
            most = min(finding.severity or check.severity, Severity.WARNING)
            shown.append(replace(finding, severity=most))
    return shown, tuple(silenced)


def _run(
    check: Check,
    signals: Signals,
    settings: Settings,
    findings: list[Finding],
    evidence: list[Evidence],
) -> Outcome | None:
    """Run a check into the two lists, which keep what it yielded; its outcome if it failed."""
    limit = settings.limits.get(check.id)
    options = {} if limit is None else {"limit": limit}
    try:
        for item in check.function(signals, **options):
            if isinstance(item, Finding):
                findings.append(item)
            elif isinstance(item, Evidence):  # pyright: ignore[reportUnnecessaryIsInstance]
                evidence.append(item)
            else:
                raise TypeError(f"yielded {item!r}, neither a Finding nor Evidence")
    except NotMeasured as missing:
        return _skipped(check, _bare(missing.reason), _bare(missing.how))
    # What was yielded before it broke is kept: a finding is no less true for it.
    except Exception as error:  # one broken check must hide no other
        return _ended(check, Verdict.BROKEN, f"{type(error).__name__}: {error}")
    return None


def _skipped(check: Check, cause: str, how: str | None = None) -> Outcome:
    return _ended(check, Verdict.SKIPPED, cause, how)


def _ended(
    check: Check, verdict: Verdict, cause: str | None = None, how: str | None = None
) -> Outcome:
    return Outcome(
        id=check.id,
        name=check.name,
        verdict=verdict,
        severity=check.severity,
        reason=skipped_reason(cause, how),
        how_to_measure=how,
    )


def _bare(text: str) -> str:
    return text.strip().removesuffix(".")
