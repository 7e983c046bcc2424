"""Replaces a TPU system: resolver, topology, metadata, and the CPUs in the place of its devices."""

import contextlib
import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from tpudiag.sources.job.points import Library
from tpudiag.sources.job.process.protocol import Recorder


@dataclass(frozen=True)
class TpuSystem:
    """The target as the job sees it."""

    replicas: int
    """Devices, as TPUStrategy counts them."""
    hosts: int = 1
    devices_per_chip: int = 1

    @property
    def devices_per_host(self) -> int:
        """Devices of one host."""
        return max(self.replicas // self.hosts, 1)

    def device_names(self) -> list[str]:
        """The devices, with their names in a connected cluster."""
        return [
            f"/job:worker/replica:0/task:{number // self.devices_per_host}"
            f"/device:TPU:{number % self.devices_per_host}"
            for number in range(self.replicas)
        ]

    def mesh_shape(self) -> list[int]:
        """Chips in x, y and z, and devices per chip; as square as possible."""
        # Fewer devices than the target's may not fill its chips.
        cores = math.gcd(self.replicas, self.devices_per_chip)
        chips = self.replicas // cores
        # v4 and v5p have a third axis; here their chips lie in one plane.
        x = next(n for n in range(math.isqrt(chips), 0, -1) if chips % n == 0)
        return [x, chips // x, 1, cores]

    def coordinates(self) -> list[list[list[int]]]:
        """The mesh position of each device of each host."""
        _, y, _, cores = self.mesh_shape()

        def place(number: int) -> list[int]:
            chip = number // cores
            return [chip // y, chip % y, 0, number % cores]

        per_host = self.devices_per_host
        return [
            [place(host * per_host + device) for device in range(per_host)]
            for host in range(self.hosts)
        ]


def topology(tf: Library, system: TpuSystem) -> object:
    """The tf.tpu.experimental.Topology of the target."""
    return tf.tpu.experimental.Topology(
        mesh_shape=system.mesh_shape(), device_coordinates=system.coordinates()
    )


def hardware_feature() -> object:
    """The proto of the hardware's features besides cores: none; None where the class moved."""
    with contextlib.suppress(ImportError, AttributeError):
        return import_module("tensorflow.core.protobuf.tpu.topology_pb2").TPUHardwareFeature()
    return None


class _Resolver:
    tpudiag_system: TpuSystem
    tpudiag_on_resolver: Callable[[str], None]
    """Is told the TPU that is asked for."""
    rpc_layer = "grpc"
    environment = ""

    def __init__(
        self,
        tpu: object = None,
        zone: object = None,  # noqa: ARG002
        project: object = None,  # noqa: ARG002
        job_name: str = "worker",
        *_: object,
        **__: object,
    ) -> None:
        self._tpu = tpu or "local"
        self.task_type, self.task_id = job_name, 0
        self.tpudiag_on_resolver(str(self._tpu))

    @classmethod
    def connect(cls, tpu: object = None, zone: object = None, project: object = None) -> object:
        """The resolver; there is nothing to connect to."""
        return cls(tpu, zone, project)

    def __enter__(self) -> object:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    @property
    def tpu_hardware_feature(self) -> object:
        """The proto of the hardware's features."""
        return hardware_feature()

    def set_tpu_topology(self, serialized_tpu_topology: object) -> None:
        """Ignored: the topology is the target's."""

    def cluster_spec(self) -> object:
        """An address for each host, never connected to."""
        # Not at the top: the job's TensorFlow is imported after this module.
        import tensorflow as tf

        addresses = [f"10.0.0.{host + 2}:8470" for host in range(self.tpudiag_system.hosts)]
        return tf.train.ClusterSpec({self.task_type: addresses})

    def master(self, *_: object, **__: object) -> str:
        """The first host."""
        return "grpc://10.0.0.2:8470"

    get_master = master

    def get_job_name(self) -> str:
        """The name of the job's devices."""
        return str(self.task_type)

    def get_coordination_service_leader(self) -> str:
        """The first task."""
        return f"/job:{self.task_type}/task:0"

    def num_accelerators(self, *_: object, **__: object) -> dict[str, int]:
        """Devices of a host."""
        return {"TPU": self.tpudiag_system.devices_per_host}

    def get_tpu_system_metadata(self) -> object:
        """The metadata of the target."""
        import tensorflow as tf

        system = self.tpudiag_system
        return tf.tpu.experimental.TPUSystemMetadata(
            num_cores=system.replicas,
            num_hosts=system.hosts,
            num_of_cores_per_host=system.devices_per_host,
            topology=topology(tf, system),
            devices=[tf.config.LogicalDevice(name, "TPU") for name in system.device_names()],
        )


class CpuReplicas:
    """The logical CPUs of this process, one for each replica, as many as this machine can hold.

    That is known once a model is built. TensorFlow cannot give up a device: where there are too
    many, the job starts again with fewer.
    """

    def __init__(self, tf: Library, wanted: int, recorder: Recorder | None = None) -> None:
        """Without a recorder the wanted number is used."""
        self._recorder = recorder
        self.count = wanted
        self.splitting = True
        """Whether we split the CPU, not the script."""
        with contextlib.suppress(RuntimeError):  # TensorFlow has devices of its own already
            tf.config.set_logical_device_configuration(
                tf.config.list_physical_devices("CPU")[0],
                [tf.config.LogicalDeviceConfiguration()] * wanted,
            )
        self.splitting = False

    def end(self, fewer: int) -> None:
        """Too many replicas: end the process, so that fewer are used."""
        # Not by an exception, which the job might catch.
        if self._recorder is not None:
            self._recorder.put(fitting_replicas=fewer)
        os._exit(0)


def resolver_class(tf: Library, system: TpuSystem, on_resolver: Callable[[str], None]) -> type:
    """A TPUClusterResolver that finds the target at once; calls `on_resolver` with its argument."""
    base: Any = tf.distribute.cluster_resolver.ClusterResolver

    class TPUClusterResolver(_Resolver, base):  # type: ignore[misc]
        """Replaces TPUClusterResolver in a rehearsal."""

        tpudiag_system = system
        tpudiag_on_resolver = staticmethod(on_resolver)

    return TPUClusterResolver
