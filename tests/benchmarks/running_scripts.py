# ruff: noqa: ARG001, E501
"""Scripted runs of `bench_running`: step times, waits and pauses by a clock that is not waited for.

The word that is expected stands with each case and was written before the code that tells it.
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

EARLY_S, LATE_S, LOOKED_S = 90.0, 1_500.0, 900.0


@dataclass(frozen=True)
class Step:
    """One round of a loop: what it took without what lies before it, and what lay before it."""

    took_s: float
    wait_s: float = 0.0
    pause: tuple[str, float] | None = None
    """An announced pause before it."""
    silent_s: float = 0.0
    """An unannounced one."""


Script = Callable[[random.Random], Iterator[tuple[float, Step]]]
"""Gives (time of its beginning, step)."""


@dataclass(frozen=True)
class Scripted:
    """A run by a script; `word` is what a check's id and message must hold, empty for healthy."""

    name: str
    word: str
    fault_s: float
    of_workers: tuple[Script, ...]
    until_s: float
    batch: tuple[int, ...] = (64,)
    """Of the runs, one after the other: a restart where there are two."""


def loop(step: Callable[[float, int, random.Random], Step], until_s: float) -> Script:
    """A loop whose step is made by the time, its number and chance."""

    def script(rng: random.Random) -> Iterator[tuple[float, Step]]:
        at_s, number = 0.0, 0
        while at_s < until_s:
            one = step(at_s, number, rng)
            yield at_s, one
            at_s += one.took_s + one.silent_s + (one.pause[1] if one.pause else 0.0)
            number += 1

    return script


def usual(rng: random.Random, mean_s: float = 0.1, spread: float = 0.05) -> float:
    """What a step takes."""
    return mean_s * max(rng.gauss(1.0, spread), 0.3)


def faulty() -> Iterator[Scripted]:
    """Those with a fault, early and late."""
    for fault_s in (EARLY_S, LATE_S):
        when = "early" if fault_s == EARLY_S else "late"
        until_s = fault_s + LOOKED_S

        def case(
            name: str,
            word: str,
            step: Callable[[float, int, random.Random], Step],
            *others: Script,
            of: str = when,
            fault_s: float = fault_s,
            until_s: float = until_s,
        ) -> Scripted:
            return Scripted(f"{name}, {of}", word, fault_s, (loop(step, until_s), *others), until_s)  # fmt: skip

        def pausing(kind: str | None, every: int, pause_s: float, fault_s: float = fault_s):  # type: ignore[no-untyped-def]
            def step(at_s: float, number: int, rng: random.Random) -> Step:
                ill = at_s >= fault_s and number % every == 0
                if ill and kind is None:
                    return Step(usual(rng), silent_s=pause_s)
                return Step(usual(rng), pause=(kind, pause_s) if ill and kind else None)

            return step

        def slower(by: float, fault_s: float = fault_s, mean_s: float = 0.1):  # type: ignore[no-untyped-def]
            def step(at_s: float, number: int, rng: random.Random) -> Step:
                return Step(usual(rng, mean_s) / (1 - by * (at_s >= fault_s)))

            return step

        def waiting(at_s: float, number: int, rng: random.Random, fault_s: float = fault_s) -> Step:
            wait_s = 0.1 if at_s >= fault_s else 0.001
            return Step(usual(rng) + wait_s, wait_s)

        def hanging(at_s: float, number: int, rng: random.Random, fault_s: float = fault_s) -> Step:
            return Step(usual(rng), silent_s=LOOKED_S if at_s >= fault_s else 0.0)

        yield case(
            "a save blocks 3 s of each 5 s", "TPU608 checkpoint", pausing("checkpoint", 25, 3)
        )
        yield case("the same, not announced", "TPU608 stall", pausing(None, 25, 3))
        yield case(
            "an evaluation each 30 steps", "TPU608 evaluation", pausing("evaluation", 30, 2.2)
        )
        yield case("the same, not announced", "TPU608 stall", pausing(None, 30, 2.2))
        yield case("60 % slower", "TPU603", slower(0.6))
        yield case("30 % slower", "TPU603", slower(0.3))
        yield case("22 % slower", "TPU603", slower(0.22))
        yield case("12 % slower", "TPU603", slower(0.12))
        yield case("steps of 2 s, 40 % slower", "TPU603", slower(0.4, mean_s=2.0))
        yield case("waits for input", "TPU201|TPU603", waiting)
        yield case("hangs", "TPU604", hanging)
        yield case("hangs: its rate", "rate 0", hanging)
        yield case("a straggler of two", "TPU603 worker 0", slower(0.4),
                   loop(slower(0.0), until_s))  # fmt: skip
    yield Scripted("slower by and by, 36 % in 20 minutes", "TPU603|TPU607", 60, (_ramp(1_200, 4_000),), 4_000)  # fmt: skip
    yield Scripted("slower by and by, 36 % in 2 hours", "TPU603|TPU607", 3_600, (_ramp(7_200, 12_000, 1.0),), 12_000)  # fmt: skip
    yield Scripted("restarted 30 % slower", "TPU603", 900, (_constant(0.1, 900), _constant(0.143, 900)), 1_800, (64, 64))  # fmt: skip


def _ramp(over_s: float, until_s: float, mean_s: float = 0.1) -> Script:
    """36 % slower by and by."""
    return loop(
        lambda at_s, _, rng: Step(usual(rng, mean_s) / (1 - 0.36 * min(at_s / over_s, 1.0))),
        until_s,
    )


def _constant(mean_s: float, until_s: float) -> Script:
    return loop(lambda _at, _n, rng: Step(usual(rng, mean_s)), until_s)


def healthy() -> Iterator[Scripted]:
    """Those of which nothing must be said."""

    def case(name: str, step: Callable[[float, int, random.Random], Step], until_s: float = 3_600) -> Scripted:  # fmt: skip
        return Scripted(name, "", 0, (loop(step, until_s),), until_s)

    def paused(
        kind: str, every: int, pause_s: float
    ) -> Callable[[float, int, random.Random], Step]:
        def step(_: float, number: int, rng: random.Random) -> Step:
            pauses = bool(number) and number % every == 0
            return Step(usual(rng), pause=(kind, pause_s) if pauses else None)

        return step

    yield case("steady", lambda _, _n, rng: Step(usual(rng)))
    yield case("steady steps of 2 s", lambda _, _n, rng: Step(usual(rng, 2.0)))
    yield case("noise of 20 %", lambda _, _n, rng: Step(usual(rng, 0.1, 0.2)))
    yield case("lengths vary", lambda _, _n, rng: Step(0.1 * rng.lognormvariate(0, 0.5)))
    yield case("two lengths", lambda _, _n, rng: Step(usual(rng, rng.choice([0.1, 0.1, 0.4]))))
    yield case(
        "each tenth step slow", lambda _, n, rng: Step(usual(rng, 0.5 if n % 10 == 0 else 0.1))
    )
    yield case("an evaluation of a minute each ten", paused("evaluation", 5_400, 60))
    yield case("an evaluation of ten minutes each hour", paused("evaluation", 30_000, 600), 12_000)
    yield case("a checkpoint of 5 s each minute", paused("checkpoint", 550, 5))
    yield case("a slow warm-up", lambda at, _n, rng: Step(usual(rng, 0.3 if at < 150 else 0.1)))
    yield case("a refill of 20 s each ten minutes",
               lambda _, n, rng: Step(usual(rng), silent_s=20 if n and n % 6_000 == 0 else 0))  # fmt: skip
    yield case(
        "a first step of four minutes", lambda _, n, rng: Step(240.0 if n == 0 else usual(rng))
    )
    yield case("twelve seconds at half speed",
               lambda at, _n, rng: Step(usual(rng, 0.2 if 1_500 < at < 1_512 else 0.1)))  # fmt: skip
    yield Scripted("restarted with a doubled batch", "", 0, (_constant(0.1, 900), _constant(0.2, 900)), 1_800, (64, 128))  # fmt: skip
    yield Scripted(
        "two workers alike", "", 0, (_constant(0.1, 1_800), _constant(0.1, 1_800)), 1_800
    )
