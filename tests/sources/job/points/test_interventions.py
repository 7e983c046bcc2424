"""What the rehearsal changes, tried once more without where an exception follows."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tpudiag.script_run import InterventionKind
from tpudiag.sources.job.points import interventions, user_lines

CUT = InterventionKind.PREDICTIONS


@pytest.fixture(autouse=True)
def _anew() -> Iterator[None]:  # pyright: ignore[reportUnusedFunction]
    interventions.begin()
    yield
    interventions.begin()


def predict(rows: int = 5) -> int:
    if interventions.allowed(CUT):
        interventions.note(CUT)
        rows -= 1
    if rows != 5:
        raise ValueError(f"[{rows},2048] against [5,2048]")
    return rows


def test_what_goes_away_without_it_is_ours() -> None:
    assert interventions.tried(CUT, predict) == 5
    (misfit,) = interventions.misfits()
    assert misfit.kinds == (CUT,) and misfit.decided
    assert misfit.error == "ValueError: [4,2048] against [5,2048]"
    assert misfit.statement is not None and misfit.statement.file.endswith("test_interventions.py")


def test_what_stays_is_the_scripts() -> None:
    def fails() -> int:
        return predict(8)

    with pytest.raises(ValueError, match=r"\[8,2048\]"):
        interventions.tried(CUT, fails)
    assert not interventions.misfits()


def test_an_exception_before_any_intervention_is_not_tried_again() -> None:
    calls: list[int] = []

    def fails() -> None:
        calls.append(1)
        raise KeyError

    interventions.note(CUT)
    with pytest.raises(KeyError):
        interventions.tried(CUT, fails)
    assert len(calls) == 1
    assert interventions.made() == (CUT,), "what was noted before is kept"


def test_a_statement_that_it_did_not_fit_runs_without_it() -> None:
    calls: list[bool] = []

    def call() -> int:
        calls.append(interventions.allowed(CUT))
        return predict()

    for _ in range(3):
        interventions.tried(CUT, call)
    assert calls == [True, False, False, False]


def test_switched_off_for_a_whole_job() -> None:
    interventions.begin((CUT,))
    assert not interventions.allowed(CUT)
    assert predict() == 5


ALIASES = {InterventionKind.EPOCHS: "EPOCHS_OF_FIT", InterventionKind.EFFECTS: "kind"}
NOT_LEFT_OUT = {
    InterventionKind.DATA,
    InterventionKind.CPU,
    InterventionKind.SESSION,
    InterventionKind.DEFECT,
}
"""No job runs here without these: failures due to them are known by the exception."""


def test_whatever_the_job_sees_changed_is_asked_for_and_noted() -> None:
    room = Path(interventions.__file__).parents[1]
    texts = [path.read_text(encoding="utf-8") for path in room.rglob("*.py")]
    for kind in set(InterventionKind) - NOT_LEFT_OUT:
        named = rf"(?:InterventionKind\.{kind.name}|{ALIASES.get(kind, kind.name)})\b"
        for call in ("allowed", "note"):
            pattern = re.compile(rf"interventions\.{call}\(\s*{named}")
            assert any(map(pattern.search, texts)), f"{kind} is nowhere {call}"


def test_a_folder_that_is_not_there_is_none_of_what_was_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(user_lines, "user_files", tuple)  # else of all tests
    interventions.note(CUT, interventions.ANYWHERE)
    interventions.note(InterventionKind.DATA, interventions.ANYWHERE)
    for path, blamed in (
        (tmp_path / "none" / "a.jpg", {InterventionKind.DATA}),
        (tmp_path / "a.jpg", {InterventionKind.DATA, CUT}),
    ):
        with pytest.raises(FileNotFoundError) as raised:
            path.read_bytes()
        assert set(interventions.to_blame(raised.value)) == blamed
    interventions.begin()
    interventions.note(InterventionKind.ROUNDS, interventions.ANYWHERE)
    with pytest.raises(NameError) as unset:
        exec("nowhere")
    assert not interventions.to_blame(unset.value), "only a loop that would have set it"
