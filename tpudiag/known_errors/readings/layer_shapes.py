# ruff: noqa: E501  (what is pasted stays in one piece)
"""A layer that gets an input of another shape than it was built for."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .meaning import Reading, first_over
from .narrower import Narrower, first
from .shape_pairs import Shape, shape_of, text_of

_LAYER = re.compile(
    r"layer['\"]?(?:model/|sequential/)?(?P<name>[a-z][a-z_]{2,40}?(?:[123]d)?(?:_[a-z]{2,20})?)(?:_\d{1,5})?['\"]?(?:isincompatible|:)",
    re.IGNORECASE,
)
_CHANNELS = {1, 3, 4}
_NDIM = re.compile(
    r"expected(?P<least>min_)?(?:ndim|max_ndim)=(?P<wanted>\d),foundndim=(?P<got>\d)"
    r"(?:\.Fullshapereceived:[(\[](?P<shape>[\d,?None-]{0,60}))?"
)
_LAST = re.compile(
    r"expectedaxis(?P<axis>-?\d)of(?:the)?inputshapetohavevalue\{?(?P<wanted>\d{1,9})\}?,?butreceivedinput"
    r"withshape[(\[](?P<shape>[\d,?None-]{0,60})"
)
_EXPECTED = re.compile(
    r"expectedshape=[(\[](?P<wanted>[\d,?None-]{0,60})[)\]],foundshape=[(\[](?P<got>[\d,?None-]{0,60})"
)
_CHECKED = re.compile(
    r"checking(?:model)?input.{0,60}?tohaveshape\((?P<wanted>[\d,?None-]{0,60})\)butgotarraywithshape\("
    r"(?P<got>[\d,?None-]{0,60})\)"
)


def read(text: str, begin: int, end: int, cases: Sequence[Narrower] = ()) -> Reading | None:
    """What a layer says of its input; `cases` know its kinds."""
    for form in (_EXPECTED, _CHECKED):
        if (told := form.search(text, begin)) and (meant := _of_expected(told)):
            return meant
    if told := first_over(_NDIM, text, begin, end):
        wanted, got = int(told["wanted"]), int(told["got"])
        twice = wanted == got - 1 and _batched_twice(shape_of(told["shape"] or ""), wanted)
        if (not twice or wanted == 3) and (meant := _of_kind(text, begin, wanted, got, cases)):
            return meant
        return _of_layer(int(told["wanted"]), int(told["got"]), told["shape"] or "")
    if told := first_over(_LAST, text, begin, end):
        return _of_width(told["wanted"], shape_of(told["shape"]), int(told["axis"]))
    return None


def _of_kind(
    text: str, begin: int, wanted: int, got: int, cases: Sequence[Narrower]
) -> Reading | None:
    """What mostly is behind it for the kind of layer that the text names before `begin` or behind."""
    named = _LAYER.search(text, max(0, begin - 80), begin + 160)
    if named is None:
        return None
    # What wants two dimensions and gets one is a dense layer, whatever it is called.
    kind = "dense" if (wanted, got) == (2, 1) else named["name"].lower()
    return first(cases, {"layer": (kind,), "wanted": (str(wanted),), "got": (str(got),)})


def _of_expected(told: re.Match[str]) -> Reading | None:
    """A layer or model that was built for another shape."""
    wanted, got = shape_of(told["wanted"]), shape_of(told["got"])
    if len(got) > 1 and got == wanted[1:]:
        return Reading(
            f"The layer wants ({text_of(wanted)}) and gets ({text_of(got)}): one example, without the axis of the batch.",
            "dataset = dataset.batch(global_batch, drop_remainder=True)      # a dataset: batched once, before fit\n"
            "model.predict(x[tf.newaxis])                                     # one example: an axis of length 1 before it",
        )
    if len(wanted) != len(got):
        return _of_layer(len(wanted), len(got), told["got"])
    differing = [
        axis for axis, (a, b) in enumerate(zip(wanted, got, strict=True)) if a and b and a != b
    ]
    deep, came = wanted[len(wanted) - 1], got[len(got) - 1]
    if len(differing) > 1 and {deep, came} <= _CHANNELS:
        return Reading(
            f"The model was built for images of {text_of(wanted)} and gets {text_of(got)}: of another size"
            + (" and another number of channels." if deep != came else "."),
            f"image = tf.image.resize(image, {list(wanted[-3:-1])})      # in dataset.map, the same for training and prediction\n"
            + _channels_fix(deep, came),
        )
    return _of_width(str(wanted[differing[0]]), got, differing[0]) if differing else None


def _of_layer(wanted: int, got: int, shape: str) -> Reading:
    """A layer that wants another number of dimensions than it gets."""
    said = f"The layer wants {wanted} dimensions with the batch's and gets {got}" + (
        f" ({text_of(shape_of(shape))})" if shape else ""
    )
    if wanted == got + 1:
        return Reading(
            f"{said}: the axis of channels or of features is missing, or the data is not batched.",
            "x = x[..., tf.newaxis]      # the last axis (grey images, one feature); dataset.batch(N) where the first is missing",
        )
    if wanted == got - 1 and _batched_twice(shape_of(shape), wanted):
        return Reading(
            f"{said}: the data is batched twice: it comes in batches already (image_dataset_from_directory, a dataset that was loaded batched, a generator).",
            "dataset = keras.utils.image_dataset_from_directory(path, batch_size=BATCH)      # and no .batch() after it; or batch_size=None there\n"
            "dataset = dataset.unbatch().batch(global_batch, drop_remainder=True)            # where its batches come from elsewhere",
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


def _batched_twice(shape: Shape, wanted: int) -> bool:
    """Whether one axis too many is a second batch: of a known size before one that is not, or of images."""
    return wanted > 3 or (len(shape) > 1 and shape[0] is not None and shape[1] is None)


def _of_width(wanted: str, shape: Shape, axis: int) -> Reading:
    """A layer that wants another size of one axis than it gets."""
    got = shape[axis] if -len(shape) <= axis < len(shape) else None
    said = f"The layer was built for {wanted} in axis {axis} and gets {'?' if got is None else got} ({text_of(shape)})"
    last = axis in (-1, len(shape) - 1)
    if last and len(shape) > 2 and {int(wanted), got} <= _CHANNELS:
        return Reading(
            f"{said}: images with another number of channels (1 grey, 3 colour, 4 colour and transparency).",
            _channels_fix(int(wanted), got),
        )
    if last and len(shape) == 2:
        return Reading(
            f"{said}: rows of {got} features meet weights for {wanted}: the data have other columns than the model was built for, or images"
            " (maps) of another size come to the Flatten before a Dense layer.",
            f"model = make_model(input_shape=({got},))      # built for what comes; or the data with the {wanted} columns of the training\n"
            "print(dataset.element_spec, model.input_shape)      # images: the size that the model was built with, by tf.image.resize",
        )
    return Reading(
        f"{said}: images of another size, sequences of another length, another width of the features, or weights of another model.",
        f"x = keras.utils.pad_sequences(x, maxlen={wanted}); image = tf.image.resize(image, SIZE)      # the data brought to {wanted}\n"
        "inputs = keras.Input(shape=(None,))      # or the model built for what comes: None for a length that may differ, SHAPE of the data else",
    )


def _channels_fix(wanted: int | None, got: int | None) -> str:
    """How images get the channels that a model wants; the other way is a model that takes what comes."""
    build = f"inputs = keras.Input(shape=(HEIGHT, WIDTH, {got}))      # or the model built for {got} channels"
    if wanted == got:
        return build
    if wanted == 1:
        return f'image = tf.image.rgb_to_grayscale(image[..., :3])      # PIL: image.convert("L")\n{build}'
    if got == 1:
        return f"image = tf.image.grayscale_to_rgb(image)      # cv2.cvtColor(image, cv2.COLOR_GRAY2RGB)\n{build}"
    return f'image = image[..., :3]      # without transparency; PIL: Image.open(path).convert("RGB"); tf.io.decode_png(data, channels=3)\n{build}'
