"""What a job hears of the devices of a TPU that is not there."""

import types
from importlib import import_module
from typing import Any

import pytest

from tpudiag.sources.job.jax.devices import Devices
from tpudiag.sources.job.points import privates, table

HBM = 16 << 30


@pytest.mark.parametrize("own", [None, {"bytes_limit": 7}])
def test_a_device_has_the_memory_of_the_target_where_it_says_nothing_of_its_own(
    own: dict[str, int] | None,
) -> None:
    class Device:
        """Stands for jax.Device."""

        def memory_stats(self) -> dict[str, int] | None:
            return own

    devices = Devices(8, HBM)
    devices.watch(jax := _jax(Device))
    said: Any = jax.Device().memory_stats()
    assert said["bytes_limit"] == (own or {"bytes_limit": HBM})["bytes_limit"]
    if own is None:
        assert said["bytes_limit"] > said["bytes_in_use"] == said["peak_bytes_in_use"] == 0
        assert table.JAX_MEMORY.lacking(jax) == ()


@pytest.mark.slow
def test_a_kernel_for_the_tpu_runs_on_the_cpu_and_stays_a_kernel_for_the_tpu() -> None:
    jax, pallas = import_module("jax"), import_module("jax.experimental.pallas")
    devices = Devices(1, HBM)
    devices.watch(_jax(object))
    devices.interpret(import_module(privates.KERNELS))

    def doubled(read: Any, written: Any) -> None:
        written[...] = 2 * read[...]

    given = jax.numpy.ones((8, 128))
    call = jax.jit(pallas.pallas_call(doubled, out_shape=given))
    assert float(call(given).sum()) == 2 * 8 * 128
    lowered = call.trace(given).lower(lowering_platforms=("tpu",))
    assert "tpu_custom_call" in lowered.as_text()


def _jax(device: type) -> Any:
    """As much of JAX as is asked."""
    jax: Any = types.ModuleType("jax")
    jax.Device, jax.config, jax.distributed = device, types.SimpleNamespace(), None
    return jax
