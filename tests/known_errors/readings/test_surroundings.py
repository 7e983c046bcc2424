# ruff: noqa: E501  (texts of other programs stay as they are)
"""What stands around an error decides what its sentence leaves open."""

from __future__ import annotations

from tpudiag.known_errors.readings import SURROUNDED_FAMILIES
from tpudiag.known_errors.readings.surroundings import families, read
from tpudiag.known_errors.search import match

KERAS3 = 'File "/venv/keras/src/layers/layer.py", line 223, in build_wrapper\n'
MEANT = {
    'File "/venv/transformers/modeling_tf_utils.py", line 2919, in from_pretrained\n'
    f"{KERAS3}TypeError: 'NoneType' object is not callable": "TF_USE_LEGACY_KERAS",
    "with strategy.scope():\n  model = tf.keras.models.load_model('m.h5')\nAttributeError: 'NoneType' object has no attribute 'merge_call'": "compile=False",
    "Key: segment_ids.  Can't parse serialized Example.": "max_seq_length",
    "x = tf.numpy_function(f, [i], tf.float32)\nValueError: Cannot take the length of shape with unknown rank.": "def load(path)",
    "ckpt.read('bert_model.ckpt')\nAssertionError: Some objects had attributes which were not restored:\n <tf.Variable 'w:0'": "checkpoint_converter",
    "hub.KerasLayer(H)\nValueError: Variable (<tf.Variable 'w:0'>) was not created in the distribution strategy scope of (<TPUStrategy>)": "HANDLE",
    "def __getitem__(self, i):\n    ...\nValueError: None values not supported.": "sequence[0]",
    "ValueError: The layer does not support RaggedTensor inputs for the `images` argument.": "resize_with_pad",
}


def test_an_error_is_read_with_what_stands_around_it() -> None:
    for text, words in MEANT.items():
        assert words in match(text)[0].fix, text


def test_without_it_the_sentence_alone_is_read() -> None:
    for text, words in MEANT.items():
        answers = match(text.rsplit("\n", 1)[-1])
        if "\n" in text:
            assert not answers or words not in answers[0].fix


def test_a_cause_that_an_error_names_itself_is_not_overruled() -> None:
    around = 'transformers/modeling_tf_utils.py",line1keras/src/layers/layer.py",line2'
    assert read("tpu-busy", around, broad=False) is None
    assert read("tpu-busy", around, broad=True) is not None


def test_the_families_that_are_asked_about_are_those_of_the_rules() -> None:
    assert families() == set(SURROUNDED_FAMILIES)
