"""The choices of AUTOTUNE beside the transformations of the pipeline that was built."""

from types import SimpleNamespace
from typing import Any, cast

from tpudiag.model import Location
from tpudiag.signals import DatasetOp
from tpudiag.sources.job.tensorflow.input import serial_times

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
    choices = serial_times.choices(cast("Any", SimpleNamespace(data=data)), object(), OPS)
    assert [(c.transformation, c.built_with, c.chosen) for c in choices] == [
        ("Prefetch", 4, 2),
        ("ParallelMap", -1, 8),
        ("ParallelMap", None, 3),
    ]
    assert choices[0].held_bytes == 1024
    assert choices[0].location == HERE


def test_a_tensorflow_without_the_model_knows_no_choice() -> None:
    tf = SimpleNamespace(data=SimpleNamespace(experimental=SimpleNamespace()))
    assert serial_times.choices(cast("Any", tf), object(), OPS) == ()
