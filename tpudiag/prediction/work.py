"""What each instruction of a step has to do: bytes through HBM, FLOPs, bytes over the links.

No figure of a TPU is in here: the same work is timed for any generation.
"""

from collections.abc import Iterable
from enum import Enum

from tpudiag.records import dataclass

SCALAR_BYTES = 4096
"""Results up to this size, in as many cycles, are made in passing."""


class Kind(Enum):
    """What an instruction is, as far as its time goes."""

    PRODUCT = "matrix product"
    ELEMENTWISE = "elementwise"
    """Loops over elements, reductions in them, gathers, scatters: bound by HBM mostly."""
    MOVE = "move"
    """Broadcasts, pads and copies: bytes alone count."""
    PREFETCH = "prefetch"
    """Copies that run beside others."""
    COLLECTIVE = "collective"
    CUSTOM = "custom call"


@dataclass(frozen=True, kw_only=True)
class Work:
    """One instruction of the step, run `trips` times in each step."""

    name: str
    kind: Kind
    trips: int
    op_name: str = ""
    """The operation of the framework that it was made for."""
    cycles: int | None = None
    """The TPU compiler's estimate of one run; None where it has none."""
    hbm_bytes: int = 0
    """Read and written in one run, with padding."""
    strided_bytes: int = 0
    """Of these, in parts of a tile: each part takes a transfer of its own."""
    flops: int = 0
    link_bytes: int = 0
    """What one device gives into a collective."""
    members: int = 1
    """Devices that take part in it."""
    collective: str = ""
    """`all-reduce`, `all-gather`, ... as one word."""
    hidden: bool = False
    """It runs beside other instructions, as far as these last."""
    shape: str = ""
    result_bytes: int = 0
    """Of what it leaves in HBM, with padding."""

    @property
    def counts(self) -> bool:
        """Whether it is more than a scalar that is made in passing."""
        size = max(self.hbm_bytes, self.link_bytes, self.cycles or 0)
        return bool(self.flops) or size >= SCALAR_BYTES


def flops_of(work: Iterable[Work]) -> int:
    """Of the matrix products of one step, loops unrolled."""
    return sum(each.flops * each.trips for each in work)


def hbm_bytes_of(work: Iterable[Work]) -> int:
    """Read from and written to HBM in one step."""
    return sum(each.hbm_bytes * each.trips for each in work)


def collective_bytes_of(work: Iterable[Work]) -> int:
    """What one device gives into the collectives of one step."""
    return sum(each.link_bytes * each.trips for each in work)
