"""libtpu's own metrics of a running job: HBM in use and duty cycle, without any profiler.

libtpu serves them on a port of the process that holds the TPU (8431 by default). Names and field
numbers: AI-Hypercomputer/cloud-accelerator-diagnostics, tpu_info/proto/tpu_metric_service.proto.
"""

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import grpc

from tpudiag.sources.live import profiler_messages
from tpudiag.sources.live.address import Address
from tpudiag.sources.live.channel import channel, method
from tpudiag.sources.profile import wire

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
        request = profiler_messages.encoded([(1, metric)])
        try:
            answer = method(opened, METHOD)(request, timeout=LIMIT_S)
            values = sorted(_values(memoryview(answer)))
        except (grpc.RpcError, wire.Damaged):
            # A port without the first metric is another service: skip the rest.
            return
        for device, value in values:
            yield Figure(name, device, value, unit)


def _values(answer: memoryview) -> Iterator[tuple[int, float]]:
    """Device and value of each point in a MetricResponse."""
    for metric in wire.parts(answer, 1):
        for point in wire.parts(metric, 3):
            devices = [
                numbers[3]
                for attribute in wire.parts(point, 1)
                for value in wire.parts(attribute, 2)
                if 3 in (numbers := wire.numbers(value))
            ]
            gauges = [number for gauge in wire.parts(point, 3) for number in _gauge(gauge)]
            if gauges:
                yield (devices[0] if devices else 0), gauges[0]


def _gauge(gauge: memoryview) -> Iterator[float]:
    """A Gauge holds a double (1) or a whole number (2), by metric."""
    for field in wire.fields(gauge):
        if (field.number, field.wire_type) == (1, wire.FIXED64):
            yield struct.unpack("<d", gauge[field.start : field.end])[0]
        elif (field.number, field.wire_type) == (2, wire.VARINT):
            yield wire.varint(gauge, field.start)[0]
