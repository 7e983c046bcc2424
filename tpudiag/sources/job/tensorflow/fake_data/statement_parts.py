"""What a statement of the script sets, fills, imports and calls, by its syntax."""

import ast
from collections.abc import Iterator

_SCOPES = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.FunctionDef,
           ast.AsyncFunctionDef, ast.ClassDef)  # fmt: skip
_SHELLS = ("get_ipython().system", "get_ipython().getoutput")
_FILLING = ("append", "extend", "insert", "add", "update")


def set_by(node: ast.AST) -> Iterator[str]:
    """The names that a statement sets in its own scope."""
    for each in own(node):
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
            yield each.id
        if isinstance(each, ast.alias) and each.name != "*":
            yield each.asname or each.name.split(".")[0]


def attributes_set_by(node: ast.AST) -> Iterator[str]:
    """The attributes that a statement sets, as `self.data`."""
    for each in own(node):
        of_name = isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name)
        if of_name and isinstance(getattr(each, "ctx", None), ast.Store):
            yield ast.unparse(each)


def waits(node: ast.AST) -> bool:
    """Whether it is where a function gives something before it ends."""
    return isinstance(node, (ast.Await, ast.Yield, ast.YieldFrom))


def is_bound_to_scope(node: ast.expr) -> bool:
    """Whether an expression is another one in a function of its own."""
    kinds = (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)
    names = ("super", "locals", "vars", "eval", "dir")
    return any(
        isinstance(each, kinds) or getattr(each, "id", "") in names for each in ast.walk(node)
    )


def filled_by(node: ast.AST) -> Iterator[str]:
    """The names of lists, sets and dicts that a statement puts something into."""
    for each in own(node):
        method = each.func if isinstance(each, ast.Call) else None
        puts = isinstance(method, ast.Attribute) and method.attr in _FILLING
        into = method if puts else each
        stored = puts or (isinstance(each, ast.Subscript) and isinstance(each.ctx, ast.Store))
        if stored and isinstance(name := getattr(into, "value", None), ast.Name):
            yield name.id


def read_by(nodes: list[ast.AST]) -> frozenset[str]:
    """The names that these read."""
    names = (each for part in nodes for each in ast.walk(part) if isinstance(each, ast.Name))
    return frozenset(each.id for each in names if isinstance(each.ctx, ast.Load))


def own(node: ast.AST) -> Iterator[ast.AST]:
    """What is of a statement, or of a function's body, in its own scope."""
    yield node
    for each in ast.iter_child_nodes(node):
        if not isinstance(each, _SCOPES):
            yield from own(each)


def commands(tree: ast.Module) -> Iterator[str]:
    """The shell commands of a notebook that are in words: `!wget URL`, as plain Python."""
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and ast.unparse(call.func) in _SHELLS:
            texts = (each.value for each in call.args if isinstance(each, ast.Constant))
            yield from (each for each in texts if isinstance(each, str))


def stays_first(node: ast.stmt) -> bool:
    """A docstring or `from __future__ import`, which stay in their places."""
    if isinstance(node, ast.ImportFrom):
        return node.module == "__future__"
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
