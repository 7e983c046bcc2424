"""Rewrites the loops of a script's own source, so that each asks whether it goes on."""

import ast
import itertools

from tpudiag.sources.job.points import Kwargs, main_flow, script_text
from tpudiag.sources.job.tensorflow.shortening.script_loops import Asked, Filled, ScriptLoops

_LOOP, _ROUNDS, _FILLED = "__tpudiag_loop", "__tpudiag_rounds__", "__tpudiag_filled"


def rewritten(
    loops: ScriptLoops, text: str | bytes, file: str, space: Kwargs, flags: int = 0
) -> ast.Module:
    """A script or cell whose loops ask `loops`; `space` is what it runs in."""
    tree = script_text.tree_of(text, file, flags)
    loops.mains |= main_flow.mains(tree)
    space[_ROUNDS] = itertools.repeat(None)
    _Rewriting(loops, space).visit(tree)
    return ast.fix_missing_locations(tree)


class _Rewriting(ast.NodeTransformer):
    """Lets each loop of a script ask whether it goes on."""

    def __init__(self, script: ScriptLoops, space: Kwargs) -> None:
        self._script, self._space = script, space

    def _asked(self, items: ast.expr, body: ast.stmt | None = None) -> tuple[ast.expr, Asked]:
        searches = body is not None and _holds(body, ast.Return)
        asked = Asked(self._script, _added_to(body) if body else (), searches)
        return self._called(_LOOP, asked, items), asked

    def _called(self, prefix: str, function: object, given: ast.expr) -> ast.expr:
        name = f"{prefix}_{next(self._script.numbers)}__"  # which no class takes for its own
        self._space[name] = function
        return ast.copy_location(ast.Call(ast.Name(name, ast.Load()), [given], []), given)

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
        iter_, asked = self._asked(items, node)
        if not _holds(node.test, ast.Call, ast.NamedExpr, ast.Await):
            asked.test = compile(ast.Expression(node.test), "while", "eval")
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
        return self._called(_FILLED, Filled(asked), node)


def _is_left_alone(node: ast.For | ast.While) -> bool:
    """Whether a loop does something at its end, or gives what another loop asks for."""
    return bool(node.orelse) or _holds(node, ast.Await, ast.Yield, ast.YieldFrom)


def _holds(node: ast.AST, *kinds: type[ast.AST]) -> bool:
    return any(isinstance(each, kinds) for each in ast.walk(node))


def _added_to(node: ast.AST) -> set[str]:
    """The names of lists and numbers to which a loop's body adds."""
    found = set[str]()
    for each in ast.walk(node):
        if isinstance(each, ast.AugAssign) and isinstance(each.op, (ast.Add, ast.Sub)):
            grown: ast.expr = each.target
        elif isinstance(each, ast.Attribute) and each.attr in ("append", "extend"):
            grown = each.value
        else:
            continue
        if isinstance(grown, ast.Name):
            found.add(grown.id)
    return found
