"""Whole planes, lines and stretches of a trace taken away: never from failed to passed."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.sources.profile import spaces
from tests.sources.profile.spaces import never_passed, outcomes, report, verdicts, without_lines
from tpudiag.model import Verdict

IDLE, LOW = "TPU406", "TPU405"


def uneven(host: str = "a", slow: int = 1, devices: int = 3) -> Any:
    """Devices that multiply in most of each step, but one that mostly idles."""
    made = spaces.space(host)
    for ordinal in range(devices):
        length = 4.0 if ordinal == slow else 19.5
        about = {"matmul.1": {**spaces.ABOUT["matmul.1"], "flops": int(length * 5e11)}}
        spans = [(100.0 + 20 * number, 20.0) for number in range(8)]
        ops = (("matmul.1", "convolution fusion", length),)
        spaces.add_steps(made, ordinal, spans, ops, idle_ms=20.0 - length, about=about)
    return made


def without(made: Any, name: str) -> Any:
    made.planes.remove(next(plane for plane in made.planes if plane.name == name))
    return made


@pytest.mark.parametrize("ordinal", [0, 1])
def test_a_device_that_is_gone_was_perhaps_the_idle_one(tmp_path: Path, ordinal: int) -> None:
    gone = f"/device:TPU:{ordinal}"
    assert f"lacks a {gone}" in reason_after(tmp_path, uneven(slow=ordinal), gone)
    assert any(gone in note for note in report(tmp_path).notes)


@pytest.mark.parametrize("gone", ["/device:TPU:2", None])
def test_another_host_tells_how_many_devices_there_are(tmp_path: Path, gone: str | None) -> None:
    whole, cut = uneven("a", slow=-1), uneven("b", slow=2)
    for name in (gone,) if gone else [f"/device:TPU:{number}" for number in range(3)]:
        without(cut, name)
    spaces.add_host(cut, [100.0 + 20 * number for number in range(8)])
    for made, host in ((whole, "a"), (cut, "b")):
        spaces.write(made, tmp_path, host=host)
    assert verdicts(tmp_path)[IDLE] is Verdict.SKIPPED


def test_hosts_may_count_on_from_one_another(tmp_path: Path) -> None:
    for number, host in enumerate("ab"):
        made = uneven(host, slow=-1)
        for plane in spaces.devices(made):
            name, _, ordinal = plane.name.rpartition(":")
            plane.name = f"{name}:{3 * number + int(ordinal)}"
        spaces.write(made, tmp_path, host=host)
    assert verdicts(tmp_path)[IDLE] is Verdict.PASSED


@pytest.mark.parametrize("kept", [range(3), range(3, 8), (0, 1, 6, 7)])
def test_steps_of_which_everything_else_is_lost_are_not_idle(
    tmp_path: Path, kept: Sequence[int]
) -> None:
    made = spaces.training(devices=2, steps=8, step_ms=20.0, infeed_ms=1.3)
    before = verdicts(spaces.write(made, tmp_path))
    for plane in made.planes:
        for line in plane.lines:
            if line.name in ("XLA Modules", "XLA Ops"):
                begin = min(event.offset_ps for event in line.events)
                for place in reversed(range(len(line.events))):
                    if (line.events[place].offset_ps - begin) // (25 * spaces.MS) not in kept:
                        del line.events[place]
    after = verdicts(spaces.write(made, tmp_path))
    never_passed(before, after)
    assert after["TPU201"] is Verdict.FAILED
    assert after["TPU405"] is Verdict.SKIPPED


def test_a_device_without_any_event_may_have_been_the_slow_one(tmp_path: Path) -> None:
    made = uneven(slow=1)
    del spaces.devices(made)[1].lines[:]
    after = verdicts(spaces.write(made, tmp_path))
    assert after[IDLE] is Verdict.FAILED
    assert after[LOW] is Verdict.SKIPPED


def test_a_device_with_fewer_steps_than_the_others_was_cut(tmp_path: Path) -> None:
    made = uneven(slow=-1)
    for line in spaces.devices(made)[2].lines:
        del line.events[4:]
    outcome = outcomes(spaces.write(made, tmp_path))[IDLE]
    assert outcome.verdict is Verdict.SKIPPED
    assert "4 steps of a /device:TPU:2" in (outcome.reason or "")


def reason_after(tmp_path: Path, made: Any, gone: str) -> str:
    """Why no check of the devices passes once a plane is gone, where the others pass it."""
    assert verdicts(spaces.write(made, tmp_path))[IDLE] is Verdict.FAILED
    after = outcomes(spaces.write(without(made, gone), tmp_path))
    assert after[IDLE].verdict is after[LOW].verdict is Verdict.SKIPPED
    return after[IDLE].reason or ""


def test_the_memory_of_the_last_device_of_a_lone_host_tells_of_it(tmp_path: Path) -> None:
    made = uneven(slow=2)
    host = spaces.Plane(made, "/host:CPU")
    line = host.line("main")
    for number in range(3):
        sizes = {"bytes_allocated": 1, "allocation_bytes": 1, "bytes_available": 1 << 30}
        host.event(line, ("MemoryAllocation", 100.0 + number, 0.0), index_on_host=number, **sizes)
    assert "lacks a /device:TPU:2" in reason_after(tmp_path, made, "/device:TPU:2")


def test_the_devices_of_a_program_tell_of_the_last_of_a_lone_host(tmp_path: Path) -> None:
    made = uneven(slow=2)
    spaces.add_program(made, "cluster_train", {}, devices=3)
    assert "1 of the 3 devices" in reason_after(tmp_path, made, "/device:TPU:2")


def test_other_hosts_of_a_program_are_no_lost_devices(tmp_path: Path) -> None:
    made = uneven(slow=-1)
    spaces.add_program(made, "cluster_train", {}, devices=6)
    assert verdicts(spaces.write(made, tmp_path))[IDLE] is Verdict.PASSED
    notes = report(tmp_path).notes
    assert any("runs on 6 devices, of which the profile holds 3" in note for note in notes)


def test_a_chip_with_fewer_cores_than_the_others_lacks_one(tmp_path: Path) -> None:
    made = uneven(slow=3, devices=4)
    for number, plane in enumerate(spaces.devices(made)):
        names = {plane.stat_metadata[key].name: key for key in plane.stat_metadata}
        details = bytes((0x20, number // 2, 0x28, number // 2 + 4, 0x30, number))
        id_ = names.get("core_details", len(names) + 1)
        plane.stat_metadata[id_].id, plane.stat_metadata[id_].name = id_, "core_details"
        plane.stats.add(metadata_id=id_, bytes_value=details)
    assert "a core of chip 5" in reason_after(tmp_path, made, "/device:TPU:3")


def test_operations_without_their_steps_and_programs_pass_nothing(tmp_path: Path) -> None:
    made = uneven(slow=1)
    without_lines(made.planes, "Steps", "XLA Modules")
    after = verdicts(spaces.write(made, tmp_path))
    assert Verdict.PASSED not in {after[IDLE], after[LOW]}
    notes = report(tmp_path).notes
    assert any("/device:TPU:1 (its XLA Modules line)" in note for note in notes)
