"""The TPU compiler's facts on a training step; None where it did not give them."""

from dataclasses import field

from tpudiag.model import Location
from tpudiag.prediction.step import PredictedStep
from tpudiag.prediction.times import Range
from tpudiag.prediction.work import Work
from tpudiag.records import dataclass


@dataclass(frozen=True)
class RefusedOp:
    """An operation of the step that does not lower to XLA."""

    kind: str
    name: str
    location: Location | None = None


@dataclass(frozen=True, kw_only=True)
class LoweredStep:
    """One replica's step as a program for the compiler, or why there is none."""

    batch: int
    """Examples a replica."""
    replicas: int
    """Replicas over which the program sums its gradients."""
    path: str | None = None
    """The StableHLO text."""
    locations_path: str | None = None
    """JSON: operation name -> the user's line, by its stack and by the calls of Keras."""
    error: str | None = None
    refused_ops: tuple[RefusedOp, ...] = ()
    steps_per_dispatch: int = 1
    """The requested steps per dispatch (`steps_per_execution`)."""


@dataclass(frozen=True)
class HbmTensor:
    """A tensor of the program that lies in HBM, without and with the padding of its tiles."""

    name: str
    """The TensorFlow operation that made it; the compiler's own name where it has none."""
    shape: str
    logical_bytes: int
    padded_bytes: int
    location: Location | None = None


@dataclass(frozen=True)
class Collective:
    """All collectives of one kind in the program: how many, and the bytes that they combine."""

    kind: str
    count: int
    bytes: int


@dataclass(frozen=True, kw_only=True)
class Program:
    """The compiled step: cycles are the compiler's estimate, unverified on hardware."""

    cycles: int | None
    """Of one step, loops unrolled; collectives have none. None where a loop's length is open."""
    recomputed: tuple[str, ...]
    """Operations that XLA's rematerialisation copied, to fit into HBM."""
    recomputed_cycles: int
    padded: tuple[HbmTensor, ...]
    """Padded tensors, the worst first."""
    collectives: tuple[Collective, ...]
    sharded_update: bool
    """Whether the compiler shards the weight update over the replicas."""
    products: tuple[tuple[str, int], ...] = ()
    """Fusions of matrix products by TensorFlow operation, and their cycles; the longest first."""
    work: tuple[Work, ...] | None = None
    """The work of its instructions; None where a loop's length is open."""


@dataclass(frozen=True)
class OutOfMemory:
    """The compiler's refusal: the memory needed and available."""

    message: str
    needed_bytes: int | None
    usable_bytes: int | None
    largest: tuple[HbmTensor, ...] = ()
    """The largest results of the program as it was lowered: before fusion, without padding."""


@dataclass(frozen=True, kw_only=True)
class Compilation:
    """One program compiled for one target; `error` says why there are no figures."""

    target: str
    batch: int
    """Examples a replica."""
    replicas: int
    """Replicas that the program was compiled for, with the all-reduce between them."""
    compiler: str
    """E.g. `libtpu 0.0.51, jax 0.10.2`."""
    usable_bytes: int
    argument_bytes: int = 0
    output_bytes: int = 0
    alias_bytes: int = 0
    temporary_bytes: int = 0
    code_bytes: int = 0
    flops: float = 0.0
    compiled: bool = False
    """Whether the compiler made a program; it fits then."""
    program: Program | None = None
    """None where there is none, or where its text could not be read."""
    out_of_memory: OutOfMemory | None = None
    error: str | None = None
    dynamic: tuple[RefusedOp, ...] = ()
    """Operations whose result has a bounded or unknown dimension."""
    predicted: PredictedStep | None = None
    """The time of the step, predicted from the program; None where there is none to read."""
    lines: dict[str, str] = field(default_factory=dict[str, str])
    """The user's line (`train.py:12`) by TensorFlow operation, where it is known."""
    took_s: float = 0.0
    cached: bool = False

    @property
    def need_bytes(self) -> int | None:
        """HBM that one replica's step takes; None where it did not compile."""
        if not self.compiled:
            return self.out_of_memory.needed_bytes if self.out_of_memory else None
        return (
            self.argument_bytes
            + self.output_bytes
            # Outputs that take the place of arguments (variables updated in place) are in both
            # figures.
            - self.alias_bytes
            + self.temporary_bytes
            + self.code_bytes
        )

    @property
    def step_ms(self) -> float | None:
        """The predicted step of the device, collectives with it."""
        return self.predicted.device_ms.value if self.predicted else None

    @property
    def collective_ms(self) -> Range | None:
        """The collectives' part of it; None where it was compiled for one replica only."""
        return self.predicted.collective_ms if self.predicted and self.replicas > 1 else None

    @property
    def fits(self) -> bool | None:
        """Whether the compiler made a program that fits; None where it did not say."""
        if self.out_of_memory is not None:
            return False
        return True if self.compiled else None

    @property
    def headroom(self) -> float | None:
        """The share of the compiler-usable HBM that is left; negative where it does not fit."""
        need = self.need_bytes
        return None if need is None else 1 - need / self.usable_bytes

    @property
    def source(self) -> str:
        """Where the figures come from, for evidence."""
        return f"TPU compiler ({self.compiler}) for {self.target}"


@dataclass(frozen=True)
class CompilerFacts:
    """The step of one job: its lowering, and the compiler's answer."""

    lowered: LoweredStep | None = None
    """None where the job showed no step to lower."""
    step: Compilation | None = None
    small: Compilation | None = None
    """The same with a small batch, which needs no recomputation."""
    reason: str | None = None
    """Why there is no compilation, where there is none."""
    how: str | None = None
    """How to get one."""
    interrupted: bool = False
    """Ctrl-C ended the compilation."""
