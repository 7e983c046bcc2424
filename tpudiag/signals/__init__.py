"""The typed facts that checks read; None means not measured.

Sources fill them, checks read them, and neither knows the other. Locations are lines of the
user's code. Times are in ms, sizes in bytes, as the names say.
"""

from enum import Enum

from tpudiag.compiled import CompilerFacts
from tpudiag.hardware import Target
from tpudiag.model import Framework as Framework
from tpudiag.records import dataclass
from tpudiag.script_run import *
from tpudiag.signals.causes import *
from tpudiag.signals.checkpoints import *
from tpudiag.signals.environment import *
from tpudiag.signals.input_pipeline import *
from tpudiag.signals.profile import *
from tpudiag.signals.profile_hosts import *
from tpudiag.signals.sends import *
from tpudiag.signals.sharding import *
from tpudiag.signals.step import *
from tpudiag.signals.step_numerics import *
from tpudiag.signals.throughput import *
from tpudiag.signals.training_loop import *


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
