"""The chain of a dataset, and what its functions draw."""

import sys
from typing import Any

import pytest

from tests.sources.job.programs import InTensorFlow
from tpudiag.model import Location
from tpudiag.sources.job.points import user_lines
from tpudiag.sources.job.tensorflow.input.dataset_reader import DatasetReader


class Prefetch:
    """A dataset made from another."""

    def __init__(self, *inputs: Any) -> None:
        self._made_from = inputs

    def _inputs(self) -> tuple[Any, ...]:
        return self._made_from


class DatasetV1Adapter(Prefetch):
    """What holds a dataset for scripts of TensorFlow 1, and passes for its inputs' reader."""

    def __init__(self, dataset: Prefetch) -> None:
        super().__init__(*dataset._inputs())
        self._dataset = dataset


def test_what_holds_a_dataset_for_tensorflow_1_is_no_transformation() -> None:
    source = Prefetch()
    prefetched: Any = Prefetch(DatasetV1Adapter(source))
    holder: Any = DatasetV1Adapter(prefetched)
    assert DatasetReader(sys).chain(holder) == [source, prefetched]


class BatchDataset(Prefetch):
    """One that says as little as it must."""

    options = cardinality = staticmethod(lambda: None)


def test_a_dataset_takes_nothing_over_from_one_that_had_its_id(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reader = DatasetReader(sys)
    dataset: Any = BatchDataset()
    vars(dataset)["_batch_size"] = 128
    monkeypatch.setattr(user_lines, "called", lambda: ("tensorflow.data.readers", "make_csv"))
    reader.note_made(dataset)
    (op,) = reader.pipeline(dataset, [dataset]).ops
    assert op.inside_library
    monkeypatch.setattr(user_lines, "called", lambda: ("tensorflow.python.data.ops.x", "batch"))
    reader.note_made(dataset)
    (op,) = reader.pipeline(dataset, [dataset]).ops
    assert not op.inside_library


class RepeatDataset(BatchDataset):
    """Without end."""

    _count = -1


class ZipDataset(BatchDataset):
    """One whose end is known."""

    def __init__(self, cardinality: int, *inputs: Any) -> None:
        super().__init__(*inputs)
        vars(self)["cardinality"] = lambda: cardinality


@pytest.mark.parametrize(("cardinality", "count"), [(12, 1), (-2, 1), (-1, -1)])
def test_a_repeat_ends_with_what_it_is_zipped_with(cardinality: int, count: int) -> None:
    reader = DatasetReader(sys)
    repeated: Any = RepeatDataset()
    zipped: Any = ZipDataset(cardinality, repeated, Prefetch())
    chain = [repeated, zipped]
    assert reader.pipeline(zipped, chain).ops[0].count == count


def test_a_pipeline_knows_the_call_for_the_debug_mode_before_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reader, here = DatasetReader(sys), Location("train.py", 3)
    dataset: Any = BatchDataset()
    before = reader.pipeline(dataset, [dataset])
    monkeypatch.setattr(user_lines, "caller", lambda: here)
    reader.note_debugged()
    assert (before.debugged, reader.pipeline(dataset, [dataset]).debugged) == (None, here)


DRAWS = """
from tpudiag.sources.job.tensorflow.input.dataset_reader import DatasetReader
SCRIPT = '''
def fixed(x): return tf.random.stateless_uniform((2,), seed=(1, 2))
def drawn(x): return tf.random.stateless_uniform((2,), seed=tf.stack([1, tf.cast(x, tf.int32)]))
'''
space, reader = {"tf": tf}, DatasetReader(tf)
exec(code_of(SCRIPT), space)

def seen(name):
    dataset = tf.data.Dataset.range(3).map(space[name])
    op = reader.pipeline(dataset, reader.chain(dataset)).ops[-1]
    return [op.same_draws and op.same_draws.line, op.stateful]

print(json.dumps([seen("fixed"), seen("drawn")]))
"""


@pytest.mark.slow
def test_a_draw_by_a_constant_seed(in_tensorflow: InTensorFlow) -> None:
    assert in_tensorflow(DRAWS) == [[2, True], [None, False]]
