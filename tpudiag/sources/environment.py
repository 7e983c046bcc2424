"""This machine: a TPU if there is one, and addresses that refuse."""

import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tpudiag.bounded_numbers import whole
from tpudiag.hardware import by_pci
from tpudiag.signals import Runtime

VENDOR = "0x1ae0"
LIBTPU_OF_IMAGES = Path("/lib/libtpu.so")
"""Where the TPU VM images have theirs, which is no distribution of any Python."""


@dataclass(frozen=True)
class FoundTpu:
    """A TPU that this machine offers: what to ask the resolver for, and what it is."""

    ask: str
    generation: str
    chips: int


def find_tpu(
    variables: Mapping[str, str] = os.environ, devices: Path = Path("/sys/bus/pci/devices")
) -> FoundTpu | None:
    """The TPU on the PCI bus of this machine, by its name where TPU_NAME has one.

    A name alone is none: a job that runs on a TPU writes for real, so another machine's is asked
    for.
    """
    generations = [
        generation
        for device in (sorted(devices.iterdir()) if devices.is_dir() else ())
        if (generation := _generation(device)) is not None
    ]
    if not generations:
        return None
    # Each chip is a device of its own on the bus.
    return FoundTpu(variables.get("TPU_NAME") or "local", generations[0], len(generations))


def runtime_of(variables: Mapping[str, str]) -> Runtime:
    """Whose image this is, by the variables that Kaggle and Colab set; a TPU VM's by its libtpu."""
    if "KAGGLE_KERNEL_RUN_TYPE" in variables:
        return "kaggle"
    if "COLAB_RELEASE_TAG" in variables:
        return "colab"
    return "tpu-vm" if LIBTPU_OF_IMAGES.exists() else "own"


def _generation(device: Path) -> str | None:
    def read(name: str) -> str:
        try:
            return (device / name).read_text(encoding="ascii").strip().lower()
        except (OSError, UnicodeDecodeError):
            return ""

    if read("vendor") != VENDOR:
        return None
    generation = by_pci(read("device"), read("subsystem_device"))
    return generation.name if generation else None


def refused(address: str, limit_s: float = 5.0) -> str | None:
    """Why an address such as grpc://10.0.0.2:8470 does not answer; None where it does.

    A TPU's name is not looked up. TensorFlow would wait for a closed port for ever.
    """
    host, colon, port = address.removeprefix("grpc://").rpartition(":")
    number = whole(port)
    if not colon or number is None or number > 65535:
        return None
    try:
        socket.create_connection((host, number), timeout=limit_s).close()
    except OSError as error:
        return f"{type(error).__name__}: {address}: {error.strerror or error}"
    return None
