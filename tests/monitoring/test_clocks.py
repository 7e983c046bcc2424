"""Ages while clocks step: by a clock of our own."""

from dataclasses import replace

import pytest

from tpudiag.monitoring.clocks import Ages, Clock
from tpudiag.monitoring.recording import NS, Run

BOOT = "boot pid:[1]"


class Time:
    """A wall clock that steps, and a monotonic one that does not."""

    def __init__(self) -> None:
        self.wall_s, self.monotonic_s = 1_790_000_000.0, 500.0

    def pass_(self, seconds: float) -> None:
        self.wall_s += seconds
        self.monotonic_s += seconds

    def clock(self, machine: str = BOOT) -> Clock:
        return Clock(lambda: int(self.wall_s * NS), lambda: int(self.monotonic_s * NS), machine)


def run(time: Time, **changed: object) -> Run:
    now_ns = int(time.wall_s * NS)
    made = Run(id="r", name="n", host="h", pid=7, started_ns=now_ns, beat_ns=now_ns)
    made = replace(made, monotonic_ns=int(time.monotonic_s * NS), machine=BOOT)
    return replace(made, **changed)  # type: ignore[arg-type]


@pytest.mark.parametrize("step_s", [-3_600.0, 3_600.0])
@pytest.mark.parametrize("machine", [BOOT, "another pid:[1]", ""])
def test_a_step_of_the_wall_clock_is_no_silence(step_s: float, machine: str) -> None:
    time = Time()
    ages, made = Ages(time.clock(machine)), run(time)
    step_ns = made.started_ns
    ages.hear(made, step_ns)
    time.pass_(5)
    time.wall_s += step_s
    ages.hear(made, step_ns)
    assert ages.quiet_s() == pytest.approx(5)
    assert ages.silent_s(step_ns) == pytest.approx(5)
    made = replace(made, beat_ns=made.beat_ns + 5 * NS)
    ages.hear(made, step_ns)
    assert ages.quiet_s() == pytest.approx(0)
    assert ages.silent_s(step_ns) == pytest.approx(5)


def test_a_watch_that_begins_after_the_step_knows_the_age_on_the_same_machine() -> None:
    time = Time()
    made = run(time)
    time.pass_(20)
    time.wall_s += 86_400
    ages = Ages(time.clock())
    ages.hear(made, made.started_ns)
    assert ages.silent_s(made.started_ns) == pytest.approx(20)


def test_of_another_machine_the_first_look_trusts_its_clock() -> None:
    time = Time()
    made = run(time)
    time.pass_(90)
    ages = Ages(time.clock("another pid:[2]"))
    ages.hear(made, made.started_ns)
    assert ages.quiet_s() == pytest.approx(90)


@pytest.mark.parametrize("step_s", [-3_600.0, 3_600.0])
def test_event_files_of_a_machine_whose_clock_stepped(step_s: float) -> None:
    time = Time()
    made = run(time, pid=0, machine="", monotonic_ns=None)
    ages = Ages(time.clock())
    ages.hear(made, made.started_ns)
    time.pass_(10)
    stepped_ns = int((time.wall_s + step_s) * NS)
    ages.hear(made, stepped_ns)
    time.pass_(7)
    assert ages.silent_s(stepped_ns) == pytest.approx(7)
