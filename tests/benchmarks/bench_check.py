"""What `tpudiag check` costs: `python tests/benchmarks/bench_check.py [--rounds N]`.

Side by side in one run: start-up beside an empty Python, the observed job's step time beside the
bare job's (outside and inside the profiled window), the time from the last step to the end of
`check`, and the wall time of both.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path

JOB = Path(__file__).with_name("timed_job.py")
WARMUP, PROFILED, SETTLE = 200, 20, 30


def wall_s(*command: str) -> float:
    """The time of one process, in seconds."""
    started = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - started


def startup() -> None:
    """`--help` and `--version` beside `python -c pass`; the bar is 150 ms."""
    for arguments in (["-c", "pass"], ["-m", "tpudiag", "--help"], ["-m", "tpudiag", "--version"]):
        times = [wall_s(sys.executable, *arguments) for _ in range(15)]
        print(f"{' '.join(arguments):24} {1e3 * statistics.median(times):7.0f} ms, median of 15")


def timed(folder: Path, steps: int, *check: str) -> tuple[list[float], float]:
    """One run of the timed job, observed by `check` or bare: step times, in ms, and the time from
    the end of the last step to that of the process, in s."""
    out = folder / "steps.json"
    job = [str(out), str(steps)]
    observed = [*check, str(JOB), "--", *job]
    command = observed if check else [str(JOB), *job, "--cpu-replicas", "8"]
    subprocess.run(
        [sys.executable, *command],
        check=True,
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    ended = time.perf_counter()
    ends = json.loads(out.read_text())
    return [1e3 * (after - before) for before, after in pairwise(ends)], ended - ends[-1]


def overhead(rounds: int) -> None:
    """Observed over bare, in turns."""
    bare: list[float] = []
    outside: list[float] = []
    inside: list[float] = []
    rest_s: list[float] = []
    check = (
        "-m", "tpudiag", "check", "--no-compile", "--warmup", str(WARMUP), "--steps", str(PROFILED),
        "--fail-on", "never",
    )  # fmt: skip
    for number in range(rounds):
        # In turns, each first in its turn: the second of two runs is up to a tenth slower.
        for observed in (False, True) if number % 2 else (True, False):
            with tempfile.TemporaryDirectory() as name:
                if observed:
                    seen, rest = timed(Path(name), WARMUP + PROFILED + 5, *check)
                    rest_s.append(rest)
                    outside += seen[SETTLE : WARMUP - 1]
                    inside += seen[WARMUP + 1 :]
                else:
                    bare += timed(Path(name), WARMUP + PROFILED)[0][SETTLE:WARMUP]
    middle = statistics.median(bare)
    print(f"bare step                {middle:7.2f} ms, median of {len(bare)}")
    for name, times in (("outside the profile", outside), ("inside the profile", inside)):
        took = statistics.median(times)
        print(f"observed, {name:19} {took:7.2f} ms, {took / middle:.3f} of bare")
    print(f"last step to report      {statistics.median(rest_s):7.2f} s, of {rest_s}")


def walls(rounds: int) -> None:
    """The whole of `check` beside the same job's 25 steps alone."""
    bare: list[float] = []
    observed: list[float] = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as name:
            job = ["-m", "tpudiag.reference.job", "--cpu-replicas", "8", "--train-steps", "25"]
            bare.append(wall_s(sys.executable, *job, "--checkpoint-dir", name))
            observed.append(
                wall_s(sys.executable, "-m", "tpudiag", "check", "--no-compile", "--log-dir", name)
            )
    alone, whole = statistics.median(bare), statistics.median(observed)
    print(f"wall: bare {alone:.1f} s, check {whole:.1f} s, {whole / alone:.2f} of bare")


def main() -> None:
    """Run all three."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=4)
    rounds = parser.parse_args().rounds
    startup()
    overhead(rounds)
    walls(rounds)


if __name__ == "__main__":
    main()
