"""Calls with other arguments than a function takes are told by the function that is called."""

from __future__ import annotations

import pytest

from tpudiag.known_errors.search import match

MEANT = {
    "reduce() missing 1 required positional argument: 'per_replica_value'": "Class() in place of",
    "train_step() takes 1 positional argument but 2 were given": "args=(batch,)",
    "tf__train_step() missing 1 required positional argument: 'labels'": "args=(images, labels)",
    "__init__() missing 1 required positional argument: 'units'": "get_config",
    "call() missing 1 required positional argument: 'memory'": "memory = inputs",
    "<lambda>() takes 1 positional argument but 2 were given": "lambda x, y",
    "my_loss() missing 1 required positional argument: 'weights'": "lambda y_true, y_pred",
}


@pytest.mark.parametrize("text", MEANT)
def test_calls_are_read(text: str) -> None:
    assert MEANT[text] in match(f"TypeError: {text}")[0].fix
