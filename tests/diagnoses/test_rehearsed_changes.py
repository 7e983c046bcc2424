"""Changes that agree are proven together, others by halves; rehearsals are faked."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from tests import made
from tpudiag.diagnoses import rehearsed_changes
from tpudiag.diagnoses.changes_of_source import Candidate
from tpudiag.diagnoses.rehearsed_changes import Proofs, Rehearsals
from tpudiag.fixes import documents
from tpudiag.fixes.edits import Edit
from tpudiag.model import Finding, Location, Report, Verdict
from tpudiag.report_figures import StepSamples
from tpudiag.source_change import Effect, SourceChange

PASSED = Verdict.PASSED


def report(failing: set[str], losses: tuple[float, ...] = (1.0,)) -> Report:
    found = Finding("m", "", (), Location("train.py", 1))
    outcomes = (
        made.outcome(id_, Verdict.FAILED, found) if id_ in failing else made.outcome(id_, PASSED)
        for id_ in ("TPU101", "TPU102", "TPU203", "TPU999")
    )
    samples = (StepSamples("loss", "", losses), StepSamples("sums", "", ()))
    return made.report(*outcomes, samples=samples)


class FakeRehearsals:
    """A job that mends what is changed, and fails TPU999 with one of the changes."""

    def __init__(self, bad: str = "", losses: tuple[float, ...] = (1.0,)) -> None:
        self.bad, self.losses = bad, losses
        self.count = 1
        self.tried: list[list[str]] = []

    def run(self, changes: Sequence[Candidate]) -> Report:
        self.count += 1
        ids = [each.id for each in changes]
        self.tried.append(ids)
        failing = {"TPU101", "TPU102", "TPU203", *["TPU999"] * (self.bad in ids)} - set(ids)
        return report(failing, self.losses)

    def on_phase(self, text: str) -> None:
        """Nothing is shown."""


@pytest.fixture
def changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Candidate]:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text("a = 1\n")
    document = documents.script("train.py", tmp_path)
    change = SourceChange(title="t", file="train.py", effect=Effect.NONE, replacements=(), diff="")
    return [
        Candidate(
            id=id_,
            finding=Finding("m", "", (), Location("train.py", 1)),
            document=document,
            edits=(Edit(0, 0, f"# {id_}\n"),),
            change=replace(change),
            line=1,
        )
        for id_ in ("TPU101", "TPU102", "TPU203")
    ]


def togetherof(rehearsals: FakeRehearsals) -> Proofs:
    before = report({"TPU101", "TPU102", "TPU203"})
    return Proofs(before=before, rehearsals=cast("Rehearsals", rehearsals))


def test_changes_that_agree_take_one_rehearsal(changes: list[Candidate]) -> None:
    proofs = togetherof(FakeRehearsals())
    proofs.prove(changes)
    assert proofs.rehearsals.count == 2
    assert [each.id for each in proofs.proven] == ["TPU101", "TPU102", "TPU203"]


def test_a_change_that_breaks_something_is_found_by_halves(changes: list[Candidate]) -> None:
    rehearsals = FakeRehearsals(bad="TPU102")
    proofs = togetherof(rehearsals)
    proofs.prove(changes)
    assert [each.id for each in proofs.proven] == ["TPU101", "TPU203"]
    assert proofs.results[id(changes[1].change)][1].startswith("TPU999 fails with it")
    assert rehearsals.tried[-1] == ["TPU101", "TPU203"]


def test_a_change_is_proven_with_the_one_that_it_calls_for_in_another_file(
    changes: list[Candidate], tmp_path: Path
) -> None:
    (tmp_path / "losses.py").write_text("b = 1\n")
    losses = documents.script("losses.py", tmp_path)
    elsewhere = replace(changes[0], id="TPU999", document=losses, edits=())
    together = togetherof(FakeRehearsals(bad="TPU102"))
    together.changes_for = lambda _, id_: (elsewhere,) if id_ == "TPU999" else ()
    together.prove(changes[1:2])
    assert together.proven == [changes[1], elsewhere]
    assert together.results[id(changes[1].change)][0] == "proven"
    same_file = togetherof(FakeRehearsals(bad="TPU102"))
    same_file.changes_for = lambda _, __: (replace(changes[0], id="TPU999"),)
    same_file.prove(changes[1:2])
    assert same_file.results[id(changes[1].change)][1].startswith("TPU999 fails with it")


def test_a_job_that_is_not_steady_is_rehearsed_once_more(changes: list[Candidate]) -> None:
    rehearsals = FakeRehearsals(losses=(2.0,))
    proofs = togetherof(rehearsals)
    proofs.prove(changes)
    assert len(proofs.proven) == 3
    assert rehearsals.tried == [["TPU101", "TPU102", "TPU203"], []]
    assert "not compared" in proofs.losses


def test_rehearsals_have_an_end(changes: list[Candidate]) -> None:
    rehearsals = FakeRehearsals()
    rehearsals.count = rehearsed_changes.MOST_REHEARSALS
    proofs = togetherof(rehearsals)
    proofs.prove(changes)
    assert not proofs.proven
    assert "not tried" in proofs.results[id(changes[0].change)][1]
