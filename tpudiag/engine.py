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
    """The verdict of one check: passed only on evidence; what it found stands, however it ends."""
    limit = settings.limits.get(check.id)
    options = {} if limit is None else {"limit": limit}
    findings: list[Finding] = []
    evidence: list[Evidence] = []
    ended: tuple[Verdict, str, str | None] | None = None
    try:
        for said in check.function(signals, **options):
            if isinstance(said, Finding):
                findings.append(said)
            elif isinstance(said, Evidence):  # pyright: ignore[reportUnnecessaryIsInstance]
                evidence.append(said)
            else:
                raise TypeError(f"yielded {said!r}, neither a Finding nor Evidence")
    except NotMeasured as missing:
        ended = (Verdict.SKIPPED, _bare(missing.reason), _bare(missing.how))
    except Exception as error:  # one broken check must hide no other
        ended = (Verdict.BROKEN, f"{type(error).__name__}: {error}", None)
    if findings:
        severity = max(finding.severity or check.severity for finding in findings)
        said_already = {item.name for finding in findings for item in finding.evidence}
        return Outcome(
            check.id, check.name, Verdict.FAILED, severity,
            ended and ended[1], ended and ended[2], tuple(findings),
            tuple(item for item in evidence if item.name not in said_already),
        )  # fmt: skip
    if ended:
        return _say(check, *ended)
    if not evidence:
        return _say(check, Verdict.SKIPPED, "the check saw nothing to judge")
    if unknown := [e.name for e in evidence if e.value != e.value]:
        return _say(check, Verdict.SKIPPED, f"{unknown[0]} is not a number")
    return Outcome(check.id, check.name, Verdict.PASSED, check.severity, evidence=tuple(evidence))


def _bare(text: str) -> str:
    """Without its full stop, so that reports can go on from there."""
    return text.strip().removesuffix(".")


def _say(check: Check, verdict: Verdict, reason: str, how: str | None = None) -> Outcome:
    """An outcome without findings."""
    return Outcome(check.id, check.name, verdict, check.severity, reason, how)
