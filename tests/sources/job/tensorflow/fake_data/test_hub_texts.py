"""Texts for a BERT of TF Hub that cannot be reached."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.slow

PROGRAM = """
import json
import tensorflow as tf
from tpudiag.sources.job.tensorflow.fake_data.hub_texts import preprocessing

made = preprocessing(tf, tf.keras.layers.Layer)
whole = made("https://tfhub.dev/t/preprocess/3")
packer = made(whole.bert_pack_inputs, arguments={"seq_length": 12})
words = whole.tokenize(tf.constant(["a b c", "a"]))
packed = packer.call([words, words])
print(json.dumps({
    "words": words.bounding_shape().numpy().tolist(),
    "whole": {k: part.shape.as_list() for k, part in whole.call(tf.constant(["a b"])).items()},
    "packed": [part.numpy().astype(bool).sum(axis=1).tolist() for part in packed.values()],
    "alone": whole.tokenize(tf.constant("a b")).bounding_shape().numpy().tolist(),
    "same": bool(tf.reduce_all(words[0][0] == words[1][0])),
}))
"""


def test_texts_are_cut_into_words_and_packed_as_a_bert_wants_them(
    in_tensorflow: Callable[[str], Any],
) -> None:
    seen = in_tensorflow(PROGRAM)
    assert seen["words"] == [2, 3, 1] and seen["same"]
    assert seen["alone"] == [1, 2, 1]
    names = ("input_word_ids", "input_mask", "input_type_ids")
    assert seen["whole"] == {name: [1, 128] for name in names}
    assert seen["packed"] == [[9, 5], [9, 5], [0, 0]], "with the marks of begin and ends"
