"""The TPU system as a rehearsed job sees it."""

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from tpudiag.sources.job.points import hooks
from tpudiag.sources.job.tensorflow.devices import tpu_stubs
from tpudiag.sources.job.tensorflow.devices.tpu_system import TpuSystem


@pytest.mark.parametrize(
    ("system", "mesh"),
    [
        (TpuSystem(8), [2, 4, 1, 1]),
        (TpuSystem(8, devices_per_chip=2), [2, 2, 1, 2]),
        (TpuSystem(32, hosts=4, devices_per_chip=2), [4, 4, 1, 2]),
        (TpuSystem(1), [1, 1, 1, 1]),
        (TpuSystem(6), [2, 3, 1, 1]),
        (TpuSystem(3, devices_per_chip=2), [1, 3, 1, 1]),
    ],
)
def test_each_device_has_a_place_of_its_own(system: TpuSystem, mesh: list[int]) -> None:
    assert system.mesh_shape() == mesh
    places = [tuple(place) for host in system.coordinates() for place in host]
    assert len(set(places)) == len(places) == system.replicas
    assert all(0 <= at < size for place in places for at, size in zip(place, mesh, strict=True))


def test_devices_are_named_by_host() -> None:
    names = TpuSystem(16, hosts=2).device_names()
    assert names[0] == "/job:worker/replica:0/task:0/device:TPU:0"
    assert names[-1] == "/job:worker/replica:0/task:1/device:TPU:7"


def test_the_service_of_a_tpu_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    module: Any = SimpleNamespace(Client=None)
    monkeypatch.setitem(sys.modules, "cloud_tpu_client", module)
    tpu_stubs.watch_client(module)
    client = module.Client("tpu-1")
    client.configure_tpu_version("2.15.0", restart_type="always")
    assert client.state() == "READY"
    hooks.undo()
