"""Ends loops of the script's own that cost more than their share of the time, past the first loop.

A loop over epochs, folds, files or rows says in a round what it says in a hundred. Once it took its
share, it goes to its last round, if that is found quickly, and lists that grew alike in each round
are filled as if all had run. Left alone are loops in a graph, a replica's step or below a tape,
those that a library calls (a layer, a callback, a generator), that only build a model, or search.
"""

from __future__ import annotations

import ast
import itertools
import sys
import threading
import time
import weakref
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
MOST_FILLED = 1_000_000
_LOOP, _ROUNDS, _FILLED = "__tpudiag_loop", "__tpudiag_rounds__", "__tpudiag_filled"
_NONE = object()


class ScriptLoops:
    """The loops of a script's own source; they run in full until `began_s` is set."""

    def __init__(self, clock: Callable[[], float] = time.process_time) -> None:
        self.clock = clock
        self.began_s: float | None = None
        self.left_s: Callable[[], float] = lambda: 0.0
        self.may_end: Callable[[], bool] = lambda: True
        """Whether the code that runs now may be cut short at all."""
        self.work: Callable[[], tuple[int, int]] = lambda: (0, 0)
        """How many variables were made so far, and how many steps and passes over data begun."""
        self.active: list[weakref.ref[_Loop]] = []
        self.shortened: list[ShortenedLoop] = []
        self._mains = {"<module>", "main"}

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
            if not user_lines.is_user_file(file) and below not in self._mains:
                return False
            below = each.f_code.co_name if user_lines.is_user_file(file) else below
        return False


class _Loop(Iterator[object]):
    """One run of a loop."""

    def __init__(self, script: ScriptLoops, asked: _Asked, items: Iterable[object]) -> None:
        self._script, self._asked, self._items = script, asked, items
        self._rounds, self._ended, self._last = 0, False, _NONE

    def __iter__(self) -> Iterator[object]:
        self._iterator = iter(self._items)
        if threading.current_thread() is not threading.main_thread():
            return self._iterator
        script = self._script
        script.active[:] = [each for each in script.active if each() is not None]
        self._depth = len(script.active)
        script.active.append(weakref.ref(self))
        self._began_s, self._work = script.clock(), script.work()
        frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
        self._lengths = {name: len(found) for name, found in self._found(frame)}
        return self

    def __next__(self) -> object:
        script = self._script
        if self._ended:
            item, self._last = self._last, _NONE
            if item is _NONE:
                raise StopIteration
            return item
        if script.began_s is not None and self._rounds and self._took_s() > self._share_s():
            frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
            if barrier.attempt("loop", self._left, frame):
                return self.__next__()
        item = next(self._iterator)
        self._rounds += 1
        return item

    def _took_s(self) -> float:
        return self._script.clock() - max(self._began_s, self._script.began_s or 0.0)

    def _share_s(self) -> float:
        return self._script.left_s() / (SHARE << self._depth)

    def _left(self, frame: FrameType) -> bool:
        """Whether the loop ends here."""
        script = self._script
        (made, begun), (made_before, begun_before) = script.work(), self._work
        idle = begun == begun_before and (made != made_before or self._asked.searches)
        allowed = interventions.allowed(InterventionKind.LOOPS) and script.may_end()
        if idle or not allowed or not script.of_main_flow(frame):
            return False
        ran, skipped = self._rounds, self._to_the_end()
        self._ended = True
        if skipped and self._took_s() / ran < script.left_s() / LAST_ROUND_SHARE:
            ran += 1
        else:
            self._last = _NONE
        if skipped == 0:
            return True
        if skipped is not None:
            missing = min(skipped - (self._last is not _NONE), MOST_FILLED)
            self._fill(frame, missing)
            self._asked.missing = missing
        asked = None if skipped is None else self._rounds + skipped
        # What it has not done (a file, an entry of a dict) may be missed anywhere.
        interventions.note(InterventionKind.LOOPS, interventions.ANYWHERE)
        place = user_lines.of_frame(frame)
        script.shortened.append(ShortenedLoop("rounds of a loop", place, ran, asked))
        return True

    def _to_the_end(self) -> int | None:
        """How many rounds follow; None where that is not known soon."""
        if isinstance(self._iterator, itertools.repeat):
            return None
        skipped, until = 0, time.perf_counter() + TO_THE_END_S
        for item in self._iterator:
            skipped += 1
            if time.perf_counter() > until:
                return None
            self._last = item
        return skipped

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
        self.missing = 0
        """Rounds that the last loop here has not run, though its result should show them."""

    def __call__(self, items: Iterable[object]) -> Iterable[object]:
        return _Loop(self._script, self, items)

    def __reduce__(self) -> tuple[object, ...]:
        return partial, (iter,)


class _Filled:
    """Fills the list that a comprehension gives."""

    def __init__(self, asked: _Asked) -> None:
        self._asked = asked

    def __call__(self, made: list[object]) -> list[object]:
        missing, self._asked.missing = self._asked.missing, 0
        return made + made[-1:] * missing

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
        name = f"{prefix}_{len(self._space)}__"  # which no class takes for its own
        self._space[name] = function
        call = ast.Call(ast.Name(name, ast.Load()), [given], [])
        return ast.copy_location(call, given)

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
