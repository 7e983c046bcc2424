"""Metrics of the chips without any profiler: libtpu's own, and those of GKE's TPU device plugin.

libtpu serves them on a port of the process that holds the TPU (8431 by default), the plugin on each
node, of all its pods. The plugin's names are those of Google's documentation; not seen on a node.
"""

import http.client
import urllib.request
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain

import grpc

from tpudiag.sources.live.address import Address
from tpudiag.sources.live.channel import channel, method
from tpudiag.sources.profile.schema import message, parsed
from tpudiag.sources.profile.wire import Damaged

METHOD = "/tpu.monitoring.runtime.RuntimeMetricService/GetRuntimeMetric"
LIMIT_S = 2.0
METRICS = (
    ("HBM in use", "tpu.runtime.hbm.memory.usage.bytes", "bytes"),
    ("HBM", "tpu.runtime.hbm.memory.total.bytes", "bytes"),
    ("TensorCore duty cycle", "tpu.runtime.tensorcore.dutycycle.percent", "%"),
)


@dataclass(frozen=True)
class Figure:
    """One metric of one device: duty cycle per chip, memory per libtpu device."""

    name: str
    device: int
    value: float
    unit: str


def figures(addresses: Iterable[Address]) -> tuple[Figure, ...]:
    """The metrics of the first port that serves libtpu's; empty where none does."""
    for address in addresses:
        with channel(address) as opened:
            answered = tuple(_metrics(opened))
        if answered:
            return answered
    return ()


def _metrics(opened: grpc.Channel) -> Iterator[Figure]:
    for name, metric, unit in METRICS:
        request = message("MetricRequest")(metric_name=metric).SerializeToString()
        try:
            values = sorted(_values(method(opened, METHOD)(request, timeout=LIMIT_S)))
        except (grpc.RpcError, Damaged):
            # A port without the first metric is another service: skip the rest.
            return
        yield from (Figure(name, device, value, unit) for device, value in values)


def _values(answer: bytes) -> Iterator[tuple[int, float]]:
    """Device and value of each point; the gauge is a double or a whole number."""
    for point in parsed("MetricResponse", answer).metric.metrics:
        if (kind := point.gauge.WhichOneof("value")) is not None:
            yield point.attribute.value.int_attr, float(getattr(point.gauge, kind))


PORT = 2112
"""Of the device plugin, on each node."""
LONGEST_BYTES = 1 << 20
SERIES = {
    "duty_cycle": ("TensorCore duty cycle", "%"),
    "tensorcore_utilization": ("TensorCore utilisation", "%"),
    "memory_bandwidth_utilization": ("HBM bandwidth in use", "%"),
    "memory_used": ("HBM in use", "bytes"),
    "memory_total": ("HBM", "bytes"),
}


def node_figures(node: str, pod: str = "", port: int = PORT) -> tuple[Figure, ...]:
    """Figures of a node's chips, of one pod where named; empty where none are served."""
    host = f"[{node}]" if ":" in node else node
    try:
        with urllib.request.urlopen(f"http://{host}:{port}/metrics", timeout=LIMIT_S) as answer:
            # Another service on that port may answer without end.
            text = answer.read(LONGEST_BYTES).decode("utf-8", errors="replace")
    except (OSError, ValueError, http.client.HTTPException):
        return ()
    return tuple(sorted(_figures(text, pod), key=lambda one: (one.device, one.name)))


def _figures(text: str, pod: str) -> Iterator[Figure]:
    """The samples of TPUs in Prometheus' text format, up to where it is none."""
    from prometheus_client.parser import text_string_to_metric_families

    chips: dict[str, int] = {}
    with suppress(ValueError):
        families = text_string_to_metric_families(text)
        for sample in chain.from_iterable(family.samples for family in families):
            labels, ours = sample.labels, sample.name in SERIES
            # The plugin of GPUs serves series of the same names.
            if not ours or labels.get("make") != "cloud-tpu" or pod not in ("", labels.get("pod")):
                continue
            # The plugin names chips, figures number them: in order of appearance.
            chip = chips.setdefault(labels.get("accelerator_id", ""), len(chips))
            name, unit = SERIES[sample.name]
            yield Figure(name, chip, sample.value, unit)
