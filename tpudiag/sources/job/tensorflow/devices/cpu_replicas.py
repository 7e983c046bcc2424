"""The number of CPU replicas: as many as this machine can hold, known once a model is built.

TensorFlow cannot give up a device: where the number is too large, the job starts again with fewer.
"""

import contextlib
import os

from tpudiag.sources.job.points import Library
from tpudiag.sources.job.process.protocol import Recorder


class CpuReplicas:
    """The logical CPUs of this process, one for each replica."""

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
