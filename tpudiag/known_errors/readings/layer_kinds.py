# ruff: noqa: E501  (what is pasted stays in one piece)
"""A layer of a known kind that gets another number of dimensions than it takes."""

from __future__ import annotations

import re

from .meaning import Reading

_LAYER = re.compile(
    r"layer['\"]?(?:model/|sequential/)?(?P<name>[a-z][a-z_]{2,40}?(?:[123]d)?(?:_[a-z]{2,20})?)(?:_\d{1,5})?['\"]?(?:isincompatible|:)",
    re.IGNORECASE,
)
_Row = tuple[str, str]

_STEPS = r"lstm|gru|rnn|bidirectional|cu_?dnn_?(?:lstm|gru)|conv1d|conv1d_lstm|(?:max|average|global)_?(?:max|average)?_?pooling1d|separable_conv1d"
_MAPS = r"(?:separable_|depthwise_)?conv2d(?:_transpose)?|depthwise_conv2d|(?:max|average|global)_?(?:max|average)?_?pooling2d|up_sampling2d|zero_padding2d"
_VOLUMES = r"conv3d(?:_transpose)?|(?:max|average|global)_?(?:max|average)?_?pooling3d|conv_lstm2d"
_FLAT = r"flatten"
_DENSE = r"dense|sequential|model|functional"

_ROWS: tuple[tuple[str, dict[int, _Row]], ...] = (
    (
        _STEPS,
        {
            1: (
                "one sequence alone is given, or single numbers: it takes (batch, steps, features)",
                "x = x[tf.newaxis, :, tf.newaxis]      # one sequence of one feature; dataset.batch(N) for many",
            ),
            2: (
                "it takes (batch, steps, features): rows of features (a table) come without an axis of steps, or the recurrent layer before it returns only its last step",
                "x = x[..., tf.newaxis]                                        # (batch, steps) -> (batch, steps, 1): each column a step\n"
                "keras.layers.LSTM(UNITS, return_sequences=True)               # of stacked recurrent layers: every one but the last",
            ),
            4: (
                "it takes (batch, steps, features) and gets one axis more: images, sequences of sequences (an Embedding of ids that have two axes already, words in sentences), or data of (n, 1, steps, features) given to an Input whose shape holds the number of examples",
                "x = keras.layers.TimeDistributed(keras.layers.LSTM(UNITS))(x)      # sentences of words: the inner layer for each sentence, the next one over the sentences\n"
                "x = keras.layers.Reshape((-1, x.shape[-1]))(x)                     # maps as one sequence of steps\n"
                "inputs = keras.Input(shape=x_train.shape[1:])                      # the shape of one example: without the number of examples",
            ),
        },
    ),
    (
        _MAPS,
        {
            2: (
                "it takes (batch, height, width, channels), and what comes is flat: a Flatten or Dense stands before it, or the data are rows of pixels",
                "x = keras.layers.Reshape((HEIGHT, WIDTH, CHANNELS))(x)      # or no Flatten before a convolution; the data: x.reshape(-1, HEIGHT, WIDTH, CHANNELS)",
            ),
            3: (
                "it takes (batch, height, width, channels): grey images come without their axis of channels, one image without a batch, or input_shape holds two numbers (channels_first data, or a script for another backend of Keras, look the same)",
                "x = x[..., tf.newaxis]                                # grey images: (batch, 28, 28) -> (batch, 28, 28, 1), and input_shape=(28, 28, 1)\n"
                "model.predict(image[tf.newaxis])                      # one image: a batch of one",
            ),
            5: (
                "it takes (batch, height, width, channels) and gets one axis more: a batch of batches, or frames of videos",
                "dataset = dataset.unbatch().batch(global_batch, drop_remainder=True)      # batched once; input_shape without the number of examples\n"
                "x = keras.layers.TimeDistributed(keras.layers.Conv2D(32, 3))(x)           # frames: the layer for each of them",
            ),
        },
    ),
    (
        _VOLUMES,
        dict.fromkeys(
            (1, 2, 3, 4),
            (
                "it takes (batch, depth or steps, height, width, channels): an axis is missing (channels of grey volumes, the batch of one, frames), or input_shape was not given whole",
                "inputs = keras.Input(shape=(DEPTH, HEIGHT, WIDTH, CHANNELS))      # four numbers\n"
                "x = x[..., tf.newaxis]                                            # grey volumes; x[tf.newaxis] for one alone",
            ),
        ),
    ),
    (
        _FLAT,
        {
            2: (
                "what comes is flat already: the layer before is a Flatten, a Dense or a global pooling (a base model with pooling='avg' or include_top=True)",
                "base = Base(include_top=False, pooling=None, input_shape=SHAPE)      # maps, for a Flatten behind it\n"
                "x = keras.layers.Dense(UNITS)(base.output)                           # or with pooling='avg': no Flatten at all",
            ),
        },
    ),
    (
        _DENSE,
        {
            1: (
                "it takes (batch, features): one example comes without a batch, or the dataset is not batched",
                "model(x[tf.newaxis])                                  # one example: x.reshape(1, -1)\n"
                "dataset = dataset.batch(global_batch, drop_remainder=True)      # elements of from_tensor_slices have no batch",
            ),
        },
    ),
    (
        r"time_distributed",
        {
            4: (
                "TimeDistributed goes over axis 1, and what comes has one axis more than the layer inside it was built for (a script of Keras 1, whose Dense and LSTM gave fewer; a sequence of sequences)",
                "x = keras.layers.Dense(UNITS)(x)      # on the last axis by itself: TimeDistributed(Dense) is not needed\n"
                "print(x.shape)                        # before it: (batch, steps, features) for a layer of rows",
            ),
            2: (
                "TimeDistributed goes over axis 1 of (batch, steps, ...): the recurrent layer before it returns only its last step",
                "keras.layers.LSTM(UNITS, return_sequences=True)",
            ),
        },
    ),
)


def read(text: str, begin: int, wanted: int, got: int) -> Reading | None:
    """What mostly is behind it for the kind of layer that the text names before `begin` or behind."""
    named = _LAYER.search(text, max(0, begin - 80), begin + 160)
    if named is None:
        return None
    kind = named["name"].lower()
    if wanted == 2 and got == 1:
        kind = "dense"  # whatever it is called
    for kinds, rows in _ROWS:
        if re.fullmatch(kinds, kind) and (row := rows.get(got)):
            return Reading(
                f"`{kind}` wants {wanted} dimensions with the batch's and gets {got}: {row[0]}.",
                row[1],
            )
    return None
