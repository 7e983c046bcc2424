"""The hooks on TensorFlow, each in a child process: what they see."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

PROLOGUE = """
import json, os, sys
os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
import tensorflow as tf
from tpudiag.sources.job.tensorflow.watches import functions, training
from tpudiag.sources.job.tensorflow.graphs import graphs
from tpudiag.sources.job.points import user_lines
"""


def run(program: str) -> Any:
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=800, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


CHANGES = (
    PROLOGUE
    + """
watch = functions.FunctionWatch(tf, lambda seen, traced: None)
@tf.function
def f(x, rate=0.1, *, batch=None, training=False):
    return x
f(tf.ones(3)); f(tf.ones(3), 0.2); f(tf.ones(4)); f(tf.ones(3, tf.int32))
f(tf.ones(3), batch={"a": tf.ones(2)}); f(tf.ones(3), training=True)
seen = next(s for s in watch.facts() if s.name == "f")
print(json.dumps([seen.calls, seen.traces,
    [[c.argument, c.kind, c.before, c.after] for r in seen.retraces for c in r.changes]]))
"""
)


def test_the_argument_that_changed_is_named() -> None:
    calls, traces, changes = run(CHANGES)
    assert (calls, traces) == (6, 6)
    assert ["rate", "python value", "float 0.1", "float 0.2"] in changes
    assert ["x", "shape", "float32[3]", "float32[4]"] in changes
    assert ["x", "dtype", "float32[3]", "int32[3]"] in changes
    assert ["training", "python value", "bool False", "bool True"] in changes


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
g(tf.constant(2.0), lambda: made.update(at=str(user_lines.caller())))
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


def test_private_seams_are_where_they_were() -> None:
    """Tells when a TensorFlow release moves what the hooks read beside the public interface."""
    at, chain, traces, version = run(SEAMS)
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
iterators.IteratorRelease(tf)
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


def test_a_pipeline_that_ends_late_does_not_hold_the_job() -> None:
    assert run(ENDS_LATE) == [[1], True, True]


RESUME = """
import sys
from tpudiag.reference import job
job.main(["--cpu-replicas", "2", "--checkpoint-dir", sys.argv[1], "--checkpoint-every", "4",
          "--train-steps", sys.argv[2], "--loop", sys.argv[3]])
"""


@pytest.mark.parametrize("loop", ["custom", "fit"])
def test_the_reference_job_resumes(tmp_path: Path, loop: str) -> None:
    def train(steps: int) -> str:
        done = subprocess.run(
            [sys.executable, "-c", RESUME, str(tmp_path), str(steps), loop],
            capture_output=True,
            text=True,
            timeout=800,
            check=True,
        )
        return done.stdout

    assert "resumed" not in train(6)
    assert "at step 4" in train(9)
