"""Samples of main threads while nothing is wrong: when they are taken, and which are given."""

from tpudiag.monitoring.causes.stacks import MainThread
from tpudiag.monitoring.causes.usual import EVERY_S, FIRST_S, UsualSamples

STEPS = MainThread(lines=(("t.py:3 (step)", 1.0),))


def test_one_after_a_while_then_now_and_then() -> None:
    looked: list[int] = []

    def look(pid: int) -> MainThread:
        looked.append(pid)
        return STEPS

    clock = [0.0]
    usual = UsualSamples(look, lambda: clock[0])
    for clock[0] in (0.0, 1.0, FIRST_S, FIRST_S + 1, FIRST_S + EVERY_S):
        usual.sample(7, lambda: int(clock[0]))
        usual.wait()
    assert looked == [7, 7]
    assert usual.before(7, int(FIRST_S)) == ()
    assert usual.before(7, int(FIRST_S) + 1) == (STEPS,)
    assert len(usual.before(7, 10**9)) == 2
    usual.keep(())
    assert usual.before(7, 10**9) == ()
