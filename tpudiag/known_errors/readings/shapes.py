"""Two shapes that do not fit, told by how they differ."""

import math
import re
from collections.abc import Sequence
from dataclasses import replace

from tpudiag.bounded_numbers import whole
from tpudiag.records import dataclass

from . import layer_shapes, raw_records
from .meaning import Reading, first_over
from .narrower import Narrower, computed
from .shape_pairs import Shape, compared, of_one, shape_of
from .shape_uses import of_another_output, of_binary, of_rows, of_use

_SHAPE = r"[(\[]([\d,?None-]{0,60})[)\]]"
_PAIRS = tuple(
    re.compile(pattern.replace("SHAPE", _SHAPE), re.IGNORECASE)
    for pattern in (
        r"SHAPEvs\.?SHAPE",
        r"shapesSHAPEandSHAPE",
        r"(?:withinputshapes|forbroadcasting):SHAPE,SHAPE",
        r"gotlogitsshapeSHAPEandlabelsshapeSHAPE",
        r"(?:logits_size|lhsshape)=SHAPE(?:labels_size|rhsshape)=SHAPE",
        r"In\[0\]:SHAPE,In\[1\]:SHAPE",
        r"mismatchIn\[1\]shape:\d{1,19}vs\.\d{1,19}:SHAPESHAPE",
        r"feedvalueofshapeSHAPEforTensor.{1,80}?whichhasshape['\"]?SHAPE",
        r"Input0:SHAPE!=input\d{1,3}:SHAPE",
        r"input_shape=\[SHAPE,SHAPE",
        r"shape\[0\]=SHAPEvs\.shape\[\d{1,3}\]=SHAPE",
        r"broadcasttogetherwithshapesSHAPESHAPE",
        r"\b(?:target|a|y_true)\.shape=SHAPE,(?:output|b|y_pred)\.shape=SHAPE",
        r"\(receivedSHAPE\)should.{1,80}?\(receivedSHAPE\)",
        r"(?<!weight)shape[:=]?SHAPE(?:is|are|does|do|must)(?:not)?(?:compatible|match|equal)[a-z]{0,40}[:=]?SHAPE",
    )
)
_BOTH = re.compile(rf"Shapesare{_SHAPE}and{_SHAPE}")
"""Said apart where the inputs of an operation begin with a handle, which has no shape."""
_LOSS = re.compile(
    r"loss|cross_?entropy|dice|jaccard|tversky|iou_|accuracy|metric|logits|labels?\b|y_true|y_pred|_target|target\.shape"
    r"|shapes[(\[][\d,?None-]{0,60}[)\]]and[(\[][\d,?None-]{0,60}[)\]]areincompatible",
    re.IGNORECASE,
)
"""One of shapes that meet there is of labels, the other of what the model gives."""
_BINARY = re.compile(r"binary_?crossentropy|sigmoid_cross_?entropy", re.IGNORECASE)
"""A loss that wants labels and outputs of one shape, whatever they hold."""
_SIZES = re.compile(r"mustbeequal,butare(\d{1,19})and(\d{1,19})")
_RANK = re.compile(
    r"mustbe(?:at(?:least|most))?rank(?P<wanted>\d)butisrank(?P<got>\d)for.{0,3}\{\{node[^}]{1,160}\}\}"
    r"=(?P<made>\w{2,40})\[.{0,300}?\]\((?P<inputs>[\w./:,-]{1,300})\).{0,3}withinputshapes:"
    r"(?P<shapes>[\d,?\[\]None]{1,200})"
)
"""Of one input of an operation, whatever shapes the others have."""
_RESHAPE = re.compile(
    r"Inputtoreshapeisatensorwith(\d{1,15})values,buttherequestedshape(?:has|requiresamultipleof)(\d{1,15})",
    re.IGNORECASE,
)
_OWN_WORDS = ("shape", "dimension", "size", "broadcast", "rank")
"""One of these is in what was matched, or just behind: shapes stand beside other errors too."""
NEAR = 32
MOST_DEVICES = 16_384
_SPARSE = re.compile(
    r"logitsexceptforthelastdimension|samefirstdimension|shapeoflabels\(received", re.IGNORECASE
)
_FURTHER = re.compile(r"entropy_[1-9]\d?(?:/|$)")
"""A loss that is not the first one of its name in the graph."""
_AXIS = re.compile(r"Dimension(\d)inbothshapesmustbeequal")
_ELEMENTS = re.compile(
    r"Cannotreshapeatensorwith(\d{1,15})elementstoshape[(\[][\d,?None-]{0,60}[)\]]\((\d{1,15})elem"
)
_SAMPLES = re.compile(
    r"Found(\d{1,19})inputsamplesand(\d{1,19})target|xsizes:(\d{1,19}).{0,40}?ysizes:(\d{1,19})"
)
_ARRAY = re.compile(
    r"cannotreshapearrayofsize(\d{1,12})intoshape\(((?:\d{1,19}|newaxis|-1|,){1,24})\)"
)
_BOUND = re.compile(r"Expected(?:size|begin)\[(\d)\]in\[0,(\d{1,19})\],butgot(\d{1,19})")
_OPERATION = re.compile(
    r"\(op:'(?P<called>\w{2,40})'\)|=(?P<made>[A-Z]\w{2,40})\[|\[Op:(?P<op>(?!__)\w{2,60})\]|op_type=\"(?P<type>\w{2,40})\""
)
_NODE = re.compile(
    r"\{\{node([\w./-]{2,120})\}\}|\[\[node([\w./-]{2,120})\(definedat|\[Node:([\w./-]{2,120})=|layer[\"'`]([\w./]{1,60})[\"'`]|Detectedatnode'?([\w./-]{2,120})'|forTensoru?'([\w./-]{2,120}):\d"
)


@dataclass(frozen=True)
class _Pair:
    """Two shapes that meet, and in what."""

    left: Shape
    right: Shape
    operation: str
    node: str = ""


def read(
    text: str, begin: int, end: int, before: str = "", kinds: Sequence[Narrower] = ()
) -> Reading | None:
    """What two shapes or sizes in an error mean, and where they meet.

    `before`: the traceback that leads to it, which tells whether they meet in a loss. `kinds`: what
    is known of kinds of layers.
    """
    place = _place(text, begin)
    if (told := first_over(_RANK, text, begin, end)) and (meant := _of_rank(told)):
        return meant
    if told := first_over(_RESHAPE, text, begin, end):
        values, wanted = int(told[1]), int(told[2])
        meant = _of_embedding(values, wanted) if "embedding_lookup" in place else None
        meant = meant or raw_records.read(values, wanted, text[begin:])
        return _placed(meant or _reshaped(values, wanted), place)
    if told := first_over(_ELEMENTS, text, begin, end):
        return _placed(_reshaped(int(told[1]), int(told[2])), place)
    if told := first_over(_ARRAY, text, begin, end):
        return _array(int(told[1]), told[2])
    if told := first_over(_BOUND, text, begin, end):
        return _placed(_bounded(int(told[2]), int(told[3])), place)
    if meant := layer_shapes.read(text, begin, end, kinds):
        return _placed(meant, place)
    if told := _SAMPLES.search(text, begin):
        a, b = (int(part) for part in told.groups() if part)
        return of_one((a,), (b,), 0)
    own = text[begin : end + NEAR].lower()
    pair = _pair(text, begin) if any(word in own for word in _OWN_WORDS) else None
    if pair and pair.left != pair.right:
        loss = bool(_LOSS.search(pair.node + text[begin:]) or _LOSS.search(before))
        if told := _AXIS.search(text, begin):
            axis = int(told[1])
            meant = of_use(pair.left, pair.right, pair.operation, pair.node)
            if meant:
                return _placed(meant, place)
            if axis < min(len(pair.left), len(pair.right)) and pair.left[axis] != pair.right[axis]:
                return _placed(of_one(pair.left, pair.right, axis, loss=loss), place)
        meant = of_use(pair.left, pair.right, pair.operation, pair.node) or _of_rows(
            pair, text, begin
        )
        if loss and _BINARY.search(before + text):
            meant = meant or of_binary(pair.left, pair.right)
        meant = meant or compared(pair.left, pair.right, pair.operation, loss=loss)
        return _placed(meant, place)
    return None


def _of_rank(told: re.Match[str]) -> Reading | None:
    """An input of an operation that has more or fewer dimensions than it takes there."""
    shapes = [shape_of(each) for each in re.findall(r"\[([^\]]*)\]", told["shapes"])]
    names, got = told["inputs"].split(","), int(told["got"])
    found = [name for name, shape in zip(names, shapes, strict=False) if len(shape) == got]
    if len(found) != 1:
        return None
    figures = {"wanted": told["wanted"], "got": got, "operation": told["made"], "name": found[0]}
    if got == 0:
        return computed("a number for a list", **figures)
    return computed("input of another rank", **figures)


def _of_rows(pair: _Pair, text: str, begin: int) -> Reading | None:
    """Class numbers beside outputs, in a loss that wants one number for each row of outputs."""
    if not _SPARSE.search(text[begin : begin + NEAR * 4]):
        return None
    labels, outputs = sorted((pair.left, pair.right), key=len)
    if len(labels) != 1 or len(outputs) != 2 or not labels[0] or not outputs[0]:
        return None
    if _FURTHER.search(pair.node) and outputs[0] % labels[0] and labels[0] % outputs[0]:
        return of_another_output(labels[0], outputs[0], outputs[1] or 1)
    return of_rows(labels[0], outputs[0], outputs[1] or 1)


def _pair(text: str, begin: int) -> _Pair | None:
    """The first two shapes from what was matched on."""
    pairs = [(told.start(), told) for form in _PAIRS if (told := form.search(text, begin))]
    if not pairs:
        return None
    told = min(pairs, key=lambda pair: pair[0])[1]
    if len(told.groups()) < 2:
        return None
    if not (told[1] and told[2]) and (both := _BOTH.search(text, begin)):
        told = both
    node = _node(text, begin)
    kind = re.fullmatch(r"(?:.*/)?([A-Z]\w*?)(?:_\d{1,4})?", node)
    operation = _operation(text, begin) or (kind[1] if kind else "")
    return _Pair(shape_of(told[1]), shape_of(told[2]), operation, node)


def _operation(text: str, begin: int) -> str:
    """The kind of operation in which shapes meet, where it is named."""
    told = _OPERATION.search(text, begin)
    if told:
        return told["called"] or told["made"] or told["op"] or told["type"]
    return "MatMul" if "Matrixsize-incompatible" in text[begin : begin + NEAR] else ""


def _node(text: str, begin: int) -> str:
    """The node or layer that is named, mostly behind the shapes."""
    told = _NODE.search(text, begin) or _NODE.search(text)
    return next((part for part in told.groups() if part), "") if told else ""


def _place(text: str, begin: int) -> str:
    """The operation and its node or layer, as words."""
    operation = _operation(text, begin)
    node = _node(text, begin)
    parts = [part for part in (operation, f"`{node}`" if node else "") if part]
    loss = (
        " (a part of the loss or its gradient)"
        if re.search(r"loss|gradient", node, re.IGNORECASE)
        else ""
    )
    return f"They meet in {' of '.join(parts)}{loss}." if parts else ""


def _placed(meant: Reading, place: str) -> Reading:
    """A reading with the place where it was found."""
    return replace(meant, cause=f"{meant.cause} {place}".strip())


def _reshaped(values: int, wanted: int) -> Reading:
    """A reshape to another number of values."""
    return computed("reshaped, no multiple", values=f"{values:,}", wanted=f"{wanted:,}")


def _of_embedding(values: int, wanted: int) -> Reading:
    """The gradient of an Embedding whose number of ids changed."""
    return computed("embedding", values=f"{values:,}", wanted=f"{wanted:,}")


def _array(size: int, shape: str) -> Reading:
    """A NumPy array that is given another number of values; small ones are mostly devices."""
    wanted = math.prod(n for n in map(whole, shape.split(",")) if n is not None)
    if "newaxis" in shape or "-1" in shape:
        return computed(
            "array no multiple",
            size=f"{size:,}",
            wanted=f"{wanted:,}",
            shape=shape.replace("newaxis", "-1"),
        )
    if size < wanted <= MOST_DEVICES and wanted % size == 0:
        return computed("array of devices", size=size, wanted=wanted)
    return _reshaped(size, wanted)


def _bounded(limit: int, wanted: int) -> Reading:
    """A slice of more than there is."""
    return computed(
        "past the end",
        wanted=f"{wanted:,}",
        limit=f"{limit:,}",
        limit_number=limit,
        wanted_number=wanted,
    )
