"""Whether a rehearsal proves a job's changes, by comparing its report with the one before."""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tpudiag import comments
from tpudiag.diagnoses.changes_of_source import Candidate
from tpudiag.fixes import edits
from tpudiag.model import Evidence, Finding, Location, Outcome, Report, Severity, Verdict
from tpudiag.source_change import Effect, FigureChange

SAME = 1e-3
"""The relative difference up to which two losses of one step count as equal."""
SAME_MEAN = 0.1
"""The relative difference of mean losses that a changed order of data or sums may cause."""
TIMED = frozenset(("TPU201", "TPU210", "TPU406", "TPU503", "TPU603", "TPU604", "TPU606"))
"""Checks that depend on this machine's times: two runs of one job may differ in them."""
GAIN = 1.05
"""From this factor on a rate of input is a gain: less is within a machine's noise."""
REACH = 3
"""A finding within so many lines of its old place counts as the same."""
SHOWN = 3
"""A check with this many findings may have left some out."""
FIGURES = (
    "traces",
    "input_examples_per_second",
    "hbm_need_bytes",
    "compiler_cycles_per_example",
    "predicted_step_ms",
)


@dataclass(frozen=True)
class Judgement:
    """The result of rehearsing some changes."""

    dropped: dict[int, str]
    """Indices of candidates that did not work, and why."""
    trouble: str | None = None
    """An objection to all of them together."""
    losses: str = ""
    losses_differ: bool = False
    """Whether only the losses are the objection."""
    fails_with_it: str = ""
    """The check that fails with them and passed without."""

    @property
    def sound(self) -> bool:
        """Whether all are proven."""
        return not self.dropped and self.trouble is None


def judge(
    before: Report,
    after: Report,
    tried: Sequence[Candidate],
    applied: Sequence[Candidate],
    steady: bool = True,
) -> Judgement:
    """Compare the job with the `applied` changes to that without; `tried` are in question.

    The losses of a job that is not `steady` differ from run to run, and prove nothing.
    """
    if after.partial is not None and _ending(after) != _ending(before):
        return Judgement({}, after.partial)
    if not after.samples:
        return Judgement({}, "the job does not reach a training step any more")
    dropped = {
        number: why
        for number, candidate in enumerate(tried)
        if (why := _remains(candidate, after, applied)) is not None
    }
    fails_with_it, trouble = _new(before, after, applied) or ("", None)
    alike, losses = compared(before, after, [each.change.effect for each in applied])
    if not alike and not steady:
        # tf.data's threads or unordered operations: a difference is no evidence against the change.
        alike, losses = True, "its losses differ from run to run on one seed, and are not compared"
    differ = not alike and trouble is None and not dropped
    against = trouble or (None if alike else losses)
    return Judgement(dropped, against, losses, differ, fails_with_it)


def _ending(report: Report) -> str:
    """How a job ended early, without lines and numbers, which change with every edit."""
    text = re.sub(r" \([^()]*:\d+\)$", "", report.partial or "")
    # A job that crashed at the same place before is no fault of the change.
    return re.sub(r"\d+", "#", text)


def _remains(candidate: Candidate, after: Report, applied: Sequence[Candidate]) -> str | None:
    """Why a change's finding is still there; None where it is gone."""
    outcome = _outcome(after, candidate.id)
    if outcome is None or outcome.verdict is Verdict.PASSED:
        return None
    if outcome.verdict is not Verdict.FAILED:
        cause = outcome.cause or outcome.verdict.value
        return f"{candidate.id} could not be measured any more: {cause}"
    if candidate.finding.location is None or candidate.line is None:
        return "the finding is still there"
    # Changes further up move the lines below: find the old line in the new text.
    line = _moved(candidate, applied)
    for finding in outcome.findings:
        at = _line_in(candidate, finding.location)
        near = at is not None and line <= at <= line + REACH
        # Two findings that differ only in their figures are one.
        if near and _words(finding.message) == _words(candidate.finding.message):
            return "the finding is still there"
    return None


def _words(text: str) -> str:
    return " ".join("".join(c for c in text if not c.isdigit()).split()[:6])


def _moved(candidate: Candidate, applied: Iterable[Candidate]) -> int:
    own = [e for each in applied if each.document is candidate.document for e in each.edits]
    return edits.line_after(candidate.document.source.text, own, candidate.line or 1)


def _line_in(candidate: Candidate, place: Location | None) -> int | None:
    """A location in the changed text of a candidate's document; None where it is in another.

    Cells of a changed notebook begin elsewhere, so a line within a cell is the best available.
    """
    if place is None or place.file != candidate.name:
        return None
    if place.cell is None:
        return place.line
    return candidate.document.line(place)


def _new(before: Report, after: Report, applied: Sequence[Candidate]) -> tuple[str, str] | None:
    """The id and message of a new finding that does not depend on timing."""
    for outcome in after.outcomes:
        # A check that breaks is our defect, not the change's.
        if outcome.verdict is Verdict.BROKEN:
            continue
        if outcome.verdict is not Verdict.FAILED or outcome.id in TIMED:
            continue
        known = _outcome(before, outcome.id)
        was = known.findings if known is not None and known.verdict is Verdict.FAILED else ()
        silenced = len(known.silenced) if known is not None else 0
        grave = [f for f in outcome.findings if (f.severity or outcome.severity) > Severity.INFO]
        grave = [f for f in grave if not _is_silenced(f, outcome.id, applied)]
        # Checks show few of many findings: another one may have been left out before.
        if was and (len(was) >= SHOWN or len(grave) <= len(was)):
            continue
        # By number, not by text: a finding's figures and lines differ after each change.
        if grave and len(grave) > len(was) + silenced:
            return outcome.id, f"{outcome.id} fails with it: {grave[0].message.strip()[:200]}"
    return None


def _is_silenced(finding: Finding, id_: str, applied: Sequence[Candidate]) -> bool:
    """Whether a comment silences a finding's line, which was at another place before."""
    place = finding.location
    if place is None or place.line is None:
        return False
    own = (each for each in applied if each.name == place.file)
    shifts = {_moved(each, applied) - (each.line or 0) for each in own}
    return any(
        comments.reason_to_ignore(Location(place.file, place.line - shift, place.cell), id_)
        for shift in (0, *shifts)
    )


def _outcome(report: Report, id_: str) -> Outcome | None:
    return next((outcome for outcome in report.outcomes if outcome.id == id_), None)


def compared(before: Report, after: Report, effects: Sequence[Effect]) -> tuple[bool, str]:
    """Whether the observed steps computed what they should, and the evidence."""
    (losses, weights), (new_losses, new_weights) = (
        tuple(sample for sample in report.samples[:2]) for report in (before, after)
    )
    pairs = list(zip(losses.values, new_losses.values, strict=False))
    meant = Effect.NUMBERS in effects or Effect.MODEL in effects
    same_steps = weights.name == new_weights.name and len(weights.values) == len(new_weights.values)
    if meant:
        lost = any(math.isfinite(old) and not math.isfinite(new) for old, new in pairs)
        return not lost, _as_meant(pairs)
    if not pairs and not (same_steps and weights.values):
        return True, "no losses or weights to compare: the step returns none"
    what = f"the losses of {len(pairs)} steps" if pairs else "the weights after the observed steps"
    if not pairs:
        if weights.values == new_weights.values:
            return True, f"{what} are equal bit for bit"
        # sums of magnitudes: those of the weights themselves may be near 0
        pairs = list(zip(weights.values[1::2], new_weights.values[1::2], strict=False))
    elif same_steps and (losses, weights) == (new_losses, new_weights) and weights.values:
        return True, f"{what} and the weights after them are equal bit for bit"
    if all(_equal(*pair) for pair in pairs):
        return True, f"{what} are equal bit for bit"
    return _within(pairs, what, ordered=Effect.ORDER not in effects)


def _within(pairs: Sequence[tuple[float, float]], what: str, *, ordered: bool) -> tuple[bool, str]:
    """Whether different figures lie within the tolerance."""
    if not all(map(math.isfinite, (value for pair in pairs for value in pair))):
        return False, f"{what} are not finite"
    if ordered:
        worst = max(_apart(a, b) for a, b in pairs)
        words = f"{what} differ by up to {worst:.2g} of their value ({SAME:g} is allowed)"
        return worst <= SAME, words
    old, new = (sum(values) / len(pairs) for values in zip(*pairs, strict=True))
    words = (
        f"the mean of {what} is {old:.6g} and {new:.6g} with it, where the order of data or sums "
        f"may be another ({SAME_MEAN:.0%} is allowed)"
    )
    return _apart(old, new) <= SAME_MEAN, words


def _apart(a: float, b: float) -> float:
    """The difference of two figures relative to the larger."""
    return abs(a - b) / max(abs(a), abs(b), 1e-9)


def _equal(a: float, b: float) -> bool:
    return a == b or (math.isnan(a) and math.isnan(b))


def _as_meant(pairs: Sequence[tuple[float, float]]) -> str:
    if not pairs:
        return "the numbers change as they are meant to; the step returns no loss to compare"
    if all(_equal(*pair) for pair in pairs):
        return f"the losses of {len(pairs)} steps are equal bit for bit"
    (first, new_first), (last, new_last) = pairs[0], pairs[-1]
    return (
        f"the numbers change as they are meant to: loss {first:.6g} -> {new_first:.6g} at the "
        f"first step, {last:.6g} -> {new_last:.6g} at step {len(pairs)}"
    )


def figures(before: Report, after: Report) -> tuple[FigureChange, ...]:
    """The job's figures before and with the changes, as far as both were measured."""
    changes: list[FigureChange] = []
    for name in FIGURES:
        old, new = before.measurements.get(name), after.measurements.get(name)
        if old is not None and new is not None:
            changes.append(FigureChange(name, old.value, new.value, old.unit))
    return tuple(changes)


def worth(finding: Finding, after: Report) -> str:
    """The gain of a finding's change, from its evidence and the changed job's figures."""
    known = {each.name: each for each in finding.evidence}
    as_built = known.get("as built")
    mended = next((e for name, e in known.items() if name.startswith("with ")), None)
    if as_built is not None and mended is not None:
        gains = _rate(mended) >= GAIN * _rate(as_built)
        rates = f"{_figure(as_built.value)} -> {_figure(mended.value)} examples/s of input"
        return rates if gains else ""
    if "traces" in known:
        now = after.measurements.get("traces")
        then = f" -> {_figure(now.value)}" if now is not None else ""
        return f"{_figure(known['traces'].value)}{then} traces"
    if finding.cost_ms_per_step is not None:
        return f"up to {finding.cost_ms_per_step:.3g} ms a step here"
    if finding.cost_bytes is not None:
        return f"up to {finding.cost_bytes / 2**20:.4g} MiB"
    if "padding of rows" in known:
        return f"up to {_figure(known['padding of rows'].value)} % of the products' work"
    return ""


def _rate(evidence: Evidence) -> float:
    return evidence.value if isinstance(evidence.value, (int, float)) else 0.0


def _figure(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)
