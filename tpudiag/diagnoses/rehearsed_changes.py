"""Rehearses changes of a job's files: together, and by halves where they fail."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tpudiag.diagnoses import job, notebook_job, proof
from tpudiag.diagnoses.changes_of_source import Candidate, documents_of, edits_of
from tpudiag.diagnoses.job_request import JobRequest
from tpudiag.diagnoses.report_parts import count
from tpudiag.fixes import edits
from tpudiag.fixes.documents import NotebookCells
from tpudiag.model import Report, Verdict
from tpudiag.phases import OnPhase
from tpudiag.settings import Settings
from tpudiag.source_change import ChangeState

MOST_REHEARSALS = 12
"""The limit per call, where changes fail together and are tried by halves."""


@dataclass(kw_only=True)
class Rehearsals:
    """Rehearsals of one job with different changes, each starting from the original files."""

    request: JobRequest
    settings: Settings
    on_phase: OnPhase
    folder: Path
    count: int = 0

    def run(self, changes: Sequence[Candidate]) -> Report:
        """The job with some changes; raises KeyboardInterrupt as it comes."""
        self.count += 1
        if changes:
            self.on_phase(f"rehearsing with {count(len(changes), 'change')}")
        own = self.folder / f"run-{self.count}"
        own.mkdir(parents=True)
        request = replace(self.request, log_dir=own) if changes else self.request
        report = job.diagnose(_with_changes(request, changes, own), self.settings, self.on_phase)
        # A report that Ctrl-C cut short proves nothing, and nothing is written.
        if report.interrupted:
            raise KeyboardInterrupt
        return report


def _with_changes(request: JobRequest, changes: Sequence[Candidate], own: Path) -> JobRequest:
    changed_sources: list[tuple[str, str]] = []
    for number, document in enumerate(documents_of(changes)):
        own_edits = edits_of(document, changes)
        if isinstance(document, NotebookCells) and request.notebook is not None:
            text = document.source.text
            cells = tuple(edits.line_after(text, own_edits, line) for line in document.cells)
            program = edits.applied(text, own_edits)
            source = replace(request.notebook.source, program=program, cells=cells)
            request = replace(request, notebook=notebook_job.written(source, own))
        else:
            stand_in = own / f"changed-{number}.py"
            stand_in.write_bytes(document.changed(own_edits))
            changed_sources.append((document.file.name, str(stand_in)))
    return replace(request, changed_sources=tuple(changed_sources))


@dataclass(kw_only=True)
class Proofs:
    """Tries changes, and knows the result of each."""

    before: Report
    rehearsals: Rehearsals
    proven: list[Candidate] = field(default_factory=list[Candidate])
    results: dict[int, tuple[ChangeState, str]] = field(default_factory=dict[int, Any])
    """What became of each tried change, and why; by identity, since findings on one line may have
    equal changes with different results."""
    after: Report | None = None
    losses: str = ""
    steady: bool | None = None
    """Whether the unchanged job has the same losses twice; None: not tried."""
    changes_for: Callable[[Report, str], Sequence[Candidate]] = lambda _, __: ()
    """The changes for a check's findings in the report of a changed job."""

    def prove(self, tried: Sequence[Candidate]) -> None:
        """Try changes together, and by halves where they fail."""
        if not tried:
            return
        if self.rehearsals.count >= MOST_REHEARSALS:
            self._note(tried, "dropped", "not tried: too many rehearsals were needed before it")
            return
        applied = [*self.proven, *tried]
        report = self.rehearsals.run(applied)
        judged = proof.judge(self.before, report, tried, applied)
        # Only where the losses alone differ: the second run of the unchanged job costs as much as
        # the first.
        if judged.losses_differ and not self._is_steady():
            judged = proof.judge(self.before, report, tried, applied, steady=False)
        if judged.sound:
            self._keep(tried, applied, report, judged.losses)
        elif judged.dropped:
            for number, why in judged.dropped.items():
                self._note([tried[number]], "dropped", why)
            self.prove([e for n, e in enumerate(tried) if n not in judged.dropped])
        elif len(tried) == 1:
            if not self._proven_with_others(tried, applied, report, judged.fails_with_it):
                self._note(tried, "dropped", judged.trouble or "")
        else:
            # By halves: one bad change among many costs two rehearsals per halving, not one per
            # change.
            middle = len(tried) // 2
            self.prove(tried[:middle])
            self.prove(tried[middle:])

    def _proven_with_others(
        self, tried: Sequence[Candidate], applied: Sequence[Candidate], report: Report, id_: str
    ) -> bool:
        """Whether a change is proven together with those that it requires in other files.

        A loss is scaled where it is made, and its average may stand in another module.
        """
        changed = {each.name for each in applied}
        others = [c for c in self.changes_for(report, id_) if id_ and c.name not in changed]
        if not others or self.rehearsals.count >= MOST_REHEARSALS:
            return False
        together = [*applied, *others]
        report = self.rehearsals.run(together)
        judged = proof.judge(self.before, report, tried, together, self.steady is not False)
        if judged.sound:
            self._keep(tried, together, report, judged.losses)
        return judged.sound

    def _keep(
        self, tried: Sequence[Candidate], applied: list[Candidate], report: Report, losses: str
    ) -> None:
        self.proven, self.after, self.losses = applied, report, losses
        self._note(tried, "proven", f"rehearsed: the finding is gone; {losses}")

    def mends(self, id_: str) -> bool:
        """Whether a check passes with the proven changes."""
        outcomes = self.after.outcomes if self.after is not None else ()
        return any(each.id == id_ and each.verdict is Verdict.PASSED for each in outcomes)

    def _is_steady(self) -> bool:
        """Whether the unchanged job's losses are equal for equal seeds."""
        if self.steady is None:
            self.rehearsals.on_phase("rehearsing the script as it is once more")
            again = self.rehearsals.run(())
            self.steady, _ = proof.compared(self.before, again, ())
        return self.steady

    def _note(self, tried: Sequence[Candidate], state: ChangeState, why: str) -> None:
        self.results.update((id(each.change), (state, why)) for each in tried)
