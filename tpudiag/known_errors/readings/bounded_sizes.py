# ruff: noqa: E501  (what is pasted stays in one piece)
"""A dimension of a compiled step of which only the bound is known."""

from __future__ import annotations

import re

from .meaning import Reading

_BOUNDED = re.compile(r"[\[(]((?:(?:<=)?\d{1,9},){0,7}(?:<=)?\d{1,9})[\])]")


def read(_: dict[str, str], text: str) -> Reading | None:
    """Which dimension is known by its bound alone: the batch, or a length."""
    for shape in _BOUNDED.finditer(text):
        sizes = shape[1].split(",")
        bounded = [at for at, size in enumerate(sizes) if size.startswith("<=")]
        if not bounded:
            continue
        most = sizes[bounded[0]].removeprefix("<=")
        if re.search(r"all-?reduce|CrossReplicaSum", text):
            return Reading(
                f"[{shape[1]}] is summed over the replicas (all-reduce): a gradient or a metric, of which dimension {bounded[0]} has at most {most} entries. It is cut by a length that differs from batch to batch (positions up to the sequence's end, rows of a table), or grows with the data.",
                f"positions = tf.range({most})                          # all of them, and a mask, in place of tf.range(tf.shape(x)[1]) or weights[:length]\n"
                f"dataset = dataset.padded_batch(global_batch, padded_shapes=([{most}], []), drop_remainder=True)",
            )
        if bounded == [0]:
            return Reading(
                f"In [{shape[1]}] dimension 0, the batch, has at most {most}: the last batch of the data (or of predict and evaluate) is smaller.",
                "dataset = dataset.batch(global_batch, drop_remainder=True)      # also for validation_data, evaluate and predict\n"
                "keras.Input(shape=SHAPE_OF_ONE_EXAMPLE, batch_size=None)         # and no batch size written into the model",
            )
        return Reading(
            f"In [{shape[1]}] dimension {bounded[0]} has at most {most}: a length or size that differs from batch to batch (sequences, images, boxes, or tf.where, boolean_mask and unique in the step).",
            f"dataset = dataset.padded_batch(global_batch, padded_shapes=([{most}], []), drop_remainder=True)      # one length for all; tf.image.resize for images",
        )
    return None
