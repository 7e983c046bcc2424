"""The number of chips in a profile's devices."""

from collections.abc import Sequence

from tpudiag.hardware import Generation
from tpudiag.signals import Device

CORE_OF_CHIP = 0.75
"""A plane whose peak is below this share of its chip's is that of one of its cores."""


def chip_count(devices: Sequence[Device], generation: Generation) -> int | None:
    """The chips; None where the devices make up no whole number of them.

    A v4 or v5p chip shows as one device (megacore) or as its two cores. The profile has each
    device's chip; where it does not, the device's peak distinguishes a core from a chip.
    """
    if devices and all(device.chip is not None for device in devices):
        return len({(device.host, device.chip) for device in devices})
    per_chip = generation.devices_per_chip
    peaks = {device.peak_tflops for device in devices}
    peak = peaks.pop() if len(peaks) == 1 else None
    if peak and generation.cores_per_chip > 1:
        is_core = peak < CORE_OF_CHIP * generation.peak_bf16_tflops_per_chip
        per_chip = generation.cores_per_chip if is_core else 1
    # Half a chip: some plane was lost, and a number would be a guess.
    return None if len(devices) % per_chip else len(devices) // per_chip
