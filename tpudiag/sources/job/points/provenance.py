"""Whether an exception may be due to something that the rehearsal changed: where each value went.

What was changed in a statement marks the names that the statement sets. A mark goes on by names
through the script's own code: into what is computed of them, what functions give of them, objects
that are handed them, files that are written of them. One name is one thing wherever it stands: so
rather too much is marked than too little. An exception that was raised neither inside of a changed
statement nor in one that reads a mark, nor in what such a one calls, is the script's.
"""

import ast
import linecache
import re
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import zip_longest

from tpudiag.sources.job.points import user_lines
from tpudiag.sources.job.points.user_lines import Line

Chain = tuple[Line, ...]
"""The lines of user code on a stack, outermost first."""
MOST_FILES = 300
_WRITES = re.compile(r"save|dump|write|export|store|^to_")
_ALWAYS = "history"
"""Which Keras leaves at a model that nothing was assigned from."""
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def lines_of(error: BaseException) -> Chain:
    """The lines of user code that an exception went through, outermost first."""
    frames = traceback.walk_tb(error.__traceback__)
    lines = (user_lines.line_of(frame, number) for frame, number in frames)
    return tuple(line for line in lines if line is not None)


@dataclass
class Flow:
    """Which names of some files are set from which."""

    _statements: dict[str, list[ast.stmt]] = field(default_factory=dict[str, list[ast.stmt]])
    _edges: list[tuple[set[str], set[str]]] = field(default_factory=list[tuple[set[str], set[str]]])
    _imported: set[str] = field(default_factory=set[str])
    whole: bool = True
    """All of the files could be read."""

    def read(self, files: Iterable[str]) -> None:
        """Learn the statements of files."""
        trees: list[ast.Module] = []
        for number, file in enumerate(dict.fromkeys(files)):
            try:
                tree = ast.parse("".join(linecache.getlines(file)))
            except (SyntaxError, ValueError, RecursionError):
                self.whole = False
                continue
            self.whole &= number < MOST_FILES
            trees.append(tree)
            self._statements[file] = [n for n in ast.walk(tree) if isinstance(n, ast.stmt)]
            for node in self._statements[file]:
                if isinstance(node, (ast.Import, ast.ImportFrom)):
                    names = (each.asname or each.name.partition(".")[0] for each in node.names)
                    self._imported.update(names)
        for tree in trees:
            self._follow(tree, "", set())

    def may_be_due(self, chains: Iterable[Chain], crash: Chain) -> bool:
        """Whether an exception was raised inside of what changed, or reads what came of it."""
        known = all(self._statement(line) is not None for line in crash)
        if not (self.whole and crash and known):
            return True
        marked = {_ALWAYS}
        for chain in chains:
            if self._inside(chain, crash):
                return True
            for line in chain:
                marked |= self._set_by(self._statement(line))
        self._spread(marked)
        return any(not marked.isdisjoint(names) for line in crash for names in self._read_by(line))

    def _inside(self, chain: Chain, crash: Chain) -> bool:
        """Whether both are of one call of one statement: they part where it calls two functions."""
        for one, other in zip_longest(chain, crash):
            if one is None or other is None:
                return True
            if self._statement(one) is not self._statement(other):
                return (one.file, one.function) != (other.file, other.function)
        return True

    def _around(self, line: Line) -> list[ast.stmt]:
        """The statements that a line is a part of."""
        known = self._statements.get(line.file, ())
        return [n for n in known if n.lineno <= line.number <= (n.end_lineno or n.lineno)]

    def _read_by(self, line: Line) -> Iterator[set[str]]:
        """What a statement reads, and what the conditions and loops that it stands in do."""
        return (_names(part) for node in self._around(line) for part in _heads(node))

    def _statement(self, line: Line) -> ast.stmt | None:
        """The innermost statement of a line."""
        found = self._around(line)
        return min(found, key=lambda n: (n.end_lineno or n.lineno) - n.lineno, default=None)

    def _set_by(self, node: ast.stmt | None) -> set[str]:
        """The names that a statement sets, and what it gives to be called back."""
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

    def _spread(self, marked: set[str]) -> None:
        """Mark all that comes of what is marked."""
        before = 0
        while len(marked) > before:
            before = len(marked)
            for reads, sets in self._edges:
                if not marked.isdisjoint(reads):
                    marked |= sets

    def _follow(self, node: ast.AST, function: str, above: set[str]) -> None:
        """Learn what a part of a file sets from what; `above`: of conditions and loops around."""
        edges = _assigned(node)
        if isinstance(node, (ast.Return, ast.Yield, ast.YieldFrom)) and node.value is not None:
            edges.append((_names(node.value), {function}))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            edges.append((_names(node.value), self._receiver(node.value)))
        if isinstance(node, ast.Call):
            edges.extend(_written(node))
        self._edges.extend((reads | above, sets) for reads, sets in edges)
        own = node.name if isinstance(node, _FUNCTIONS) else function
        if isinstance(node, (ast.If, ast.While, ast.For, ast.AsyncFor)):
            above = above.union(*map(_names, _heads(node)))
        for child in ast.iter_child_nodes(node):
            self._follow(child, own, above)

    def _receiver(self, call: ast.Call) -> set[str]:
        """The object whose method is called for what it does; a module is none."""
        held = call.func.value if isinstance(call.func, ast.Attribute) else None
        if held is None or not self._imported.isdisjoint(_names(held)):
            return set()
        return _bound(held)


def _written(call: ast.Call) -> Iterator[tuple[set[str], set[str]]]:
    """What a call that writes gives to the files that it names."""
    name: str = getattr(call.func, "id", "") or getattr(call.func, "attr", "")
    for each in [*call.args, *(pair.value for pair in call.keywords)]:
        if _WRITES.search(name) and isinstance(each, (ast.Name, ast.Constant, ast.JoinedStr)):
            yield _names(call), _names(each)


def _assigned(node: ast.AST) -> list[tuple[set[str], set[str]]]:
    """What one part of a statement sets from what."""
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
    """A statement, or what stands before the block of one that has a block."""
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
    """The names that an assignment to these sets: of an item or a part its own, not its owner's."""
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
    """The names in a part of a statement, and the texts, which may be those of files."""
    found: set[str] = set()
    for each in ast.walk(node):
        if isinstance(each, ast.Name):
            found.add(each.id)
        elif isinstance(each, ast.Attribute):
            found.add(each.attr)
        elif isinstance(each, ast.Constant) and isinstance(each.value, str):
            found.add(repr(each.value))
    return found
