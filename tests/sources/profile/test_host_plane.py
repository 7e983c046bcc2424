"""What a host's plane says."""

from pathlib import Path
from typing import Any

import pytest

from tests.sources.profile import spaces
from tpudiag.sources import profile
from tpudiag.sources.profile import xspace
from tpudiag.sources.profile.host_plane import read_host, steps_named
from tpudiag.sources.profile.host_read import HostRead, Mark

MS = 10**9


def host(made: Any, span: str | None = None) -> HostRead:
    planes = xspace.space(memoryview(made.SerializeToString())).planes()
    return read_host(next(p for p in planes if p.name == "/host:CPU"), span)


def mark(name: str, start: int, end: int, *, numbered: bool = True) -> Mark:
    return Mark(name, "python", start, start, end, numbered)


def test_steps_input_and_kernels() -> None:
    made = spaces.space()
    spaces.add_host(
        made, (100.0, 125.0), asked=[("python", 101.0, 4.0), ("tf_1", 102.0, 5.0)],
        kernels=[("tf_Compute/1", 106.0, 10.0), ("tf_data_private/2", 106.0, 15.0)],
    )  # fmt: skip
    read = host(made)
    assert [(m.name, m.number, m.end - m.start) for m in steps_named(read.marks, None)] == [
        ("train", 7, 20 * MS), ("train", 8, 20 * MS),
    ]  # fmt: skip
    assert set(read.get_next) == {"python", "tf_1"} and not read.get_next_whole
    assert read.all_get_next.total == 6 * MS, "both threads together, once"
    assert read.kernels.total == 10 * MS, "functions of tf.data are no kernels of the step"
    assert read.spans_ps is not None and read.spans_ps[1] - read.spans_ps[0] == 45 * MS
    assert host(made, "train").marks != read.marks
    assert host(_empty()).spans_ps is None


def _empty() -> Any:
    made = spaces.space()
    spaces.Plane(made, "/host:CPU")
    return made


def test_marks_of_one_name_without_those_inside() -> None:
    marks = [
        mark("train", 0, 10), mark("train", 2, 8), mark("eval", 11, 12), mark("train", 12, 20),
        mark("mine", 30, 40, numbered=False), mark("mine", 32, 38, numbered=False),
    ]  # fmt: skip
    assert [m.start for m in steps_named(marks, None)] == [0, 12]
    assert [m.start for m in steps_named(marks, "mine")] == [30]
    assert steps_named([], None) == ()
    many = [mark("epoch", 0, 1), *(mark("step", at, at + 1) for at in range(2, 9))]
    assert len(steps_named(many, None)) == 7, "the name that marks most"
    long = [mark("train", at * 10, at * 10 + 5) for at in range(50_000)]
    assert len(steps_named(long, "train")) == 50_000


def test_what_eager_ops_and_callbacks_took(tmp_path: Path) -> None:
    made = spaces.space()
    plane = spaces.Plane(made, "/host:CPU")
    line = plane.line("python")
    plane.event(line, ("EagerLocalExecute: AddV2", 0.0, 10.0))
    plane.event(line, ("EagerLocalExecute: Mul", 20.0, 30.0))
    plane.event(line, ("other", 90.0, 10.0))
    facts, _ = profile.facts(spaces.write(made, tmp_path))
    assert facts.eager_share == pytest.approx(0.4)
    assert [(op.op, op.ms) for op in facts.eager_ops or ()] == [("Mul", 30.0), ("AddV2", 10.0)]
    assert facts.callbacks is None, "no executor was traced"
