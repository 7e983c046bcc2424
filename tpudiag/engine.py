"""Runs checks over signals; one broken check hides no other."""

from __future__ import annotations

from collections.abc import Iterable

from tpudiag.model import Check, Evidence, Finding, NotMeasured, Outcome, Verdict
from tpudiag.settings import Settings
from tpudiag.signals import Signals


def examine(signals: Signals, checks: Iterable[Check], settings: Settings) -> tuple[Outcome, ...]:
    """One outcome for each selected check, in the order given."""
    return tuple(
        _outcome(check, signals, settings) for check in checks if settings.selects(check.id)
    )


def _outcome(check: Check, signals: Signals, settings: Settings) -> Outcome:
    """The verdict of one check: passed only on evidence."""
    limit = settings.limits.get(check.id)
    options = {} if limit is None else {"limit": limit}
    try:
        said = list(check.function(signals, **options))
    except NotMeasured as missing:
        return _say(check, Verdict.SKIPPED, reason=missing.reason, how=missing.how)
    except Exception as error:  # noqa: BLE001  (a broken check must hide no other)
        return _say(check, Verdict.BROKEN, reason=f"{type(error).__name__}: {error}")
    findings = tuple(item for item in said if isinstance(item, Finding))
    evidence = tuple(item for item in said if isinstance(item, Evidence))
    if findings:
        severity = max(finding.severity or check.severity for finding in findings)
        return Outcome(
            check.id, check.name, Verdict.FAILED, severity, findings=findings, evidence=evidence
        )
    if not evidence:
        return _say(check, Verdict.SKIPPED, reason="the check saw nothing to judge")
    return Outcome(check.id, check.name, Verdict.PASSED, check.severity, evidence=evidence)


def _say(check: Check, verdict: Verdict, reason: str, how: str | None = None) -> Outcome:
    """An outcome without findings."""
    return Outcome(check.id, check.name, verdict, check.severity, reason, how)
