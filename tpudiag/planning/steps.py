"""The training step of a job by batch, lowered by the job itself, which is not run."""

import threading
from collections.abc import Callable

from tpudiag.compiled import LoweredStep
from tpudiag.signals import Batch
from tpudiag.sources.job.process.lowering_client import Dialog


class Steps:
    """The steps of one job.

    The mesh of a JAX job depends on the devices that it finds: it runs once `by_devices`.
    """

    def __init__(self, start: Callable[[int], Dialog], devices: int, *, by_devices: bool) -> None:
        self._start, self._by_devices = start, by_devices
        self._lock = threading.Lock()
        self.first = start(devices)
        """The job on the first target."""
        self._of = {devices: self.first}

    def wait(self) -> Batch | None:
        """The batch of the job's own step; None where it ended without one."""
        return self.first.wait()

    def lower(self, batch: int, replicas: int) -> LoweredStep:
        """The step with this batch on so many replicas; may be called from any thread."""
        if self.first.alone or not self._by_devices:
            return self.first.lower(batch, replicas)
        with self._lock:
            if replicas not in self._of:
                self._of[replicas] = self._start(replicas)
            job = self._of[replicas]
        if job.wait() is None:
            reason = f"on {replicas} devices the job shows no training step"
            return LoweredStep(batch=batch, replicas=replicas, error=reason)
        return job.lower(batch, replicas)

    def close(self) -> None:
        """End the jobs; may be called twice."""
        for job in self._of.values():
            job.close()
