"""Who waits for whom; a cause in alert, hook and figures; tools of our own in place of py-spy."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.monitoring import recordings
from tpudiag.monitoring.causes.investigation import Tools, odd_one
from tpudiag.monitoring.causes.machine_events import MachineEvent, announced, of_node
from tpudiag.monitoring.causes.stacks import MainThread
from tpudiag.monitoring.store import Store
from tpudiag.signals import CauseKind, CloudTpu
from tpudiag.sources.live.tpu_monitoring import ChipScore

WAITS = MainThread(lines=(("t.py:9 (all_reduce)", 0.9), ("t.py:3 (step)", 0.1)))
LOADS = MainThread(lines=(("t.py:5 (load)", 0.8), ("t.py:3 (step)", 0.2)))
STEPS = MainThread(lines=(("t.py:3 (step)", 1.0),))
TOOLS = Tools(stacks=lambda _: STEPS, events=lambda: None, devices=tuple)


def test_the_one_that_the_others_wait_for() -> None:
    assert odd_one({0: WAITS, 1: WAITS, 2: LOADS, 3: WAITS}) == (2, "t.py:5 (load)")
    assert odd_one({0: WAITS, 1: LOADS}) is None, "two do not tell"
    assert odd_one({0: WAITS, 1: LOADS, 2: LOADS, 3: WAITS}) is None
    assert odd_one({0: STEPS, 1: STEPS, 2: STEPS}) is None
    assert odd_one({0: WAITS, 1: WAITS, 2: STEPS}) == (2, "t.py:3 (step)")


def test_the_alert_and_its_hook_carry_the_cause(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tpudiag.monitoring.causes.host.EVERY_S", 1e9)
    path, told = tmp_path / "a.sqlite", tmp_path / "told"
    run, store = recordings.run(700), Store(path)
    windows = recordings.windows(run.started_ns, [1.0] * 600 + [1.6] * 60)
    waits_ms = [10.0] * 600 + [600.0] * 60
    waiting = [replace(w, wait_ms=ms) for w, ms in zip(windows, waits_ms, strict=True)]
    store.write(run, tuple(waiting))
    store.close()
    with recordings.looked(path, tools=TOOLS, on_alert=f"cat > {told}.$TPUDIAG_ALERT") as session:
        assert session.job.slowest.figures().cause is CauseKind.INPUT
        raised = next(alert for alert in session.alerts.lines if alert.startswith("TPU603"))
        assert "The cause: input: the step waits for input." in raised
        (finding,) = next(o for o in session.outcomes if o.id == "TPU603").findings
    figures = {one.name: one.value for one in finding.evidence}
    assert figures["waiting for input"] == pytest.approx(600)
    assert figures["waiting for input, before"] == pytest.approx(10)
    payload = json.loads(Path(f"{told}.TPU603").read_text(encoding="utf-8"))
    assert payload["cause"]["kind"] == "input"
    assert payload["cause"]["evidence"][0]["before"] == pytest.approx(10)


def test_where_nothing_is_proven_it_is_said_where_the_job_stands(tmp_path: Path) -> None:
    recordings.write(tmp_path / "a.sqlite", [1.0] * 600 + [1.6] * 60)
    with recordings.looked(tmp_path, tools=TOOLS) as session:
        assert session.job.slowest.figures().cause is None
        assert "The cause is not known; its main thread was at t.py:3" in session.alerts.lines[0]


def test_googles_machines_are_asked_for_their_end(tmp_path: Path) -> None:
    product = tmp_path / "product_name"
    assert announced(product) is None, "no such file"
    product.write_text("Standard PC", encoding="utf-8")
    assert announced(product, lambda _: "TRUE") is None
    product.write_text("Google Compute Engine\n", encoding="utf-8")
    preempted = MachineEvent("it was preempted", final=True)
    assert announced(product, {"preempted": "TRUE"}.get) == preempted
    told = {"preempted": "FALSE", "maintenance-event": "TERMINATE_ON_HOST_MAINTENANCE"}
    expected = MachineEvent("maintenance event TERMINATE_ON_HOST_MAINTENANCE")
    assert announced(product, told.get) == expected
    assert announced(product, lambda _: None) is None


NODE = CloudTpu(
    name="mine", project="p", zone="z", state="READY", health="HEALTHY", health_description="",
    accelerator_type="v5litepod-8", runtime_version="", preemptible=True, workers=(),
)  # fmt: skip


@pytest.mark.parametrize(
    ("node", "event"),
    [
        (NODE, None),
        (replace(NODE, state="PREEMPTED"), MachineEvent("TPU mine is PREEMPTED", final=True)),
        (
            replace(NODE, health="UNHEALTHY_MAINTENANCE"),
            MachineEvent("TPU mine: UNHEALTHY_MAINTENANCE"),
        ),
        (replace(NODE, symptoms=("OUT_OF_MEMORY",)), MachineEvent("TPU mine: OUT_OF_MEMORY")),
    ],
)
def test_what_the_api_says_of_a_tpu(node: CloudTpu, event: MachineEvent | None) -> None:
    assert of_node(node) == event


def test_a_tpu_that_was_taken_away_is_the_cause_on_other_hosts_too(tmp_path: Path) -> None:
    recordings.write(tmp_path / "a.sqlite", [1.0] * 600, silent_s=900, host="elsewhere")
    gone = MachineEvent("TPU mine is PREEMPTED", final=True)
    with recordings.looked(tmp_path, tools=Tools(node=lambda: gone)) as session:
        cause = session.job.slowest.cause
    assert cause is not None
    assert cause.kind is CauseKind.PREEMPTION


def test_a_throttled_chip_is_the_cause_and_ill_links_stand_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tpudiag.monitoring.causes.host.EVERY_S", 1e9)
    recordings.write(tmp_path / "a.sqlite", [1.0] * 600 + [1.6] * 60)
    chips = (ChipScore("throttling", "2", 4), ChipScore("ICI link", "tray1.chip3.ici1.int", 7))
    tools = Tools(lambda _: STEPS, lambda: None, tuple, lambda _: chips)
    with recordings.looked(tmp_path, tools=tools) as session:
        cause = session.job.slowest.cause
    assert cause is not None
    assert cause.kind is CauseKind.DEVICE
    assert [(one.name, one.now, one.unit) for one in cause.figures] == [
        ("chip 2 throttled by", 40.0, "%"),
        ("trouble of ICI link tray1.chip3.ici1.int", 7, "of 10"),
    ]
