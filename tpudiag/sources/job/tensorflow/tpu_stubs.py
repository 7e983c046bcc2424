"""Stand-ins for the TPU interfaces: the script sees the target, CPU replicas do the work.

Public names only. `tf.distribute.TPUStrategy` must stay a class with a name that starts with
TPUStrategy: Keras asks isinstance() of it and looks at class names.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tpudiag.sources.job.tensorflow import hooks

SUBSTITUTED = (
    "tf.distribute.TPUStrategy",
    "tf.distribute.cluster_resolver.TPUClusterResolver",
    "tf.config.experimental_connect_to_cluster",
    "tf.config.experimental_connect_to_host",
    "tf.tpu.experimental.initialize_tpu_system",
    "tf.tpu.experimental.shutdown_tpu_system",
    "tf.config.list_logical_devices('TPU')",
)


def install(
    tf: Any, replicas: int, real_replicas: int, hosts: int, on_resolver: Callable[[str], None]
) -> None:
    """Make CPU replicas and put the stand-ins in place of the TPU interfaces.

    The script sees `replicas`; `real_replicas` of them run, each with the per-replica batch of the
    target. Must run before TensorFlow has started its devices. `on_resolver` is told the TPU that
    the script asks for.
    """
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(
        cpu, [tf.config.LogicalDeviceConfiguration()] * real_replicas
    )
    strategy = _strategy(tf, replicas, real_replicas)
    tf.distribute.TPUStrategy = strategy
    tf.distribute.experimental.TPUStrategy = strategy
    tf.distribute.cluster_resolver.TPUClusterResolver = _resolver(tf, replicas, hosts, on_resolver)
    tf.config.experimental_connect_to_cluster = _connect
    tf.config.experimental_connect_to_host = _connect
    for name, device in (
        ("list_logical_devices", tf.config.LogicalDevice),
        ("list_physical_devices", tf.config.PhysicalDevice),
    ):
        hooks.around(tf.config, name, _devices(device, replicas))
    tf.tpu.experimental.initialize_tpu_system = _initialize
    tf.tpu.experimental.shutdown_tpu_system = _initialize


def _strategy(tf: Any, replicas: int, real_replicas: int) -> type:
    """A MirroredStrategy over the CPU replicas that takes TPUStrategy's arguments."""
    base: Any = tf.distribute.MirroredStrategy

    class TPUStrategy(base):  # type: ignore[misc]
        """Stands in for TPUStrategy while rehearsing."""

        def __init__(
            self,
            tpu_cluster_resolver: Any = None,
            experimental_device_assignment: Any = None,  # noqa: ARG002
            experimental_spmd_xla_partitioning: bool = False,  # noqa: ARG002
            **_: Any,
        ) -> None:
            base.__init__(self, [f"CPU:{index}" for index in range(real_replicas)])
            self._tpudiag_resolver = tpu_cluster_resolver

        @property
        def cluster_resolver(self) -> Any:
            return self._tpudiag_resolver

        @property
        def num_replicas_in_sync(self) -> int:
            return replicas

        def run(self, fn: Any, args: Any = (), kwargs: Any = None, options: Any = None) -> Any:  # noqa: ARG002
            return base.run(self, fn, args=args, kwargs=kwargs)

        def experimental_distribute_dataset(self, dataset: Any, options: Any = None) -> Any:
            share = _share(tf, dataset, real_replicas, replicas)
            return base.experimental_distribute_dataset(self, share, options)

        def distribute_datasets_from_function(self, dataset_fn: Any, options: Any = None) -> Any:
            def with_context(_: Any) -> Any:
                return dataset_fn(tf.distribute.InputContext(1, 0, replicas))

            return base.distribute_datasets_from_function(self, with_context, options)

    return TPUStrategy


def _share(tf: Any, dataset: Any, real_replicas: int, replicas: int) -> Any:
    """The part of each global batch that the real replicas get: a per-replica batch each."""
    if real_replicas == replicas:
        return dataset

    def part(tensor: Any) -> Any:
        if tensor.shape.rank == 0:
            return tensor
        size = tensor.shape[0] if tensor.shape.rank else None
        size = tf.shape(tensor)[0] if size is None else size
        return tensor[: size * real_replicas // replicas]

    def cut(*element: Any) -> Any:
        parts = tf.nest.map_structure(part, element)
        return parts if len(parts) > 1 else parts[0]

    return dataset.map(cut, num_parallel_calls=tf.data.AUTOTUNE)


def _resolver(tf: Any, replicas: int, hosts: int, on_resolver: Callable[[str], None]) -> type:
    """A resolver that finds the target at once."""

    class TPUClusterResolver(tf.distribute.cluster_resolver.ClusterResolver):  # type: ignore[misc]
        """Stands in for TPUClusterResolver while rehearsing."""

        task_type = "worker"
        task_id = 0
        rpc_layer = "grpc"

        def __init__(self, tpu: Any = None, *_: Any, **__: Any) -> None:
            self._tpu = tpu or "local"
            on_resolver(str(self._tpu))

        @staticmethod
        def connect(tpu: Any = None, *_: Any, **__: Any) -> Any:
            return TPUClusterResolver(tpu)

        @property
        def environment(self) -> str:
            return ""

        @property
        def tpu_hardware_feature(self) -> Any:
            return None

        def cluster_spec(self) -> Any:
            return tf.train.ClusterSpec({"worker": [f"10.0.0.{h + 2}:8470" for h in range(hosts)]})

        def master(self, *_: Any, **__: Any) -> str:
            return "grpc://10.0.0.2:8470"

        get_master = master

        def num_accelerators(self, *_: Any, **__: Any) -> dict[str, int]:
            return {"TPU": replicas // hosts}

    return TPUClusterResolver


def _devices(device: Any, replicas: int) -> Callable[..., Any]:
    """The devices of the target where a script asks for TPUs; else those that are there."""

    def call(original: Any, device_type: Any = None) -> Any:
        if device_type != "TPU":
            return original(device_type)
        return [device(f"/device:TPU:{number}", "TPU") for number in range(replicas)]

    return call


def _connect(*_: Any, **__: Any) -> None:
    """There is no cluster to connect to while rehearsing."""


def _initialize(*_: Any, **__: Any) -> None:
    """There is no TPU system to initialise while rehearsing."""
