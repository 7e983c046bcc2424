"""The number of CPU replicas: as many as this machine can hold, known once a model is built.

TensorFlow cannot give up a device. So a copy of the process tries the wanted number, from the line
that makes the first strategy; where it is too large, the original continues from there with fewer,
without repeating what ran before.
"""

import contextlib
import os
import threading

from tpudiag.sources.job.points import Library, hooks
from tpudiag.sources.job.process import fork_snapshot
from tpudiag.sources.job.process.protocol import UP_TO_FIRST_STEP, Recorder


class CpuReplicas:
    """The logical CPUs of this process, one for each replica."""

    def __init__(self, tf: Library, wanted: int, recorder: Recorder | None = None) -> None:
        """Without a recorder the wanted number is used."""
        self._tf, self._recorder = tf, recorder
        self._copy: fork_snapshot.ForkSnapshot | None = None
        self.splitting = False
        """Whether we split the CPU, not the script."""
        self.count = wanted
        self._split()

    def settle(self) -> None:
        """Called before a strategy is made: the last moment before devices exist."""
        while self.count > 1 and self._copy is None and self._may_be_copied():
            assert self._recorder is not None
            made = fork_snapshot.made(self._recorder)
            if isinstance(made, fork_snapshot.ForkSnapshot):
                self._copy = made
                return
            self._recorder.put(real_replicas=made)
            self._recorder.phase(f"{UP_TO_FIRST_STEP}, now with {made} of {self.count} replicas")
            self.count = made
            self._split()

    def end(self, fewer: int) -> None:
        """Too many replicas: end the process, so that fewer are used."""
        # Not by an exception, which the job might catch.
        if self._recorder is not None and not (self._copy and self._copy.asks_for(fewer)):
            self._recorder.put(fitting_replicas=fewer)
        os._exit(0)

    def _may_be_copied(self) -> bool:
        main = threading.current_thread() is threading.main_thread()
        if self._recorder is None or not main or not fork_snapshot.possible():
            return False
        # A different number is refused once devices exist, the same one is not.
        return self._split(self.count + 1) and self._split()

    def _split(self, count: int = 0) -> bool:
        """Create `count` devices, or one per replica; False where TensorFlow has its own."""
        tf = self._tf
        with hooks.instead(self, splitting=True), contextlib.suppress(RuntimeError):
            tf.config.set_logical_device_configuration(
                tf.config.list_physical_devices("CPU")[0],
                [tf.config.LogicalDeviceConfiguration()] * (count or self.count),
            )
            return True
        return False
