"""Failures of age are told apart, with the release that has what is gone."""

from __future__ import annotations

import pytest

from tpudiag.diagnoses.older_release import advice


@pytest.mark.parametrize(
    ("error", "name", "release"),
    [
        ("ModuleNotFoundError: No module named 'keras.layers.core'", "keras.layers.core", "2.15"),
        ("ImportError: cannot import name 'pad' from 'keras.utils.np' (/x)", "pad", "2.15"),
        ("AttributeError: module 'keras._tf_keras.keras' has no attribute 'Foo'", "Foo", "2.15"),
        ("ValueError: Argument(s) not recognized: {'lr': 0.001}", "lr", "2.15"),
        (
            "ValueError: A KerasTensor cannot be used as input to a TensorFlow function",
            "Keras",
            "2.15",
        ),
        ("ModuleNotFoundError: No module named 'tensorflow_addons'", "addons", "2.15"),
        ("AttributeError: module 'tensorflow' has no attribute 'estimator'", "estimator", "2.15"),
        ("ImportError: cannot import name 'TFBertModel' from 'transformers'", "TFBertModel", "<5"),
    ],
)
def test_the_release_that_has_it_is_named(error: str, name: str, release: str) -> None:
    text = advice(error)
    assert text is not None and f"{name}" in text and release in text and "--python" in text


def test_what_is_not_in_a_release_that_is_old_enough_is_not_gone() -> None:
    error = "AttributeError: module 'tensorflow.keras' has no attribute '__version__'"
    assert advice(error, "2.15.1") is None and advice(error, "2.19.0") is not None


@pytest.mark.parametrize(
    "error",
    [
        "ModuleNotFoundError: No module named 'cv2'",
        "AttributeError: 'NoneType' object has no attribute 'shape'",
        "ImportError: cannot import name 'x' from 'mine'",
        "AttributeError: module 'tensorflow' has no attribute 'placeholder'",
        "NameError: name 'keras' is not defined",
    ],
)
def test_other_errors_are_of_no_age(error: str) -> None:
    assert advice(error) is None
