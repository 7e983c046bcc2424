"""Which part of the configuration differs between a model and its checkpoint."""

from __future__ import annotations

import pytest

from tpudiag.known_errors.readings.checkpoint_shapes import read


def said(text: str) -> str:
    reading = read({}, text)
    return f"{reading.cause} {reading.fix}" if reading else ""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "Shapeofvariableshared/embedding:0((32128,512))doesn'tmatchwithshapeoftensorshared/embedding([32128,1024])fromcheckpointreader",
            "(512 wide) than the checkpoint's (1024)",
        ),
        (
            "Shapeofvariablebert/embeddings/word_embeddings:0((30522,768))doesn'tmatchwithshapeoftensora([21128,768])",
            "30522: BERT uncased against 21128: BERT Chinese",
        ),
        (
            "Shapeofvariablebert/embeddings/position_embeddings:0((1024,768))doesn'tmatchwithshapeoftensora([512,768])",
            "the longest sequence differs (1024 against 512)",
        ),
        ("lhsshape=[5]rhsshape=[1001]", "number of classes"),
        (
            "Tensor'sshape(300,800)isnotcompatiblewithsuppliedshape(768,800)",
            "[768, 800] in the model",
        ),
        ("lhsshape=[64,3]rhsshape=[64]", "another kind of layer"),
    ],
)
def test_differing_size_tells_the_setting(text: str, words: str) -> None:
    assert words in said(text)


def test_equal_or_missing_shapes_tell_nothing() -> None:
    assert said("lhsshape=[64]rhsshape=[64]") == ""
    assert said("Keydense/kernelnotfoundincheckpoint") == ""
