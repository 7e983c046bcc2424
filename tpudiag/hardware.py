"""The TPU generations: one row each with all that is known of it, and where each figure is from.

Standard library alone: the job's side reads it, too. A new generation is a new row.
"""

import re
from itertools import product
from math import prod

from tpudiag.errors import UsageError
from tpudiag.records import dataclass

GIB = 2**30
_FLAT = ((2, 2), (4, 4), (4, 8), (8, 8), (8, 16), (16, 16), (16, 32), (32, 32))
_SMALL_FLAT = ((1, 1), (2, 2), (2, 4), (4, 4), (4, 8), (8, 8), (8, 16), (16, 16))
_CUBES = (
    (2, 2, 1), (2, 2, 2), (2, 2, 4), (2, 4, 4), (4, 4, 4), (4, 4, 8), (4, 8, 8), (8, 8, 8),
    (8, 8, 16), (8, 16, 16), (16, 16, 16),
)  # fmt: skip

SOURCES = {
    "device_kind": "PJRT device_kind of libtpu's topologies, printed without a TPU",
    "aliases": "Cloud TPU documentation, accelerator types; names that users write beside them",
    "cores_per_chip": "Cloud TPU documentation, system architecture",
    "devices_per_chip": "devices of libtpu's topologies: v4 and v5p show both cores as one",
    "chips_per_host": "Cloud TPU documentation, TPU VM types",
    "usable_hbm_gib_per_device": "out-of-memory messages of the TPU compiler (libtpu 0.0.51); "
    "of tpu7x from logs of third parties",
    "peak_bf16_tflops_per_chip": "Cloud TPU documentation, chip specifications",
    "hbm_gb_per_s_per_chip": "Cloud TPU documentation, chip specifications",
    "compiler_hbm_gb_per_s_per_device": "optimal_seconds of one elementwise operation by the TPU "
    "compiler (libtpu 0.0.52); of tpu7x the documented figure at the share of v5p",
    "mxu_tile": "Cloud TPU documentation, system architecture",
    "clock_mhz": "v4 and v5p documented; the others from the documented peak and the multipliers "
    "of a core, with which large products take the compiler's cycles at 70 to 100 % of the peak",
    "link_gb_per_s": "one way of one link: v2 and v3 from Google's paper on the two (496 and 656 "
    "Gbit/s), the others from the scaling book and the documentation",
    "torus_axes": "Cloud TPU documentation, topologies",
    "slices": "Cloud TPU documentation, configurations of each version",
    "chip_config": "chip configurations of libtpu's topologies",
    "hosts": "v3 to v6e: the machine types of GKE's cluster autoscaler, which agree with GKE's "
    "documentation (plan TPUs); v2 from users of its TPU VM, tpu7x not confirmed",
    "cycles_weight": "published step times beside the compiler's programs "
    "(tests/benchmarks/bench_predicted.py): v2, v3 and v4 fitted, the others between them",
    "pci_device": "tpu-info's table of PCI devices (device.py)",
    "pci_subsystem": "tpu-info's table of PCI devices (device.py)",
    "needs_pjrt": "Cloud TPU documentation, supported runtime versions",
    "minimum_tensorflow": "Cloud TPU documentation, supported runtime versions",
}
"""Where each field of a row is from."""


HOST_LINK_GB_PER_S = (7.5, 32.0)
"""From a host to one chip over PCIe: the scaling book names 15 GB/s (v6e) to 32; half of the lower
figure, as chips may share a link."""


@dataclass(frozen=True)
class Host:
    """A machine type to which chips are attached."""

    machine_type: str
    chips: int
    vcpus: int
    ram_gb: int
    pods: bool = False
    """Whether it belongs to slices of several hosts alone, which have no other."""


@dataclass(frozen=True, kw_only=True)
class Generation:
    """One TPU generation; a device is what TensorFlow sees as one replica."""

    name: str
    device_kind: str
    aliases: tuple[str, ...]
    """What it is called in accelerator types, the one of the Cloud TPU API last."""
    cores_per_chip: int
    """What the number in a name such as v3-8 counts."""
    devices_per_chip: int = 1
    chips_per_host: int = 4
    usable_hbm_gib_per_device: float
    peak_bf16_tflops_per_chip: float
    hbm_gb_per_s_per_chip: float
    compiler_hbm_gb_per_s_per_device: float
    """The bandwidth with which the TPU compiler itself counts."""
    mxu_tile: int = 128
    clock_mhz: int
    cycles_weight: float = 0.5
    """How far the compiler's cycles are believed where they pass the roof: 0 not, 1 wholly."""
    link_gb_per_s: float
    """One way of one link between chips."""
    torus_axes: int
    slices: tuple[tuple[int, ...], ...]
    """The shapes that are sold."""
    hosts: tuple[Host, ...]
    """Machine types, the smallest first."""
    chip_config: str = ""
    """The compiler's name for a chip whose cores are one device, where it is needed."""
    pci_device: str = ""
    pci_subsystem: str = ""
    """Where one PCI device id stands for several generations."""
    needs_pjrt: bool = False
    """Whether its runtime images must be those with PJRT."""
    minimum_tensorflow: tuple[int, int] | None = None
    """The first TensorFlow release that drives it, None where none does."""

    @property
    def usable_hbm_bytes(self) -> int:
        """What the compiler may use on one device."""
        return int(self.usable_hbm_gib_per_device * GIB)

    @property
    def peak_flops_per_device(self) -> float:
        """FLOP/s of one device in bfloat16, as documented."""
        return self.peak_bf16_tflops_per_chip * 1e12 / self.devices_per_chip


GENERATIONS = (
    Generation(
        name="v2", device_kind="TPU v2", aliases=("v2",), cores_per_chip=2, devices_per_chip=2,
        usable_hbm_gib_per_device=7.48, peak_bf16_tflops_per_chip=46, hbm_gb_per_s_per_chip=716,
        compiler_hbm_gb_per_s_per_device=317, clock_mhz=700, cycles_weight=0.9, link_gb_per_s=62,
        torus_axes=2, slices=_FLAT, hosts=(Host("v2-8 TPU VM", 4, 96, 334),), pci_device="0x0027",
        pci_subsystem="0x004e", minimum_tensorflow=(1, 15),
    ),
    Generation(
        name="v3", device_kind="TPU v3", aliases=("v3",), cores_per_chip=2, devices_per_chip=2,
        usable_hbm_gib_per_device=15.48, peak_bf16_tflops_per_chip=123, hbm_gb_per_s_per_chip=900,
        compiler_hbm_gb_per_s_per_device=429, clock_mhz=940, cycles_weight=0.9, link_gb_per_s=82,
        torus_axes=2, slices=_FLAT,
        hosts=(Host("ct3-hightpu-4t", 4, 96, 340), Host("ct3p-hightpu-4t", 4, 48, 340, pods=True)),
        pci_device="0x0027", pci_subsystem="0x004f", minimum_tensorflow=(1, 15),
    ),
    Generation(
        name="v4", device_kind="TPU v4", aliases=("v4",), cores_per_chip=2,
        usable_hbm_gib_per_device=30.75, peak_bf16_tflops_per_chip=275, hbm_gb_per_s_per_chip=1230,
        compiler_hbm_gb_per_s_per_device=982, clock_mhz=1050, cycles_weight=0.3, link_gb_per_s=45,
        torus_axes=3, slices=_CUBES, hosts=(Host("ct4p-hightpu-4t", 4, 240, 407),),
        chip_config="megacore", pci_device="0x005e", minimum_tensorflow=(2, 8),
    ),
    Generation(
        name="v5e", device_kind="TPU v5 lite", aliases=("v5e", "v5lite", "v5litepod"),
        cores_per_chip=1, chips_per_host=8, usable_hbm_gib_per_device=15.75,
        peak_bf16_tflops_per_chip=197, hbm_gb_per_s_per_chip=819,
        compiler_hbm_gb_per_s_per_device=738, clock_mhz=1500, link_gb_per_s=45, torus_axes=2,
        slices=_SMALL_FLAT,
        hosts=(Host("ct5lp-hightpu-1t", 1, 24, 48), Host("ct5lp-hightpu-4t", 4, 112, 192),
               Host("ct5lp-hightpu-8t", 8, 224, 384)),
        pci_device="0x0063", needs_pjrt=True, minimum_tensorflow=(2, 15),
    ),
    Generation(
        name="v5p", device_kind="TPU v5", aliases=("v5p",), cores_per_chip=2,
        usable_hbm_gib_per_device=95.73, peak_bf16_tflops_per_chip=459, hbm_gb_per_s_per_chip=2765,
        compiler_hbm_gb_per_s_per_device=2350, clock_mhz=1750, link_gb_per_s=90, torus_axes=3,
        slices=_CUBES, hosts=(Host("ct5p-hightpu-4t", 4, 208, 448),), pci_device="0x0062",
        needs_pjrt=True, minimum_tensorflow=(2, 15),
    ),
    Generation(
        name="v6e", device_kind="TPU v6 lite", aliases=("v6e",), cores_per_chip=1, chips_per_host=8,
        usable_hbm_gib_per_device=31.24, peak_bf16_tflops_per_chip=918, hbm_gb_per_s_per_chip=1638,
        compiler_hbm_gb_per_s_per_device=1638, mxu_tile=256, clock_mhz=1750, link_gb_per_s=90,
        torus_axes=2, slices=_SMALL_FLAT,
        hosts=(Host("ct6e-standard-1t", 1, 44, 176), Host("ct6e-standard-4t", 4, 180, 720),
               Host("ct6e-standard-8t", 8, 180, 1440)),
        pci_device="0x006f", needs_pjrt=True, minimum_tensorflow=(2, 15),
    ),
    Generation(
        name="tpu7x", device_kind="TPU7x", aliases=("7x", "v7x", "tpu7x"), cores_per_chip=2,
        devices_per_chip=2, usable_hbm_gib_per_device=94.75, peak_bf16_tflops_per_chip=2307,
        hbm_gb_per_s_per_chip=7380, compiler_hbm_gb_per_s_per_device=3136, mxu_tile=256,
        clock_mhz=2200, link_gb_per_s=90, torus_axes=3, slices=_CUBES,
        hosts=(Host("tpu7x-standard-4t", 4, 224, 960),), pci_device="0x0076", needs_pjrt=True,
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

    @property
    def shape(self) -> tuple[int, ...] | None:
        """The shape of the slice, None where none of so many chips is sold.

        Of three axes also those of whole cubes of 4 x 4 x 4.
        """
        listed = next((s for s in self.hardware.slices if prod(s) == self.chips), None)
        cubes, rest = divmod(self.chips, 64)
        if listed is not None or self.hardware.torus_axes < 3 or rest or self.chips > 8960:
            return listed
        sides = ((a, b, cubes // a // b) for a in range(1, 17) for b in range(a, 17)
                 if cubes % (a * b) == 0 and cubes // a // b >= b)  # fmt: skip
        best = min(sides, key=sum, default=None)
        return best and tuple(4 * side for side in best)

    @property
    def host(self) -> Host:
        """The machine type of its hosts."""
        every = self.hardware.hosts
        machines = [m for m in every if m.pods == (self.hosts > 1)] or every
        needed = self.chips if self.hosts == 1 else -(-self.chips // self.hosts)
        return next((each for each in machines if each.chips >= needed), machines[-1])


def coordinates(target: Target) -> tuple[tuple[int, ...], ...] | None:
    """Where each device stands in the slice, in the order of jax.devices(): host by host.

    None where the shape is not known. As libtpu's topologies have it: a host's chips are a square
    of the first two axes, and the first axis runs fastest.
    """
    shape = target.shape
    if shape is None:
        return None
    square = (2, 2, *[1] * len(shape))

    def order(place: tuple[int, ...]) -> tuple[list[int], list[int]]:
        host = [at // side for at, side in zip(place, square, strict=False)]
        return host[::-1], list(place)[::-1]

    chips = sorted(product(*map(range, shape)), key=order)
    return tuple(chip for chip in chips for _ in range(target.hardware.devices_per_chip))


def sold(generation: Generation) -> tuple[str, ...]:
    """The names of the slices that are sold, the smallest first."""
    return tuple(
        f"{generation.name}-{prod(s) * generation.cores_per_chip}" for s in generation.slices
    )


def target(name: str) -> Target:
    """The target for an accelerator type as users write it: v5e-8, v5litepod-8, v3-32, v4-8."""
    match = re.fullmatch(r"([a-z0-9]+?)-(\d+)", name.strip().lower())
    generation = match and next((g for g in GENERATIONS if match[1] in g.aliases), None)
    if re.fullmatch(r"\d+x[a-z0-9]+-\d+", name.strip().lower()):
        raise UsageError(f"--for {name}: several slices; a TPUStrategy spans one: name one slice")
    if not match or not generation:
        known = ", ".join(g.name for g in GENERATIONS)
        raise UsageError(f"--for {name}: not a TPU name; write e.g. v5e-8 (generations: {known})")
    count = int(match[2])
    per_chip = generation.cores_per_chip
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


def sold_target(name: str) -> Target:
    """The same of a slice that can be had; UsageError names those that can."""
    made = target(name)
    if made.shape is None:
        names = ", ".join(sold(made.hardware))
        raise UsageError(f"--for {name}: no such slice is sold; {made.generation} comes as {names}")
    return made


def by_device_kind(kind: str) -> Generation | None:
    """The generation for a device_kind or profile device type: `TPU v6 Lite`, also `TPU v6e`."""
    wanted = kind.strip().lower()
    for each in GENERATIONS:
        # What profilers and runtimes of different ages call a device of the generation.
        if wanted in (each.device_kind.lower(), *(f"tpu {alias}" for alias in each.aliases)):
            return each
    return None


def by_pci(device: str, subsystem: str) -> Generation | None:
    """The generation of a PCI device; v2 and v3 share the first id and differ in the second."""
    known = (g for g in GENERATIONS if g.pci_device == device)
    return next((g for g in known if g.pci_subsystem in ("", subsystem)), None)
