"""tf.data pipelines as the hooks read them: any graph gives outcomes, and fixes keep the data."""

from pathlib import Path

import pytest

from tests.sources.job.programs import printed

pytestmark = pytest.mark.slow

ANY_GRAPH = """
from hypothesis import HealthCheck, given, settings, strategies as st
from tpudiag import catalogue, engine
from tpudiag.hardware import target
from tpudiag.model import Verdict
from tpudiag.settings import Settings
from tpudiag.signals import Origin, Signals
from tpudiag.sources.job.tensorflow.input.pipelines import PipelineWatch

D, AUTO = tf.data.Dataset, tf.data.AUTOTUNE
FILES = sys.argv[1:]
watch = PipelineWatch(tf)
watch._trains = lambda seen: True  # no step runs here to be fed


def first(x):
    return tf.reshape(tf.cast(tf.nest.flatten(x)[0], tf.float32), [-1])[:1]


SOURCES = (
    lambda: D.range(8),
    lambda: D.from_tensor_slices((tf.ones((8, 3)), tf.ones((8,), tf.int32))),
    lambda: D.from_tensor_slices({"a": tf.ragged.constant([[1.0], [2.0, 3.0]])}),
    lambda: D.from_tensors(tf.sparse.from_dense([[1.0, 0.0]])),
    lambda: D.from_generator(lambda: iter([1, 2]), output_signature=tf.TensorSpec(None, tf.int32)),
    lambda: D.random(seed=1).take(8),
    lambda: tf.data.TFRecordDataset(FILES).map(tf.strings.length),
    lambda: tf.data.TextLineDataset(FILES, num_parallel_reads=2).map(tf.strings.length),
    lambda: D.list_files(FILES).interleave(tf.data.TFRecordDataset).map(tf.strings.length),
    lambda: D.zip((D.range(4), D.range(4))),
    lambda: D.sample_from_datasets([D.range(4), D.range(4)]),
)
STEPS = (
    lambda d: d.map(lambda *x: first(x)),
    lambda d: d.map(lambda *x: first(x), num_parallel_calls=AUTO, deterministic=False),
    lambda d: d.map(lambda *x: first(x) + tf.random.normal((1,)), num_parallel_calls=3),
    lambda d: d.map(lambda *x: tf.py_function(lambda v: v, [first(x)], tf.float32)),
    lambda d: d.map(tf.function(lambda *x: first(x))),
    lambda d: d.filter(lambda *x: tf.reduce_sum(first(x)) >= 0),
    lambda d: d.batch(2),
    lambda d: d.batch(4, drop_remainder=True, num_parallel_calls=2),
    lambda d: d.map(lambda *x: first(x)).padded_batch(2),
    lambda d: d.shuffle(4),
    lambda d: d.repeat(),
    lambda d: d.repeat(2),
    lambda d: d.cache(),
    lambda d: d.prefetch(AUTO),
    lambda d: d.prefetch(1),
    lambda d: d.take(3).skip(1),
    lambda d: d.enumerate(),
    lambda d: d.window(2).flat_map(lambda *w: D.range(2)),
    lambda d: d.interleave(lambda *x: D.range(2), num_parallel_calls=AUTO),
    lambda d: d.interleave(lambda *x: D.range(2)),
    lambda d: d.shard(2, 0),
    lambda d: d.concatenate(d),
    lambda d: D.zip((d, d)),
    lambda d: d.scan(0, lambda s, *x: (s, first(x))),
    lambda d: d.map(lambda *x: first(x)).unbatch(),
    lambda d: d.apply(tf.data.experimental.assert_cardinality(4)),
    lambda d: d.with_options(tf.data.Options()),
    lambda d: d.take(4).rejection_resample(lambda *x: 0, [1.0]),
)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck), database=None)
@given(st.sampled_from(SOURCES), st.lists(st.sampled_from(STEPS), max_size=6), st.booleans())
def any_graph(source, steps, pod):
    dataset = source()
    for step in steps:
        try:
            dataset = step(dataset)
        except (TypeError, ValueError, tf.errors.OpError):
            continue  # tf.data itself refuses this combination
    watch._read.clear()
    watch._add(dataset, replicas=8)
    watch.measure(0.05)
    facts = watch.facts()
    assert len(facts) == 1 and facts[0].ops
    goal = target("v5e-16" if pod else "v5e-8")
    seen = Signals(origin=Origin.REHEARSAL, target=goal, pipelines=facts)
    for outcome in engine.examine(seen, catalogue.checks(), Settings()):
        assert outcome.verdict is not Verdict.BROKEN, (outcome, [op.kind for op in facts[0].ops])


any_graph()
print("done")
"""
FIXED = """
from tpudiag.sources.job.tensorflow.input import graph_rewrite

files = tf.data.Dataset.list_files(sys.argv[1:], shuffle=False)
built = files.interleave(tf.data.TFRecordDataset, cycle_length=1).map(tf.strings.length).batch(2)
whole = sorted(x for batch in built.as_numpy_iterator() for x in batch.tolist())
changes = {
    "parallel": graph_rewrite.in_parallel,
    "reads": graph_rewrite.readers_in_parallel,
    "cache": graph_rewrite.cached_after(tf, built._input_dataset),
}
for name, change in changes.items():
    mended = graph_rewrite.rewritten(tf, built, change)
    found = sorted(x for batch in mended.as_numpy_iterator() for x in batch.tolist())
    kinds = [node.op for node in graph_rewrite._graph(tf, mended).node if "Dataset" in node.op]
    print(name, found == whole, len(found), ",".join(kinds))
static = built.map(lambda x: x, num_parallel_calls=2).prefetch(3)
print("static", graph_rewrite.rewritten(tf, static, graph_rewrite.autotuned) is not None)
print("nothing", graph_rewrite.rewritten(tf, built, graph_rewrite.autotuned))
"""
COUNTED = """
from tpudiag.sources.job.tensorflow.input.pipelines import PipelineWatch

def parse(record):
    return tf.io.decode_raw(record, tf.uint8, fixed_length=8)

watch = PipelineWatch(tf)
watch._trains = lambda seen: True  # no step runs here to be fed
records = tf.data.TFRecordDataset(sys.argv[1:])
for made in ("records.map(parse)", "records.shuffle(4).repeat().map(parse)"):
    watch._read.clear()
    exec(compile(f"watch._add({made})", "job.py", "exec"))
    watch.count()
    (pipeline,) = watch.facts()
    print(pipeline.ops[pipeline.worth_caching].kind, pipeline.ops[-1].elements)
"""


def run(tmp_path: Path, program: str) -> str:
    """Run a program with `sys` and `tf`, and two record files as its arguments."""
    files = [str(tmp_path / name) for name in ("a", "b")]
    write = (
        "import sys, tensorflow as tf\n"
        "for f in sys.argv[1:]:\n"
        "    with tf.io.TFRecordWriter(f) as w:\n"
        "        for i in range(5): w.write(b'x' * (i + 1))\n"
    )
    return printed(write + program, *files, cwd=tmp_path)


def test_any_graph_of_transformations_gives_outcomes(tmp_path: Path) -> None:
    assert run(tmp_path, ANY_GRAPH).endswith("done\n")


def test_a_fix_changes_the_graph_and_keeps_the_elements(tmp_path: Path) -> None:
    said = dict(line.split(" ", 1) for line in run(tmp_path, FIXED).splitlines())
    for name in ("parallel", "reads", "cache"):
        assert said[name].startswith("True 10 "), said
    assert "ParallelMapDatasetV2" in said["parallel"]
    assert "ParallelInterleaveDatasetV4" in said["parallel"]
    assert "ParallelInterleaveDatasetV4" in said["reads"]
    assert "MapDataset,CacheDataset" in said["cache"]
    assert said["static"] == "True"
    assert said["nothing"] == "None"


def test_the_records_of_files_are_counted_where_costly_work_repeats(tmp_path: Path) -> None:
    assert run(tmp_path, COUNTED) == "Map 10\nMap 10\n"
