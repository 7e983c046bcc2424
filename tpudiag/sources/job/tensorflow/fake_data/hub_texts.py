"""The models of TF Hub that take texts apart for a BERT, by their documented interface."""

from __future__ import annotations

from typing import Any

_TOKENS = 28_000
"""Below the size of every vocabulary."""
_FIRST, _START, _END = 1000, 101, 102
"""Of the words that are not special; the marks of a text's begin and end."""
LENGTH = 128
"""Tokens of a text, where nothing else is asked for."""


def preprocessing(tf: Any, layer: Any) -> Any:
    """The layer's class: texts to `input_word_ids`, `input_mask` and `input_type_ids`."""

    class Preprocessing(layer):  # type: ignore[misc]
        """A model that takes texts apart, or one of its functions as a layer of its own."""

        def __init__(self, handle: Any = "", arguments: Any = None, **kwargs: Any) -> None:
            kept = {key: kwargs[key] for key in ("name", "dtype") if key in kwargs}
            layer.__init__(self, trainable=False, **kept)
            self._function = handle if callable(handle) else None
            self._arguments = dict(arguments or {})

        def call(self, inputs: Any, **_: Any) -> Any:
            if self._function is not None:
                return self._function(inputs, **self._arguments)
            return self.bert_pack_inputs([self.tokenize(inputs)])

        def tokenize(self, texts: Any) -> Any:
            """Words as ragged numbers: `[texts, words, 1]`."""
            # One text alone is taken, too, as the real ones do.
            words = tf.strings.split(tf.reshape(texts, [-1]))
            numbers = tf.strings.to_hash_bucket_fast(words.flat_values, _TOKENS - _FIRST) + _FIRST
            ids = words.with_flat_values(tf.cast(numbers, tf.int32))
            return tf.expand_dims(ids, -1)

        def bert_pack_inputs(self, segments: Any, seq_length: Any = LENGTH, **_: Any) -> Any:
            """Tokenized texts side by side, cut and padded: three tensors `[texts, seq_length]`."""
            parts = [each.merge_dims(1, -1) if each.shape.rank > 2 else each for each in segments]
            end = tf.fill([parts[0].nrows(), 1], _END)
            rows = [tf.fill([parts[0].nrows(), 1], _START)]
            for part in parts:
                rows += [tf.cast(part, tf.int32), end]
            joined = tf.concat(rows, axis=1)
            ids = joined.to_tensor(shape=[None, seq_length])
            mask = tf.cast(ids > 0, tf.int32)
            return {
                "input_word_ids": ids,
                "input_mask": mask,
                "input_type_ids": tf.zeros_like(ids),
            }

    return Preprocessing
