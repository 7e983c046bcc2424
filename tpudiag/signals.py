"""The typed facts that checks read: what was seen, and None for what was not measured.

Sources fill them, checks read them, and neither knows the other. Locations are lines of the
user's code. Times are in ms, sizes in bytes, as the names say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from statistics import median

from tpudiag.compiled import CompilerFacts
from tpudiag.hardware import Target
from tpudiag.model import Location


class Origin(Enum):
    """Where the facts come from; a rehearsal on CPU replicas cannot give them all."""

    REHEARSAL = "rehearsal"
    TPU = "tpu"
    PROFILE = "profile"
    RECORDING = "recording"


@dataclass(frozen=True)
class Environment:
    """The Python environment of the job; versions are None where nothing is installed."""

    python: str
    distributions: dict[str, str] = field(default_factory=dict[str, str])
    """Installed distributions that matter (tensorflow*, keras, tf-keras, libtpu, jax)."""
    legacy_keras_asked: bool = False
    """TF_USE_LEGACY_KERAS is set to a true value."""


@dataclass(frozen=True)
class TensorFlowImport:
    """What importing TensorFlow in a child process came to."""

    succeeded: bool
    version: str | None = None
    tf2_behavior: bool | None = None
    eager: bool | None = None
    failure: str | None = None
    """The last telling line where the import failed, aborted or did not end in time."""
    took_s: float | None = None


@dataclass(frozen=True)
class KerasUse:
    """Which Keras the job trains with, and through which loop."""

    package: str
    """`keras` (3), `tf_keras` or `keras` 2 inside TensorFlow; with `version`."""
    version: str
    loop: str
    """`fit` or `custom`."""
    epochs: int = 1
    """How often `fit` was told to go over its whole data; 1 where steps_per_epoch cuts it."""
    jit_compile: bool = False
    built_in_scope: bool = True
    steps_per_execution: int = 1
    fit_at: Location | None = None
    """The line that called fit last."""


@dataclass(frozen=True)
class TpuAttempt:
    """An attempt to reach the TPU that was asked for."""

    asked: str
    reached: bool
    phase: str = ""
    """The call that failed: resolver, connect, initialize, strategy."""
    error: str | None = None
    waited_s: float = 0.0
    limit_s: float = 0.0


@dataclass(frozen=True)
class CloudTpu:
    """What the Cloud TPU API says of a TPU, in its words (READY, HEALTHY, PREEMPTED)."""

    name: str
    project: str
    zone: str
    state: str
    health: str
    health_description: str
    accelerator_type: str
    runtime_version: str
    preemptible: bool
    """Preemptible or Spot: it may be taken away at any time."""
    workers: tuple[str, ...]
    """Addresses of its workers inside the network."""
    symptoms: tuple[str, ...] = ()
    """Type, worker and details of what it suffers from."""


@dataclass(frozen=True)
class JobEnd:
    """How the observed job ended, and the last of what it said."""

    how: str
    """finished, stopped (after the steps asked for), exception, exit, signal, timeout."""
    error: str | None = None
    location: Location | None = None
    exit_code: int | None = None
    log_tail: str = ""


@dataclass(frozen=True)
class Tf1Use:
    """A use of a TensorFlow 1 interface."""

    api: str
    location: Location | None


@dataclass(frozen=True)
class ArgumentChange:
    """The argument that made a function be traced again: before, after, and the kind of change."""

    argument: str
    before: str
    after: str
    kind: str
    """python value, shape, dtype, structure, new function, other."""


@dataclass(frozen=True)
class Retrace:
    """One trace of a function beyond those of warm-up."""

    call: int
    took_ms: float
    changes: tuple[ArgumentChange, ...]
    caller: Location | None


@dataclass(frozen=True)
class TracedFunction:
    """A tf.function that was called while the job was observed."""

    name: str
    location: Location | None
    calls: int
    traces: int
    retraces: tuple[Retrace, ...]
    """Traces after the first, those made inside another function's trace left out."""
    trains: bool = False
    """Whether gradients are taken in it."""


@dataclass(frozen=True)
class TensorSeen:
    """Shape and type of one tensor; None stands for an unknown dimension or rank."""

    name: str
    dtype: str
    shape: tuple[int | None, ...] | None


@dataclass(frozen=True)
class DatasetOp:
    """One transformation of a tf.data pipeline; None where the op has no such setting."""

    kind: str
    """Op type without version, e.g. `ParallelMap`, `Prefetch`, `TensorSlice`."""
    parallelism: int | None = None
    """-1 is AUTOTUNE."""
    buffer_size: int | None = None
    batch_size: int | None = None
    drop_remainder: bool | None = None
    count: int | None = None
    stateful: bool = False
    """Its function holds random or other stateful ops."""
    python: bool = False
    """Its function calls back into Python."""
    costly: bool = False
    """Its function does more than casts, scaling and reshaping."""
    reads_files: bool = False
    """It reads the files that the op before it names, one after the other."""
    opens_files: bool = False
    """It opens files, in whatever way."""
    gives_unknown: bool = False
    """A dimension of its elements is unknown."""
    batch_named: tuple[str, ...] = ()
    """Names that the user's code had for the batch size where it was set, e.g. `args.batch`."""
    global_batch_named: int | None = None
    """The value of the one name for a global batch that the user's code had there."""
    elements: int | None = None
    """Elements that it gives in one pass; None where unknown or endless."""
    element_bytes: int | None = None
    """Size of one of them; None where a dimension is unknown."""
    inside_library: bool = False
    """A library's function that the user called made it, e.g. `make_csv_dataset`."""
    location: Location | None = None


NO_WORK = frozenset(
    ("Options", "Model", "MaxIntraOpParallelism", "PrivateThreadPool", "Rebatch", "Take", "Repeat")
)
"""What may follow the last prefetch: settings, and ops that hand elements on untouched."""


@dataclass(frozen=True)
class FilesRead:
    """The files that a pipeline opens: how many, and the first of their paths."""

    count: int
    paths: tuple[str, ...]


@dataclass(frozen=True)
class InputSpeed:
    """What a fix of a pipeline is worth: measured alone on this machine, in turns."""

    fix: str
    """parallel calls, parallel reads, cache, prefetch (with a consumer as slow as the pipeline), or
    AUTOTUNE in the place of static values."""
    before_examples_per_s: float
    after_examples_per_s: float


@dataclass(frozen=True)
class Pipeline:
    """A tf.data pipeline that the training loop reads: its ops from source to end."""

    ops: tuple[DatasetOp, ...]
    elements: tuple[TensorSeen, ...]
    location: Location | None = None
    distributed: bool = False
    trains: bool = True
    cardinality: int | None = None
    """Elements in one pass; -1 infinite, -2 unknown."""
    passes: int = 1
    """How often the loop has started to read it (epochs)."""
    element_bytes: int | None = None
    auto_shard_policy: str | None = None
    files: FilesRead | None = None
    per_replica: bool = False
    """Made by a function for distribute_datasets_from_function: gives per-replica batches."""
    replicas: int | None = None
    """Replicas of the strategy that it was handed to."""
    speeds: tuple[InputSpeed, ...] = ()

    @property
    def examples_per_element(self) -> int:
        """The batch that one element is; 1 where it is not known to be one."""
        return next((op.batch_size for op in reversed(self.ops) if op.batch_size), 1)

    @property
    def worth_caching(self) -> int | None:
        """The last op that is costly and the same in every pass, None where none is.

        Behind a shuffle it still does the same to each element, but no longer to each batch.
        """
        found = None
        shuffled = False
        for number, op in enumerate(self.ops):
            shuffled |= op.kind == "Shuffle" and not self.names_files(number)
            if op.stateful or (shuffled and op.batch_size):
                break
            if op.kind == "Cache":
                return None
            if op.costly and not op.python and op.location is not None:
                found = number
        return found

    @property
    def elements_to_cache(self) -> int:
        """Elements of the whole pipeline that one pass over the costly ops makes."""
        costly = self.worth_caching
        elements = self.ops[costly].elements if costly is not None else None
        return -(-(elements or 0) // self.examples_per_element)

    @property
    def ends_ahead(self) -> bool:
        """Whether it ends in a prefetch whose buffer is left to AUTOTUNE."""
        last = next((op for op in reversed(self.ops) if op.kind not in NO_WORK), None)
        return last is not None and last.kind == "Prefetch" and last.buffer_size in (-1, None)

    def names_files(self, number: int) -> bool:
        """Whether an op gives names of files that a later one opens."""
        return any(op.opens_files for op in self.ops[number + 1 :])


@dataclass(frozen=True)
class Dispatch:
    """How training steps reach the device."""

    steps: int
    steps_per_dispatch: int
    eager_steps: int = 0
    """Steps that ran outside any tf.function."""
    eager_location: Location | None = None
    run_eagerly: bool = False
    compiled_at: Location | None = None
    """The line that compiled the model in fit."""
    made_eager_at: Location | None = None
    """The line that called tf.config.run_functions_eagerly(True)."""


@dataclass(frozen=True)
class Batch:
    """The batch of the training step."""

    global_batch: int
    per_replica_batch: int
    replicas: int
    location: Location | None = None


@dataclass(frozen=True)
class MatrixOp:
    """A matrix product or convolution of the traced step, per replica.

    A convolution stands as the product it is for the MXU: rows = batch x output positions,
    contraction = kernel positions x input channels, columns = output channels.
    """

    op: str
    name: str
    dtype: str
    rows: int
    contraction: int
    columns: int
    flops: int
    batch: int = 1
    """Independent products of this shape (BatchMatMul)."""
    location: Location | None = None
    forward: bool = True


@dataclass(frozen=True)
class StepOp:
    """An operation of the traced step that a TPU cannot run, or runs on the host."""

    kind: str
    """Op type, e.g. `EagerPyFunc`, `StringToHashBucketFast`."""
    name: str
    calls_host: bool
    """It calls back to the host, rather than having no TPU kernel."""
    location: Location | None = None


@dataclass(frozen=True)
class StepOps:
    """The operations of one replica's step: how many, and those that stand out."""

    total: int
    found: tuple[StepOp, ...]


@dataclass(frozen=True)
class VariableSeen:
    """A variable, its size on one replica, and whether it was made inside strategy.scope()."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    bytes: int
    in_scope: bool
    trainable: bool
    optimizer: bool = False
    location: Location | None = None


@dataclass(frozen=True)
class ActivationEstimate:
    """Tensors of the traced step that live until the backward pass, for one replica."""

    activation_bytes: int
    largest: tuple[tuple[str, int], ...] = ()
    unknown_tensors: int = 0
    """Tensors whose size the trace did not tell."""


@dataclass(frozen=True)
class LossScale:
    """How the per-replica loss that is differentiated relates to the global batch.

    `weight` is the loss's change when every per-example loss of the replica rises by one:
    1 / replicas where the loss is scaled by the global batch and gradients are summed.
    """

    weight: float
    replicas: int
    gradients_averaged: bool
    """Gradients are combined by mean, not by sum, over the replicas."""
    location: Location | None = None


@dataclass(frozen=True)
class MixedPrecision:
    """The Keras dtype policies and the loss scaling in use."""

    policies: tuple[str, ...]
    loss_scale_optimizer: str | None = None
    location: Location | None = None
    """Of the loss scaling."""
    policy_location: Location | None = None
    """Of the policy: the line that set it, or that of the first layer that has it."""


@dataclass(frozen=True)
class CheckpointUse:
    """A checkpoint manager, callback or save call that the job set up or reached."""

    kind: str
    path: str
    saved: int
    location: Location | None = None


@dataclass(frozen=True)
class Checkpoints:
    """What the job does about checkpoints; `mentioned` are save calls in its source not reached."""

    uses: tuple[CheckpointUse, ...]
    mentioned: tuple[Location, ...] = ()


@dataclass(frozen=True)
class BucketSeen:
    """A bucket that checkpoints go to; `versioning` is None where it could not be asked."""

    name: str
    versioning: bool | None
    error: str | None = None


WARM_UP = 3.0
"""First steps that took longer than this times what the others took are warm-up."""
LEAST_STEADY = 3
"""Steps that must follow them."""


def warm_up(step_ms: Sequence[float]) -> int:
    """How many first steps are warm-up (tracing, compilation, buffers that fill); mostly none.

    Each of them took over three times as long as the median, and as nine in ten of those after.
    """
    usual = median(step_ms) if step_ms else 0.0
    first = next((n for n, ms in enumerate(step_ms) if ms <= WARM_UP * usual), 0)
    rest = sorted(step_ms[first:])
    if not first or len(rest) < max(LEAST_STEADY, first):
        return 0
    return first if min(step_ms[:first]) > WARM_UP * rest[(9 * len(rest) - 1) // 10] else 0


@dataclass(frozen=True)
class StepTimes:
    """Step times in ms; `input_wait_ms` is the part of each step spent waiting for input."""

    step_ms: tuple[float, ...]
    input_wait_ms: tuple[float, ...] | None
    source: str
    recovered: bool = False
    input_wait_source: str | None = None
    """What `input_wait_ms` was read from, None where the wait is not known."""

    @property
    def steady(self) -> StepTimes:
        """The same without warm-up: what shares of the step time are taken of."""
        first, waits = warm_up(self.step_ms), self.input_wait_ms
        if not first:
            return self
        return replace(self, step_ms=self.step_ms[first:], input_wait_ms=waits and waits[first:])


@dataclass(frozen=True)
class Device:
    """One TPU core of a profile: what it is, its peaks per chip, and how it spent the window.

    The window reaches from the start of the device's first module or marked step to the end of
    its last; for a device that ran none while others did, from the first to the last of theirs.
    """

    host: str
    name: str
    kind: str
    peak_tflops: float | None
    peak_hbm_gb_per_s: float | None
    busy_ms: float
    window_ms: float
    has_megacore: bool | None = None

    @property
    def idle_share(self) -> float:
        """Share of the window in which no module ran, 0 to 1; 1 where none ran at all."""
        return 1 - self.busy_ms / self.window_ms if self.window_ms else 1.0


@dataclass(frozen=True)
class DeviceOp:
    """An operation on the devices of a profile; all figures summed over its occurrences."""

    name: str
    category: str
    self_ms: float
    share: float
    """Of the busy time of all devices, 0 to 1."""
    count: int
    flops: int | None = None
    bytes_accessed: int | None = None
    total_ms: float | None = None
    """With what is nested in it; rates are over this time."""
    hbm_bytes: int | None = None
    """The part of bytes_accessed that moves from or to the HBM."""
    gflop_per_s: float | None = None
    hbm_gb_per_s: float | None = None
    bound_by: str | None = None
    """Side of the roofline: compute, memory or input."""
    in_16_bit: bool | None = None
    """Whether a matrix operation reads 16-bit floats; None for others."""
    framework_op: str = ""
    location: Location | None = None
    holds_others: bool = False
    """Loops and calls: their FLOPs and bytes are those of what they hold."""


@dataclass(frozen=True)
class StepPart:
    """One part of each step, e.g. `compute` or `idle`, in ms."""

    name: str
    ms: tuple[float, ...]


@dataclass(frozen=True)
class ReplicaSteps:
    """The steps of one replica (a device, or a host without one); the parts add up to the step."""

    host: str
    replica: str
    numbers: tuple[int, ...]
    step_ms: tuple[float, ...]
    parts: tuple[StepPart, ...]

    @property
    def steady(self) -> ReplicaSteps:
        """The same without warm-up: what shares of the step time are taken of."""
        first = warm_up(self.step_ms)
        if not first:
            return self
        parts = tuple(replace(part, ms=part.ms[first:]) for part in self.parts)
        return replace(
            self, numbers=self.numbers[first:], step_ms=self.step_ms[first:], parts=parts
        )

    def part(self, *names: str) -> float:
        """The ms of all steps in the parts of these names; 0 where it has none of them."""
        return sum(sum(part.ms) for part in self.parts if part.name in names)


@dataclass(frozen=True)
class MemoryPeak:
    """The most that one allocator of a host held during the capture, and what held it."""

    host: str
    allocator: str
    peak_bytes: int
    capacity_bytes: int | None
    lifetime_peak_bytes: int | None
    """The most since the process began, as the allocator itself counts (no programs' stacks)."""
    held_by: tuple[tuple[str, int], ...]
    """The largest holders at the peak, and their bytes."""
    at_ms: float
    timeline: tuple[tuple[float, int], ...] = ()
    """When (ms) and how much (bytes) it held; of many moments the fullest ones."""

    @property
    def of_host(self) -> bool:
        """Whether it is the host's own memory: `cpu`, `mklcpu`, `host_bfc`; no HBM."""
        return any(word in self.allocator.lower() for word in ("cpu", "host"))


@dataclass(frozen=True)
class IteratorTime:
    """An op of a tf.data pipeline in a trace; `position` of `of`, counted from the source."""

    op: str
    name: str
    position: int
    of: int
    count: int
    self_ms: float
    longest_ms: float
    blocked_ms: float
    """How long the training loop waited for this op rather than for its inputs."""


@dataclass(frozen=True)
class InputBlocker:
    """The tf.data op that the training loop of a host waited for longest."""

    host: str
    op: str
    name: str
    """With the ops that it feeds, e.g. `Iterator::Root::Prefetch::Batch::Map`."""
    blocked_ms: float


@dataclass(frozen=True)
class PaddedTensor:
    """The result of an operation, without and with the padding of its tiles."""

    name: str
    shape: str
    logical_bytes: int
    padded_bytes: int


@dataclass(frozen=True)
class CallbackTime:
    """An op on the host, summed over its calls: one that calls back, or one that ran eagerly."""

    op: str
    count: int
    ms: float


@dataclass(frozen=True)
class UnreadHost:
    """A host of the run whose file could not be read, and why."""

    name: str
    reason: str


@dataclass(frozen=True)
class HostClock:
    """How far a host's clock is ahead of the first host's, from the ends of common steps."""

    host: str
    ahead_ms: float


@dataclass(frozen=True)
class ProfileFacts:
    """What a TensorBoard profile holds; None where the trace does not tell."""

    hosts: tuple[str, ...]
    devices: tuple[Device, ...]
    ops: tuple[DeviceOp, ...]
    has_step_marker: bool
    bytes_read: int
    warnings: tuple[str, ...] = ()
    """What the profiler warned of, and what of the file could not be understood."""
    started_ns: int | None = None
    """When the capture began, in ns since the epoch; the first host's where there are several."""
    capture_ms: float | None = None
    """How long the capture took, idle or not."""
    replicas: tuple[ReplicaSteps, ...] = ()
    runs: tuple[tuple[str, int, float], ...] = ()
    """Programs on the devices: name, runs and ms a run; those that ran longest first."""
    functions: tuple[TracedFunction, ...] | None = None
    eager_share: float | None = None
    """Share of the host's trace spent in ops that ran eagerly from Python, 0 to 1."""
    eager_ops: tuple[CallbackTime, ...] | None = None
    """Ops that ran eagerly from Python, those that make a tf.data pipeline among them."""
    callbacks: tuple[CallbackTime, ...] | None = None
    pipeline_callbacks: tuple[CallbackTime, ...] = ()
    """Calls back to the host's Python from tf.data's threads; no part of the step."""
    iterators: tuple[IteratorTime, ...] | None = None
    blockers: tuple[InputBlocker, ...] = ()
    """Of the hosts whose trace shows one; those that waited longest first."""
    memory: tuple[MemoryPeak, ...] | None = None
    padded: tuple[PaddedTensor, ...] | None = None
    mxu_share: float | None = None
    """FLOPs of all operations over what the chips could do in their busy time, 0 to 1."""
    hbm_share: float | None = None
    """HBM traffic of all operations over the peak bandwidth in their busy time, 0 to 1."""
    share_16_bit: float | None = None
    """Of the FLOPs of matrix operations (of their time where FLOPs are not known), 0 to 1."""
    matrix_ops: tuple[MatrixOp, ...] | None = None
    """Products of the program that ran longest, from its HLO; a replica's share of the batch."""
    unread: tuple[UnreadHost, ...] = ()
    clocks: tuple[HostClock, ...] = ()

    @property
    def memory_in_order(self) -> tuple[MemoryPeak, ...]:
        """The peaks of devices before those of hosts, the highest first."""
        return tuple(sorted(self.memory or (), key=lambda m: (m.of_host, -m.peak_bytes)))

    @property
    def source(self) -> str:
        """`profile`, and which hosts its figures lack."""
        if not self.unread:
            return "profile"
        names = [host.name for host in self.unread]
        said = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
        return f"profile without {said} (unreadable)"


@dataclass(frozen=True)
class ThroughputDrop:
    """Throughput below the job's own baseline; `ended` is None while it lasts."""

    since: str
    baseline_per_s: float
    per_s: float
    ended: str | None = None

    @property
    def share(self) -> float:
        """The share of throughput that is lost, 0 to 1."""
        return 1 - self.per_s / self.baseline_per_s


@dataclass(frozen=True)
class Throughput:
    """How fast a job trains and trained; rates are in `unit` a second outside announced pauses."""

    unit: str
    """`examples`, `steps`, or `epochs` where only their ends are known."""
    steps: int
    source: str
    per_s: float | None = None
    baseline_per_s: float | None = None
    """None while the baseline is being learned."""
    drops: tuple[ThroughputDrop, ...] = ()
    silent_s: float | None = None
    """Time since the last step; None where the run has ended."""
    normal_pause_s: float = 0.0
    """The longest pause that is normal for the job, as far as it is known."""
    pausing: str | None = None
    """The kind of pause that the job announced and is in."""
    gone: str | None = None
    """Why the job can go on no more although it did not end: its process is gone."""
    unsure: str | None = None
    """Why silence may as well be the end of the job."""


@dataclass(frozen=True)
class Signals:
    """All facts of one diagnosis; None (not an empty tuple) means not measured."""

    origin: Origin
    target: Target | None = None
    environment: Environment | None = None
    tensorflow: TensorFlowImport | None = None
    keras: KerasUse | None = None
    tpu: TpuAttempt | None = None
    cloud_tpu: CloudTpu | None = None
    tpu_named: str | None = None
    """The TPU that a rehearsed job gave to its resolver; `local` where it gave none."""
    end: JobEnd | None = None
    tf1: tuple[Tf1Use, ...] | None = None
    functions: tuple[TracedFunction, ...] | None = None
    pipelines: tuple[Pipeline, ...] | None = None
    strategy_replicas: int | None = None
    """Replicas of the largest strategy that the job made."""
    dispatch: Dispatch | None = None
    batch: Batch | None = None
    step_inputs: tuple[TensorSeen, ...] | None = None
    """What the training step gets on one replica."""
    matrix_ops: tuple[MatrixOp, ...] | None = None
    step_ops: StepOps | None = None
    variables: tuple[VariableSeen, ...] | None = None
    activations: ActivationEstimate | None = None
    loss: tuple[LossScale, ...] | None = None
    precision: MixedPrecision | None = None
    checkpoints: Checkpoints | None = None
    buckets: tuple[BucketSeen, ...] | None = None
    steps: StepTimes | None = None
    profile: ProfileFacts | None = None
    throughput: Throughput | None = None
    compiler: CompilerFacts | None = None
    """What the TPU compiler says of the step, with no TPU; None where it was not asked."""


NOTHING = Signals(Origin.PROFILE)
"""No fact at all."""
