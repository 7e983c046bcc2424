# ruff: noqa: E501  (what is pasted stays in one piece)
"""Two shapes that do not fit, told by how they differ."""

from __future__ import annotations

import math
import re

from tpudiag.records import dataclass

from .meaning import Reading, first_over

_SHAPE = r"[(\[]([\d,?None-]{0,60})[)\]]"
_PAIRS = tuple(
    re.compile(pattern.replace("SHAPE", _SHAPE), re.IGNORECASE)
    for pattern in (
        r"Incompatibleshapes:SHAPEvs\.?SHAPE",
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
_BOUND = re.compile(r"Expected(?:size|begin)\[(\d)\]in\[0,(\d{1,9})\],butgot(\d{1,9})")
_OPERATION = re.compile(
    r"=(?P<made>[A-Z]\w{2,40})\[|\[Op:(?P<op>\w{2,60})\]|op_type=\"(?P<type>\w{2,40})\""
)
_NODE = re.compile(
    r"\{\{node([\w./-]{2,120})\}\}|\[Node:([\w./-]{2,120})=|layer[\"'`]([\w./]{1,60})[\"'`]|Detectedatnode'?([\w./-]{2,120})'"
)
_PRODUCT = ("MatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3")
_CHANNELS = {1, 3, 4}
_REPLICAS = {2, 4, 8, 16, 32, 64, 128}

Shape = tuple[int | None, ...]


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
    if told := first_over(_BOUND, text, begin, end):
        return _placed(_bounded(int(told[2]), int(told[3])), place)
    if told := first_over(_NDIM, text, begin, end):
        return _placed(_of_layer(int(told["wanted"]), int(told["got"]), told["shape"] or ""), place)
    if told := first_over(_LAST, text, begin, end):
        return _placed(_of_width(told["wanted"], _shape(told["shape"]), int(told["axis"])), place)
    if told := first_over(_SAMPLES, text, begin, end):
        a, b = (int(part) for part in told.groups() if part)
        return _of_one((a,), (b,), 0)
    if pair := _pair(text, begin):
        if told := _AXIS.search(text, begin):
            axis = int(told[1])
            if axis < min(len(pair.left), len(pair.right)) and pair.left[axis] != pair.right[axis]:
                return _placed(_of_one(pair.left, pair.right, axis), place)
        return _placed(_compared(pair), place)
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
        f" ({_text(_shape(shape))})" if shape else ""
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
        f"The layer was built for {wanted} in axis {axis} and gets {'?' if got is None else got} ({_text(shape)}): images of another"
        " size or number of channels, another width of the features, or weights of another model.",
        f"model = make_model(input_shape=SHAPE)      # built for what comes; or resize the data so that axis {axis} is {wanted}",
    )


def _compared(pair: _Pair) -> Reading:
    """How two shapes differ, and what that mostly is."""
    left, right = pair.left, pair.right
    if (0 in left) != (0 in right) or (0 in left and left != right):
        return Reading(
            "One of them is empty (a 0): a replica, the last batch or a filter left no example.",
            "dataset = dataset.repeat().batch(global_batch, drop_remainder=True)      # at least one example for each replica",
        )
    if pair.operation in _PRODUCT and len(left) >= 2 and len(right) >= 2:
        return Reading(
            f"In a product {left[-1]} columns meet {right[-2]} rows: the layer was built for {right[-2]} features"
            f" and gets {left[-1]} (another input size before Flatten, another width).",
            f"model = make_model(input_shape=SHAPE)      # built for {left[-1]} features; or resize the inputs to what gave {right[-2]}",
        )
    if len(left) != len(right):
        return _of_ranks(*sorted((left, right), key=len))
    differing = [at for at, (a, b) in enumerate(zip(left, right, strict=True)) if a != b]
    if len(differing) == 1:
        return _of_one(left, right, differing[0])
    return _of_many(left, right, differing)


def _of_ranks(short: Shape, long: Shape) -> Reading:
    """Shapes of different numbers of dimensions."""
    said = f"One has {len(short)} dimension{'s' if len(short) > 1 else ''} {_text(short)}, the other {len(long)} {_text(long)}"
    if len(long) - len(short) == 1 and short == long[:-1]:
        if len(long) >= 3 and long[-1] in _CHANNELS:
            return Reading(f"{said}: the axis of channels is missing.", "x = x[..., tf.newaxis]")
        return Reading(
            f"{said}: class numbers meet one column for each class.",
            'model.compile(loss="sparse_categorical_crossentropy")      # labels as numbers\n'
            f"y = tf.one_hot(y, {long[-1]})                                   # or columns, with categorical_crossentropy",
        )
    if (
        len(short) == 1
        and len(long) == 2
        and short[0]
        and short[0] == math.prod(size or 0 for size in long)
    ):
        return Reading(
            f"{said}: labels with one column for each class meet a loss that wants class numbers, and were flattened.",
            'model.compile(loss="categorical_crossentropy")      # for columns (one-hot); sparse_categorical_crossentropy is for numbers',
        )
    if short == long[1:]:
        return Reading(
            f"{said}: the batch dimension is missing.",
            "x = x[tf.newaxis]      # or dataset.batch(N)",
        )
    return Reading(
        f"{said}: an axis too many or too few (an image without channels, labels of another form, a batch of batches).",
        "x = tf.expand_dims(x, axis=-1)      # or tf.squeeze(x, axis=-1); batch() once only",
    )


def _of_one(left: Shape, right: Shape, axis: int) -> Reading:
    """Shapes that differ in one dimension."""
    a, b = left[axis], right[axis]
    said = f"They differ in dimension {axis} alone: {a or '?'} against {b or '?'}"
    if axis == 0 and (len(left) > 1 or (a and b)):
        return _of_batch(a or 0, b or 0, said)
    if axis == len(left) - 1:
        return _of_last(left, a, b, said)
    return Reading(
        f"{said}: lengths or sizes that were not made equal (sequences, boxes, height or width after strides of an odd size).",
        "x = x[:, :LENGTH]; tf.pad to LENGTH      # one length for all: padded_batch(padded_shapes=...), tf.image.resize, sizes divisible by 2**levels",
    )


def _of_batch(a: int, b: int, said: str) -> Reading:
    """Shapes that differ in their first dimension; 0 stands for one that is not known."""
    few, many = sorted((a, b))
    if few and many % few == 0 and many // few in _REPLICAS:
        return Reading(
            f"{said}, a factor of {many // few}: the batch of all replicas meets that of one"
            " (a batch size written into the code), or one of them is flattened.",
            "batch = tf.shape(x)[0]      # in place of BATCH_SIZE: in a replica it is global_batch // strategy.num_replicas_in_sync",
        )
    return Reading(
        f"{said}, the batch: the last batch of the data is smaller, a batch size is written into the model,"
        " or inputs and labels have different numbers of examples.",
        "dataset = dataset.batch(global_batch, drop_remainder=True); print(len(x), len(y))",
    )


def _of_last(left: Shape, a: int | None, b: int | None, said: str) -> Reading:
    """Shapes that differ in their last dimension."""
    if len(left) >= 3 and {a, b} <= _CHANNELS:
        return Reading(
            f"{said}: images with another number of channels.",
            "image = tf.io.decode_image(data, channels=3, expand_animations=False)      # or tf.image.grayscale_to_rgb(image)",
        )
    if 1 in {a, b}:
        other = b if a == 1 else a
        return Reading(
            f"{said}: one column of class numbers meets {other} columns, one for each class.",
            'model.compile(loss="sparse_categorical_crossentropy")      # labels as numbers\n'
            f"y = tf.one_hot(y, {other})                                    # or columns, with categorical_crossentropy",
        )
    return Reading(
        f"{said}: the number of classes, features or units differs.",
        f"outputs = keras.layers.Dense({b})(x)      # or {a}: as many units as the labels have columns; data of one width",
    )


def _of_many(left: Shape, right: Shape, differing: list[int]) -> Reading:
    """Shapes that differ in several dimensions."""
    axes = " and ".join(str(axis) for axis in differing)
    known_left = [size for size in left if size is not None]
    known_right = [size for size in right if size is not None]
    if sorted(known_left) == sorted(known_right) and known_left:
        return Reading(
            "They hold the same sizes in another order: transposed (batch against time, channels first against last).",
            "x = tf.transpose(x, [0, 2, 1])      # the order that the other has",
        )
    if differing == [1, 2] and len(left) == 4:
        return Reading(
            f"Height and width differ: {_text(left[1:3])} against {_text(right[1:3])}: images that were not resized, or feature maps"
            " that strides of an odd size rounded another way.",
            "image = tf.image.resize(image, [256, 256])      # a size divisible by 2**levels; padding='same', or Cropping2D where maps meet",
        )
    if None not in left + right and math.prod(known_left) == math.prod(known_right):
        return Reading(
            "They hold equally many values in another shape.",
            f"x = tf.reshape(x, {list(right)})",
        )
    return Reading(
        f"They differ in dimensions {axes}: two different things meet (another layer's output, labels of another task, sizes that"
        " were not made equal).",
        "print(x.shape, y.shape)      # before the line; for images tf.image.resize, for sequences padded_batch to one length",
    )


def _text(shape: Shape) -> str:
    """A shape as it is written."""
    return f"[{', '.join('?' if size is None else str(size) for size in shape)}]"
