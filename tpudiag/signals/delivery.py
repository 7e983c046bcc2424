"""A job's delivery by wall time, and its loss."""

from typing import Literal

from tpudiag.records import dataclass

LossFault = Literal["NaN", "Inf", "explodes", "stands still"]


@dataclass(frozen=True, kw_only=True)
class DeliveryFall:
    """Time lost between steps; rates are units per second."""

    lost: float
    """The share of wall time without steps, 0 to 1."""
    usual: float | None
    """The job's usual share; None while unknown."""
    span_s: float
    times: int
    """Pauses and stalls in that span."""
    kinds: tuple[tuple[str, float], ...]
    """Seconds by cause, the largest first."""
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
    """The last valid number."""
    first: float | None
    said: int
    """Reports of it since then."""
