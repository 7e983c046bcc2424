"""Ends loops of the script's own that cost more than their share of the time, past the first loop.

A loop over epochs, folds, files or rows says in a round what it says in a hundred. Once it took its
share, it goes to its last round, if that is found quickly, and counters and lists that grew in each
round are as if all had run. Left alone are loops in a graph, a replica's step or below a tape,
those that a library calls (a layer, a callback, a generator), that only build a model, or search.
"""

from __future__ import annotations

import ast
import itertools
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from types import FrameType
from typing import Any

from tpudiag.script_run import InterventionKind
from tpudiag.signals import ShortenedLoop
from tpudiag.sources.job.points import Kwargs, barrier, interventions, user_lines

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
_LOOP, _ROUNDS, _FILLED = "__tpudiag_loop", "__tpudiag_rounds__", "__tpudiag_filled"
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
        self.catch_up: Callable[[list[Any], float], None] = lambda *_: None
        """Reads the counters of steps; moves them as `times` as many rounds would have."""
        self.depth, self.thread = 0, threading.get_ident()
        self.numbers = itertools.count()
        self.shortened: list[ShortenedLoop] = []
        self.mains = {"<module>", "main"}

    def rewritten(self, text: str | bytes, file: str, space: Kwargs, flags: int = 0) -> ast.Module:
        """A script or cell whose loops ask here; `space` is what it runs in."""
        tree: ast.Module = compile(text, file, "exec", flags | ast.PyCF_ONLY_AST, dont_inherit=True)
        space[_ROUNDS] = itertools.repeat(None)
        _Rewriting(self, space).visit(tree)
        return ast.fix_missing_locations(tree)

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

    def __init__(self, script: ScriptLoops, asked: _Asked, iterator: Iterator[object]) -> None:
        self._script, self._asked, self._iterator = script, asked, iterator
        self._counts = script.counts()
        self._rounds, self._began_s, self._work = 0, 0.0, (0, 0)
        if script.began_s is not None:
            self._began_s, self._work = script.clock(), script.work()
        frame = sys._getframe(2)  # pyright: ignore[reportPrivateUsage]
        self._lengths = {n: len(found) for n, found in self._found(frame)} if asked.lists else {}

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
        # What it has not done (a file, an entry of a dict) may be missed anywhere.
        interventions.note(InterventionKind.ROUNDS, interventions.ANYWHERE)
        interventions.note(InterventionKind.ROUNDS)
        if last is not _NONE:
            skipped, last = self._to_the_end(last)
        runs_last = bool(skipped) and self._took_s() / ran < script.left_s() / LAST_ROUND_SHARE
        if skipped is not None:
            missing = skipped - runs_last
            script.catch_up(self._counts, 1 + missing / ran)
            self._asked.missing = min(missing, MOST_FILLED)
            self._fill(frame, self._asked.missing)
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

    def _found(self, frame: FrameType) -> Iterator[tuple[str, list[Any]]]:
        """The lists that the loop's body appends to."""
        for name in self._asked.lists:
            value = frame.f_locals.get(name, frame.f_globals.get(name))
            if type(value) is list:
                yield name, value

    def _fill(self, frame: FrameType, missing: int) -> None:
        """Lists get what the missing rounds would have added, if each round added as much."""
        for name, found in self._found(frame):
            each, uneven = divmod(len(found) - self._lengths.get(name, 0), self._rounds)
            if each > 0 and not uneven:
                found.extend(found[-each:] * missing)


class _Asked:
    """Makes the loops of one place; goes with a function to another process, where none end."""

    def __init__(self, script: ScriptLoops, body: ast.AST | None = None) -> None:
        self._script, self.lists = script, frozenset(_appended_to(body) if body else ())
        self.searches = body is not None and _holds(body, ast.Return)
        self.runs = self.quick = 0
        """How often it ran, and how often of late its few rounds took next to nothing."""
        self.missing, self.size = 0, 1
        """Rounds that the last loop here has not run, though its result should show them."""

    def __call__(self, items: Iterable[object]) -> Iterator[object]:
        self.missing, iterator = 0, iter(items)
        self.runs += 1
        seldom = self.quick > EACH and self.runs % EACH
        if seldom or threading.get_ident() != self._script.thread:
            return iterator
        loop = _Loop(self._script, self, iterator)
        return itertools.chain.from_iterable(loop.portions())

    def __reduce__(self) -> tuple[object, ...]:
        return partial, (iter,)


class _Filled:
    """Fills the list that a comprehension gives."""

    def __init__(self, asked: _Asked) -> None:
        self._asked = asked

    def __call__(self, made: list[object]) -> list[object]:
        missing, self._asked.missing = self._asked.missing, 0
        return made + made[-1:] * missing if missing else made

    def __reduce__(self) -> tuple[object, ...]:
        return partial, (list,)


class _Rewriting(ast.NodeTransformer):
    """Lets each loop of a script ask whether it goes on."""

    def __init__(self, script: ScriptLoops, space: Kwargs) -> None:
        self._script, self._space = script, space

    def _asked(self, items: ast.expr, body: ast.stmt | None = None) -> tuple[ast.expr, _Asked]:
        asked = _Asked(self._script, body)
        return self._called(_LOOP, asked, items), asked

    def _called(self, prefix: str, function: object, given: ast.expr) -> ast.expr:
        name = f"{prefix}_{next(self._script.numbers)}__"  # which no class takes for its own
        self._space[name] = function
        call = ast.Call(ast.Name(name, ast.Load()), [given], [])
        return ast.copy_location(call, given)

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        """As it is: Keras saves its code, without what it is in."""
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:
        """A decorator may compile the code that it is given."""
        plain = not node.decorator_list or node.name in self._script.mains
        return self.generic_visit(node) if plain else node  # type: ignore[return-value]

    def visit_For(self, node: ast.For) -> ast.stmt:
        """`for x in items` over what may end earlier."""
        self.generic_visit(node)
        if not _is_left_alone(node):
            node.iter, _ = self._asked(node.iter, node)
        return node

    def visit_While(self, node: ast.While) -> ast.stmt:
        """`while x` as a loop over rounds without an end, left where x is false."""
        self.generic_visit(node)
        if _is_left_alone(node):
            return node
        items = ast.copy_location(ast.Name(_ROUNDS, ast.Load()), node.test)
        iter_, _ = self._asked(items, node)
        test = ast.copy_location(ast.UnaryOp(ast.Not(), node.test), node.test)
        until = ast.copy_location(ast.If(test, [ast.Break()], []), node)
        made = ast.For(ast.Name("_" + _ROUNDS, ast.Store()), iter_, [until, *node.body], [])
        return ast.copy_location(made, node)

    def visit_ListComp(self, node: ast.ListComp) -> ast.expr:
        """`[f(x) for x in items]`, filled up where it ended earlier."""
        self.generic_visit(node)
        first = node.generators[0]
        if len(node.generators) > 1 or first.ifs or first.is_async:
            return node
        first.iter, asked = self._asked(first.iter)
        return self._called(_FILLED, _Filled(asked), node)


def _is_left_alone(node: ast.For | ast.While) -> bool:
    """Whether a loop does something at its end, or gives what another loop asks for."""
    return bool(node.orelse) or _holds(node, ast.Await, ast.Yield, ast.YieldFrom)


def _holds(node: ast.AST, *kinds: type[ast.AST]) -> bool:
    return any(isinstance(each, kinds) for each in ast.walk(node))


def _appended_to(node: ast.AST) -> set[str]:
    """The names of lists that a loop's body makes longer."""
    found = set[str]()
    for each in ast.walk(node):
        if isinstance(each, ast.AugAssign):
            grown: ast.expr = each.target
        elif isinstance(each, ast.Attribute) and each.attr in ("append", "extend"):
            grown = each.value
        else:
            continue
        if isinstance(grown, ast.Name):
            found.add(grown.id)
    return found
