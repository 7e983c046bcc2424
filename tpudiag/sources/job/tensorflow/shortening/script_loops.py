"""Ends loops of the script's own that cost more than their share of the time, past the first loop.

A loop over epochs, folds, files or rows says in a round what it says in a hundred. Once it took its
share, it goes to its last round, if that is found quickly, and what it counts, sums or collects is
as if all rounds had run. Left alone are loops in a graph, a replica's step or below a tape,
those that a library calls (a layer, a callback, a generator), that only build a model, or search.
"""

from __future__ import annotations

import ctypes
import itertools
import sys
import threading
import time
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from types import FrameType
from typing import Any

from tpudiag.script_run import InterventionKind
from tpudiag.signals import ShortenedLoop
from tpudiag.sources.job.points import barrier, interventions, user_lines

SHARE = 16
"""A loop gets a 16th of the time that is left, one inside of it half of that, and so on."""
LAST_ROUND_SHARE = 4
"""The part of the time that is left which a loop's last round may take."""
TO_THE_END_S = 0.3
"""How long the last round is looked for."""
MOST_AT_FIRST, MOST_AT_ONCE, QUICK_S = 4, 64, 0.001
"""So many rounds at most run unasked, if half of that took less than this time."""
EACH = 16
"""Where as many runs took next to nothing, so many go unasked for one that is watched."""
MOST_FILLED = 1_000_000
_NONE = object()
_FED = (itertools.repeat, type(iter(int, 1)))
"""Iterators without an end, or whose items the loop itself may make."""


class ScriptLoops:
    """The loops of a script's own source; they run in full until `began_s` is set."""

    def __init__(
        self,
        clock: Callable[[], float] = time.process_time,
        ticks: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.clock, self.ticks = clock, ticks
        self.began_s: float | None = None
        self.left_s: Callable[[], float] = lambda: 0.0
        self.may_end: Callable[[], bool] = lambda: True
        """Whether the code that runs now may be cut short at all."""
        self.work: Callable[[], tuple[int, int]] = lambda: (0, 0)
        """How many variables were made so far, and how many steps and passes over data begun."""
        self.counts: Callable[[], list[Any]] = list
        self.catch_up: Callable[[list[Any], float], None] = _nothing
        """Reads the counters of steps; moves them as `times` as many rounds would have."""
        self.depth, self.thread = 0, threading.get_ident()
        self.numbers = itertools.count()
        self.shortened: list[ShortenedLoop] = []
        self.mains = {"<module>", "main"}

    def of_main_flow(self, frame: FrameType) -> bool:
        """Whether a loop's value is the script's own, and no library waits for it."""
        below = ""
        for each in user_lines.frames(frame):
            if each.f_code.co_name == "<module>":
                return True
            file = each.f_code.co_filename
            # As `app.run(main)` does.
            if not user_lines.is_user_file(file) and below not in self.mains:
                return False
            below = each.f_code.co_name if user_lines.is_user_file(file) else below
        return False


class _Loop:
    """One run of a loop."""

    def __init__(self, script: ScriptLoops, asked: Asked, iterator: Iterator[object]) -> None:
        self._script, self._asked, self._iterator = script, asked, iterator
        self._counts = script.counts()
        self._rounds, self._began_s, self._work = 0, 0.0, (0, 0)
        if script.began_s is not None:
            self._began_s, self._work = script.clock(), script.work()
        frame = sys._getframe(2)  # pyright: ignore[reportPrivateUsage]
        self._before = {n: _size(found) for n, found in self._found(frame)}

    def portions(self) -> Iterator[Iterable[object]]:
        """The rounds in portions, of which quick ones are long: what asks between them is slow."""
        script, asked = self._script, self._asked
        size = min(asked.size, MOST_AT_FIRST)
        self._depth, script.depth = script.depth, script.depth + 1
        try:
            while True:
                done, then_s = itertools.count(1), script.ticks()
                yield itertools.compress(itertools.islice(self._iterator, size), done)
                self._rounds += (ran := next(done) - 1)
                # What is at its end is not asked again: it might begin anew.
                if ran < size:
                    asked.quick += self._rounds < MOST_AT_ONCE
                    return
                quick = script.ticks() - then_s < QUICK_S
                asked.quick *= quick
                asked.size = size = min(2 * size, MOST_AT_ONCE) if quick else 1
                frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
                if self._is_over() and barrier.attempt("loop", self._may_end, frame):
                    yield from self._rest(frame)
                    return
        finally:
            script.depth -= 1

    def _took_s(self) -> float:
        return self._script.clock() - max(self._began_s, self._script.began_s or 0.0)

    def _is_over(self) -> bool:
        share_s = self._script.left_s() / (SHARE << self._depth)
        return self._script.began_s is not None and self._took_s() > share_s

    def _may_end(self, frame: FrameType) -> bool:
        script = self._script
        (made, begun), (made_before, begun_before) = script.work(), self._work
        idle = begun == begun_before and (made != made_before or self._asked.searches)
        allowed = interventions.allowed(InterventionKind.ROUNDS) and script.may_end()
        return not idle and allowed and script.of_main_flow(frame)

    def _rest(self, frame: FrameType) -> Iterator[Iterable[object]]:
        """The last round at most; an error on the way to it is that of the loop's own items."""
        script, ran, last = self._script, self._rounds, _NONE
        skipped: int | None = None
        if not isinstance(self._iterator, _FED):
            last = next(self._iterator, _NONE)
            if last is _NONE:
                return
        elif self._asked.test is not None:
            skipped = barrier.attempt("loop", self._until_false, frame)
            if skipped == 0:
                return
        # What it has not done (a file, an entry of a dict) may be missed anywhere.
        interventions.note(InterventionKind.ROUNDS, interventions.ANYWHERE)
        interventions.note(InterventionKind.ROUNDS)
        if skipped:
            last = None
        elif last is not _NONE:
            skipped, last = self._to_the_end(last)
        runs_last = bool(skipped) and self._took_s() / ran < script.left_s() / LAST_ROUND_SHARE
        if skipped is not None:
            missing = skipped - runs_last
            script.catch_up(self._counts, 1 + missing / ran)
            self._asked.missing = min(missing, MOST_FILLED)
            barrier.attempt("loop", self._fill, frame, missing)
        asked, place = skipped and ran + skipped, user_lines.of_frame(frame)
        script.shortened.append(ShortenedLoop("rounds of a loop", place, ran + runs_last, asked))
        if runs_last:
            yield (last,)

    def _to_the_end(self, last: object) -> tuple[int | None, object]:
        """How many rounds follow, `last` being the first; None where that is not known soon."""
        skipped, until = 1, time.perf_counter() + TO_THE_END_S
        for last in self._iterator:  # noqa: PLR1704
            skipped += 1
            if time.perf_counter() > until:
                return None, last
        return skipped, last

    def _until_false(self, frame: FrameType) -> int | None:
        """How many rounds a `while` would still run; None where it counts none."""

        def is_over(rounds: int) -> bool:
            numbers = {**frame.f_locals, **dict(self._numbers(frame, rounds))}
            return not eval(self._asked.test, frame.f_globals, numbers)

        most = next((1 << bits for bits in range(40) if is_over(1 << bits)), None)
        return most and bisect_left(range(most), True, key=is_over)

    def _found(self, frame: FrameType) -> Iterator[tuple[str, Any]]:
        """The lists and numbers to which the loop's body adds."""
        for name in self._asked.grown:
            value = frame.f_locals.get(name, frame.f_globals.get(name))
            if type(value) in (list, int, float) or getattr(value, "shape", None) == ():
                yield name, value

    def _numbers(self, frame: FrameType, missing: int) -> Iterator[tuple[str, Any]]:
        """Numbers as after the missing rounds, if these add as much as those that ran."""
        for name, now in self._found(frame):
            if type(now) is not list and name in self._before:
                more = (now - self._before[name]) * missing
                yield (
                    name,
                    now + (more // self._rounds if type(now) is int else more / self._rounds),
                )

    def _fill(self, frame: FrameType, missing: int) -> None:
        """Lists get what the missing rounds would have added, if each round added as much."""
        for name, found in self._found(frame):
            if found.__class__ is list:
                each, uneven = divmod(len(found) - self._before.get(name, 0), self._rounds)
                if each > 0 and not uneven:
                    found.extend(found[-each:] * min(missing, MOST_FILLED))
        space = frame.f_locals
        for name, number in dict(self._numbers(frame, missing)).items():
            (space if name in space else frame.f_globals)[name] = number
        if sys.version_info < (3, 13):  # later ones write to the frame itself
            ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(frame), 0)


class Asked:
    """Makes the loops of one place; goes with a function to another process, where none end."""

    def __init__(self, script: ScriptLoops, grown: Iterable[str], searches: bool) -> None:
        self._script, self.grown, self.searches = script, frozenset(grown), searches
        self.test: Any = None
        """The condition of a `while`, where asking it changes nothing."""
        self.runs = self.quick = 0
        """How often it ran, and how often of late its few rounds took next to nothing."""
        self.missing, self.size = 0, 1
        """Rounds that the last loop here has not run, though its result should show them."""

    def __call__(self, items: Iterable[object]) -> Iterator[object]:
        """The items of the loop's rounds."""
        self.missing, iterator = 0, iter(items)
        self.runs += 1
        seldom = self.quick > EACH and self.runs % EACH
        if seldom or threading.get_ident() != self._script.thread:
            return iterator
        return itertools.chain.from_iterable(_Loop(self._script, self, iterator).portions())

    def __reduce__(self) -> tuple[object, ...]:
        return partial, (iter,)


class Filled:
    """Fills the list that a comprehension gives."""

    def __init__(self, asked: Asked) -> None:
        self._asked = asked

    def __call__(self, made: list[object]) -> list[object]:
        """The list in its full length."""
        missing, self._asked.missing = self._asked.missing, 0
        return made + made[-1:] * missing if missing else made

    def __reduce__(self) -> tuple[object, ...]:
        return partial, (list,)


def _nothing(*_: object) -> None: ...


def _size(value: Any) -> Any:
    return len(value) if value.__class__ is list else value
