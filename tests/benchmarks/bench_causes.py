"""Faults in real trainers, and what was told: `python -m tests.benchmarks.bench_causes`.

A small trainer runs on the CPU, something goes wrong, and the cause is asked for. What it printed
(two cores that other work kept busy, TensorFlow 2.21):

TABLE
"""

from __future__ import annotations

import argparse
import contextlib
import signal
import subprocess
import tempfile
from pathlib import Path

from tests.monitoring import faults
from tpudiag.signals.causes import CauseKind

EXPECTED: dict[str, CauseKind | None] = {
    "input": CauseKind.INPUT,
    "cpu": CauseKind.HOST_CPU,
    "retrace": CauseKind.COMPILE,
    "evaluation": CauseKind.EVALUATION,
    "checkpoint": CauseKind.CHECKPOINT,
    "partner": CauseKind.PARTNER,
    "stop": CauseKind.STOPPED,
    "nothing": None,
}
"""`nothing`: no fault, so that no cause may be told."""


def tried(fault: str) -> faults.Asked:
    """Let one fault happen."""
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:

        def begin(processes: list[subprocess.Popen[bytes]]) -> None:
            if fault == "cpu":
                stack.enter_context(faults.busy_host(6))
            if fault == "stop":
                processes[0].send_signal(signal.SIGSTOP)

        workers = 4 if fault == "partner" else 1
        place = faults.space(Path(folder, "job"))
        return faults.asked(place, fault, workers=workers, begin=begin)


def main() -> None:
    """The table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=tuple(EXPECTED))
    parser.add_argument("--times", type=int, default=1)
    options = parser.parse_args()
    print(f"{'fault':12} {'slower':>7} {'found in':>9}  causes")
    for fault, kind in EXPECTED.items():
        for _ in range(options.times if options.only in (None, fault) else 0):
            asked = tried(fault)
            told = [cause.kind.value if cause else "-" for cause, _ in asked.causes.values()]
            wanted = kind.value if kind else "-"
            right = wanted in told and not {*told} - {wanted, "-"}
            print(f"{fault:12} {min(asked.slower, 999):6.1f}x {asked.took_s:7.1f} s  "
                  f"{', '.join(told):50} {'right' if right else 'WRONG'}", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
