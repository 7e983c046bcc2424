"""Each check against its rows: what it must find, pass, and leave open."""

import re
from dataclasses import replace

import pytest

from tests.checks import failing_device, failing_function, failing_values
from tests.checks.passing import PASSES as PASS
from tests.checks.passing import SKIPS
from tests.checks.rehearsal import HEALTHY, examine, h, product
from tpudiag.catalogue import checks
from tpudiag.hardware import target
from tpudiag.model import Framework, Severity, Verdict
from tpudiag.signals import (
    Origin,
    Signals,
    StepTimes,
)

FAILS = failing_function.ROWS + failing_device.ROWS + failing_values.ROWS
PASSES = PASS + failing_values.PASSES
SKIPPED_WHEN_HEALTHY = {
    "TPU509",
    "TPU511",
    "TPU512",
    "TPU518",
    "TPU706",
    "TPU003",
    "TPU103",
    "TPU106",
    "TPU201",
    "TPU204",
    "TPU210",
    "TPU303",
    "TPU603",
    "TPU604",
    "TPU607",
    "TPU608",
    "TPU609",
    "TPU610",
    "TPU611",
    "TPU612",
    "TPU701",
    "TPU702",
    "TPU703",
    "TPU704",
    "TPU705",
}


def test_a_line_that_sets_variables_is_not_said_to_wait_for_the_step() -> None:
    rows = [signals for id_, signals, _ in FAILS if id_ == "TPU108"]
    said = [examine(each, "TPU108").findings[0].message for each in rows]
    assert [("sets" in each) for each in said] == [
        ("last one is done" not in each) for each in said
    ]


@pytest.mark.parametrize(("id_", "signals", "severity"), FAILS)
def test_fails(id_: str, signals: Signals, severity: Severity) -> None:
    outcome = examine(signals, id_)
    assert outcome.verdict is Verdict.FAILED, outcome
    assert outcome.severity is severity
    for finding in outcome.findings:
        assert finding.message
        assert finding.fix
        assert finding.evidence


@pytest.mark.parametrize(("id_", "signals"), PASSES)
def test_passes_on_evidence(id_: str, signals: Signals) -> None:
    outcome = examine(signals, id_)
    assert outcome.verdict is Verdict.PASSED, outcome
    assert outcome.evidence


@pytest.mark.parametrize(("id_", "signals"), SKIPS)
def test_skips_what_it_cannot_know(id_: str, signals: Signals) -> None:
    outcome = examine(signals, id_)
    assert outcome.verdict is Verdict.SKIPPED, outcome
    assert outcome.cause
    assert outcome.how_to_measure


JOB_CHECKS = sorted({row[0] for row in FAILS} | {row[0] for row in PASSES})


@pytest.mark.parametrize("id_", JOB_CHECKS)
def test_a_healthy_rehearsal_passes_or_says_what_it_cannot_know(id_: str) -> None:
    verdict = examine(HEALTHY, id_).verdict
    assert verdict is (Verdict.SKIPPED if id_ in SKIPPED_WHEN_HEALTHY else Verdict.PASSED)


@pytest.mark.parametrize("check", checks(), ids=lambda check: check.id)
def test_with_no_signals_at_all_nothing_passes(check: object) -> None:
    for origin in Origin:
        outcome = examine(Signals(origin=origin), check.id)  # type: ignore[attr-defined]
        assert outcome.verdict is Verdict.SKIPPED, outcome
        assert outcome.how_to_measure


def test_the_tile_of_the_target_decides_which_width_is_narrow() -> None:
    ops = (product(784, 384), product(384, 384), product(384, 10))
    assert examine(h(matrix_ops=ops, target=target("v6e-8")), "TPU402").verdict is Verdict.FAILED
    assert examine(h(matrix_ops=ops), "TPU402").verdict is Verdict.PASSED
    (odd,) = examine(h(matrix_ops=(product(784, 130), product(130, 200))), "TPU402").findings[:1]
    assert odd.fix.endswith(" 130 -> 128"), "the nearest one: 256 would be twice the work"


def test_a_limit_of_the_settings_decides() -> None:
    waiting = h(
        origin=Origin.TPU, steps=StepTimes(step_ms=(10.0,), input_wait_ms=(0.6,), source="p")
    )
    assert examine(waiting, "TPU201").verdict is Verdict.FAILED
    assert examine(waiting, "TPU201", TPU201=0.1).verdict is Verdict.PASSED


@pytest.mark.parametrize(("id_", "signals", "severity"), FAILS)
def test_a_job_of_jax_is_mended_in_its_own_words(
    id_: str, signals: Signals, severity: Severity
) -> None:
    outcome = examine(replace(signals, framework=Framework.JAX), id_)
    for finding in outcome.findings:
        if "tf." not in finding.message:  # a use of TensorFlow that was seen
            told = re.sub(r".*dataset\..*|tf\.(data|io|image)\b", "", finding.fix)
            assert not re.search(r"\btf\.|TensorFlow|strategy", told), f"{severity}: {finding.fix}"
