"""Replaces the TPU's APIs: the script sees the target, CPU replicas do the work.

Public names only, under every name that TensorFlow gives them (tf.compat.v1, tf.compat.v2).
"""

import re
import threading
from collections.abc import Callable
from functools import partial

from tpudiag.sources.job.points import Call, Library, hooks, table, user_lines
from tpudiag.sources.job.process.cells import Nothing
from tpudiag.sources.job.process.protocol import Recorder
from tpudiag.sources.job.tensorflow.devices import cpu_kernels, tpu_strategy, tpu_system
from tpudiag.sources.job.tensorflow.devices.tpu_system import CpuReplicas, TpuSystem
from tpudiag.sources.job.tensorflow.shortening import heavy_functions

SUBSTITUTED = (
    "tf.distribute.TPUStrategy",
    "tf.distribute.cluster_resolver.TPUClusterResolver",
    "tf.config.experimental_connect_to_cluster",
    "tf.config.experimental_connect_to_host",
    "tf.tpu.experimental.initialize_tpu_system",
    "tf.tpu.experimental.shutdown_tpu_system",
    "tf.config.list_logical_devices('TPU')",
    "tf.device('/TPU:n')",
    "cloud_tpu_client.Client",
)
_TPU_DEVICE = re.compile(r"(?i)/?(?:device:)?TPU:(\d+)$")
_PLACE = re.compile(r"(?i)/?(?:job|replica|task):\w+")
"""Where in a cluster a device is: all of it is here."""


class NotRehearsable(BaseException):
    """The job uses what only a TPU has; not its fault, and no Exception that it could catch."""


def install(
    tf: Library,
    system: TpuSystem,
    real_replicas: int,
    on_resolver: Callable[[str], None],
    recorder: Recorder | None = None,
) -> CpuReplicas:
    """Create CPU replicas and replace the TPU's APIs.

    The script sees the replicas of `system`; `real_replicas` of them run, each with the target's
    per-replica batch, or fewer where these are too many. Must run before TensorFlow has started
    its devices. `on_resolver` is called with the TPU that the script requests.
    """
    cpus = CpuReplicas(tf, real_replicas, recorder)
    hooks.around(table.CPUS_SPLIT, partial(_keeps_cpus, cpus))
    mirrored, mirrored_v1 = (each.distribute.MirroredStrategy for each in (tf, tf.compat.v1))
    hooks.around(table.MIRRORED_STRATEGY_MADE, partial(_one_host_device, mirrored))
    hooks.around(table.MIRRORED_STRATEGY_V1_MADE, partial(_one_host_device, mirrored_v1))

    def strategy_of(mirrored: type) -> type:
        return tpu_strategy.strategy_class(mirrored, system, cpus)

    hooks.stand_in(table.TPU_STRATEGY_V1, strategy_of(mirrored_v1))
    hooks.stand_in(table.TPU_STRATEGY, strategy_of(mirrored))
    hooks.stand_in(table.TPU_RESOLVER, tpu_system.resolver_class(tf, system, on_resolver))
    hooks.around(table.TPU_CONNECTED, _nothing)
    for each in table.TPU_SESSION.each():
        hooks.around(each, _here)
    hooks.around(table.TPU_INITIALISED, lambda *_, **__: tpu_system.topology(tf, system))
    hooks.around(table.TPU_SHUT_DOWN, _nothing)
    hooks.around(table.LOGICAL_DEVICES_LISTED, partial(_devices, tf.config.LogicalDevice, system))
    hooks.around(table.PHYSICAL_DEVICES_LISTED, partial(_devices, tf.config.PhysicalDevice, system))
    hooks.around(table.DEVICE_NAMED, partial(_device, cpus))
    hooks.added(table.LOGICAL_DEVICE, tpu_strategy.logical_device)
    if cpus.count == 1 < system.replicas:
        hooks.added(table.REPLICA_VALUES, property(_values))
    hooks.around(table.REPLICAS_MERGED, _merged)
    for each in table.EMBEDDINGS_MADE.each():
        hooks.before(each, partial(_refuse, tf, each.owners[0]))
    return cpus


class _Client(Nothing):
    """A TPU that needs no setting up."""

    def __init__(self, *_: object, **__: object) -> None: ...

    def state(self) -> str:
        """What loops wait for."""
        return "READY"


def watch_client(_: Library) -> None:
    """The module that asks Google Cloud's API of the TPU was imported."""
    hooks.stand_in(table.TPU_CLIENT, _Client)


def _devices(device: Call, system: TpuSystem, original: Call, device_type: object = None) -> object:
    if device_type == "TPU":
        return [device(f"/device:TPU:{number}", "TPU") for number in range(system.replicas)]
    if device_type == "TPU_SYSTEM":
        return [device("/device:TPU_SYSTEM:0", "TPU_SYSTEM")]
    return original(device_type)


def _device(cpus: CpuReplicas, original: Call, device_name: object) -> object:
    name = _PLACE.sub("", str(getattr(device_name, "name", device_name)))
    match = _TPU_DEVICE.match(name)
    # More devices may be named than replicas run: they share.
    here = f"/CPU:{int(match[1]) % cpus.count}" if match else name
    return original(here if match or isinstance(device_name, str) else device_name)


def _keeps_cpus(
    cpus: CpuReplicas, original: Call, device: object, logical_devices: object
) -> object:
    """set_logical_device_configuration: a script that splits the CPU gets our replicas of it."""
    if getattr(device, "device_type", "") == "CPU" and not cpus.splitting:
        return None
    return original(device, logical_devices)


def _one_host_device(
    class_: type,
    original: Call,
    strategy: object,
    devices: object = None,
    *args: object,
    **kwargs: object,
) -> object:
    """A MirroredStrategy without given devices finds the one CPU of a TPU VM."""
    if devices is None and type(strategy) is class_:
        # MirroredStrategy() takes every device it finds; these would be our replicas, and a job
        # that forgot TPUStrategy would look as if it ran on all of them.
        devices = ["CPU:0"]
    return original(strategy, devices, *args, **kwargs)


def _merged(original: Call, context: object, merge_fn: Call, *a: object, **kw: object) -> object:
    """The user's own meeting of replicas within a tape, which does not see what others compute."""
    apart = threading.current_thread() is not threading.main_thread()
    if apart and user_lines.of_function(merge_fn) is not None and heavy_functions.is_recorded():

        def refused(*_: object, **__: object) -> None:
            raise RuntimeError(cpu_kernels.NO_GRADIENT)

        return original(context, refused, *a, **kw)
    return original(context, merge_fn, *a, **kw)


def _here(original: Call, session: object, target: object = "", *a: object, **kw: object) -> object:
    """A session with a TPU node, which would wait for it without end: its graphs run here."""
    return original(session, "" if "grpc://" in str(target) else target, *a, **kw)


def _values(tensor: object) -> tuple[object]:
    """The replicas' values, of which a script takes the first, where one runs of many."""
    if user_lines.direct_caller() is None:
        raise AttributeError("values")
    return (tensor,)


def _nothing(*_: object, **__: object) -> None:
    """A rehearsal has no cluster or TPU system to connect to."""


def _refuse(tf: Library, name: str, *_: object, **__: object) -> None:
    """End the rehearsal where the job uses the SparseCore."""
    if not isinstance(tf.distribute.get_strategy(), tf.distribute.TPUStrategy):
        return  # tables for serving live on a CPU
    raise NotRehearsable(
        f"{name} runs on the TPU's SparseCore: no CPU stands in for it, and a rehearsal ends here"
    )
