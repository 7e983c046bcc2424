"""libtpu's metrics, from a server that speaks its protocol, as libtpu's own: local credentials."""

from __future__ import annotations

import struct
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import grpc
import pytest

from tpudiag.sources.live.address import Address
from tpudiag.sources.live.metrics import Figure, figures
from tpudiag.sources.live.profiler_messages import encoded

USED, TOTAL, DUTY = (
    "tpu.runtime.hbm.memory.usage.bytes",
    "tpu.runtime.hbm.memory.total.bytes",
    "tpu.runtime.tensorcore.dutycycle.percent",
)


def answer(values: dict[int, float]) -> bytes:
    """A MetricResponse; floats are doubles, whole numbers int64."""
    points: list[tuple[int, bytes]] = []
    for device, value in values.items():
        attribute = encoded([(1, "device-id"), (2, encoded([(3, device)]))])
        double = bytes([1 << 3 | 1]) + struct.pack("<d", value)
        gauge = double if isinstance(value, float) else encoded([(2, value)])
        points.append((3, encoded([(1, attribute), (3, gauge)])))
    return encoded([(1, encoded([(1, "a metric"), *points]))])


@contextmanager
def served(respond: Callable[[bytes], bytes]) -> Generator[Address]:
    def get(request: bytes, _: Any) -> bytes:
        return respond(request)

    server = grpc.server(ThreadPoolExecutor(2))
    methods: dict[str, grpc.RpcMethodHandler[bytes, bytes]] = {
        "GetRuntimeMetric": grpc.unary_unary_rpc_method_handler(get)
    }
    service = "tpu.monitoring.runtime.RuntimeMetricService"
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, methods),))
    port = server.add_secure_port("localhost:0", grpc.local_server_credentials())
    server.start()
    try:
        yield Address("localhost", port)
    finally:
        server.stop(None).wait()


def test_memory_and_duty_cycle() -> None:
    known = {
        encoded([(1, USED)]): answer({1: 5, 0: 2**33 + 1}),
        encoded([(1, TOTAL)]): answer({0: 2**35, 1: 2**35}),
        encoded([(1, DUTY)]): answer({0: 87.5}),
    }
    with served(known.__getitem__) as address:
        found = figures([Address("localhost", 1), address])
    assert found == (
        Figure("HBM in use", 0, 2**33 + 1, "bytes"),
        Figure("HBM in use", 1, 5, "bytes"),
        Figure("HBM", 0, 2**35, "bytes"),
        Figure("HBM", 1, 2**35, "bytes"),
        Figure("TensorCore duty cycle", 0, 87.5, "%"),
    )


@pytest.mark.parametrize("said", [b"", b"\xff\xff", encoded([(1, b"\x1a\x05")])])
def test_an_answer_of_another_kind_is_no_figure(said: bytes) -> None:
    with served(lambda _: said) as address:
        assert figures([address]) == ()
