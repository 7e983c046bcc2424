"""SavedModels that are not there: one product of what comes in."""

from __future__ import annotations

from typing import Any

_FEATURES = 512
"""Width of what an unknown module answers."""


def saved_model(tf: Any) -> Any:
    """What tf.saved_model.load gives: means over all but the batch, times a matrix."""

    class Module(tf.Module):  # type: ignore[misc]
        """A model of one product."""

        def __init__(self) -> None:
            tf.Module.__init__(self)
            self.kernel = tf.Variable(tf.ones((1, _FEATURES)))

        def __call__(self, inputs: Any, *_: Any, **__: Any) -> Any:
            flat = tf.reshape(tf.cast(inputs, tf.float32), [tf.shape(inputs)[0], -1])
            return tf.reduce_mean(flat, axis=1, keepdims=True) * self.kernel

    return Module()
