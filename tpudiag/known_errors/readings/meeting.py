# ruff: noqa: E501  (what is pasted stays in one piece)
"""Two shapes that meet and do not fit: how they differ, in what, and what that mostly is."""

import math
import re
from collections.abc import Callable
from functools import cached_property

from tpudiag.bounded_numbers import whole

from .meaning import Reading
from .narrower import computed

Shape = tuple[int | None, ...]
"""Sizes; None where one is not known."""

PIXELS = 16_384
"""A first dimension from here on is no batch."""
FLATTENED_IN_A_LOSS = 256
"""Values from here on are a flattened map where they meet in a loss."""
FLATTENED = 4096
"""And anywhere: no batch, and no layer's width, is so large."""
FEW_ANCHORS = 2
"""What sizes have in common by chance."""
_REPLICAS = {2, 4, 8, 16, 32, 64, 128}
_CHANNELS = {1, 3, 4}
_PRODUCT = ("MatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3")
_ADDING = ("AssignAdd", "AssignSub", "AssignAddVariableOp", "AssignSubVariableOp")
_COMPARING = ("Equal", "NotEqual", "Greater", "GreaterEqual", "Less", "LessEqual")
_JOINING = ("Concat", "ConcatV2", "ConcatOp", "Pack")
_BY_ELEMENT = re.compile(
    r"add(?:v2)?|sub|mul|(?:real|true|floor)?div|divnonan|pow|(?:max|min)imum|squareddifference"
    r"|equal|(?:greater|less)(?:equal)?|broadcastgradientargs",
    re.IGNORECASE,
)


class Meeting:
    """Two shapes, and in what they meet.

    - `loss`: whether in a loss or metric, so that one is of labels, the other of outputs.
    - `asked`: the dimension that the error names itself.
    - `target`: whether the left one is what a loss wants, the right one what the labels are.
    - `parameter`: whether the left one is a parameter's that is given, the right one the model's.
    - `sparse`, `binary`: whether that loss wants class numbers, or labels of the outputs' shape.
    """

    sparse = binary = further = target = parameter = False
    outputs: Shape | None = None
    """Which of the two a model gives, where the error says so."""
    asked: int | None = None

    def __init__(
        self, left: Shape, right: Shape, operation: str = "", node: str = "", *, loss: bool = False
    ) -> None:
        self.left, self.right, self.operation, self.node = left, right, operation, node
        self.loss = loss
        self.short, self.long = sorted((left, right), key=len)
        self.more = len(self.long) - len(self.short)
        self.name = node.rsplit("/", 1)[-1].rstrip("_0123456789")
        pairs = [*enumerate(zip(left, right, strict=False))]
        self.unlike = [at for at, (a, b) in pairs if a != b]
        # A size that is not known differs from none.
        known = [at for at in self.unlike if None not in (left[at], right[at])]
        by_element = _BY_ELEMENT.fullmatch(operation) or _BY_ELEMENT.fullmatch(self.name)
        apart = [at for at in known if by_element and 1 not in (left[at], right[at])]
        self.differing = apart or known or self.unlike

    @cached_property
    def axis(self) -> int | None:
        """The one dimension that differs."""
        alone = not self.more and len(self.differing) == 1
        return self.asked if self.asked is not None else self.differing[0] if alone else None

    @cached_property
    def two(self) -> tuple[int, int]:
        """Its two sizes; 0 where one is not known."""
        axis = self.axis
        return (0, 0) if axis is None else (self.left[axis] or 0, self.right[axis] or 0)

    @cached_property
    def times(self) -> int:
        """How many times the smaller one the larger one is; 0 where it is no multiple."""
        few, many = sorted(self.two)
        return 0 if not few or many % few else many // few

    @cached_property
    def maps(self) -> tuple[int, int] | None:
        """The values of two maps that were flattened to one axis; None where they are none."""
        left, right = self.left, self.right
        if self.more or len(left) not in {1, 2} or left[:-1] != right[:-1]:
            return None
        few, many = sorted((left[-1] or 0, right[-1] or 0))
        least = FLATTENED_IN_A_LOSS if self.loss else FLATTENED
        return None if few < least or few == many else (few, many)

    @cached_property
    def rows(self) -> tuple[int, int, int] | None:
        """Labels, rows and width of outputs where a loss wants one class number for each row."""
        (labels, *_), outputs = (*self.short, None), self.long
        if not self.sparse or len(self.short) != 1 or len(outputs) != 2:
            return None
        if not labels or not outputs[0] or labels == outputs[0] * (outputs[1] or 1) > outputs[0]:
            return None  # or of columns that were flattened
        return labels, outputs[0], outputs[1] or 1

    @cached_property
    def numbers(self) -> Shape | None:
        """The outputs in columns, where the other side has one number for each of their rows."""
        if self.more or None in (*self.left, *self.right) or len(self.left) != 2:
            return None
        both = ((self.left, self.right), (self.right, self.left))
        fits = (a for a, b in both if math.prod(size or 0 for size in b) == a[0] and a[1] != 1)
        return next(fits, None)

    @property
    def kernel(self) -> tuple[int | None, int | None] | None:
        """The inputs of one kernel in two orders of its axes, where these differ."""
        for a, b in ((self.left, self.right), (self.right, self.left)):
            if len(a) == len(b) == 4 and a[:2] == b[2:] and a[3] == b[0] and a[2] != b[1]:
                return self.left[2 if a is self.left else 1], self.right[1 if a is self.left else 2]
        return None

    @property
    def along(self) -> tuple[int, int] | None:
        """The axis of a vector (all other sizes are one), and where the other has that size."""
        for a, b in ((self.left, self.right), (self.right, self.left)):
            held = [at for at, size in enumerate(a) if size != 1]
            if len(a) == len(b) > len(held) == 1 and a[held[0]] in {*b} - {b[held[0]], None}:
                return held[0], b.index(a[held[0]])
        return None

    @property
    def one(self) -> int | None:
        """Where the longer one has an axis of one that the other lacks, before the last one."""
        long, ones = self.long, range(1, len(self.long) - 1)
        without = (
            at for at in ones if long[at] == 1 and _fits(self.short, (*long[:at], *long[at + 1 :]))
        )
        return next(without, None) if self.more == 1 else None

    @property
    def values(self) -> int:
        """How many values both hold, in other axes; 0 where they do not."""
        batch = None in (*self.left[:1], *self.right[:1])  # of unknown size
        both = [math.prod(n or 0 for n in shape[batch:]) for shape in (self.left, self.right)]
        return both[0] if self.more and both[0] == both[1] else 0

    @property
    def halved(self) -> bool:
        """Whether two maps (channels last, which may differ where they are joined) miss by one."""
        differing = self.differing if self.asked is None else [self.asked]
        if len(self.left) != 4 or not (sides := {1, 2}.intersection(differing)):
            return False
        by = max(abs((self.left[at] or 0) - (self.right[at] or 0)) for at in sides)
        return 0 not in differing and by == 1

    @property
    def matrices(self) -> tuple[int | None, int | None] | None:
        """The inner sizes of a product."""
        product = self.operation in _PRODUCT and len(self.short) > 1
        return (self.left[-1], self.right[-2]) if product else None

    @property
    def said(self) -> str:
        """How they differ, in words."""
        short, long = self.short, self.long
        if self.rows:
            return "{:,} labels meet {:,} rows of {} outputs".format(*self.rows)
        if self.axis is not None:
            a, b = (each or "?" for each in self.two)
            return f"The shapes differ in dimension {self.axis} alone: {a} against {b}"
        if self.numbers:
            return f"One number for each of {self.numbers[0]} rows {text_of(self.numbers)}"
        many = "s" if len(short) > 1 else ""
        return f"One has {len(short)} dimension{many} {text_of(short)}, the other {len(long)} {text_of(long)}"

    def read(self, figures: str) -> Reading:
        """The case of that name, with all that is known of the two shapes."""
        few, many = self.maps or (0, 0)
        factor = 0 if not few or many % few else many // few
        causes = _causes(factor, batch=len(self.left) == 1) if factor else []
        sure = "Mostly" if len(causes) == 1 else "The sizes alone do not tell which of these it is:"
        labels, rows, width = self.rows or (0, 0, 0)
        a, b = (each or None for each in self.two)
        columns, inner = self.matrices or (None, None)
        a, b = self.kernel or self.along or (a, b)
        turned = "the second matrix would fit the other way round (transpose_b=True), or "
        turned = turned if columns is not None and columns == self.right[-1] else ""
        outputs = self.numbers if self.numbers and self.axis is None else self.long
        each = f" and holds {self.times} values (classes, steps) for each example."
        shapes = {"left": self.left, "right": self.right, "short": self.short, "long": self.long}
        shapes |= {"left_sides": self.left[1:3], "right_sides": self.right[1:3]}
        shapes |= {"column": (*self.short, *(1,) * (len(self.long) - 1))}
        said: dict[str, object] = {name: text_of(shape) for name, shape in shapes.items()}
        said |= {"few": f"{few:,}", "many": f"{many:,}", "factor": factor, "how_sure": sure}
        said |= {"labels": f"{labels:,}", "rows": f"{rows:,}", "output_width": width}
        said |= {"a": a, "b": b, "other": b if a == 1 else a, "most": max(self.two)}
        said |= {"size": self.short[0] if self.short else 0, "times": self.times}
        by = math.gcd(*self.two) or 1
        said["parts"] = " and ".join(f"{by} x {(size or 0) // by}" for size in (a, b))
        said |= {"said": self.said, "causes": "; or ".join(causes)}
        said |= {"columns": columns, "inner": inner, "turned": turned}
        said |= {"width": (outputs[-1] if outputs else None) or "CLASSES"}
        said |= {"per_row": labels // rows if rows else 0, "one": self.one}
        said |= {"axes": " and ".join(map(str, self.differing)), "values": f"{self.values:,}"}
        said |= {"each": each if len(self.left) == 1 else "."}
        said |= {"operation": self.operation or self.name}
        said |= {"most_axes": len(self.long), "least_axes": len(self.short)}
        return computed(figures, **said, ones=", tf.newaxis" * (len(self.long) - 1))


def _causes(factor: int, *, batch: bool) -> list[str]:
    """What may make a map so many times as large as another."""
    side = math.isqrt(factor)
    square = side * side == factor
    channels = f"{factor} channels against one (a mask read as RGB or one-hot, a last layer of {factor} units, a mask without the axis of classes)"
    sides = f"height and width {side} times as large (a stride that is not undone at the end, a loss or mask made for another image size)"
    batches = f"{factor} times as many examples (a layer or loss that takes a batch of one, a batch size written into the code)"
    held = ((channels, not square or factor in (2, 3, 4)), (sides, square), (batches, batch))
    return [cause for cause, holds in held if holds]


def _fits(some: Shape, others: Shape) -> bool:
    """Whether two shapes may be equal: a size that is not known may be any."""
    pairs = zip(some, others, strict=False)
    return len(some) == len(others) and all(a == b or None in (a, b) for a, b in pairs)


def _in_front(m: Meeting) -> bool:
    return m.more == 1 and bool(m.short) and _fits(m.short, m.long[:-1])


Rules = dict[str, Callable[[Meeting], object]]
BY_USE: Rules = {
    "running value": lambda m: {m.operation, m.name}.intersection(_ADDING),
    "joined": lambda m: (
        m.operation in _JOINING
        and 2 <= len(m.short) == len(m.long) <= 3
        and m.unlike not in ([], [0])
    ),
    "values compared": lambda m: (
        (m.operation or m.name) in _COMPARING and len(m.long) == len(m.short) == 1
    ),
    "value for each example": lambda m: (
        any(map(_BY_ELEMENT.fullmatch, (m.operation, m.name)))
        and len(m.short) == 1 < len(m.long)
        and m.short[0] == m.long[0]
        and m.short[0] not in {None, 1}
    ),
}
"""By the operation in which they meet: shapes are aligned at their last axes."""
BY_RANK: Rules = {
    "one row off": lambda m: m.parameter and m.axis == 0 and abs(m.two[0] - m.two[1]) == 1,
    "parameter of another size": lambda m: m.parameter and not m.values,
    "another output": lambda m: (
        m.rows and m.further and m.rows[1] % m.rows[0] and m.rows[0] % m.rows[1]
    ),
    "labels for each row": lambda m: m.rows and m.rows[0] > m.rows[1] and not m.rows[0] % m.rows[1],
    "rows and labels": lambda m: m.rows,
    "binary loss": lambda m: (
        m.loss and m.binary and m.more == 1 and len(m.long) > 2 and m.long[-1] != 1
    ),
    "one is empty": lambda m: 0 in (*m.left, *m.right),
    "product of matrices": lambda m: m.matrices and m.matrices[0] != m.matrices[1],
    "value meets tensor": lambda m: m.more and not m.short and not m.loss,
    "value meets tensor in a loss": lambda m: m.more and not m.short,
    "channels missing": lambda m: _in_front(m) and len(m.long) > 2 and m.long[-1] in _CHANNELS,
    "numbers meet columns": lambda m: _in_front(m) and m.loss,
    "columns flattened": lambda m: (
        m.more == len(m.short) == 1
        and m.short[0]
        and m.short[0] == math.prod(size or 0 for size in m.long)
    ),
    "an axis of one": lambda m: m.short and not m.loss and m.one is not None,
    "same values in other axes": lambda m: m.short and m.values,
    "an axis in front": lambda m: m.more and not m.loss and _fits(m.short, m.long[1:]),
    "maps of a classifier": lambda m: m.more > 1 and m.outputs is m.long,
    "rows meet maps": lambda m: m.more > 1 and m.loss,
    "rank differs": lambda m: m.more,
}
"""By their numbers of dimensions."""
BY_SIZES: Rules = {
    "vector along another axis": lambda m: m.along and _known(m.left) != _known(m.right),
    "flattened maps of two sizes": lambda m: m.maps and m.maps[1] % m.maps[0],
    "flattened maps, times": lambda m: m.maps,
    "halves of odd sizes": lambda m: m.halved,
    "channels of pictures": lambda m: set(m.two) == {3, 4} and m.axis == len(m.left) - 1,
    "vectors": lambda m: m.axis is not None and len(m.left) == 1 and all(m.two) and not m.times,
    "pixels": lambda m: m.axis == 0 and min(m.two) > PIXELS,
    "batch of all replicas": lambda m: m.axis == 0 and m.times in _REPLICAS,
    "batch differs": lambda m: m.axis == 0 and (len(m.left) > 1 or all(m.two)),
    "labels in columns": lambda m: m.target and m.axis == len(m.left) - 1 and m.left[-1] == 1,
    "labels as numbers": lambda m: m.target and m.axis == len(m.left) - 1 and m.right[-1] == 1,
    "one column of classes": lambda m: m.axis == len(m.left) - 1 and m.loss and 1 in m.two,
    # The widths of layers, which come last, are multiples of eight.
    "classes in maps": lambda m: (
        len(m.left) == 4
        and m.axis in (1, 3)
        and (m.loss or m.times if m.axis == 1 else any(size % 8 for size in m.two))
        and (math.gcd(*m.two) > FEW_ANCHORS or (m.axis == 1 and m.times))
    ),
    "last size": lambda m: m.axis == len(m.left) - 1 and not m.loss,
    "number of classes": lambda m: m.axis == len(m.left) - 1,
    "lengths": lambda m: m.axis is not None,
    "numbers meet columns": lambda m: m.loss and m.numbers,
    "transposed": lambda m: _known(m.left) == _known(m.right) != [],
    "kernel in another order": lambda m: m.kernel,
    "height and width": lambda m: m.differing == [1, 2] and len(m.left) == 4,
    "several dimensions": lambda _: True,
}
"""Of one number of dimensions: by the sizes that differ."""


def meaning(m: Meeting) -> Reading:
    """What two shapes that meet mostly mean: the first rule that holds."""
    tail = m.long[-len(m.short) :]
    by_element = any(map(_BY_ELEMENT.fullmatch, (m.operation, m.name))) and not m.loss
    if m.more and m.short and by_element and m.long[: len(m.short)] != m.short:
        pairs = [*zip(tail, m.short, strict=True)]  # aligned at the last axis
        if all(a != b and not {a, b} & {1, None} for a, b in pairs):
            return meaning(Meeting(tail, m.short, m.operation, m.node))
    if m.asked is None:
        used = next((name for name, holds in (BY_USE | BY_RANK).items() if holds(m)), None)
        if used is None and m.matrices and len(m.left) > 2:
            return meaning(Meeting(m.left[:-2], m.right[:-2]))  # the batches of a product
    else:
        used = next((name for name, holds in BY_USE.items() if holds(m)), None)
    return m.read(used or next(name for name, holds in BY_SIZES.items() if holds(m)))


def _known(shape: Shape) -> list[int]:
    return sorted(size for size in shape if size is not None)


def text_of(shape: Shape) -> str:
    """A shape as it is written."""
    return f"[{', '.join('?' if size is None else str(size) for size in shape)}]"


def shape_of(text: str) -> Shape:
    """A shape from its text; None for a dimension that is not known."""
    return tuple(whole(part) for part in text.split(",") if part)
