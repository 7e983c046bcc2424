"""libtpu's metrics, from a server that speaks its protocol, as libtpu's own: local credentials."""

from __future__ import annotations

from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import grpc
import pytest

from tpudiag.sources.live.address import Address
from tpudiag.sources.live.metrics import Figure, figures
from tpudiag.sources.profile.schema import message

USED, TOTAL, DUTY = (
    "tpu.runtime.hbm.memory.usage.bytes",
    "tpu.runtime.hbm.memory.total.bytes",
    "tpu.runtime.tensorcore.dutycycle.percent",
)


def asked(metric: str) -> bytes:
    return bytes(message("MetricRequest")(metric_name=metric).SerializeToString())


def answer(values: dict[int, float]) -> bytes:
    """A MetricResponse; floats are doubles, whole numbers int64."""
    points = [
        {
            "attribute": {"key": "device-id", "value": {"int_attr": device}},
            "gauge": {"as_double" if isinstance(value, float) else "as_int": value},
        }
        for device, value in values.items()
    ]
    made = message("MetricResponse")(metric={"name": "a metric", "metrics": points})
    return bytes(made.SerializeToString())


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
        asked(USED): answer({1: 5, 0: 2**33 + 1}),
        asked(TOTAL): answer({0: 2**35, 1: 2**35}),
        asked(DUTY): answer({0: 87.5}),
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


@pytest.mark.parametrize("said", [b"", b"\xff\xff", b"\x0a\x02\x1a\x05"])
def test_an_answer_of_another_kind_is_no_figure(said: bytes) -> None:
    with served(lambda _: said) as address:
        assert figures([address]) == ()
