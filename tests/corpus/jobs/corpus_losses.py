"""Losses of many_loss_scale_retrace.py."""

import tensorflow as tf


def scaled_cross_entropy(labels, logits, global_batch):
    per_example = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    return tf.nn.compute_average_loss(per_example, global_batch_size=global_batch)
