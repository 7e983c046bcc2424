"""Merges the checks' outcomes of several workers."""

from collections.abc import Sequence
from dataclasses import replace

from tpudiag.model import Evidence, Outcome, Verdict

WORST = (Verdict.FAILED, Verdict.BROKEN, Verdict.SKIPPED, Verdict.PASSED)
"""The worst verdict counts for all: passed only where all passed."""


def merged(workers: Sequence[tuple[str, bool, tuple[Outcome, ...]]]) -> tuple[Outcome, ...]:
    """The workers' outcomes (name, whether its run is over, outcomes) as the job's.

    A run that ended before it could be judged does not count against the others.
    """
    if len(workers) == 1:
        return workers[0][2]
    together = zip(*(outcomes for _, _, outcomes in workers), strict=True)
    over = [ended for _, ended, _ in workers]
    names = [name for name, _, _ in workers]
    return tuple(_merged(names, over, outcomes) for outcomes in together)


def _merged(names: Sequence[str], over: Sequence[bool], outcomes: Sequence[Outcome]) -> Outcome:
    judged = [
        (name, outcome)
        for name, ended, outcome in zip(names, over, outcomes, strict=True)
        if not (ended and outcome.verdict is Verdict.SKIPPED)
        # Where all have ended, their outcomes are all there is.
    ] or list(zip(names, outcomes, strict=True))
    verdict = next(v for v in WORST if any(outcome.verdict is v for _, outcome in judged))
    same = [(name, outcome) for name, outcome in judged if outcome.verdict is verdict]
    reasons = [f"{name}: {outcome.reason}" for name, outcome in same if outcome.reason]
    causes = {outcome.reason for _, outcome in same}
    # A reason common to all workers is given once, without their names.
    alike = len(causes) == 1 and len(same) == len(judged)
    return replace(
        same[0][1],
        reason=same[0][1].reason if alike else "; ".join(reasons) or None,
        how_to_measure=same[0][1].how_to_measure if alike else None,
        findings=tuple(
            replace(
                finding,
                message=f"{name}: {finding.message}",
                evidence=tuple(_named(name, evidence) for evidence in finding.evidence),
            )
            for name, outcome in same
            for finding in outcome.findings
        ),
        evidence=tuple(
            _named(name, evidence) for name, outcome in same for evidence in outcome.evidence
        ),
    )


def _named(name: str, evidence: Evidence) -> Evidence:
    return replace(evidence, name=f"{evidence.name}, {name}")
