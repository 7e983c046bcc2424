# ruff: noqa: E501  (what is pasted stays in one piece)
"""Two shapes that do not fit, told by how they differ."""

from __future__ import annotations

import math
import re

from tpudiag.records import dataclass

from .meaning import Reading, first_over
from .shape_pairs import Shape, compared, of_one, text_of

_SHAPE = r"[(\[]([\d,?None-]{0,60})[)\]]"
_PAIRS = tuple(
    re.compile(pattern.replace("SHAPE", _SHAPE), re.IGNORECASE)
    for pattern in (
        r"SHAPEvs\.?SHAPE",
        r"ShapesSHAPEandSHAPEareincompatible",
        r"shapesSHAPEandSHAPEarenotcompatible",
        r"withinputshapes:SHAPE,SHAPE",
        r"gotlogitsshapeSHAPEandlabelsshapeSHAPE",
        r"logits_size=SHAPElabels_size=SHAPE",
        r"lhsshape=SHAPErhsshape=SHAPE",
        r"expectedshape=SHAPE,foundshape=SHAPE",
        r"In\[0\]:SHAPE,In\[1\]:SHAPE",
        r"feedvalueofshapeSHAPEforTensor.{1,80}?whichhasshape['\"]?SHAPE",
        r"Input0:SHAPE!=input\d{1,3}:SHAPE",
        r"input_shape=\[SHAPE,SHAPE",
        r"shape\[0\]=SHAPEvs\.shape\[\d{1,3}\]=SHAPE",
        r"broadcasttogetherwithshapesSHAPESHAPE",
        r"target\.shape=SHAPE,output\.shape=SHAPE",
        r"\(receivedSHAPE\)should.{1,80}?\(receivedSHAPE\)",
        r"a\.shape=SHAPE,b\.shape=SHAPE",
        r"y_true\.shape=SHAPE,y_pred\.shape=SHAPE",
        r"Tensor'?sshapeSHAPEisnotcompatiblewith(?:the)?(?:supplied|expected)shapeSHAPE",
        r"operandshapesSHAPEandSHAPE",
        r"gotincompatibleshapesforbroadcasting:SHAPE,SHAPE",
    )
)
_SIZES = re.compile(r"mustbeequal,butare(\d{1,9})and(\d{1,9})")
_RESHAPE = re.compile(
    r"Inputtoreshapeisatensorwith(\d{1,15})values,buttherequestedshape(?:has|requiresamultipleof)(\d{1,15})",
    re.IGNORECASE,
)
_OWN_WORDS = ("shape", "dimension", "size", "broadcast", "rank")
"""One of these is in what was matched, or just behind: shapes stand beside other errors too."""
NEAR = 32
MOST_DEVICES = 16_384
_AXIS = re.compile(r"Dimension(\d)inbothshapesmustbeequal")
_NDIM = re.compile(
    r"expected(?P<least>min_)?(?:ndim|max_ndim)=(?P<wanted>\d),foundndim=(?P<got>\d)"
    r"(?:\.Fullshapereceived:[(\[](?P<shape>[\d,?None-]{0,60}))?"
)
_LAST = re.compile(
    r"expectedaxis(?P<axis>-?\d)of(?:the)?inputshapetohavevalue\{?(?P<wanted>\d{1,9})\}?butreceivedinput"
    r"withshape[(\[](?P<shape>[\d,?None-]{0,60})"
)
_SAMPLES = re.compile(
    r"Found(\d{1,9})inputsamplesand(\d{1,9})target|xsizes:(\d{1,9}).{0,40}?ysizes:(\d{1,9})"
)
_ARRAY = re.compile(r"cannotreshapearrayofsize(\d{1,12})intoshape\(([\d,]{1,40})\)")
_BOUND = re.compile(r"Expected(?:size|begin)\[(\d)\]in\[0,(\d{1,9})\],butgot(\d{1,9})")
_OPERATION = re.compile(
    r"=(?P<made>[A-Z]\w{2,40})\[|\[Op:(?P<op>\w{2,60})\]|op_type=\"(?P<type>\w{2,40})\""
)
_NODE = re.compile(
    r"\{\{node([\w./-]{2,120})\}\}|\[Node:([\w./-]{2,120})=|layer[\"'`]([\w./]{1,60})[\"'`]|Detectedatnode'?([\w./-]{2,120})'"
)


@dataclass(frozen=True)
class _Pair:
    """Two shapes that meet, and in what."""

    left: Shape
    right: Shape
    operation: str


def read(text: str, begin: int, end: int) -> Reading | None:
    """What two shapes or sizes in an error mean, and where they meet."""
    place = _place(text, begin)
    if told := first_over(_RESHAPE, text, begin, end):
        return _placed(_reshaped(int(told[1]), int(told[2])), place)
    if told := first_over(_ARRAY, text, begin, end):
        return _array(int(told[1]), [int(part) for part in told[2].split(",") if part])
    if told := first_over(_BOUND, text, begin, end):
        return _placed(_bounded(int(told[2]), int(told[3])), place)
    if told := first_over(_NDIM, text, begin, end):
        return _placed(_of_layer(int(told["wanted"]), int(told["got"]), told["shape"] or ""), place)
    if told := first_over(_LAST, text, begin, end):
        return _placed(_of_width(told["wanted"], _shape(told["shape"]), int(told["axis"])), place)
    if told := _SAMPLES.search(text, begin):
        a, b = (int(part) for part in told.groups() if part)
        return of_one((a,), (b,), 0)
    own = text[begin : end + NEAR].lower()
    pair = _pair(text, begin) if any(word in own for word in _OWN_WORDS) else None
    if pair and pair.left != pair.right:
        if told := _AXIS.search(text, begin):
            axis = int(told[1])
            if axis < min(len(pair.left), len(pair.right)) and pair.left[axis] != pair.right[axis]:
                return _placed(of_one(pair.left, pair.right, axis), place)
        return _placed(compared(pair.left, pair.right, pair.operation), place)
    return None


def _pair(text: str, begin: int) -> _Pair | None:
    """The first two shapes from what was matched on."""
    pairs = [(told.start(), told) for form in _PAIRS if (told := form.search(text, begin))]
    if not pairs:
        return None
    told = min(pairs, key=lambda pair: pair[0])[1]
    if len(told.groups()) < 2:
        return None
    operation = _operation(text, begin)
    return _Pair(_shape(told[1]), _shape(told[2]), operation)


def _shape(text: str) -> Shape:
    """A shape from its text; None for a dimension that is not known."""
    return tuple(int(part) if part.isdigit() else None for part in text.split(",") if part)


def _operation(text: str, begin: int) -> str:
    """The kind of operation in which shapes meet, where it is named."""
    told = _OPERATION.search(text, begin)
    return (told["made"] or told["op"] or told["type"]) if told else ""


def _place(text: str, begin: int) -> str:
    """The operation and its node or layer, as words."""
    operation = _operation(text, begin)
    told = _NODE.search(text, begin) or _NODE.search(text)
    node = next((part for part in told.groups() if part), "") if told else ""
    parts = [part for part in (operation, f"`{node}`" if node else "") if part]
    loss = (
        " (a part of the loss or its gradient)"
        if re.search(r"loss|gradient", node, re.IGNORECASE)
        else ""
    )
    return f"They meet in {' of '.join(parts)}{loss}." if parts else ""


def _placed(meant: Reading, place: str) -> Reading:
    """A reading with the place where it was found."""
    return Reading(f"{meant.cause} {place}".strip(), meant.fix)


def _reshaped(values: int, wanted: int) -> Reading:
    """A reshape to another number of values."""
    if wanted and values and (values % wanted == 0 or wanted % values == 0):
        factor = max(values, wanted) // min(values, wanted)
        return Reading(
            f"{values:,} values come and {wanted:,} are wanted, {factor} times"
            f" {'fewer' if wanted < values else 'more'}: mostly a batch size that is written into the reshape"
            " (each replica sees only its part of the global batch), or images with another number of channels.",
            "x = tf.reshape(x, [-1, *SHAPE_OF_ONE_EXAMPLE])      # -1 in place of a batch size",
        )
    return Reading(
        f"{values:,} values come and {wanted:,} are wanted, no multiple of each other: an example has another"
        " size than the code supposes (an image that was not resized, a record of another length).",
        "image = tf.image.resize(image, [HEIGHT, WIDTH])      # or pad to one length, before the reshape",
    )


def _array(size: int, shape: list[int]) -> Reading:
    """A NumPy array that is given another number of values; small ones are mostly devices."""
    wanted = math.prod(shape)
    if size < wanted <= MOST_DEVICES and wanted % size == 0:
        return Reading(
            f"An array of {size} gets a shape of {wanted}. Where it holds devices (a mesh, a checkpoint that is restored): {size} are"
            f" here, and the mesh was written or saved for {wanted}.",
            f"mesh = jax.make_mesh((1, jax.device_count()), axis_names)      # from the devices that are here, in place of {wanted}\n"
            "restored = checkpointer.restore(path, abstract_state)             # a checkpoint: shapes with shardings of this mesh, not those of its file",
        )
    return _reshaped(size, wanted)


def _bounded(limit: int, wanted: int) -> Reading:
    """A slice of more than there is."""
    return Reading(
        f"{wanted:,} are taken of {limit:,}: one example holds fewer (or more) than the code supposes"
        f" (boxes, tokens, frames; a limit such as max_number_of_boxes that is smaller than {wanted:,}).",
        f"x = x[:{limit}]; x = tf.pad(x, [[0, {limit} - tf.shape(x)[0]]] + [[0, 0]] * (len(x.shape) - 1))      # or raise the limit to {wanted}",
    )


def _of_layer(wanted: int, got: int, shape: str) -> Reading:
    """A layer that wants another number of dimensions than it gets."""
    said = f"The layer wants {wanted} dimensions with the batch's and gets {got}" + (
        f" ({text_of(_shape(shape))})" if shape else ""
    )
    if wanted == got + 1:
        return Reading(
            f"{said}: the axis of channels or of features is missing, or the data is not batched.",
            "x = x[..., tf.newaxis]      # the last axis (grey images, one feature); dataset.batch(N) where the first is missing",
        )
    if wanted == got - 1:
        return Reading(
            f"{said}: one axis too many: the data is batched twice, or a layer before returns a sequence.",
            "keras.layers.LSTM(UNITS, return_sequences=False)      # or Flatten, GlobalAveragePooling; batch() once only",
        )
    return Reading(
        f"{said}: the data has not the form that the model was built for.",
        "print(dataset.element_spec, model.input_shape)      # tf.reshape(x, [-1, *SHAPE_OF_ONE_EXAMPLE])",
    )


def _of_width(wanted: str, shape: Shape, axis: int) -> Reading:
    """A layer that wants another size of one axis than it gets."""
    got = shape[axis] if -len(shape) <= axis < len(shape) else None
    return Reading(
        f"The layer was built for {wanted} in axis {axis} and gets {'?' if got is None else got} ({text_of(shape)}): images of another"
        " size or number of channels, another width of the features, or weights of another model.",
        f"model = make_model(input_shape=SHAPE)      # built for what comes; or resize the data so that axis {axis} is {wanted}",
    )
