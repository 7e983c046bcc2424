"""Which columns a script asks its tables for, as its text says."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from .program_text import trees

_READS = ("read_csv", "read_table", "read_json", "read_parquet", "read_pickle", "read_feather")
_ASKING = {
    "groupby", "sort_values", "set_index", "merge", "drop_duplicates", "dropna", "drop", "pivot",
    "pivot_table", "value_counts", "explode", "melt", "agg", "join",
}  # fmt: skip
"""Methods of a table whose text arguments are columns."""
_OPTIONS = "columns subset on left_on by usecols index values index_col parse_dates"
_ASKING_OPTIONS = frozenset(_OPTIONS.split())
_POSITIONS = {"loc", "at"}
_ANOTHER = "another"
"""A value beside those that a script excludes: else there would be none."""
_TEXT_METHODS = frozenset(("str", "split", "lower", "strip", "startswith", "endswith"))
_TOKENIZING = frozenset(("tokenizer", "tokenize", "encode_plus", "batch_encode_plus"))
_ROUNDS = 6
"""How often names are followed from one assignment to the next."""


@dataclass
class Column:
    """A column, and what its values are compared with or used as."""

    name: str
    compared: list[str] = field(default_factory=lambda: [])
    """Texts that its values are compared with."""
    bounds: list[str] = field(default_factory=lambda: [])
    """Texts that its values are held to be below or above."""
    is_text: bool = False
    """Text methods are called on its values."""
    first_of_rest: bool = False
    """It and all that follow are taken: `table.loc[:, "a":]`."""


def asked(
    texts: Iterable[str], is_member: Callable[[str], bool], lines: Sequence[int] = ()
) -> list[Column]:
    """The columns asked for, in their order; `is_member`: a name that every table has anyway.

    With `lines`, those asked of tables that are read there alone.
    """
    columns: dict[str, Column] = {}
    for tree in trees(texts):
        _Reader(tree, is_member, lines).read(columns)
    return list(columns.values())


def tables(tree: ast.Module) -> set[str]:
    """The names that stand for tables, or rows of them, in one module."""
    return _Reader(tree, lambda _: True).tables


def read_at(texts: Iterable[str], line: int) -> tuple[int, ...]:
    """The line, where a statement outside all functions reads a table there; nothing else."""
    for tree in trees(texts):
        for statement in tree.body:
            if isinstance(statement, ast.Assign) and statement.lineno <= line:
                calls = [n for n in ast.walk(statement) if isinstance(n, ast.Call)]
                if any(n.lineno == line and _name(n.func) in _READS for n in calls):
                    return (line,)
    return ()


class _Reader:
    """Follows tables through one module."""

    def __init__(
        self, tree: ast.Module, is_member: Callable[[str], bool], lines: Sequence[int] = ()
    ) -> None:
        self._read_at = lines
        self._nodes = list(ast.walk(tree))
        self._is_member = is_member
        self._lists = dict(self._named_lists())
        self.tables: set[str] = set()
        for _ in range(_ROUNDS):
            before = len(self.tables)
            self._follow()
            if len(self.tables) == before:
                break

    def read(self, columns: dict[str, Column]) -> None:
        """Add the columns; one that the script writes to a table before it reads it is its own."""
        written: dict[tuple[str, str], int] = {}
        for line, name, table in self._written():
            written[table, name] = min(line, written.get((table, name), line))
        for line, name, table in sorted(self._asked(), key=lambda each: each[0]):
            if line <= written.get((table, name), line):
                columns.setdefault(name, Column(name))
        self._note_use(columns)

    def _named_lists(self) -> Iterator[tuple[str, list[str]]]:
        for node in self._nodes:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                names = _texts(node.value)
                if names:
                    yield node.targets[0].id, names

    def _is_table(self, node: ast.AST | None) -> bool:
        """Whether an expression is a table, or a row of one."""
        if isinstance(node, (ast.Name, ast.Attribute)) and _name(node) in self.tables:
            return True
        if isinstance(node, ast.Subscript):
            last = node.slice.elts[-1] if isinstance(node.slice, ast.Tuple) else node.slice
            return self._is_table(node.value) and not isinstance(last, ast.Constant)
        if isinstance(node, ast.Call):
            name = _name(node.func)
            if name in _READS:
                return not self._read_at or node.lineno in self._read_at
            if name in {"concat", "train_test_split", "merge"}:
                groups = (getattr(given, "elts", [given]) for given in node.args)
                return any(self._is_table(each) for group in groups for each in group)
            return isinstance(node.func, ast.Attribute) and self._is_table(node.func.value)
        if isinstance(node, ast.Attribute):
            return node.attr in {*_POSITIONS, "iloc"} and self._is_table(node.value)
        return False

    def _follow(self) -> None:
        """Find more names of tables: assigned, looped over, given to a function."""
        for node in self._nodes:
            if isinstance(node, ast.Assign) and self._is_table(node.value):
                for target in node.targets:
                    self.tables.update(_names(target))
            elif isinstance(node, (ast.For, ast.comprehension)) and self._rows(node.iter):
                self.tables.update(_names(node.target))
            elif isinstance(node, ast.Call):
                self._follow_call(node)

    def _rows(self, node: ast.AST) -> bool:
        """Whether a loop goes over the rows of a table."""
        if isinstance(node, ast.Call) and _name(node.func) in {"tqdm", "enumerate", "list"}:
            return bool(node.args) and self._rows(node.args[0])
        named = isinstance(node, ast.Call) and _name(node.func) in {"iterrows", "itertuples"}
        return named and self._is_table(node)

    def _follow_call(self, call: ast.Call) -> None:
        """The parameters of a function that is given a table, or applied to its rows."""
        applied = _name(call.func) == "apply" and self._is_table(call)
        for at, given in enumerate(call.args):
            if applied and isinstance(given, ast.Lambda):
                self.tables.update(each.arg for each in given.args.args[:1])
            if applied and isinstance(given, ast.Name):
                self._take_parameter(given.id, 0)
            if isinstance(given, (ast.Name, ast.Attribute)) and self._is_table(given):
                self._take_parameter(_name(call.func), at)

    def _take_parameter(self, function: str, at: int) -> None:
        """A function of the script takes a table as its parameter at this position."""
        for node in self._nodes:
            if isinstance(node, ast.FunctionDef) and node.name == function:
                names = [each.arg for each in node.args.args]
                if at < len(names):
                    self.tables.add(names[at])

    def _asked(self) -> Iterator[tuple[int, str, str]]:
        """Each place where a column is asked for: line, name, table."""
        for node in self._nodes:
            if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
                if self._is_table(node.value):
                    for name in self._selected(node.slice):
                        yield node.lineno, name, _root(node)
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
                if self._is_table(node.value) and not self._is_member(node.attr):
                    yield node.lineno, node.attr, _root(node)
            elif isinstance(node, ast.Call) and (options := _of_generator(node)):
                table = next((each for each in options if self._is_table(each)), None)
                for name in (name for each in options for name in _texts(each)):
                    yield node.lineno, name, _root(table) if table is not None else ""
            elif isinstance(node, ast.Call) and self._is_table(node):
                for name in self._arguments(node):
                    yield node.lineno, name, _root(node)

    def _selected(self, index: ast.AST) -> list[str]:
        """Columns in square brackets."""
        if isinstance(index, ast.Tuple):
            return [name for each in index.elts[1:] for name in self._selected(each)]
        if isinstance(index, ast.Slice):
            ends = (index.lower, index.upper)
            return [name for end in ends if end is not None for name in self._selected(end)]
        if isinstance(index, ast.Name):
            return self._lists.get(index.id, [])
        return _texts(index)

    def _arguments(self, call: ast.Call) -> Iterator[str]:
        """Columns among a call's arguments."""
        name = _name(call.func)
        if name in _ASKING and name != "concat":
            for given in call.args[:1]:
                yield from self._selected(given)
        if name in _READS or name in _ASKING:
            for option in call.keywords:
                if option.arg in _ASKING_OPTIONS:
                    yield from self._selected(option.value)
                elif option.arg == "dtype" and isinstance(option.value, ast.Dict):
                    yield from (name for key in option.value.keys for name in _texts(key))

    def _written(self) -> Iterator[tuple[int, str, str]]:
        """Columns that the script makes."""
        for node in self._nodes:
            if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
                if self._is_table(node.value):
                    for name in self._selected(node.slice):
                        yield node.lineno, name, _root(node)
            elif (
                isinstance(node, ast.Attribute)
                and isinstance(node.ctx, ast.Store)
                and self._is_table(node.value)
            ):
                yield node.lineno, node.attr, _root(node)

    def _note_use(self, columns: dict[str, Column]) -> None:
        """What columns are compared with, and whether their values are text."""
        for node in self._nodes:
            for each in _used_as_text(node):
                column = self._column(each, columns)
                if column is not None:
                    column.is_text = True
            if isinstance(node, ast.Compare):
                column = self._column(node.left, columns)
                if column is not None:
                    ordered = isinstance(node.ops[0], (ast.Lt, ast.LtE, ast.Gt, ast.GtE))
                    texts = column.bounds if ordered else column.compared
                    texts += _texts(node.comparators[0])
                    if texts and isinstance(node.ops[0], ast.NotEq):
                        texts.append(_ANOTHER)
            elif isinstance(node, ast.Slice) and node.lower is not None and node.upper is None:
                for name in _texts(node.lower):
                    if name in columns:
                        columns[name].first_of_rest = True

    def _column(self, node: ast.AST, columns: dict[str, Column]) -> Column | None:
        """The column that an expression is."""
        if isinstance(node, ast.Subscript) and self._is_table(node.value):
            names = self._selected(node.slice)
            return columns.get(names[0]) if len(names) == 1 else None
        if isinstance(node, ast.Attribute) and self._is_table(node.value):
            return columns.get(node.attr)
        return None


def _used_as_text(node: ast.AST) -> list[ast.expr]:
    """What is text by what is done with it: a method, joined with text, given to a tokenizer."""
    if isinstance(node, ast.Attribute) and node.attr in _TEXT_METHODS:
        return [node.value]
    if isinstance(node, ast.Call) and _name(node.func) in _TOKENIZING:
        return node.args
    sides = (node.left, node.right) if isinstance(node, ast.BinOp) else ()
    return list(sides) if any(map(_texts, sides)) else []


def _of_generator(call: ast.Call) -> list[ast.expr]:
    """The table and its columns that Keras' generator is given, or a dict of its arguments."""
    given = {each.arg: each.value for each in call.keywords}
    if "x_col" not in given and "y_col" not in given:
        return []
    keys = [key for key in ("dataframe", "x_col", "y_col") if key in given]
    return [*call.args[:1], *(given[key] for key in keys)]


def _root(node: ast.AST) -> str:
    """The name that an expression begins with."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _name(node: ast.AST) -> str:
    """The last part of a dotted name."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _names(target: ast.AST) -> list[str]:
    """The names that are assigned to."""
    if isinstance(target, (ast.Tuple, ast.List)):
        return [name for each in target.elts for name in _names(each)]
    name = _name(target)
    return [name] if name and not isinstance(target, ast.Subscript) else []


def _texts(node: ast.AST | None) -> list[str]:
    """The text constants of an expression: one, or a list of them."""
    if isinstance(node, ast.Constant):
        return [node.value] if isinstance(node.value, str) else []
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        texts = [text for each in node.elts for text in _texts(each)]
        return texts if len(texts) == len(node.elts) else []
    return []
