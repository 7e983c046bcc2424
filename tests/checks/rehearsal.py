"""A healthy rehearsal as checks see it, and what is changed in it to make a job ill."""

from dataclasses import replace
from typing import Any, Literal

from tpudiag import engine
from tpudiag.catalogue import checks
from tpudiag.hardware import target
from tpudiag.model import Finding, Framework, Location, Outcome, Severity
from tpudiag.settings import Settings
from tpudiag.signals import *

HERE = Location("train.py", 7)


Row = tuple[str, Signals] | tuple[str, Signals, Severity]
"""A check, what it must find a fault in, and how severe: a warning if nothing is said."""
RAN_OUT = "Your input ran out of data; interrupting training"


def of_jax(*arguments: StepArgument, **seen: Any) -> Signals:
    """A job of JAX whose step ran on eight devices, or on one of them."""
    known: dict[str, Any] = {"location": HERE, "devices": 8, **seen}
    step = ShardedStep(function="train_step", here=8, arguments=arguments, **known)
    return Signals(origin=Origin.REHEARSAL, framework=Framework.JAX, sharding=step)


STATE = StepArgument(
    name="params",
    dtype="float32",
    shape=(8192, 4096),
    bytes=128 << 20,
    state=True,
    donated=True,
    devices=8,
    parts=1,
    example_parts=1,
    placed=True,
)
"""Parameters on all devices, which the step may overwrite."""
SHARD = replace(
    STATE, name="x", shape=(1024, 256), bytes=1 << 20, state=False, donated=False, parts=8
)
"""A batch that is shared out."""


ORBAX = CheckpointUse("orbax.checkpoint.CheckpointManager", "/tmp/job", 3, HERE)


def of_hosts(**seen: Any) -> Signals:
    """A job of JAX on four hosts that saves so."""
    given: dict[str, Any] = {"uses": (), **seen}
    checkpoints = Checkpoints(**given)
    return replace(of_jax(STATE, SHARD), target=target("v5e-16"), checkpoints=checkpoints)


def of_mesh(sizes: tuple[int, int], *, placed_by_jax: bool = False, **seen: Any) -> Signals:
    """Sixteen devices as jax.devices() gives them, the model shared out along the second axis."""
    mesh = StepMesh(
        axes=("data", "model"), sizes=sizes, devices=tuple(range(16)),
        placed_by_jax=placed_by_jax, location=HERE,
    )  # fmt: skip
    shared = replace(STATE, axes=("model",), parts=4), replace(SHARD, axes=("data",))
    return replace(of_jax(*shared, mesh=mesh, **seen), target=target("v5e-16"))


def of_work(
    recomputed_flops: int = 0, made_bytes: int = 1 << 30, made_alone_ms: float | None = None
) -> Signals:
    """A step of JAX whose equations do so much, on a v5e-8."""
    work = StepWork(
        flops=100, recomputed_flops=recomputed_flops,
        recomputed_at=HERE, made_bytes=made_bytes, moved_bytes=1 << 20,
    )  # fmt: skip
    times = StepTimes(
        step_ms=(900.0,) * 8, input_wait_ms=(2.0,) * 8, source="job", made_alone_ms=made_alone_ms
    )
    return replace(of_jax(STATE, SHARD, work=work), target=target("v5e-8"), steps=times)


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
    return tuple(replace(o, rows=rows, flops=2 * rows * o.contraction * o.columns) for o in layers)


def pipeline(*ops: DatasetOp) -> Pipeline:
    return Pipeline(
        ops=tuple(replace(op, location=HERE) for op in ops),
        elements=(TensorSeen("image", "float32", (1024, 784)),), location=HERE, distributed=True,
    )  # fmt: skip


def op(kind: str, **known: Any) -> DatasetOp:
    return DatasetOp(kind=kind, **known)


MIXED = DatasetOp(kind="Shuffle", buffer_size=9_999, location=HERE)
SORTED = UnmixedLabel("3", 0.0, 0.7, 32)
SHORT = PaddedLength(512, 60, 4096)


def given(*ops: DatasetOp, replicas: int = 8, **changed: object) -> tuple[Pipeline, ...]:
    """A pipeline that was handed to a strategy of 8 replicas."""
    return (replace(pipeline(*ops), replicas=replicas, **changed),)  # type: ignore[arg-type]


BATCHED = DatasetOp(kind="Batch", batch_size=1024, drop_remainder=True)


UNEVEN = DatasetOp(kind="Batch", batch_size=1024, drop_remainder=False)


OPEN_BATCH = TensorSeen("x", "float32", (None, 784))


PREFETCHED = DatasetOp(kind="Prefetch", buffer_size=-1)


READER = DatasetOp(kind="TFRecord", opens_files=True)
ENDLESS = DatasetOp(kind="Repeat", count=-1)
COSTLY = DatasetOp(kind="ParallelMap", costly=True, elements=9, element_bytes=9)


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
    schedules=(
        FitSchedule(name="CosineDecay", steps=50, steps_per_epoch=10, epochs=5, location=HERE),
    ),
    pauses=(
        Pause(kind="evaluation", times=3, spent_ms=2e3, training_ms=9e3, location=HERE),
    ),
    fetches=(ResultFetch("result", 3, 25, HERE),),
    tpu_strategy=True,
    trained_in_evaluation=TrainedInEvaluation(norms=0, dropouts=0, location=None),
)  # fmt: skip


REBUILT = replace(LOOP.iterators[0], times=24, steps_between=1)
SAVES = Pause(
    kind="saving", times=4, spent_ms=6e2, training_ms=2e3, location=HERE, dispatches_between=5.0
)
EVALUATES = replace(LOOP.pauses[0], times=64, spent_ms=300.0, training_ms=900.0)


SAME = UndistributedInput(replicas=8, shapes=("int32[2048]",), from_dataset=True, location=HERE)


NUMERICS = StepNumerics(
    loss_followed=True,
    cross_entropies=1,
    loss_dtype="float32",
    gradients_seen=True,
    batch_norms=(BatchNorm("bn", 128, HERE),),
)


def loop(**changed: object) -> Signals:
    """The healthy rehearsal with something changed around its step."""
    return h(loop=replace(LOOP, **changed))  # type: ignore[arg-type]


def numerics(**changed: object) -> Signals:
    """The healthy rehearsal with something changed in its numbers."""
    return h(numerics=replace(NUMERICS, **changed))  # type: ignore[arg-type]


def routing(capacity: int | None) -> ExpertRouting:
    given = {"tokens": 1024, "chosen": 2, "experts": 8}
    return ExpertRouting(name="top_k", capacity=capacity, location=HERE, **given)


def frozen(kind: str, calls: int) -> FrozenState:
    return FrozenState(
        kind=kind, name="lr", function="step", location=HERE,  # type: ignore[arg-type]
        traced="0.1", now="0.2", calls=calls,
    )  # fmt: skip


IMPORTED = TensorFlowImport(
    succeeded=True, version="2.21.0", tf2_behavior=True, eager=True, took_s=3.0
)


HEALTHY = Signals(
    origin=Origin.REHEARSAL,
    target=target("v5e-8"),
    environment=Environment("3.11", {"tensorflow-cpu": "2.21.0", "keras": "3.15.1"}),
    tensorflow=IMPORTED,
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


def fed(*ops: DatasetOp, **changed: Any) -> Signals:
    """The healthy rehearsal with such a pipeline."""
    return h(pipelines=given(*ops, **changed))


def examine(signals: Signals, id_: str, **limits: float) -> Outcome:
    settings = Settings(select=(id_,), limits=limits, pedantic=True)
    return engine.examine(signals, checks(), settings)[0]


def found(id_: str, origin: Origin = Origin.REHEARSAL, **seen: Any) -> tuple[Finding, ...]:
    """What a check finds in a job of which nothing else is known."""
    return examine(Signals(origin=origin, **seen), id_).findings


def waits(wait_ms: float) -> StepTimes:
    """A step of 10 ms that waits so long for its input."""
    return StepTimes(step_ms=(10.0,), input_wait_ms=(wait_ms,), source="p")


def traced(name: str, calls: int, *retraces: Retrace, **changed: Any) -> TracedFunction:
    """A training function that was traced once, and for each of these again."""
    made: dict[str, Any] = {"location": HERE, "trains": True, "traces": len(retraces) + 1}
    return TracedFunction(name=name, calls=calls, retraces=retraces, **made | changed)


def retraced(
    kind: ChangeKind, before: str, after: str, times: int = 5
) -> tuple[TracedFunction, ...]:
    change = ArgumentChange("x", before, after, kind)
    return (traced("step", 25, *(Retrace(n + 2, 900.0, (change,), HERE) for n in range(times))),)


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


NEW_YEAR_NS = 1_767_225_600 * 10**9
"""Of 2026."""
DRIFT = ThroughputDrift(NEW_YEAR_NS, 1.0, 0.7, 8.0)


SLOWER = ThroughputDrop(since_ns=NEW_YEAR_NS, found_ns=NEW_YEAR_NS, baseline_per_s=1.0, per_s=0.8)


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


def with_packages(**versions: str) -> Signals:
    """The healthy rehearsal in an environment of these packages."""
    return h(environment=installed(**versions))


def set_up(**seen: Any) -> Signals:
    """A setup that a line repeats."""
    return loop(setups=(RepeatedSetup(location=HERE, **seen),))


def read_of_replicas(kind: Literal["first", "mean", "sum"], **seen: Any) -> Signals:
    """A line that reads one replica's result, or a mean of them."""
    return loop(replica_reads=(ReplicaRead(kind=kind, replicas=8, location=HERE, **seen),))


def eager_steps(**why: Any) -> Signals:
    """A job whose steps are called one operation after the other."""
    return h(dispatch=Dispatch(steps=25, steps_per_dispatch=1, eager_steps=25, **why))


def jax_waits(step_ms: float, wait_ms: float) -> Signals:
    """A step of JAX that waits so long for its input."""
    times = StepTimes(step_ms=(step_ms,) * 8, input_wait_ms=(wait_ms,) * 8, source="job")
    return replace(of_jax(STATE, SHARD), steps=times)


def compiling(spent_s: float, cache_folder: str | None) -> Signals:
    """A job of JAX that compiles for so long."""
    programs = CompiledPrograms(count=3, spent_s=spent_s, of_step=1, cache_folder=cache_folder)
    return replace(of_jax(), programs=programs)


def saved(kind: str, path: str, times: int = 0, **changed: Any) -> Signals:
    """The healthy rehearsal with such a checkpoint."""
    return h(checkpoints=Checkpoints((CheckpointUse(kind, path, times, HERE),)), **changed)


def on_pod(*ops: DatasetOp, **changed: Any) -> Signals:
    """The healthy rehearsal with such a pipeline on four hosts."""
    return h(target=POD, pipelines=given(*ops, **changed))
