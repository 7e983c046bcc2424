"""Two types that meet tell by their kinds what is behind it."""

import pytest

from tpudiag.known_errors.readings.dtypes import read

BACKWARD = "'gradients/cells/Pool:0'"


@pytest.mark.parametrize(
    ("text", "said", "fix"),
    [
        (
            "requesteddtypefloat16forTensorwithdtypefloat32:<tf.Tensor'norm/Cast:0'",
            "`norm/Cast` is float32 where float16 is wanted. Mixed precision, in one",
            "compute_dtype",
        ),
        (
            f"requesteddtypefloat16forTensorwithdtypefloat32:<tf.Tensor{BACKWARD}",
            "in the backward pass",
            "recomputing off",
        ),
        ("of'Add'Ophastypeint64thatdoesnotmatchtypefloat32ofargument", "in Add", "tf.float32"),
        ("havetypes[int32,int32,int64]thatdon'tallmatch", "int32 and int64", "tf.int32"),
        ("musthavethesamedtype,gottf.float64!=tf.float32", "NumPy's default", "np.float32"),
        ("requesteddtypefloat32forTensorwithdtypestring", "a text stands", "to_number"),
        ("TensorArraydtypeisfloatbutOpistryingtowritedtypebool", "truth values", "mask"),
    ],
)
def test_kinds_of_types_tell_the_cause(text: str, said: str, fix: str) -> None:
    told = read({}, text)
    assert told is not None and told.whole
    assert said in told.cause and fix in told.fix


def test_one_type_alone_meets_none() -> None:
    assert read({}, "musthavethesamedtype,gottf.float32!=tf.float32") is None
    assert read({}, "hasDataTypeint64notinlistofallowedvalues:bfloat16,float32") is None
