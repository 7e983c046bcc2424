"""Checkpoints, and the buckets that they go to."""

from tpudiag.model import Location
from tpudiag.records import dataclass


@dataclass(frozen=True)
class CheckpointUse:
    """A checkpoint manager, callback or save call that the job set up or reached."""

    kind: str
    path: str
    saved: int
    location: Location | None = None
    best_only: bool = False
    """It keeps the best model alone (`save_best_only`): one to use, not one to resume from."""


@dataclass(frozen=True)
class GatheredArrays:
    """What a line of JAX's fetched of arrays that are shared out over devices."""

    bytes: int
    location: Location


@dataclass(frozen=True)
class Checkpoints:
    """What the job does about checkpoints; `mentioned` are save calls in its source not reached."""

    uses: tuple[CheckpointUse, ...]
    mentioned: tuple[Location, ...] = ()
    gathered: tuple[GatheredArrays, ...] = ()


@dataclass(frozen=True)
class BucketSeen:
    """A bucket that checkpoints go to; `versioning` is None where it could not be asked."""

    name: str
    versioning: bool | None
    error: str | None = None
