"""Finds the numbers that a user's function reads and writes outside itself, in its bytecode."""

import dis
import inspect
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any, Literal, TypeAlias

from tpudiag.model import Location
from tpudiag.sources.job.points import user_lines

_Kind = Literal["global", "cell", "self"]
"""Where an outside name is found."""
# LOAD_METHOD is Python's up to 3.11; from 3.12 on LOAD_ATTR does both.
_ATTRIBUTES = ("LOAD_ATTR", "LOAD_METHOD", "STORE_ATTR")
_LOADS = ("LOAD_FAST", "LOAD_DEREF", "LOAD_GLOBAL")
_OUTER: dict[str, _Kind] = {"LOAD_GLOBAL": "global", "LOAD_DEREF": "cell"}
Numbers: TypeAlias = dict[tuple[int, str], object]
"""Values of slots, by place."""
_CALLS_BACK = re.compile(r"(\w+_)?callback|py_func\w*|numpy_function")
"""What runs the function that it is given outside the trace, at each step."""
_BEFORE_ARGUMENT = ("CACHE", "PUSH_NULL", "LOAD_CLOSURE", "BUILD_TUPLE")
DEPTH = 3
"""The depth to which calls from a traced function are followed."""


@dataclass(frozen=True, kw_only=True)
class Slot:
    """A number that traced code reads or writes: a global, a closure's variable, an attribute."""

    name: str
    place: tuple[int, str]
    """Its holder and name."""
    kind: _Kind
    holder: Any
    written: bool
    location: Location | None

    def get(self) -> object:
        """Its value now."""
        return _value(self.kind, self.holder, self.place[1])

    def put(self, value: object) -> None:
        """Give it a value."""
        if self.kind == "cell":
            self.holder[self.place[1]].cell_contents = value
        else:
            (self.holder if self.kind == "global" else vars(self.holder))[self.place[1]] = value


def written_slots(function: object) -> tuple[Slot, ...]:
    """The numbers written by a user's function, or by one that it calls."""
    return tuple(slot for slot in unique_slots((function,)) if slot.written)


def unique_slots(roots: tuple[object, ...]) -> Iterator[Slot]:
    """The slots of all roots, each once; written anywhere counts as written."""
    slots: dict[tuple[int, str], Slot] = {}
    for root in roots:
        for slot in _slots(root, DEPTH, set()):
            known = slots.get(slot.place)
            if known is None or (slot.written and not known.written):
                slots[slot.place] = slot
    yield from slots.values()


def _slots(function: object, depth: int, visited: set[CodeType]) -> Iterator[Slot]:
    """The numbers used by a user's function and the functions it calls."""
    function = inspect.unwrap(function) if callable(function) else function
    owner: Any = function.__self__ if isinstance(function, MethodType) else None
    if type(owner).__name__ == "TfMethodTarget":  # TensorFlow's weak reference to it
        owner = owner.target
    function = function.__func__ if isinstance(function, MethodType) else function
    if not isinstance(function, FunctionType) or function.__code__ in visited or depth == 0:
        return
    if not user_lines.is_user_file(function.__code__.co_filename):
        return
    visited.add(function.__code__)
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=False))
    itself = function.__code__.co_varnames[0] if owner is not None else None
    called_back = _called_back(function.__code__)
    for use in _uses(function.__code__, itself):
        holder: Any = {"global": function.__globals__, "cell": cells, "self": owner}[use.kind]
        kind = use.kind
        if use.of:
            holder, kind = _value(kind, holder, use.of), "self"
            if isinstance(holder, (ModuleType, type)):
                continue
        value = _value(kind, holder, use.name)
        if type(value) in (int, float):
            yield Slot(
                name=f"{use.of or 'self'}.{use.name}" if kind == "self" else use.name,
                place=(id(cells[use.name]) if kind == "cell" else id(holder), use.name),
                kind=kind,
                holder=holder,
                written=use.written,
                location=user_lines.of(function.__code__.co_filename, use.line),
            )
        elif isinstance(value, (FunctionType, MethodType)) and use.name not in called_back:
            yield from _slots(value, depth - 1, visited)


@dataclass(frozen=True)
class _Use:
    """A name that code loads or stores: a global, a cell, an attribute of `self`."""

    kind: _Kind
    name: str
    written: bool
    line: int
    of: str = ""
    """The global or cell whose attribute it is; empty for one of `self`, or for itself."""


def _uses(code: CodeType, itself: str | None) -> Iterator[_Use]:
    """The uses in a function's code, nested code included; `itself` is its name for `self`."""
    own = set(code.co_varnames) | set(code.co_cellvars)
    line, loaded = code.co_firstlineno, ""
    outer: _Kind | None = None
    starts = dict(dis.findlinestarts(code))
    attributes: dict[tuple[str, int], tuple[_Kind, str]] = {}
    for instruction in dis.get_instructions(code):
        line = starts.get(instruction.offset) or line
        operation, argument = instruction.opname, instruction.argval
        # Python 3.13 joins two loads into one instruction (LOAD_FAST_LOAD_FAST in `self.n = n`):
        # the second name is on top of the stack.
        name = str(argument[-1] if operation.count("_FAST") > 1 else argument)
        stores = operation.startswith("STORE")
        if operation in ("LOAD_GLOBAL", "STORE_GLOBAL"):
            yield _Use("global", name, stores, line)
        elif operation in ("LOAD_DEREF", "STORE_DEREF") and name not in own and name != itself:
            yield _Use("cell", name, stores, line)
        elif operation in _ATTRIBUTES:
            # `self.n += 1` loads the attribute before it stores it: the owner is then that of the
            # load on the same line, not what was loaded last.
            read = attributes.get((name, line)) if stores else None
            if read is None and (loaded == itself or outer is not None):
                read = ("self", "") if loaded == itself or outer is None else (outer, loaded)
            if read is not None:
                kind, of = attributes[name, line] = read
                yield _Use(kind, name, stores, line, of)
        # These come between owner and use, in Python 3.10 and later.
        if operation not in ("COPY", "SWAP", "CACHE", "DUP_TOP", "ROT_TWO"):
            loads = operation.startswith(_LOADS) or operation.endswith("_LOAD_FAST")
            loaded = name if loads else ""
            outer = _OUTER.get(operation) if loaded not in own else None
    called_back = _called_back(code)
    for inner in code.co_consts:
        if isinstance(inner, CodeType) and called_back.isdisjoint((inner, inner.co_name)):
            seen = itself if itself in inner.co_freevars else None
            yield from (u for u in _uses(inner, seen) if u.kind != "cell" or u.name not in own)


def _called_back(code: CodeType) -> set[object]:
    """What it gives to be called outside the trace: names, and the code of lambdas."""
    found: set[object] = set()
    given = False
    for each in dis.get_instructions(code):
        # Python 3.13 joins two loads.
        argument: object = each.argval[0] if "_LOAD" in each.opname else each.argval
        loads = each.opname.startswith("LOAD")
        if loads and _CALLS_BACK.fullmatch(str(argument)):
            given = True
        elif given and each.opname not in _BEFORE_ARGUMENT:
            found.add(argument)
            # A method has its owner before it.
            given = loads and argument in ("self", *code.co_varnames[:1])
    return found


def _value(kind: _Kind, holder: Any, name: str) -> object:
    try:
        if kind == "cell":
            return holder[name].cell_contents
        own: Mapping[str, object] = holder if kind == "global" else holder.__dict__
        if name in own or kind == "global":
            return own.get(name)
        method = inspect.getattr_static(holder, name)
    except (AttributeError, KeyError, TypeError, ValueError):
        return None
    return MethodType(method, holder) if isinstance(method, FunctionType) else None
