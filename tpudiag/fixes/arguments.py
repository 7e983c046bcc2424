"""Edits of a call's arguments and of call chains, in the layout of the surrounding code."""

import re

import libcst as cst

from tpudiag.fixes.edits import Edit, NoChange, argument, refuse_stars
from tpudiag.fixes.source import Source


def with_argument(source: Source, call: cst.Call, name: str, value: str) -> Edit:
    """Add a keyword argument at a call's end; NoChange where * may contain it."""
    # A name duplicated behind ** would raise TypeError.
    refuse_stars(call)
    if not call.args:
        closing = source.span(call)[1] - 1
        return Edit(closing, closing, f"{name}={value}")
    last = call.args[-1]
    # `f(x for x in y)` cannot take a second argument without parentheses.
    if isinstance(last.value, cst.GeneratorExp) and not last.value.lpar:
        raise NoChange("its only argument is a generator without parentheses")
    end = source.span(last)[1]
    tail = source.text[end : source.span(call)[1] - 1]
    comma = re.match(r"((?:\s|#[^\r\n]*)*?),", tail)
    # A multi-line call with a trailing comma keeps both.
    if isinstance(last.comma, cst.Comma) and comma is not None:
        at = end + comma.end()
        own_line = _begins_line(source, source.span(last)[0])
        lead = source.newline + own_line if own_line is not None else " "
        return Edit(at, at, f"{lead}{name}={value}" + ("," if own_line is not None else ""))
    if (own_line := _begins_line(source, source.span(last)[0])) is not None and "#" not in tail:
        return Edit(end, end, f",{source.newline}{own_line}{name}={value}")
    return Edit(end, end, f", {name}={value}")


def set_argument(
    source: Source, call: cst.Call, name: str, value: str, place: int | None = None
) -> Edit:
    """Change or add an argument."""
    arg = argument(call, name, place)
    return (
        with_argument(source, call, name, value) if arg is None else new_value(source, arg, value)
    )


def new_value(source: Source, arg: cst.Arg, value: str) -> Edit:
    """Change an argument's value."""
    return Edit(*source.whole(arg.value), value)


def factor(source: Source, node: cst.BaseExpression) -> str:
    """An expression as a factor of a product."""
    plain = isinstance(node, (cst.BaseNumber, cst.Name, cst.Attribute, cst.Call, cst.Subscript))
    return source.code(node) if plain else f"({source.code(node)})"


def without_argument(source: Source, call: cst.Call, arg: cst.Arg) -> Edit:
    """Remove an argument of a call, and its line if it held nothing else."""
    number = next(n for n, each in enumerate(call.args) if each is arg)
    first, end = source.span(arg)
    following = call.args[number + 1 :]
    if following:
        return Edit(first, source.span(following[0])[0], "")
    tail = source.text[end : source.span(call)[1] - 1]
    comma = re.match(r"\s*,", tail) if isinstance(arg.comma, cst.Comma) else None
    if number == 0:
        return Edit(first, end + (comma.end() if comma else 0), "")
    before = source.span(call.args[number - 1])[1]
    # The comment would be removed, too, though it may be about another argument.
    if "#" in source.text[before:first]:
        raise NoChange("a comment stands between its arguments")
    return Edit(before, end, "")


def chained(source: Source, node: cst.BaseExpression, link: str) -> Edit:
    """Add a call such as `.prefetch(n)` to an expression, on its own line in a multi-line chain."""
    if not isinstance(node, (cst.Call, cst.Name, cst.Attribute, cst.Subscript)):
        raise NoChange("the expression is no name or call that a call can be chained to")
    end = source.span(node)[1]
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
        first = source.span(node.func.attr)[0]
        begin = source.line_start(first)
        alone = re.fullmatch(r"([ \t\f]*)\.\s*", source.text[begin:first])
        # A line continued by a backslash cannot hold a comment, and needs a backslash itself.
        if alone and source.text[:begin].rstrip("\r\n").endswith("\\"):
            return Edit(end, end, f" \\{source.newline}{alone[1]}{link}")
        if alone:
            comment = re.match(r"[ \t]*#[^\r\n]*", source.text[end:])
            at = end + (comment.end() if comment else 0)
            return Edit(at, at, f"{source.newline}{alone[1]}{link}")
    return Edit(end, end, link)


def _begins_line(source: Source, at: int) -> str | None:
    """The indentation before what begins its line, None elsewhere."""
    before = source.text[source.line_start(at) : at]
    return before if not before.strip() else None
