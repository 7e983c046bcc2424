"""How a job reaches a TPU: the calls, announced and timed."""

# pyright: reportPrivateUsage=false, reportUnknownLambdaType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from tpudiag.sources.job.tensorflow.devices.tpu import announce


class Resolver:
    def __init__(self, tpu: str = "") -> None:
        self.tpu = tpu


class Strategy:
    def __init__(self, resolver: Resolver) -> None:
        self.resolver = resolver


def initialize(_: Resolver) -> None:
    raise RuntimeError("Unable to initialize backend")


class Told:
    def __init__(self) -> None:
        self.facts: list[dict[str, Any]] = []

    def put(self, **facts: Any) -> None:
        self.facts.append(facts)


def test_each_call_is_announced_and_its_end_told(as_tensorflow: Callable[[Any], None]) -> None:
    tf = SimpleNamespace(
        distribute=SimpleNamespace(
            cluster_resolver=SimpleNamespace(TPUClusterResolver=Resolver), TPUStrategy=Strategy
        ),
        config=SimpleNamespace(experimental_connect_to_cluster=lambda _: None),
        tpu=SimpleNamespace(experimental=SimpleNamespace(initialize_tpu_system=initialize)),
    )
    told: Any = Told()
    as_tensorflow(tf)
    announce(told)
    resolver = Resolver(tpu="my-tpu")
    tf.config.experimental_connect_to_cluster(resolver)
    phases = [facts["phase"] for facts in told.facts]
    assert phases == ["tpu: resolver", "tpu: after resolver", "tpu: connect", "tpu: after connect"]
    with pytest.raises(RuntimeError):
        tf.tpu.experimental.initialize_tpu_system(resolver)
    failed = told.facts[-1]["tpu"]
    assert (failed.asked, failed.reached, failed.phase) == ("my-tpu", False, "initialize")
    assert failed.error == "RuntimeError: Unable to initialize backend"
    Strategy(resolver)
    assert told.facts[-1]["tpu"].reached
    assert not told.facts[-1]["phase"].startswith("tpu: "), "its limit of time is over"
