"""TF Hub: a layer that answers with features of a plausible width, or takes texts apart."""

from __future__ import annotations

import os
import re
from typing import Any

from tpudiag.sources.job.points import hooks, table

from .holes import taken_apart
from .hub_texts import preprocessing
from .ledger import Ledger

_FEATURES = 512
"""Width of what an unknown module answers."""


def install(tf: Any, hub: Any, ledger: Ledger) -> None:
    """Stand in for hub.KerasLayer and hub.load."""
    layer: Any = hub.KerasLayer.__mro__[1]  # of the Keras that the package itself uses

    of_texts = preprocessing(tf, layer)
    real_layer = hub.KerasLayer
    plain = layer.__new__ is object.__new__

    class KerasLayer(layer):  # type: ignore[misc]
        """Means over all but the batch, times a trained matrix; of texts, their tokens."""

        def __new__(cls, handle: Any = "", *args: Any, **kwargs: Any) -> Any:
            if _is_here(handle):
                return real_layer(handle, *args, **kwargs)
            if callable(handle):
                return of_texts(handle, **kwargs)
            if "preprocess" in str(handle):
                ledger.note(f"TF Hub {handle}")
                return of_texts(handle, **kwargs)
            return layer.__new__(cls) if plain else layer.__new__(cls, handle, *args, **kwargs)

        def __init__(self, handle: Any = "", trainable: bool = False, **kwargs: Any) -> None:
            kept = {key: kwargs[key] for key in ("name", "dtype", "input_shape") if key in kwargs}
            layer.__init__(self, trainable=trainable, **kept)
            if isinstance(handle, str):
                ledger.note(f"TF Hub {handle}", "model")
            named = re.search(r"H-(\d+)", str(handle))
            self._width = int(named[1]) if named else _FEATURES

        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            answer: Any = layer.__call__(self, *args, **kwargs)
            taken = taken_apart()
            # A module that answers several tensors shows in the line that calls it.
            one = taken < 2 or hasattr(answer, "items")
            return answer if one else (answer,) * taken

        def build(self, input_shape: Any) -> None:
            self._kernel = self.add_weight(
                name="kernel", shape=(1, self._width), initializer="glorot_uniform"
            )
            layer.build(self, input_shape)

        def call(self, inputs: Any, **_: Any) -> Any:
            if isinstance(inputs, dict):
                return self._encoded(inputs)
            if getattr(inputs, "dtype", None) == tf.string:
                inputs = tf.cast(tf.strings.length(inputs), tf.float32)
            return self._features(inputs)

        def _features(self, inputs: Any) -> Any:
            flat = tf.reshape(tf.cast(inputs, self._kernel.dtype), [tf.shape(inputs)[0], -1])
            return tf.reduce_mean(flat, axis=1, keepdims=True) * self._kernel

        def _encoded(self, inputs: Any) -> dict[str, Any]:
            words = tf.cast(inputs["input_word_ids"], self._kernel.dtype)
            sequence = words[..., None] * self._kernel[None]
            pooled = tf.reduce_mean(sequence, axis=1)
            outputs = {"pooled_output": pooled, "sequence_output": sequence}
            return {**outputs, "default": pooled, "encoder_outputs": [sequence]}

    hooks.stand_in(table.HUB_LAYER, KerasLayer)

    def load(real_load: Any, handle: Any, *args: Any, **kwargs: Any) -> Any:
        """The module as a layer."""
        return real_load(handle, *args, **kwargs) if _is_here(handle) else KerasLayer(handle)

    hooks.around(table.HUB_LOADED, load)


def _is_here(handle: Any) -> bool:
    """Whether a module lies in a folder of this machine."""
    return isinstance(handle, str) and os.path.isdir(handle)  # noqa: PTH112
