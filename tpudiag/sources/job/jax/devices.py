"""As many CPU devices as the slice has, for a job that asks for a TPU."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from tpudiag.sources.job.points import barrier, user_lines

MOST = 64
"""CPU devices that are made at most: each has threads of its own."""
COUNT_FLAG = "--xla_force_host_platform_device_count="
_TPU = ("tpu", "TPU")


def variables(replicas: int) -> dict[str, str]:
    """What makes JAX find CPU devices alone, so many."""
    # All of XLA_FLAGS: a flag of the TPU's that the job sets would end the CPU's client.
    return {"JAX_PLATFORMS": "cpu", "XLA_FLAGS": f"{COUNT_FLAG}{min(replicas, MOST)}"}


class Devices:
    """Answers for the TPU where the job itself asks for one."""

    def __init__(self, replicas: int) -> None:
        self._replicas = replicas
        self.processes_asked = False
        """Whether the job is one of several processes, of which one is rehearsed."""

    def importing(self) -> None:
        """JAX is about to be imported: what the job set for a TPU gives way."""
        os.environ.update(variables(self._replicas))

    def watch(self, jax: Any) -> None:
        """Answer for the TPU by the CPU's devices."""
        for name in ("devices", "local_devices", "device_count", "local_device_count"):
            self._by_backend(jax, name)
        self._around(jax, "default_backend", self._default_backend)
        self._around(jax.config, "update", self._update)
        self._around(jax.distributed, "initialize", self._initialize)

    def _by_backend(self, jax: Any, name: str) -> None:
        """Any backend named stands for the one that is there."""

        def asked(original: Any, *args: Any, **kwargs: Any) -> Any:
            args = tuple(None if given in _TPU else given for given in args)
            kwargs = {k: None if v in _TPU else v for k, v in kwargs.items()}
            return original(*args, **kwargs)

        self._around(jax, name, asked)

    def _default_backend(self, original: Any) -> Any:
        """`tpu` for a line of the job's; a library would choose kernels that no CPU has."""
        return "tpu" if user_lines.direct_caller() is not None else original()

    def _update(self, original: Any, name: Any, value: Any) -> Any:
        """The platform stays the CPU, and so many devices."""
        if name in ("jax_platforms", "jax_platform_name", "jax_num_cpu_devices"):
            return None
        return original(name, value)

    def _initialize(self, original: Any, *args: Any, **kwargs: Any) -> None:
        """Several processes are rehearsed as one."""
        del original, args, kwargs
        self.processes_asked = True

    def _around(self, owner: Any, name: str, call: Callable[..., Any]) -> None:
        """Put a call around a function, where there is one."""
        around(owner, name, call)


def around(owner: Any, name: str, call: Callable[..., Any]) -> None:
    """Put `call(original, ...)` in a function's place, behind the barrier."""
    original = getattr(owner, name, None)
    if original is None:
        return

    def hook(*args: Any, **kwargs: Any) -> Any:
        return barrier.guarded(name, call, original, args, kwargs)

    hook.__name__, hook.__wrapped__ = name, original  # type: ignore[attr-defined]
    setattr(owner, name, hook)
