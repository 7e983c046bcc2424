"""Two shapes that do not fit, told by how they differ."""

import math
import re
from collections.abc import Sequence
from dataclasses import replace

from tpudiag.bounded_numbers import whole

from . import layer_shapes, raw_records
from .meaning import Reading, first_over
from .meeting import Meeting, meaning, shape_of
from .narrower import Narrower, computed

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
        r"checking(?:model)?target.{0,60}?tohaveshapeSHAPEbutgotarraywithshapeSHAPE",
        r"initializerforparameter.{1,160}?:SHAPE,SHAPE",
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


def read(
    text: str, begin: int, end: int, before: str = "", kinds: Sequence[Narrower] = ()
) -> Reading | None:
    """What two shapes or sizes in an error mean, and where they meet.

    `before`: the traceback that leads to it, which tells whether they meet in a loss. `kinds`: what
    is known of kinds of layers.
    """
    if (told := first_over(_RANK, text, begin, end)) and (meant := _of_rank(told)):
        return meant
    if told := first_over(_ARRAY, text, begin, end):
        return _array(int(told[1]), told[2])
    operation, node = _operation(text, begin), _node(text, begin)
    meant = _of_numbers(text, begin, end, node) or layer_shapes.read(text, begin, end, kinds)
    if meant is None and (told := _SAMPLES.search(text, begin)):
        a, b = (int(part) for part in told.groups() if part)
        return meaning(Meeting((a,), (b,)))
    own = text[begin : end + NEAR].lower()
    if meant is None and any(word in own for word in _OWN_WORDS):
        meant = _of_pair(text, begin, before, operation, node)
    if meant is None:
        return None
    place = " of ".join(part for part in (operation, f"`{node}`" if node else "") if part)
    loss = re.search(r"loss|gradient", node, re.IGNORECASE)
    of_loss = " (a part of the loss or its gradient)" if loss else ""
    return replace(meant, cause=f"{meant.cause} They meet in {place}{of_loss}.") if place else meant


def _of_numbers(text: str, begin: int, end: int, node: str) -> Reading | None:
    """What two numbers of values mean: those that came, and those that were wanted."""
    if told := first_over(_BOUND, text, begin, end):
        limit, wanted = int(told[2]), int(told[3])
        numbers = {"limit_number": limit, "wanted_number": wanted}
        return computed("past the end", wanted=f"{wanted:,}", limit=f"{limit:,}", **numbers)
    raw = first_over(_RESHAPE, text, begin, end)
    told = raw or first_over(_ELEMENTS, text, begin, end)
    if told is None:
        return None
    values, wanted = int(told[1]), int(told[2])
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


def _of_pair(text: str, begin: int, before: str, operation: str, node: str) -> Reading | None:
    """What the first two shapes from what was matched on mean."""
    pairs = [(told.start(), told) for form in _PAIRS if (told := form.search(text, begin))]
    if not pairs:
        return None
    told = min(pairs, key=lambda pair: pair[0])[1]
    if not (told[1] and told[2]) and (both := _BOTH.search(text, begin)):
        told = both
    left, right = shape_of(told[1]), shape_of(told[2])
    if left == right:
        return None
    kind = re.fullmatch(r"(?:.*/)?([A-Z]\w*?)(?:_\d{1,4})?", node)
    operation = operation or (kind[1] if kind else "")
    loss = bool(_LOSS.search(node + text[begin:]) or _LOSS.search(before))
    pair = Meeting(left, right, operation, node, loss=loss)
    pair.target = "target" in told[0] and "tohaveshape" in told[0]
    pair.parameter = told[0].startswith("initializerforparameter")
    pair.sparse = _SPARSE.search(text[begin : begin + NEAR * 4]) is not None
    pair.binary = _BINARY.search(before + text) is not None
    pair.further = _FURTHER.search(node) is not None
    axis = int(named[1]) if (named := _AXIS.search(text, begin)) else len(pair.short)
    if axis < len(pair.short) and left[axis] != right[axis]:
        pair.asked = axis
    return meaning(pair)


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


def _array(size: int, shape: str) -> Reading:
    """A NumPy array that is given another number of values; small ones are mostly devices."""
    wanted = math.prod(n for n in map(whole, shape.split(",")) if n is not None)
    said = {"size": f"{size:,}", "values": f"{size:,}", "wanted": f"{wanted:,}"}
    if "newaxis" in shape or "-1" in shape:
        return computed("array no multiple", shape=shape.replace("newaxis", "-1"), **said)
    devices = size < wanted <= MOST_DEVICES and wanted % size == 0
    return computed("array of devices" if devices else "reshaped, no multiple", **said)
