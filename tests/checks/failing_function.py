"""What the checks of environment, function and input must find: TPU0 to TPU2."""

from dataclasses import replace

from tests.checks.rehearsal import *
from tpudiag.hardware import target
from tpudiag.model import Severity
from tpudiag.signals import *

AFTERWARDS = JobEnd(how="exception", error=BATCHED_AFTERWARDS, location=HERE)
ROWS: tuple[Row, ...] = (
    (
        "TPU103",
        h(step_ops=StepOps(9, (StepOp("StringToHashBucketFast", "hash", False, HERE),))),
        Severity.ERROR,
    ),
    ("TPU105", h(step_ops=StepOps(9, (StepOp("PrintV2", "print", True, HERE),)))),
    ("TPU001", h(tf1=(Tf1Use("tf.compat.v1.Session", HERE),)), Severity.INFO),
    ("TPU001", h(tensorflow=replace(IMPORTED, tf2_behavior=False, eager=False)), Severity.ERROR),
    ("TPU001", h(tensorflow=replace(IMPORTED, version="1.15.0")), Severity.ERROR),
    ("TPU002", with_packages(tensorflow="2.20.0", tensorflow_tpu="2.20.0")),
    ("TPU002", with_packages(tensorflow="2.20.0", tensorflow_cpu="2.20.0"), Severity.INFO),
    ("TPU002", with_packages(tensorflow="2.21.0", tensorflow_tpu="2.20.0"), Severity.ERROR),
    ("TPU002", with_packages(tensorflow_tpu="2.20.0", libtpu="0.0.51"), Severity.ERROR),
    ("TPU002", with_packages(tensorflow_tpu="2.19.1", libtpu="0.0.14")),
    ("TPU002", h(tensorflow=TensorFlowImport(succeeded=False, failure="aborted")), Severity.ERROR),
    (
        "TPU003",
        h(
            tpu=TpuAttempt(
                asked="local",
                reached=False,
                phase="initialize",
                error="NotFoundError: TPUs not found in the cluster. Failed in initialization",
            )
        ),
        Severity.ERROR,
    ),
    (
        "TPU003",
        h(tpu=TpuAttempt(asked="x", reached=False, phase="connect", error="something new")),
        Severity.ERROR,
    ),
    ("TPU004", h(target=target("tpu7x-8")), Severity.ERROR),
    ("TPU004", h(tensorflow=replace(IMPORTED, version="2.13.1")), Severity.ERROR),
    ("TPU005", h(keras=KerasUse(package="keras", version="3.6.0", loop="fit")), Severity.ERROR),
    (
        "TPU005",
        h(keras=KerasUse(package="keras", version="3.15.1", loop="fit", jit_compile=True)),
        Severity.ERROR,
    ),
    ("TPU005", h(environment=without_tf_keras()), Severity.ERROR),
    ("TPU101", h(functions=retraced("python value", "int 1", "int 2"))),
    ("TPU101", h(functions=retraced("shape", "f[1]", "f[2]", 1))),
    ("TPU101", h(functions=retraced("new function", "a", "b", 3))),
    ("TPU102", h(step_inputs=(TensorSeen("x", "float32", (128, None)),)), Severity.ERROR),
    ("TPU102", h(step_inputs=(OPEN_BATCH,)), Severity.INFO),
    ("TPU102", h(step_inputs=(OPEN_BATCH,), pipelines=given(UNEVEN))),
    ("TPU102", h(step_inputs=(OPEN_BATCH,), pipelines=given(ENDLESS, UNEVEN)), Severity.INFO),
    ("TPU102", h(step_ops=StepOps(9, (), (StepOp("Where", "w", False, HERE),)))),
    ("TPU102", h(step_inputs=(TensorSeen("x", "float32", None),)), Severity.ERROR),
    ("TPU104", eager_steps(eager_location=HERE), Severity.ERROR),
    ("TPU104", replace(eager_steps(eager_location=HERE), loop=replace(LOOP, unplaced=True))),
    ("TPU201", h(origin=Origin.TPU, steps=waits(0.6))),
    ("TPU201", h(origin=Origin.TPU, steps=waits(2.5)), Severity.ERROR),
    ("TPU104", eager_steps(made_eager_at=HERE), Severity.ERROR),
    ("TPU201", h(steps=waits(9.5)), Severity.ERROR),
    ("TPU201", h(steps=waits(7.0), pipelines=given(op("Map"), PREFETCHED)), Severity.ERROR),
    ("TPU201", h(steps=waits(7.0), pipelines=given(BATCHED)), Severity.ERROR),
    ("TPU202", h(pipelines=(pipeline(BATCHED),))),
    ("TPU202", h(pipelines=(pipeline(BATCHED, op("Prefetch", buffer_size=1)),))),
    ("TPU202", fed(BATCHED, prefetched_by_itself=True), Severity.INFO),
    ("TPU203", h(pipelines=(pipeline(op("Map"), BATCHED, PREFETCHED),))),
    ("TPU203", fed(op("Map", parallel_by_itself=True), BATCHED, PREFETCHED), Severity.INFO),
    ("TPU204", fed(ENDLESS, op("Cache"), BATCHED)),
    ("TPU204", fed(COSTLY, ENDLESS, BATCHED), Severity.INFO),
    ("TPU204", fed(COSTLY, ENDLESS, BATCHED, speeds=(InputSpeed("cache", 9, 90),))),
    # The order of files is that of the examples where each is one; a library may cache them, too.
    (
        "TPU204",
        fed(op("Cache"), op("Shuffle"), op("Cache"), replace(READER, kind="ParallelMap"), BATCHED),
    ),
    ("TPU205", fed(sized(1020))),
    ("TPU205", fed(sized(4), sized(4))),
    ("TPU205", fed(sized(128, "BATCH_PER_REPLICA")), Severity.ERROR),
    ("TPU205", fed(sized(128, "b", whole=1024)), Severity.ERROR),
    ("TPU205", fed(sized(1024, "args.global_batch_size"), per_replica=True), Severity.ERROR),
    (
        "TPU205",
        fed(sized(1024, "batch", "BATCH = per_core * REPLICAS"), per_replica=True),
        Severity.ERROR,
    ),
    ("TPU205", h(end=AFTERWARDS), Severity.ERROR),
    ("TPU206", on_pod(BATCHED, auto_shard_policy="OFF")),
    ("TPU206", on_pod(BATCHED, per_replica=True)),
    ("TPU206", on_pod(READER, BATCHED, files=TWO_FILES)),
    ("TPU206", on_pod(op("FlatMap", python=True), BATCHED)),
    ("TPU208", on_pod(READER, BATCHED, files=TWO_FILES), Severity.ERROR),
    ("TPU208", saved("ModelCheckpoint", "/tmp/m", target=POD), Severity.ERROR),
    ("TPU007", loop(gpu=(GpuUse("tf.distribute.MirroredStrategy", HERE),), tpu_strategy=False)),
    ("TPU007", loop(gpu=(GpuUse('tf.device("/gpu:0")', HERE),))),
    ("TPU007", loop(unplaced=True, tpu_strategy=False)),
    ("TPU606", loop(pauses=(replace(SAVES, each_batch=True),))),
    ("TPU606", loop(pauses=(replace(SAVES, in_step_loop=True),))),
    ("TPU110", h(step_ops=StepOps(9, (), (), (StepConstant("c", 2 * 10**7, (1, 1), HERE),)))),
    ("TPU107", loop(frozen=(frozen("written", 3),))),
    ("TPU107", loop(frozen=(frozen("read", 1),))),
    ("TPU108", loop(fetches=(ResultFetch("summary", 24, 25, HERE),))),
    ("TPU108", loop(fetches=(ResultFetch("batch", 24, 25, HERE),))),
    ("TPU108", loop(fetches=(ResultFetch("variable", 24, 25, HERE),))),
    ("TPU108", loop(fetches=(ResultFetch("update", 24, 25, HERE),))),
    ("TPU108", loop(dispatches=4, fetches=(ResultFetch("result", 4, 4, HERE),))),
    ("TPU109", set_up(kind="tpu", times=2, variables=9)),
    ("TPU109", set_up(kind="compile", times=4, fits=3)),
    ("TPU211", loop(iterators=(replace(REBUILT, cardinality=-1),))),
    ("TPU211", loop(iterators=(replace(LOOP.iterators[0], datasets=3),))),
    ("TPU212", loop(fits=(replace(LOOP.fits[0], batches=20),))),
    ("TPU212", loop(fits=(replace(LOOP.fits[0], batches=18, starts_again=True),))),
    (
        "TPU212",
        replace(
            loop(fits=(replace(LOOP.fits[0], batches=-2),)),
            end=JobEnd(how="stopped", log_tail=f"WARNING: {RAN_OUT}. Make sure"),
        ),
    ),
    ("TPU213", fed(holding("Shuffle", 30_000_000), BATCHED)),
    ("TPU213", fed(holding("Cache", None, 40_000_000), BATCHED)),
    # An epoch of endless data of a length that is not known is as long as the script says.
    (
        "TPU213",
        h(
            loop=replace(LOOP, fits=(replace(LOOP.fits[0], batches=-1, steps_per_epoch=40_000),)),
            pipelines=given(holding("Cache", None, None), BATCHED),
        ),
    ),
    ("TPU213", h(target=target("v5e-1"), pipelines=given(holding("Shuffle", 5_000_000), BATCHED))),
    ("TPU214", fed(BATCHED, op("Shuffle", buffer_size=100))),
    ("TPU214", fed(op("Shuffle", buffer_size=64, elements=9_999), BATCHED)),
    ("TPU214", fed(replace(MIXED, keeps_order=True), ENDLESS, BATCHED)),
    # What is held out in one epoch trains in the next.
    (
        "TPU214",
        h(pipelines=(*given(MIXED, op("Skip"), BATCHED), *given(MIXED, op("Take"), BATCHED))),
    ),
    ("TPU214", fed(MIXED, BATCHED, unmixed=SORTED)),
    ("TPU216", fed(BATCHED, padded=SHORT)),
    *(
        ("TPU215", fed(MIXED, BATCHED, apart=apart), Severity.WARNING)
        for apart in (PartsApart(9, ("x/1.png", "y/1.png"), way, HERE) for way in (True, False))
    ),
    ("TPU214", on_pod(op("Shuffle", buffer_size=9_999, seeded=True), BATCHED, per_replica=True)),
)
