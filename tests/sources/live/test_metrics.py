"""Metrics of libtpu, by its own protocol, and of GKE's device plugin: both from local servers."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from http.server import ThreadingHTTPServer

import grpc
import pytest

from tests import loopback
from tests.loopback import Functions
from tpudiag.sources.live.address import Address
from tpudiag.sources.live.metrics import Figure, figures, node_figures
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


def served(respond: Callable[[bytes], bytes]) -> AbstractContextManager[Address]:
    service = "tpu.monitoring.runtime.RuntimeMetricService"
    functions: Functions = {"GetRuntimeMetric": lambda request, _: respond(request)}
    return loopback.serving_grpc(service, functions, grpc.local_server_credentials())


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


TEXT = """# HELP duty_cycle Percent of time in which the accelerator was busy
# TYPE duty_cycle gauge
duty_cycle{accelerator_id="48-0",make="cloud-tpu",model="tpu-v5",pod="bert-0"} 37
duty_cycle{accelerator_id="48-1",make="cloud-tpu",model="tpu-v5",pod="bert-0"} 36.5
duty_cycle{accelerator_id="48-0",make="nvidia",pod="bert-0"} 99
memory_used{accelerator_id="48-0",make="cloud-tpu",pod="bert-0"} 8.5e+09
memory_used{accelerator_id="48-2",make="cloud-tpu",pod="other-0"} 1
duty_cycle{accelerator_id="48-3",make="cloud-tpu",pod="bert-0"} what
go_goroutines 12
"""


@pytest.fixture
def port() -> Iterator[int]:
    class Handler(loopback.Handler):
        def do_GET(self) -> None:
            self.answer(200 if self.path == "/metrics" else 404, TEXT.encode())

    with loopback.serving(ThreadingHTTPServer(("127.0.0.1", 0), Handler)) as made:
        yield made


def test_the_chips_of_a_pod(port: int) -> None:
    seen = [
        (one.device, one.name, one.value, one.unit)
        for one in node_figures("127.0.0.1", "bert-0", port)
    ]
    assert seen == [
        (0, "HBM in use", 8.5e9, "bytes"),
        (0, "TensorCore duty cycle", 37.0, "%"),
        (1, "TensorCore duty cycle", 36.5, "%"),
    ]
    assert len(node_figures("127.0.0.1", port=port)) == 4


def test_a_node_without_it_gives_none(port: int) -> None:
    assert node_figures("127.0.0.1", "nobody", port) == ()
    assert node_figures("127.0.0.1", port=1) == ()
    assert node_figures("no host", port=port) == ()
