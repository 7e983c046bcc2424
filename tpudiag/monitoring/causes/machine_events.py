"""Events of a machine: preemption, maintenance, termination, a TPU's state."""

import urllib.request
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tpudiag.signals.environment import CloudTpu

PRODUCT = Path("/sys/class/dmi/id/product_name")
METADATA = "http://metadata.google.internal/computeMetadata/v1/instance/"
LIMIT_S = 1.0
READY = "READY"
"""The one Cloud TPU API state in which a TPU trains; the others were not seen on a real one."""
WELL = ("HEALTHY", "HEALTH_UNSPECIFIED")


@dataclass(frozen=True)
class MachineEvent:
    """An event announced to a machine; `final` where it ends now."""

    text: str
    final: bool = False


def announced(
    product: Path = PRODUCT, ask: Callable[[str], str | None] | None = None
) -> MachineEvent | None:
    """This machine's announced event, None where there is none or the machine is not Google's.

    Follows the documentation of Compute Engine's metadata server; not seen on a TPU VM.
    """
    if not is_googles(product):
        return None
    ask = ask or metadata
    if (ask("preempted") or "").strip().upper() == "TRUE":
        return MachineEvent("it was preempted", final=True)
    event = (ask("maintenance-event") or "NONE").strip()
    return None if event.upper() == "NONE" else MachineEvent(f"maintenance event {event}")


def is_googles(product: Path = PRODUCT) -> bool:
    """Whether this machine is Google's, according to its firmware.

    Elsewhere the metadata server's name does not resolve, and name lookups ignore timeouts.
    """
    with suppress(OSError):
        return "Google" in product.read_text(encoding="utf-8")
    return False


def of_node(node: CloudTpu) -> MachineEvent | None:
    """The TPU's event in the Cloud TPU API; None where it is ready and healthy."""
    if node.state != READY:
        return MachineEvent(f"TPU {node.name} is {node.state}", final=True)
    troubles = [*([] if node.health in WELL else [node.health]), *node.symptoms]
    return MachineEvent(f"TPU {node.name}: {', '.join(troubles)}") if troubles else None


def metadata(name: str) -> str | None:
    """One value from the metadata server."""
    # The server refuses requests without this header.
    request = urllib.request.Request(METADATA + name, headers={"Metadata-Flavor": "Google"})
    with suppress(OSError), urllib.request.urlopen(request, timeout=LIMIT_S) as answer:
        return str(answer.read(200).decode("utf-8", errors="replace"))
    return None
