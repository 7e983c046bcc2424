"""Profiles of other hardware and of other writers than today's TensorFlow on a TPU."""

from pathlib import Path
from typing import Any

import pytest

from tests.sources.profile import spaces
from tests.sources.profile.spaces import outcomes, report
from tpudiag.model import Verdict
from tpudiag.sources.profile import facts

STARTS = [100.0 + 30 * step for step in range(4)]
V5P_CORE = {
    "device_type_string": "TPU v5",
    "peak_teraflops_per_second": 233.4,
    "peak_hbm_bw_gigabytes_per_second": 1382.4,
    "has_megacore": 0,
}


FUSED = (("fusion.1", "loop fusion", None),)


def cores(stats: dict[str, Any]) -> Any:
    made = spaces.space("host")
    for ordinal in range(8):
        chip: dict[str, Any] = {"core_details": bytes((0x20, ordinal // 2, 0x28, ordinal // 2))}
        about = stats | (chip if "chips" in stats else {})
        spans = [(100.0 + 20 * number, 19.0) for number in range(6)]
        spaces.add_steps(made, ordinal, spans, FUSED, "jit_train_step", None, stats=about)
    return made


@pytest.mark.parametrize(
    ("stats", "target", "chips"),
    [
        ({"chips": 1}, "v5p-8", 4),
        ({}, "v5p-8", 4),
        ({"peak_teraflops_per_second": 459.0, "has_megacore": 1}, "v5p-16", 8),
    ],
    ids=["two core planes and its details", "two core planes", "a megacore plane"],
)
def test_what_is_one_chip(tmp_path: Path, stats: dict[str, Any], target: str, chips: int) -> None:
    found = report(spaces.write(cores(V5P_CORE | stats), tmp_path))
    assert found.target and found.target.name == target
    assert found.measurements["chips"].value == chips


def test_host_offload_is_no_compute(tmp_path: Path) -> None:
    made = spaces.space()
    text = "f32[8]{0:T(128)} copy-done((f32[8]{0:T(128)}, f32[8]{0:T(128)S(5)}) %copy-start)"
    spans = [(100.0 + 20 * number, 20.0) for number in range(8)]
    ops = (("copy-done.4", "copy-done", 18.0), *FUSED)
    spaces.add_steps(made, 0, spans, ops, "jit_f", None, about={"copy-done.4": {"text": text}})
    file = spaces.write(made, tmp_path)
    found, steps = facts(file)
    (replica,) = found.replicas
    assert steps
    assert "jit_f" in steps.source
    assert "not known" in steps.source
    assert replica.part("host memory") == pytest.approx(7 * 18.0)
    said = outcomes(file)
    assert said["TPU210"].verdict is Verdict.FAILED
    assert "host" in said["TPU210"].findings[0].message
    assert said["TPU405"].verdict is said["TPU406"].verdict is Verdict.SKIPPED


def test_a_program_of_any_name_by_hand(tmp_path: Path) -> None:
    made = spaces.space()
    runs = [("serve(1)", 100.0 + 10 * n, 9.0) for n in range(5)]
    spaces.add_device(made, 0, runs, [("fusion.1", "loop fusion", s, d) for _, s, d in runs])
    file = spaces.write(made, tmp_path)
    assert facts(file)[1] is None
    found = report(file, step_name="serve")
    assert found.measurements["step_time_ms"].value == pytest.approx(10.0)


def test_gpus_are_said_to_be_gpus(tmp_path: Path) -> None:
    made = spaces.space()
    for number in range(2):
        plane = spaces.Plane(made, f"/device:GPU:{number}")
        stream, marks = plane.line("Stream #20(Compute)"), plane.line("Steps")
        for step in range(4):
            plane.event(stream, ("kernel", 100.0 + 30 * step, 12.0))
            plane.event(marks, (str(step), 100.0 + 30 * step, 20.0))
    found = report(spaces.write(made, tmp_path))
    assert found.headline
    assert "2 GPUs" in found.headline
    assert "compute 60%" in found.headline
    assert found.target is None


@pytest.mark.parametrize("work", [True, False])
def test_the_work_of_an_eager_get_next_is_the_wait(tmp_path: Path, work: bool) -> None:
    asks = [("EagerLocalExecute: IteratorGetNext", 0.0, 5.0)]
    asks += [("IteratorGetNextOp::DoCompute", 0.5, 4.0)] * work
    steps = spaces.steps(spaces.marked(STARTS, {"python": asks}), tmp_path)
    assert steps.input_wait_ms == pytest.approx([4.0 if work else 5.0] * 4)
    assert steps.input_wait_source
    assert ("whole eager calls" in steps.input_wait_source) is not work


def test_old_writers_spell_their_strings_out(tmp_path: Path) -> None:
    made = spaces.space()
    plane = spaces.Plane(made, "/host:CPU")
    line = plane.line("python")
    for number, name in enumerate(("TPU_0_bfc", "a name of more than sixteen bytes", "TPU_0_bfc")):
        plane.event(
            line,
            ("MemoryAllocation", 100.0 + number, 0.0),
            allocator_name=name,
            bytes_reserved=0,
            bytes_allocated=1000 * (number + 1),
            bytes_available=10_000,
            requested_bytes=1000,
            allocation_bytes=1000,
            addr=number + 1,
            tf_op=f"dense_{number}/kernel",
        )
    plane.event(line, ("train_step", 110.0, 5.0), tf_function_call="traced-nonXla")
    found, _ = facts(spaces.write(made, tmp_path))
    assert found.memory
    held = {peak.allocator: dict(peak.held_by) for peak in found.memory}
    assert set(held) == {"TPU_0_bfc", "a name of more than sixteen bytes"}
    assert held["TPU_0_bfc"]["dense_2/kernel"] == 1000
    assert found.functions
    assert (found.functions[0].name, found.functions[0].traces) == ("train_step", 1)


def steps_of(ops: tuple[tuple[str, str, float], ...], **about: Any) -> Any:
    made = spaces.space("host")
    spans = [(100.0 + 21 * number, 20.0) for number in range(8)]
    spaces.add_steps(made, 0, spans, ops, "jit_train_step", **about)
    return made


def test_kernels_of_unknown_cost_leave_the_use_of_the_mxu_open(tmp_path: Path) -> None:
    ops = (("attention.1", "custom-call", 14.0), ("fusion.1", "loop fusion", 6.0))
    for flops, expected in ((0, Verdict.SKIPPED), (10**9, Verdict.FAILED)):
        cost = {"attention.1": {"flops": flops, "bytes_accessed": flops}}
        file = spaces.write(steps_of(ops, about=cost), tmp_path)
        found = report(file)
        assert outcomes(file)["TPU405"].verdict is expected
        assert any("Pallas" in note for note in found.notes) is (flops == 0)
        (longest,) = (t for t in found.tables if t.title == "Operations")
        assert (longest.rows[0][4] == "-") is (flops == 0)


def test_no_rate_stands_above_what_the_chip_can_do(tmp_path: Path) -> None:
    ops = (("copy-done.1", "copy-done", 0.001), ("fusion.1", "loop fusion", 19.0))
    about = {"copy-done.1": {"bytes_accessed": 10**12}}
    found = report(spaces.write(steps_of(ops, about=about), tmp_path))
    for table in found.tables:
        heads = [i for i, name in enumerate(table.columns) if name in ("HBM %", "% of peak")]
        assert all(row[i] == "-" or float(row[i]) <= 210 for row in table.rows for i in heads)
