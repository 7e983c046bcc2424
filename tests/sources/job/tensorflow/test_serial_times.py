"""What of a pipeline runs one element after the other."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tpudiag.signals import DatasetOp
from tpudiag.sources.job.tensorflow import serial_times


def tensorflow(**seconds: float) -> Any:
    """One that tells these times of its transformations."""
    nodes = {
        number: SimpleNamespace(name=name, processing_time=int(took * 1e9))
        for number, (name, took) in enumerate(seconds.items())
    }

    def get_model_proto(_: object) -> object:
        return SimpleNamespace(nodes=nodes)

    data = SimpleNamespace(get_model_proto=get_model_proto)
    return SimpleNamespace(data=SimpleNamespace(experimental=data))


def test_maps_and_generators_that_are_not_parallel_count() -> None:
    ops = (DatasetOp(kind="FlatMap", python=True), DatasetOp(kind="Map"))
    tf = tensorflow(Generator=1.0, FlatMap=0.1, Map=2.0, ParallelMapV2=4.0, BatchV2=8.0)
    times = serial_times.of_iterator(tf, None, ops)
    assert times is not None
    assert times.functions_s == pytest.approx(3.1)
    assert times.python_s == pytest.approx(1.1)


def test_an_older_tensorflow_tells_nothing() -> None:
    assert serial_times.of_iterator(SimpleNamespace(), None, ()) is None
