"""Records a training loop's steps: a bounded queue in the loop, the rest in a background thread.

The loop pays for one append per step, and continues whatever fails behind the queue: steps that
find it full, and windows that no store took in time, count as lost.
"""

from __future__ import annotations

import atexit
import logging
import os
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from tpudiag.monitoring import crashes, tensorflow_events
from tpudiag.monitoring.machine import machine, process_started_ns, worker
from tpudiag.monitoring.recording import Pause, Run, Trace, Window
from tpudiag.monitoring.windows import Step, Windows

if TYPE_CHECKING:  # SQLite is imported in the background thread
    from tpudiag.monitoring.store import Store

QUEUE_STEPS = 100_000
PENDING_WINDOWS = 3_600
"""Windows kept while the store fails: about an hour."""
FLUSH_S = 1.0
MEMORY_EVERY_S = 10.0
CLOSE_S = 5.0
FORK_S = 2.0
"""How long a fork waits for a write; after that the child records nothing."""
LAST_TRIES = 5
_log = logging.getLogger("tpudiag")


class Recorder:
    """Records a run; `step` is for the training thread and costs about a microsecond."""

    def __init__(
        self,
        store: Callable[[], Store],
        name: str,
        global_batch: int | None = None,
        *,
        flush_s: float = FLUSH_S,
        queue_steps: int = QUEUE_STEPS,
        memory: Callable[[], int | None] | None = None,
        hbm_limit_bytes: int | None = None,
        loop: int = 0,
        parameters: int | None = None,
    ) -> None:
        self._run = Run(
            id="",
            name=name,
            host=os.uname().nodename,
            pid=0,
            started_ns=0,
            beat_ns=0,
            global_batch=global_batch,
            hbm_limit_bytes=hbm_limit_bytes,
            machine=machine(),
            worker=worker(os.environ),
            loop=loop,
            parameters=parameters,
        )
        self._make_store, self._flush_s, self._memory = store, flush_s, memory
        self._limit = self._queue_steps = queue_steps
        self._unused, self._memory_due = False, 0.0
        self.failure: str | None = None
        """Why the store currently takes no windows; None where it does."""
        now_ns = time.time_ns()
        self._begin(now_ns, process_started_ns(now_ns))
        self._ending: tuple[int, str | None, int | None] | None = None
        """The process's coming end: since when, by which error, with which exit code."""
        self.thread = threading.get_ident()
        """The thread that makes the steps."""
        self._writing = threading.Lock()
        """Held while the store is used: a fork must not copy SQLite's locks while they are held."""
        self._forkable = True
        self.closed_at: int | None = None
        """When it was closed (performance counter, ns), None while it is open."""
        self._start()
        crashes.follow(self)

    def _begin(self, now_ns: int, process_started_ns: int | None) -> None:
        now = self._started = time.perf_counter_ns()
        self._run = replace(
            self._run,
            id=uuid.uuid4().hex[:12],
            pid=os.getpid(),
            started_ns=now_ns,
            beat_ns=now_ns,
            monotonic_ns=now,
            process_started_ns=process_started_ns,
        )
        self._store: Store | None = None
        self._steps: deque[Step] = deque()
        self._pauses: deque[Pause] = deque(maxlen=PENDING_WINDOWS)
        self._traces: deque[Trace] = deque(maxlen=PENDING_WINDOWS)
        self._losses: deque[float] = deque(maxlen=self._queue_steps)
        self._pending: deque[Window] = deque()
        self._windows = Windows(now_ns - now, now, self._run.global_batch)
        self._dropped = self._evicted = 0
        self.stored_steps = 0
        """Steps that the store has taken."""
        self._pausing: tuple[str, ...] = ()

    def _start(self) -> None:
        self._stop, self._wake = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._work, name="tpudiag", daemon=True)
        self._thread.start()
        atexit.register(self.close)
        tensorflow_events.follow(self)

    @property
    def lost_steps(self) -> int:
        """Steps not kept: the queue was full, or the store failed for too long."""
        return self._dropped + self._evicted

    def step(self, steps: int = 1, wait_ns: int = -1, examples: int = -1) -> None:
        """Steps of so many examples ended now, after waiting so long for input (-1: unknown)."""
        if len(self._steps) < self._limit:
            # No lock that a flush could hold while a step waits: deque.append is atomic.
            self._steps.append((time.perf_counter_ns(), steps, wait_ns, examples))
        else:
            self._dropped += steps

    def loss(self, value: object) -> None:
        """Take the reported loss, unless it is a tensor on the device."""
        # float() of a tensor would be a copy from the device, for which the step would wait.
        if isinstance(value, (int, float)) or type(value).__module__ == "numpy":
            with suppress(Exception):
                self._losses.append(float(value))  # type: ignore[arg-type]

    @contextmanager
    def pause(self, kind: str) -> Generator[None]:
        """Announce a time without steps, such as a checkpoint, that is no stall and no drop."""
        start = self.begin_pause(kind)
        try:
            yield
        finally:
            self.end_pause(kind, start)

    def begin_pause(self, kind: str) -> int:
        """Begin a pause; returns its start, for `end_pause`."""
        self._pausing = (*self._pausing, kind)
        return time.perf_counter_ns()

    def end_pause(self, kind: str, start: int) -> None:
        """End a pause that began at `start` (performance counter, ns)."""
        still = list(self._pausing)
        if kind in still:
            still.remove(kind)
        self._pausing = tuple(still)
        self._pauses.append(Pause(kind, start, time.perf_counter_ns()))
        self._wake.set()  # a job that is being stopped saves a checkpoint and exits

    def traced(self, function: str, start: int, end: int) -> None:
        """A function was traced between two times of the performance counter, ns."""
        self._traces.append(Trace(function, start, end))

    def reopen(self) -> None:
        """Continue a closed run: the time in between is a pause of its own."""
        self.thread = threading.get_ident()
        if not self._stop.is_set() or (self._ending is not None and self._ending[2] is None):
            return
        self._ending = None
        self._limit = self._queue_steps
        if self.closed_at is not None:
            self.end_pause("between loops", self.closed_at)
            self.closed_at = None
        self._start()

    def ends(self, failure: str | None, exit_code: int | None = None) -> None:
        """Record that the process ends by an exception or with an exit code."""
        self._ending = time.perf_counter_ns(), failure, exit_code
        if not self._stop.is_set():
            # sys.exit may be caught: only what follows shows whether the loop ends.
            if exit_code is None:
                self.close()
            return
        with suppress(Exception):  # the store was released: once more, from this thread
            self._write_end()

    def forks(self) -> None:
        """Before a fork: wait for a write to end."""
        self._forkable = self._writing.acquire(timeout=FORK_S)

    def has_forked(self) -> None:
        """The fork has happened, and this is the parent."""
        if self._forkable:
            self._writing.release()

    def forked(self) -> None:
        """In a fork's child: its steps are a run of its own, with a thread of its own.

        A child without steps (a worker of the input) is no run.
        """
        self._writing = threading.Lock()
        if not self._forkable:  # SQLite may wait for ever for a lock of the parent's thread
            self._limit = 0
            self._stop.set()
            atexit.unregister(self.close)
            return
        now_ns = time.time_ns()
        self._begin(now_ns, now_ns)
        self._unused = True
        if not self._stop.is_set():
            self._start()

    def close(self) -> None:
        """Keep the rest, within a few seconds; later steps count as lost."""
        if self._stop.is_set():
            return
        self.closed_at = time.perf_counter_ns()
        self._limit = 0
        tensorflow_events.forget(self)
        self._stop.set()
        self._wake.set()
        self._thread.join(CLOSE_S)
        atexit.unregister(self.close)

    def _work(self) -> None:
        """The background thread: no failure here reaches the training loop."""
        delay_s = 0.0  # a job that dies in its first second still leaves its name
        while True:
            self._wake.wait(delay_s)
            self._wake.clear()
            if self._stop.is_set():
                break
            try:
                self._flush(ended=False)
            except Exception as error:
                self._failed(error)
            delay_s = min(2 * delay_s, 30.0) if self.failure else self._flush_s
        self._finish()

    def _finish(self) -> None:
        """Keep the rest: with retries, since another process may lock the file."""
        for _ in range(LAST_TRIES):
            try:
                self._write_end()
                return
            except Exception as error:
                self._failed(error)
                time.sleep(self._flush_s / LAST_TRIES)
        unkept = self.lost_steps + sum(window.steps for window in self._pending)
        _log.warning("tpudiag: %d recorded steps could not be kept", unkept)

    def _write_end(self) -> None:
        """Write what is left with the end, and release the store: it belongs to this thread."""
        self._flush(ended=True)
        self._release()

    def _release(self) -> None:
        store, self._store = self._store, None
        if store is not None:
            store.close()

    def _flush(self, *, ended: bool) -> None:
        """Pass what is new to the store; raises its errors."""
        with self._writing:
            self._gather(ended=ended)
            if not self._unused:
                self._write(ended=ended)

    def _write(self, *, ended: bool) -> None:
        windows, traces = tuple(self._pending), tuple(self._windows.ended_traces)
        now_ns = self._run.started_ns + time.perf_counter_ns() - self._started  # never steps
        run = replace(
            self._run,
            beat_ns=now_ns,
            pausing=self._pausing[-1] if self._pausing else None,
            lost_steps=self.lost_steps,
            ended_ns=now_ns if ended else None,
            failure=self._ending[1] if ended and self._ending else None,
            exit_code=self._ending[2] if ended and self._ending else None,
        )
        if self._store is not None and self._store.gone():
            # The file or its folder was deleted: its content is lost, and a new one continues.
            self._evicted, self.stored_steps = self._evicted + self.stored_steps, 0
            run = replace(run, lost_steps=self.lost_steps)
            self._release()
        if self._store is None:
            self._store = self._make_store()
        self._store.write(run, windows, traces)
        self.stored_steps += sum(window.steps for window in windows)
        self._pending.clear()
        self._windows.ended_traces.clear()
        if self.failure is not None:
            _log.warning("tpudiag: recording again; %d steps lost so far", self.lost_steps)
        self.failure = None

    def _gather(self, *, ended: bool) -> None:
        """Make windows of the queue; drop the oldest where too many wait."""
        steps = [self._steps.popleft() for _ in range(len(self._steps))]
        pauses = [self._pauses.popleft() for _ in range(len(self._pauses))]
        traces = [self._traces.popleft() for _ in range(len(self._traces))]
        losses = [self._losses.popleft() for _ in range(len(self._losses))]
        self._unused = self._unused and not steps
        if self._ending is not None and steps and steps[-1][0] > self._ending[0]:
            self._ending = None  # the exception was caught, and the loop continues
        self._pending.extend(
            self._windows.add(
                steps, pauses, self._hbm(steps), ended=ended, traces=traces, losses=losses
            )
        )
        while len(self._pending) > PENDING_WINDOWS:
            self._evicted += self._pending.popleft().steps

    def _hbm(self, steps: list[Step]) -> int | None:
        """The HBM in use, sampled once steps ran: earlier the query would start the runtime."""
        if self._memory is None or not steps or time.monotonic() < self._memory_due:
            return None
        self._memory_due = time.monotonic() + MEMORY_EVERY_S
        try:
            return self._memory()
        except Exception as error:
            self._memory = None
            _log.debug("tpudiag: no memory figures: %s", error)
            return None

    def _failed(self, error: Exception) -> None:
        """Report it once; the loop is not affected."""
        reason = f"{type(error).__name__}: {error}"
        if self.failure is None:
            _log.warning("tpudiag: throughput is not being kept (%s); training goes on", reason)
        self.failure = reason
        with suppress(Exception):
            self._release()
