"""A job stopped before its first training step, which is lowered for each request."""

import os
import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial

import msgspec

from tpudiag.compiled import LoweredStep
from tpudiag.signals import Batch
from tpudiag.sources.job.process import following, runner
from tpudiag.sources.job.process.job_python import JobPython
from tpudiag.sources.job.process.protocol import JobSpec, LoweringRequest, encoded


class Dialog:
    """Starts the job in a thread; `lower` requests the step with one batch.

    The job's process ends when the dialog is closed, and dies with this process.
    """

    def __init__(
        self,
        spec: JobSpec,
        python: JobPython,
        limits: following.Limits,
        on_phase: Callable[[str], None],
    ) -> None:
        read_end, write_end = os.pipe()
        self._requests = os.fdopen(write_end, "wb")
        self._answers: queue.Queue[LoweredStep | None] = queue.Queue()
        self._ready = threading.Event()
        self._asking = threading.Lock()
        self._known: dict[tuple[int, int], LoweredStep] = {}
        self.batch: Batch | None = None
        """The batch that the job would use; None without a step."""
        self.alone = False
        """Whether the job trains outside a strategy: on one replica, whatever the slice has."""
        self.sources: tuple[str, ...] = ()
        """The files of the job's own modules."""
        self.job = following.JobRun()
        spec = replace(spec, requests=read_end)
        run = partial(runner.run, spec, python, limits, on_phase, on_facts=self._heard)
        self._thread = threading.Thread(target=self._run, args=(run, read_end), daemon=True)
        self._thread.start()

    def wait(self) -> Batch | None:
        """Wait until the step is known; None where the job ended without one."""
        while not self._ready.wait(timeout=0.2):
            pass  # short waits, so that Ctrl-C is handled
        return self.batch

    def lower(self, batch: int, replicas: int) -> LoweredStep:
        """The step with this batch; may be called from any thread."""
        with self._asking:
            known = self._known.get((batch, replicas))
            if known is not None:
                return known
            try:
                self._requests.write(encoded(LoweringRequest(batch, replicas)))
                self._requests.flush()
            except (OSError, ValueError):  # it died, or was closed
                return LoweredStep(batch=batch, replicas=replicas, error="the job has ended")
            answer = self._answers.get()
            # None stays in the queue: the next caller would otherwise wait for ever.
            if answer is None:
                self._answers.put(None)
                ended = "the job ran to its end and showed no step that can be lowered by itself"
                died = "the job died of being lowered" if self.job.exit_code else None
                reason = self.job.timed_out or died or ended
                return LoweredStep(batch=batch, replicas=replicas, error=reason)
            self._known[batch, replicas] = answer
            return answer

    def close(self) -> None:
        """End the job, and release waiting callers; may be called twice."""
        with suppress(OSError):  # what a job that died has not read
            self._requests.close()
        self._answers.put(None)
        self._thread.join(timeout=2.0)

    def _run(self, run: Callable[[], following.JobRun], requests: int) -> None:
        try:
            self.job = run()
        finally:
            # With our copy of the read end open, a request to a dead job would be lost without an
            # error.
            os.close(requests)
            self._answers.put(None)
            self._ready.set()

    def _heard(self, facts: dict[str, object]) -> None:
        """One line of facts: the step's batch, or an answer."""
        self.alone = self.alone or facts.get("alone") is True
        if "sources" in facts:
            self.sources = msgspec.convert(facts["sources"], tuple[str, ...])
        if facts.get("batch") is not None and not self._ready.is_set():
            self.batch = msgspec.convert(facts["batch"], Batch)
            self._ready.set()
        if "answer" in facts:
            self._answers.put(msgspec.convert(facts["answer"], LoweredStep))
