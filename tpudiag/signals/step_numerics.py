"""What the traced step does to its numbers: precision of the loss, clipping, normalisation."""

from __future__ import annotations

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
    """Of one replica; None where the trace did not tell."""
    location: Location | None


@dataclass(frozen=True)
class FrozenNorm:
    """A batch normalisation that a training step trains, and calls in inference mode."""

    name: str
    location: Location | None
    """The call of the model."""


@dataclass(frozen=True)
class OutsideVariable:
    """A variable that the step takes and that was made outside strategy.scope()."""

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


@dataclass(frozen=True, kw_only=True)
class StepNumerics:
    """All that stood out in the traced step."""

    loss_dtype: str
    low_precision: tuple[LowPrecisionOp, ...] = ()
    clipped: tuple[ClippedGradients, ...] = ()
    gradients_seen: bool = False
    """What became of the gradients was watched."""
    batch_norms: tuple[BatchNorm, ...] = ()
    routings: tuple[ExpertRouting, ...] = ()
    outside_metrics: tuple[OutsideVariable, ...] = ()
    """Of metrics that the step updates."""
    outside_read: tuple[OutsideVariable, ...] = ()
    """Tensors of floats that it reads, as those of a teacher, with the lines that made them."""
    frozen_norms: tuple[FrozenNorm, ...] = ()
