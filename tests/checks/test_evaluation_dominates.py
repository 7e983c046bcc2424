"""What TPU606 says of frequent saves beside steps that are slower here than on the TPU."""

from dataclasses import replace

import pytest

from tests.checks.rehearsal import HERE, examine
from tests.checks.test_compiled import FACTS, STEP, predicted
from tpudiag.compiled import CompilerFacts
from tpudiag.model import Outcome, Verdict
from tpudiag.signals import Batch, Dispatch, Origin, Pause, Signals, TrainingLoop

SAVES = Pause(
    kind="saving",
    times=5,
    spent_ms=800.0,
    training_ms=80_000.0,
    location=HERE,
    each_batch=True,
    dispatches_between=5.0,
)
"""Each takes 200 ms, every fifth step of 4 s."""


def judged(
    pause: Pause = SAVES,
    compiler: CompilerFacts | None = None,
    at_once: int = 1,
    singly: bool = False,
) -> Outcome:
    """A rehearsal of 25 steps."""
    signals = Signals(
        origin=Origin.REHEARSAL,
        loop=TrainingLoop(dispatches=25, pauses=(pause,)),
        batch=Batch(256, 32, 8),
        dispatch=Dispatch(steps=25 * at_once, steps_per_dispatch=at_once, ran_singly=singly),
        compiler=compiler,
    )
    return examine(signals, "TPU606")


@pytest.mark.parametrize(
    ("step_ms", "verdict"),
    [(20.0, Verdict.FAILED), (4_000.0, Verdict.PASSED), (None, Verdict.SKIPPED)],
)
def test_frequent_saves_are_judged_beside_the_predicted_step(
    step_ms: float | None, verdict: Verdict
) -> None:
    facts = (
        CompilerFacts(FACTS.lowered, replace(STEP, predicted=predicted(step_ms, 0.01)))
        if step_ms is not None
        else None
    )
    outcome = judged(compiler=facts)
    assert outcome.verdict is verdict
    if step_ms == 20.0:
        assert "at least 67% of the time of the loop, predicted" in outcome.findings[0].message


@pytest.mark.parametrize(
    ("between", "verdict"), [(1.0, Verdict.FAILED), (4.0, Verdict.FAILED), (5.0, Verdict.PASSED)]
)
def test_an_evaluation_at_each_batch_is_too_many_however_slow_the_steps_here(
    between: float, verdict: Verdict
) -> None:
    pause = replace(SAVES, kind="evaluation", dispatches_between=between)
    assert judged(pause).verdict is verdict


@pytest.mark.parametrize(("between", "often"), [(1.0, "at each batch"), (4.2, "every 4 steps")])
def test_it_is_told_how_often_a_callback_evaluates(between: float, often: str) -> None:
    pause = replace(SAVES, kind="evaluation", training_ms=800.0, dispatches_between=between)
    assert judged(pause).findings[0].message.endswith(f"A callback does it {often}.")


@pytest.mark.parametrize(
    ("at_once", "singly", "verdict"),
    [(1, False, Verdict.FAILED), (10, False, Verdict.PASSED), (10, True, Verdict.FAILED)],
)
def test_steps_of_a_loop_within_the_call_are_counted_between_two_saves(
    at_once: int, singly: bool, verdict: Verdict
) -> None:
    pause = replace(SAVES, in_step_loop=True, each_batch=False, training_ms=2_000.0)
    outcome = judged(replace(pause, dispatches_between=1.0), at_once=at_once, singly=singly)
    assert outcome.verdict is verdict


@pytest.mark.parametrize(("examples", "verdict"), [(8, Verdict.SKIPPED), (256, Verdict.FAILED)])
def test_a_whole_batch_after_each_step_is_evaluated_and_a_policy_acts(
    examples: int, verdict: Verdict
) -> None:
    pause = replace(
        SAVES, kind="evaluation", each_batch=False, eager=True, dispatches_between=1.0,
        training_ms=2_000.0, examples=examples,
    )  # fmt: skip
    assert judged(pause).verdict is verdict
