"""Arguments that came with a release name it, and are meant of their own functions only."""

import re

import pytest

from tpudiag.known_errors.search import match

MEANT = {
    "LeakyReLU.__init__() got an unexpected keyword argument 'negative_slope'": "alpha",
}


@pytest.mark.parametrize("text", MEANT)
def test_argument_names_its_release(text: str) -> None:
    found = match(f"TypeError: {text}")[0]
    assert found.reading is not None
    assert re.search(MEANT[text], found.fix), found.fix


def test_argument_of_another_function_is_left() -> None:
    found = match("TypeError: my_function() got an unexpected keyword argument 'tape'")[0]
    assert found.reading is None
