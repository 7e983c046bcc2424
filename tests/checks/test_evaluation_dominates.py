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


def stepping(ms: float) -> CompilerFacts:
    """A predicted step of so long."""
    return replace(FACTS, step=replace(STEP, predicted=predicted(ms, 0.01)))


EVALUATES = replace(SAVES, kind="evaluation")
OFTEN = replace(EVALUATES, training_ms=800.0)
LONG = replace(SAVES, each_batch=False, training_ms=2_000.0, dispatches_between=1.0)
EAGERLY = replace(LONG, kind="evaluation", eager=True)
IN_LOOP = replace(LONG, in_step_loop=True)


@pytest.mark.parametrize(
    ("outcome", "verdict", "said"),
    [
        # Frequent saves are judged beside the predicted step.
        (judged(compiler=stepping(20.0)), Verdict.FAILED, "67% of the time of the loop, predicted"),
        (judged(compiler=stepping(4_000.0)), Verdict.PASSED, ""),
        (judged(), Verdict.SKIPPED, ""),
        # An evaluation at each batch is too many however slow the steps are here.
        (judged(replace(EVALUATES, dispatches_between=1.0)), Verdict.FAILED, ""),
        (judged(replace(EVALUATES, dispatches_between=4.0)), Verdict.FAILED, ""),
        (judged(EVALUATES), Verdict.PASSED, ""),
        (judged(replace(OFTEN, dispatches_between=1.0)), Verdict.FAILED, "does it at each batch."),
        (judged(replace(OFTEN, dispatches_between=4.2)), Verdict.FAILED, "does it every 4 steps."),
        # The steps of a loop within the call are counted between two saves.
        (judged(IN_LOOP), Verdict.FAILED, ""),
        (judged(IN_LOOP, at_once=10), Verdict.PASSED, ""),
        (judged(IN_LOOP, at_once=10, singly=True), Verdict.FAILED, ""),
        # A whole batch after each step is evaluated, and a policy acts.
        (judged(replace(EAGERLY, examples=8)), Verdict.SKIPPED, ""),
        (judged(replace(EAGERLY, examples=256)), Verdict.FAILED, ""),
    ],
)
def test_how_often_a_job_evaluates_and_saves(outcome: Outcome, verdict: Verdict, said: str) -> None:
    assert outcome.verdict is verdict
    assert said in "".join(each.message for each in outcome.findings)
