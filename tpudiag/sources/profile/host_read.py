"""The data read from one host plane."""

from dataclasses import dataclass, field
from typing import NamedTuple

from tpudiag.sources.profile.functions import Call
from tpudiag.sources.profile.intervals import EMPTY, Spans, merged
from tpudiag.sources.profile.memory import Allocations
from tpudiag.sources.profile.pipelines import IteratorSpans


class Mark(NamedTuple):
    """A span of the training loop, ps: a step with its number, or a named event without one."""

    name: str
    thread: str
    number: int
    start: int
    end: int
    numbered: bool


class Callback(NamedTuple):
    """An op that calls back to the host's Python, or an outside-compiled op."""

    op: str
    calls: int
    ps: int


@dataclass(kw_only=True)
class HostRead:
    """One host plane; times in ps since the start of the file's clock."""

    marks: list[Mark] = field(default_factory=list[Mark])
    get_next: dict[str, Spans] = field(default_factory=dict[str, Spans])
    """Time in GetNext, by thread; empty where no iterator was traced."""
    get_next_whole: bool = False
    """Whether it is the time of whole eager calls, because their work was not traced."""
    kernels: Spans = EMPTY
    executes: bool = False
    """Whether TensorFlow's executor was traced, so that its ops would be visible."""
    collectives: Spans = EMPTY
    compiles: Spans = EMPTY
    transfers: Spans = EMPTY
    """Host-to-device transfers; empty where none was traced."""
    iterators: IteratorSpans = field(default_factory=IteratorSpans)
    calls: list[Call] = field(default_factory=list[Call])
    """Calls of tf.functions, in the order of their starts."""
    jitted: list[Call] = field(default_factory=list[Call])
    """Calls of functions that jax.jit compiled."""
    callbacks: tuple[Callback, ...] = ()
    pipeline_callbacks: tuple[Callback, ...] = ()
    """Callbacks on tf.data's own threads."""
    memory: list[Allocations] = field(default_factory=list[Allocations])
    eager: Spans = EMPTY
    """Time in ops that ran eagerly from Python, without functions and iterators."""
    eager_ops: tuple[Callback, ...] = ()
    drives_tpu: bool = False
    """Whether the host runs programs on a TPU, whatever devices the profile holds."""
    spans_ps: tuple[int, int] | None = None
    """From the first to the last event."""
    strangers: int = 0
    unknown_bytes: int = 0
    events: int = 0

    @property
    def all_get_next(self) -> Spans:
        """Time in which any thread waited in GetNext."""
        return merged(*self.get_next.values()) if self.get_next else EMPTY
