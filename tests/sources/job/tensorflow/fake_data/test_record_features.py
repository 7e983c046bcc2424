"""What a feature of a record is made of, without TensorFlow."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tpudiag.sources.job.tensorflow.fake_data import records


def same(value: list[Any]) -> list[Any]:
    return value


def of(**held: list[Any]) -> list[Any]:
    (value,) = held.values()
    return value


TRAIN = SimpleNamespace(BytesList=same, FloatList=same, Int64List=same, Feature=of)
TF: Any = SimpleNamespace(string="string", float32="f32", float64="f64", train=TRAIN)


@pytest.mark.parametrize(
    ("key", "dtype", "values"),
    [
        ("date", "string", [b"1950-01-01", b"1950-01-02", b"1950-01-03"]),
        ("class", "int64", [0, 1, 0]),
    ],
)
def test_days_are_days_and_classes_of_imagenet_begin_at_one(
    key: str, dtype: str, values: list[Any]
) -> None:
    assert vars(records)["_feature"](TF, key, dtype, 3, 0) == values
