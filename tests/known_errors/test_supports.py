"""What a sentence names as possible is no evidence for it: no rival cause is supported by it."""

import pytest

from tpudiag.known_errors.search import match

GUESSES = (
    "An error was raised. This may be due to a preemption in a connected worker or"
    " parameter server. The current session will be closed. Error: Socket closed",
    "UNAVAILABLE: Failed to send RPC to coordination service. Either the leader task was"
    " preempted/died/restarted unexpectedly or this task is experiencing network issues.",
    "UNAVAILABLE: Task /job:jax_worker/replica:0/task:2 heartbeat timeout. This indicates that the"
    " remote task has failed, got preempted, or crashed unexpectedly.",
    "INTERNAL: This suggests that the workers are out of sync. Either at least one worker (a)"
    " crashed early due to program error or scheduler events (e.g. preemption, eviction), (b)",
)


@pytest.mark.parametrize("text", GUESSES)
def test_what_may_be_is_not_taken_for_what_is(text: str) -> None:
    answers = match(text)
    assert answers
    assert all("preempted" not in each.error.family for each in answers)
    assert all(each.supported is None for each in answers)


def test_what_is_said_to_be_is_taken() -> None:
    best = match(f"{GUESSES[0]}\nstate: PREEMPTED")[0]
    told = best.error.cause if best.supported is None else best.supported.rival.cause
    assert "preempted" in told
