"""Recording: cost-free for the loop, exact in its accounts, whatever happens to the file."""

import threading
import time
from pathlib import Path

import pytest

import tpudiag
from tpudiag.errors import UsageError
from tpudiag.monitoring.reader import read
from tpudiag.monitoring.recorder import Recorder
from tpudiag.monitoring.recording import Recording, Run, Trace, Window, percentile
from tpudiag.monitoring.store import Store
from tpudiag.monitoring.training import hbm_limit_bytes, track


class Flaky(Store):
    """A sink that fails on request, and records what it took."""

    def __init__(self) -> None:
        self.failing = False
        self.windows: list[Window] = []
        self.runs: list[Run] = []
        self.wrote, self.failed = threading.Event(), threading.Event()

    def write(self, run: Run, windows: tuple[Window, ...], traces: tuple[Trace, ...] = ()) -> None:
        del traces
        if self.failing:
            self.failed.set()
            raise OSError(28, "No space left on device")
        self.windows += windows
        self.runs.append(run)
        self.wrote.set()

    def gone(self) -> bool:
        return False

    def close(self) -> None:
        pass


def recorder(sink: Flaky) -> Recorder:
    return Recorder(lambda: sink, "test", 8, flush_s=0.01)


def test_a_custom_loop_is_recorded_whole(tmp_path: Path) -> None:
    path = tmp_path / "new" / "throughput.sqlite"
    loop = tpudiag.track([1, 2, 3], global_batch_size=32, path=path, name="three")
    assert list(loop) == [1, 2, 3]
    found = read(path)
    assert (found.run.name, found.run.global_batch, found.run.lost_steps) == ("three", 32, 0)
    assert found.run.ended_ns is not None
    assert found.steps == 3
    assert sum(w.examples or 0 for w in found.windows) == 96
    assert all(w.wait_ms is not None for w in found.windows), "the iterable gives the data"


def test_a_range_gives_no_data_and_so_no_wait(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    for _ in track(range(3), path=path):
        pass
    assert [w.wait_ms for w in read(path).windows] == [None]
    loop = track(range(3), path=path, steps_per_round=10)
    for _ in loop:
        with loop.input():
            pass
    found = read(path)
    assert found.steps == 30
    assert all(w.wait_ms is not None for w in found.windows)


def test_an_announced_pause_is_no_slow_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, now_ns = tmp_path / "a.sqlite", [time.perf_counter_ns()]
    monkeypatch.setattr(time, "perf_counter_ns", lambda: now_ns[0])
    loop = track(range(4), path=path)
    for number in loop:
        now_ns[0] += 10**6
        if number == 2:
            with loop.pause("checkpoint"):
                now_ns[0] += 300 * 10**6
    found = read(path)
    assert sum(w.checkpoint_ms for w in found.windows) >= 299
    slowest = percentile(tuple(key for w in found.windows for key in w.step_ms), 1.0)
    assert slowest is not None
    assert slowest < 5


def test_a_full_queue_drops_and_counts() -> None:
    sink, blocked = Flaky(), threading.Event()
    release = threading.Event()

    def stuck() -> Flaky:
        blocked.set()
        release.wait()
        return sink

    made = Recorder(stuck, "test", flush_s=0.01, queue_steps=100)
    assert blocked.wait(100)
    for _ in range(250):
        made.step()
    assert made.lost_steps == 150
    release.set()
    made.close()
    assert made.stored_steps + made.lost_steps == 250
    assert sum(w.steps for w in sink.windows) == 100
    assert sink.runs[-1].lost_steps == 150, "the loss is in the recording"


def test_a_sink_that_fails_and_recovers_loses_nothing() -> None:
    sink = Flaky()
    made = recorder(sink)
    made.step()
    sink.failing = True
    for _ in range(1_000):
        made.step()
    assert sink.failed.wait(100)
    sink.failing = False
    made.close()
    assert sum(w.steps for w in sink.windows) == 1_001 == made.stored_steps
    assert made.lost_steps == 0
    assert [w.number for w in sink.windows] == sorted({w.number for w in sink.windows})


def test_a_sink_that_never_comes_back_stops_nothing_and_is_said(
    capsys: pytest.CaptureFixture[str],
) -> None:
    sink = Flaky()
    sink.failing = True
    made = recorder(sink)
    made.step()
    assert sink.failed.wait(100)
    made.step()
    made.close()
    assert made.stored_steps == 0
    said = capsys.readouterr().err
    assert "No space left on device" in said
    assert "2 recorded steps could not be kept" in said


def test_a_window_offered_twice_is_kept_once(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    run = Run(id="r", name="n", host="h", pid=1, started_ns=0, beat_ns=1)
    window = Window(number=0, start_ns=0, end_ns=10, steps=5)
    store = Store(path)
    for _ in range(3):
        store.write(run, (window,), (Trace("train_step", 1, 2),))
    store.close()
    found = read(path)
    assert (found.steps, len(found.traces)) == (5, 1)


def test_hbm_in_use_and_its_limit_are_recorded(tmp_path: Path) -> None:
    asked = threading.Event()

    def memory() -> int:
        asked.set()
        return 2**30

    path = tmp_path / "a.sqlite"
    made = Recorder(lambda: Store(path), "n", memory=memory, flush_s=0.01, hbm_limit_bytes=2**34)
    assert not asked.is_set(), "asking before the first step would start the runtime"
    made.step()
    assert asked.wait(100)
    made.close()
    found = read(path)
    assert [w.hbm_bytes for w in found.windows] == [2**30]
    assert found.run.hbm_limit_bytes == 2**34
    assert hbm_limit_bytes("v5e-8") == int(15.75 * 2**30)
    with pytest.raises(UsageError):
        track(range(3), tpu="gpu-8")


def test_reading_goes_on_where_it_stopped(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    store = Store(path)
    run = Run(id="r", name="n", host="h", pid=1, started_ns=0, beat_ns=1)
    windows = tuple(Window(number=n, start_ns=n, end_ns=n + 1, steps=1) for n in range(8))
    store.write(run, windows[:5])
    first: Recording = read(path)
    store.write(run, windows[5:])
    later = read(path, first.run.id, first.windows[-1].number)
    assert [w.number for w in later.windows] == [5, 6, 7]
    store.close()
