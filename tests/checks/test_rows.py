"""Each check against its rows: what it must find, pass, and leave open."""

import re
from dataclasses import replace

import pytest

from tests.checks import failing_device, failing_function, failing_values
from tests.checks.passing import PASSES as PASS
from tests.checks.passing import SKIPS
from tests.checks.rehearsal import HEALTHY, HERE, examine, fed, h, product, waits
from tests.checks.told import CACHE, PYTHON, SAVED, TOLD, Told
from tpudiag.catalogue import checks
from tpudiag.hardware import target
from tpudiag.model import Framework, Severity, Verdict
from tpudiag.signals import Checkpoints, Origin, Signals, StepOp, StepOps, Tf1Use

ROWS = failing_function.ROWS + failing_device.ROWS + failing_values.ROWS
FAILS = [(*row[:2], row[2] if len(row) > 2 else Severity.WARNING) for row in ROWS]
PASSES = PASS + failing_values.PASSES
SKIPPED_WHEN_HEALTHY = {
    "TPU003", "TPU103", "TPU106", "TPU201", "TPU204", "TPU210", "TPU303", "TPU509", "TPU511",
    "TPU512", "TPU518", "TPU603", "TPU604", "TPU607", "TPU608", "TPU609", "TPU610", "TPU611",
    "TPU612", "TPU701", "TPU702", "TPU703", "TPU704", "TPU705", "TPU706",
}  # fmt: skip


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
    outcome = examine(HEALTHY, id_)
    if id_ in SKIPPED_WHEN_HEALTHY:
        assert outcome.verdict is Verdict.SKIPPED and outcome.cause and outcome.how_to_measure
    else:
        assert outcome.verdict is Verdict.PASSED and outcome.evidence


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
    waiting = h(origin=Origin.TPU, steps=waits(0.6))
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


@pytest.mark.parametrize("told", TOLD, ids=lambda told: told.id_)
def test_the_finding_says(told: Told) -> None:
    outcome = examine(told.signals, told.id_)
    (finding,) = outcome.findings
    assert told.message in finding.message and told.fix in finding.fix
    assert told.location in (None, finding.location)
    assert told.severity in (None, outcome.severity)
    assert told.unsaid is None or told.unsaid not in f"{finding.message} {finding.fix}"


def test_a_session_beside_a_step_of_tensorflow_2_is_idle() -> None:
    uses = (Tf1Use("tf.compat.v1.Session", None), Tf1Use("tf.compat.v1.placeholder", None))
    for step_inputs, first in ((None, None), ((), Severity.INFO)):
        told = examine(h(tf1=uses, step_inputs=step_inputs), "TPU001").findings
        assert [each.severity for each in told] == [first, None]


def test_a_branch_that_calls_back_is_a_note_behind_what_each_step_calls() -> None:
    ops = [StepOp("debug_print", name, True, HERE, name == "branch") for name in ("branch", "step")]
    told = examine(h(step_ops=StepOps(9, tuple(ops))), "TPU105").findings
    assert [each.severity for each in told] == [None, Severity.INFO]
    assert told[1].message.endswith("in the steps that take its branch.")


def test_what_runs_python_is_not_counted_among_what_does_not() -> None:
    assert [each.value for each in examine(fed(PYTHON, CACHE), "TPU207").evidence] == [1]


def test_a_callback_that_no_loop_has_is_said_to_save_nothing() -> None:
    never_given = h(checkpoints=Checkpoints((replace(SAVED[0], given=False),)))
    assert "given to no loop" in str(examine(never_given, "TPU601").reason)
