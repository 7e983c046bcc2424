"""The hooks on TensorFlow: what they see, and what they read beside its public interface."""

from pathlib import Path

import pytest

from tests.sources.job.programs import InTensorFlow

pytestmark = pytest.mark.slow

PROLOGUE = """
from tpudiag.sources.job.tensorflow.watches import functions, training
from tpudiag.sources.job.tensorflow.graphs import graphs
from tpudiag.sources.job.points import user_lines
"""


SEAMS = (
    PROLOGUE
    + """
import tempfile, importlib.util
user_lines.follow_autograph()
made = {}
folder = tempfile.mkdtemp()
open(folder + "/mine.py", "w").write('''
def f(x, note):
    if x > 0:
        note()
        x = x + 1
    return x
''')
spec = importlib.util.spec_from_file_location("mine", folder + "/mine.py")
mine = importlib.util.module_from_spec(spec); spec.loader.exec_module(mine)
g = tf.function(mine.f)
# A program of its own: its lines are nobody's.
g(tf.constant(2.0), eval("lambda: made.update(at=str(user_lines.caller()))"))
dataset = tf.data.Dataset.range(4).map(lambda x: x, num_parallel_calls=3).batch(2).prefetch(5)
chain = []
while dataset is not None:
    settings = ("_num_parallel_calls", "_batch_size", "_buffer_size")
    chain.append([type(dataset).__name__,
        *(None if (v := getattr(dataset, name, None)) is None else int(v) for name in settings)])
    inputs = dataset._inputs()
    dataset = inputs[0] if inputs else None
print(json.dumps([made["at"], chain, g.experimental_get_tracing_count(), tf.__version__]))
"""
)


def test_private_seams_are_where_they_were(in_tensorflow: InTensorFlow) -> None:
    """Tells when a TensorFlow release moves what the hooks read beside the public interface."""
    at, chain, traces, version = in_tensorflow(SEAMS)
    assert at.endswith("mine.py:4"), version
    assert traces == 1, version
    assert [link[0] for link in chain] == [
        "_PrefetchDataset",
        "_BatchDataset",
        "_ParallelMapDataset",
        "_RangeDataset",
    ], version
    assert (chain[0][3], chain[1][2], chain[2][1]) == (5, 2, 3), version


ENDS_LATE = (
    PROLOGUE
    + """
import threading, time
from tpudiag.sources.job.tensorflow.input import iterators
may_end, ended = threading.Event(), threading.Event()
def examples():
    try:
        yield 1
        yield 2
    finally:
        may_end.wait(60)
        ended.set()
dataset = tf.data.Dataset.from_generator(examples, output_signature=tf.TensorSpec((), tf.int32))
iterators.release_apart(tf)
seen = []
for number in dataset:
    seen.append(int(number))
    break
del number
went_on = not ended.is_set()
may_end.set()
print(json.dumps([seen, went_on, ended.wait(60)]))
"""
)


def test_a_pipeline_that_ends_late_does_not_hold_the_job(in_tensorflow: InTensorFlow) -> None:
    assert in_tensorflow(ENDS_LATE) == [[1], True, True]


RESUME = """
import contextlib, io, json
from tpudiag.reference import job
with contextlib.redirect_stdout(io.StringIO()) as said:
    job.main(["--cpu-replicas", "2", "--checkpoint-dir", {folder!r}, "--checkpoint-every", "4",
              "--train-steps", "{steps}", "--loop", {loop!r}])
print(json.dumps(said.getvalue()))
"""


@pytest.mark.parametrize("loop", ["custom", "fit"])
def test_the_reference_job_resumes(in_tensorflow: InTensorFlow, tmp_path: Path, loop: str) -> None:
    def train(steps: int) -> str:
        said: str = in_tensorflow(RESUME.format(folder=str(tmp_path), steps=steps, loop=loop))
        return said

    assert "resumed" not in train(6)
    assert "at step 4" in train(9)
