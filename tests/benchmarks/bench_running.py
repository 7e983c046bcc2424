"""Faults put into runs: how many are detected rightly or falsely, and how soon.

    uv run python -m tests.benchmarks.bench_running [--scripted | --real] [-v]

Scripted runs go by a clock of their own; real ones are small processes that are watched.
"""

import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any, cast

from tests.benchmarks import running_jobs, running_scripts
from tests.benchmarks.running_scripts import Scripted
from tpudiag.catalogue import checks
from tpudiag.diagnoses.watch_request import WatchRequest
from tpudiag.diagnoses.watch_session import WatchSession
from tpudiag.diagnoses.watched_figures import headline, merged
from tpudiag.engine import examine
from tpudiag.errors import TpudiagError
from tpudiag.model import Outcome, Severity, Verdict
from tpudiag.monitoring import run_signals
from tpudiag.monitoring.clocks import Clock
from tpudiag.monitoring.follower import Watched
from tpudiag.monitoring.recording import NS, Pause, Recording, Run
from tpudiag.monitoring.windows import Windows
from tpudiag.settings import Settings

IDS = ("TPU201", "TPU603", "TPU604", "TPU605", "TPU607", "TPU608", "TPU609", "TPU610", "TPU611")
EVERY_S = 5.0
BEGAN_NS = 1_700_000_000 * NS
REAL_S, HEAVY_S = 45.0, 180.0
"""How long processes are looked at; those of TensorFlow import it first."""


@dataclass(frozen=True)
class Told:
    """What became of one run."""

    name: str
    word: str
    right: bool
    after_s: float | None = None
    false: str = ""


class Played:
    """A source that gives what a recorder would have kept of a script."""

    def __init__(self, case: Scripted, place: int, clock: Clock) -> None:
        self._case, self._clock, self._place = case, clock, place
        restarted = len(case.batch) > 1
        self._scripts = case.of_workers if restarted else case.of_workers[place : place + 1]
        self._index, self._begin_s = -1, 0.0
        self._next()

    def _next(self) -> None:
        self._index += 1
        batch = self._case.batch[min(self._index, len(self._case.batch) - 1)]
        started_ns = BEGAN_NS + int(self._begin_s * NS)
        self._run = Run(
            id=f"{self._place}{self._index}", name="train.py", host="host", pid=100 + self._index,
            started_ns=started_ns, beat_ns=started_ns, global_batch=batch,
            worker=f"worker {self._place}" if len(self._case.batch) == 1 else "",
        )  # fmt: skip
        self._windows = Windows(0, started_ns, batch)
        self._steps = self._scripts[self._index](random.Random(self._case.name))
        self._waiting = next(self._steps, None)

    def poll(self) -> Sequence[Recording]:
        """What is new by the clock."""
        now_s = (self._clock.now_ns() - BEGAN_NS) / NS
        steps: list[tuple[int, int, int, int]] = []
        pauses: list[Pause] = []
        pausing: str | None = None
        while self._waiting is not None:
            at_s, one = self._waiting
            begun_s = self._begin_s + at_s
            pause_s = one.pause[1] if one.pause else 0.0
            ended_s = begun_s + pause_s + one.silent_s + one.took_s
            if one.pause and begun_s <= now_s < begun_s + pause_s:
                pausing = one.pause[0]
            if ended_s > now_s:
                break
            if one.pause:
                pauses.append(Pause(one.pause[0], _ns(begun_s), _ns(begun_s + pause_s)))
            steps.append((_ns(ended_s), 1, int(one.wait_s * NS) if one.wait_s else -1, -1))
            self._waiting = next(self._steps, None)
        self._run = replace(self._run, beat_ns=_ns(now_s), pausing=pausing)
        windows = tuple(self._windows.add(steps, pauses, None, ended=False))
        ended = self._waiting is None and self._index < len(self._scripts) - 1
        if ended:
            self._run = replace(self._run, ended_ns=self._run.beat_ns)
        recording = Recording(self._run, windows, "played")
        if ended:
            self._begin_s = now_s
            self._next()
        return [recording]


def _ns(at_s: float) -> int:
    return BEGAN_NS + int(at_s * NS)


def played(case: Scripted) -> Told:
    """One scripted run, looked at each few seconds until its end."""
    now_s = [0.0]
    clock = Clock(lambda: _ns(now_s[0]), lambda: _ns(now_s[0]), "elsewhere")
    places = 1 if len(case.batch) > 1 else len(case.of_workers)
    workers = [Watched(cast(Any, Played(case, place, clock)), clock) for place in range(places)]
    chosen, false = [one for one in checks() if one.id in IDS], ""
    while now_s[0] < case.until_s:
        now_s[0] += EVERY_S
        judged: list[tuple[str, bool, tuple[Outcome, ...]]] = []
        for place, watched in enumerate(workers):
            watched.poll()
            watched.worker = f"worker {place}" if places > 1 else ""
            outcomes = examine(run_signals.signals(watched), chosen, Settings())
            judged.append((watched.worker, False, outcomes))
        said = [*_said(merged(judged)), *_rate(workers[0])]
        if case.word and now_s[0] > case.fault_s and _matches(case.word, said):
            return Told(case.name, case.word, True, now_s[0] - case.fault_s, false)
        alarms = [one for one in said if not one.startswith("rate") and not _kin(case.word, one)]
        if alarms and (not case.word or now_s[0] < case.fault_s):
            false = false or f"{now_s[0]:.0f} s: {alarms[0]}"
    return Told(case.name, case.word, not case.word and not false, None, false)


def _rate(watched: Watched) -> Iterator[str]:
    """The rate that is shown, where it is none."""
    figures = watched.figures()
    if figures.per_s == 0 and (figures.silent_s or 0) < 120:
        yield "rate 0"


def _said(outcomes: Sequence[Outcome]) -> list[str]:
    """A line for each finding that is an alert."""
    return [
        f"{outcome.id} {finding.message}"
        for outcome in outcomes
        if outcome.verdict is Verdict.FAILED and outcome.severity >= Severity.WARNING
        for finding in outcome.findings
    ]


def _matches(word: str, said: Sequence[str]) -> bool:
    """Whether a line holds all parts of one of the words that are expected."""
    return any(
        all(part.lower() in line.lower() for part in re.split(r"(?<=TPU\d{3}) ", one) if part)
        for one in word.split("|")
        for line in said
    )


def _kin(word: str, line: str) -> bool:
    """Whether a line reports the expected fault, by its check."""
    return any(line.startswith(one[:6]) for one in word.split("|") if one)


def real() -> Iterator[Told]:
    """Every process at once, looked at each second."""
    with tempfile.TemporaryDirectory(prefix="tpudiag-bench-") as folder:
        begun = [
            _Trainer(Path(folder), job, trainer, first)
            for job in (*running_jobs.FAULTY, *running_jobs.HEALTHY)
            for trainer in job.by
            for first in ({job.early, job.late} if job.word else {job.late})
        ]
        begun.sort(key=lambda one: one.heavy)  # TensorFlow's are few at a time
        light = sum(not one.heavy for one in begun)
        ends = [*range(0, light, 12), *range(light, len(begun), 2), len(begun)]
        for few in (begun[first:last] for first, last in pairwise(ends)):
            for one in few:
                one.start()
            until_s = time.monotonic() + (HEAVY_S if few[0].heavy else REAL_S)
            while time.monotonic() < until_s and any(not one.known for one in few):
                time.sleep(1.0)
                for one in few:
                    one.look()
            for one in few:
                yield one.end()


class _Trainer:
    """A process and the session that watches it."""

    def __init__(
        self, folder: Path, job: running_jobs.Job, trainer: running_jobs.Trainer, first: int
    ) -> None:
        how = f"{trainer.value}, {'early' if first == job.early else 'late'}"
        self.heavy = trainer is running_jobs.Trainer.FIT
        self._name, self._job, self._first = f"{job.name}, {how}", job, first
        self._folder = folder / re.sub(r"\W+", "-", self._name)
        (self._folder / "rec").mkdir(parents=True)
        (self._folder / "train.py").write_text(running_jobs.script(job, trainer), encoding="utf-8")
        self._right, self._said = False, ""
        self._after_s: float | None = None
        self._sent_s: float | None = None
        self.known = False

    def start(self) -> None:
        """Begin."""
        with (self._folder / "out.txt").open("wb") as out:
            self._process = subprocess.Popen(
                [sys.executable, "train.py", str(self._first)],
                cwd=self._folder,
                stdout=out,
                stderr=out,
            )
        request = WatchRequest(sources=(str(self._folder / "rec"),))
        self._session = WatchSession(request, Settings().narrowed(IDS, ()))
        self._began_s = time.monotonic()

    def look(self) -> None:
        """Look once, and do to it what is to be done."""
        said: list[str] = []
        self._process.poll()
        try:
            if self._session.look():
                said = [
                    *_said(self._session.outcomes),
                    headline(self._session.job.slowest.figures()),
                ]
        except TpudiagError as error:
            said = [str(error)]
        if not self._job.word:
            alarms = [line for line in said if line.startswith("TPU")]
            self._said = self._said or next(iter(alarms), "")
            return
        passed_s = time.monotonic() - self._began_s
        begun = self._session.job.workers and self._session.job.slowest.steps >= self._first
        if self._job.sent and self._sent_s is None and begun:
            self._sent_s = passed_s
            if self._job.sent == "delete":
                shutil.rmtree(self._folder / "rec")
            else:
                self._process.send_signal(signal.Signals[self._job.sent])
        fault_s = self._sent_s or 0.022 * self._first
        if _matches(self._job.word, said) and not self.known:
            self.known = self._right = True
            self._after_s = max(passed_s - fault_s, 0.0)

    def end(self) -> Told:
        """What became of it."""
        self._process.send_signal(signal.SIGCONT)
        self._process.kill()
        self._process.wait()
        self._session.__exit__(None, None, None)
        healthy = not self._job.word and not self._said
        return Told(self._name, self._job.word, self._right or healthy, self._after_s, self._said)


def main() -> None:
    """Print the findings for each, and the figures."""
    verbose, results = "-v" in sys.argv, list[Told]()
    if "--real" not in sys.argv:
        for case in (*running_scripts.faulty(), *running_scripts.healthy()):
            results.append(played(case))
            _print(results[-1], verbose)
    if "--scripted" not in sys.argv:
        for one in real():
            results.append(one)
            _print(one, verbose)
    ill = [one for one in results if one.word]
    well = [one for one in results if not one.word]
    after = sorted(one.after_s for one in ill if one.after_s is not None)
    print(f"told rightly {sum(one.right for one in ill)} of {len(ill)} faulty runs")
    print(f"false alarms in {sum(bool(one.false) for one in results)} of {len(results)} runs "
          f"({sum(bool(one.false) for one in well)} of {len(well)} healthy)")  # fmt: skip
    if after:
        print(f"time to tell: median {median(after):.0f} s, 90th percentile "
              f"{after[int(0.9 * len(after))]:.0f} s, longest {after[-1]:.0f} s")  # fmt: skip


def _print(one: Told, verbose: bool) -> None:
    if verbose or not one.right or one.false:
        how = "right" if one.right else "WRONG"
        after = "" if one.after_s is None else f" after {one.after_s:.0f} s"
        print(f"{how}  {one.name}: {one.word or 'healthy'}{after}  {one.false}", flush=True)


if __name__ == "__main__":
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    main()
