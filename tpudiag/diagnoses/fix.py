"""Fixes a job's findings: changes are made, rehearsed, proven or dropped, and written."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tpudiag import scratch, snippets
from tpudiag.bounded_files import write_whole
from tpudiag.diagnoses import proof
from tpudiag.diagnoses.changes_of_source import (
    Candidate,
    Project,
    candidates,
    documents_of,
    edits_of,
    shown,
)
from tpudiag.diagnoses.job_request import JobRequest
from tpudiag.diagnoses.rehearsed_changes import Proofs, Rehearsals
from tpudiag.errors import NothingDiagnosed, UnreadableInput, UsageError
from tpudiag.fixes import edits, files
from tpudiag.fixes.files import Refused
from tpudiag.model import GONE, Finding, Outcome, Report, Severity, Verdict
from tpudiag.phases import OnPhase
from tpudiag.report_figures import Table
from tpudiag.settings import Settings
from tpudiag.source_change import Effect, Mending

SEED = 20260101
"""The seed of every rehearsal, so that losses are comparable."""
STEPS = 10
UNSAFE = "it changes the model or its batch, which is done with --unsafe alone"


@dataclass(frozen=True, kw_only=True)
class FixRequest:
    """The options of `tpudiag fix`."""

    job: JobRequest
    select: tuple[str, ...] = ()
    """Ids or families of the findings to fix; empty for all."""
    unsafe: bool = False
    """Include changes of the model and the batch."""
    write: bool = False
    """Write the proven changes into the files."""
    patch: Path | None = None
    """Write them into a patch."""

    def selects(self, id_: str) -> bool:
        """Whether findings of a check shall be fixed."""
        return not self.select or id_.startswith(self.select)


def diagnose(request: FixRequest, settings: Settings, on_phase: OnPhase = lambda _: None) -> Report:
    """Rehearse a job, make the changes for its findings, prove them by rehearsing again.

    Raises NothingDiagnosed where it reaches no training step, UnreadableInput for a script that may
    not be changed, KeyboardInterrupt as it comes; nothing is written then.
    """
    # Without offers: this report is made for its losses, and the changes are made below.
    base = replace(request.job.with_notebook(), seed=SEED, offers_changes=False)
    base = replace(base, steps=base.steps or STEPS)
    project = Project(base, to_write=request.write)
    # Before any rehearsal: a script that may not be changed.
    try:
        project.document(project.program)
    except Refused as error:
        raise UnreadableInput(f"{error}; nothing is changed") from error
    with scratch.folder("fix") as folder:
        rehearsals = Rehearsals(request=base, settings=settings, on_phase=on_phase, folder=folder)
        before = snippets.added(rehearsals.run(()))
        if not before.samples:
            why = before.partial or "it came to no training step"
            raise NothingDiagnosed(f"{base.name}: not rehearsed, so nothing is changed: {why}")
        on_phase("making changes")
        before, made = candidates(before, project, request.selects)
        proofs = Proofs(before=before, rehearsals=rehearsals)
        proofs.changes_for = lambda report, id_: candidates(report, project, id_.__eq__)[1]
        wanted = [c for c in made if request.unsafe or c.change.effect is not Effect.MODEL]
        # In this order: changes that must keep the losses are proven before any that may change
        # them.
        for effects in (Effect.NONE, Effect.ORDER), (Effect.NUMBERS,), (Effect.MODEL,):
            proofs.prove([c for c in wanted if c.change.effect in effects])
    return _report(request, proofs, made)


def _report(request: FixRequest, proofs: Proofs, made: Sequence[Candidate]) -> Report:
    proven = proofs.proven
    refused: list[str] = []
    diff = "".join(
        edits.unified(
            shown(document.file.name),
            document.source.text,
            edits.applied(document.source.text, edits_of(document, proven)),
        )
        for document in documents_of(proven)
    )
    written = _written(request, proven, refused) if proven else ()
    kept = {id(each.change) for each in proven if each.name in written or request.patch is not None}
    outcomes = tuple(_with_results(o, proofs, request, kept) for o in proofs.before.outcomes)
    after = proofs.after or proofs.before
    left = _left(outcomes, request, bool(kept))
    report = proofs.before
    return replace(
        report,
        outcomes=outcomes,
        fix_command=None,
        samples=(),
        next_command=None,
        tables=(_table(outcomes), *report.tables) if made else report.tables,
        mending=Mending(
            rehearsals=proofs.rehearsals.count,
            written=(str(request.patch),) if request.patch is not None and diff else written,
            refused=tuple(refused),
            diff=diff,
            losses=proofs.losses,
            figures=proof.figures(proofs.before, after) if proven else (),
            left=left,
        ),
    )


def _written(
    request: FixRequest, proven: Sequence[Candidate], refused: list[str]
) -> tuple[str, ...]:
    if request.patch is not None:
        _write_patch(request.patch, proven)
    if not request.write:
        return ()
    written: list[str] = []
    for document in documents_of(proven):
        try:
            files.write(document.file, document.changed(edits_of(document, proven)))
            written.append(document.file.name)
        except Refused as error:
            refused.append(str(error))
    return tuple(written)


def _write_patch(file: Path, proven: Sequence[Candidate]) -> None:
    # Bytes, in each file's own encoding, or the patch would not apply.
    parts: list[bytes] = []
    for document in documents_of(proven):
        before = document.file.data.decode(document.file.encoding)
        after = document.changed(edits_of(document, proven)).decode(document.file.encoding)
        patch = edits.unified(shown(document.file.name), before, after)
        parts.append(patch.encode(document.file.encoding))
    try:
        write_whole(file, b"".join(parts))
    except OSError as error:
        raise UsageError(f"--patch {file}: {error.strerror or error}") from error


def _with_results(outcome: Outcome, proofs: Proofs, request: FixRequest, kept: set[int]) -> Outcome:
    """An outcome whose findings carry the results of their changes."""
    findings: list[Finding] = []
    for finding in outcome.findings:
        change = finding.change
        if change is None:
            gone = proofs.mends(outcome.id) and request.selects(outcome.id)
            findings.append(replace(finding, no_change=GONE) if gone else finding)
            continue
        asked = request.unsafe or change.effect is not Effect.MODEL
        state, why = proofs.results.get(id(change), ("offered", "" if asked else UNSAFE))
        state = "written" if id(change) in kept else state
        gains = proof.worth(finding, proofs.after or proofs.before)
        change = replace(change, state=state, proof=why, worth=gains)
        findings.append(replace(finding, change=change))
    return replace(outcome, findings=tuple(findings))


def _left(outcomes: Sequence[Outcome], request: FixRequest, written: bool) -> int:
    """The number of findings left in the files: warnings, errors, and fixable ones."""
    return sum(
        (finding.severity or outcome.severity) > Severity.INFO
        or (finding.change is not None and finding.change.state == "proven")
        for outcome in outcomes
        if outcome.verdict is Verdict.FAILED and request.selects(outcome.id)
        for finding in outcome.findings
        # It is gone from the files by its own change, or another's.
        if (
            finding.change.state != "written"
            if finding.change is not None
            else not written or finding.no_change != GONE
        )
    )


def _table(outcomes: Sequence[Outcome]) -> Table:
    """Finding, line, change, proof, worth."""
    rows = [
        (
            f"{outcome.id} {outcome.name}",
            str(finding.location or finding.change.file),
            finding.change.title,
            f"{finding.change.state}: {finding.change.proof}".rstrip(": "),
            finding.change.worth,
        )
        for outcome in outcomes
        for finding in outcome.findings
        if finding.change is not None
    ]
    columns = ("finding", "line", "change", "proof", "worth")
    return Table("Changes", columns, tuple(rows), "rehearsals of the changed job")
