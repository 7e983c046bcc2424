"""Which calls of a step function run, and what answers the others."""

from collections.abc import Callable
from typing import Any

import pytest

from tpudiag.sources.job.tensorflow.shortening import fast_forward
from tpudiag.sources.job.tensorflow.shortening.fast_forward import FastForward


class Counter:
    """A variable as TensorFlow's, of one whole number."""

    def __init__(self) -> None:
        self.value = 0

    def numpy(self) -> int:
        return self.value

    def assign_add(self, by: int, **_: bool) -> None:
        self.value += by


class Tensor:
    """What has a shape and a type."""

    def __init__(self, *shape: int) -> None:
        self.shape, self.dtype = shape, "float32"


class Job:
    """A step that takes some time and moves a counter."""

    def __init__(self, step_s: float, budget_s: float = 60.0) -> None:
        self.now, self.step_s, self.ran = 0.0, step_s, 0
        self.counter: Any = Counter()
        self.forward = FastForward(budget_s, lambda: [self.counter], clock=lambda: self.now)
        self.forward.begin()

    def call(self, key: object = "step") -> Any:
        known = self.forward.last(key)
        if known is not None:
            return self.forward.answer(known)
        return self.forward.run(key, self.step)

    def step(self) -> dict[str, int]:
        self.now += self.step_s
        self.ran += 1
        self.counter.value += 2
        return {"loss": self.ran}


def test_a_trace_that_reads_a_counter_does_not_move_it() -> None:
    job = Job(step_s=10.0)
    job.forward.moves_late = True
    for _ in range(5):
        job.call()
    ran = job.counter.value
    job.forward.read(in_graph=True)
    assert job.counter.value == ran
    job.forward.read(in_graph=False)
    assert job.counter.value == 5 * 2


def test_a_slow_step_runs_twice_and_is_answered_from_then_on() -> None:
    job = Job(step_s=10.0)
    results = [job.call() for _ in range(1000)]
    assert job.ran == 2
    assert results[-1] == {"loss": 2}
    assert job.counter.value == 2000


def test_what_was_observed_before_counts() -> None:
    job = Job(step_s=10.0)
    forward = FastForward(60.0, lambda: [job.counter], clock=lambda: job.now)
    for _ in range(2):
        assert not forward.knows("step")
        forward.run("step", job.step)
    forward.begin()
    assert forward.knows("step")
    assert forward.last("step") is not None


def test_a_slow_evaluation_runs_once() -> None:
    job = Job(step_s=10.0)
    job.call("evaluate")
    assert job.forward.last("evaluate", trains=False) is not None
    assert job.forward.last("evaluate", trains=True) is None


def test_a_slow_evaluation_that_was_traced_is_not_run_again() -> None:
    job = Job(step_s=1.0)
    job.forward.first("eval", {"loss": 0}, 9.0)
    known = job.forward.last("eval", trains=False)
    assert known is not None and job.forward.answer(known) == {"loss": 0}
    job.forward.first("quick", {"loss": 0}, 0.5)
    assert job.forward.last("quick", trains=False) is None


def test_a_later_training_function_that_is_slow_runs_once_where_it_moved_a_counter() -> None:
    job = Job(step_s=20.0)
    before = job.forward.counts()
    job.forward.first("epoch", job.step(), 20.0, before)
    known = job.forward.last("epoch")
    assert known is not None and known.counters == [(job.counter, job.counter.value)]
    job.forward.first("nothing moved", {"loss": 0}, 20.0, job.forward.counts())
    assert job.forward.last("nothing moved") is None
    job.forward.first("quick", {"loss": 0}, 1.0, before)
    assert job.forward.last("quick") is None


def test_a_quick_step_runs_on_while_the_pass_has_time() -> None:
    job = Job(step_s=0.01)
    for _ in range(1000):
        job.call()
    assert job.ran == pytest.approx(fast_forward.REAL_S_OF_PASS[0] / 0.01, abs=2)


def test_a_later_pass_has_less_time_and_real_time_has_an_end() -> None:
    job = Job(step_s=0.5, budget_s=10.0)
    ran: list[int] = []
    for _ in range(20):
        job.forward.new_pass()
        before = job.ran
        for _ in range(100):
            job.call()
        ran.append(job.ran - before)
    assert ran[0] > ran[1] >= ran[2]
    assert job.ran * job.step_s <= 10.0 * fast_forward.REAL_SHARE + 1.0
    assert job.counter.value == 2 * 2000


def test_a_result_that_the_job_changes_is_its_own() -> None:
    job = Job(step_s=10.0)
    job.call()
    job.call()
    job.call().clear()
    assert job.call() == {"loss": 2}


def test_training_is_not_forwarded_before_it_was_observed() -> None:
    forward = FastForward(60.0, list)
    assert not forward.may_forward(trains=True)
    assert forward.may_forward(trains=False)
    forward.begin()
    assert forward.may_forward(trains=True)


def test_data_of_unknown_length_ends() -> None:
    job = Job(step_s=10.0)
    job.forward.endless = True
    with pytest.raises(StopIteration):
        for calls in range(fast_forward.ENDLESS_CALLS + 10):
            job.forward.end_if_endless(calls, longest=0)
            job.call()
    most = fast_forward.ENDLESS_CALLS
    job.forward.end_if_endless(most, longest=most + 1)
    assert job.forward.past_the_end("step", 3, longest=2) is None, "the data's own end"
    assert job.forward.past_the_end("step", 3, longest=4), "Keras counts on a fourth"


def test_counters_catch_up_with_a_shortened_loop() -> None:
    counter: Any = Counter()
    forward = FastForward(60.0, lambda: [counter])
    before = forward.counts()
    counter.value += 4
    forward.catch_up(before, 250.0)
    assert counter.value == 1000


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ((Tensor(8, 4), 1), (Tensor(8, 4), 2), True),
        ((Tensor(8, 4),), (Tensor(7, 4),), False),
        ((True,), (False,), False),
        (("train",), ("test",), False),
        (({"x": Tensor(8)},), ({"x": Tensor(8)},), True),
        (({"x": Tensor(8)},), ({"y": Tensor(8)},), False),
        ((iter([1]),), (iter([2]),), True),
    ],
)
def test_calls_that_may_stand_for_one_another(one: Any, other: Any, same: bool) -> None:
    function: Callable[..., Any] = print
    keys = [fast_forward.signature(function, args, {}, 1) for args in (one, other)]
    assert (keys[0] == keys[1]) is same


class Replicas:
    """A value on each of several replicas."""

    def __init__(self, *sizes: int) -> None:
        self.values = tuple(Tensor(size, 4) for size in sizes)


def test_results_of_the_datas_length_ask_for_the_sizes_of_every_replica() -> None:
    def signature(*args: object, every_replica: bool = False) -> object:
        return fast_forward.signature(Replicas, args, {}, 1, every_replica)

    assert signature(Replicas(8, 8)) == signature(Replicas(8, 4))
    assert signature(Replicas(8, 8), every_replica=True) != signature(
        Replicas(8, 4), every_replica=True
    )
    assert signature([Replicas(8, 8)], every_replica=True) == signature(
        [Replicas(8, 8)], every_replica=True
    )
    assert signature(iter([1]), every_replica=True) is None
    assert signature(iter([1])) is not None
