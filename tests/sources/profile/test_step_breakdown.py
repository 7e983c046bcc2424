from pathlib import Path
from typing import Any

import pytest

from tests.sources.profile import spaces
from tpudiag.signals import StepTimes, warm_up
from tpudiag.sources.profile import facts

STARTS = (100.0, 125.0, 150.0)
THREAD = "tf_data_iterator_get_next/1"


def read(folder: Path, **host: Any) -> StepTimes:
    made = spaces.space()
    spaces.add_host(made, STARTS, **host)
    return spaces.steps(made, folder)


def test_steps_lines_before_host_marks(tmp_path: Path) -> None:
    steps = spaces.steps(spaces.training(devices=2, steps=5), tmp_path)
    assert steps.step_ms == pytest.approx([20.5] * 5)
    assert steps.input_wait_ms == pytest.approx([2.0] * 5)
    assert steps.source == "Steps line of 2 devices"
    assert not steps.recovered


def test_without_infeed_a_device_waits_while_the_host_asks(tmp_path: Path) -> None:
    made = spaces.space()
    spaces.add_device(
        made, 0, [("m", s + 5, 15.0) for s in STARTS], steps=[("1", s, 20.0) for s in STARTS[:1]]
    )
    spaces.add_host(made, (), asked=[("python", 98.0, 9.0)])
    assert spaces.steps(made, tmp_path).input_wait_ms == pytest.approx([5.0])


def test_host_marks_are_steps_and_the_function_of_that_name_is_none(tmp_path: Path) -> None:
    steps = read(tmp_path, asked=[("python", 101.0, 4.0)])
    assert steps.step_ms == pytest.approx([20.0] * 3)
    assert steps.input_wait_ms == pytest.approx([4.0, 0.0, 0.0])
    assert "step_num" in steps.source


def test_no_iterator_seen_is_not_no_wait(tmp_path: Path) -> None:
    steps = read(tmp_path)
    assert steps.input_wait_ms is None
    assert steps.input_wait_source is None


def test_replicas_that_wait_together_wait_once(tmp_path: Path) -> None:
    other = THREAD.replace("1", "2")
    steps = read(tmp_path, asked=[(THREAD, 101.0, 6.0), (other, 103.0, 6.0)])
    assert steps.input_wait_ms == pytest.approx([8.0, 0.0, 0.0])


def test_eager_ops_of_a_host_compute(tmp_path: Path) -> None:
    made = spaces.marked(STARTS, {"python": [("EagerLocalExecute: MatMul", 5.0, 12.0)]})
    spaces.write(made, tmp_path)
    (replica,) = facts(tmp_path)[0].replicas
    assert (replica.part("compute"), replica.part("idle")) == pytest.approx((36.0, 24.0))


def test_asking_ahead_while_kernels_run_is_no_wait(tmp_path: Path) -> None:
    kernels = [("tf_Compute/1", 100.0, 15.0), ("tf_data_private_threadpool/1", 115.0, 5.0)]
    steps = read(tmp_path, asked=[(THREAD, 101.0, 18.0)], kernels=kernels)
    assert steps.input_wait_ms == pytest.approx([4.0, 0.0, 0.0])


def test_the_loops_own_thread_waits_whatever_runs(tmp_path: Path) -> None:
    kernels = [("tf_Compute/1", 100.0, 15.0)]
    steps = read(tmp_path, asked=[("python", 101.0, 6.0)], kernels=kernels)
    assert steps.input_wait_ms == pytest.approx([6.0, 0.0, 0.0])


def test_a_wait_is_cut_at_the_steps_ends(tmp_path: Path) -> None:
    steps = read(tmp_path, asked=[("python", 115.0, 15.0)])
    assert steps.input_wait_ms == pytest.approx([5.0, 5.0, 0.0])


@pytest.mark.parametrize(
    ("first", "steps"),
    [
        (0, []),
        (0, [9.0]),
        (0, [9.0, 1.0, 1.0]),
        (1, [9.0, 1.0, 1.0, 1.0]),
        (0, [3.0] + [1.0] * 9),
        (2, [50.0, 4.0] + [1.0] * 9),
        (0, [9.0, 1.0, 1.0] * 2),
        (0, [1.0, 9.0, 1.0, 1.0]),
        (1, [9.0] + [1.0] * 10 + [9.0]),
        (0, [0.0] * 5),
    ],
)
def test_only_what_never_comes_again_is_warm_up(first: int, steps: list[float]) -> None:
    assert warm_up(steps) == first


@pytest.mark.parametrize(
    ("name", "trains"),
    [("one_step_on_iterator", True), ("train_step", True), ("one_step_on_data_distributed", False)],
)
def test_no_training_step_is_recovered_from_calls_of_predict(
    tmp_path: Path, name: str, trains: bool
) -> None:
    made = spaces.space()
    plane = spaces.Plane(made, "/host:CPU")
    line = plane.line("python")
    for start in range(6):
        spaces.call(plane, line, (name, 10.0 * start, 8.0), traced=False)
    spaces.write(made, tmp_path)
    assert (facts(tmp_path)[1] is not None) is trains
