"""Shared by the renderers: the order of findings, figures as text, and harmless text."""

import math
import re
from collections.abc import Iterable, Iterator, Sequence

from tpudiag.model import Evidence, Finding, Outcome, Report, Severity, TargetSummary, Verdict
from tpudiag.report_figures import Value, XProfLink
from tpudiag.sanitized import harmless
from tpudiag.script_run import Writes

WEB = re.compile(r"(?:https?://|\.\./)[^\s<>\"]+")
"""An address of the web, or one beside the page that shows the report (TensorBoard's tab)."""
REHEARSE = "rehearse the job"
"""How what no profile holds is measured begins."""
_ABBREVIATIONS = ("cpu", "hbm", "mxu", "tpu", "xla")
_HUGE = 10**300
_BINARY = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB")


def clean(text: str) -> str:
    """Text of others made harmless; newlines stay, tabs widen."""
    return harmless(text.replace("\r\n", "\n").expandtabs(4))


def line(text: str) -> str:
    """The same on one line."""
    return " ".join(clean(text).split())


def figure(value: Value, unit_: str = "") -> str:
    """A value and its unit as people read them: 38.1 %, 1,024 traces, 14.2 GiB."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) and abs(value) > 10**18:
        # Python's integers have no largest, its floats have: beyond it float() raises
        # OverflowError.
        value = float(max(-_HUGE, min(value, _HUGE)))
    if isinstance(value, int | float) and unit_ == "bytes":
        return _bytes(value)
    text = _number(value) if isinstance(value, int | float) else line(str(value))
    return f"{text} {line(unit_)}" if unit_ else text


def _number(value: float) -> str:
    """Four telling digits, thousands parted, no exponent where it can be helped."""
    if not math.isfinite(value) or (value and not 1e-4 <= abs(value) < 1e15):
        return f"{value:.4g}"
    if isinstance(value, int):
        return f"{value:,}"
    digits = 3 - math.floor(math.log10(abs(value))) if value else 0
    text = f"{value:,.{max(digits, 0)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _bytes(value: float) -> str:
    size, power = value, 0
    while math.isfinite(size) and abs(size) >= 1024 and power < len(_BINARY) - 1:
        size, power = size / 1024, power + 1
    return f"{_number(size)} {_BINARY[power]}"


def cost(finding: Finding) -> str:
    """What the finding costs, empty where that was not measured."""
    parts: list[str] = []
    if finding.cost_ms_per_step is not None:
        parts.append(figure(finding.cost_ms_per_step, "ms") + " a step")
    if finding.cost_bytes is not None:
        parts.append(figure(finding.cost_bytes, "bytes"))
    return " and ".join(parts)


def web_link(finding: Finding) -> str | None:
    """Its place in XProf, where that is an address of the web and nothing else."""
    link = finding.xprof_link
    return link if link is not None and WEB.fullmatch(link) else None


def web_links(report: Report) -> list[XProfLink]:
    """The places in XProf of a whole report, likewise."""
    return [link for link in report.xprof_links if WEB.fullmatch(link.url)]


def told(finding: Finding, place: str) -> list[str]:
    """A finding part by part: the place, what is wrong, what it costs, the evidence, the fix."""
    parts = (
        f"{place}:" if place else "",
        clean(finding.message).strip(),
        f"Costs {cost(finding)}." if cost(finding) else "",
        f"Evidence: {proofs(finding.evidence)}." if finding.evidence else "",
        f"Fix:\n{clean(finding.fix).strip()}" if finding.fix.strip() else "",
    )
    return [part for part in parts if part]


def unit(evidence: Evidence) -> str:
    """Its unit, unless its name says it already (`traces of step`: 3)."""
    return "" if evidence.unit in evidence.name.split() else evidence.unit


def cells(evidence: Evidence) -> tuple[str, str, str, str]:
    """Its name, value, limit and source; an empty limit where it has none."""
    limit = "" if evidence.limit is None else figure(evidence.limit, unit(evidence))
    return line(evidence.name), figure(evidence.value, unit(evidence)), limit, line(evidence.source)


def proof(evidence: Evidence) -> str:
    """A figure with its limit: `input wait 38.1 % (limit 20 %)`."""
    name, value, limit, _ = cells(evidence)
    return f"{name} {value}" + (f" (limit {limit})" if limit else "")


def proofs(evidence: Iterable[Evidence]) -> str:
    """Several figures and the sources they came from, on one line."""
    items = tuple(evidence)
    sources = ", ".join(dict.fromkeys(line(item.source) for item in items))
    return "; ".join(map(proof, items)) + (f" [{sources}]" if sources else "")


def failures(report: Report) -> list[Outcome]:
    """The failed checks: worst first, then what costs most, then by id."""
    failed = [outcome for outcome in report.outcomes if outcome.verdict is Verdict.FAILED]
    return sorted(failed, key=lambda o: (-o.severity.rank, *_dearest(o.findings), o.id))


def findings(outcome: Outcome) -> list[Finding]:
    """Its findings in the same order."""
    return sorted(
        outcome.findings, key=lambda f: (-(f.severity or outcome.severity).rank, *_dearest((f,)))
    )


def with_fixes(ordered: Sequence[Finding]) -> Iterator[tuple[Finding, str]]:
    """Findings, each with its fix; one that follows from several stands once, with the last."""
    for finding, after in zip(ordered, (*ordered[1:], None), strict=True):
        shared = after is not None and after.fix == finding.fix
        yield finding, finding.fix if finding.fix.strip() and not shared else ""


def _dearest(items: Iterable[Finding]) -> tuple[float, float]:
    """A sort key: the highest cost in time, then in bytes, first."""
    findings_ = tuple(items)
    return (
        -max((_known(f.cost_ms_per_step) for f in findings_), default=0.0),
        -max((_known(f.cost_bytes) for f in findings_), default=0.0),
    )


def _known(value: float | None) -> float:
    """A cost to sort by; none where it was not measured."""
    return 0.0 if value is None or value != value else value  # noqa: PLR0124  (NaN)


def plural(severity: Severity, count: int) -> str:
    """`errors`; `info` has no plural."""
    return severity.value + "s" * (count != 1 and severity is not Severity.INFO)


def ended(report: Report, verdict: Verdict) -> list[Outcome]:
    """The checks that ended so, by id."""
    return sorted((o for o in report.outcomes if o.verdict is verdict), key=lambda o: o.id)


def skipped_groups(report: Report) -> Iterator[tuple[list[Outcome], str, str]]:
    """Skipped checks that lack the same thing: them, the reason, and how to measure it.

    Of a profile those that only a rehearsal answers are one group, the last.
    """
    groups: dict[tuple[str, str], list[Outcome]] = {}
    unanswered: list[Outcome] = []
    for outcome in ended(report, Verdict.SKIPPED):
        how = outcome.how_to_measure or ""
        if report.subject.kind != "job" and how.startswith(REHEARSE):
            unanswered.append(outcome)
        else:
            groups.setdefault((sentence(outcome.cause or ""), closed(how)), []).append(outcome)
    if unanswered:
        how = closed(unanswered[0].how_to_measure or "")
        groups[f"No profile answers these {len(unanswered)}.", how] = unanswered
    yield from ((members, reason, how) for (reason, how), members in groups.items())


def sentence(text: str) -> str:
    """The text on one line, begun by a capital and closed by a full stop."""
    words = line(text)
    if words.partition(" ")[0].isalpha():
        words = words[0].upper() + words[1:]
    return closed(words)


def closed(text: str) -> str:
    """The text on one line, closed by a full stop."""
    words = line(text)
    return words if not words or words[-1] in ".!?:" else words + "."


def title(report: Report) -> str:
    """The headline; where the source gave none, what the report is about."""
    if report.headline.strip():
        return line(report.headline)
    about = f"Diagnosis of the {report.subject.kind} {report.subject.name}"
    if report.target is not None:
        about += f" for {report.target.name} ({replicas(report.target)})"
    return line(about) + "."


def replicas(target: TargetSummary) -> str:
    """`1 replica`, `8 replicas`."""
    return f"{target.replicas} replica" + ("" if target.replicas == 1 else "s")


def summary(report: Report) -> str:
    """`11 passed, 1 failed, 9 skipped, 0 broken`."""
    return ", ".join(f"{report.count(verdict)} {verdict.value}" for verdict in Verdict)


def measure_name(name: str, unit_: str) -> str:
    """`peak_hbm_bytes` as `peak HBM`: the unit stands beside the value."""
    words = line(name.removesuffix(f"_{unit_}").replace("_", " ")).split()
    return " ".join(word.upper() if word in _ABBREVIATIONS else word for word in words)


def writes(report: Report) -> str:
    """What a job wrote and what became of it, and what was not sent; empty where none was run."""
    seen = report.writes
    if seen is None:
        return ""
    held = f" Not sent: {line(', '.join(seen.not_sent))}." if seen.not_sent else ""
    only_read = ""
    if seen.read_only:
        only_read = (
            f" No layer lies over {line(', '.join(seen.read_only))}: it could only read there."
        )
    return _written(seen) + held + only_read


def _written(seen: Writes) -> str:
    if seen.isolation == "none":
        return "In place: what the job wrote is where it says."
    if seen.isolation == "refused":
        return (
            "Nothing was written: nothing on this machine holds back what a rehearsal writes, so "
            "it ends where it would write; --in-place lets it."
        )
    if not (seen.written or seen.removed):
        return "No file of yours was written or removed."
    what = f"{seen.written} file{'s' * (seen.written != 1)} written"
    if seen.checkpoints:
        what += f" ({seen.checkpoints} checkpoint{'s' * (seen.checkpoints != 1)})"
    if seen.removed:
        what += f", {seen.removed} removed"
    return f"Kept in {line(seen.kept)}: {what}." if seen.kept else f"Thrown away: {what}."
