"""Traces that lost something: what is not known fails as before or is skipped, and never passes."""

from pathlib import Path
from typing import Any

import pytest

from tests.sources.profile import spaces
from tests.sources.profile.spaces import never_passed, outcomes, report, verdicts, without_lines
from tpudiag.model import Verdict
from tpudiag.sources.profile import facts
from tpudiag.sources.profile.schema import message


def ill() -> Any:
    """Devices with late input, long collectives, and a host that waits."""
    return spaces.training(devices=2, steps=8, step_ms=20.0, infeed_ms=6.0)


def cut_after(plane: Any, share: float) -> None:
    """Drop the operations after a share of the trace, as a full buffer does."""
    line = next(line for line in plane.lines if line.name == "XLA Ops")
    first, *_, last = sorted(event.offset_ps for event in line.events)
    kept = [event for event in line.events if event.offset_ps < first + share * (last - first)]
    del line.events[len(kept) :]


@pytest.mark.parametrize("share", [0.0, 0.25, 0.6])
def test_operations_that_the_trace_lost_are_not_compute(tmp_path: Path, share: float) -> None:
    made = ill()
    before = verdicts(spaces.write(made, tmp_path))
    assert before["TPU201"] is before["TPU504"] is Verdict.FAILED
    for plane in spaces.devices(made):
        cut_after(plane, share)
    file = spaces.write(made, tmp_path)
    found, _ = facts(file)
    never_passed(before, verdicts(file))
    (first, *_) = found.replicas
    assert first.part("not measured") > first.part("compute")
    assert all((device.ops_share or 0) < 0.7 for device in found.devices)
    assert any("lost operations" in note for note in report(file).notes)


def test_without_operations_a_device_is_not_known_to_work(tmp_path: Path) -> None:
    """Programs run on it without a gap, and may do nothing but wait."""
    made = spaces.training(devices=2, steps=8, step_ms=20.0)
    assert verdicts(spaces.write(made, tmp_path))["TPU406"] is Verdict.PASSED
    for plane in spaces.devices(made):
        cut_after(plane, 0.0)
    assert verdicts(spaces.write(made, tmp_path))["TPU406"] is Verdict.SKIPPED


def test_waits_for_copies_without_their_text_are_neither_work_nor_the_host_s(
    tmp_path: Path,
) -> None:
    wait = ("copy-done.4", "copy-done", 12.0)
    file = spaces.write(spaces.pod_host("h", compute_ms=2.0, extra=[wait]), tmp_path)
    told, verdict = report(file), verdicts(file)
    assert verdict["TPU210"] is verdict["TPU405"] is verdict["TPU406"] is Verdict.SKIPPED
    assert "not measured 60%" in told.headline
    assert any("asynchronous copies" in note for note in told.notes)


def test_a_device_without_operations_is_not_the_one_that_the_others_wait_for(
    tmp_path: Path,
) -> None:
    made = ill()
    cut_after(next(plane for plane in made.planes if plane.name == "/device:TPU:1"), 0.0)
    figures = report(spaces.write(made, tmp_path)).measurements
    assert figures["input_wait_share"].value == pytest.approx(100 * 6.0 / 20.5)


@pytest.mark.parametrize("slow_ms", [0.0, 3.0])
def test_a_host_without_operations_is_no_straggler(tmp_path: Path, slow_ms: float) -> None:
    hosts = [spaces.pod_host(f"h{n}", compute_ms=14.0 + slow_ms * (n == 1)) for n in range(5)]
    for plane in spaces.devices(hosts[3]):
        cut_after(plane, 0.0)
    for number, made in enumerate(hosts):
        spaces.write(made, tmp_path, host=f"h{number}")
    outcome = outcomes(tmp_path)["TPU503"]
    assert outcome.verdict is (Verdict.FAILED if slow_ms else Verdict.SKIPPED)
    assert all("h1" in finding.message for finding in outcome.findings)


def test_hosts_whose_steps_are_found_in_two_ways_are_not_compared(tmp_path: Path) -> None:
    for number in range(4):
        made = spaces.pod_host(f"h{number}")
        if number == 2:
            without_lines(made.planes, "Steps")
        spaces.write(made, tmp_path, host=f"h{number}")
    outcome = outcomes(tmp_path)["TPU503"]
    assert outcome.verdict is Verdict.SKIPPED
    assert "not marked in the same way" in (outcome.reason or "")


def test_time_of_operations_without_their_program_is_busy(tmp_path: Path) -> None:
    made = spaces.pod_host("a", devices=1)
    before = facts(spaces.write(made, tmp_path))[0].devices[0].busy_ms
    line = next(line for plane in made.planes for line in plane.lines if line.name == "XLA Modules")
    del line.events[4:]
    (device,) = facts(spaces.write(made, tmp_path))[0].devices
    assert device.busy_ms == pytest.approx(before)


def test_use_of_the_peaks_is_over_the_time_that_is_told(tmp_path: Path) -> None:
    made = spaces.pod_host("a", steps=10)
    whole = report(spaces.write(made, tmp_path)).measurements["mxu_utilization"].value
    for plane in spaces.devices(made):
        cut_after(plane, 0.3)
    figures = report(spaces.write(made, tmp_path)).measurements
    assert figures["mxu_utilization"].value == pytest.approx(whole, rel=0.02)


def test_no_line_and_no_plane_can_be_taken_away_for_a_pass(tmp_path: Path) -> None:
    made = ill()
    spaces.add_reading(made, [100.0, 125.0], 5.0)
    before = verdicts(spaces.write(made, tmp_path))
    whole: bytes = made.SerializeToString()
    for number, plane in enumerate(made.planes):
        for place in (None, *range(len(plane.lines))):
            copy: Any = message("XSpace")()
            copy.ParseFromString(whole)
            if place is None:
                del copy.planes[number]
            else:
                del copy.planes[number].lines[place]
            never_passed(before, verdicts(spaces.write(copy, tmp_path)))


def test_a_file_that_holds_itself_twice_counts_once(tmp_path: Path) -> None:
    file = spaces.write(spaces.training(devices=2), tmp_path)
    once = facts(file)[0]
    file.write_bytes(file.read_bytes() * 2)
    twice = facts(file)[0]
    assert len(twice.devices) == len(once.devices) == 2
    assert [op.count for op in twice.ops] == [op.count for op in once.ops]
    assert "twice" in twice.warnings[0]


def test_a_step_that_the_trace_cut_is_in_no_mean(tmp_path: Path) -> None:
    made = spaces.training(devices=2, steps=8)
    for plane in spaces.devices(made):
        lines = {line.name: line for line in plane.lines}
        lines["Steps"].events[-1].duration_ps //= 8
        del lines["XLA Ops"].events[-3:]
    assert spaces.steps(made, tmp_path).step_ms == pytest.approx([20.5] * 7)


@pytest.mark.parametrize("host_memory", [True, False])
def test_transfers_do_not_pass_where_the_hosts_trace_is_gone(
    tmp_path: Path, host_memory: bool
) -> None:
    made = spaces.training(devices=1, steps=6, step_ms=20.0, infeed_ms=0.0 if host_memory else 3.0)
    for plane in [plane for plane in made.planes if plane.name == "/host:CPU"]:
        made.planes.remove(plane)
    if host_memory:
        metadata = made.planes[1].event_metadata
        for key in metadata:
            if metadata[key].display_name == "infeed.1":
                metadata[key].name = "%copy-done.1 = f32[8]{0} copy-done((f32[8]{0:S(5)}) %c)"
                metadata[key].stats[0].str_value = "copy-done"
    assert verdicts(spaces.write(made, tmp_path))["TPU210"] is Verdict.SKIPPED


def test_nothing_passes_while_a_device_that_ran_shows_no_steps(tmp_path: Path) -> None:
    made = spaces.pod_host("a", steps=10)
    without_lines(made.planes, "Steps")
    without_lines(spaces.devices(made)[1:], "XLA Modules")
    found = outcomes(spaces.write(made, tmp_path))
    for id_ in ("TPU201", "TPU405", "TPU406"):
        assert found[id_].verdict is not Verdict.PASSED, id_
    assert "/device:TPU:1 (its XLA Modules line)" in (found["TPU406"].reason or "")


@pytest.mark.parametrize("runtime", ["tpu::System::Execute=>Done", "XLA::TPU HLO optimization"])
def test_a_host_that_drives_a_tpu_is_no_rehearsal(tmp_path: Path, runtime: str) -> None:
    made = spaces.space("w")
    plane = spaces.Plane(made, "/host:CPU")
    python, other = plane.line("python"), plane.line("futex/7")
    for number in range(6):
        start = 100.0 + 30 * number
        plane.event(python, ("train", start, 20.0), step_num=number)
        plane.event(python, ("IteratorGetNextOp::DoCompute", start, 0.1))
        plane.event(other, (runtime, start + 1, 0.5))
    found = report(spaces.write(made, tmp_path))
    drives = "Execute" in runtime
    assert ("devices are not in the profile" in (found.headline or "")) is drives
    assert any("holds no device" in note for note in found.notes) is drives
    assert {o.id: o.verdict for o in found.outcomes}["TPU201"] is not Verdict.PASSED
