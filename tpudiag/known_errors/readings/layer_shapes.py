# ruff: noqa: E501  (what is pasted stays in one piece)
"""A layer that gets an input of another shape than it was built for."""

import math
import re
from collections.abc import Sequence

from tpudiag.known_errors.compiled import wording

from .meaning import Reading, first_over
from .meeting import Shape, shape_of, text_of
from .narrower import Narrower, computed, first

_CHANNELS = {1, 3, 4}
FLATTENED = 1024
"""So many values are a picture's, no table's columns."""


def read(text: str, begin: int, end: int, cases: Sequence[Narrower] = ()) -> Reading | None:
    """What a layer says of its input; `cases` know its kinds."""
    for form in (wording("layers expected"), wording("layers checked")):
        if (told := form.search(text, begin)) and (meant := _of_expected(told)):
            return meant
    if told := first_over(wording("layers ndim"), text, begin, end):
        wanted, got = int(told["wanted"]), int(told["got"])
        twice = wanted == got - 1 and _batched_twice(shape_of(told["shape"] or ""), wanted)
        named = wording("layers layer").search(text, max(0, begin - 80), begin + 160)
        if named and (not twice or wanted == 3):
            # What wants two dimensions and gets one is a dense layer, whatever it is called.
            kind = "dense" if (wanted, got) == (2, 1) else named["name"].lower()
            facts = {"layer": (kind,), "wanted": (str(wanted),), "got": (str(got),)}
            if meant := first(cases, facts):
                return meant
        return _of_layer(wanted, got, told["shape"] or "")
    if told := wording("layers dimensions").search(text, begin, end + 160):
        return _of_layer(int(told["wanted"]), len(shape_of(told["shape"])), told["shape"])
    if told := wording("layers last").search(text, begin, end + 120):
        return _of_width(told["wanted"], shape_of(told["shape"]), int(told["axis"]))
    return None


def _of_expected(told: re.Match[str]) -> Reading | None:
    """A layer or model that was built for another shape."""
    wanted, got = shape_of(told["wanted"]), shape_of(told["got"])
    both = {"wanted": text_of(wanted), "got": text_of(got)}
    if len(got) > 1 and got == wanted[1:]:
        return computed("one example alone", **both)
    if len(wanted) != len(got):
        return _of_axes(wanted, got) or _of_layer(len(wanted), len(got), told["got"])
    pairs = enumerate(zip(wanted, got, strict=True))
    differing = [axis for axis, (a, b) in pairs if a and b and a != b]
    deep, came = wanted[len(wanted) - 1], got[len(got) - 1]
    if len(differing) > 1 and {deep, came} <= _CHANNELS:
        more = "." if deep == came else " and another number of channels."
        fix = {"size": list(wanted[-3:-1]), "channels_fix": _channels_fix(deep, came)}
        return computed("image of another size", channels=more, **both, **fix)
    return _of_width(str(wanted[differing[0]]), got, differing[0]) if differing else None


def _of_axes(wanted: Shape, got: Shape) -> Reading | None:
    """Examples of as many values as the layer wants, in other axes; None where they are not."""
    axes, came = wanted[1:], [size or 0 for size in got[1:]]
    if math.prod(size or 0 for size in axes) != math.prod(came) or not all(came):
        return None
    said = " x ".join(map(str, came))
    return computed("other axes", axes=", ".join(map(str, axes)), said=said, size=math.prod(came))


def _of_layer(wanted: int, got: int, shape: str) -> Reading:
    """A layer that wants another number of dimensions than it gets."""
    came = f"{got} ({text_of(shape_of(shape))})" if shape else f"{got}"
    figures = {wanted - 1: "axis missing", wanted + 1: "axis too many"}.get(got, "another form")
    ones = [at for at, size in enumerate(shape_of(shape)) if at and size == 1]
    if got == wanted + 1:
        one = "axis of one too many" if ones else figures
        figures = "batched twice" if _batched_twice(shape_of(shape), wanted) else one
    said = f"The layer wants {wanted} dimensions with the batch's and gets {came}"
    return computed(figures, said=said, axis=ones[0] if ones else "")


def _batched_twice(shape: Shape, wanted: int) -> bool:
    """Whether one axis too many is a second batch: of a known size before one that is not, or of images."""
    return wanted > 3 or (len(shape) > 1 and shape[0] is not None and shape[1] is None)


def _of_width(wanted: str, shape: Shape, axis: int) -> Reading:
    """A layer that wants another size of one axis than it gets."""
    got = shape[axis] if -len(shape) <= axis < len(shape) else None
    said = f"The layer was built for {wanted} in axis {axis} and gets {'?' if got is None else got} ({text_of(shape)})"
    last = axis in (-1, len(shape) - 1)
    figures = "other columns" if last and len(shape) == 2 else "another width"
    if last and len(shape) > 2 and {int(wanted), got} <= _CHANNELS:
        figures = "other channels"
    sides = _sides(got or 0, int(wanted)) if figures == "other columns" else (0, 0)
    if all(sides):
        figures = "maps of another size"
    if last and len(shape) > 2 and (meant := _of_axes((None, int(wanted)), shape)):
        return meant
    if wanted == "0":
        figures = "width of nothing"
    fix = _channels_fix(int(wanted), got)
    both = {"came": sides[0], "meant": sides[1]}
    return computed(figures, said=said, got=got, wanted=wanted, channels_fix=fix, **both)


def _sides(came: int, meant: int) -> tuple[int, int]:
    """The sides of two flattened squares, in their smallest numbers; 0 where they are none."""
    by = math.gcd(came, meant) or 1
    sides = math.isqrt(came // by), math.isqrt(meant // by)
    squares = [side * side * by for side in sides] == [came, meant]
    return sides if squares and min(came, meant) >= FLATTENED else (0, 0)


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
