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


@pytest.mark.parametrize(
    ("built", "here", "age"), [("0x10", "0xf", "too old"), ("a", "d", "older")]
)
def test_the_older_of_two_is_told_by_their_numbers(built: str, here: str, age: str) -> None:
    said = f"module compiled against API version {built} but this version of numpy is {here}"
    found = match(f"RuntimeError: {said}\nImportError: numpy.core.multiarray failed to import")[0]
    assert found.reading is not None and age in found.reading.cause


def test_argument_of_another_function_is_left() -> None:
    found = match("TypeError: my_function() got an unexpected keyword argument 'tape'")[0]
    assert found.reading is None
