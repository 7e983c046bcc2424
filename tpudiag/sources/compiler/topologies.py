"""The TPU compiler's names for the targets that TensorFlow users name."""

from dataclasses import dataclass

from tpudiag.hardware import Target


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
    hardware = target.hardware
    shape = target.shape
    if shape is None:
        # The smallest slice that libtpu has of every generation.
        small = (2, 2, 1) if hardware.torus_axes == 3 else (2, 2)
        return Topology(f"{target.generation}:{_text(small)}", hardware.chip_config, 1)
    return Topology(f"{target.generation}:{_text(shape)}", hardware.chip_config, target.replicas)


def _text(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape))
