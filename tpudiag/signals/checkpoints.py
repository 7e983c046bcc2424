"""Checkpoints, and the buckets that they go to."""

from tpudiag.model import Location
from tpudiag.records import dataclass


@dataclass(frozen=True)
class CheckpointUse:
    """A checkpoint manager, callback or save call that the job configured or reached."""

    kind: str
    path: str
    saved: int
    location: Location | None = None
    best_only: bool = False
    """It keeps the best model alone (`save_best_only`): one to use, not one to resume from."""
    shapes: tuple[tuple[int, ...], ...] = ()
    """Of the arrays that it saved first; empty where they were not read."""
    given: bool = True
    """False for a callback that was made, and given to no loop so far."""
    of_this_run: bool = False
    """Its path holds the moment at which this run made it: the next run has another one."""


@dataclass(frozen=True)
class GatheredArrays:
    """Sharded JAX arrays that a line gathered."""

    bytes: int
    """Each time."""
    location: Location
    times: int = 0
    """That these were results of the step."""
    by_all: bool = False
    """By all hosts together: each gets all of them."""


@dataclass(frozen=True)
class Checkpoints:
    """The job's checkpoints; `mentioned` are save calls in its source that were not reached."""

    uses: tuple[CheckpointUse, ...]
    mentioned: tuple[Location, ...] = ()
    gathered: tuple[GatheredArrays, ...] = ()
    looked_for: bool = False
    """The job looked for a checkpoint to go on from."""


@dataclass(frozen=True)
class BucketSeen:
    """A checkpoint bucket; `versioning` is None where it could not be queried."""

    name: str
    versioning: bool | None
    error: str | None = None
