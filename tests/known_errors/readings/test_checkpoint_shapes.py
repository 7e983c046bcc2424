"""Which part of the configuration differs between a model and its checkpoint."""

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
        ("lhsshape=[5]rhsshape=[1001]", "number of classes"),
        (
            "Tensor'sshape(300,800)isnotcompatiblewithsuppliedshape(768,800)",
            "[768, 800] in the model",
        ),
    ],
)
def test_differing_size_tells_the_setting(text: str, words: str) -> None:
    assert words in said(text)


def test_equal_or_missing_shapes_tell_nothing() -> None:
    assert said("lhsshape=[64]rhsshape=[64]") == ""
    assert said("Keydense/kernelnotfoundincheckpoint") == ""
