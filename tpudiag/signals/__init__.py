"""The typed facts that checks read; None means not measured.

Sources fill them, checks read them, and neither knows the other. Locations are lines of the
user's code. Times are in ms, sizes in bytes, as the names say.
"""

from enum import Enum

from tpudiag.compiled import CompilerFacts
from tpudiag.hardware import Target
from tpudiag.model import Framework as Framework
from tpudiag.records import dataclass
from tpudiag.script_run import CodeFrame as CodeFrame
from tpudiag.script_run import Coverage as Coverage
from tpudiag.script_run import CoverageEnd as CoverageEnd
from tpudiag.script_run import Crash as Crash
from tpudiag.script_run import HookDefect as HookDefect
from tpudiag.script_run import Misfit as Misfit
from tpudiag.script_run import ShortenedLoop as ShortenedLoop
from tpudiag.script_run import StepFunction as StepFunction
from tpudiag.script_run import UnreachedLines as UnreachedLines
from tpudiag.signals.causes import Cause as Cause
from tpudiag.signals.causes import CauseFigure as CauseFigure
from tpudiag.signals.causes import CauseKind as CauseKind
from tpudiag.signals.checkpoints import BucketSeen as BucketSeen
from tpudiag.signals.checkpoints import Checkpoints as Checkpoints
from tpudiag.signals.checkpoints import CheckpointUse as CheckpointUse
from tpudiag.signals.checkpoints import GatheredArrays as GatheredArrays
from tpudiag.signals.environment import CloudTpu as CloudTpu
from tpudiag.signals.environment import Environment as Environment
from tpudiag.signals.environment import JobEnd as JobEnd
from tpudiag.signals.environment import KerasUse as KerasUse
from tpudiag.signals.environment import LoggedRecord as LoggedRecord
from tpudiag.signals.environment import Runtime as Runtime
from tpudiag.signals.environment import StandInKind as StandInKind
from tpudiag.signals.environment import TensorFlowImport as TensorFlowImport
from tpudiag.signals.environment import Tf1Use as Tf1Use
from tpudiag.signals.environment import TpuAttempt as TpuAttempt
from tpudiag.signals.input_pipeline import NO_WORK as NO_WORK
from tpudiag.signals.input_pipeline import TAKES_APART as TAKES_APART
from tpudiag.signals.input_pipeline import AutotuneChoice as AutotuneChoice
from tpudiag.signals.input_pipeline import DatasetOp as DatasetOp
from tpudiag.signals.input_pipeline import FilesRead as FilesRead
from tpudiag.signals.input_pipeline import InputCost as InputCost
from tpudiag.signals.input_pipeline import InputSpeed as InputSpeed
from tpudiag.signals.input_pipeline import Pipeline as Pipeline
from tpudiag.signals.profile import Device as Device
from tpudiag.signals.profile import DeviceOp as DeviceOp
from tpudiag.signals.profile import MemoryPeak as MemoryPeak
from tpudiag.signals.profile import PaddedTensor as PaddedTensor
from tpudiag.signals.profile import ProfileFacts as ProfileFacts
from tpudiag.signals.profile import ReplicaSteps as ReplicaSteps
from tpudiag.signals.profile import StepPart as StepPart
from tpudiag.signals.profile_hosts import CallbackTime as CallbackTime
from tpudiag.signals.profile_hosts import HostClock as HostClock
from tpudiag.signals.profile_hosts import InputBlocker as InputBlocker
from tpudiag.signals.profile_hosts import IteratorTime as IteratorTime
from tpudiag.signals.profile_hosts import UnreadHost as UnreadHost
from tpudiag.signals.sends import HeldBack as HeldBack
from tpudiag.signals.sends import Refusal as Refusal
from tpudiag.signals.sends import RefusedBy as RefusedBy
from tpudiag.signals.sends import SendKind as SendKind
from tpudiag.signals.sharding import CompiledPrograms as CompiledPrograms
from tpudiag.signals.sharding import ReducedInLoop as ReducedInLoop
from tpudiag.signals.sharding import SentAgain as SentAgain
from tpudiag.signals.sharding import ShardedStep as ShardedStep
from tpudiag.signals.sharding import StepArgument as StepArgument
from tpudiag.signals.sharding import StepMesh as StepMesh
from tpudiag.signals.sharding import StepWork as StepWork
from tpudiag.signals.step import ActivationEstimate as ActivationEstimate
from tpudiag.signals.step import ArgumentChange as ArgumentChange
from tpudiag.signals.step import Batch as Batch
from tpudiag.signals.step import Dispatch as Dispatch
from tpudiag.signals.step import EagerForward as EagerForward
from tpudiag.signals.step import LossScale as LossScale
from tpudiag.signals.step import MatrixOp as MatrixOp
from tpudiag.signals.step import MixedPrecision as MixedPrecision
from tpudiag.signals.step import PrecisionSwitch as PrecisionSwitch
from tpudiag.signals.step import Retrace as Retrace
from tpudiag.signals.step import StepConstant as StepConstant
from tpudiag.signals.step import StepOp as StepOp
from tpudiag.signals.step import StepOps as StepOps
from tpudiag.signals.step import TensorSeen as TensorSeen
from tpudiag.signals.step import TracedFunction as TracedFunction
from tpudiag.signals.step import VariableSeen as VariableSeen
from tpudiag.signals.step import WideLayer as WideLayer
from tpudiag.signals.step_numerics import BatchNorm as BatchNorm
from tpudiag.signals.step_numerics import ClippedGradients as ClippedGradients
from tpudiag.signals.step_numerics import ExpertRouting as ExpertRouting
from tpudiag.signals.step_numerics import FrozenNorm as FrozenNorm
from tpudiag.signals.step_numerics import HalfState as HalfState
from tpudiag.signals.step_numerics import LowPrecisionOp as LowPrecisionOp
from tpudiag.signals.step_numerics import OutsideVariable as OutsideVariable
from tpudiag.signals.step_numerics import ReplicasApart as ReplicasApart
from tpudiag.signals.step_numerics import SameDraws as SameDraws
from tpudiag.signals.step_numerics import StepNumerics as StepNumerics
from tpudiag.signals.step_numerics import UnusedRegularizer as UnusedRegularizer
from tpudiag.signals.throughput import LEAST_STEADY as LEAST_STEADY
from tpudiag.signals.throughput import WARM_UP as WARM_UP
from tpudiag.signals.throughput import RateUnit as RateUnit
from tpudiag.signals.throughput import StepTimes as StepTimes
from tpudiag.signals.throughput import Throughput as Throughput
from tpudiag.signals.throughput import ThroughputDrift as ThroughputDrift
from tpudiag.signals.throughput import ThroughputDrop as ThroughputDrop
from tpudiag.signals.throughput import warm_up as warm_up
from tpudiag.signals.training_loop import BatchCallback as BatchCallback
from tpudiag.signals.training_loop import FitData as FitData
from tpudiag.signals.training_loop import FrozenState as FrozenState
from tpudiag.signals.training_loop import GpuUse as GpuUse
from tpudiag.signals.training_loop import IteratorUse as IteratorUse
from tpudiag.signals.training_loop import Pause as Pause
from tpudiag.signals.training_loop import RepeatedSetup as RepeatedSetup
from tpudiag.signals.training_loop import ReplicaRead as ReplicaRead
from tpudiag.signals.training_loop import ResultFetch as ResultFetch
from tpudiag.signals.training_loop import TrainedNumbers as TrainedNumbers
from tpudiag.signals.training_loop import TrainingLoop as TrainingLoop
from tpudiag.signals.training_loop import UndistributedInput as UndistributedInput


class Origin(Enum):
    """The source of the facts; a rehearsal on CPU replicas cannot provide all of them."""

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
    """The TPU that a rehearsed job passed to its resolver; `local` without one."""
    end: JobEnd | None = None
    logged: tuple[LoggedRecord, ...] | None = None
    """What the job logged through Python's logging at level WARNING or above."""
    stood_in: tuple[str, ...] | None = None
    """The data replaced by synthetic data, on request; None without a request."""
    stand_in_kinds: tuple[StandInKind, ...] = ()
    """The kinds of synthetic data."""
    held_back: tuple[HeldBack, ...] | None = None
    """The sends that were held back; None for a real run, where nothing is."""
    refusal: Refusal | None = None
    """Set where the rehearsal's holding back ended the job."""
    tf1: tuple[Tf1Use, ...] | None = None
    functions: tuple[TracedFunction, ...] | None = None
    pipelines: tuple[Pipeline, ...] | None = None
    strategy_replicas: int | None = None
    """Replicas of the largest strategy that the job made."""
    dispatch: Dispatch | None = None
    batch: Batch | None = None
    step_inputs: tuple[TensorSeen, ...] | None = None
    """The training step's inputs on one replica."""
    matrix_ops: tuple[MatrixOp, ...] | None = None
    step_ops: StepOps | None = None
    variables: tuple[VariableSeen, ...] | None = None
    sharding: ShardedStep | None = None
    """The layout of a JAX job's step on its devices."""
    programs: CompiledPrograms | None = None
    """What JAX compiled."""
    activations: ActivationEstimate | None = None
    loss: tuple[LossScale, ...] | None = None
    numerics: StepNumerics | None = None
    loop: TrainingLoop | None = None
    """The observed activity around the training step."""
    trained: TrainedNumbers | None = None
    """The observed steps' results, where the run had a seed."""
    precision: MixedPrecision | None = None
    precision_switches: tuple[PrecisionSwitch, ...] = ()
    """The user's own settings for it; empty where there is none."""
    checkpoints: Checkpoints | None = None
    buckets: tuple[BucketSeen, ...] | None = None
    steps: StepTimes | None = None
    profile: ProfileFacts | None = None
    throughput: Throughput | None = None
    compiler: CompilerFacts | None = None
    """The TPU compiler's facts on the step, without a TPU; None where it was not run."""
    coverage: Coverage | None = None
    """How much of the script was run."""
    misfits: tuple[Misfit, ...] = ()
    """Changes by the rehearsal that made a statement of the job fail."""
    hook_defects: tuple[HookDefect, ...] = ()
    """Hooks of this tool that failed; the job went on without them."""


EMPTY = Signals(origin=Origin.PROFILE)
"""No fact at all."""
