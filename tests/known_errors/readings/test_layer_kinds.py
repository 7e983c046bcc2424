# ruff: noqa: E501  (texts of other programs stay as they are)
"""What a layer of a known kind wants, by the number of dimensions that it gets."""

from __future__ import annotations

import pytest

from tpudiag.known_errors.search import match


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "ValueError: Input 0 is incompatible with layer flatten_2: expected min_ndim=3, found ndim=2",
            "flat already",
        ),
        (
            "ValueError: Input 0 is incompatible with layer conv2d_1: expected ndim=4, found ndim=3",
            "without their axis of channels",
        ),
        (
            'Input 0 of layer "lstm_3" is incompatible with the layer: expected ndim=3, found ndim=2. Full shape received: (None, 64)',
            "returns only its last step",
        ),
        (
            "Input 0 of layer mine is incompatible with the layer: : expected min_ndim=2, found ndim=1.",
            "one example comes without a batch",
        ),
        (
            "Input 0 of layer sequential is incompatible with the layer: : expected ndim=4, found ndim=5. Full shape received: [None, None, 8, 8, 3]",
            "batched twice",
        ),
    ],
)
def test_the_kind_of_layer_and_what_it_gets_decide(text: str, said: str) -> None:
    assert said in match(text)[0].message
