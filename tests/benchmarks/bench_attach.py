"""What `tpudiag attach` costs the trainer, and what it leaves behind in either process.

    .venv/bin/python tests/benchmarks/bench_attach.py [--captures 20] [--duration 1]

The reference job trains in a custom loop on two CPU replicas in a process of its own, and notes
the end of each step. This process attaches to it again and again, the whole verb each time. Every
second round captures nothing and only waits as long, so that on a busy machine too the rest after
a capture can be held against the rest after none. Memory is read after both processes gave what
they had freed back to the system (malloc_trim), this one with one malloc arena for all threads:
what still grows is kept, and not free memory in pieces. Exits with 1 where a bar is missed.
"""

import argparse
import ctypes
import gc
import os
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from tests.loopback import free_port

OUTSIDE_BAR = 0.02
RSS_BAR = 0.03
SETTLE_CAPTURES = 10
"""Captures after which allocators have what they keep; growth is counted from there."""
REST_S, SETTLE_S, BEFORE_S = 1.0, 0.3, 5.0


class Span(NamedTuple):
    """A stretch of time, and what happened in it."""

    kind: str
    begin: float
    end: float


class Held(NamedTuple):
    """What a process holds."""

    rss_mb: float
    fds: int


def trainer(port: int, out: Path) -> None:
    """The reference job; the end of each step goes to the file, as seconds of the machine."""
    import tensorflow as tf

    from tpudiag.reference import job, loops
    from tpudiag.reference.options import parse

    signal.signal(signal.SIGUSR1, trim)
    real = tf.profiler.experimental.Trace
    file = out.open("ab", buffering=0)

    class Noted:
        """tf.profiler's Trace, which notes when it ends."""

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            self._trace = real(*args, **kwargs)

        def __enter__(self) -> None:
            self._trace.__enter__()

        def __exit__(self, *error: object) -> None:
            self._trace.__exit__(*error)
            file.write(struct.pack("<d", time.monotonic()))

    tf.profiler.experimental.Trace = Noted
    if port:
        tf.profiler.experimental.server.start(port)
    options = parse(
        [
            "--cpu-replicas",
            "2",
            "--train-steps",
            str(10**9),
            "--checkpoint-every",
            str(10**9),
            "--checkpoint-dir",
            str(out.parent / "checkpoints"),
        ]
    )
    loops.custom(job.prepare(options), options)


def trim(*_: object) -> None:
    """Give freed memory back to the system, so that what is left is held."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)


def held(pid: int) -> Held:
    """Resident memory and open files of a process."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    rss_kb = next(int(line.split()[1]) for line in status.splitlines() if line[:6] == "VmRSS:")
    return Held(rss_kb / 1e3, len(list(Path(f"/proc/{pid}/fd").iterdir())))


def attached(address: str, duration_s: float, folder: Path) -> list[Span]:
    """One whole `tpudiag attach`: when it captured, and when the profile was gathered."""
    from tpudiag.diagnoses.trainer import TrainerRequest, diagnose
    from tpudiag.settings import Settings
    from tpudiag.sources.live.capture import CaptureRequest

    marks: list[float] = []
    request = TrainerRequest(
        targets=(address,), capture=CaptureRequest(duration_s), log_dir=str(folder), xprof_limit_s=0
    )
    report = diagnose(request, Settings(), lambda _: marks.append(time.monotonic()))
    assert report.measurements["step_time_ms"].value, "a report with step times"
    begun, ended = marks[1], marks[2]
    return [Span("within", begun, begun + duration_s), Span("gathering", begun + duration_s, ended)]


def step_ms(ends: Sequence[float], spans: Sequence[Span], kind: str) -> list[float]:
    """The steps that lie wholly in the spans of a kind."""
    return [
        1e3 * (after - before)
        for span in spans
        if span.kind == kind
        for before, after in pairwise(e for e in ends if span.begin <= e <= span.end)
    ]


def wait_for_steps(process: subprocess.Popen[bytes], out: Path, count: int) -> None:
    """Until the trainer has made so many steps."""
    while not out.exists() or out.stat().st_size < 8 * count:
        if process.poll() is not None:
            raise SystemExit("the trainer ended")
        time.sleep(0.1)


def rested(kind: str, seconds: float) -> Span:
    """A rest, without what follows at once on a capture."""
    time.sleep(SETTLE_S)
    begun = time.monotonic()
    time.sleep(seconds)
    return Span(kind, begun, time.monotonic())


def measure(captures: int, duration_s: float, folder: Path) -> bool:
    """Run the benchmark; whether every bar is met."""
    port = free_port()
    process, out = started(port, folder / "trainer")
    ours: list[Held] = []
    theirs: list[Held] = []
    try:
        wait_for_steps(process, out, 500)
        spans = [rested("before", BEFORE_S)]
        for _ in range(captures):
            begun = time.monotonic()
            spans += attached(f"localhost:{port}", duration_s, folder / "logs")
            waited_s = time.monotonic() - begun
            spans.append(rested("after a capture", REST_S))
            process.send_signal(signal.SIGUSR1)
            trim()
            time.sleep(SETTLE_S)
            ours.append(held(os.getpid()))
            theirs.append(held(process.pid))
            time.sleep(min(waited_s, REST_S))  # a round without a capture
            spans.append(rested("after none", REST_S))
    finally:
        process.kill()
        process.wait()
    size = sum(f.stat().st_size for f in folder.rglob("*.pb")) / captures / 1e6
    print(f"{captures} captures of {duration_s:g} s, {size:.1f} MB each")
    steps_met = report_steps(read(out), spans)
    return all([steps_met, report_held("tpudiag", ours), report_held("the trainer", theirs)])


def started(port: int, folder: Path) -> tuple[subprocess.Popen[bytes], Path]:
    """A trainer, and the file to which the ends of its steps go."""
    folder.mkdir()
    out = folder / "ends"
    command = [sys.executable, __file__, "--trainer", str(port), str(out)]
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    environment.pop("MALLOC_ARENA_MAX", None)  # it would slow the trainer down
    return subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL), out


def read(out: Path) -> tuple[float, ...]:
    """The ends of the steps."""
    data = out.read_bytes()
    return struct.unpack(f"<{len(data) // 8}d", data[: len(data) // 8 * 8])


def report_steps(ends: Sequence[float], spans: Sequence[Span]) -> bool:
    """Print the step times; whether those outside captures are as they were."""
    none = statistics.median(step_ms(ends, spans, "after none"))
    cost: dict[str, float] = {}
    for kind in ("before", "after none", "within", "gathering", "after a capture"):
        times = step_ms(ends, spans, kind)
        middle = statistics.median(times)
        cost[kind] = middle / none - 1
        print(
            f"step time {kind:15} {middle:7.3f} ms, median of {len(times)} "
            f"({cost[kind]:+.1%}); longest {max(times):.1f} ms"
        )
    outside = cost["after a capture"]
    print(f"outside the capture: {outside:+.2%} (bar {OUTSIDE_BAR:.0%})")
    return outside <= OUTSIDE_BAR


def report_held(who: str, series: Sequence[Held]) -> bool:
    """Print what a process held; whether it stopped to grow."""
    settled, last = series[min(SETTLE_CAPTURES, len(series)) - 1], series[-1]
    growth = last.rss_mb / settled.rss_mb - 1
    print(
        f"{who}: RSS {series[0].rss_mb:.0f} MB after the first capture, {settled.rss_mb:.0f} MB "
        f"after {SETTLE_CAPTURES}, {last.rss_mb:.0f} MB after {len(series)} ({growth:+.1%}, bar "
        f"{RSS_BAR:.0%}); open files {series[0].fds}, {settled.fds}, {last.fds} (bar: no more)"
    )
    return growth <= RSS_BAR and last.fds <= settled.fds


def main() -> int:
    """Measure, or be the trainer."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--captures", type=int, default=20)
    parser.add_argument("--duration", type=float, default=1.0)
    parser.add_argument("--trainer", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.trainer:
        trainer(int(options.trainer[0]), Path(options.trainer[1]))
        return 0
    if "MALLOC_ARENA_MAX" not in os.environ:
        again = {**os.environ, "MALLOC_ARENA_MAX": "1"}
        os.execve(sys.executable, [sys.executable, *sys.argv], again)
    with tempfile.TemporaryDirectory() as folder:
        met = measure(options.captures, options.duration, Path(folder))
    print("every bar is met" if met else "a bar is missed")
    return int(not met)


if __name__ == "__main__":
    sys.exit(main())
