"""A SavedModel that is not there, of tokenizers for two languages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.slow

PROGRAM = """
import json, tempfile
import tensorflow as tf
from tpudiag.sources.job.tensorflow.fake_data import saved_models
model = saved_models.saved_model(tf)
texts = tf.constant(["one two three", "four"])
ids = model.en.tokenize(texts)
kept = tf.Module(); kept.model = model
kept.call = tf.function(lambda text: model.en.detokenize(model.en.tokenize(text)),
                        input_signature=[tf.TensorSpec([None], tf.string)])
tf.saved_model.save(kept, folder := tempfile.mkdtemp())
print(json.dumps({
    "lengths": ids.row_lengths().numpy().tolist(), "first": ids[0, 0].numpy().item(),
    "largest": tf.reduce_max(ids).numpy().item(), "size": model.en.get_vocab_size().numpy().item(),
    "words": model.pt.lookup(ids).row_lengths().numpy().tolist(),
    "saved": tf.saved_model.load(folder).call(texts).shape.as_list(),
    "parts": "en" in vars(saved_models.saved_model(tf)),
}))
"""


def test_tokenizers_by_language(in_tensorflow: Callable[[str], Any]) -> None:
    seen = in_tensorflow(PROGRAM)
    assert seen["lengths"] == [5, 3] == seen["words"], "words between two marks"
    assert seen["first"] == 2 and seen["largest"] < seen["size"]
    assert seen["saved"] == [2], "a model that holds them is saved and loaded"
    assert not seen["parts"], "a part is made when it is asked for"
