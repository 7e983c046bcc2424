"""Faults in real trainers, and the causes found: `python -m tests.benchmarks.bench_causes`.

A small trainer runs on the CPU, something goes wrong, and the cause is asked for. What it printed
(TensorFlow 2.21, two cores, little else at work):

    fault         slower  found in  causes
    input           8.0x     3.0 s  input                                              right
    both            5.4x     3.5 s  input                                              right
    cpu             3.2x     3.4 s  host CPU                                           right
    starved         3.3x     3.3 s  host CPU                                           right
    memory         51.7x     3.4 s  host memory                                        right
    retrace         5.0x     3.1 s  compile                                            right
    evaluation      3.0x     2.9 s  evaluation                                         right
    checkpoint      1.7x     3.5 s  checkpoint                                         right
    partner        20.3x     3.4 s  collective partner (3 of 4), none for the slow one right
    stop          999.0x     3.6 s  stopped                                            right
    nothing         1.1x     2.8 s  -                                                  right

On a machine that other work kept at a load of 8 to 11 all the while, `both` was not told in one run
of four (in another, host CPU), and host CPU was named where nothing was done to the trainer: the
other work made it 2.8 times slower.
The limits of host CPU and of memory were set on such runs. Memory is made short by a control group
of the trainer's own, which needs the right to make one.
"""

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
    "both": CauseKind.INPUT,
    "cpu": CauseKind.HOST_CPU,
    "starved": CauseKind.HOST_CPU,
    "memory": CauseKind.HOST_MEMORY,
    "retrace": CauseKind.COMPILE,
    "evaluation": CauseKind.EVALUATION,
    "checkpoint": CauseKind.CHECKPOINT,
    "partner": CauseKind.PARTNER,
    "stop": CauseKind.STOPPED,
    "nothing": None,
}
"""`both`: the input sleeps on a host that others keep busy all along; `starved`: others come, and
the input, which computes, gets no core; `nothing`: no fault, so that no cause may be told."""


def tried(fault: str) -> faults.Asked:
    """Let one fault happen."""
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        group = stack.enter_context(faults.MemoryGroup()) if fault == "memory" else None

        def started(processes: list[subprocess.Popen[bytes]]) -> None:
            if fault == "both":
                stack.enter_context(faults.busy_host(2))
            if group is not None:
                group.take(processes[0])

        def begin(processes: list[subprocess.Popen[bytes]]) -> None:
            if group is not None:
                group.shrink(24 * 2**20)
            if fault in ("cpu", "starved"):
                stack.enter_context(faults.busy_host(6))
            if fault == "stop":
                processes[0].send_signal(signal.SIGSTOP)

        workers = 4 if fault == "partner" else 1
        place = faults.space(Path(folder, "job"))
        return faults.asked(place, fault, workers=workers, begin=begin, started=started)


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
            wrong = {*told} - {wanted, "-"}
            verdict = "WRONG" if wrong else "right" if wanted in told else "not told"
            print(
                f"{fault:12} {min(asked.slower, 999):6.1f}x {asked.took_s:7.1f} s  "
                f"{', '.join(told):50} {verdict}",
                flush=True,
            )


if __name__ == "__main__":
    main()
