"""The step's numerics: precision of the loss, clipping, normalisation, randomness."""

from typing import Literal

from tpudiag.model import Location
from tpudiag.records import dataclass


@dataclass(frozen=True)
class LowPrecisionOp:
    """An operation between the last matrix product and the loss that runs in 16 bits."""

    op: str
    name: str
    dtype: str
    location: Location | None


@dataclass(frozen=True)
class MergedNumbers:
    """Whole numbers, as of positions, several of which are one number in 16 bits."""

    dtype: str
    count: int
    different: int
    """Those that are left."""
    location: Location | None


@dataclass(frozen=True)
class ClippedGradients:
    """Gradients of one replica that were clipped before they were summed."""

    call: str
    """e.g. `tf.clip_by_global_norm`."""
    replicas: int
    location: Location | None


@dataclass(frozen=True)
class BatchNorm:
    """A batch normalisation that takes its mean over one replica's examples."""

    name: str
    examples: int | None
    """Of one replica; None where the trace does not show it."""
    location: Location | None


@dataclass(frozen=True)
class FrozenNorm:
    """A batch normalisation that a training step calls in inference mode."""

    name: str
    location: Location | None
    """The call of the model."""
    statistics_lost: bool = False
    """It is called in training mode, and the statistics of `name` are thrown away."""


@dataclass(frozen=True)
class OutsideVariable:
    """A variable used by the step but made outside strategy.scope()."""

    name: str
    location: Location | None


@dataclass(frozen=True, kw_only=True)
class ExpertRouting:
    """A mixture of experts: tokens that a top-k sends to experts of a fixed capacity."""

    name: str
    tokens: int
    """Of one replica, or of one group where they are routed in groups."""
    chosen: int
    """Experts of each token."""
    experts: int
    capacity: int | None
    """Places of each expert; None where no dispatch of fixed size was found."""
    location: Location | None

    @property
    def places(self) -> int | None:
        """Places of all experts together."""
        return None if self.capacity is None else self.capacity * self.experts


SameDrawsKind = Literal["replicas", "twice", "turns", "steps"]
"""Alike on all replicas, in two places of a step, in each turn of its loop, or in each step."""


@dataclass(frozen=True, kw_only=True)
class SameDraws:
    """Random numbers of a step that repeat where different ones are intended."""

    kind: SameDrawsKind
    shape: tuple[int, ...]
    """Of the draw on one replica."""
    copies: int
    """Replicas, turns or places that draw the same; 0 of the steps, which are not counted."""
    location: Location | None
    first: Location | None = None
    """Of a key that is used twice: the first use; of one that the step is given: the draw."""
    each_step: bool = False
    """Beside all replicas each step draws them, too."""


@dataclass(frozen=True)
class PairedLoss:
    """A loss of each prediction with each label, since (n, 1) met (n,)."""

    rows: int
    """n; 0 where the trace leaves it open."""
    location: Location | None


@dataclass(frozen=True)
class LossInput:
    """What a cross-entropy gets is not what it takes."""

    activation: Literal["softmax", "sigmoid", "none"]
    """Of the layer whose output it gets."""
    wants: Literal["scores", "probabilities"]
    location: Location | None = None
    """Of that activation or layer; else of the loss."""


@dataclass(frozen=True)
class ReplicaSimilarities:
    """Each row of a replica's batch is compared with each other row of it, below a softmax."""

    rows: int
    """0 where the trace leaves it open."""
    location: Location | None


@dataclass(frozen=True, kw_only=True)
class ReplicasApart:
    """State that was equal on all replicas before the first step, but diverged."""

    names: tuple[str, ...]
    bytes: int
    """Of all of them, on one replica."""
    of_bytes: int
    """Of all floating state."""
    axes: tuple[str, ...]
    """Over which the step sums no array; where it sums some over each, all of them."""
    replicas: int
    by_program: bool = True
    """Each device runs a program of its own (shard_map, jax.pmap); else only an input differs."""
    location: Location | None


@dataclass(frozen=True, kw_only=True)
class HalfState:
    """Trained state in 16 bit without a 32-bit copy."""

    dtype: str
    bytes: int
    unchanged: float | None
    """The share of values that a step did not change; None where not measured."""
    location: Location | None


@dataclass(frozen=True, kw_only=True)
class LostMoments:
    """Moments of gradients that each call of the step gets as they were at the first."""

    names: tuple[str, ...]
    location: Location | None
    """The call, where it returns the new ones; else the line that makes them."""
    returned: bool
    restarts: int = 0
    """They are kept, but begun anew so often while the parameters went on."""


@dataclass(frozen=True)
class SerialMap:
    """A tf.map_fn in the forward pass: a loop over what it maps."""

    turns: int
    location: Location | None


@dataclass(frozen=True, kw_only=True)
class UnusedRegularizer:
    """Trained variables with a regulariser that is missing from the differentiated loss."""

    variables: int
    name: str
    """Of the first, with its regulariser."""
    location: Location | None
    """Where a collection of TensorFlow 1 was requested; else where the gradient is taken."""
    empty_collection: bool = False
    """A collection of TensorFlow 1 was requested, and was empty."""


@dataclass(frozen=True, kw_only=True)
class StepNumerics:
    """The problems found in the traced step and in its results."""

    loss_dtype: str = ""
    low_precision: tuple[LowPrecisionOp, ...] = ()
    merged: tuple[MergedNumbers, ...] = ()
    clipped: tuple[ClippedGradients, ...] = ()
    gradients_seen: bool = False
    """Whether the use of the gradients was observed."""
    batch_norms: tuple[BatchNorm, ...] = ()
    routings: tuple[ExpertRouting, ...] = ()
    summed_twice: Location | None = None
    """The line that puts gradients together which apply_gradients sums once more."""
    outside_metrics: tuple[OutsideVariable, ...] = ()
    """Of metrics that the step updates."""
    outside_read: tuple[OutsideVariable, ...] = ()
    """Tensors of floats that it reads, as those of a teacher, with the lines that made them."""
    frozen_norms: tuple[FrozenNorm, ...] = ()
    same_draws: tuple[SameDraws, ...] = ()
    draws: int = 0
    """Draws of random numbers that were followed."""
    replicas_apart: ReplicasApart | None = None
    state_compared: bool = False
    """The state of replicas was compared by its values."""
    half_state: HalfState | None = None
    serial_maps: tuple[SerialMap, ...] = ()
    lost_moments: LostMoments | None = None
    double: tuple[Location | None, ...] = ()
    """Lines that compute arrays in float64, in the order of the step."""
    unused_regularizer: UnusedRegularizer | None = None
    paired_loss: PairedLoss | None = None
    similarities: ReplicaSimilarities | None = None
    cross_entropies: int = 0
    """Those behind the loss, of which `loss_inputs` are the unfit ones."""
    loss_inputs: tuple[LossInput, ...] = ()
    loss_followed: bool = False
    """Whether the shapes that meet in the loss were looked at."""
