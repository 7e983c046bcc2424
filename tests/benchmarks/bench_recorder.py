"""What recording costs the training loop: `python tests/benchmarks/bench_recorder.py`.

A loop that does nothing, bare and recorded, in turns; the difference a round is the cost of a
step. The bar is 20 microseconds.
"""

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import tpudiag
from tpudiag.monitoring.training import ThroughputCallback

STEPS, ROUNDS = 50_000, 9


def cost_us(loop: Callable[[], None]) -> float:
    """The time a step of one loop, in microseconds."""
    started = time.perf_counter()
    loop()
    return 1e6 * (time.perf_counter() - started) / STEPS


def bare() -> None:
    """A loop alone."""
    for _ in iter(range(STEPS)):
        pass


def main() -> None:
    """The median over rounds."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name, "throughput.sqlite")

        def tracked() -> None:
            for _ in tpudiag.track(iter(range(STEPS)), path=path):
                pass

        def called_back() -> None:
            callback = ThroughputCallback(path=path)
            callback.on_train_begin()
            for number in range(STEPS):
                callback.on_train_batch_begin(number)
                callback.on_train_batch_end(number)
            callback.on_train_end()

        loops = {"bare": bare, "track": tracked, "ThroughputCallback": called_back}
        times = {name: [cost_us(loop) for _ in range(ROUNDS)] for name, loop in loops.items()}
    empty = statistics.median(times["bare"])
    for name, found in times.items():
        middle = statistics.median(found)
        print(
            f"{name:20} {middle:6.2f} us a step, {middle - empty:6.2f} above the bare loop "
            f"(worst round {max(found):.2f})"
        )


if __name__ == "__main__":
    main()
