"""SavedModels that are not there: one product of what comes in, or tokenizers by language."""

from __future__ import annotations

from typing import Any

from tpudiag.sources.job.points import user_lines

_FEATURES = 512
"""Width of what an unknown module answers."""
_WORDS = 8000
"""Size of a tokenizer's vocabulary."""
_START, _END, _FIRST = 2, 3, 4
"""The marks of a text's begin and end, and the first number of a word."""


def saved_model(tf: Any) -> Any:
    """What tf.saved_model.load gives: means over all but the batch, times a matrix.

    A part of it that is asked for is a tokenizer, as they are saved for a pair of languages.
    """

    class Module(tf.Module):  # type: ignore[misc]
        """A model of one product."""

        def __init__(self) -> None:
            tf.Module.__init__(self)
            self.kernel = tf.Variable(tf.ones((1, _FEATURES)))

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_") or user_lines.direct_caller() is None:
                raise AttributeError(name)
            part = _tokenizer(tf)
            setattr(self, name, part)
            return part

        def __call__(self, inputs: Any, *_: Any, **__: Any) -> Any:
            flat = tf.reshape(tf.cast(inputs, tf.float32), [tf.shape(inputs)[0], -1])
            return tf.reduce_mean(flat, axis=1, keepdims=True) * self.kernel

    return Module()


def _tokenizer(tf: Any) -> Any:
    """A tokenizer of words, by what the documented one of TensorFlow Text answers."""

    class Tokenizer(tf.Module):  # type: ignore[misc]
        """Texts to numbers and back; its words are numbers."""

        def tokenize(self, texts: Any) -> Any:
            """Ragged numbers `[texts, tokens]`, between the marks of begin and end."""
            words = tf.strings.split(tf.reshape(texts, [-1]))
            numbers = tf.strings.to_hash_bucket_fast(words.flat_values, _WORDS - _FIRST) + _FIRST
            ids = words.with_flat_values(numbers)
            ends = tf.fill([ids.nrows(), 1], tf.constant(_END, tf.int64))
            return tf.concat([tf.fill(tf.shape(ends), tf.constant(_START, tf.int64)), ids, ends], 1)

        def lookup(self, ids: Any) -> Any:
            """Each number's word."""
            if isinstance(ids, tf.RaggedTensor):
                return ids.with_flat_values(tf.strings.as_string(ids.flat_values))
            return tf.RaggedTensor.from_tensor(tf.strings.as_string(ids))

        def detokenize(self, ids: Any) -> Any:
            """One text for each row of numbers."""
            return tf.strings.reduce_join(self.lookup(ids), axis=-1, separator=" ")

        def get_vocab_size(self) -> Any:
            """How many numbers there are."""
            return tf.constant(_WORDS)

        def get_vocab_path(self) -> Any:
            """The file of the words, which is not there."""
            return tf.constant("vocabulary.txt")

        def get_reserved_tokens(self) -> Any:
            """The marks."""
            return tf.constant(["[PAD]", "[UNK]", "[START]", "[END]"])

    return Tokenizer()
