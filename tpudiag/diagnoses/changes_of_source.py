"""Source changes that could fix a report's findings, before they are rehearsed."""

import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tpudiag.diagnoses.job_request import JobRequest
from tpudiag.diagnoses.named_program import REFERENCE
from tpudiag.fixes import catalogue, documents, edits, files
from tpudiag.fixes.documents import Document
from tpudiag.fixes.edits import Edit, NoChange
from tpudiag.fixes.files import Refused
from tpudiag.fixes.model import Place
from tpudiag.model import Finding, Location, Outcome, Report, Verdict
from tpudiag.source_change import SourceChange

OWN_DEFECT = "the change could not be made: a defect of tpudiag ({})"


@dataclass
class Project:
    """A job's files that may be changed, each read once."""

    job: JobRequest
    to_write: bool = False
    """Whether its files will be written, so that read-only ones are refused."""
    _documents: dict[str, Document | str] = field(default_factory=dict[str, "Document | str"])

    def __post_init__(self) -> None:
        self.program, within = self.job.name_of_file, self.job.changes_within
        self.folder = files.project_of(self.program)
        if within is not None and not self.folder.is_relative_to(within):
            self.folder = within

    def document(self, name: str) -> Document:
        """The document of a file; raises Refused, each time with the same reason."""
        if name not in self._documents:
            try:
                self._documents[name] = self._read(name)
            except Refused as error:
                # Cache the refusal, too: an unchangeable file is read once for all its findings.
                self._documents[name] = str(error)
        known = self._documents[name]
        if isinstance(known, str):
            raise Refused(known)
        return known

    def _read(self, name: str) -> Document:
        book = self.job.notebook.source if self.job.notebook else None
        if book is not None and name == book.name:
            document: Document = documents.notebook(name, self.folder, book.program, book.cells)
        elif not name.endswith(".py"):
            raise Refused(f"{name} is no Python file")
        else:
            document = documents.script(name, self.folder)
        if self.to_write:
            files.refuse_read_only(document.file)
        return document


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A change of one document for one or several findings."""

    id: str
    finding: Finding
    document: Document
    edits: tuple[Edit, ...]
    change: SourceChange
    line: int | None

    @property
    def name(self) -> str:
        """The file."""
        return self.document.file.name


def candidates(
    report: Report, project: Project, asks: Callable[[str], bool] = lambda _: True
) -> tuple[Report, tuple[Candidate, ...]]:
    """The report with a change, or the reason for none, at each finding; and those changes.

    Where two changes overlap the first one is kept.
    """
    made: list[Candidate] = []
    outcomes: list[Outcome] = []
    for outcome in report.outcomes:
        if outcome.verdict is not Verdict.FAILED or not asks(outcome.id):
            outcomes.append(outcome)
            continue
        findings: list[Finding] = []
        for finding in outcome.findings:
            mended, candidate = _mended(outcome.id, finding, project, made)
            findings.append(mended)
            made += [candidate] if candidate is not None else []
        outcomes.append(replace(outcome, findings=tuple(findings)))
    return replace(report, outcomes=tuple(outcomes)), tuple(made)


def _mended(
    id_: str, finding: Finding, project: Project, others: list[Candidate]
) -> tuple[Finding, Candidate | None]:
    try:
        candidate = _candidate(id_, finding, project)
        for other in others:
            # Two findings fixed by the same edit do not conflict.
            if other.name != candidate.name or other.edits == candidate.edits:
                continue
            if edits.conflict(candidate.edits, other.edits):
                raise NoChange(f"its line is changed for {other.id}: run it again after that")
    except (NoChange, Refused) as none:
        return replace(finding, no_change=str(none)), None
    except Exception as error:  # a failing fix must not break the report
        defect = OWN_DEFECT.format(f"{type(error).__name__}: {error}")
        return replace(finding, no_change=defect), None
    return replace(finding, change=candidate.change), candidate


def _candidate(id_: str, finding: Finding, project: Project) -> Candidate:
    framework, target = project.job.framework, project.job.target
    if not any(True for _ in catalogue.of_id(id_, framework)):
        raise NoChange(catalogue.reason(id_))
    where = finding.location or Location(project.program)
    document = project.document(where.file)
    line = document.line(where)
    fix, made = catalogue.made(
        Place(
            id=id_,
            finding=finding,
            source=document.source,
            line=line,
            replicas=target.replicas,
            hosts=target.hosts,
            host_ram_bytes=target.host.ram_gb * 10**9,
            framework=framework,
        )
    )
    document.checked(made)
    after = edits.applied(document.source.text, made)
    change = SourceChange(
        title=fix.title,
        file=where.file,
        effect=fix.effect,
        replacements=document.replacements(made),
        diff=edits.unified(shown(where.file), document.source.text, after),
    )
    return Candidate(
        id=id_, finding=finding, document=document, edits=made, change=change, line=line
    )


def documents_of(changes: Sequence[Candidate]) -> list[Document]:
    """The documents of some changes, each once."""
    return list({id(each.document): each.document for each in changes}.values())


def edits_of(document: Document, changes: Sequence[Candidate]) -> list[Edit]:
    """All edits of one document, without duplicates."""
    own = [e for each in changes if each.document is document for e in each.edits]
    return list(dict.fromkeys(own))


def shown(name: str) -> str:
    """A file's name in a patch: relative to this folder where possible."""
    path = Path(name)
    try:
        return path.absolute().relative_to(Path.cwd()).as_posix()
    except ValueError:
        # `git apply` refuses absolute paths.
        return path.as_posix().lstrip("/")


def offered(report: Report) -> Iterator[SourceChange]:
    """The changes of a report's findings."""
    for outcome in report.outcomes:
        for finding in outcome.findings:
            if finding.change is not None:
                yield finding.change


def with_changes(report: Report, request: JobRequest) -> Report:
    """The report with a change at each finding that has one; unchanged for the reference job."""
    if request.program == REFERENCE or not any(outcome.findings for outcome in report.outcomes):
        return report
    report, _ = candidates(report, Project(request))
    # Without a step nothing can be proven, and `fix` would refuse.
    command = _command(request) if report.samples and any(True for _ in offered(report)) else None
    return replace(report, fix_command=command)


def _command(request: JobRequest) -> str:
    program = ("-m", request.program) if request.is_module else (request.program,)
    # A target that was found or is the default will be chosen again.
    target = ("--for", request.target.name) if request.target_choice == "asked" else ()
    arguments = ("--", *request.arguments) if request.arguments else ()
    return shlex.join(("tpudiag", "fix", *program, *target, *arguments))
