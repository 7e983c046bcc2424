# ruff: noqa: E501  (what is pasted stays in one piece)
"""How two shapes differ, and what that mostly is."""

from __future__ import annotations

import math

from tpudiag.whole import whole

from . import shape_maps
from .meaning import Reading

Shape = tuple[int | None, ...]
"""Sizes; None where one is not known."""

PIXELS = 16_384
"""A first dimension from here on is no batch."""
_REPLICAS = {2, 4, 8, 16, 32, 64, 128}
_CHANNELS = {1, 3, 4}
_PRODUCT = ("MatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3")


def compared(left: Shape, right: Shape, operation: str, *, loss: bool = False) -> Reading:
    """How two shapes differ, and what that mostly is.

    `loss`: whether they meet in a loss or metric, so that one is of labels, the other of outputs.
    """
    if (0 in left) != (0 in right) or (0 in left and left != right):
        return Reading(
            "One of them is empty (a 0), so nothing came on that side: a replica or the last batch without examples, labels or weights that were not given for this output, a filter or mask that leaves none.",
            "for x, y in dataset.take(3): print(x.shape, y.shape)      # which of them is empty\n"
            "dataset = dataset.repeat().batch(global_batch, drop_remainder=True)      # at least one example for each replica",
        )
    if operation in _PRODUCT and min(len(left), len(right)) > 1:
        columns, rows = left[len(left) - 1], right[len(right) - 2]
        if columns != rows:
            return _of_product(left, right)
        if len(left) == len(right) > 2:  # the inner sizes fit: what is left are the batches
            return compared(left[:-2], right[:-2], "")
    if meant := _of_parameter(*sorted((left, right), key=_ones)):
        return meant
    if len(left) != len(right):
        return _of_ranks(*sorted((left, right), key=len), loss=loss)
    if meant := shape_maps.flattened(left, right, loss=loss):
        return meant
    # A size that is not known differs from none.
    both = tuple(enumerate(zip(left, right, strict=True)))
    differing = [at for at, (a, b) in both if a != b and None not in (a, b)] or [
        at for at, (a, b) in both if a != b
    ]
    if _is_halved(left, right, differing):
        return _of_halves(left, right)
    if len(differing) == 1:
        return of_one(left, right, differing[0], loss=loss)
    return _of_many(left, right, differing)


def _ones(shape: Shape) -> tuple[int, int]:
    """Orders shapes: maps before what has one value for each of their channels."""
    return -len(shape), sum(size == 1 for size in shape)


def _of_parameter(maps: Shape, one: Shape) -> Reading | None:
    """Maps, and a scale or bias that has one value for each size of an axis that is not theirs."""
    if len(maps) < 3 or sum(size != 1 for size in one) != 1:
        return None
    values = next(size for size in one if size != 1)
    at = len(maps) - len(one) + next(at for at, size in enumerate(one) if size != 1)
    if values is None or at == 0 or maps[at] in {values, None, 1}:
        return None
    said = f"A scale or bias with {values} values {text_of(one)} meets maps {text_of(maps)} that have {maps[at]} there"
    if {values, maps[at]} <= _CHANNELS:
        return Reading(
            f"{said}: images with another number of channels than the layer was made for (4: with transparency), or channels first where the layer takes them last.",
            "image = tf.io.decode_image(data, channels=3, expand_animations=False)      # or tf.image.grayscale_to_rgb(image), image[..., :3]\n"
            'keras.backend.set_image_data_format("channels_last")                       # and transposed, where the data come channels first',
        )
    if values not in maps[1:]:
        return None
    return Reading(
        f"{said}: it was made for another axis, because the layer's code takes the channels for first and they are last (or the reverse).",
        'axis = -1 if keras.backend.image_data_format() == "channels_last" else 1      # in the layer of your own (or of its package); not image_dim_ordering() == "tf", which is its old name',
    )


def _is_halved(left: Shape, right: Shape, differing: list[int]) -> bool:
    """Whether two maps (channels last, which may differ where they are joined) miss by one."""
    sides = [at for at in differing if at in (1, 2)]
    by = [abs((left[at] or 0) - (right[at] or 0)) for at in sides]
    return len(left) == 4 and bool(sides) and 0 not in differing and max(by) == 1


def _of_halves(left: Shape, right: Shape) -> Reading:
    """Maps of an encoder and a decoder."""
    return Reading(
        f"Maps of {text_of(left[1:3])} and {text_of(right[1:3])} meet, one apart: strides or pooling halved an odd height or width on the"
        " way down (135 gives 68), and doubling it on the way up gives one more (136). The input's sides are no multiples of 2 to the"
        " number of halvings.",
        "image = tf.image.resize(image, [256, 256])      # sides divisible by 32 for five halvings; or tf.image.resize_with_pad\n"
        "x = x[:, :skip.shape[1], :skip.shape[2]]        # or cut to the other map before they are joined",
    )


def _of_product(left: Shape, right: Shape) -> Reading:
    """A product of matrices whose inner sizes differ."""
    columns, rows = left[len(left) - 1], right[len(right) - 2]
    said = f"In a product {columns} columns meet {rows} rows: "
    if columns is not None and columns == right[len(right) - 1]:
        said += "the second matrix would fit the other way round (transpose_b=True), or "
    return Reading(
        f"{said}the layer was built for {rows} features and gets {columns} (another input size before Flatten, another width), or"
        " one of the two was cut to what the data hold (unique, boolean_mask, dynamic_partition: sizes that XLA does not follow).",
        f"print(x.shape, layer.kernel.shape)         # {columns} comes, {rows} was built: which is right?\n"
        f"model = make_model(input_shape=SHAPE)      # built for {columns} features; or resize the inputs to what gave {rows}",
    )


def _fits(some: Shape, others: Shape) -> bool:
    """Whether two shapes may be equal: a size that is not known may be any."""
    pairs = zip(some, others, strict=False)
    return len(some) == len(others) and all(a == b or None in (a, b) for a, b in pairs)


def _of_ranks(short: Shape, long: Shape, *, loss: bool) -> Reading:
    """Shapes of different numbers of dimensions."""
    if not short and not loss:
        return Reading(
            f"A single value (shape []) meets a tensor {text_of(long)} where both must have one shape.",
            "print(a.shape, b.shape)      # before the line: the value for each element, or tf.reduce_mean on the other side",
        )
    if not short:
        return Reading(
            f"A single value meets a tensor {text_of(long)}: a plain Python number or list where an array of labels is wanted.",
            "labels = np.ones((batch, 1), np.float32)      # in place of [1] * batch",
        )
    said = f"One has {len(short)} dimension{'s' if len(short) > 1 else ''} {text_of(short)}, the other {len(long)} {text_of(long)}"
    if len(long) - len(short) == 1 and _fits(short, long[:-1]):
        width = long[len(long) - 1]
        if len(long) >= 3 and width in _CHANNELS:
            return Reading(f"{said}: the axis of channels is missing.", "x = x[..., tf.newaxis]")
        if not loss:
            return Reading(
                f"{said}: the last axis is missing in one of them, or too many in the other (a size of channels, classes or features; values"
                " for each example beside a column of them).",
                "x = x[..., tf.newaxis]      # the axis added; or tf.squeeze(y, axis=-1), tf.reduce_sum(y, axis=-1) on the other side",
            )
        return Reading(
            f"{said}: class numbers meet one column for each class.",
            'model.compile(loss="sparse_categorical_crossentropy")      # labels as numbers\n'
            f"y = tf.one_hot(y, {width or 'CLASSES'})                                   # or columns, with categorical_crossentropy",
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
    if loss and len(long) - len(short) > 1:
        return Reading(
            f"{said}: one side has a value (or a row) for each example, the other a map or a sequence for each: a model that classifies (it ends"
            " in Flatten or pooling and Dense) with masks as labels, or one that segments with class numbers; or the labels were not cut and"
            " stacked as the model's examples were.",
            "print(dataset.element_spec, model.output_shape)      # one form on both sides: masks for a model that ends in Conv2D(CLASSES, 1), one label for each patch else",
        )
    if short == long[1:]:
        return Reading(
            f"{said}: the batch dimension is missing.",
            "x = x[tf.newaxis]      # or dataset.batch(N)",
        )
    rest = long[1:]
    if len(short) > 1 and len(rest) == len(short):
        axes = [at for at, (a, b) in enumerate(zip(short, rest, strict=True)) if a != b]
        if len(axes) == 1 and (size := short[axes[0]]) and (came := rest[axes[0]]):
            return _of_table(said, size, came)
    return Reading(
        f"{said}: an axis too many or too few (an image without channels, labels of another form, a batch of batches).",
        "x = tf.expand_dims(x, axis=-1)      # or tf.squeeze(x, axis=-1); batch() once only",
        guess=True,
    )


def _of_table(said: str, size: int, came: int) -> Reading:
    """A table of positions beside a batch of sequences of another length."""
    return Reading(
        f"{said}: a table of {size} positions (patches, tokens, boxes) meets examples of {came}: the model was built for inputs of another size or"
        f" length than the data has (a vision transformer: (image size // patch size) ** 2 patches, {size} were configured and {came} come).",
        f"image = tf.image.resize(image, [IMAGE_SIZE, IMAGE_SIZE])      # the size that the configuration names: gives {size}; padding='max_length' for tokens\n"
        f"num_patches = (IMAGE_SIZE // PATCH_SIZE) ** 2                  # or the model built for what comes: {came}",
    )


def of_one(left: Shape, right: Shape, axis: int, *, loss: bool = False) -> Reading:
    """Shapes that differ in one dimension."""
    if _is_halved(left, right, [axis]):
        return _of_halves(left, right)
    if meant := shape_maps.flattened(left, right, loss=loss):
        return meant
    a, b = left[axis], right[axis]
    said = f"They differ in dimension {axis} alone: {a or '?'} against {b or '?'}"
    if len(left) == 1 and a and b and max(a, b) % min(a, b):
        return Reading(
            f"Vectors of {a} and of {b} meet: one value for each class or feature (class weights, thresholds, a bias) against"
            " another number of them; or batches of two sizes.",
            f"weights = tf.ones([{max(a, b)}])      # as many as the last layer has units; dataset.batch(N, drop_remainder=True) for batches",
        )
    if axis == 0 and (len(left) > 1 or (a and b)):
        return _of_batch(a or 0, b or 0, said, alone=len(left) == 1)
    if axis == len(left) - 1:
        return _of_last(left, a, b, said, loss=loss)
    if axis == 1 and len(left) == 4 and a and b and max(a, b) % min(a, b) == 0:
        return Reading(
            f"{said}, a factor of {max(a, b) // min(a, b)}: in maps with channels first that is mostly the number of classes"
            " (times anchors), which differs between the model and the labels.",
            "num_classes = CLASSES      # one number for training, evaluation, the checkpoint and the labels",
        )
    return Reading(
        f"{said}: lengths or sizes that were not made equal (sequences, boxes, height or width after strides of an odd size).",
        "x = x[:, :LENGTH]; tf.pad to LENGTH      # one length for all: padded_batch(padded_shapes=...), tf.image.resize, sizes divisible by 2**levels",
    )


def _of_batch(a: int, b: int, said: str, *, alone: bool) -> Reading:
    """Shapes that differ in their first dimension; 0 stands for one that is not known."""
    few, many = sorted((a, b))
    if few > PIXELS:
        return Reading(
            f"{said}: flattened pixels or tokens of images (sequences) and labels of different sizes.",
            "mask = tf.image.resize(mask, tf.shape(image)[:2], method='nearest')      # the label image as large as what the model gives",
        )
    if few and many % few == 0 and many // few in _REPLICAS:
        return Reading(
            f"{said}, a factor of {many // few}: the batch of all replicas meets that of one"
            " (a batch size written into the code), or one of them is flattened"
            + (
                f" and holds {many // few} values (classes, steps) for each example."
                if alone
                else "."
            ),
            "batch = tf.shape(x)[0]      # in place of BATCH_SIZE: in a replica it is global_batch // strategy.num_replicas_in_sync",
        )
    return Reading(
        f"{said}, the batch: the last batch of the data is smaller, a batch size is written into the model,"
        " or inputs and labels have different numbers of examples.",
        "dataset = dataset.batch(global_batch, drop_remainder=True); print(len(x), len(y))",
    )


def _of_last(left: Shape, a: int | None, b: int | None, said: str, *, loss: bool) -> Reading:
    """Shapes that differ in their last dimension."""
    if len(left) >= 3 and {a, b} <= _CHANNELS:
        return Reading(
            f"{said}: images with another number of channels.",
            "image = tf.io.decode_image(data, channels=3, expand_animations=False)      # or tf.image.grayscale_to_rgb(image)",
        )
    if 1 in {a, b} and loss:
        other = b if a == 1 else a
        return Reading(
            f"{said}: one column of class numbers meets {other} columns, one for each class.",
            'model.compile(loss="sparse_categorical_crossentropy")      # labels as numbers\n'
            f"y = tf.one_hot(y, {other})                                    # or columns, with categorical_crossentropy",
        )
    if not loss:
        return Reading(
            f"{said}: sizes that must be equal are not. Either the numbers of features or classes differ, or lengths were not made equal"
            " (sequences that each batch pads to its own longest).",
            "print(a.shape, b.shape)      # before the line: which of the two is as it should be\n"
            f"dataset.padded_batch(N, padded_shapes=[LENGTH])      # one length for all batches; or a layer of {b} (or {a}) units",
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
        if meant := shape_maps.of_strides(left, right):
            return meant
        return Reading(
            f"Height and width differ: {text_of(left[1:3])} against {text_of(right[1:3])}: images that were not resized, or feature maps"
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
        guess=True,
    )


def text_of(shape: Shape) -> str:
    """A shape as it is written."""
    return f"[{', '.join('?' if size is None else str(size) for size in shape)}]"


def shape_of(text: str) -> Shape:
    """A shape from its text; None for a dimension that is not known."""
    return tuple(whole(part) for part in text.split(",") if part)
