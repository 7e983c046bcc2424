"""The ledger of a real trainer that is killed twice, against the trainer's own clock."""

import json
import os
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

import pytest

from tests.monitoring import recordings
from tpudiag.cli import main
from tpudiag.monitoring.ledger import TimeUse

pytestmark = pytest.mark.slow

TRAINER = """
import json, os, signal, sys, time
began = float(os.environ["BEGAN"])
out = open("events", "a")
def tell(kind, start):
    print(json.dumps([kind, start, time.time()]), file=out, flush=True)
import tpudiag
time.sleep(0.4)
def batches():
    for number in range(int(sys.argv[1])):
        start = time.time()
        time.sleep(0.02)
        tell("input", start)
        yield number
steps = tpudiag.track(batches(), global_batch_size=8, path="a.sqlite", name="train.py")
tell("start-up", began)
for number in steps:
    start = time.time()
    time.sleep(0.5 if number == 0 else 0.05)
    tell("first" if number == 0 else "step", start)
    if number % 20 == 19:
        start = time.time()
        with steps.pause("checkpoint"):
            time.sleep(0.3)
        tell("checkpoint", start)
    if number % 30 == 29:
        start = time.time()
        with steps.pause("evaluation"):
            time.sleep(0.4)
        tell("evaluation", start)
    # Well after a save, so that the save was written and what came after it was lost.
    if number == int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)
print("end", time.time(), file=open("end", "w"))
"""


def expected(events: list[tuple[str, float, float]], starts: list[int]) -> dict[str, float]:
    """Seconds by what the trainer says of itself; what a kill cost is repeated."""
    spent: dict[str, float] = defaultdict(float)
    ends = [*starts[1:], len(events)]
    for number, (first, last) in enumerate(zip(starts, ends, strict=True)):
        own = events[first:last]
        saves = [index for index, (kind, _, _) in enumerate(own) if kind == "checkpoint"]
        for index, (kind, start, end) in enumerate(own):
            lost = number < len(starts) - 1 and index > saves[-1]
            again = lost and kind in ("step", "input")
            spent["repeated" if again else kind] += end - start
        if number:
            spent["down"] += own[0][1] - events[first - 1][2]
    return spent


def test_over_two_restarts_it_is_within_3_percent(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "train.py").write_text(TRAINER, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    command = [sys.executable, "train.py"]
    starts: list[int] = []
    for steps, killed_at in ((900, 55), (900, 35), (50, 900)):
        file = tmp_path / "events"
        starts.append(len(file.read_text().splitlines()) if file.exists() else 0)
        began = {**environment, "BEGAN": str(time.time())}
        arguments = [*command, str(steps), str(killed_at)]
        subprocess.run(arguments, cwd=tmp_path, env=began, check=False, timeout=800)
        time.sleep(0.8)
    rows = (tmp_path / "events").read_text(encoding="utf-8").splitlines()
    events = [(kind, start, end) for kind, start, end in map(json.loads, rows)]
    spent = expected(events, starts)
    (worker,) = recordings.polled(tmp_path).workers
    account = worker.account()
    whole = events[-1][2] - events[0][1]
    assert account.total_s == pytest.approx(whole, rel=0.03)
    for use, seconds in {
        TimeUse.STEPS: spent["step"],
        TimeUse.INPUT: spent["input"],
        TimeUse.EVALUATION: spent["evaluation"],
        TimeUse.SAVE: spent["checkpoint"],
        TimeUse.COMPILE: spent["first"],
        TimeUse.START_UP: spent["start-up"],
    }.items():
        assert account.spent.get(use, 0.0) == pytest.approx(seconds, abs=0.03 * whole), use
    lost = sum(account.spent[use] for use in (TimeUse.REPEATED, TimeUse.DOWN))
    assert lost == pytest.approx(spent["repeated"] + spent["down"], abs=0.05 * whole)
    # What was stepped in the last second before a kill was not written any more: it is down time.
    assert account.spent[TimeUse.REPEATED] == pytest.approx(spent["repeated"], abs=2 * 1.5)
    assert worker.restarts == 2
    page = tmp_path / "report.html"
    options = ["--once", "--price", "3.6", "--fail-on", "never", "-o", str(page)]
    assert main(["watch", str(tmp_path), *options]) == 0
    said = capsys.readouterr().out
    assert "2 restarts seen." in said
    html = page.read_text(encoding="utf-8")
    assert "Where the time went" in html
    assert "steps repeated after a restart" in html
    assert '"kind":"ledger"' in html.replace(" ", "")
