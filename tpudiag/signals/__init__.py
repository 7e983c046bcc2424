"""The typed facts that checks read: what was seen, and None for what was not measured.

Sources fill them, checks read them, and neither knows the other. Locations are lines of the
user's code. Times are in ms, sizes in bytes, as the names say.
"""

from __future__ import annotations

from enum import Enum

from tpudiag.compiled import CompilerFacts
from tpudiag.hardware import Target
from tpudiag.model import Framework
from tpudiag.records import dataclass
from tpudiag.script_run import (
    CodeFrame,
    Coverage,
    CoverageEnd,
    Crash,
    HookDefect,
    Misfit,
    ShortenedLoop,
    StepFunction,
    UnreachedLines,
)
from tpudiag.signals.causes import Cause, CauseFigure, CauseKind
from tpudiag.signals.checkpoints import BucketSeen, Checkpoints, CheckpointUse
from tpudiag.signals.environment import (
    CloudTpu,
    Environment,
    JobEnd,
    KerasUse,
    LoggedRecord,
    Runtime,
    StandInKind,
    TensorFlowImport,
    Tf1Use,
    TpuAttempt,
)
from tpudiag.signals.input_pipeline import (
    NO_WORK,
    AutotuneChoice,
    DatasetOp,
    FilesRead,
    InputCost,
    InputSpeed,
    Pipeline,
)
from tpudiag.signals.profile import (
    Device,
    DeviceOp,
    MemoryPeak,
    PaddedTensor,
    ProfileFacts,
    ReplicaSteps,
    StepPart,
)
from tpudiag.signals.profile_hosts import (
    CallbackTime,
    HostClock,
    InputBlocker,
    IteratorTime,
    UnreadHost,
)
from tpudiag.signals.sends import HeldBack, Refusal, RefusedBy, SendKind
from tpudiag.signals.sharding import CompiledPrograms, ShardedStep, StepArgument
from tpudiag.signals.step import (
    ActivationEstimate,
    ArgumentChange,
    Batch,
    Dispatch,
    LossScale,
    MatrixOp,
    MixedPrecision,
    PrecisionSwitch,
    Retrace,
    StepConstant,
    StepOp,
    StepOps,
    TensorSeen,
    TracedFunction,
    VariableSeen,
    WideLayer,
)
from tpudiag.signals.step_numerics import (
    BatchNorm,
    ClippedGradients,
    ExpertRouting,
    FrozenNorm,
    LowPrecisionOp,
    OutsideVariable,
    StepNumerics,
)
from tpudiag.signals.throughput import (
    LEAST_STEADY,
    WARM_UP,
    RateUnit,
    StepTimes,
    Throughput,
    ThroughputDrift,
    ThroughputDrop,
    warm_up,
)
from tpudiag.signals.training_loop import (
    FitData,
    FrozenState,
    GpuUse,
    IteratorUse,
    Pause,
    RepeatedSetup,
    ReplicaRead,
    ResultFetch,
    TrainedNumbers,
    TrainingLoop,
    UndistributedInput,
)

__all__ = [
    "EMPTY",
    "LEAST_STEADY",
    "NO_WORK",
    "WARM_UP",
    "ActivationEstimate",
    "ArgumentChange",
    "AutotuneChoice",
    "Batch",
    "BatchNorm",
    "BucketSeen",
    "CallbackTime",
    "Cause",
    "CauseFigure",
    "CauseKind",
    "CheckpointUse",
    "Checkpoints",
    "ClippedGradients",
    "CloudTpu",
    "CodeFrame",
    "CompiledPrograms",
    "Coverage",
    "CoverageEnd",
    "Crash",
    "DatasetOp",
    "Device",
    "DeviceOp",
    "Dispatch",
    "Environment",
    "ExpertRouting",
    "FilesRead",
    "FitData",
    "Framework",
    "FrozenNorm",
    "FrozenState",
    "GpuUse",
    "HeldBack",
    "HookDefect",
    "HostClock",
    "InputBlocker",
    "InputCost",
    "InputSpeed",
    "IteratorTime",
    "IteratorUse",
    "JobEnd",
    "KerasUse",
    "LoggedRecord",
    "LossScale",
    "LowPrecisionOp",
    "MatrixOp",
    "MemoryPeak",
    "Misfit",
    "MixedPrecision",
    "Origin",
    "OutsideVariable",
    "PaddedTensor",
    "Pause",
    "Pipeline",
    "PrecisionSwitch",
    "ProfileFacts",
    "RateUnit",
    "Refusal",
    "RefusedBy",
    "RepeatedSetup",
    "ReplicaRead",
    "ReplicaSteps",
    "ResultFetch",
    "Retrace",
    "Runtime",
    "SendKind",
    "ShardedStep",
    "ShortenedLoop",
    "Signals",
    "StandInKind",
    "StepArgument",
    "StepConstant",
    "StepFunction",
    "StepNumerics",
    "StepOp",
    "StepOps",
    "StepPart",
    "StepTimes",
    "TensorFlowImport",
    "TensorSeen",
    "Tf1Use",
    "Throughput",
    "ThroughputDrift",
    "ThroughputDrop",
    "TpuAttempt",
    "TracedFunction",
    "TrainedNumbers",
    "TrainingLoop",
    "UndistributedInput",
    "UnreachedLines",
    "UnreadHost",
    "VariableSeen",
    "WideLayer",
    "warm_up",
]


class Origin(Enum):
    """Where the facts come from; a rehearsal on CPU replicas cannot give them all."""

    REHEARSAL = "rehearsal"
    TPU = "tpu"
    PROFILE = "profile"
    RECORDING = "recording"


@dataclass(frozen=True, kw_only=True)
class Signals:
    """All facts of one diagnosis; None (not an empty tuple) means not measured."""

    origin: Origin
    framework: Framework = Framework.TENSORFLOW
    target: Target | None = None
    environment: Environment | None = None
    tensorflow: TensorFlowImport | None = None
    keras: KerasUse | None = None
    tpu: TpuAttempt | None = None
    cloud_tpu: CloudTpu | None = None
    tpu_named: str | None = None
    """The TPU that a rehearsed job gave to its resolver; `local` where it gave none."""
    end: JobEnd | None = None
    logged: tuple[LoggedRecord, ...] | None = None
    """What the job logged through Python's logging at level WARNING or above."""
    stood_in: tuple[str, ...] | None = None
    """The data that was stood in for, where that was asked for; None where it was not."""
    stand_in_kinds: tuple[StandInKind, ...] = ()
    """Of which kinds the stand-ins are."""
    held_back: tuple[HeldBack, ...] | None = None
    """What the job was not let send; None where all of it was sent, as by a real run."""
    refusal: Refusal | None = None
    """Where the job was ended by what the rehearsal holds back."""
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
    sharding: ShardedStep | None = None
    """How the step of a JAX job lies on its devices."""
    programs: CompiledPrograms | None = None
    """What JAX compiled."""
    activations: ActivationEstimate | None = None
    loss: tuple[LossScale, ...] | None = None
    numerics: StepNumerics | None = None
    loop: TrainingLoop | None = None
    """What was seen around the training step."""
    trained: TrainedNumbers | None = None
    """What the observed steps computed, where the run had a seed."""
    precision: MixedPrecision | None = None
    precision_switches: tuple[PrecisionSwitch, ...] = ()
    """The user's own settings for it; empty where there is none."""
    checkpoints: Checkpoints | None = None
    buckets: tuple[BucketSeen, ...] | None = None
    steps: StepTimes | None = None
    profile: ProfileFacts | None = None
    throughput: Throughput | None = None
    compiler: CompilerFacts | None = None
    """What the TPU compiler says of the step, with no TPU; None where it was not asked."""
    coverage: Coverage | None = None
    """How much of the script was run."""
    misfits: tuple[Misfit, ...] = ()
    """What the rehearsal changed and made a statement of the job's fail."""
    hook_defects: tuple[HookDefect, ...] = ()
    """Hooks of this tool that failed; the job went on without them."""


EMPTY = Signals(origin=Origin.PROFILE)
"""No fact at all."""
