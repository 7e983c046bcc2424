"""The traced training step: functions, tensors, operations, variables, loss."""

from typing import Literal

from tpudiag.model import Location
from tpudiag.records import dataclass

LeafKind = Literal["python value", "tensor", "iterator", "object", "new function"]
"""How tracing classifies a part of an argument."""
ChangeKind = Literal[
    "python value", "shape", "dtype", "structure", "new function", "iterator", "object", "tensor"
]


@dataclass(frozen=True)
class ArgumentChange:
    """The argument that caused a retrace: before, after, and the kind of change."""

    argument: str
    before: str
    after: str
    kind: ChangeKind


@dataclass(frozen=True)
class Retrace:
    """One trace of a function beyond those of warm-up."""

    call: int
    took_ms: float
    changes: tuple[ArgumentChange, ...]
    caller: Location | None
    made_at: Location | None = None
    """Of another shape: the line that made the argument, before the call."""


@dataclass(frozen=True, kw_only=True)
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
    made_by: str = ""
    """The library's function that made it, in place of the framework's own."""


@dataclass(frozen=True)
class TensorSeen:
    """Shape and type of one tensor; None stands for an unknown dimension or rank."""

    name: str
    dtype: str
    shape: tuple[int | None, ...] | None


@dataclass(frozen=True)
class EagerForward:
    """A line between training steps of JAX that runs operations one by one."""

    products: int
    """Matrix products and convolutions among them, of a model."""
    operations: int
    steps: int
    """Training steps seen by then."""
    location: Location
    programs: int = 0
    """Programs of single operations that were compiled for it."""


@dataclass(frozen=True, kw_only=True)
class Dispatch:
    """How training steps reach the device."""

    steps: int
    steps_per_dispatch: int
    ran_singly: bool = False
    """Whether the rehearsal dispatched these steps one by one, as CPU replicas of Keras 3 need."""
    eager_steps: int = 0
    """Steps that ran outside any tf.function."""
    eager_location: Location | None = None
    run_eagerly: bool = False
    not_compiled: tuple[str, ...] = ()
    """Layers of Keras on JAX that it compiles no step with."""
    compiled_at: Location | None = None
    """The line that compiled the model in fit."""
    made_eager_at: Location | None = None
    """The line that called tf.config.run_functions_eagerly(True)."""
    eager_forward: EagerForward | None = None


@dataclass(frozen=True)
class Batch:
    """The batch of the training step."""

    global_batch: int
    per_replica_batch: int
    replicas: int
    location: Location | None = None


@dataclass(frozen=True, kw_only=True)
class MatrixOp:
    """A matrix product or convolution of the traced step, per replica.

    A convolution appears as the MXU's product: rows = batch x output positions,
    contraction = kernel positions x input channels, columns = output channels.
    """

    op: str
    name: str
    dtype: str
    rows: int
    contraction: int
    columns: int
    flops: int
    """Of all turns of the loops that it stands in, as far as their number is known."""
    batch: int = 1
    """Independent products of this shape (BatchMatMul)."""
    location: Location | None = None
    forward: bool = True
    sizes_known: bool = True
    """False where the trace leaves a dimension other than the first open: one was assumed."""
    reads_embedding: bool = False
    """Its contraction is as wide as an embedding of the step, which the author chose."""
    weight_uses: int = 1
    """Products that its variable is in, in this graph: in a loop of Python one for each turn."""
    passes: int = 1
    """Products in bfloat16 that the MXU makes in its place, for the precision that was asked of it;
    its FLOPs are those of one."""

    @property
    def convolves(self) -> bool:
        """It is a convolution: `Conv2D`, in JAX `conv_general_dilated`."""
        return self.op.lower().startswith("conv")


@dataclass(frozen=True)
class StepOp:
    """An operation of the traced step that a TPU cannot run, or runs on the host."""

    kind: str
    """Op type, e.g. `EagerPyFunc`, `StringToHashBucketFast`."""
    name: str
    calls_host: bool
    """Whether it calls back to the host; otherwise it has no TPU kernel."""
    location: Location | None = None
    in_branch: bool = False
    """It runs only in the steps in which a condition holds (jax.lax.cond)."""


@dataclass(frozen=True)
class StepConstant:
    """A constant of the traced step: an array whose every byte is part of the program."""

    name: str
    bytes: int
    shape: tuple[int, ...]
    location: Location | None = None
    factor: bool = False
    """Of floats, and a product takes it as it is: no gradient reaches it."""


@dataclass(frozen=True)
class StepOps:
    """The operations of one replica's step: their number, and the problematic ones."""

    total: int
    found: tuple[StepOp, ...]
    sized_by_data: tuple[StepOp, ...] = ()
    """The user's operations whose result size depends on the data."""
    large_constants: tuple[StepConstant, ...] = ()
    """Those of a mebibyte and more, the largest first."""
    soft_placement: bool = False
    """Whether the job requested it: what the TPU cannot run is run on the host."""


@dataclass(frozen=True, kw_only=True)
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
    trained: bool | None = None
    """Whether a step takes gradients for it; None where none was observed."""


@dataclass(frozen=True)
class ActivationEstimate:
    """Tensors of the traced step that live until the backward pass, for one replica."""

    activation_bytes: int
    largest: tuple[tuple[str, int], ...] = ()
    unknown_tensors: int = 0
    """Tensors whose size the trace does not show."""


@dataclass(frozen=True)
class LossScale:
    """The relation of the differentiated per-replica loss to the global batch.

    `weight` is the loss's change when every per-example loss of the replica rises by one:
    1 / replicas where the loss is scaled by the global batch and gradients are summed.
    """

    weight: float
    replicas: int
    gradients_averaged: bool
    """Gradients are combined by mean, not by sum, over the replicas."""
    location: Location | None = None
    linear: bool = True
    """Whether the loss is a multiple of what was reduced; else (a root, a ratio) `weight` says
    only that nothing on the way from the loss to the batch is the scaling."""
    values_summed: int = 1
    """Of each example, by a function that takes one loss for each."""
    penalty: bool = False
    """Of terms that depend on the variables alone, as regularisers do."""


@dataclass(frozen=True, kw_only=True)
class WideLayer:
    """A layer that was made with a float32 policy of its own, under a global one in 16 bit."""

    name: str
    location: Location
    """The line that made it, in whatever file: a library's, too."""
    dtype_given: str = ""
    """The `dtype` of that line as it is written there, e.g. `self.dtype`."""


@dataclass(frozen=True)
class PrecisionSwitch:
    """A precision setting in the job's arguments, or in a file that they name."""

    text: str
    location: Location | None = None
    """None for an argument."""


@dataclass(frozen=True)
class MixedPrecision:
    """The Keras dtype policies and the loss scaling in use."""

    policies: tuple[str, ...]
    loss_scale_optimizer: str | None = None
    location: Location | None = None
    """Of the loss scaling."""
    policy_location: Location | None = None
    """Of the policy: the line that set it, or that of the first layer that has it."""
    global_policy: str | None = None
    """The one in force when the last layer was made, or set after it."""
    made_before: Location | None = None
    """The first layer that computes in float32 since no other policy was set before it."""
    wide_layers: tuple[WideLayer, ...] = ()
    set_at: Location | None = None
    """The line that set the global policy last."""
    unused_at: Location | None = None
    """The line that made a policy of 16 bit that is set nowhere."""
