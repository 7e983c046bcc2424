"""The TPU generations: what TensorFlow users can name, and what each offers.

Compiler-usable HBM per device was read off the TPU compiler's own out-of-memory messages
(GiB; libtpu 0.0.51, and third-party logs for 7x). Peaks are the vendor's documented figures
per chip. Tiles: openxla/xla tiled_layout.md; the MXU is 128 x 128, 256 x 256 from v6e on.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tpudiag.errors import UsageError

GIB = 2**30


@dataclass(frozen=True)
class Generation:
    """One TPU generation; a device is what TensorFlow sees as one replica."""

    name: str
    device_kind: str
    aliases: tuple[str, ...]
    cores_per_chip: int
    devices_per_chip: int
    chips_per_host: int
    named_by_cores: bool
    """Whether the number in a name such as v3-8 counts TensorCores rather than chips."""
    usable_hbm_gib_per_device: float
    hbm_gib_per_chip: float
    peak_bf16_tflops_per_chip: float
    hbm_gb_per_s_per_chip: float
    mxu_tile: int
    minimum_tensorflow: tuple[int, int] | None
    """The first TensorFlow release that drives it, None where none does."""

    @property
    def usable_hbm_bytes(self) -> int:
        """What the compiler may use on one device."""
        return int(self.usable_hbm_gib_per_device * GIB)


GENERATIONS = (
    Generation("v2", "TPU v2", ("v2",), 2, 2, 4, True, 7.48, 16, 46, 716, 128, (1, 15)),
    Generation("v3", "TPU v3", ("v3",), 2, 2, 4, True, 15.48, 32, 123, 900, 128, (1, 15)),
    Generation("v4", "TPU v4", ("v4",), 2, 1, 4, True, 30.75, 32, 275, 1230, 128, (2, 8)),
    Generation(
        "v5e", "TPU v5 lite", ("v5e", "v5litepod", "v5lite"), 1, 1, 8, False,
        15.75, 16, 197, 819, 128, (2, 15),
    ),
    Generation("v5p", "TPU v5", ("v5p",), 2, 1, 4, True, 95.73, 95, 459, 2765, 128, (2, 15)),
    Generation("v6e", "TPU v6 lite", ("v6e",), 1, 1, 8, False, 31.24, 32, 918, 1638, 256, (2, 15)),
    Generation(
        "tpu7x", "TPU7x", ("tpu7x", "7x", "v7x"), 2, 2, 4, True,
        94.75, 192, 2307, 7380, 256, None,
    ),
)  # fmt: skip

DEFAULT_TARGET = "v5e-8"


@dataclass(frozen=True)
class Target:
    """A TPU that a job is meant for, such as v5e-8."""

    name: str
    generation: str
    chips: int
    replicas: int
    """Devices as TPUStrategy counts them: v4 and v5p show one (megacore) device a chip."""
    hosts: int

    @property
    def hardware(self) -> Generation:
        """The generation's figures."""
        return next(g for g in GENERATIONS if g.name == self.generation)


def target(name: str) -> Target:
    """The target for an accelerator type as users write it: v5e-8, v5litepod-8, v3-32, v4-8."""
    match = re.fullmatch(r"([a-z0-9]+?)-(\d+)", name.strip().lower())
    generation = match and next((g for g in GENERATIONS if match[1] in g.aliases), None)
    if not match or not generation:
        known = ", ".join(g.name for g in GENERATIONS)
        raise UsageError(f"--for {name}: not a TPU name; write e.g. v5e-8 (generations: {known})")
    count = int(match[2])
    per_chip = generation.cores_per_chip if generation.named_by_cores else 1
    if count < 1 or count % per_chip:
        raise UsageError(
            f"--for {name}: {generation.name} names count TensorCores, {per_chip} to a chip"
            if per_chip > 1
            else f"--for {name}: a TPU has at least one chip"
        )
    chips = count // per_chip
    hosts = (
        1 if chips <= generation.chips_per_host else -(-chips // min(generation.chips_per_host, 4))
    )
    return Target(
        f"{generation.name}-{count}", generation.name, chips,
        chips * generation.devices_per_chip, hosts,
    )  # fmt: skip


def by_device_kind(kind: str) -> Generation | None:
    """The generation for a device_kind or profile device type: `TPU v6 Lite`, also `TPU v6e`."""
    wanted = kind.strip().lower()
    return next((g for g in GENERATIONS if wanted in _kinds(g)), None)


def _kinds(generation: Generation) -> tuple[str, ...]:
    """What profilers and runtimes of different ages call a device of the generation."""
    return generation.device_kind.lower(), *(f"tpu {alias}" for alias in generation.aliases)
