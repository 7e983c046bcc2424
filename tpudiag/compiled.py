"""What the TPU compiler says of a training step: typed facts, None where it did not say."""

from __future__ import annotations

from dataclasses import dataclass

from tpudiag.model import Location


@dataclass(frozen=True)
class RefusedOp:
    """An operation of the step that does not lower to XLA."""

    kind: str
    name: str
    location: Location | None = None


@dataclass(frozen=True)
class LoweredStep:
    """One replica's step as a program for the compiler, or why there is none."""

    batch: int
    """Examples a replica."""
    replicas: int
    """Replicas over which the program sums its gradients."""
    path: str | None = None
    """The StableHLO text."""
    locations_path: str | None = None
    """JSON: operation name -> the user's line."""
    error: str | None = None
    refused_ops: tuple[RefusedOp, ...] = ()
    took_s: float = 0.0
