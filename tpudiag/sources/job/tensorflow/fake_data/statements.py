"""Statements of the job that fail for lack of data: what they would have set becomes a hole.

Each is tried by itself, those of the script's functions and of its own modules too; in what a
framework calls, which traces, maps or trains by it, the call fails as one.
What fails at the script's top level or in its main function once data are stood in for is passed
over too, and said apart. Never a statement that trains, nor one that fails by its code or in a
model: that is the script's own error. Once a first loop has trained on what stands in for data, all
that fails after it is passed over, but for a name that is not there.
"""

import ast
import contextlib
import copy
import itertools
import linecache
import operator
import re
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tpudiag.script_run import InterventionKind
from tpudiag.sources.job.points import Kwargs, barrier, interventions, main_flow, user_lines

from . import missing_data_errors, paths
from . import statement_parts as parts
from .holes import Hole, holds
from .ledger import Ledger

_ASKED, _ERROR = "__tpudiag_tried__", "__tpudiag_e__"
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_LEFT_ALONE = (
    *_DEFINITIONS, ast.Pass,
    ast.Global, ast.Nonlocal, ast.Return, ast.Raise, ast.Break, ast.Continue,
)  # fmt: skip
_IMPORTS = (ast.Import, ast.ImportFrom)
_CONTAINERS = (list, set, dict, tuple, str)
_COMPOUND = (ast.If, ast.For, ast.While, ast.With, ast.Try)
_ROUNDS = 128
"""How often a statement may fail before the loop or function around it is passed over: as often as
a loop over a hole goes round, so that what its other statements fill is as long as others are."""
_FRAMEWORKS = re.compile(r"[/\\](tensorflow|keras|tf_keras|jax|flax)[/\\](?!python[/\\]platform)")
_NESTED = 2
"""How deep a hole may stand in lists and others that a statement reads."""
_UNSET = object()
_JUDGED = "_tpudiag_judged"
"""Marks an error that no statement around the one that failed passes over."""
_EACH_ROUND = "_tpudiag_each_round"
"""Marks an error that was noted in earlier rounds of the loop that it ends."""


@dataclass
class _Statement:
    """A statement that is tried."""

    line: int
    sets: tuple[str, ...]
    fills: tuple[str, ...]
    """Lists and others that it puts something into: holes, too, where they are empty."""
    attributes: tuple[str, ...]
    """What it sets of objects: `self.data`."""
    reads: frozenset[str]
    compound: bool
    decides: frozenset[str]
    """What the condition of an `if` reads."""
    inner: bool
    """Whether it is of a function, or of a module of the job's own: passed over for want alone."""
    file: str


class Statements:
    """The statements of one script, each of which asks where it fails; none in other processes."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self.trained: list[Callable[[], bool]] = []
        """Whether a training step was seen, by each framework."""
        self._all: list[_Statement] = []
        self._rounds: Counter[int] = Counter()
        self._mains = set[str]()
        self._scope: frozenset[str] | None = None
        """The names of the function whose body is tried; None outside of any."""
        self._half_made: list[object] = []
        """Objects of libraries that failed to take what is not there, as `encoder.fit(x)`."""
        self._absent: Exception | None = None
        """How it was said that what the last statement imports is not installed."""
        self._star: Exception | None = None
        """The same of a `from m import *`, from which any name may have come."""

    def tried(
        self,
        text: str | bytes | ast.Module,
        file: str,
        space: Kwargs,
        flags: int = 0,
        imported: bool = False,
    ) -> ast.Module:
        """A script or cell, each of its statements tried; `space` is what it runs in.

        The statements of an `imported` module of the job's own are tried as those of a function.
        """
        tree: ast.Module = compile(text, file, "exec", flags | ast.PyCF_ONLY_AST, dont_inherit=True)
        space[_ASKED] = self
        self._mains = set[str]() if imported else main_flow.mains(tree)
        for command in parts.commands(tree):
            if paths.fetched_by(command):
                self._ledger.note(f"what `{command.strip()[:80]}` fetches")
        tree.body = list(self._block(tree.body, file, imported))
        ast.fix_missing_locations(tree)
        return tree

    def _block(self, body: list[ast.stmt], file: str, inner: bool = False) -> Iterator[ast.stmt]:
        """The statements of a block, each tried by itself."""
        for node in body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                main = isinstance(node, ast.FunctionDef) and node.name in self._mains
                of_main = main and not inner and not any(map(parts.waits, parts.own(node)))
                around, self._scope = self._scope, frozenset(parts.set_by(node))
                node.body = list(self._block(node.body, file, not of_main))
                self._scope = around
                yield self._tried(node, file) if node.decorator_list and not inner else node
                continue
            left = isinstance(node, (*_LEFT_ALONE, *(_IMPORTS if inner else ())))
            if left or parts.stays_first(node) or any(map(parts.waits, parts.own(node))):
                yield node
                continue
            # What the script catches itself is its own to answer.
            caught = isinstance(node, ast.Try) and bool(node.handlers)
            for block in ("orelse", "finalbody") if caught else ("body", "orelse", "finalbody"):
                if isinstance(node, _COMPOUND) and getattr(node, block, None):
                    setattr(node, block, list(self._block(getattr(node, block), file, inner)))
            if isinstance(node, ast.For) and not parts.is_bound_to_scope(node.iter):
                node.iter = self._gone_over(node.iter, file, inner)
            yield node if inner and caught else self._tried(node, file, inner)

    def _gone_over(self, items: ast.expr, file: str, inner: bool) -> ast.expr:
        """What a loop goes over: folds of a hole, say, which no library can make, are one hole."""
        reads = parts.read_by([items])
        made = ast.parse(f"{_ASKED}.rounds({len(self._all)}, lambda: 0)", mode="eval").body
        self._all.append(
            _Statement(items.lineno, (), (), (), reads, False, frozenset(), inner, file)
        )
        _put(made, items)
        assert isinstance(made, ast.Call) and isinstance(made.args[1], ast.Lambda)
        made.args[1].body = items
        return made

    def rounds(self, number: int, items: Callable[[], Iterable[object]]) -> Iterator[object]:
        """What a loop goes over; where holes cannot be gone over so, one hole."""
        given: Iterator[object] | None = None
        try:
            given = iter(items())
            first = [*itertools.islice(given, 1)]
        except Exception as error:
            at, inner = error.__traceback__, self._all[number].inner
            error.__traceback__ = at = at and at.tb_next  # what reads what it goes over
            stays = missing_data_errors.is_absent(error) or (inner and _is_in_framework())
            if stays or not barrier.attempt("rounds", self._is_for_want, error, number):
                # The loop's own line stands above that of the function that it became.
                error.__traceback__ = at and at.tb_next if given is None else at
                raise
            return iter((self.made(),))
        return itertools.chain(first, given)

    def _tried(self, node: ast.stmt, file: str, inner: bool = False) -> ast.stmt:
        """One statement, tried: `try: x = f()`, and `x` a hole where that lacks its data.

        A function or class stays without its decorators.
        """
        defines, number = isinstance(node, _DEFINITIONS), len(self._all)
        nodes: list[ast.AST] = [*node.decorator_list] if isinstance(node, _DEFINITIONS) else [node]
        reads = parts.read_by(nodes)
        decides = parts.read_by([node.test] if isinstance(node, ast.If) else [])
        found = dict.fromkeys(name for part in nodes for name in parts.set_by(part))
        filled = dict.fromkeys(name for part in nodes for name in parts.filled_by(part))
        known = filled.keys() if self._scope is None else filled.keys() & self._scope
        fills, compound = tuple(known), isinstance(node, _COMPOUND)
        attributes = (*dict.fromkeys(n for part in nodes for n in parts.attributes_set_by(part)),)
        sets = tuple(n for n in found if not n.startswith("__tpudiag") and n not in fills)
        self._all.append(
            _Statement(node.lineno, sets, fills, attributes, reads, compound, decides, inner, file)
        )
        text = f"try:\n    pass\nexcept Exception as {_ERROR}:\n"
        text += f"    if not {_ASKED}({_ERROR}, {number}): raise\n"
        targets = "".join(f"{name}, " for name in (*sets, *fills))
        text += f"    {targets}{'= ' * bool(targets)}{_ASKED}.holes({number}, locals())\n"
        if isinstance(node, ast.With) and isinstance(node.body[-1], ast.Return):
            text += f"    return {_ASKED}.made()"
        form = ast.parse(text).body[0]
        assert isinstance(form, ast.Try)
        _put(form, node)
        form.body = [node]
        if defines:
            bare: Any = copy.copy(node)
            bare.decorator_list = []
            form.handlers[0].body[1:] = [bare]
        return form

    def __reduce__(self) -> tuple[object, ...]:
        return partial, (operator.is_,)

    def __call__(self, error: Exception, number: int) -> bool:
        """Whether a statement that failed so is passed over."""
        if getattr(error, _JUDGED, False):
            return bool(barrier.attempt("statements", self._is_by_hole, error, number))
        inner = self._all[number].inner
        if inner and _is_in_framework():
            return False
        again = getattr(error, _EACH_ROUND, False)
        passes = again or barrier.attempt("statements", self._is_for_want, error, number)
        if passes:
            # A loop whose statement fails in each round has nothing to show: it fails as one.
            self._rounds[number] += 1
            if self._rounds[number] <= _ROUNDS:
                return True
            with contextlib.suppress(AttributeError):
                setattr(error, _EACH_ROUND, True)
        if passes or inner:
            return False
        # What a package that is not installed should have made is the cause of what follows.
        own = missing_data_errors.is_of_code(error)
        cause = self._starred(error) or (error if own else self._absence(error, number))
        with contextlib.suppress(AttributeError):
            setattr(cause, _JUDGED, True)
        if cause is not error:
            raise cause from None  # what could not be done with a hole is no cause
        return False

    def _is_by_hole(self, error: Exception, number: int) -> bool:
        """Whether a hole has led to what failed: a real run may take another branch."""
        statement, at = self._all[number], error.__traceback__
        known = {} if at is None else {**at.tb_frame.f_globals, **at.tb_frame.f_locals}
        led = any(isinstance(known.get(name), Hole) for name in statement.decides)
        if statement.inner or not led or missing_data_errors.is_of_training(error):
            return False
        self._pass_over(error, statement, wanting=False)
        return True

    def _is_for_want(self, error: Exception, number: int) -> bool:
        statement = self._all[number]
        # What the script catches itself is its own to answer.
        caught = statement.inner and any(map(main_flow.guarded, user_lines.stack()))
        if caught or not interventions.allowed(InterventionKind.HOLES):
            return False
        if self._is_past_training(error, statement):
            self._pass_over(error, statement, wanting=False)
            return True
        # An earlier statement sets a name that is not there: a loop over no file.
        name = error.name if isinstance(error, NameError) else None
        unset = self._is_changed() and any(name in each.sets for each in self._all[:number])
        starred = self._starred(error)
        unset |= starred is not None and not missing_data_errors.is_of_training(error)
        wanting = not statement.inner and (_is_import(error) or unset)
        if not wanting and (
            missing_data_errors.is_of_code(error) or missing_data_errors.is_of_training(error)
        ):
            return False
        wanting |= missing_data_errors.is_absent(error) or missing_data_errors.is_of_hole(error)
        asked = [*missing_data_errors.receivers(error)]
        wanting |= any(each is half for each in asked for half in self._half_made)
        # What reads nothing that came of a change fails by itself.
        own = not self._is_changed() or not interventions.to_blame(error)
        of_holes = wanting or any(holds(each, _NESTED) for each in self._read(error, number))
        absent = self._absence(error, number) is not error
        of_model = (absent or not of_holes) and missing_data_errors.is_of_model(error)
        if of_model and not absent and missing_data_errors.is_of_kinds(error):
            self._ledger.tell_own(error)
        if not of_holes and missing_data_errors.is_of_types(error):
            return False
        if not wanting and (own or (statement.inner and not of_holes)):
            return False
        if of_model:
            return False
        self._absent = error if _is_import(error) else starred
        self._star = error if _is_import(error) and not statement.sets else self._star
        self._half_made += asked
        self._pass_over(error, statement, wanting=wanting)
        return True

    def _is_past_training(self, error: Exception, statement: _Statement) -> bool:
        """Whether it fails behind a first loop, on what stands in for data or came of it."""
        trained = self._ledger.any and any(seen() for seen in self.trained)
        return trained and not statement.inner and not missing_data_errors.is_of_names(error)

    def _is_changed(self) -> bool:
        """Whether the script does not have all that it would: data, or rounds of a loop."""
        return self._ledger.any or InterventionKind.ROUNDS in interventions.made()

    def _starred(self, error: Exception) -> Exception | None:
        return self._star if isinstance(error, NameError) else None

    def _absence(self, error: Exception, number: int) -> Exception:
        """The error, or that of the package which should have made what a statement needs."""
        holes = (each for each in self._read(error, number) if isinstance(each, Hole))
        return next((each.tpudiag_cause for each in holes if each.tpudiag_cause), error)

    def _read(self, error: Exception, number: int) -> Iterator[object]:
        """What a statement that failed has read, then what functions that it failed in have."""
        for depth, (frame, _) in enumerate(traceback.walk_tb(error.__traceback__)):
            inner = (*frame.f_code.co_names, *frame.f_locals)
            known = {**frame.f_globals, **frame.f_locals}
            names = inner if depth else self._all[number].reads
            yield from (known[name] for name in names if name in known)

    def _pass_over(self, error: Exception, statement: _Statement, *, wanting: bool) -> None:
        """The script goes on without a statement, which is said."""
        place = user_lines.of(statement.file, statement.line)
        text = linecache.getline(statement.file, statement.line).strip()
        # AutoGraph tells the lines of the script's first.
        lines = [each for each in str(error).splitlines() if each.strip()] or [""]
        words = lines[-1 if lines[0] == "in user code:" else 0].strip()
        said = f"{type(error).__name__}: {words}"[:120]
        interventions.note(InterventionKind.HOLES)
        self._ledger.pass_over(f"{place} `{text[:60]}` ({said})", wanting)

    def made(self) -> Hole:
        """What a function would have returned."""
        return Hole(cause=self._absent)

    def holes(self, number: int, known: Kwargs) -> tuple[object, ...]:
        """What a statement that failed would have set; what it had, or was to change, stays."""
        statement = self._all[number]

        def of(name: str, it: Any) -> object:
            # Nothing was put into it by then: a list, a text, a table.
            empty = (type(it) in _CONTAINERS and not it) or getattr(it, "empty", None) is True
            kept = it is not _UNSET and (statement.compound or name in statement.fills)
            return it if kept and not empty else self.made()

        frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
        for each in statement.attributes:
            owner, _, name = each.partition(".")
            held = known.get(owner, frame.f_globals.get(owner))
            # An object may have no such attribute to set, or not be there.
            with contextlib.suppress(Exception):
                setattr(held, name, of(each, getattr(held, name, _UNSET)))
        return tuple(of(n, known.get(n, _UNSET)) for n in (*statement.sets, *statement.fills))


def _put(made: ast.AST, at: ast.AST) -> None:
    """Have code that is made stand on the line of the script's own."""
    for each in ast.walk(made):
        if hasattr(each, "lineno"):
            ast.copy_location(each, at)


def _is_in_framework() -> bool:
    """Whether a framework, which traces what it calls or trains by it, stands above."""
    files = (frame.f_code.co_filename for frame in user_lines.frames())
    found = (file for file in files if _FRAMEWORKS.search(file))
    return not all(user_lines.is_user_file(file) or user_lines.is_hook(file) for file in found)


def _is_import(error: Exception) -> bool:
    """Whether a statement of the script's imports a package that is not installed."""
    alone = error.__traceback__ is not None and error.__traceback__.tb_next is None
    if not (isinstance(error, ModuleNotFoundError) and alone):
        return False
    # One of the job's own is there, where Python does not look.
    return "." not in (error.name or ".") and not Path(error.name or "").is_dir()
