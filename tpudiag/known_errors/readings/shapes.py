"""Two shapes that do not fit, told by how they differ."""

import math
import re
from collections.abc import Sequence
from dataclasses import replace

from tpudiag.bounded_numbers import whole
from tpudiag.known_errors.compiled import wording, wordings

from . import layer_shapes, raw_records
from .meaning import Reading, first_over
from .meeting import Meeting, meaning, shape_of
from .narrower import Narrower, computed

_OWN_WORDS = ("shape", "dimension", "size", "broadcast", "rank")
"""One of these is in what was matched, or just behind: shapes stand beside other errors too."""
NEAR = 32
MOST_DEVICES = 16_384
_OF_ONE_VALUE = frozenset(
    ("BroadcastTo", "Fill", "GatherV2", "Pad", "PadV2", "Reshape", "Slice", "StridedSlice", "Tile",
     "Transpose")
)  # fmt: skip
"""Operations whose other inputs are a shape, axes or indices: no value that meets the first."""


def read(
    text: str, begin: int, end: int, before: str, kinds: Sequence[Narrower], any_words: bool
) -> Reading | None:
    """What two shapes or sizes in an error mean, and where they meet.

    `before`: the traceback that leads to it, which tells whether they meet in a loss. `kinds`: what
    is known of kinds of layers. `any_words`: whatever says that they do not fit.
    """
    if (told := first_over(wording("shapes rank"), text, begin, end)) and (meant := _of_rank(told)):
        return meant
    if told := first_over(wording("shapes array"), text, begin, end):
        return _array(int(told[1]), told[2], of_devices="devices()" in before + text[:end])
    operation, node = _operation(text, begin), _node(text, begin)
    meant = _of_numbers(text, begin, end, node) or layer_shapes.read(text, begin, end, kinds)
    if meant is None and (told := wording("shapes samples").search(text, begin)):
        a, b = (int(part) for part in told.groups() if part)
        return meaning(Meeting((a,), (b,)))
    own = text[begin : end + NEAR].lower()
    if meant is None and any(word in own for word in _OWN_WORDS):
        found = [told for form in wordings("shapes pairs") if (told := form.search(text, begin))]
        loose = wording("shapes loose").search(text, begin) if any_words else None
        told = min(found, key=lambda each: each.start(), default=loose)
        meant = _of_pair(text, begin, before, operation, node, told) if told else None
    if meant is None:
        return None
    place = " of ".join(part for part in (operation, f"`{node}`" if node else "") if part)
    loss = re.search(r"loss|gradient", node, re.IGNORECASE)
    of_loss = " (a part of the loss or its gradient)" if loss else ""
    return replace(meant, cause=f"{meant.cause} They meet in {place}{of_loss}.") if place else meant


def _of_numbers(text: str, begin: int, end: int, node: str) -> Reading | None:
    """What two numbers of values mean: those that came, and those that were wanted."""
    if told := first_over(wording("shapes bound"), text, begin, end):
        limit, wanted = int(told[2]), int(told[3])
        numbers = {"limit_number": limit, "wanted_number": wanted}
        return computed("past the end", wanted=f"{wanted:,}", limit=f"{limit:,}", **numbers)
    raw = first_over(wording("shapes reshape"), text, begin, end)
    told = raw or first_over(wording("shapes elements"), text, begin, end)
    if told is None:
        return None
    values, wanted = int(told[1]), int(told[told.lastindex or 2])
    of_embedding = raw and "embedding_lookup" in node
    meant = raw_records.read(values, wanted, text[begin:]) if raw and not of_embedding else None
    figures = "embedding" if of_embedding else "reshaped, no multiple"
    return meant or computed(figures, values=f"{values:,}", wanted=f"{wanted:,}")


def _of_rank(told: re.Match[str]) -> Reading | None:
    """An input of an operation that has more or fewer dimensions than it takes there."""
    shapes = [shape_of(each) for each in re.findall(r"\[([^\]]*)\]", told["shapes"])]
    names, got = told["inputs"].split(","), int(told["got"])
    found = [name for name, shape in zip(names, shapes, strict=False) if len(shape) == got]
    if len(found) != 1:
        return None
    figures = {"wanted": told["wanted"], "got": got, "operation": told["made"], "name": found[0]}
    return computed("input of another rank" if got else "a number for a list", **figures)


def _of_pair(
    text: str, begin: int, before: str, operation: str, node: str, told: re.Match[str]
) -> Reading | None:
    """What the first two shapes from what was matched on mean."""
    if not (told[1] and told[2]) and (both := wording("shapes both").search(text, begin)):
        told = both
    left, right = shape_of(told[1]), shape_of(told[2])
    if left == right:
        return None
    target = "target" in told[0] and "tohaveshape" in told[0]
    if target and None not in (*left, *right):
        left, right = (None, *left), (None, *right)  # Keras tells them without the batch
    if "provided" in told[0]:
        left, right = right, left
    if "contracting" in text[begin : told.start()]:  # of a product only the inner sizes are told
        left, right, operation = (None, *left), (*right, None), "MatMul"
    kind = re.fullmatch(r"(?:.*/)?([A-Z]\w*?)(?:_\d{1,4})?", node)
    operation = operation or (kind[1] if kind else "")
    loss = any(map(wording("shapes loss").search, (node + text[begin:], before)))
    pair = Meeting(left, right, operation, node, loss=loss)
    pair.target = target
    pair.parameter = "initializ" in text[begin : told.start() + NEAR // 2] or "provided" in told[0]
    sides = wording("shapes sides").finditer(text, begin, told.end())
    if len(set(given := [bool(each["outputs"]) for each in sides])) > 1:
        pair.outputs = left if given[0] else right
    if node.endswith("_target"):  # Keras' place for labels: of the shape of the outputs
        pair.outputs, pair.loss = right, True
    pair.sparse = wording("shapes sparse").search(text[begin : begin + NEAR * 4]) is not None
    pair.binary = wording("shapes binary").search(before + text) is not None
    pair.further = wording("shapes further").search(node) is not None
    named = wording("shapes axis").search(text, begin)
    axis = int(named[1]) if named else len(pair.short)
    if operation in _OF_ONE_VALUE:
        return None
    # Of a variable all sizes are its own: the one that is named first is not the only one.
    whole = operation.startswith("Assign") and len(pair.unlike) > 1
    if axis < len(pair.short) and left[axis] != right[axis] and not whole:
        pair.asked = axis
    return meaning(pair)


def _operation(text: str, begin: int) -> str:
    """The kind of operation in which shapes meet, where it is named."""
    told = wording("shapes operation").search(text, begin)
    if told:
        return told["called"] or told["made"] or told["op"] or told["type"]
    return "MatMul" if "Matrixsize-incompatible" in text[begin : begin + NEAR] else ""


def _node(text: str, begin: int) -> str:
    """The node or layer that is named, mostly behind the shapes."""
    told = wording("shapes node").search(text, begin) or wording("shapes node").search(text)
    return next((part for part in told.groups() if part), "") if told else ""


def _array(size: int, shape: str, *, of_devices: bool) -> Reading:
    """A NumPy array that is given another number of values; small ones are mostly devices."""
    wanted = math.prod(n for n in map(whole, shape.split(",")) if n)  # of too few there are none
    said = {"size": f"{size:,}", "values": f"{size:,}", "wanted": f"{wanted:,}"}
    if "newaxis" in shape or "-1" in shape:
        return computed("array no multiple", shape=shape.replace("newaxis", "-1"), **said)
    devices = of_devices or (size < wanted <= MOST_DEVICES and wanted % size == 0)
    return computed("array of devices" if devices else "reshaped, no multiple", **said)
