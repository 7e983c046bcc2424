"""Each check over signals: what fails it, what passes it, and what it cannot know."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tpudiag import engine
from tpudiag.catalogue import checks
from tpudiag.hardware import target
from tpudiag.model import Location, Outcome, Severity, Verdict
from tpudiag.settings import Settings
from tpudiag.signals import (
    ActivationEstimate,
    ArgumentChange,
    Batch,
    BatchNorm,
    BucketSeen,
    Checkpoints,
    CheckpointUse,
    ClippedGradients,
    DatasetOp,
    Dispatch,
    Environment,
    ExpertRouting,
    FilesRead,
    FitData,
    FrozenNorm,
    FrozenState,
    GpuUse,
    InputSpeed,
    IteratorUse,
    JobEnd,
    KerasUse,
    LossScale,
    LowPrecisionOp,
    MatrixOp,
    MixedPrecision,
    Origin,
    OutsideMetric,
    Pause,
    Pipeline,
    RepeatedSetup,
    ReplicaRead,
    ResultFetch,
    Retrace,
    Signals,
    StepConstant,
    StepNumerics,
    StepOp,
    StepOps,
    StepTimes,
    TensorFlowImport,
    TensorSeen,
    Tf1Use,
    Throughput,
    ThroughputDrift,
    ThroughputDrop,
    TpuAttempt,
    TracedFunction,
    TrainingLoop,
    UndistributedInput,
    VariableSeen,
)
from tpudiag.signals.step import ChangeKind

HERE = Location("train.py", 7)
RAN_OUT = "Your input ran out of data; interrupting training"
KERNEL = VariableSeen(
    name="kernel",
    dtype="float32",
    shape=(784, 128),
    bytes=401_408,
    in_scope=True,
    trainable=True,
    optimizer=False,
    location=HERE,
)
SLOT = replace(KERNEL, name="momentum", trainable=False, optimizer=True)


def product(contraction: int, columns: int, **changed: object) -> MatrixOp:
    op = MatrixOp(
        op="MatMul",
        name="dense",
        dtype="bfloat16",
        rows=128,
        contraction=contraction,
        columns=columns,
        flops=2 * 128 * contraction * columns,
        location=HERE,
    )
    return replace(op, **changed)  # type: ignore[arg-type]


def slower(fix: str) -> InputSpeed:
    """A fix that was measured to be none."""
    return InputSpeed(fix, 152_979, 98_225)


def rows_of(rows: int, width: int = 128) -> tuple[MatrixOp, ...]:
    """Two layers over so many rows."""
    layers = product(784, width), product(width, 10)
    return tuple(
        replace(op, rows=rows, flops=2 * rows * op.contraction * op.columns) for op in layers
    )


def pipeline(*ops: DatasetOp) -> Pipeline:
    return Pipeline(
        ops=tuple(replace(op, location=HERE) for op in ops),
        elements=(TensorSeen("image", "float32", (1024, 784)),), location=HERE, distributed=True,
    )  # fmt: skip


def given(*ops: DatasetOp, replicas: int = 8, **changed: object) -> tuple[Pipeline, ...]:
    """A pipeline that was handed to a strategy of 8 replicas."""
    return (replace(pipeline(*ops), replicas=replicas, **changed),)  # type: ignore[arg-type]


def saved(kind: str, path: str, times: int = 0) -> Checkpoints:
    return Checkpoints((CheckpointUse(kind, path, times, HERE),))


BATCHED = DatasetOp(kind="Batch", batch_size=1024, drop_remainder=True)
UNEVEN = DatasetOp(kind="Batch", batch_size=1024, drop_remainder=False)
OPEN_BATCH = TensorSeen("x", "float32", (None, 784))
PREFETCHED = DatasetOp(kind="Prefetch", buffer_size=-1)
READER = DatasetOp(kind="TFRecord", opens_files=True)
TWO_FILES = FilesRead(2, ("data/a.tfrecord", "data/b.tfrecord"))
POD = target("v5e-16")
BATCHED_AFTERWARDS = "AttributeError: 'DistributedDataset' object has no attribute 'batch'"


def sized(size: int, *names: str, whole: int | None = None) -> DatasetOp:
    """A batch transformation, and what the script calls its size and the global batch."""
    return replace(BATCHED, batch_size=size, batch_named=names, global_batch_named=whole)


def holding(kind: str, buffer: int | None, elements: int | None = None) -> DatasetOp:
    """A transformation that holds elements of 12 KB."""
    return DatasetOp(kind=kind, buffer_size=buffer, elements=elements, host_bytes=12_544)


LOOP = TrainingLoop(
    dispatches=25,
    iterators=(
        IteratorUse(
            times=3, datasets=1, steps_between=10, cardinality=10, cached=True, start_ms=5.0,
            asks_once=False, location=HERE,
        ),
    ),
    fits=(FitData(batches=50, steps_per_epoch=10, epochs=5, starts_again=False, location=HERE),),
    pauses=(
        Pause(kind="evaluation", times=3, spent_ms=2e3, training_ms=9e3, location=HERE),
    ),
    fetches=(ResultFetch("result", 3, 25, HERE),),
    tpu_strategy=True,
)  # fmt: skip
NUMERICS = StepNumerics(
    loss_dtype="float32", gradients_seen=True, batch_norms=(BatchNorm("bn", 128, HERE),)
)


def loop(**changed: object) -> Signals:
    """The healthy rehearsal with something changed around its step."""
    return h(loop=replace(LOOP, **changed))  # type: ignore[arg-type]


def numerics(**changed: object) -> Signals:
    """The healthy rehearsal with something changed in its numbers."""
    return h(numerics=replace(NUMERICS, **changed))  # type: ignore[arg-type]


def routing(capacity: int | None) -> ExpertRouting:
    return ExpertRouting(
        name="top_k", tokens=1024, chosen=2, experts=8, capacity=capacity, location=HERE
    )


def frozen(kind: str, calls: int) -> FrozenState:
    return FrozenState(
        kind=kind, name="lr", function="step", location=HERE,  # type: ignore[arg-type]
        traced="0.1", now="0.2", calls=calls,
    )  # fmt: skip


HEALTHY = Signals(
    origin=Origin.REHEARSAL,
    target=target("v5e-8"),
    environment=Environment("3.11", {"tensorflow-cpu": "2.21.0", "keras": "3.15.1"}),
    tensorflow=TensorFlowImport(
        succeeded=True, version="2.21.0", tf2_behavior=True, eager=True, took_s=3.0
    ),
    keras=KerasUse(package="keras", version="3.15.1", loop="fit"),
    end=JobEnd(how="stopped"),
    tf1=(),
    functions=(
        TracedFunction(name="step", location=HERE, calls=25, traces=1, retraces=(), trains=True),
    ),
    pipelines=given(DatasetOp(kind="ParallelMap", parallelism=-1), BATCHED, PREFETCHED),
    strategy_replicas=8,
    dispatch=Dispatch(steps=25, steps_per_dispatch=1),
    batch=Batch(1024, 128, 8, HERE),
    step_inputs=(TensorSeen("image", "float32", (128, 784)),),
    matrix_ops=(product(784, 128), product(128, 10)),
    step_ops=StepOps(9, ()),
    variables=(KERNEL, SLOT),
    activations=ActivationEstimate(65_536),
    loss=(LossScale(1 / 8, 8, False, HERE),),
    numerics=NUMERICS,
    loop=LOOP,
    precision=MixedPrecision(("mixed_bfloat16",)),
    checkpoints=Checkpoints((CheckpointUse("tf.train.CheckpointManager", "gs://b/c", 0, HERE),)),
    buckets=(BucketSeen("b", True),),
    steps=StepTimes(step_ms=(10.0,) * 20, input_wait_ms=(0.1,) * 20, source="job"),
)


def h(**changed: object) -> Signals:
    """The healthy rehearsal with something changed."""
    return replace(HEALTHY, **changed)  # type: ignore[arg-type]


def examine(signals: Signals, id_: str, **limits: float) -> Outcome:
    settings = Settings(select=(id_,), limits=limits, pedantic=True)
    return engine.examine(signals, checks(), settings)[0]


def retraced(
    kind: ChangeKind, before: str, after: str, times: int = 5
) -> tuple[TracedFunction, ...]:
    change = ArgumentChange("x", before, after, kind)
    traces = tuple(Retrace(n + 2, 900.0, (change,), HERE) for n in range(times))
    return (
        TracedFunction(
            name="step", location=HERE, calls=25, traces=times + 1, retraces=traces, trains=True
        ),
    )


def without_tf_keras() -> Environment:
    return Environment("3.11", {"tensorflow-cpu": "2.21.0"}, legacy_keras_asked=True)


def installed(**versions: str) -> Environment:
    return Environment("3.11", {name.replace("_", "-"): v for name, v in versions.items()})


STEADY = Throughput(
    unit="steps",
    steps=900,
    source="run",
    per_s=1.0,
    baseline_per_s=1.0,
    drops=(),
    silent_s=2.0,
    normal_pause_s=40.0,
)
DRIFT = ThroughputDrift("2026-01-01T00:00:00+00:00", 1.0, 0.7, 8.0)
SLOWER = ThroughputDrop("2026-01-01T00:00:00+00:00", 1.0, 0.8)


def watched(**changed: object) -> Signals:
    """A recording that is being watched, of a job that runs well but for what is changed."""
    throughput = replace(STEADY, **changed)  # type: ignore[arg-type]
    return Signals(origin=Origin.RECORDING, throughput=throughput)


BIG = VariableSeen(
    name="table",
    dtype="float32",
    shape=(2_000_000, 512),
    bytes=4_096_000_000,
    in_scope=True,
    trainable=True,
)
BIG_SLOT = replace(BIG, trainable=False, optimizer=True)
FAILS: tuple[tuple[str, Signals, Severity], ...] = (
    (
        "TPU103",
        h(step_ops=StepOps(9, (StepOp("StringToHashBucketFast", "hash", False, HERE),))),
        Severity.ERROR,
    ),
    (
        "TPU105",
        h(step_ops=StepOps(9, (StepOp("PrintV2", "print", True, HERE),))),
        Severity.WARNING,
    ),
    ("TPU001", h(tf1=(Tf1Use("tf.compat.v1.Session", HERE),)), Severity.ERROR),
    (
        "TPU001",
        h(
            tensorflow=TensorFlowImport(
                succeeded=True, version="2.21.0", tf2_behavior=False, eager=False
            )
        ),
        Severity.ERROR,
    ),
    (
        "TPU001",
        h(
            tensorflow=TensorFlowImport(
                succeeded=True, version="1.15.0", tf2_behavior=True, eager=True
            )
        ),
        Severity.ERROR,
    ),
    (
        "TPU002",
        h(environment=installed(tensorflow="2.20.0", tensorflow_tpu="2.20.0")),
        Severity.ERROR,
    ),
    ("TPU002", h(environment=installed(tensorflow_tpu="2.20.0", libtpu="0.0.51")), Severity.ERROR),
    ("TPU002", h(environment=installed(tensorflow_tpu="2.19.1", libtpu="0.0.14")), Severity.ERROR),
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
    (
        "TPU004",
        h(
            tensorflow=TensorFlowImport(
                succeeded=True, version="2.13.1", tf2_behavior=True, eager=True
            )
        ),
        Severity.ERROR,
    ),
    ("TPU005", h(keras=KerasUse(package="keras", version="3.6.0", loop="fit")), Severity.ERROR),
    (
        "TPU005",
        h(keras=KerasUse(package="keras", version="3.15.1", loop="fit", jit_compile=True)),
        Severity.ERROR,
    ),
    ("TPU005", h(environment=without_tf_keras()), Severity.ERROR),
    ("TPU101", h(functions=retraced("python value", "int 1", "int 2")), Severity.WARNING),
    ("TPU101", h(functions=retraced("shape", "f[1]", "f[2]", 1)), Severity.WARNING),
    ("TPU101", h(functions=retraced("new function", "a", "b", 3)), Severity.WARNING),
    ("TPU102", h(step_inputs=(TensorSeen("x", "float32", (128, None)),)), Severity.ERROR),
    ("TPU102", h(step_inputs=(OPEN_BATCH,)), Severity.WARNING),
    ("TPU102", h(step_inputs=(OPEN_BATCH,), pipelines=given(UNEVEN)), Severity.WARNING),
    (
        "TPU102",
        h(step_inputs=(OPEN_BATCH,), pipelines=given(DatasetOp(kind="Repeat", count=-1), UNEVEN)),
        Severity.INFO,
    ),
    ("TPU102", h(step_ops=StepOps(9, (), (StepOp("Where", "w", False, HERE),))), Severity.WARNING),
    ("TPU102", h(step_inputs=(TensorSeen("x", "float32", None),)), Severity.ERROR),
    (
        "TPU104",
        h(dispatch=Dispatch(steps=25, steps_per_dispatch=1, eager_steps=25, eager_location=HERE)),
        Severity.ERROR,
    ),
    (
        "TPU201",
        h(origin=Origin.TPU, steps=StepTimes(step_ms=(10.0,), input_wait_ms=(0.6,), source="p")),
        Severity.WARNING,
    ),
    (
        "TPU201",
        h(origin=Origin.TPU, steps=StepTimes(step_ms=(10.0,), input_wait_ms=(2.5,), source="p")),
        Severity.ERROR,
    ),
    (
        "TPU104",
        h(dispatch=Dispatch(steps=25, steps_per_dispatch=1, eager_steps=25, made_eager_at=HERE)),
        Severity.ERROR,
    ),
    (
        "TPU201",
        h(steps=StepTimes(step_ms=(10.0,), input_wait_ms=(9.5,), source="p")),
        Severity.ERROR,
    ),
    (
        "TPU201",
        h(
            steps=StepTimes(step_ms=(10.0,), input_wait_ms=(7.0,), source="p"),
            pipelines=given(DatasetOp(kind="Map"), PREFETCHED),
        ),
        Severity.ERROR,
    ),
    (
        "TPU201",
        h(
            steps=StepTimes(step_ms=(10.0,), input_wait_ms=(7.0,), source="p"),
            pipelines=given(BATCHED),
        ),
        Severity.ERROR,
    ),
    ("TPU202", h(pipelines=(pipeline(BATCHED),)), Severity.WARNING),
    (
        "TPU202",
        h(pipelines=(pipeline(BATCHED, DatasetOp(kind="Prefetch", buffer_size=1)),)),
        Severity.WARNING,
    ),
    ("TPU202", h(pipelines=given(BATCHED, prefetched_by_itself=True)), Severity.INFO),
    (
        "TPU203",
        h(pipelines=(pipeline(DatasetOp(kind="Map"), BATCHED, PREFETCHED),)),
        Severity.WARNING,
    ),
    (
        "TPU203",
        h(pipelines=given(DatasetOp(kind="Map", parallel_by_itself=True), BATCHED, PREFETCHED)),
        Severity.INFO,
    ),
    (
        "TPU204",
        h(pipelines=given(DatasetOp(kind="Repeat", count=-1), DatasetOp(kind="Cache"), BATCHED)),
        Severity.WARNING,
    ),
    ("TPU301", h(variables=(BIG, BIG_SLOT, BIG_SLOT)), Severity.WARNING),
    ("TPU301", h(activations=ActivationEstimate(20 * 2**30)), Severity.WARNING),
    ("TPU301", h(activations=None, variables=(BIG, *[BIG_SLOT] * 4)), Severity.ERROR),
    ("TPU401", h(batch=Batch(1000, 125, 8, HERE)), Severity.WARNING),
    ("TPU401", h(batch=Batch(64, 8, 8, HERE), matrix_ops=rows_of(8)), Severity.INFO),
    (
        "TPU401",
        h(batch=Batch(64, 8, 8, HERE), matrix_ops=rows_of(8, 100)),
        Severity.WARNING,
    ),
    (
        "TPU401",
        h(batch=Batch(200, 25, 8, HERE), matrix_ops=rows_of(25 * 169, 100)),
        Severity.INFO,
    ),
    ("TPU402", h(matrix_ops=(product(784, 130), product(130, 10))), Severity.WARNING),
    ("TPU402", h(matrix_ops=(product(130, 10, reads_embedding=True),)), Severity.WARNING),
    ("TPU403", h(step_inputs=(TensorSeen("weight", "float64", (128,)),)), Severity.WARNING),
    (
        "TPU403",
        h(matrix_ops=(product(784, 128, dtype="float32"), product(128, 1))),
        Severity.WARNING,
    ),
    ("TPU404", h(precision=MixedPrecision((), "LossScaleOptimizer", HERE)), Severity.WARNING),
    ("TPU404", h(matrix_ops=(product(784, 128, dtype="float16"),)), Severity.WARNING),
    ("TPU404", h(precision=MixedPrecision(("mixed_float16",))), Severity.WARNING),
    ("TPU501", h(variables=(replace(KERNEL, in_scope=False),)), Severity.ERROR),
    ("TPU502", h(loss=(LossScale(1.0, 8, False, HERE),)), Severity.ERROR),
    ("TPU502", h(loss=(LossScale(128.0, 8, False, HERE),)), Severity.WARNING),
    ("TPU502", h(loss=(LossScale(1.0, 8, False, HERE, linear=False),)), Severity.ERROR),
    ("TPU502", h(loss=(LossScale(1 / 8, 8, True, HERE),)), Severity.ERROR),
    ("TPU601", h(checkpoints=Checkpoints(())), Severity.WARNING),
    ("TPU603", watched(drops=(SLOWER,)), Severity.ERROR),
    ("TPU607", watched(drift=DRIFT, watched_h=3.0), Severity.WARNING),
    ("TPU604", watched(stopped="the job's process 7 is stopped by a signal"), Severity.ERROR),
    ("TPU604", watched(silent_s=121.0), Severity.ERROR),
    ("TPU604", watched(gone="the job's process 7 is gone"), Severity.ERROR),
    ("TPU604", watched(steps=0, silent_s=1_201.0), Severity.ERROR),
    ("TPU205", h(pipelines=given(sized(1020))), Severity.ERROR),
    ("TPU205", h(pipelines=given(sized(128, "BATCH_PER_REPLICA"))), Severity.ERROR),
    ("TPU205", h(pipelines=given(sized(128, "b", whole=1024))), Severity.ERROR),
    (
        "TPU205",
        h(pipelines=given(sized(1024, "args.global_batch_size"), per_replica=True)),
        Severity.ERROR,
    ),
    (
        "TPU205",
        h(end=JobEnd(how="exception", error=BATCHED_AFTERWARDS, location=HERE)),
        Severity.ERROR,
    ),
    ("TPU206", h(target=POD, pipelines=given(BATCHED, auto_shard_policy="OFF")), Severity.WARNING),
    ("TPU206", h(target=POD, pipelines=given(BATCHED, per_replica=True)), Severity.WARNING),
    ("TPU206", h(target=POD, pipelines=given(READER, BATCHED, files=TWO_FILES)), Severity.WARNING),
    (
        "TPU206",
        h(target=POD, pipelines=given(DatasetOp(kind="FlatMap", python=True), BATCHED)),
        Severity.WARNING,
    ),
    ("TPU208", h(target=POD, pipelines=given(READER, BATCHED, files=TWO_FILES)), Severity.ERROR),
    ("TPU208", h(target=POD, checkpoints=saved("ModelCheckpoint", "/tmp/m")), Severity.ERROR),
    (
        "TPU602",
        h(target=POD, checkpoints=saved("tf.train.CheckpointManager", "ckpt")),
        Severity.WARNING,
    ),
    ("TPU602", h(checkpoints=saved("ModelCheckpoint", "model.h5")), Severity.WARNING),
    ("TPU602", h(checkpoints=saved("Model.save_weights", "w.h5", 2)), Severity.WARNING),
    (
        "TPU602",
        h(checkpoints=saved("ModelCheckpoint", "gs://b/m.h5"), buckets=(BucketSeen("b", False),)),
        Severity.WARNING,
    ),
    ("TPU602", h(buckets=(BucketSeen("b", False),)), Severity.INFO),
    (
        "TPU007",
        loop(gpu=(GpuUse("tf.distribute.MirroredStrategy", HERE),), tpu_strategy=False),
        Severity.WARNING,
    ),
    ("TPU007", loop(gpu=(GpuUse('tf.device("/gpu:0")', HERE),)), Severity.WARNING),
    (
        "TPU110",
        h(step_ops=StepOps(9, (), (), (StepConstant("c", 20_480_000, (20_000, 256), HERE),))),
        Severity.WARNING,
    ),
    ("TPU510", numerics(frozen_norms=(FrozenNorm("batch_normalization", HERE),)), Severity.WARNING),
    (
        "TPU606",
        loop(
            pauses=(
                Pause(
                    kind="evaluation",
                    times=64,
                    spent_ms=300.0,
                    training_ms=900.0,
                    location=HERE,
                    eager=True,
                ),
            )
        ),
        Severity.WARNING,
    ),
    ("TPU107", loop(frozen=(frozen("random", 0),)), Severity.WARNING),
    ("TPU107", loop(frozen=(frozen("written", 3),)), Severity.WARNING),
    ("TPU107", loop(frozen=(frozen("read", 1),)), Severity.WARNING),
    ("TPU108", loop(fetches=(ResultFetch("summary", 24, 25, HERE),)), Severity.WARNING),
    (
        "TPU109",
        loop(setups=(RepeatedSetup(kind="tpu", times=2, location=HERE, variables=9),)),
        Severity.WARNING,
    ),
    (
        "TPU109",
        loop(setups=(RepeatedSetup(kind="compile", times=4, location=HERE, fits=3),)),
        Severity.WARNING,
    ),
    (
        "TPU211",
        loop(iterators=(replace(LOOP.iterators[0], times=24, steps_between=1, cardinality=-1),)),
        Severity.WARNING,
    ),
    (
        "TPU211",
        loop(iterators=(replace(LOOP.iterators[0], datasets=3),)),
        Severity.WARNING,
    ),
    ("TPU212", loop(fits=(replace(LOOP.fits[0], batches=20),)), Severity.WARNING),
    (
        "TPU212",
        loop(fits=(replace(LOOP.fits[0], batches=18, starts_again=True),)),
        Severity.WARNING,
    ),
    (
        "TPU212",
        h(end=JobEnd(how="stopped", log_tail=f"WARNING: {RAN_OUT}. Make sure")),
        Severity.WARNING,
    ),
    (
        "TPU407",
        numerics(low_precision=(LowPrecisionOp("Softmax", "d/Softmax", "bfloat16", HERE),)),
        Severity.WARNING,
    ),
    ("TPU407", numerics(loss_dtype="bfloat16"), Severity.WARNING),
    (
        "TPU505",
        loop(
            undistributed=UndistributedInput(
                replicas=8, shapes=("float32[1024, 784]",), from_dataset=True, location=HERE
            )
        ),
        Severity.ERROR,
    ),
    (
        "TPU505",
        loop(
            undistributed=UndistributedInput(
                replicas=8, shapes=("float32[64, 100]",), from_dataset=False, location=HERE
            )
        ),
        Severity.WARNING,
    ),
    (
        "TPU501",
        numerics(outside_metrics=(OutsideMetric("total", HERE),)),
        Severity.WARNING,
    ),
    (
        "TPU506",
        numerics(clipped=(ClippedGradients("tf.clip_by_norm", 8, HERE),)),
        Severity.INFO,
    ),
    (
        "TPU507",
        loop(
            replica_reads=(
                ReplicaRead(kind="first", replicas=8, taken=0.3, mean=0.4, location=HERE),
            )
        ),
        Severity.WARNING,
    ),
    (
        "TPU507",
        loop(replica_reads=(ReplicaRead(kind="mean", replicas=8, location=HERE),)),
        Severity.WARNING,
    ),
    ("TPU508", numerics(batch_norms=(BatchNorm("bn", 4, HERE),)), Severity.WARNING),
    ("TPU509", numerics(routings=(routing(128),)), Severity.WARNING),
    (
        "TPU606",
        loop(pauses=(replace(LOOP.pauses[0], spent_ms=1.2e4),)),
        Severity.WARNING,
    ),
    ("TPU213", h(pipelines=given(holding("Shuffle", 30_000_000), BATCHED)), Severity.WARNING),
    ("TPU213", h(pipelines=given(holding("Cache", None, 40_000_000), BATCHED)), Severity.WARNING),
    (
        "TPU214",
        h(pipelines=given(BATCHED, DatasetOp(kind="Shuffle", buffer_size=100))),
        Severity.WARNING,
    ),
    (
        "TPU214",
        h(pipelines=given(DatasetOp(kind="Shuffle", buffer_size=64, elements=9_999), BATCHED)),
        Severity.WARNING,
    ),
    (
        "TPU214",
        h(
            target=POD,
            pipelines=given(
                DatasetOp(kind="Shuffle", buffer_size=9_999, seeded=True), BATCHED, per_replica=True
            ),
        ),
        Severity.WARNING,
    ),
)

PASSES: tuple[tuple[str, Signals], ...] = (
    ("TPU003", h(origin=Origin.TPU, tpu=TpuAttempt(asked="local", reached=True, phase="strategy"))),
    ("TPU101", h(functions=retraced("python value", "bool True", "bool False", 1))),
    ("TPU106", h(dispatch=Dispatch(steps=50, steps_per_dispatch=10))),
    (
        "TPU204",
        h(
            pipelines=(
                pipeline(
                    DatasetOp(kind="ParallelMap"), DatasetOp(kind="Repeat", count=-1), BATCHED
                ),
            )
        ),
    ),
    (
        "TPU204",
        h(pipelines=(pipeline(DatasetOp(kind="Cache"), DatasetOp(kind="Shuffle"), BATCHED),)),
    ),
    ("TPU201", h(origin=Origin.TPU)),
    ("TPU203", h(pipelines=(pipeline(DatasetOp(kind="Map", inside_library=True), BATCHED),))),
    ("TPU203", h(pipelines=given(DatasetOp(kind="Map"), speeds=(slower("parallel calls"),)))),
    ("TPU202", h(pipelines=given(BATCHED, speeds=(slower("prefetch"),)))),
    ("TPU102", h(pipelines=(*given(BATCHED), replace(given(UNEVEN)[0], trains=False)))),
    ("TPU403", h(matrix_ops=(product(128, 10, dtype="float32"),))),
    ("TPU301", h(variables=(replace(BIG, bytes=2**30),))),
    ("TPU401", h(target=target("v4-8"), batch=Batch(512, 128, 4))),
    ("TPU401", h(batch=Batch(64, 8, 8, HERE), matrix_ops=rows_of(8 * 512, 100))),
    ("TPU401", h(batch=Batch(200, 25, 8, HERE), matrix_ops=rows_of(25 * 26 * 26, 100))),
    ("TPU402", h(matrix_ops=(product(784, 256), product(256, 10)))),
    ("TPU402", h(matrix_ops=(product(130, 10),))),
    ("TPU501", h(variables=(KERNEL, replace(KERNEL, name="epoch", shape=(), in_scope=False)))),
    ("TPU501", h(variables=(KERNEL, replace(KERNEL, in_scope=False, trained=False)))),
    ("TPU502", h(loss=(LossScale(1.0, 8, True, HERE),))),
    ("TPU603", watched()),
    ("TPU607", watched(watched_h=3.0)),
    ("TPU607", watched(drift=replace(DRIFT, per_s=0.9), watched_h=3.0)),
    ("TPU603", watched(drops=(replace(SLOWER, ended="2026-01-01T00:05:00+00:00"),))),
    ("TPU603", watched(drops=(replace(SLOWER, per_s=0.95),))),
    ("TPU604", watched(silent_s=119.0)),
    ("TPU604", watched(silent_s=None)),
    ("TPU205", h(pipelines=given(sized(128, "BATCH", "per_replica"), per_replica=True))),
    ("TPU205", h(pipelines=given(sized(128, "batch_per_core", "global_batch"), replicas=1))),
    ("TPU205", h(pipelines=given(sized(1024, "GLOBAL_BATCH")))),
    ("TPU206", h(target=POD, pipelines=given(DatasetOp(kind="Shard"), BATCHED, per_replica=True))),
    ("TPU206", h(target=POD, pipelines=given(READER, files=FilesRead(4, ("gs://b/1",))))),
    ("TPU206", h(target=POD, pipelines=given(DatasetOp(kind="TensorSlice"), BATCHED))),
    ("TPU208", h(target=POD, pipelines=given(READER, files=FilesRead(4, ("gs://b/1",))))),
    ("TPU208", h(pipelines=given(READER, BATCHED, files=TWO_FILES), tpu_named="local")),
    ("TPU602", h(checkpoints=saved("ModelCheckpoint", "m/{epoch}.h5"))),
    ("TPU602", h(checkpoints=saved("BackupAndRestore", "backup"), tpu_named="local")),
    ("TPU007", loop(gpu=(GpuUse("tf.distribute.MirroredStrategy", HERE),))),
    ("TPU007", loop(gpu=(GpuUse("tf.config.experimental.set_memory_growth", HERE),))),
    (
        "TPU110",
        h(step_ops=StepOps(9, (), (), (StepConstant("c", 2**21, (2048, 256), HERE),))),
    ),
    (
        "TPU606",
        loop(
            pauses=(
                Pause(
                    kind="evaluation", times=64, spent_ms=300.0, training_ms=900.0, location=HERE
                ),
            )
        ),
    ),
    ("TPU107", loop(frozen=(frozen("written", 2),))),
    (
        "TPU108",
        replace(
            loop(fetches=(ResultFetch("result", 25, 25, HERE),)),
            dispatch=Dispatch(steps=2500, steps_per_dispatch=100),
        ),
    ),
    (
        "TPU109",
        loop(setups=(RepeatedSetup(kind="compile", times=2, location=HERE, changed=True, fits=1),)),
    ),
    (
        "TPU211",
        loop(iterators=(replace(LOOP.iterators[0], times=24, steps_between=1, cardinality=1),)),
    ),
    ("TPU212", loop(fits=(replace(LOOP.fits[0], batches=20, starts_again=True),))),
    ("TPU212", loop(fits=(replace(LOOP.fits[0], batches=-1),))),
    (
        "TPU507",
        h(
            loss=(LossScale(1.0, 8, True, HERE),),
            loop=replace(
                LOOP, replica_reads=(ReplicaRead(kind="mean", replicas=8, location=HERE),)
            ),
        ),
    ),
    (
        "TPU508",
        h(strategy_replicas=1, numerics=replace(NUMERICS, batch_norms=(BatchNorm("bn", 4, HERE),))),
    ),
    ("TPU508", numerics(batch_norms=(BatchNorm("bn", None, HERE),))),
    ("TPU509", numerics(routings=(routing(320),))),
    (
        "TPU606",
        loop(pauses=(Pause(kind="saving", times=9, spent_ms=4e3, training_ms=1e2, location=HERE),)),
    ),
    ("TPU213", h(pipelines=given(holding("Shuffle", 30_000_000, 60_000), BATCHED))),
    ("TPU213", h(target=POD, pipelines=given(holding("Cache", None, 20_000_000), BATCHED))),
    (
        "TPU213",
        h(pipelines=given(replace(holding("Cache", None, 40_000_000), in_file=True), BATCHED)),
    ),
    ("TPU214", h(pipelines=given(DatasetOp(kind="Shuffle", buffer_size=64, elements=64), BATCHED))),
    (
        "TPU214",
        h(pipelines=given(DatasetOp(kind="Shuffle", buffer_size=8), replace(READER), BATCHED)),
    ),
)
SKIPS: tuple[tuple[str, Signals], ...] = (
    ("TPU502", h(loss=(LossScale(0.5 / 8, 8, False, HERE),))),
    ("TPU001", h(tensorflow=TensorFlowImport(succeeded=False))),
    ("TPU003", HEALTHY),
    ("TPU106", HEALTHY),
    ("TPU201", HEALTHY),
    ("TPU201", h(steps=StepTimes(step_ms=(10.0,), input_wait_ms=None, source="job"))),
    ("TPU201", h(steps=StepTimes(step_ms=(10.0,), input_wait_ms=(7.0,), source="p"))),
    (
        "TPU502",
        h(
            loss=(LossScale(128.0, 8, False, HERE),),
            precision=MixedPrecision(("float32",), "LossScaleOptimizer", HERE),
        ),
    ),
    ("TPU301", h(activations=ActivationEstimate(11 * 2**30))),
    ("TPU301", h(activations=ActivationEstimate(1, unknown_tensors=3))),
    ("TPU502", h(loss=None)),
    ("TPU601", h(checkpoints=Checkpoints((), (HERE,)))),
    ("TPU603", HEALTHY),
    ("TPU603", watched(baseline_per_s=None)),
    ("TPU603", watched(doubt="its minutes differ")),
    ("TPU607", watched(watched_h=0.5)),
    ("TPU607", watched(watched_h=3.0, drops=(SLOWER,))),
    ("TPU604", watched(steps=0, silent_s=60.0)),
    ("TPU604", watched(silent_s=200_000.0, unsure="event files do not say")),
    ("TPU602", h(checkpoints=Checkpoints(()))),
    ("TPU602", h(buckets=(BucketSeen("b", None, "no credentials"),))),
    ("TPU602", h(checkpoints=saved("ModelCheckpoint", "m/{epoch}.h5"), tpu_named="my-tpu")),
    ("TPU208", h(pipelines=given(READER, files=TWO_FILES), tpu_named="my-tpu")),
    ("TPU107", h(loop=None)),
    ("TPU108", loop(dispatches=4)),
    ("TPU212", loop(fits=(replace(LOOP.fits[0], batches=-2),))),
    ("TPU505", loop(dispatches=0)),
    ("TPU507", h(loop=None)),
    ("TPU508", h(numerics=None)),
    ("TPU509", numerics(routings=(routing(None),))),
    ("TPU606", loop(pauses=())),
    ("TPU213", h(pipelines=given(holding("Cache", None, None), BATCHED))),
    ("TPU213", h(target=None)),
)
SKIPPED_WHEN_HEALTHY = {
    "TPU509",
    "TPU003",
    "TPU103",
    "TPU106",
    "TPU201",
    "TPU204",
    "TPU603",
    "TPU604",
    "TPU607",
}


@pytest.mark.parametrize(("id_", "signals", "severity"), FAILS)
def test_fails(id_: str, signals: Signals, severity: Severity) -> None:
    outcome = examine(signals, id_)
    assert outcome.verdict is Verdict.FAILED, outcome
    assert outcome.severity is severity
    for finding in outcome.findings:
        assert finding.message
        assert finding.fix
        assert finding.evidence


@pytest.mark.parametrize(("id_", "signals"), PASSES)
def test_passes_on_evidence(id_: str, signals: Signals) -> None:
    outcome = examine(signals, id_)
    assert outcome.verdict is Verdict.PASSED, outcome
    assert outcome.evidence


@pytest.mark.parametrize(("id_", "signals"), SKIPS)
def test_skips_what_it_cannot_know(id_: str, signals: Signals) -> None:
    outcome = examine(signals, id_)
    assert outcome.verdict is Verdict.SKIPPED, outcome
    assert outcome.cause
    assert outcome.how_to_measure


JOB_CHECKS = sorted({row[0] for row in FAILS} | {row[0] for row in PASSES})


@pytest.mark.parametrize("id_", JOB_CHECKS)
def test_a_healthy_rehearsal_passes_or_says_what_it_cannot_know(id_: str) -> None:
    verdict = examine(HEALTHY, id_).verdict
    assert verdict is (Verdict.SKIPPED if id_ in SKIPPED_WHEN_HEALTHY else Verdict.PASSED)


@pytest.mark.parametrize("check", checks(), ids=lambda check: check.id)
def test_with_no_signals_at_all_nothing_passes(check: object) -> None:
    for origin in Origin:
        outcome = examine(Signals(origin=origin), check.id)  # type: ignore[attr-defined]
        assert outcome.verdict is Verdict.SKIPPED, outcome
        assert outcome.how_to_measure


def test_the_tile_of_the_target_decides_which_width_is_narrow() -> None:
    ops = (product(784, 384), product(384, 384), product(384, 10))
    assert examine(h(matrix_ops=ops, target=target("v6e-8")), "TPU402").verdict is Verdict.FAILED
    assert examine(h(matrix_ops=ops), "TPU402").verdict is Verdict.PASSED


def test_a_limit_of_the_settings_decides() -> None:
    waiting = h(
        origin=Origin.TPU, steps=StepTimes(step_ms=(10.0,), input_wait_ms=(0.6,), source="p")
    )
    assert examine(waiting, "TPU201").verdict is Verdict.FAILED
    assert examine(waiting, "TPU201", TPU201=0.1).verdict is Verdict.PASSED
