"""Stand-ins for the TPU interfaces: the script sees the target, CPU replicas do the work.

Public names only, under every name that TensorFlow gives them (tf.compat.v1, tf.compat.v2).
"""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Callable
from typing import Any

from tpudiag.sources.job.tensorflow.devices import tpu_strategy, tpu_system
from tpudiag.sources.job.tensorflow.devices.tpu_system import TpuSystem
from tpudiag.sources.job.tensorflow.points import hooks

SUBSTITUTED = (
    "tf.distribute.TPUStrategy",
    "tf.distribute.cluster_resolver.TPUClusterResolver",
    "tf.config.experimental_connect_to_cluster",
    "tf.config.experimental_connect_to_host",
    "tf.tpu.experimental.initialize_tpu_system",
    "tf.tpu.experimental.shutdown_tpu_system",
    "tf.config.list_logical_devices('TPU')",
    "tf.device('/TPU:n')",
)
EMBEDDINGS = ("TPUEmbedding", "TPUEmbeddingV0", "TPUEmbeddingV2")
"""What runs on the TPU's SparseCore: nothing on a CPU stands in for it."""
_TPU_DEVICE = re.compile(r"(?i)(?:/job:\w+)?(?:/replica:\d+)?(?:/task:\d+)?/(?:device:)?TPU:(\d+)$")


class NotRehearsable(BaseException):
    """The job uses what only a TPU has; no fault of the job, and no Exception for it to catch."""


def install(
    tf: Any,
    system: TpuSystem,
    real_replicas: int,
    on_resolver: Callable[[str], None],
) -> None:
    """Make CPU replicas and put the stand-ins in place of the TPU interfaces.

    The script sees the replicas of `system`; `real_replicas` of them run, each with the per-replica
    batch of the target. Must run before TensorFlow has started its
    devices. `on_resolver` is told the TPU that the script asks for.
    """
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(
        cpu, [tf.config.LogicalDeviceConfiguration()] * real_replicas
    )
    replace_everywhere(
        tf.config.set_logical_device_configuration,
        _keeps_cpus(tf.config.set_logical_device_configuration),
    )
    v1 = tf.compat.v1.distribute
    for mirrored in (tf.distribute.MirroredStrategy, v1.MirroredStrategy):
        hooks.around(mirrored, "__init__", functools.partial(_one_host_device, mirrored))

    def strategy_of(mirrored: Any) -> type:
        return tpu_strategy.strategy_class(mirrored, system, real_replicas)

    strategy = strategy_of(tf.distribute.MirroredStrategy)
    resolver = tpu_system.resolver_class(tf, system, on_resolver)
    initialize = _initialize(tf, system)
    for original, stand_in in (
        (v1.experimental.TPUStrategy, strategy_of(v1.MirroredStrategy)),
        (tf.distribute.experimental.TPUStrategy, strategy),
        (tf.distribute.TPUStrategy, strategy),
        (tf.distribute.cluster_resolver.TPUClusterResolver, resolver),
        (tf.config.experimental_connect_to_cluster, _nothing),
        (tf.config.experimental_connect_to_host, _nothing),
        (tf.tpu.experimental.initialize_tpu_system, initialize),
        (tf.tpu.experimental.shutdown_tpu_system, _nothing),
        (
            tf.config.list_logical_devices,
            _devices(tf.config.list_logical_devices, tf.config.LogicalDevice, system),
        ),
        (
            tf.config.list_physical_devices,
            _devices(tf.config.list_physical_devices, tf.config.PhysicalDevice, system),
        ),
        (tf.device, _device(tf.device, real_replicas)),
    ):
        replace_everywhere(original, stand_in)
    if not hasattr(tf.distribute.ReplicaContext, "experimental_logical_device"):
        tf.distribute.ReplicaContext.experimental_logical_device = tpu_strategy.logical_device
    _refuse_embeddings(tf)


def replace_everywhere(original: Any, stand_in: Any) -> None:
    """Put a stand-in under every public name of an object: TensorFlow has several of each."""
    # `from tensorflow.distribute import TPUStrategy`, tf.compat.v1 and Keras hold the object itself
    # under other names: a name that is left keeps the real one, which hangs without a TPU.
    for name, module in list(sys.modules.items()):
        if not _holds_names(name):
            continue
        for attribute, value in list(vars(module).items()):
            if value is original:
                setattr(module, attribute, stand_in)


def _holds_names(module: str) -> bool:
    """Whether a module gives users names: the interface, or a package that re-exports."""
    return (
        module == "tensorflow"
        or module.startswith(("tensorflow._api.", "tensorflow.compat"))
        or module.startswith("tensorflow.python.distribute.cluster_resolver")
    )


def _devices(original: Any, device: Any, system: TpuSystem) -> Callable[..., Any]:
    """The devices of the target where a script asks for TPUs; else those that are there."""

    @functools.wraps(original)
    def listed(device_type: Any = None) -> Any:
        if device_type == "TPU":
            return [device(f"/device:TPU:{number}", "TPU") for number in range(system.replicas)]
        if device_type == "TPU_SYSTEM":
            return [device("/device:TPU_SYSTEM:0", "TPU_SYSTEM")]
        return original(device_type)

    return listed


def _device(original: Any, real_replicas: int) -> Callable[..., Any]:
    """tf.device, with a CPU replica where a TPU is named."""

    @functools.wraps(original)
    def device(device_name: Any) -> Any:
        name = getattr(device_name, "name", device_name)
        match = _TPU_DEVICE.match(name if str(name).startswith("/") else f"/{name}")
        # More devices may be named than replicas run: they share.
        return original(f"/CPU:{int(match[1]) % real_replicas}" if match else device_name)

    return device


def _keeps_cpus(original: Any) -> Callable[..., Any]:
    """set_logical_device_configuration: a script that splits the CPU has our replicas of it."""

    @functools.wraps(original)
    def set_logical_device_configuration(device: Any, logical_devices: Any) -> Any:
        if getattr(device, "device_type", "") == "CPU":
            return None
        return original(device, logical_devices)

    return set_logical_device_configuration


def _one_host_device(
    class_: Any, original: Any, strategy: Any, devices: Any = None, *args: Any, **kwargs: Any
) -> Any:
    """A MirroredStrategy that is told no devices finds the one CPU of a TPU VM."""
    if devices is None and type(strategy) is class_:
        # MirroredStrategy() takes every device it finds; here these are our replicas, and a job
        # that forgot TPUStrategy would look as if it ran on all of them.
        devices = ["CPU:0"]
    return original(strategy, devices, *args, **kwargs)


def _initialize(tf: Any, system: TpuSystem) -> Callable[..., Any]:
    """initialize_tpu_system, which gives the topology of the target."""

    def initialize_tpu_system(cluster_resolver: Any = None) -> Any:  # noqa: ARG001
        return tpu_system.topology(tf, system)

    return initialize_tpu_system


def _nothing(*_: Any, **__: Any) -> None:
    """There is no cluster and no TPU system to reach while rehearsing."""


def _refuse_embeddings(tf: Any) -> None:
    """End the rehearsal where the job asks for the SparseCore."""
    embedding = tf.tpu.experimental.embedding
    for name in EMBEDDINGS:
        owner = getattr(embedding, name, None)
        if owner is not None and "__init__" in vars(owner):
            hooks.before(owner, "__init__", functools.partial(_refuse, tf, name))


def _refuse(tf: Any, name: str, *_: Any, **__: Any) -> None:
    if not isinstance(tf.distribute.get_strategy(), tf.distribute.TPUStrategy):
        return  # tables for serving live on a CPU
    raise NotRehearsable(
        f"tf.tpu.experimental.embedding.{name} runs on the TPU's SparseCore: "
        "no CPU stands in for it, and a rehearsal ends here"
    )
