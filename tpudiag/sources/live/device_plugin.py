"""Metrics of GKE's TPU device plugin, served on each node: use of the chips, of all its pods.

The series' names are those in Google's documentation of GKE's TPU metrics; not seen on a node.
"""

import http.client
import re
import urllib.error
import urllib.request
from collections.abc import Iterator

from tpudiag.sources.live.metrics import Figure

PORT = 2112
LIMIT_S = 2.0
LONGEST_BYTES = 1 << 20
SERIES = {
    "duty_cycle": ("TensorCore duty cycle", "%"),
    "tensorcore_utilization": ("TensorCore utilisation", "%"),
    "memory_bandwidth_utilization": ("HBM bandwidth in use", "%"),
    "memory_used": ("HBM in use", "bytes"),
    "memory_total": ("HBM", "bytes"),
}
_SAMPLE = re.compile(r"(\w+)\{(.*)\}\s+(\S+)")
# Anchored at a word's beginning: otherwise each letter of a long word would be tried.
_LABEL = re.compile(r'\b(\w+)="((?:[^"\\]|\\.)*)"')


def figures(node: str, pod: str = "", port: int = PORT) -> tuple[Figure, ...]:
    """Figures of a node's chips, of one pod where named; empty where none are served."""
    host = f"[{node}]" if ":" in node else node
    try:
        with urllib.request.urlopen(f"http://{host}:{port}/metrics", timeout=LIMIT_S) as answer:
            # Another service on that port may answer without end.
            text = answer.read(LONGEST_BYTES).decode("utf-8", errors="replace")
    except (OSError, ValueError, urllib.error.URLError, http.client.HTTPException):
        return ()
    return tuple(sorted(_figures(text, pod), key=lambda one: (one.device, one.name)))


def _figures(text: str, pod: str) -> Iterator[Figure]:
    """The samples of TPUs in Prometheus' text format."""
    chips: dict[str, int] = {}
    for line in text.splitlines():
        sample = _SAMPLE.fullmatch(line.strip())
        if sample is None or sample[1] not in SERIES:
            continue
        labels = dict(_LABEL.findall(sample[2]))
        # The plugin of GPUs serves series of the same names.
        if labels.get("make") != "cloud-tpu" or (pod and labels.get("pod") != pod):
            continue
        try:
            value = float(sample[3])
        except ValueError:
            continue
        # The plugin names chips, figures number them: in order of appearance.
        chip = chips.setdefault(labels.get("accelerator_id", ""), len(chips))
        name, unit = SERIES[sample[1]]
        yield Figure(name, chip, value, unit)
