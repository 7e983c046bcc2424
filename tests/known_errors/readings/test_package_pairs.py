# ruff: noqa: E501  (texts of other programs stay as they are)
"""Pairs of packages that a text names."""

from __future__ import annotations

import pytest

from tpudiag.known_errors.search import match


@pytest.mark.parametrize(
    ("text", "cause", "fix"),
    [
        (
            "boto 2.4.1 requires six>=1.12, but you have six 1.10.0 which is incompatible.",
            "boto 2.4.1 wants six>=1.12, and six 1.10.0 is installed",
            'pip install "six>=1.12"',
        ),
        (
            "tensorflow 2.15.0 requires numpy<2.0.0,>=1.23.5, but you have numpy 2.1.0 which is incompatible.",
            "tensorflow 2.15.0 wants numpy<2.0.0,>=1.23.5, and numpy 2.1.0 is installed",
            'pip install "numpy<2.0.0,>=1.23.5"',
        ),
        (
            "ImportError: This version of TensorFlow Probability requires TensorFlow version >= 2.5;"
            " Detected an installation of version 2.3.1. Please upgrade TensorFlow to proceed.",
            "is for TensorFlow 2.5 and later, and TensorFlow here is 2.3",
            "tensorflow-probability==0.11.*",
        ),
    ],
)
def test_a_pair_is_named_with_what_fits(text: str, cause: str, fix: str) -> None:
    answer = match(text)[0]
    assert cause in answer.message
    assert fix in answer.fix


@pytest.mark.parametrize("release", ["0.2.5", "2.17.3"])
def test_a_pair_that_is_not_known_is_not_made_up(release: str) -> None:
    text = (
        "ImportError: This version of TensorFlow Probability requires TensorFlow version >= 3.1;"
        f" Detected an installation of version {release}. Please upgrade TensorFlow to proceed."
    )
    assert "tensorflow-probability==" not in match(text)[0].fix.split("# if that is not it")[0]
