"""What an object of another type than expected mostly is."""

from __future__ import annotations

import pytest

from tpudiag.known_errors.readings.objects import read

NO = "AttributeError:'{}'objecthasnoattribute'{}'"


def said(text: str) -> str:
    reading = read(text, 0, len(text))
    return f"{reading.cause} {reading.fix}" if reading else ""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (NO.format("History", "predict"), "model = model.fit"),
        (NO.format("NoneType", "scope"), "no strategy or TPU was found"),
        (NO.format("NoneType", "shape"), "cv2.imread"),
        (NO.format("list", "shape"), "np.asarray"),
        (NO.format("float", "numpy"), "plain number already"),
        (NO.format("Namespace", "tpu_zone"), '"--tpu_zone"'),
        ("TypeError:'type'objectisnotsubscriptable", "Python 3.9"),
        ("TypeError:'float'objectcannotbeinterpretedasaninteger", "//"),
        ("TypeError:'module'objectisnotcallable", "module"),
        ("TypeError:unsupportedoperandtype(s)for|:'type'and'NoneType'", "Python 3.10"),
        ("TypeError:unsupportedoperandtype(s)for/:'str'and'int'", "int(os.environ"),
        ("TypeError:unsupportedoperandtype(s)for*:'int'and'NoneType'", "tf.shape(x)[0]"),
    ],
)
def test_type_and_use_tell_where_it_comes_from(text: str, words: str) -> None:
    assert words in said(text)


def test_other_types_tell_nothing() -> None:
    assert said(NO.format("Frobnicator", "spin")) == ""
    assert said("unsupportedoperandtype(s)for+:'Odd'and'Strange'") == ""
