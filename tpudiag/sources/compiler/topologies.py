"""What the TPU compiler calls the targets that TensorFlow users name, and its clock."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from tpudiag.hardware import Target

CLOCK_MHZ = {"v2": 700, "v3": 940, "v4": 1050, "v5e": 1500, "v5p": 1750, "v6e": 1750,
             "tpu7x": 2200}  # fmt: skip
"""From the documented peaks and the multipliers of a core: a matrix product of 8,192 then takes
the compiler's own estimate of cycles at 70 to 100 % of the peak, on each of them."""
LINK_GB_PER_S = {"v3": 100, "v4": 45, "v5e": 45, "v5p": 90, "v6e": 90, "tpu7x": 90}
"""One direction of one inter-chip link; v2 has no documented figure."""
_FLAT = (1, 1), (2, 2), (2, 4), (4, 4), (4, 8), (8, 8), (8, 16), (16, 16), (16, 32), (32, 32)
_CUBES = (
    (1, 1, 1), (2, 2, 1), (2, 2, 2), (2, 2, 4), (2, 4, 4), (4, 4, 4), (4, 4, 8), (4, 8, 8),
    (8, 8, 8), (8, 8, 16), (8, 16, 16), (16, 16, 16),
)  # fmt: skip


@dataclass(frozen=True)
class Topology:
    """A slice as the compiler knows it."""

    name: str
    chip_config: str
    """`megacore` where both cores of a chip are to be one device; empty for the default."""
    replicas: int
    """Replicas of the target that the program is compiled for: all of them, or one."""


def topology(target: Target) -> Topology:
    """The topology of a target; one replica of one chip's slice where its shape is not known."""
    cubic = target.generation in ("v4", "v5p", "tpu7x")
    config = "megacore" if target.generation == "v4" else ""
    shapes: tuple[tuple[int, ...], ...] = _CUBES if cubic else _FLAT
    shape = next((s for s in shapes if prod(s) == target.chips), None)
    if shape is None:
        shape = (2, 2, 1) if cubic else (2, 2)
        return Topology(f"{target.generation}:{_text(shape)}", config, 1)
    return Topology(f"{target.generation}:{_text(shape)}", config, target.replicas)


def _text(shape: tuple[int, ...]) -> str:
    """`2x4`."""
    return "x".join(map(str, shape))


def step_ms(target: Target, cycles: int) -> float:
    """A step of so many estimated cycles, at the generation's clock."""
    return cycles / CLOCK_MHZ[target.generation] / 1e3


def all_reduce_ms(target: Target, size_bytes: int) -> float | None:
    """A ring all-reduce along one axis, at the link's documented rate; None where not documented.

    Each device sends and receives 2 (n - 1) / n of the bytes, both ways round.
    """
    rate = LINK_GB_PER_S.get(target.generation)
    chips = target.chips
    if rate is None:
        return None
    return 0.0 if chips == 1 else 2 * (chips - 1) / chips * size_bytes / (2 * rate * 1e9) * 1e3
