"""Whether a change by the rehearsal may have caused an exception: tracks where each value went.

A change in a statement marks the names that the statement sets. Marks spread by name through the
script's own code: to values computed from them, parameters and results of functions, objects that
receive them, and files written from them. A name is one thing wherever it occurs, so too much is
marked rather than too little. An exception raised neither inside a changed statement, nor in one
that reads a mark, nor in a function called from there, is the script's.
"""

import ast
import re
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import zip_longest

from tpudiag.sources.job.points import script_text, user_lines
from tpudiag.sources.job.points.user_lines import Line

Chain = tuple[Line, ...]
"""The lines of user code on a stack, outermost first."""
MOST_FILES = 300
_WRITES = re.compile(r"save|dump|write|export|store|^to_")
_OF_OBJECTS = ("call", "__call__")
_ALWAYS = "history"
"""Which Keras leaves on a model even without an assignment."""


def lines_of(error: BaseException) -> Chain:
    """The lines of user code that led to an exception, outermost first, also above its handler."""
    frames = [*traceback.walk_tb(error.__traceback__)]
    above = user_lines.frames(frames[0][0].f_back) if frames and frames[0][0].f_back else ()
    frames = [*((frame, frame.f_lineno) for frame in reversed([*above])), *frames]
    lines = (user_lines.line_of(frame, number) for frame, number in frames)
    return tuple(line for line in lines if line is not None)


@dataclass
class Flow:
    """The data flow between names in some files."""

    _statements: dict[str, list[ast.stmt]] = field(default_factory=dict[str, list[ast.stmt]])
    _edges: list[tuple[set[str], set[str]]] = field(default_factory=list[tuple[set[str], set[str]]])
    _imported: set[str] = field(default_factory=set[str])
    _parameters: dict[str, list[list[str]]] = field(default_factory=dict[str, list[list[str]]])
    """A function's name, or a class', -> the parameters of each that has it."""
    whole: bool = True
    """Whether all files could be read."""

    def read(self, files: Iterable[str]) -> None:
        """Read the statements of files."""
        trees: list[ast.Module] = []
        for number, file in enumerate(dict.fromkeys(files)):
            tree = script_text.parsed(script_text.of(file))
            self.whole &= tree is not None and number < MOST_FILES
            if tree is None:
                continue
            trees.append(tree)
            self._statements[file] = [n for n in ast.walk(tree) if isinstance(n, ast.stmt)]
            for node in self._statements[file]:
                if isinstance(node, (ast.Import, ast.ImportFrom)):
                    names = (each.asname or each.name.partition(".")[0] for each in node.names)
                    self._imported.update(names)
                for owner, function in _functions(node):
                    taken = [each.arg for each in (*function.args.args, *function.args.kwonlyargs)]
                    self._parameters.setdefault(owner, []).append(taken)
        for tree in trees:
            self._follow(tree, "", set())

    def may_be_due(self, chains: Iterable[Chain], crash: Chain) -> bool:
        """Whether an exception was raised inside a change, or reads its results."""
        known = all(self._statement(line) is not None for line in crash)
        if not (self.whole and crash and known):
            return True
        marked = {_ALWAYS}
        for chain in chains:
            if self._inside(chain, crash):
                return True
            for line in chain:
                marked |= self._set_by(self._statement(line))
        before = 0
        while len(marked) > before:
            before = len(marked)
            for reads, sets in self._edges:
                if not marked.isdisjoint(reads):
                    marked |= sets
        # Read by statements, and by the conditions and loops around them.
        parts = (p for line in crash for node in self._around(line) for p in _heads(node))
        return any(not marked.isdisjoint(_names(part)) for part in parts)

    def _inside(self, chain: Chain, crash: Chain) -> bool:
        for one, other in zip_longest(chain, crash):
            if one is None or other is None:
                return True
            if self._statement(one) is not self._statement(other):
                return (one.file, one.function) != (other.file, other.function)
        return True

    def _around(self, line: Line) -> list[ast.stmt]:
        known = self._statements.get(line.file, ())
        return [node for node in known if script_text.holds(node, line.number)]

    def _statement(self, line: Line) -> ast.stmt | None:
        found = self._around(line)
        return min(found, key=lambda n: (n.end_lineno or n.lineno) - n.lineno, default=None)

    def _set_by(self, node: ast.stmt | None) -> set[str]:
        """The names set by a statement, and the callbacks that it passes."""
        if node is None:
            return set()
        found: set[str] = set()
        for part in _heads(node):
            found = found.union(*(sets for _, sets in _assigned(part)))
            given = (each for each in ast.walk(part) if isinstance(each, ast.keyword))
            found = found.union(*(_names(g.value) for g in given if g.arg == "callbacks"))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            found |= self._receiver(node.value)
        # A callback that writes a file has its name.
        named = (reads for reads, sets in self._edges if sets & found)
        return found.union(each for reads in named for each in reads if each[:1] in "'\"")

    def _follow(self, node: ast.AST, function: str, above: set[str]) -> None:
        """Read the data flow of a part of a file; `above`: from conditions and loops around it."""
        edges = _assigned(node)
        if isinstance(node, (ast.Return, ast.Yield, ast.YieldFrom)) and node.value is not None:
            edges.append((_names(node.value), {function}))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            edges.append((_names(node.value), self._receiver(node.value)))
        if isinstance(node, ast.Call):
            edges.extend((*_written(node), *self._passed(node)))
        self._edges.extend((reads | above, sets) for reads, sets in edges)
        own = node.name if isinstance(node, script_text.FUNCTIONS) else function
        if isinstance(node, (ast.If, ast.While, ast.For, ast.AsyncFor)):
            above = above.union(*map(_names, _heads(node)))
        for child in ast.iter_child_nodes(node):
            self._follow(child, own, above)

    def _passed(self, call: ast.Call) -> Iterator[tuple[set[str], set[str]]]:
        """The flow of a call's arguments into the parameters of what has such a name.

        What has no such name may be an object that can be called: a model.
        """
        objects = [each for name in _OF_OBJECTS for each in self._parameters.get(name, ())]
        for taken in self._parameters.get(_called(call), objects):
            own = taken[taken[:1] in (["self"], ["cls"]) :]
            named = ((each.value, each.arg) for each in call.keywords)
            pairs = (*zip(call.args, own, strict=False), *named)
            yield from ((_names(given), {name}) for given, name in pairs if name in own)

    def _receiver(self, call: ast.Call) -> set[str]:
        """The object that a method changes; a module is none."""
        held = call.func.value if isinstance(call.func, ast.Attribute) else None
        if held is None or not self._imported.isdisjoint(_names(held)):
            return set()
        return _bound(held)


def _called(call: ast.Call) -> str:
    """The last name of what is called."""
    name: str = getattr(call.func, "id", "") or getattr(call.func, "attr", "")
    return name


def _functions(node: ast.stmt) -> Iterator[tuple[str, ast.FunctionDef]]:
    """A function by its name, and what makes an object of a class by the class'."""
    parts = node.body if isinstance(node, ast.ClassDef) else ()
    yield from ((node.name, node),) if isinstance(node, ast.FunctionDef) else ()
    for each in parts:
        if isinstance(each, ast.FunctionDef) and each.name == "__init__":
            yield getattr(node, "name", ""), each


def _written(call: ast.Call) -> Iterator[tuple[set[str], set[str]]]:
    """The flow of a writing call into the files that it names."""
    name = _called(call)
    for each in [*call.args, *(pair.value for pair in call.keywords)]:
        if _WRITES.search(name) and isinstance(each, (ast.Name, ast.Constant, ast.JoinedStr)):
            yield _names(call), _names(each)


def _assigned(node: ast.AST) -> list[tuple[set[str], set[str]]]:
    """The data flow of one part of a statement."""
    if isinstance(node, ast.Assign):
        return [(_names(node.value), _bound(*node.targets))]
    if isinstance(node, (ast.AugAssign, ast.AnnAssign, ast.NamedExpr)):
        return [(_names(node.value), _bound(node.target))] if node.value is not None else []
    if isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
        return [(_names(node.iter), _bound(node.target))]
    if isinstance(node, ast.withitem):
        return (
            [(_names(node.context_expr), _bound(node.optional_vars))] if node.optional_vars else []
        )
    return []


def _heads(node: ast.stmt | None) -> Iterator[ast.AST]:
    if node is None:
        return
    if not hasattr(node, "body"):
        yield node
    elif isinstance(node, (ast.For, ast.AsyncFor)):
        yield ast.Assign([node.target], node.iter)
    elif isinstance(node, (ast.While, ast.If)):
        yield node.test
    elif isinstance(node, (ast.With, ast.AsyncWith)):
        yield from node.items


def _bound(*targets: ast.AST) -> set[str]:
    """The names set by an assignment: for an item or attribute its own, not its owner's."""
    found: set[str] = set()
    for target in targets:
        if isinstance(target, (ast.Name, ast.Attribute)):
            found.add(target.id if isinstance(target, ast.Name) else target.attr)
        elif isinstance(target, (ast.Tuple, ast.List)):
            found |= _bound(*target.elts)
        elif isinstance(target, (ast.Subscript, ast.Starred)):
            found |= _bound(target.value)
    return found


def _names(node: ast.AST) -> set[str]:
    """The names in a part of a statement, and its texts, which may be file names."""
    found: set[str] = set()
    for each in ast.walk(node):
        if isinstance(each, ast.Name):
            found.add(each.id)
        elif isinstance(each, ast.Attribute):
            found.add(each.attr)
        elif isinstance(each, ast.Constant) and isinstance(each.value, str):
            found.add(repr(each.value))
    return found
