"""The variable that a checkpoint lacks says what the checkpoint is."""

from __future__ import annotations

import re

import pytest

from tpudiag.known_errors.readings.checkpoint_keys import read
from tpudiag.known_errors.search import match

MEANT = {
    "output_bias": "another run",
    "bert/encoder/layer_0/attention/self/key/kernel/adam_m": "belongs to the optimizer",
    "class_net/class-predict/bias/ExponentialMovingAverage": "moving average",
    "encoder/block_000/layer_000/SelfAttention/q": "body of the model",
}


@pytest.mark.parametrize("key", MEANT)
def test_missing_variable_is_told_by_its_name(key: str) -> None:
    found = match(f"NotFoundError: Key {key} not found in checkpoint")[0]
    assert re.search(MEANT[key], found.message), found.message


def test_name_that_says_nothing_is_left() -> None:
    assert read("Keyxyz123notfoundincheckpoint", 0, 10) is None
