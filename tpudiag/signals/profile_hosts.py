"""A profile's facts on the hosts: their input pipelines, callbacks and clocks."""

from tpudiag.records import dataclass


@dataclass(frozen=True, kw_only=True)
class IteratorTime:
    """An op of a tf.data pipeline in a trace; `position` of `of`, counted from the source."""

    op: str
    name: str
    """With the ops that it feeds, e.g. `Iterator::Root::Prefetch::Batch::Map`."""
    position: int
    of: int
    count: int
    self_ms: float
    longest_ms: float
    blocked_ms: float
    """How long the training loop waited for this op rather than for its inputs."""
    host: str = ""
    """Empty where it is of all hosts."""


@dataclass(frozen=True)
class DeviceWait:
    """What devices wait for, from their first module to their last, all of them together."""

    cause: str
    ms: float


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
    interrupted: bool = False
    """Ctrl-C came before its file was read."""


@dataclass(frozen=True)
class HostClock:
    """How far a host's clock is ahead of the first host's, from the ends of common steps."""

    host: str
    ahead_ms: float
