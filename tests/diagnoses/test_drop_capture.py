"""A profile at the moment of a drop: from a profiler service on loopback, or none."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.sources.live.profiler_service import SPACE, response, served
from tpudiag.diagnoses import trainer
from tpudiag.diagnoses.drop_capture import DropCapture, drop_capture, with_profile
from tpudiag.diagnoses.trainer import TrainerRequest
from tpudiag.errors import NothingDiagnosed
from tpudiag.model import Report
from tpudiag.settings import Settings
from tpudiag.signals import Cause, CauseFigure, CauseKind

WAITS = CauseFigure("waiting for input in a profile", 90.0, "%", None, "profile")


def test_the_profile_of_a_trainer_is_kept_and_read(tmp_path: Path) -> None:
    def at_its_port(request: TrainerRequest, settings: Settings) -> Report:
        assert request.targets == ("4711",)
        return trainer.diagnose(replace(request, targets=(str(address),)), settings)

    with served(lambda _: response(SPACE), False) as address:
        seen = drop_capture(4711, str(tmp_path), lambda _: True, at_its_port)
    assert seen is not None
    assert Path(seen.folder).is_relative_to(tmp_path)
    assert [file.suffix for file in Path(seen.folder).iterdir()] == [".pb"]


def test_none_is_taken_of_a_trainer_without_a_server(tmp_path: Path) -> None:
    def never(request: TrainerRequest, settings: Settings) -> Report:
        raise AssertionError((request, settings))

    assert drop_capture(4711, str(tmp_path), lambda _: False, never) is None


def test_a_capture_that_fails_costs_nothing_but_itself(tmp_path: Path) -> None:
    def gone(request: TrainerRequest, settings: Settings) -> Report:
        raise NothingDiagnosed(f"{request.targets}: gone, {settings}")

    assert drop_capture(4711, str(tmp_path), lambda _: True, gone) is None


@pytest.mark.parametrize(
    ("input_share", "lost", "proven"),
    [(0.9, 0.5, True), (0.7, 0.5, False), (0.9, 0.2, False), (1, 1, False), (None, 0.5, False)],
)
def test_a_profile_alone_proves_the_input_only_where_all_of_the_step_before_would_not_do(
    input_share: float | None, lost: float, proven: bool
) -> None:
    cause = with_profile(None, lost, DropCapture("logs", (WAITS,), input_share))
    assert (cause is not None and cause.kind is CauseKind.INPUT) is proven


def test_a_cause_that_is_known_stays_and_gets_the_figures() -> None:
    told = Cause(CauseKind.HOST_CPU, "others took the cores")
    assert with_profile(told, 0.5, DropCapture("logs", (WAITS,), 0.9)) == replace(
        told, figures=(WAITS,)
    )
