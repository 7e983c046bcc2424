"""What of a pipeline runs one element after the other."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from tpudiag.model import Location
from tpudiag.signals import DatasetOp
from tpudiag.sources.job.tensorflow.input import serial_times

SYNCHRONOUS, INTERLEAVED, AHEAD = 3, 2, 4


def tensorflow(*chain: tuple[str, int, float], calls: dict[str, int] | None = None) -> Any:
    """One with these transformations from the end on, each with its class and seconds.

    `calls`: of some the parallel calls, where these are fixed.
    """

    def parameters(name: str) -> list[Any]:
        fixed = (calls or {}).get(name)
        value = SimpleNamespace(name="parallelism", tunable=fixed is None, value=fixed or 1)
        return [value, SimpleNamespace(name="buffer_size", tunable=False, value=1)]

    nodes = {
        number: SimpleNamespace(
            name=name,
            node_class=kind,
            processing_time=int(took * 1e9),
            inputs=[number + 1],
            parameters=parameters(name),
        )
        for number, (name, kind, took) in enumerate(chain, 1)
    }

    def get_model_proto(_: object) -> object:
        return SimpleNamespace(nodes=nodes, output=1)

    data = SimpleNamespace(get_model_proto=get_model_proto)
    return SimpleNamespace(data=SimpleNamespace(experimental=data))


def test_between_those_that_work_ahead_all_share_one_thread() -> None:
    tf = tensorflow(
        ("Prefetch", AHEAD, 9.0),
        ("BatchV2", SYNCHRONOUS, 1.0),
        ("ParallelMapV2", AHEAD, 9.0),
        ("Map", SYNCHRONOUS, 2.0),
        ("TFRecord", SYNCHRONOUS, 0.5),
    )
    times = serial_times.of_iterator(tf, None, ())
    assert times is not None
    assert times.longest_s == pytest.approx(2.5)
    assert times.python_s == 0


def test_readers_that_are_many_share_none() -> None:
    tf = tensorflow(
        ("BatchV2", SYNCHRONOUS, 1.0),
        ("ParallelInterleaveV4", INTERLEAVED, 9.0),
        ("TFRecord", SYNCHRONOUS, 5.0),
    )
    times = serial_times.of_iterator(tf, None, ())
    assert times is not None and times.longest_s == pytest.approx(1.0)


def test_a_generator_is_told_apart() -> None:
    ops = (DatasetOp(kind="FlatMap", python=True),)
    tf = tensorflow(("BatchV2", 3, 0.5), ("FlatMap", 1, 0.1), ("Generator", 3, 1.0))
    times = serial_times.of_iterator(tf, None, ops)
    assert times is not None
    assert times.python_s == pytest.approx(1.1)
    assert times.longest_s == pytest.approx(1.6)


def test_an_older_tensorflow_tells_nothing() -> None:
    assert serial_times.of_iterator(cast("Any", SimpleNamespace()), None, ()) is None


def test_a_map_that_was_fused_with_its_batch_still_runs_once_at_a_time() -> None:
    chain = (("Prefetch", AHEAD, 9.0), ("MapAndBatch", AHEAD, 3.0), ("Range", SYNCHRONOUS, 0.5))
    python = (DatasetOp(kind="Map", python=True),)
    one = serial_times.of_iterator(tensorflow(*chain, calls={"MapAndBatch": 1}), None, python)
    assert one is not None
    assert one.longest_s == pytest.approx(3.5)
    assert one.python_s == pytest.approx(3.0)
    for calls in ({"MapAndBatch": 8}, None):
        many = serial_times.of_iterator(tensorflow(*chain, calls=calls), None, ())
        assert many is not None and many.longest_s == pytest.approx(0.5)


def test_there_is_a_core() -> None:
    assert serial_times.usable_cores() >= 1


HERE = Location("train.py", 7)
OPS = (
    DatasetOp(kind="Range"),
    DatasetOp(kind="Map", location=HERE),
    DatasetOp(kind="ParallelMap", parallelism=-1, location=HERE),
    DatasetOp(kind="Prefetch", buffer_size=4, location=HERE),
)


def node(name: str, *inputs: int, held: int = 0, **tuned: int) -> Any:
    parameters = [
        SimpleNamespace(name=key, value=0.0, state_value=value, tunable=True)
        for key, value in tuned.items()
    ]
    return SimpleNamespace(name=name, inputs=inputs, buffered_bytes=held, parameters=parameters)


def test_choices_from_the_end_of_the_pipeline() -> None:
    nodes = {
        1: node("Root", 2),
        2: node("Prefetch", 3, held=1024, buffer_size=2),
        3: node("ParallelMapV2", 4, parallelism=8),
        4: node("ParallelMapV2", 5, parallelism=3),
        5: node("Range"),
    }
    model = SimpleNamespace(nodes=nodes, output=1)

    def get_model_proto(_: object) -> object:
        return model

    data = SimpleNamespace(experimental=SimpleNamespace(get_model_proto=get_model_proto))
    choices = [*serial_times.choices(cast("Any", SimpleNamespace(data=data)), object(), OPS)]
    assert [(c.transformation, c.built_with, c.chosen) for c in choices] == [
        ("Prefetch", 4, 2),
        ("ParallelMap", -1, 8),
        ("ParallelMap", None, 3),
    ]
    assert choices[0].held_bytes == 1024
    assert choices[0].location == HERE


def test_a_tensorflow_without_the_model_knows_no_choice() -> None:
    tf = SimpleNamespace(data=SimpleNamespace(experimental=SimpleNamespace()))
    assert not [*serial_times.choices(cast("Any", tf), object(), OPS)]
