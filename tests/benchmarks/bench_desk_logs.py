"""What the error desk costs on large logs: CPU seconds and memory, extrapolated to a gigabyte.

    uv run python -m tests.benchmarks.bench_desk_logs
    uv run python -m tests.benchmarks.bench_desk_logs --megabytes 200 --only dense
    uv run python -m tests.benchmarks.bench_desk_logs --profile dense

A plain log holds healthy steps only; in a near log each twentieth line misses a known error by a
word; in a dense one it is a known error, with what people showed of it; a repeating one says the
same error all over, as a retry in a loop does.
"""

import argparse
import cProfile
import io
import json
import pstats
import random
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.benchmarks.bench_desk import QUESTIONS
from tpudiag.known_errors.catalogue import known_errors
from tpudiag.known_errors.search import scan

EACH = 20
"""Lines, of which one is an error or a near miss."""
SEED = 18
MEGABYTE = 1 << 20


def _healthy(number: int) -> str:
    """A line of a job that does well; now and then it says more than its step."""
    if number % 400 == 0:
        return f"INFO:tensorflow:Saving checkpoints for {number} into gs://bucket/run/model.ckpt."
    if number % 150 == 0:
        return (
            f"2026-11-01 10:{number // 60 % 60:02}:{number % 60:02}.123456: I tensorflow/core/tpu/"
            f"kernels/tpu_compilation_cache_interface.cc:441] TPU host compilation cache: {number}"
        )
    return f"{number}/90000 - 41s 12ms/step - loss: {1 / (number + 1):.6f} - accuracy: 0.9132"


def _log(said: Callable[[random.Random], str], megabytes: int) -> Iterator[str]:
    """The lines of a log, of which each twentieth is what `said` makes up."""
    choice = random.Random(SEED)
    size, number = 0, 0
    while size < megabytes * MEGABYTE:
        number += 1
        line = (said(choice) if number % EACH == 0 else "") or _healthy(number)
        size += len(line) + 1
        yield line


def _kinds() -> dict[str, Callable[[random.Random], str]]:
    """What each twentieth line of a log of a kind says."""
    errors = [error for error in known_errors() if not error.noise]
    misses = [error.miss for error in errors if error.miss]
    asked = [each["text"] for each in json.loads(QUESTIONS.read_text(encoding="utf-8"))["tune"]]
    return {
        "plain": lambda _: "",
        "near": lambda choice: choice.choice(misses),
        "dense": lambda choice: choice.choice(asked),
        "repeating": lambda _: errors[0].example,
    }


def _profiled(kind: str, megabytes: int) -> None:
    """Prints where the time of one log goes."""
    data = "\n".join(_log(_kinds()[kind], megabytes)).encode()
    # The imports and the first errors' patterns are no part of a gigabyte's price.
    scan(io.BytesIO(data[: 8 * MEGABYTE]))
    profiler = cProfile.Profile()
    profiler.runcall(scan, io.BytesIO(data))
    pstats.Stats(profiler).sort_stats("tottime").print_stats(25)


def _measure(kind: str, megabytes: int) -> None:
    """Prints what one log costs as the verb reads it, and by its second half what a GB would."""
    with TemporaryDirectory() as folder:
        costs: list[float] = []
        for size in (megabytes // 2, megabytes):
            log = Path(folder) / f"{size}.log"
            with log.open("w", encoding="utf-8") as file:
                file.writelines(f"{line}\n" for line in _log(_kinds()[kind], size))
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            verb = [sys.executable, "-m", "tpudiag", "explain", "--log", str(log)]
            subprocess.run(verb, check=False, capture_output=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            costs.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        # Of all children the largest: of a single log's own where --only names one kind.
        memory = after.ru_maxrss / 1024
    a_gigabyte = costs[1] + (costs[1] - costs[0]) / (megabytes - megabytes // 2) * (953 - megabytes)
    print(
        f"{kind:<10} {megabytes:4} MiB: {costs[1]:6.2f} s of CPU, {memory:.0f} MiB of memory;"
        f" {a_gigabyte:5.1f} s for a GB"
    )


def main() -> None:
    """Prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=100)
    parser.add_argument("--only", nargs="*", choices=_kinds(), default=list(_kinds()))
    parser.add_argument("--profile", choices=_kinds())
    options = parser.parse_args()
    if options.profile:
        _profiled(options.profile, options.megabytes)
        return
    for kind in options.only:
        _measure(kind, options.megabytes)


if __name__ == "__main__":
    main()
