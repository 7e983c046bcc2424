"""Replaces random draws by Python and NumPy in a traced function by TensorFlow's."""

import re
from collections.abc import Iterator

import libcst as cst

from tpudiag.fixes import names
from tpudiag.fixes.edits import Edit, NoChange, called, literal, refuse_stars
from tpudiag.fixes.model import Place, fix
from tpudiag.fixes.source import Source
from tpudiag.source_change import Effect

_OF_PYTHON = ("random", "uniform", "randint", "gauss", "normalvariate")
_OF_NUMPY = ("random", "uniform", "rand", "randn", "normal", "randint")
_DRAWS = {f"random.{name}" for name in _OF_PYTHON} | {f"np.random.{name}" for name in _OF_NUMPY}


@fix("TPU107", effect=Effect.NUMBERS, title="draw in the graph")
def random_of_tensorflow(place: Place, source: Source) -> Iterator[Edit]:
    """Replace a draw of Python's or NumPy's `random` by TensorFlow's."""
    if place.figure("when traced") is not None:
        raise NoChange("")
    name = str(place.figure("frozen") or "").rpartition(".")[2]
    call = source.call_at(place.line, name)
    known = dict(names.modules(source))
    head, _, rest = names.dotted(call.func).partition(".")
    path = known.get(head, head) + (f".{rest}" if rest else "")
    yield source.replaced(call, _draw(source, call, path.replace("numpy.", "np.", 1)))


def _draw(source: Source, call: cst.Call, path: str) -> str:
    """TensorFlow's call for a draw of Python or NumPy."""
    tf = names.tensorflow(source)
    if path not in _DRAWS:
        raise NoChange(f"TensorFlow has no {path or called(call)}")
    refuse_stars(call)
    plain = [source.written(arg.value) for arg in call.args if arg.keyword is None]
    named = {a.keyword.value: source.written(a.value) for a in call.args if a.keyword is not None}
    kind = path.rpartition(".")[2]
    of_numpy = path.startswith("np.")
    if kind in ("rand", "randn"):
        return f"{tf}.random.{'uniform' if kind == 'rand' else 'normal'}([{', '.join(plain)}])"
    if kind == "random":
        return f"{tf}.random.uniform({_shape(plain[0] if plain else named.get('size', '[]'))})"
    low, high, size = _bounds(kind, plain, named)
    if kind == "randint":
        # Python's randint includes its upper end; NumPy's and TensorFlow's exclude it.
        last = high if of_numpy else _plus_one(call, high)
        return f"{tf}.random.uniform({_shape(size)}, {low}, {last}, {tf}.int32)"
    what = "uniform" if kind == "uniform" else "normal"
    return f"{tf}.random.{what}({_shape(size)}, {low}, {high})"


def _bounds(kind: str, plain: list[str], named: dict[str, str]) -> tuple[str, str, str]:
    """The two parameters of a distribution and the size of the draw."""
    keys = {
        "uniform": ("low", "high"),
        "randint": ("low", "high"),
        "normal": ("loc", "scale"),
        "gauss": ("mu", "sigma"),
        "normalvariate": ("mu", "sigma"),
    }[kind]
    values = dict(zip((*keys, "size"), plain, strict=False)) | named
    default = ("0", "1") if kind != "randint" else ("0", "")
    # randint(n) of NumPy draws below n.
    if kind == "randint" and keys[1] not in values:
        values = {**values, keys[1]: values.get(keys[0], ""), keys[0]: "0"}
    low, high = values.get(keys[0], default[0]), values.get(keys[1], default[1])
    if not high:
        raise NoChange("the draw has no upper end on the line")
    return low, high, values.get("size", "[]")


def _shape(size: str) -> str:
    return f"[{size}]" if re.fullmatch(r"\d+", size) else "[]" if size in ("None", "()") else size


def _plus_one(call: cst.Call, text: str) -> str:
    """An inclusive end of a Python range as an exclusive one."""
    value = literal(call.args[-1].value)
    return str(value + 1) if isinstance(value, int) and str(value) == text else f"{text} + 1"
