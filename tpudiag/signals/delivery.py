"""What a job delivers by the wall's clock, and what its loss says."""

from typing import Literal

from tpudiag.records import dataclass

LossFault = Literal["NaN", "Inf", "explodes", "stands still"]


@dataclass(frozen=True, kw_only=True)
class DeliveryFall:
    """Time lost between steps; rates are units a second."""

    lost: float
    """The share of the wall's clock that went by without steps, 0 to 1."""
    usual: float | None
    """The same as is usual for the job; None while that is not known."""
    span_s: float
    times: int
    """Pauses and stalls in that span."""
    kinds: tuple[tuple[str, float], ...]
    """Seconds by what they were lost to, the largest first."""
    per_s: float
    stepping_per_s: float
    """The rate between pauses and stalls."""


@dataclass(frozen=True, kw_only=True)
class LossTrouble:
    """A loss from which nothing is learned."""

    what: LossFault
    step: int
    """About when it began."""
    last: float | None
    """The last that was a number."""
    first: float | None
    said: int
    """How often the job has said it since."""
