# ruff: noqa: E501  (what is pasted stays in one piece)
"""What two shapes mean by the operation in which they meet."""

from __future__ import annotations

from .meaning import Reading
from .shape_pairs import Shape, text_of

_ASSIGNING = ("Assign", "AssignVariableOp", "RestoreV2", "AssignVariableXlaConcatND")
_ADDING = ("AssignAdd", "AssignSub", "AssignAddVariableOp", "AssignSubVariableOp")
_BY_ELEMENT = (
    *("Add", "AddV2", "Sub", "Mul", "RealDiv", "Div", "truediv", "FloorDiv", "Maximum", "Minimum"),
    *("SquaredDifference", "GreaterEqual", "Greater", "Less", "Equal", "Pow", "DivNoNan"),
)
_JOINING = ("Concat", "ConcatV2", "ConcatOp", "Pack")
FLATTENED = 1024
"""Rows from here on are flattened pixels or tokens, no batch."""


def of_use(left: Shape, right: Shape, operation: str, node: str) -> Reading | None:
    """What two shapes mean where their operation tells it; None where it does not."""
    name = node.rsplit("/", 1)[-1].rstrip("_0123456789")
    if operation in _ASSIGNING or name in _ASSIGNING:
        return _assigned(left, right)
    if operation in _ADDING or name in _ADDING:
        return _added(left, right)
    if operation in _JOINING and 2 <= len(left) == len(right) <= 3:
        return _joined(left, right)
    short, long = sorted((left, right), key=len)
    if operation in _BY_ELEMENT or name.lower() in {each.lower() for each in _BY_ELEMENT}:
        return _by_element(short, long)
    return None


def of_rows(labels: int, rows: int, width: int) -> Reading | None:
    """Class numbers and rows of outputs that are not equally many (sparse cross-entropy)."""
    if labels == rows * width and width > 1:
        return None
    few, many = sorted((labels, rows))
    said = f"{labels:,} labels meet {rows:,} rows of {width} outputs"
    if few > FLATTENED and labels > rows:
        return Reading(
            f"{said}, {many / few:.3g} times as many: the model's map is smaller than the label image (its strides are not undone at the end),"
            " or images and masks were resized differently.",
            "x = tf.keras.layers.UpSampling2D(STRIDE, interpolation='bilinear')(x)      # the last layer: logits as large as the mask\n"
            "mask = tf.image.resize(mask, model.output_shape[1:3], method='nearest')    # or the mask as small as the logits",
        )
    if rows > labels and rows % labels == 0:
        return Reading(
            f"{said}, {rows // labels} outputs for each label: the model gives a value for every step, token or anchor where one label stands"
            " for the whole example (return_sequences=True, a missing Flatten or pooling).",
            "x = keras.layers.GlobalAveragePooling1D()(x)      # or LSTM(return_sequences=False), Flatten(): one row of outputs for each example",
        )
    if labels > rows and labels % rows == 0:
        return Reading(
            f"{said}, {labels // rows} labels for each row: labels for every step or one column for each class meet one output for an example.",
            "model.compile(loss='categorical_crossentropy')      # labels in columns (one-hot)\n"
            "keras.layers.LSTM(UNITS, return_sequences=True)      # labels for every step: outputs for every step",
        )
    return Reading(
        f"{said}, which are no multiples of each other: inputs and labels were cut or padded to different lengths, or the loss meets another"
        " output of the model than its logits.",
        "print(model.output_shape, dataset.element_spec)      # one label for each row of the logits: the same length on both sides",
        guess=True,
    )


def of_another_output(labels: int, rows: int, width: int) -> Reading:
    """Labels beside an output that they do not belong to."""
    return Reading(
        f"{labels:,} labels meet {rows:,} rows of {width} in a loss that is not the first of the graph: the model has several outputs and the"
        " loss is applied to each (a TF class of Transformers also gives caches and hidden states), with the labels of the first.",
        "model.compile(optimizer, loss=[loss, *[None] * (len(model.outputs) - 1)])      # GPT-2 of Transformers: [loss, *[None] * model.config.n_layer]\n"
        "model.config.use_cache = False; model.config.output_hidden_states = False      # or no further outputs; or compile(optimizer) alone: its own loss",
    )


SMALLEST_WIDTH = 128
"""Units from which on a last size is a width rather than a number of classes."""


def _assigned(left: Shape, right: Shape) -> Reading:
    """A variable and what is put into it."""
    said = f"A variable of {text_of(left)} is to be set to values of {text_of(right)}"
    if left[:-1] == right[:-1] and min(left[-1] or 0, right[-1] or 0) < SMALLEST_WIDTH:
        return Reading(
            f"{said}: all but the last size agrees, which is the number of classes (or outputs): {left[-1]} here, {right[-1]} in the file or weights.",
            f"num_classes = {right[-1]}                                     # as many as the weights were trained with; or\n"
            "model.load_weights(path, by_name=True, skip_mismatch=True)      # .h5: all but that last layer, which then learns anew\n"
            "saver = tf.compat.v1.train.Saver([v for v in tf.compat.v1.global_variables() if LAST_LAYER not in v.name])      # TensorFlow 1",
        )
    if sorted(left, key=str) == sorted(right, key=str) or set(left) & set(right) >= {1}:
        return Reading(
            f"{said}: weights in another order of their axes, or of a model that counts its channels otherwise: the file is of another framework,"
            " of another release of the library that builds the model, or of another variant of the model.",
            "pip install -U THE_LIBRARY_OF_THE_MODEL      # weights and code of one release\n"
            "model.load_weights(path, by_name=True, skip_mismatch=True)      # .h5: what fits; the rest keeps its first values",
        )
    return Reading(
        f"{said}: the weights or the checkpoint are of another model (another number of classes, another width, another vocabulary).",
        "model.load_weights(path, by_name=True, skip_mismatch=True)      # .h5: all but what does not fit (a new head)\n"
        "model = make_model(classes=CLASSES_OF_THE_FILE)                 # or the model as it was saved; then replace its head",
    )


def _joined(left: Shape, right: Shape) -> Reading | None:
    """Parts that are joined along their first axis, or along the last one."""
    differing = [at for at, (a, b) in enumerate(zip(left, right, strict=True)) if a != b]
    if differing in ([], [0]):
        return None
    return Reading(
        f"Parts of {text_of(left)} and {text_of(right)} are to be joined, and an axis other than the one along which they are joined differs: outputs of batches that"
        " were padded to different lengths (model.predict joins those of all batches), or inputs of a Concatenate layer with its wrong axis.",
        "outputs = [model.predict_on_batch(x) for x in dataset]      # not joined; or all batches padded to one length: padded_shapes=[LENGTH]\n"
        "x = keras.layers.Concatenate(axis=AXIS)([a, b])             # along the one axis that may differ",
    )


def _added(left: Shape, right: Shape) -> Reading:
    """A running value, of a metric or a normalisation, and what is added to it."""
    return Reading(
        f"A running value of {text_of(left)} is to be changed by values of {text_of(right)}: what keeps it was made for another number of classes or features than comes"
        " (a metric whose num_classes is not the number of the model's outputs, moving averages of another width), or was made for one batch and is used for another.",
        "metric = F1Score(num_classes=model.output_shape[-1])      # as many classes as the last layer has units; one unit: a metric for binary labels\n"
        "model.compile(loss=LOSS, metrics=[metric])                # a metric belongs here, never into the loss: it has no gradient",
    )


def _by_element(short: Shape, long: Shape) -> Reading | None:
    """One value for each example beside several: shapes are aligned at their last axes."""
    if len(short) != 1 or len(long) < 2 or short[0] != long[0] or short[0] in {None, 1}:
        return None
    ones = ", tf.newaxis" * (len(long) - 1)
    return Reading(
        f"One value for each of {short[0]} examples {text_of(short)} meets {text_of(long)}: shapes are aligned at their last axes, so the axes"
        " behind the batch are missing (it works by chance with a batch of 1).",
        f"x = x[:{ones}]      # {text_of(short)} -> {text_of((*short, *(1,) * (len(long) - 1)))}, in the loss or layer that is named; or tf.reduce_sum(y, axis=[1, ...]) on the other side",
    )


def of_binary(left: Shape, right: Shape) -> Reading | None:
    """Shapes of different rank in a loss that wants one value of each for each value."""
    short, long = sorted((left, right), key=len)
    if len(long) - len(short) != 1 or not short or len(long) < 3 or long[len(long) - 1] == 1:
        return None
    return Reading(
        f"This loss wants labels and outputs of one shape, and one has {len(long)} dimensions {text_of(long)}, the other"
        f" {len(short)} {text_of(short)}: mostly the model gives a row for each step or place where the labels have one for each"
        " example (a Flatten, pooling or return_sequences=False is missing before the last layer), or labels of one axis less.",
        "x = keras.layers.Flatten()(x)      # or GlobalAveragePooling1D(), LSTM(..., return_sequences=False): before the last Dense\n"
        "print(dataset.element_spec[1], model.output_shape)      # must be equal",
    )
