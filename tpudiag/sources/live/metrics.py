"""libtpu's own metrics of a running job: HBM in use and duty cycle, without any profiler.

libtpu serves them on a port of the process that holds the TPU (8431 by default).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

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
    """Each metric that the port knows."""
    for name, metric, unit in METRICS:
        request = message("MetricRequest")(metric_name=metric).SerializeToString()
        try:
            answer = method(opened, METHOD)(request, timeout=LIMIT_S)
            values = sorted(_values(answer))
        except (grpc.RpcError, Damaged):
            # A port without the first metric is another service: skip the rest.
            return
        for device, value in values:
            yield Figure(name, device, value, unit)


def _values(answer: bytes) -> Iterator[tuple[int, float]]:
    """Device and value of each point; the gauge is a double or a whole number."""
    for point in parsed("MetricResponse", answer).metric.metrics:
        if (kind := point.gauge.WhichOneof("value")) is not None:
            yield point.attribute.value.int_attr, float(getattr(point.gauge, kind))
