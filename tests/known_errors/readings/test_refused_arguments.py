"""What an argument takes whose value was refused."""

from __future__ import annotations

import pytest

from tpudiag.known_errors.readings.refused_arguments import read


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("ValueError:`steps_per_epoch`mustbeaninteger,received3.5", "(it got 3.5)"),
        ("ValueError:yargumentisnotsupportedwhenusingdatasetasinput", "no y="),
        ("invalidvaluefor`units`,expectedapositiveinteger.Received:units=128.0", "it got 128.0"),
        ("`validation_split`isonlysupportedforTensors", "split by hand"),
        ("Onlycall`softmax`withnamedarguments(labels=...,logits=...", "labels=labels"),
    ],
)
def test_argument_is_told_by_its_name(text: str, words: str) -> None:
    reading = read("argument-refused", {}, text)
    assert reading is not None and words in f"{reading.cause} {reading.fix}"


def test_unknown_argument_tells_nothing() -> None:
    assert read("argument-refused", {"argument": "frobnicator"}, "`frobnicator`mustbeodd") is None
