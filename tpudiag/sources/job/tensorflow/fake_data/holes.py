"""A value that is not there: a hole, which takes any use, and each use of one gives another.

What is not known of it stays open until something must be a number, a length or an array; then it
is the simplest there is. Each use narrows what comes of it: how many there are, their shape, the
batch.
"""

# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false, reportUnknownLambdaType=false
from __future__ import annotations

import importlib
import itertools
import math
import time
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any, cast

from tpudiag.sources.job.points import Args, Call, Kwargs, user_lines

from .asking import (
    Asked,
    begun_together,
    by_user,
    end_what_only_uses_holes,
    is_decorated,
    parts_of_rounds,
    taken_apart,
    taken_at_will,
    together,
    turns,
)
from .hole_sizes import LENGTH, NUMBER, WIDTH, Dims, Guess, Size, indexed, made_by
from .ledger import MARKER

_uses, _hashes = itertools.count(1), itertools.count()
_PARTS = 128
"""Elements of a hole that is gone over: each round may go over another."""
_FEWEST, _LONG_S = 2, 20.0
"""Rounds over elements of which nothing tells how many there are, and CPU seconds, after which a
loop over them ends: folds, each of which trains."""
BATCHES = 32
"""Batches of a hole that is gone over: more than the steps that are observed."""
_OF_FRAMES = ("values", "to_numpy")
"""Arrays of a table."""
_COLUMNS = 64
"""Names that a table has at most."""
_OF_OTHERS = ("dtype", "is_tensor_like", "cardinality", "element_spec")
"""What tells libraries that something is a tensor, an array or a dataset."""
_OF_MODELS = ("fit", "predict")
"""What tells libraries that something is no data but a model; the script may well ask for it."""


class Hole(Asked):
    """Takes any use."""

    tpudiag_dims: Dims = ()
    tpudiag_batch: int | None = None
    """The batch that a script asked of it."""
    tpudiag_names: frozenset[str] = frozenset()
    """What was asked of it by name: columns, unless there are too many."""
    tpudiag_rows = 1
    """Examples in each of its elements, which are counted where they are batches."""
    tpudiag_compared = ""
    """The comparison that it answers: first what is compared is taken for equal."""
    tpudiag_broadcast = False
    """Whether an array of an open shape is to fit whatever it is put beside."""
    tpudiag_elements: object = None
    """What a dataset was made of."""
    tpudiag_frame: type | None = None
    """Of a table: the DataFrame of pandas, what it has not is a column."""
    tpudiag_hash: int | None = None
    tpudiag_cause: Exception | None = None
    """How it was said that what should have made it is not installed."""
    tpudiag_sent: Call = staticmethod(lambda array: array)
    """What makes an array of JAX of an array that stands for it, on the devices it was sent to."""
    tpudiag_filled: Call = staticmethod(lambda _: None)
    """Gives batches for a hole that is gone over, where a model tells what they are."""
    tpudiag_shared: Call = staticmethod(lambda batches: batches)
    """What makes batches of a strategy of those that stand for it."""
    tpudiag_iterator: Call | None = None
    """What makes the iterator of batches that it is, once a model tells what they are."""
    tpudiag_called: tuple[Hole, str] | None = None
    """What it is a member of, and its name: it may be called yet."""

    def __init__(
        self, dims: Dims | None = None, batch: int | None = None, cause: Exception | None = None
    ) -> None:
        self.tpudiag_dims = (Size(), Size(WIDTH)) if dims is None else dims
        self.tpudiag_batch, self.tpudiag_cause = batch, cause

    def __getattr__(self, name: str) -> object:
        # Python and the libraries ask whatever they are given for such names.
        asked = name in _OF_MODELS and user_lines.direct_caller() is None
        if name.startswith(("_", "tpudiag")) or name in _OF_OTHERS or asked:
            raise AttributeError(name)
        if name == "ndim":
            return len(self.tpudiag_dims)
        if name == "shape":
            return _Shape(shape_of(self), self)
        frame = self.tpudiag_frame
        return used(self, name) if frame is None or hasattr(frame, name) else self[name]

    def __setattr__(self, name: str, value: object) -> None:
        self.__dict__[name] = value

    def __call__(self, *args: object, **kwargs: object) -> object:
        """What a call of it would give; what it decorates stays as it is."""
        if len(args) == 1 and not kwargs and is_decorated(args[0]):
            return args[0]
        hole, use = self.tpudiag_called or (self, "call")
        made, size = used(hole, use, (*args, *kwargs.values())), kwargs.get("batch_size")
        if isinstance(size, int) and ("dataset" in use or "flow" in use):
            made.tpudiag_batch = size
        return made

    def __mro_entries__(self, bases: tuple[object, ...]) -> tuple[type, ...]:
        """What stands for it among a class's bases: the others, or one that takes any use."""
        return () if any(isinstance(base, type) for base in bases) else (_Base,)

    def __getitem__(self, key: object) -> Hole:
        if isinstance(key, str) and key not in self.tpudiag_names:
            if len(self.tpudiag_names) == _COLUMNS:  # examples, by their names
                return _like(self, (Size(WIDTH),))
            self.tpudiag_names |= {key}
        if isinstance(key, str) and self.tpudiag_frame is not None:
            return _like(self, self.tpudiag_dims[:1])
        return _like(self, indexed(self.tpudiag_dims or (Size(),), key))

    def __setitem__(self, key: object, value: object) -> None:
        """Whatever is put in is lost."""

    def __delitem__(self, key: object) -> None:
        """There is nothing to remove."""

    def __iter__(self) -> Iterator[object]:
        parts = taken_apart()
        if parts:
            return iter([self[0] for _ in range(parts)])
        if self.tpudiag_batch is None:
            return self._rounds()
        if taken_at_will():
            made = used(self, "iter")
            made.tpudiag_iterator = partial(_begun, self)
            return _begun(self) or made
        beside, parts = begun_together(self), parts_of_rounds()
        if parts and not beside[1:] and self.tpudiag_elements is None:
            made = used(self, "joined")
            made.tpudiag_elements = (self,) * parts
            return made._gone_over([made], 0)
        return self._gone_over(beside, len(beside) - 1)

    def _rounds(self) -> Iterator[Hole]:
        """Its elements; of which nothing tells how many there are, few where each takes long."""
        size, began = self._first(), time.process_time()
        is_open = size.known is None
        for at in range(size.counted(_PARTS)):
            if is_open and at >= _FEWEST and time.process_time() - began > _LONG_S:
                size.known = at
                return
            yield self[0]

    def _gone_over(self, beside: list[Any], at: int) -> Iterator[object]:
        """Its batches; of those that are gone over `beside` it, each is a part of the batches."""
        together.clear()
        batches: Any = self.tpudiag_filled(joined(beside) if beside[1:] else self)
        if batches is None:
            yield from self._rounds()
        for batch in itertools.islice(batches or (), BATCHES):
            yield batch[at] if beside[1:] else batch

    def __next__(self) -> Hole:
        return self[0]

    def __exit__(self, *_: object) -> None:
        """Nothing was opened."""

    def __len__(self) -> int:
        if not self.tpudiag_dims and user_lines.direct_caller() is None:
            raise TypeError("a library asks a Hole for ever more dimensions")
        return math.ceil(self._first().counted() / self.tpudiag_rows)

    def _first(self) -> Size:
        """How many elements it has; of what had no more dimensions, as many as any hole."""
        self.tpudiag_dims = self.tpudiag_dims or (Size(),)
        return self.tpudiag_dims[0]

    def __bool__(self) -> bool:
        return (self.tpudiag_compared != "ne") != (self.tpudiag_compared != "" and turns())

    def __contains__(self, _: object) -> bool:
        return True

    def __int__(self) -> int:
        return NUMBER

    __index__ = __int__

    def __float__(self) -> float:
        return float(NUMBER)

    def __str__(self) -> str:
        return "hole"

    __repr__ = __str__

    def __fspath__(self) -> str:
        # A name that nothing has: who opens it fails for want of the file.
        return f"{MARKER}hole"

    def __format__(self, _: str) -> str:
        return "hole"

    def __hash__(self) -> int:
        # What is equal counts once: a set of all words or characters holds few, in turn.
        self.tpudiag_hash = (
            next(_hashes) % WIDTH if self.tpudiag_hash is None else self.tpudiag_hash
        )
        return self.tpudiag_hash

    def __reduce__(self) -> tuple[type, Args]:
        # What was done with it may hold what cannot be written.
        return Hole, ()

    def __deepcopy__(self, _: object) -> Hole:
        return self

    def __array__(self, dtype: object = None, copy: object = None) -> object:
        whole = not (is_open(self) and self.tpudiag_broadcast)
        shape = shape_of(self) if whole else (1,) * len(self.tpudiag_dims)
        made = importlib.import_module("numpy").full(
            shape, 0 if shape else NUMBER, dtype or "float32"
        )
        if shape:  # two classes, which turn
            made[1::2] = 1
        return made

    def __array_ufunc__(self, function: object, _: str, *inputs: object, **named: object) -> object:
        return used(self, "ufunc", (*inputs, *named.values()))

    def __array_function__(self, function: object, _: object, args: Args, named: Kwargs) -> object:
        name = getattr(function, "__name__", "")
        given = args[1:] if name == "reshape" else args
        return used(self, name, (*given, *named.values()))


class _Shape(tuple[int, ...]):
    """A hole's shape: while its sizes are open there are as many as the script asks for."""

    hole: Hole | None

    def __new__(cls, sizes: Iterable[int], hole: Hole | None = None) -> _Shape:
        """Sizes as they are by now."""
        made = super().__new__(cls, sizes)
        made.hole = hole
        return made

    def __getitem__(self, at: Any) -> Any:
        return tuple.__getitem__(self._of(at + 1) if isinstance(at, int) else self, at)

    def __iter__(self) -> Iterator[int]:
        return tuple.__iter__(self._of(taken_apart()) if by_user() else self)

    def _of(self, sizes: int) -> tuple[int, ...]:
        """The shape, of so many sizes at least."""
        hole = self.hole
        if hole is None or sizes <= len(self) or not is_open(hole):
            return self
        hole.tpudiag_dims += tuple(Size(WIDTH) for _ in range(sizes - len(hole.tpudiag_dims)))
        return shape_of(hole)


class _Base(Hole):
    """The base of a class of the script's, where its own is not there."""

    def __init__(self, *_: object, **__: object) -> None:
        super().__init__()


def _operator(name: str) -> Call:
    return lambda self, *given: used(self, name, given)


_BINARY = (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor",
    "lshift", "rshift",
)  # fmt: skip
_COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
_UNARY = ("neg", "pos", "abs", "invert", "round", "enter")
for _name in (*_COMPARISONS, *_UNARY, *_BINARY):
    setattr(Hole, f"__{_name}__", _operator(_name))
for _name in _BINARY:
    setattr(Hole, f"__r{_name}__", _operator(_name))


def batched(size: object) -> Hole:
    """A hole of which so many examples are asked at once."""
    return used(Hole(), "batch", (size,))


def of_table(frame: type, rows: int, options: Kwargs) -> Any:
    """A table of so many rows, or of as many rows and columns as are asked for."""
    asked, columns = options.get("nrows"), options.get("names") or options.get("usecols")
    width = len(columns) if isinstance(columns, list) else None
    first = Size(min(asked, rows) if isinstance(asked, int) else rows)
    made = Hole((first, Size(WIDTH, width)))
    made.tpudiag_frame = frame
    return iter([made]) if options.get("chunksize") or options.get("iterator") else made


def stacked(parts: list[Hole]) -> Hole:
    """An array of holes that are alike."""
    return _like(parts[0], (Size(known=len(parts)), *parts[0].tpudiag_dims))


def joined(parts: Sequence[object], hole: Hole | None = None) -> Hole:
    """A dataset that is made of these parts: of holes, or of one such `hole` among others."""
    made = used(hole or cast("Hole", parts[0]), "joined")
    made.tpudiag_elements = tuple(parts) if parts[1:] else parts[0]
    return made


def _begun(hole: Hole) -> Iterator[object] | None:
    batches: Any = hole.tpudiag_filled(hole)
    return None if batches is None else iter(batches)


def _like(hole: Hole, dims: Dims) -> Hole:
    """What comes of a hole."""
    end_what_only_uses_holes(next(_uses))
    made = Hole(dims, hole.tpudiag_batch, hole.tpudiag_cause)
    made.tpudiag_frame = hole.tpudiag_frame if len(dims) > 1 else None
    made.tpudiag_shared = hole.tpudiag_shared
    return made


def used(hole: Hole, use: str, given: Args = ()) -> Hole:
    """What a use of a hole gives, by what it is given besides."""
    made = _like(hole, made_by(hole.tpudiag_dims, use, given))
    made.tpudiag_compared = use if use in _COMPARISONS else ""
    if use in _OF_FRAMES:
        made.tpudiag_frame = None
        rows, *columns = made.tpudiag_dims or (Size(),)
        if columns and columns[0].known is None:  # at least those that were asked for
            made.tpudiag_dims = (rows, Size(max(int(columns[0]), len(hole.tpudiag_names))))
    if use != "map":
        made.tpudiag_elements = hole.tpudiag_elements
    made.tpudiag_rows = hole.tpudiag_rows
    if "batch" in use and given and isinstance(given[0], int):
        made.tpudiag_batch = made.tpudiag_rows = given[0]
    if not given:
        made.tpudiag_called = (hole, use)
    return made


def shape_of(hole: Hole) -> tuple[int, ...]:
    """The shape that a script brought a hole into, else a simple one; a part has one less."""
    first, *dims = hole.tpudiag_dims or (Size(known=0),)
    sizes = (int(size) if size.known is not None else Guess(size) for size in dims)
    return (int(first), *sizes)[: len(hole.tpudiag_dims)]


def is_open(hole: object) -> bool:
    """Whether a hole's shape is not known from anything that was done with it."""
    return isinstance(hole, Hole) and any(
        size.known is None for size in hole.tpudiag_dims[1:] or hole.tpudiag_dims
    )


def count(given: object) -> int:
    """As many as what a hole was made of, added to or compared with has, or were taken of it.

    Of several, as a model's inputs are, as many as the first.
    """
    if isinstance(given, dict):
        given = list(given.values())
    if isinstance(given, (list, tuple)) and given and holds(given[:1]):
        return count(given[0])
    dims = given.tpudiag_dims if isinstance(given, Hole) else ()
    return int(dims[0]) if dims else LENGTH


def batch_of(hole: object) -> int | None:
    """The batch that a script asked of a hole."""
    return hole.tpudiag_batch if isinstance(hole, Hole) else None


def holds(given: object, depth: int = 5, kind: type = Hole) -> bool:
    """Whether there is a hole among arguments, or another kind of value."""
    if isinstance(given, dict):
        given = list(given.values())
    if depth and isinstance(given, (list, tuple)):
        return any(holds(each, depth - 1, kind) for each in given[:16])
    return isinstance(given, kind)
