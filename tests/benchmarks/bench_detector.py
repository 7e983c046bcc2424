"""Detectors of drops and stalls, compared:
`uv run --with river python -m tests.benchmarks.bench_detector`.

Each method's parameters are chosen on tuning seeds: the quickest that raise at most one false
alarm in ten days; where none does, the quietest. Then all are measured on other seeds: false
alarms a day of steps of about a second, and the delay from a drop of 10, 20 and 50 % to its
alarm. Delays are the median and, after the slash, the 90th percentile; `-` is never.

What it printed (240 traces, river 0.26; `(8!)`: so many of 60 drops were never found):

    method                           false/day  10% drop, s    20% drop, s    50% drop, s
    ours: quantiles at three scales       0.00    104 / 171        36 / 39        21 / 22
    robust z-score                        0.07     61 / 107        37 / 39        59 / 61
    CUSUM, winsorised                     0.13  86 / - (8!)        35 / 87        54 / 57
    river Page-Hinkley                    0.20 1170/1667 (1!)    367 / 407      158 / 180
    river ADWIN                           0.40 719/1199 (3!)     303 / 402      168 / 207

    limit on silence                 false/day  delay, s
    ours: 3 x longest normal pause        0.08  1351 / 1904
    fixed 60 s                           28.17  60 / 60
    fixed 600 s                           1.00  600 / 600
    100 x median step                    19.67  100 / 102
"""

import argparse
import math
import statistics
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec

import numpy as np

from tests.benchmarks.detectors import METHODS, Detector
from tests.monitoring.traces import DAY, KINDS, trace
from tpudiag.monitoring.detector import Pauses
from tpudiag.monitoring.recording import NS, Window

HELD_OUT = 500_000
"""Seeds from here on chose nothing, in no method."""
DROPS = (0.1, 0.2, 0.5)
REST = 300
"""Alarms within so many points of one are the same."""


def false_alarms_a_day(make: Callable[[], Detector], seeds: range, steps: int) -> float:
    """On healthy traces."""
    alarms = 0
    for seed in seeds:
        took = trace(seed, steps).took_s
        detector, rest = make(), 0
        for point, one in zip(np.log(took).tolist(), took.tolist(), strict=True):
            alarm = detector.add(point, one)
            alarms += alarm and not rest
            rest = REST if alarm else max(rest - 1, 0)
    return alarms / (len(seeds) * steps / DAY)


def delays_s(make: Callable[[], Detector], seeds: range, drop: float) -> list[float]:
    """From the drop to the first alarm after it, on traces of two hours."""
    found: list[float] = []
    for seed in seeds:
        made = trace(seed, 7_200, drop)
        ends = made.ends_s.tolist()
        detector, delay = make(), math.inf
        assert made.drop_at is not None
        for index, one in enumerate(made.took_s.tolist()):
            if detector.add(math.log(one), one) and index >= made.drop_at:
                delay = ends[index] - ends[made.drop_at - 1]
                break
        found.append(delay)
    return found


def tuned(
    options: list[tuple[str, Callable[[], Detector]]], days: int
) -> tuple[str, Callable[[], Detector]]:
    """The parameters that a method is measured with."""
    if len(options) == 1:
        return options[0]
    judged: list[tuple[bool, float, int]] = []
    for index, (_, make) in enumerate(options):
        alarms = false_alarms_a_day(make, range(10_000, 10_000 + 4 * days), DAY // 4)
        delay = (
            statistics.mean(
                min(one, 3_600.0)
                for drop in DROPS
                for one in delays_s(make, range(20_000, 20_008), drop)
            )
            if alarms <= 0.1
            else 0.0
        )
        judged.append((alarms > 0.1, delay if alarms <= 0.1 else alarms, index))
    return options[min(judged)[2]]


def compare(names: list[str], traces: int, days: int) -> None:
    """The table of methods."""
    count = traces // (len(DROPS) + 1)
    print(f"{count} healthy traces of 6 hours, {count} with each drop, {len(KINDS)} kinds of noise")
    print(
        f"{'method':32} {'parameters':34} {'false/day':>9}  "
        + "  ".join(f"{f'{drop:.0%} drop, s':>13}" for drop in DROPS)
    )
    for name in names:
        parameters, make = tuned(METHODS[name], days)
        alarms = false_alarms_a_day(make, range(HELD_OUT, HELD_OUT + count), DAY // 4)
        seeds = range(2 * HELD_OUT, 2 * HELD_OUT + count)
        cells = [_cell(delays_s(make, seeds, drop)) for drop in DROPS]
        row = "  ".join(f"{cell:>13}" for cell in cells)
        print(f"{name:32} {parameters:34} {alarms:9.2f}  {row}", flush=True)


def _cell(delays: list[float]) -> str:
    """`26 / 31`, and how many were never found."""
    middle, late = statistics.median(delays), sorted(delays)[int(0.9 * len(delays))]
    missed = sum(map(math.isinf, delays))
    said = " / ".join("-" if math.isinf(x) else f"{x:.0f}" for x in (middle, late))
    return said + (f" ({missed}!)" if missed else "")


def ours(pauses: Pauses, median: float) -> float:
    """The limit of TPU604."""
    del median
    return 3 * pauses.normal_s


def fixed(limit_s: float, pauses: Pauses, median: float) -> float:
    """The same for every job."""
    del pauses, median
    return limit_s


def by_steps(pauses: Pauses, median: float) -> float:
    """A hundred steps."""
    del pauses
    return 100 * median


def stalls(traces: int) -> None:
    """Limits on silence: false alarms on pauses that nothing announced, and the delay."""
    rules: dict[str, Callable[[Pauses, float], float]] = {
        "ours: 3 x longest normal pause": ours,
        "fixed 60 s": partial(fixed, 60.0),
        "fixed 600 s": partial(fixed, 600.0),
        "100 x median step": by_steps,
    }
    print(f"\n{traces} traces of 12 hours; a hang at their end")
    print(f"{'limit':34} {'false/day':>9}  delay, s")
    for name, rule in rules.items():
        alarms, delays = 0, list[float]()
        for seed in range(HELD_OUT, HELD_OUT + traces):
            took = trace(seed, DAY // 2).took_s.tolist()
            pauses, median, end = Pauses(), statistics.median(took[:1_000]), 0.0
            for number, one in enumerate(took):
                alarms += number > 0 and one > rule(pauses, median)
                pauses.add(
                    Window(
                        number=number, start_ns=int(end * NS), end_ns=int((end + one) * NS), steps=1
                    )
                )
                end += one
            delays.append(rule(pauses, median))
        print(f"{name:34} {alarms / traces * 2:9.2f}  {_cell(delays)}", flush=True)


def main() -> None:
    """Both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--traces", type=int, default=240, help="for drops; default %(default)s")
    parser.add_argument("--tuning-days", type=int, default=4)
    parser.add_argument("--only", help="methods whose name holds this; or `stalls`")
    options = parser.parse_args()
    names = [name for name in METHODS if "river" not in name or find_spec("river")]
    names = [name for name in names if options.only is None or options.only in name]
    if names:
        compare(names, options.traces, options.tuning_days)
    if options.only in (None, "stalls"):
        stalls(24)


if __name__ == "__main__":
    main()
