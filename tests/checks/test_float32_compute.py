"""What TPU403 says mends it follows from what made the step wide."""

from dataclasses import replace

import pytest

from tpudiag.model import Finding, Location
from tpudiag.signals import MixedPrecision, PrecisionSwitch, WideLayer

from .rehearsal import examine, h, product

WIDE = tuple(replace(op, dtype="float32") for op in (product(784, 128), product(128, 10)))


def finding(precision: MixedPrecision, *switches: PrecisionSwitch) -> Finding:
    signals = h(matrix_ops=WIDE, precision=precision, precision_switches=switches)
    (only,) = examine(signals, "TPU403").findings
    return only


def layers(given: str) -> MixedPrecision:
    place = Location("site-packages/models/blocks.py", 31)
    layer = WideLayer(name="dense", location=place, dtype_given=given)
    return MixedPrecision(("float32",), global_policy="mixed_bfloat16", wide_layers=(layer,))


@pytest.mark.parametrize(
    ("precision", "fix"),
    [
        (MixedPrecision(("float32",), global_policy="float32"), "set_global_policy"),
        (layers("self.dtype"), "dtype=self.dtype_policy"),
        (layers('"float32"'), 'leave out dtype="float32"'),
        (layers(""), "after the policy is set"),
        (MixedPrecision(("mixed_bfloat16",), global_policy="mixed_bfloat16"), "tf.cast"),
    ],
)
def test_the_fix_follows_what_made_it_wide(precision: MixedPrecision, fix: str) -> None:
    told = finding(precision)
    assert fix in told.fix
    assert ("blocks.py:31" in told.message) == bool(precision.wide_layers)
    assert ("set_global_policy" in told.fix) == (precision.global_policy == "float32")


def test_a_policy_that_came_after_the_model_is_told_as_that() -> None:
    late = MixedPrecision(
        ("float32",),
        global_policy="mixed_bfloat16",
        made_before=Location("train.py", 26),
        set_at=Location("train.py", 56),
    )
    told = finding(late)
    assert told.location == Location("train.py", 56), "the line that is to move up"
    assert "made before it was set, the first at train.py:26" in told.message
    assert "before building" in told.fix and "tf.cast" not in told.fix


def test_the_users_own_setting_is_named_beside_the_place() -> None:
    switch = PrecisionSwitch("mixed_precision_dtype: float32", Location("vit.yaml", 4))
    told = finding(MixedPrecision(("float32",)), switch, PrecisionSwitch("--bf16=false"))
    assert "`mixed_precision_dtype: float32` (vit.yaml:4); `--bf16=false`" in told.message


def test_a_policy_that_is_set_nowhere_is_told_at_its_line() -> None:
    made = Location("train.py", 12)
    told = finding(MixedPrecision(("float32",), global_policy="float32", unused_at=made))
    assert told.location == made and "set nowhere" in told.message
    assert "set_global_policy" in told.fix
