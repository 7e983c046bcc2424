"""A Python text with its syntax tree, and the positions of its nodes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TypeVar, cast

import libcst as cst
from libcst.metadata import (
    ByteSpanPositionProvider,
    CodeRange,
    CodeSpan,
    MetadataWrapper,
    ParentNodeProvider,
    PositionProvider,
)

from tpudiag.fixes.edits import Edit, NoChange, called, line_starts

Node = TypeVar("Node", bound=cst.CSTNode)
Block = cst.IndentedBlock | cst.Module
Function = cst.FunctionDef


class NotParsed(Exception):
    """The text is no valid Python."""


def module_of(text: str) -> cst.Module:
    """The tree of a text, which gives the text again; raises NotParsed."""
    try:
        module = cst.parse_module(text)
    except (cst.ParserSyntaxError, RecursionError, ValueError) as error:
        line = getattr(error, "raw_line", None)
        raise NotParsed(f"line {line} is no Python" if line else "it is no Python") from error
    # A form feed or mixed line ends may not be preserved: a patch must change only its own lines.
    if module.code != text:
        raise NotParsed("its layout cannot be kept")
    return module


@dataclass(frozen=True)
class Source:
    """A parsed text; offsets count characters."""

    text: str
    module: cst.Module
    _spans: Mapping[cst.CSTNode, CodeSpan]
    _ranges: Mapping[cst.CSTNode, CodeRange]
    _parents: Mapping[cst.CSTNode, cst.CSTNode]

    @classmethod
    def parsed(cls, text: str) -> Source:
        """The source of a text; raises NotParsed."""
        try:
            wrapper = MetadataWrapper(module_of(text))
        except RecursionError as error:
            raise NotParsed("it is no Python") from error
        # LibCST counts UTF-8 bytes here, and columns in PositionProvider: derive character offsets
        # from the bytes.
        spans = wrapper.resolve(ByteSpanPositionProvider)
        ranges = wrapper.resolve(PositionProvider)
        return cls(text, wrapper.module, spans, ranges, wrapper.resolve(ParentNodeProvider))

    @cached_property
    def _offsets(self) -> list[int] | None:
        """The character of each byte; None where they are the same."""
        if self.text.isascii():
            return None
        offsets: list[int] = []
        for number, character in enumerate(self.text):
            offsets += [number] * len(character.encode("utf-8", "surrogatepass"))
        return [*offsets, len(self.text)]

    @cached_property
    def starts(self) -> list[int]:
        """The offset at which each line begins."""
        return line_starts(self.text)

    def line_start(self, at: int) -> int:
        """The offset at which an offset's line begins."""
        return max(s for s in self.starts if s <= at)

    def next_line(self, at: int) -> int:
        """The offset at which the first line from an offset on begins; else the text's end."""
        return next((s for s in self.starts if s >= at), len(self.text))

    def span(self, node: cst.CSTNode) -> tuple[int, int]:
        """A node's span, without its own parentheses."""
        span = self._spans[node]
        first, last = span.start, span.start + span.length
        return (self._offsets[first], self._offsets[last]) if self._offsets else (first, last)

    def whole(self, node: cst.BaseExpression) -> tuple[int, int]:
        """An expression's span, with its own parentheses."""
        first, last = self.span(node)
        for _ in node.lpar:
            first = self.text.rindex("(", 0, first)
        for _ in node.rpar:
            # A comment before the closing parenthesis may contain brackets.
            while self.text[last] != ")":
                last = self.text.index("\n", last) if self.text[last] == "#" else last + 1
            last += 1
        return first, last

    def written(self, node: cst.BaseExpression) -> str:
        """The text of an expression, with its own parentheses."""
        first, last = self.whole(node)
        return self.text[first:last]

    def code(self, node: cst.CSTNode) -> str:
        """The text of a node."""
        first, last = self.span(node)
        return self.text[first:last]

    def lines(self, node: cst.CSTNode) -> tuple[int, int]:
        """The first and last line of a node, counted from 1."""
        place = self._ranges[node]
        return place.start.line, place.end.line

    def parent(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """A node's parent."""
        return self._parents.get(node)

    def above(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """A node's ancestors, innermost first."""
        while (above := self._parents.get(node)) is not None:
            yield above
            node = above

    def inside(self, node: cst.CSTNode, kind: type[Node]) -> Iterator[Node]:
        """All nodes of a kind in a node, itself included, in order."""
        if isinstance(node, kind):
            yield node
        for child in node.children:
            yield from self.inside(child, kind)

    def all(self, kind: type[Node]) -> tuple[Node, ...]:
        """All nodes of a kind."""
        return tuple(self.inside(self.module, kind))

    @cached_property
    def calls(self) -> tuple[cst.Call, ...]:
        """All calls."""
        return self.all(cst.Call)

    def calls_of(self, *names: str) -> list[cst.Call]:
        """All calls of functions of these names."""
        return [call for call in self.calls if called(call) in names]

    def name_line(self, call: cst.Call) -> int:
        """The line of the called function's name: Python's line of a call."""
        name = call.func.attr if isinstance(call.func, cst.Attribute) else call.func
        return self._ranges[name].start.line

    def calls_at(self, line: int | None, *names: str) -> tuple[cst.Call, ...]:
        """The calls of these names that a line refers to, the nearest kind of them."""
        if line is None:
            return ()
        named = self.calls_of(*names)
        exact = tuple(call for call in named if self.name_line(call) == line)
        if exact:
            return exact
        around = [call for call in named if self.lines(call)[0] <= line <= self.lines(call)[1]]
        around.sort(key=lambda call: self.span(call)[1] - self.span(call)[0])
        return tuple(around[:1])

    def call_at(self, line: int | None, *names: str) -> cst.Call:
        """The one call of these names on a line; raises NoChange."""
        calls = self.calls_at(line, *names)
        if len(calls) != 1:
            many, verb = ("several calls", "stand") if calls else ("no call", "stands")
            raise NoChange(f"{many} of {' or '.join(names)} {verb} on the line")
        return calls[0]

    def statement(self, node: cst.CSTNode) -> cst.SimpleStatementLine | cst.BaseCompoundStatement:
        """The statement that contains a node, itself where it is one."""
        for above in (node, *self.above(node)):
            if isinstance(above, (cst.SimpleStatementLine, cst.BaseCompoundStatement)):
                return above
        raise NoChange("the line stands in no statement")

    def statement_at(self, line: int | None) -> cst.SimpleStatementLine | cst.BaseCompoundStatement:
        """The innermost statement at a line; raises NoChange."""
        kinds = (cst.SimpleStatementLine, cst.BaseCompoundStatement)
        around = [
            node
            for kind in kinds
            for node in self.all(cast("type[cst.CSTNode]", kind))
            if line is not None and self.lines(node)[0] <= line <= self.lines(node)[1]
        ]
        if not around:
            raise NoChange("no statement stands on the line")
        inner = min(around, key=lambda node: self.span(node)[1] - self.span(node)[0])
        return cast("cst.SimpleStatementLine | cst.BaseCompoundStatement", inner)

    def block(self, node: cst.CSTNode) -> Block:
        """The block of a statement; raises NoChange for one on the line of its head."""
        parent = self.parent(self.statement(node))
        if isinstance(parent, (cst.IndentedBlock, cst.Module)):
            return parent
        raise NoChange("the statement stands on one line with its head")

    def function(self, node: cst.CSTNode) -> Function | None:
        """The innermost function around a node."""
        return next((n for n in self.above(node) if isinstance(n, cst.FunctionDef)), None)

    def functions(self, name: str) -> tuple[Function, ...]:
        """The functions of a name."""
        return tuple(f for f in self.all(cst.FunctionDef) if f.name.value == name)

    def loop(self, node: cst.CSTNode) -> cst.For | cst.While | None:
        """The innermost loop around a node in the same function."""
        for above in self.above(node):
            if isinstance(above, (cst.For, cst.While)):
                return above
            if isinstance(above, (cst.FunctionDef, cst.ClassDef)):
                return None
        return None

    def outermost_loop(self, node: cst.CSTNode) -> cst.For | cst.While | None:
        """The outermost loop around a node in the same function."""
        outer = self.loop(node)
        while outer is not None and (further := self.loop(outer)) is not None:
            outer = further
        return outer

    def class_of(self, node: cst.CSTNode) -> cst.ClassDef | None:
        """The innermost class around a node."""
        return next((n for n in self.above(node) if isinstance(n, cst.ClassDef)), None)

    def indent(self, node: cst.CSTNode) -> str:
        """A statement's indentation."""
        start = self.span(self.statement(node))[0]
        blank = re.match(r"[ \t\f]*", self.text[self.line_start(start) :])
        return blank[0] if blank else ""

    @property
    def newline(self) -> str:
        """The line end of the text."""
        return self.module.default_newline

    @property
    def tab(self) -> str:
        """One level of indentation."""
        return self.module.default_indent

    def full_lines(self, node: cst.CSTNode) -> tuple[int, int]:
        """A statement's whole lines, with decorators and line end; it must be alone on them."""
        statement = self.statement(node)
        first, last = self.span(statement)
        begin = self.line_start(first)
        if isinstance(statement, cst.BaseCompoundStatement):
            return begin, self.next_line(last)
        tail = re.match(r"[ \t\f]*;?[ \t\f]*(#[^\r\n]*)?(\r\n|\r|\n|\Z)", self.text[last:])
        if self.text[begin:first].strip() or tail is None:
            raise NoChange("several statements stand on the line")
        return begin, last + tail.end()

    def before(self, node: cst.CSTNode, *rows: str) -> Edit:
        """Insert lines before a statement, with its indentation."""
        statement = self.statement(node)
        at = self.full_lines(statement)[0]
        if isinstance(statement, cst.FunctionDef | cst.ClassDef) and statement.decorators:
            at = self.line_start(self.span(statement.decorators[0])[0])
        return Edit(at, at, self._rows(self.indent(statement), rows))

    def after(self, node: cst.CSTNode, *rows: str) -> Edit:
        """Insert lines after a statement, with its indentation."""
        at = self.full_lines(node)[1]
        text = self._rows(self.indent(node), rows)
        if at == len(self.text) and not self.text.endswith(("\n", "\r")):
            text = self.newline + text.removesuffix(self.newline)
        return Edit(at, at, text)

    def _rows(self, indent: str, rows: Sequence[str]) -> str:
        return "".join(f"{indent}{row}{self.newline}" if row else self.newline for row in rows)

    def removed(self, node: cst.CSTNode) -> Edit:
        """Remove a statement and its lines; leaves `pass` in an empty block."""
        statement = self.statement(node)
        block = self.block(statement)
        first, last = self.full_lines(statement)
        lone = isinstance(block, cst.IndentedBlock) and len(block.body) == 1
        text = f"{self.indent(statement)}pass{self.newline}" if lone else ""
        return Edit(first, last, text)

    def removed_call(self, call: cst.Call, if_used: str) -> Edit:
        """Remove a call that is a statement; NoChange with this reason where its result is used."""
        if not isinstance(self.parent(call), cst.Expr):
            raise NoChange(if_used)
        return self.removed(call)

    def replaced(self, node: cst.CSTNode, text: str) -> Edit:
        """Replace a node's text; its own parentheses stay."""
        return Edit(*self.span(node), text)

    def shifted(self, first: int, last: int, by: int) -> Edit:
        """Indent (1) or dedent (-1) whole lines between two offsets by one level.

        Lines that begin inside a string are not changed.
        """
        inside = [
            self.span(s) for kind in (cst.SimpleString, cst.FormattedString) for s in self.all(kind)
        ]
        step = "\t" if self.text.startswith("\t", self.line_start(first)) else self.tab
        rows: list[str] = []
        for begin, end in pairwise([*(s for s in self.starts if first <= s < last), last]):
            row = self.text[begin:end]
            layout = row.strip() and not any(a < begin < b for a, b in inside)
            if layout and by > 0:
                row = step * by + row
            elif layout and by < 0 and row.startswith(step * -by):
                row = row[len(step) * -by :]
            rows.append(row)
        return Edit(first, last, "".join(rows))
