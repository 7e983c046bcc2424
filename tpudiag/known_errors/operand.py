# ruff: noqa: E501  (the forms of sentences stay in one piece)
"""Which part of the line that failed an error speaks of: object, operand, call, condition."""

import ast
import re
from collections.abc import Callable, Iterable
from functools import partial

from tpudiag.records import dataclass

from .compiled import wording

LONGEST_NAMED = 70
"""Characters of an expression that is quoted."""
LONGEST_SAID = 800
_SIGNS = {
    "+": ast.Add, "-": ast.Sub, "*": ast.Mult, "/": ast.Div, "//": ast.FloorDiv, "%": ast.Mod,
    "@": ast.MatMult, "**": ast.Pow, "**or pow()": ast.Pow, "&": ast.BitAnd, "|": ast.BitOr,
    "<": ast.Lt, ">": ast.Gt, "<=": ast.LtE, ">=": ast.GtE, "Add": ast.Add, "AddV2": ast.Add,
    "Sub": ast.Sub, "Mul": ast.Mult, "RealDiv": ast.Div, "MatMul": ast.MatMult, "Pow": ast.Pow,
    "Less": ast.Lt, "LessEqual": ast.LtE, "Greater": ast.Gt, "GreaterEqual": ast.GtE,
}  # fmt: skip
Nodes = tuple[ast.AST, ...]


@dataclass(frozen=True)
class Operand:
    """What an error's sentence means in the line that failed, and what can be written there."""

    cause: str
    fix: str
    looks: bool = False
    """Whether its fix only shows what is there."""


_look = partial(Operand, looks=True)


def operand_of(text: str, raised: str | None, own: str | None) -> Operand | None:
    """What the last error of a text speaks of: in the line that raised it, or the user's own.

    An object or operand is in the line that raised; a call in the user's own may lead to it.
    """
    raises = [found.start() for found in wording("operand last_sentence").finditer(text)]
    said = text[raises[-1] :][:LONGEST_SAID] if raises else ""
    forms = [(each, told) for form, told in _FORMS.items() if (each := re.search(form, said))]
    for source in dict.fromkeys((raised, own)):
        tree = _parsed(source) if source and forms else None
        for found, told in forms:
            elsewhere = (source != raised and _OF_WHAT_RAISED) or (
                own and source != own and _TO_CHANGE
            )
            if tree is None or told in (elsewhere or ()):
                continue
            if operand := told(found, tuple(ast.walk(tree))):
                return operand
    return None


def _parsed(source: str) -> ast.AST | None:
    """A line of source by itself; None where it is only a part of a statement."""
    source = re.sub(r"^elif\b", "if", source.strip())
    for end in ("", " pass", "\ndef f(): pass", ")", "))", "])", "}"):
        try:
            return ast.parse(source.rstrip(",") + end if end else source)
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            continue
    return None


def _named(node: ast.AST) -> str:
    """An expression as it is quoted."""
    words = ast.unparse(node)
    return words if len(words) <= LONGEST_NAMED else f"{words[:LONGEST_NAMED]}…"


def _only(nodes: Iterable[ast.AST]) -> ast.AST | None:
    """What stands in a line, if it is but one thing."""
    different = {ast.unparse(each): each for each in nodes}
    return next(iter(different.values())) if len(different) == 1 else None


def _is_that(node: ast.AST | None, kind: str, lacks: str) -> Operand | None:
    """That an expression is of a kind that is not wanted there."""
    name = _named(node) if node is not None else "self"
    if name == "self" or kind == "module":
        return None  # its class is said by the error itself
    if kind != "NoneType":
        return _look(f"`{name}` is of type {kind} here, {lacks}.", f"print(type({name}), {name})")
    why = " (the function returns nothing, or found nothing)" if isinstance(node, ast.Call) else ""
    fix = f"assert {name} is not None      # before this line: where it is set, and why it was not"
    return _look(f"`{name}` is None here{why}, {lacks}.", fix)


def _attribute(found: re.Match[str], nodes: Nodes) -> Operand | None:
    named = (e.value for e in nodes if isinstance(e, ast.Attribute) and e.attr == found["name"])
    return _is_that(_only(named), found["kind"], f"which has no `{found['name']}`")


def _used(found: re.Match[str], nodes: Nodes) -> Operand | None:
    use = found["use"] or "unpack"
    used: Iterable[ast.AST]
    if use == "callable":
        used, lacks = (e.func for e in nodes if isinstance(e, ast.Call)), "and is called"
    elif use == "iterable":
        loops = (e for e in nodes if isinstance(e, ast.For | ast.comprehension))
        given = (arg for e in nodes if isinstance(e, ast.Call) for arg in e.args)
        used, lacks = [e.iter for e in loops] or given, "and is gone through"
    elif use == "len":
        calls = (e for e in nodes if isinstance(e, ast.Call) and e.args)
        used = (e.args[0] for e in calls if isinstance(e.func, ast.Name) and e.func.id == use)
        lacks = "and is asked for its length"
    elif use == "unpack":
        taken = (e for e in nodes if isinstance(e, ast.Assign))
        used = (e.value for e in taken if isinstance(e.targets[0], ast.Tuple))
        lacks = "and several names stand for it"
    else:
        used, lacks = (e.value for e in nodes if isinstance(e, ast.Subscript)), "and is indexed"
    return _is_that(_only(used), found["kind"], lacks)


def _two(found: re.Match[str], nodes: Nodes) -> Operand | None:
    named = found.groupdict()
    sign = (named.get("sign") or named.get("op") or "").strip()
    if sign and sign not in _SIGNS:
        return None
    met: list[Nodes] = [(e.left, e.op, e.right) for e in nodes if isinstance(e, ast.BinOp)]
    met += [(e.left, e.ops[0], e.comparators[0]) for e in nodes if isinstance(e, ast.Compare)]
    pairs = [(left, right) for left, op, right in met if not sign or _SIGNS[sign] is type(op)]
    if named.get("op") and pairs:
        said = " or ".join(f"`{_named(one)}` and `{_named(other)}`" for one, other in pairs[:2])
        said = f"In the line that failed {said} meet: the first is {named['left']}, the second {named['right']}."
        other = f"or `{_named(pairs[0][0])}` cast to {named['right']}"
        return Operand(said, f'tf.cast({_named(pairs[0][1])}, "{named["left"]}")      # {other}')
    if not pairs and not sign:
        calls = [e for e in nodes if isinstance(e, ast.Call) and len(e.args) == 2]
        of_arrays = [e for e in calls if wording("operand of_arrays").match(ast.unparse(e.func))]
        pairs = [(each.args[0], each.args[1]) for each in of_arrays]
    left, right = map(_named, pairs[0]) if len(pairs) == 1 else ("", "")
    if left == right:
        return None
    of, show = ("of type", "type({})") if sign else ("of the shape", "{}.shape")
    return _look(
        f"`{left}` is {of} {found['left']} and `{right}` {of} {found['right']}.",
        f"print({show.format(left)}, {show.format(right)})",
    )


def _unpacked(found: re.Match[str], nodes: Nodes) -> Operand | None:
    wanted = int(found["wanted"])
    got = found["got"] or f"more than {wanted}"
    for each in nodes:
        if not isinstance(each, ast.Assign | ast.For | ast.comprehension):
            continue
        assigned = isinstance(each, ast.Assign)
        target = each.targets[0] if isinstance(each, ast.Assign) else each.target
        if not isinstance(target, ast.Tuple) or len(target.elts) != wanted:
            continue
        value = _named(each.value if isinstance(each, ast.Assign) else each.iter)
        if not assigned or not wording("operand shapes").search(value):
            part = "has" if assigned else "gives elements of"
            fix = f"print({value})      # take as many names as it has parts"
            return _look(f"`{value}` {part} {got} parts, and {wanted} names stand for them.", fix)
        tensor = re.sub(
            r"^tf\.shape\(|(?:\.get_shape\(\)|\.shape)?(?:\.as_list\(\))?$|\)$", "", value
        )
        fix = f"{tensor} = tf.ensure_shape({tensor}, [{', '.join(['None'] * wanted)}])      # where it is made: there it fails by name"
        if "tf." not in value and "get_shape" not in value and "as_list" not in value:
            fix = f"assert {tensor}.ndim == {wanted}, {tensor}.shape      # where it is made"
        cause = f"`{value}` is a shape: `{tensor}` is of rank {got}, and rank {wanted} is wanted."
        return Operand(cause, fix)
    return None


def _call(found: re.Match[str], nodes: Nodes) -> Operand | None:
    parts = found["function"].split(".")
    names = {parts[-1], parts[-2]} if parts[-1] == "__init__" and parts[1:] else {parts[-1]}
    calls = [e for e in nodes if isinstance(e, ast.Call) and e.args]
    calls = [e for e in calls if ast.unparse(e.func).rsplit(".", 1)[-1] in names]
    if len(calls) != 1:
        return None
    call, takes = calls[0], int(found["takes"])
    of_object = len(call.args) == int(found["given"]) - 1
    most = takes - of_object
    if most >= len(call.args) or any(isinstance(each, ast.Starred) for each in call.args):
        return None
    name = _named(call.func)
    rest = [
        f"{word if word.isidentifier() else f'NAME{number}'}={word}"
        for number, word in enumerate(map(_named, call.args[most:]), 1)
    ]
    rest += [f"{f'{e.arg}=' if e.arg else '**'}{_named(e.value)}" for e in call.keywords]
    many = "no argument" if most == 0 else f"{most} of its arguments"
    return Operand(
        f"`{name}` takes {many} by position{' (self is counted with them)' if of_object else ''}, and"
        f" {len(call.args)} are given so: what is more goes by its name, or is not taken.",
        f"{name}({', '.join([*map(_named, call.args[:most]), *rest])})      # by name; help({name}) says which there are",
    )


def _keyword(found: re.Match[str], nodes: Nodes) -> Operand | None:
    word = found["name"]
    calls = [e for e in nodes if isinstance(e, ast.Call) and word in [k.arg for k in e.keywords]]
    if len(calls) != 1:
        return None
    name, keywords = _named(calls[0].func), calls[0].keywords
    given = next(_named(each.value) for each in keywords if each.arg == word)
    calls[0].keywords = [each for each in keywords if each.arg != word]
    how = "gets it by position too" if found["twice"] else "does not take it"
    return Operand(
        f"`{name}` is given `{word}={given}` and {how}.",
        f"{_named(calls[0])}      # without {word}; help({name}) says what there is in its place",
        looks=bool(found["twice"]),  # or the order of the others is not that of this release
    )


def _condition(found: re.Match[str], nodes: Nodes) -> Operand | None:
    within = (part for e in nodes if isinstance(e, ast.If) for part in e.body)
    if any(isinstance(each, ast.Call) for part in within for each in ast.walk(part)):
        return None  # what is called behind the condition may be what asks
    test = _only(
        e.test for e in nodes if isinstance(e, ast.If | ast.While | ast.IfExp | ast.Assert)
    )
    if test is None:
        return None
    name = _named(test)
    if found["traced"]:
        what = "a traced array, without a value"
        fix = f"y = jax.lax.cond({name}, f, g, x)      # or jnp.where({name}, a, b)"
    elif found["array"]:
        what = "an array of several values"
        fix = f"if ({name}).all():      # or .any(), or where(...) for each value"
    elif isinstance(test, ast.Name | ast.Attribute):
        what, fix = "a tensor", f"if {name} is not None:      # where only its being there is asked"
    else:
        what, fix = "a tensor", f"y = tf.cond({name}, lambda: a, lambda: b)"
    return Operand(f"The condition is `{name}`: it is {what}.", fix)


Reader = Callable[[re.Match[str], Nodes], Operand | None]
_FORMS: dict[str, Reader] = {
    r"'(?P<kind>[\w.]+)' object has no attribute '(?P<name>\w+)'": _attribute,
    r"'(?P<kind>[\w.]+)' object (?:is not|does not support) (?P<use>callable|iterable|subscriptable|item assignment|indexing)": _used,
    r"object of type '(?P<kind>[\w.]+)' has no (?P<use>len)\(\)": _used,
    r"unsupported operand type\(s\) for (?P<sign>[^:]+?)=?: '(?P<left>[\w.]+)' and '(?P<right>[\w.]+)'": _two,
    r"'(?P<sign>[<>]=?)' not supported between instances of '(?P<left>[\w.]+)' and '(?P<right>[\w.]+)'": _two,
    r"(?:not enough|too many) values to unpack \(expected (?P<wanted>\d+)(?:, got (?P<got>\d+))?": _unpacked,
    r"(?P<function>[\w.<>]+)\(\) takes (?:from \d+ to )?(?P<takes>\d+) positional arguments? but (?P<given>\d+)": _call,
    r"got an unexpected keyword argument '(?P<name>\w+)'(?P<twice>)": _keyword,
    r"got (?P<twice>multiple) values for (?:keyword )?argument '(?P<name>\w+)'": _keyword,
    r"(?:contracting dimensions to have the same shape, got|incompatible shapes for broadcasting:) (?P<left>\([\d, ]*\))(?: and|,) (?P<right>\([\d, ]*\))": _two,
    r"cannot unpack non-iterable (?P<kind>[\w.]+) object(?P<use>)": _used,
    r"Input 'y' of '(?P<op>\w+)' Op has type (?P<right>\w+) that does not match type (?P<left>\w+) of argument 'x'": _two,
    r"cannot compute (?P<op>\w+) as input #1\(zero-based\) was expected to be an? (?P<left>\w+) tensor but is an? (?P<right>\w+) tensor": _two,
    r"as a Python `?bool|truth value of an (?P<array>array)|(?P<traced>TracerBool\w*|[Aa]bstract tracer value encountered where (?:concrete|Boolean))": _condition,
    r"\b[Ii]ncompatible shapes?:? (?P<left>\[[\d,? ]*\]) vs\.? (?P<right>\[[\d,? ]*\])": _two,
}
"""How errors speak of a part of the line that failed, and how it is found there."""
_TO_CHANGE = (_keyword, _call)
"""Which of them say what to write in the line: not where it is a library's."""
_OF_WHAT_RAISED = (_attribute, _used, _unpacked)
"""Which of them speak of the line that raised alone."""
