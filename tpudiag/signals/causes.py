"""Causes of a slowdown or a stop, with figures before and since."""

from enum import Enum

from tpudiag.records import dataclass


class CauseKind(Enum):
    """The cause of a drop or stall. The value is the word in reports and labels."""

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
    """A figure now and before; None where it was unknown then."""

    name: str
    now: float
    unit: str
    before: float | None = None
    source: str = ""


@dataclass(frozen=True)
class Cause:
    """The cause of a drop or stall, as a sentence's end, with its figures."""

    kind: CauseKind
    text: str
    figures: tuple[CauseFigure, ...] = ()
