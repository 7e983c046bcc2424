"""What long work says on stderr."""

import pytest

from tpudiag.commands import _progress
from tpudiag.phases import Phase


def test_a_phase_that_took_its_time_is_said_with_its_seconds(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter([0.0, 0.0, 0.0, 0.5, 0.5, 100.0, 100.0, 161.5])
    monkeypatch.setattr("tpudiag.commands._progress.monotonic", lambda: next(clock))
    with _progress.progress() as on_phase:
        on_phase("starting")
        on_phase("importing TensorFlow")
        on_phase(Phase("v5e-8, batch 64: compiling", 1, 4))
    assert capsys.readouterr().err.splitlines() == [
        "tpudiag: importing TensorFlow: 99.5 s",
        "tpudiag: v5e-8, batch 64: compiling (1 of 4): 61.5 s",
    ]


def test_a_wait_for_the_tpu_is_said_when_it_begins(capsys: pytest.CaptureFixture[str]) -> None:
    with _progress.progress() as on_phase:
        on_phase("tpu: resolver")
        assert capsys.readouterr().err == "tpudiag: waiting for the TPU (resolver)\n"


def test_where_nothing_is_to_be_said_nothing_is(capsys: pytest.CaptureFixture[str]) -> None:
    with _progress.progress(quiet_off_terminal=True) as on_phase:
        on_phase("tpu: resolver")
    assert capsys.readouterr().err == ""
