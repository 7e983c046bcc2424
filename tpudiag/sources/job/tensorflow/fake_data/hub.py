"""TF Hub: a layer that answers with features of a plausible width, or with the tokens of a text."""

import os
import re
from typing import Any

from tpudiag.sources.job.points import Call, Library, hooks, table
from tpudiag.sources.job.points.library_objects import Tensor

from .asking import by_user, taken_apart
from .holes import Hole
from .ledger import Ledger

_FEATURES = 512
"""Width of what an unknown module answers."""
_TOKENS = 128
"""Of a text that a preprocessing model takes apart."""
_INPUTS = ("input_word_ids", "input_mask", "input_type_ids")
"""What models of TF Hub for texts are given, as their interface has it."""


def install(tf: Library, hub: Library, ledger: Ledger) -> None:
    """Stand in for hub.KerasLayer and hub.load."""
    layer: Any = hub.KerasLayer.__mro__[1]  # of the Keras that the package itself uses
    real_layer = hub.KerasLayer
    plain = layer.__new__ is object.__new__

    class KerasLayer(layer):  # type: ignore[misc]
        """Means over all but the batch, times a trained matrix; of texts, their tokens."""

        def __new__(cls, handle: object = "", *args: Any, **kwargs: Any) -> Any:
            loaded = callable(handle) and not isinstance(handle, Hole)
            if loaded or (isinstance(handle, str) and os.path.isdir(handle)):
                return real_layer(handle, *args, **kwargs)
            return layer.__new__(cls) if plain else layer.__new__(cls, handle, *args, **kwargs)

        def __init__(self, handle: object = "", trainable: bool = False, **kwargs: object) -> None:
            kept = {key: kwargs[key] for key in ("name", "dtype", "input_shape") if key in kwargs}
            layer.__init__(self, trainable=trainable, **kept)
            ledger.note(f"TF Hub {handle}", "model")
            named = re.search(r"H-(\d+)", str(handle))
            # Of several tensors it is a list of shapes.
            told: Any = kwargs.get("output_shape")
            last: Any = told[-1] if told and hasattr(told, "__getitem__") else None
            self._width = last if isinstance(last, int) else int(named[1]) if named else _FEATURES
            self._prepares = "preprocess" in str(handle)
            self._outputs = 0

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_") or not by_user():
                raise AttributeError(name)
            return Hole()  # what the module itself would have

        def build(self, input_shape: object) -> None:
            self._outputs = taken_apart()  # by the line that calls it first
            self._kernel = self.add_weight(
                name="kernel",
                shape=(1, self._width),
                initializer="glorot_uniform",
                dtype="float32",  # the layer's own may be that of the texts it is given
            )
            layer.build(self, input_shape)

        def tokenize(self, texts: Tensor) -> object:
            """The tokens of texts, as modules that prepare texts offer them apart."""
            return tf.ones([tf.shape(texts)[0], _TOKENS], tf.int32)

        def bert_pack_inputs(self, segments: Any, seq_length: object = _TOKENS) -> object:
            """What a model is given, of the tokens of one or more segments."""
            tokens = tf.ones([tf.shape(segments[0])[0], seq_length], tf.int32)
            return dict.fromkeys(_INPUTS, tokens)

        def call(self, inputs: Any, **_: object) -> object:
            answer = self._answer(inputs)
            several = isinstance(inputs, (dict, list, tuple))
            return answer if several or not self._outputs else [answer] * self._outputs

        def _answer(self, inputs: Any) -> Any:
            if self._prepares:
                return self.bert_pack_inputs([inputs])
            named = isinstance(inputs, dict)
            listed = isinstance(inputs, (list, tuple))
            if listed and isinstance(inputs[0], str):
                inputs, listed = tf.constant(inputs), False
            if named or listed:
                words = inputs["input_word_ids" if named else 0]
                sequence = tf.cast(words, self._kernel.dtype)[..., None] * self._kernel[None]
                pooled = tf.reduce_mean(sequence, axis=1)
                outputs = {"pooled_output": pooled, "sequence_output": sequence}
                if listed:  # an older interface
                    return [*outputs.values()]
                return {**outputs, "default": pooled, "encoder_outputs": [sequence]}
            if getattr(inputs, "dtype", None) == tf.string:
                inputs = tf.ones(tf.shape(inputs))
            flat = tf.reshape(tf.cast(inputs, self._kernel.dtype), [tf.shape(inputs)[0], -1])
            return tf.reduce_mean(flat, axis=1, keepdims=True) * self._kernel

    hooks.stand_in(table.HUB_LAYER, KerasLayer)

    def load(real_load: Call, handle: object, *args: object, **kwargs: object) -> object:
        """The module as a layer."""
        here = isinstance(handle, str) and os.path.isdir(handle)
        return real_load(handle, *args, **kwargs) if here else KerasLayer(handle)

    hooks.around(table.HUB_LOADED, load)
