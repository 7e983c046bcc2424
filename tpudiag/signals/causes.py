"""Why a job became slower, or stopped: what was seen beside what was seen before."""

from enum import Enum

from tpudiag.records import dataclass


class CauseKind(Enum):
    """What a drop or a stall comes from. The value is the word in reports and labels."""

    INPUT = "input"
    HOST_CPU = "host CPU"
    HOST_MEMORY = "host memory"
    COMPILE = "compile"
    CHECKPOINT = "checkpoint"
    EVALUATION = "evaluation"
    PARTNER = "collective partner"
    HBM = "HBM"
    DEVICE = "device throttled"
    PREEMPTION = "preemption"
    STOPPED = "stopped"


@dataclass(frozen=True)
class CauseFigure:
    """One figure now, and what it was before; None where it was not known then."""

    name: str
    now: float
    unit: str
    before: float | None = None
    source: str = ""


@dataclass(frozen=True)
class Cause:
    """What a drop or a stall comes from, as a sentence's end, with the figures that show it."""

    kind: CauseKind
    text: str
    figures: tuple[CauseFigure, ...] = ()
