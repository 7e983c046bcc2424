"""Synthetic, learnable examples, and the tf.data pipeline as it should be."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import tensorflow as tf

Example = tuple[Any, Any]


@dataclass(frozen=True)
class DataSpec:
    """The examples that a model learns from: shape and dtype of one, and the classes."""

    shape: tuple[int, ...]
    classes: int
    vocabulary: int = 0
    """Above 0: the examples are token ids below it, not real numbers."""
    examples: int = 8192


def example(index: Any, spec: DataSpec) -> Example:
    """Example number `index`: its class's fixed pattern under noise, and the class.

    Stateless random numbers: the same index gives the same example on every host.
    """
    label = tf.cast(index % spec.classes, tf.int32)
    own = tf.stack([tf.cast(index, tf.int32), 1])
    shared = tf.stack([label, 2])
    if spec.vocabulary:
        tokens = tf.random.stateless_uniform(spec.shape, own, 0, spec.vocabulary, tf.int32)
        words = tf.random.stateless_uniform(spec.shape, shared, 0, spec.vocabulary, tf.int32)
        keep = tf.random.stateless_uniform(spec.shape, own) < 0.5
        return tf.where(keep, tokens, words), label
    noise = tf.random.stateless_normal(spec.shape, own)
    return noise + tf.random.stateless_normal(spec.shape, shared), label


def pipeline(spec: DataSpec, global_batch: int) -> Any:
    """Endless batches: (float32 or int32[global_batch, *shape], int32[global_batch])."""
    options = tf.data.Options()
    # There are no files here, which AUTO would look for before it falls back to this.
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.DATA
    return (
        tf.data.Dataset.range(max(spec.examples, global_batch))
        .map(partial(example, spec=spec), num_parallel_calls=tf.data.AUTOTUNE)
        # In this order: before the shuffle, so that each pass is in another order; repeated before
        # it is batched, so that no pass ends in a short batch.
        .cache()
        .shuffle(spec.examples)
        .repeat()
        .batch(global_batch, drop_remainder=True)
        .prefetch(tf.data.AUTOTUNE)
        .with_options(options)
    )
