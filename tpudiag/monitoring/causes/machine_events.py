"""What is known of a machine's end: preemption, maintenance, termination, a TPU's state."""

from __future__ import annotations

import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tpudiag.signals.environment import CloudTpu

PRODUCT = Path("/sys/class/dmi/id/product_name")
METADATA = "http://metadata.google.internal/computeMetadata/v1/instance/"
LIMIT_S = 1.0
READY = "READY"
"""The one state of the Cloud TPU API in which a TPU trains; others were not seen on a real one."""
WELL = ("HEALTHY", "HEALTH_UNSPECIFIED")


@dataclass(frozen=True)
class MachineEvent:
    """What a machine was told; `final` where it ends now."""

    text: str
    final: bool = False


def announced(
    product: Path = PRODUCT, ask: Callable[[str], str | None] | None = None
) -> MachineEvent | None:
    """What this machine was told, None where it was told nothing or is none of Google's.

    Follows the documentation of Compute Engine's metadata server; not seen on a TPU VM.
    """
    if not is_googles(product):
        return None
    ask = ask or told
    if (ask("preempted") or "").strip().upper() == "TRUE":
        return MachineEvent("it was preempted", final=True)
    event = (ask("maintenance-event") or "NONE").strip()
    return None if event.upper() == "NONE" else MachineEvent(f"maintenance event {event}")


def is_googles(product: Path = PRODUCT) -> bool:
    """Whether this is a machine of Google's, by its firmware.

    Elsewhere the metadata server's name leads nowhere, and looking up a name heeds no timeout.
    """
    try:
        return "Google" in product.read_text(encoding="utf-8")
    except OSError:
        return False


def of_node(node: CloudTpu) -> MachineEvent | None:
    """What the Cloud TPU API says of a TPU, None where it is ready and well."""
    if node.state != READY:
        return MachineEvent(f"TPU {node.name} is {node.state}", final=True)
    troubles = [*([] if node.health in WELL else [node.health]), *node.symptoms]
    return MachineEvent(f"TPU {node.name}: {', '.join(troubles)}") if troubles else None


def told(name: str) -> str | None:
    """One value of the metadata server."""
    # The server refuses whoever does not send this header.
    request = urllib.request.Request(METADATA + name, headers={"Metadata-Flavor": "Google"})
    try:
        with urllib.request.urlopen(request, timeout=LIMIT_S) as answer:
            return str(answer.read(200).decode("utf-8", errors="replace"))
    except OSError:
        return None
