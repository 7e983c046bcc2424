from pathlib import Path
from typing import Any

import pytest

from tests.sources.profile import spaces
from tpudiag.sources.profile import facts


def called(*traced: bool) -> Any:
    made = spaces.space()
    plane = spaces.Plane(made, "/host:CPU")
    python, kernels = plane.line("python"), plane.line("tf_Compute/1")
    for number, each in enumerate(traced):
        start = 10.0 + 30 * number
        spaces.call(plane, python, ("train_function", start, 8.0), each)
        plane.event(kernels, ("ExecutorState::Process", start + 1, 6.0))
    return made


def test_one_call_of_a_training_function_on_a_cpu_is_one_step(tmp_path: Path) -> None:
    found, steps = facts(spaces.write(called(False), tmp_path))
    assert steps
    assert steps.step_ms == (8.0,)
    assert "1 whole call of tf.function 'train_function'" in steps.source
    assert found.replicas[0].part("compute") == pytest.approx(6.0)


def test_a_call_that_traced_is_no_step(tmp_path: Path) -> None:
    assert facts(spaces.write(called(True), tmp_path))[1] is None
    assert len(spaces.steps(called(True, False), tmp_path).step_ms) == 1


def jax_on_a_cpu(ops: bool) -> Any:
    made = spaces.space()
    threads: dict[str, list[tuple[Any, ...]]] = {
        "python": [("PjitFunction(train_step)", 0.0, 25.0), ("PjitFunction(_norm)", 1.0, 2.0)],
        "tf_XLAPjRtCpuClient/1": [("dot.3", 1.0, 18.0, {"hlo_op": "dot.3"})] * ops,
    }
    starts = [100.0 + 30 * number for number in range(6)]
    spaces.each_step(spaces.Plane(made, "/host:CPU"), starts, threads)
    return made


def test_calls_of_a_jitted_function_on_a_cpu_are_steps(tmp_path: Path) -> None:
    found, steps = facts(spaces.write(jax_on_a_cpu(ops=True), tmp_path))
    assert steps
    assert steps.step_ms == pytest.approx((30.0,) * 5)
    assert "jax.jit's 'train_step'" in steps.source
    assert found.replicas[0].part("compute") == pytest.approx(5 * 18.0)
    assert not found.functions


def test_a_host_whose_work_was_not_traced_is_not_called_idle(tmp_path: Path) -> None:
    (replica,) = facts(spaces.write(jax_on_a_cpu(ops=False), tmp_path))[0].replicas
    assert replica.part("idle") == 0
    assert replica.part("not measured") == pytest.approx(5 * 30.0)


def test_a_program_of_xla_on_a_cpu_computes_until_its_threads_are_done(tmp_path: Path) -> None:
    waits = ("ThunkExecutor::Execute (wait for completion)", 3.0, 15.0)
    xla = [
        ("dot.3", 1.0, 2.0, {"hlo_op": "dot.3"}),
        waits,
        ("ThreadpoolListener::Region", 0.0, 20.0),
    ]
    starts = [100.0 + 30 * number for number in range(4)]
    made = spaces.marked(starts, {"tf_XLAPjRtCpuClient/1": xla})
    (replica,) = facts(spaces.write(made, tmp_path))[0].replicas
    assert replica.part("compute") == pytest.approx(4 * 17.0)


@pytest.mark.parametrize(
    ("first_ms", "every_ms", "length_ms", "ahead"),
    [(100.0, 1.5, 1.0, True), (100.0, 20.0, 0.5, True), (100.0, 20.0, 19.5, False)],
)
def test_marks_that_only_dispatch_are_no_steps(
    tmp_path: Path, first_ms: float, every_ms: float, length_ms: float, ahead: bool
) -> None:
    made = spaces.space("host")
    spans = [(100.0 + 20.0 * number, 19.9) for number in range(8)]
    spaces.add_steps(made, 0, spans, [("fusion.1", "loop fusion", None)], "jit_train_step", None)
    plane = spaces.Plane(made, "/host:CPU")
    line = plane.line("python")
    for number in range(8):
        plane.event(line, ("train", first_ms + every_ms * number, length_ms), step_num=number)
    steps = spaces.steps(made, tmp_path)
    assert ("only dispatch" in steps.source) is ahead
    assert steps.step_ms == pytest.approx((20.0,) * 7 if ahead else (19.5,) * 8)
