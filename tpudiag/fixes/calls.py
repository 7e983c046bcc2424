"""Reads calls: the function's name, the arguments, and literal values."""

from typing import cast

import libcst as cst

from tpudiag.fixes.edits import NoChange


def called(call: cst.Call) -> str:
    """The last name of the called function."""
    if isinstance(call.func, cst.Attribute):
        return call.func.attr.value
    return call.func.value if isinstance(call.func, cst.Name) else ""


def argument(call: cst.Call, name: str, place: int | None = None) -> cst.Arg | None:
    """The argument of a name, or at its position; NoChange where * hides it."""
    for arg in call.args:
        if arg.keyword is not None and arg.keyword.value == name:
            return arg
    refuse_stars(call)
    plain = [arg for arg in call.args if arg.keyword is None]
    return plain[place] if place is not None and place < len(plain) else None


def refuse_stars(call: cst.Call) -> None:
    """Raise NoChange where * or ** may hold any argument."""
    if any(arg.star for arg in call.args):
        raise NoChange("its arguments are passed by * or **, which do not tell what they hold")


def literal(node: cst.CSTNode | None) -> object:
    """The value of a literal, None for anything else."""
    if isinstance(node, (cst.Integer, cst.Float, cst.SimpleString)):
        return cast("object", node.evaluated_value)
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus):
        value = literal(node.expression)
        return -value if isinstance(value, (int, float)) else None
    if isinstance(node, cst.Name):
        return {"True": True, "False": False}.get(node.value)
    return None
