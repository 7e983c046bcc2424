"""As many CPU devices as the slice has, for a job that asks for a TPU."""

import os
from typing import Any

from tpudiag.sources.job.points import Call, Library, hooks, privates, table, user_lines

MOST = 64
"""CPU devices that are made at most: each has threads of its own."""
COUNT_FLAG = "--xla_force_host_platform_device_count="
_TPU = ("tpu", "TPU")
_IN_USE = (
    "bytes_in_use", "peak_bytes_in_use", "bytes_reserved", "peak_bytes_reserved", "num_allocs",
    "largest_alloc_size", "largest_free_block_bytes",
)  # fmt: skip


def variables(replicas: int) -> dict[str, str]:
    """What makes JAX find CPU devices alone, so many."""
    # All of XLA_FLAGS: a flag of the TPU's that the job sets would end the CPU's client.
    return {"JAX_PLATFORMS": "cpu", "XLA_FLAGS": f"{COUNT_FLAG}{min(replicas, MOST)}"}


class Devices:
    """Answers for the TPU where the job itself asks for one."""

    def __init__(self, replicas: int, hbm_bytes: int) -> None:
        self._replicas, self._hbm_bytes = replicas, hbm_bytes
        self._answers = self.processes_asked = False
        """Whether the job is one of several processes, of which one is rehearsed."""

    def importing(self) -> None:
        """JAX is about to be imported: what the job set for a TPU gives way."""
        os.environ.update(variables(self._replicas))

    def watch(self, jax: Library) -> None:
        """Answer for the TPU by the CPU's devices."""
        self._answers = True
        hooks.around(table.JAX_DEVICES, self._devices, jax)
        hooks.around(table.JAX_MEMORY, self._memory, jax)
        hooks.around(table.JAX_BACKEND, self._default_backend, jax)
        hooks.around(table.JAX_CONFIGURED, self._update, jax)
        hooks.around(table.JAX_DISTRIBUTED, self._initialize, jax)

    def _devices(self, original: Call, *args: object, **kwargs: object) -> object:
        """Any backend named stands for the one that is there."""
        args = tuple(None if given in _TPU else given for given in args)
        kwargs = {k: None if v in _TPU else v for k, v in kwargs.items()}
        return original(*args, **kwargs)

    def _memory(self, original: Call, device: object) -> object:
        """The target's HBM, and none of it in use: what a step takes is the compiler's to say."""
        of_tpu = {"bytes_limit": self._hbm_bytes, "bytes_reservable_limit": self._hbm_bytes}
        return original(device) or of_tpu | dict.fromkeys(_IN_USE, 0)

    def _default_backend(self, original: Call) -> object:
        """`tpu` for a line of the job's; a library would choose kernels that no CPU has."""
        return "tpu" if user_lines.direct_caller() is not None else original()

    def _update(self, original: Call, name: object, value: object) -> object:
        """The platform stays the CPU, and so many devices."""
        if name in ("jax_platforms", "jax_platform_name", "jax_num_cpu_devices"):
            return None
        return original(name, value)

    def _initialize(self, original: Call, *args: object, **kwargs: object) -> None:
        """Several processes are rehearsed as one."""
        del original, args, kwargs
        self.processes_asked = True

    def interpret(self, pallas: Any) -> None:
        """A kernel for the TPU is interpreted on the CPU; lowered for a TPU it stays what it is."""
        if self._answers:
            lowered = privates.KERNEL_LOWERING.of(pallas)

            def on_cpu(context: object, *nodes: object, interpret: object, **of: object) -> object:
                return lowered(context, *nodes, interpret=interpret or True, **of)

            pallas.mlir.register_lowering(privates.KERNEL.of(pallas), on_cpu, platform="cpu")
