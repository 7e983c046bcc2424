"""Follows a recording: detector, pauses, and figures of the last minutes."""

import math
from collections import deque
from dataclasses import dataclass
from statistics import median

from tpudiag.monitoring import machine
from tpudiag.monitoring.clocks import Ages, Clock
from tpudiag.monitoring.delivery import Delivery
from tpudiag.monitoring.detector import PAUSE_STEPS, DropDetector, Pauses, Reference
from tpudiag.monitoring.drift import DriftDetector
from tpudiag.monitoring.event_files import SINK_FLUSH_S
from tpudiag.monitoring.ledger import PAUSES, Account, Ledger, TimeUse
from tpudiag.monitoring.losses import Losses
from tpudiag.monitoring.metrics import Figures
from tpudiag.monitoring.profiler_source import EVERY_S, PID, ProfilerSource
from tpudiag.monitoring.recording import NS, Recording, Run, Window, merged, percentile
from tpudiag.monitoring.run_sources import Source
from tpudiag.monitoring.states import Heard, is_here, state
from tpudiag.signals import Cause, RateUnit, utc
from tpudiag.signals.run_state import OVER, STANDING, RunState, StateKind

RECENT_S = 300.0
TAILS = {
    StateKind.COMPILING: TimeUse.COMPILE,
    StateKind.SILENT: TimeUse.STALLED,
    StateKind.STOPPED: TimeUse.STALLED,
    StateKind.COMPLETED: TimeUse.OTHER,
    StateKind.EXITED: TimeUse.OTHER,
    StateKind.FAILED: TimeUse.OTHER,
    StateKind.KILLED: TimeUse.REPEATED,
    StateKind.LOST: TimeUse.REPEATED,
}
"""The use of the time since the last window."""
EARLIER_KNOWN = 3
"""A restart is compared with the fastest of so many earlier runs."""
IDLE_S = 60.0
LEAST_STALL_S = 10.0
SPARK_WINDOWS = 3_600


@dataclass(frozen=True)
class Episode:
    """A time in which a worker is ill: a drop, or a stall."""

    since_ns: int
    lost: float
    """Share of throughput that is lost; 1 in a stall."""
    stalled: bool


class Watched:
    """A worker's runs, followed one after the other.

    `expect` is a rate that is normal whatever the runs have shown.
    """

    def __init__(
        self, source: Source, clock: Clock | None = None, expect: Reference | None = None
    ) -> None:
        self._source, self._clock, self._expect = source, clock or Clock(), expect
        self._ages = Ages(self._clock)
        self._known: deque[tuple[Run, Reference]] = deque(maxlen=20)
        self.recording: Recording | None = None
        self.worker = ""
        self.history: deque[Window] = deque(maxlen=SPARK_WINDOWS)
        """The last windows, including earlier runs'."""
        self.causes: dict[bool, tuple[Cause | None, str]] = {}
        """The causes of the stall (True) and the drop (False), and the job's current line."""
        self.ledger = Ledger()
        self.examples = 0
        """Of all runs."""
        self.restarts = 0
        """Runs that another process continued."""
        self.killed_by: str | None = None
        """How its process ended, according to the host."""
        self.damaged: set[str] = set()
        """Rows of its recordings that were skipped."""
        self._begin(None)

    def _begin(self, run: Run | None) -> None:
        """Forget a run but for what earlier ones have shown."""
        self.detector, self.pauses = DropDetector(self._reference(run)), Pauses()
        self.drifting = DriftDetector()
        self.recent: deque[Window] = deque()
        self.rates: deque[float] = deque(maxlen=SPARK_WINDOWS)
        self.delivery = Delivery()
        self.losses = Losses()
        self.pause_s = 0.0
        """Time in the run's announced pauses."""
        self.steps = 0
        self.moved = False
        """Whether steps came after the first poll."""
        self._was_lost = False
        """Whether the run's process lived while its recording stood still."""

    def _reference(self, run: Run | None) -> Reference | None:
        """A run's normal rate before it has a baseline."""
        known = [r for before, r in self._known if run is not None and before.alike == run.alike]
        if self._expect is not None or not known:
            return self._expect
        return max(known[-EARLIER_KNOWN:], key=lambda one: one.per_s)

    def _next(self, run: Run) -> None:
        """Switch to another run: the same loop of the same process continues the last one."""
        before = None if self.recording is None else self.recording.run
        if before is not None and before.pid == run.pid > 0 and before.alike == run.alike:
            return
        level = self.detector.baseline.level
        if before is not None and level is not None:
            text = f"what its run of {utc(before.started_ns)} showed"
            wander = self.detector.baseline.wander
            self._known.append((before, Reference(math.exp(-level), text, wander=wander)))
        self.restarts += before is not None and before.pid != run.pid
        self.killed_by = None
        self._begin(run)

    def poll(self) -> bool:
        """Read news; whether there is a run. Raises UnreadableInput."""
        for recording in self._source.poll():
            same = self.recording is not None and self.recording.run.id == recording.run.id
            if not same:
                self._next(recording.run)
            self.moved = self.moved or (same and bool(recording.windows))
            self.recording = recording
            self.damaged |= recording.damaged
            for window in recording.earlier:
                units, lost_s = self._count(window), (window.stalled_ms + window.compile_ms) / 1e3
                if units:
                    self.detector.baseline.know((window.active_s - lost_s) / units)
            for window in recording.windows:
                self._add(window)
            self.ledger.take(recording)
            self._ages.hear(recording.run, self._last_ns)
        if self.recording is not None:
            now = self.state
            lost = now.kind is StateKind.LOST and now.lives is True
            self._was_lost = lost or (self._was_lost and now.kind is StateKind.LOST)
        return self.recording is not None

    def account(self) -> Account:
        """Where the worker's time went, up to now or to the end of its last run."""
        return self.ledger.account(*self._tail())

    def _tail(self) -> tuple[TimeUse, int | None]:
        """The activity since the last window, and its end; None for the last news."""
        run, kind = self.run, self.state.kind
        tail = TAILS.get(kind, TimeUse.STEPS)
        if kind is StateKind.PAUSING:
            tail = PAUSES.get(run.pausing or "", TimeUse.OTHER)
        if kind in OVER or kind is StateKind.LOST:
            return tail, None
        return tail, run.last_ns + int(self._ages.quiet_s() * NS)

    def per_s(self, now: RunState) -> float | None:
        """Current units per second; None where no step is made."""
        return 0.0 if now.kind in STANDING and self.steps else self.detector.per_s

    @property
    def stepping_s(self) -> float:
        """From the beginning of the run to its last step."""
        return (self._last_ns - self.run.started_ns) / NS

    @property
    def _last_ns(self) -> int:
        """When the last step of the run ended, or the run began."""
        last = self.recent[-1].end_ns if self.recent else 0
        return max(last, self.run.started_ns)

    def _count(self, window: Window) -> float:
        """Add up a window's (or roll-up's) counts; returns its units."""
        self.steps += window.steps
        self.examples += window.examples or 0
        self.pause_s += window.pause_ms / 1e3
        units = window.steps if window.examples is None else window.examples
        if units:
            self.drifting.add(window.end_ns, window.active_s, units)
        return units

    def _add(self, window: Window) -> None:
        units = self._count(window)
        self.delivery.add(window)
        self.losses.add(window)
        if not units:
            return
        self.detector.add(window.end_ns, window.active_s, units, window.steps)
        self.pauses.add(window)
        self.history.append(window)
        self.rates.append(units / window.active_s)
        self.recent.append(window)
        while self.recent[0].end_ns < window.end_ns - RECENT_S * NS:
            self.recent.popleft()

    @property
    def run(self) -> Run:
        """The run; there is one after the first poll that found it."""
        assert self.recording is not None
        return self.recording.run

    @property
    def source_name(self) -> str:
        """Where the run is read from."""
        assert self.recording is not None
        return self.recording.source

    @property
    def unit(self) -> RateUnit:
        """The unit of the rate."""
        return "examples" if self.recent and self.recent[-1].examples else self.run.unit

    @property
    def by_events(self) -> bool:
        """Whether it is known from event files only, which do not say that a job ended."""
        return not self.run.pid

    def silent_s(self) -> float | None:
        """Time since the last step, or since the start; None where the run has ended."""
        if self.run.ended_ns is not None:
            return None
        return self._ages.silent_s(self._last_ns)

    def normal_pause_s(self) -> float:
        """The longest normal pause, in the run's current announced pause or otherwise."""
        if self.run.pausing is not None:
            return self.pauses.announced_s
        return max(self.pauses.normal_s, SINK_FLUSH_S if self.by_events else 0.0)

    def figures(self) -> Figures:
        """The run's current figures."""
        steps = merged(window.step_ms for window in self.recent)
        active_s = sum(window.active_s for window in self.recent)
        waited = [w.wait_ms for w in self.recent if w.wait_ms is not None]
        used = [w.hbm_bytes for w in self.recent if w.hbm_bytes is not None]
        now = self.state
        stands = now.kind in STANDING and self.steps > 0
        steps_per_s = sum(w.steps for w in self.recent) / active_s if active_s else None
        took = [window.whole_s for window in list(self.recent)[-31:]]
        waits = self.detector.baseline.waits_points
        quiet = now.over or now.kind is StateKind.LOST
        return Figures(
            run=self.run,
            state=now,
            worker=self.worker,
            cause=self.cause.kind if self.cause is not None else None,
            unit=self.unit,
            steps=self.steps,
            per_s=self.per_s(now),
            steps_per_s=0.0 if stands else steps_per_s,
            baseline_per_s=self.detector.baseline_per_s,
            # At the pace of the last windows.
            baseline_in_s=waits * median(took) if waits and took else None,
            # Up to the last step where the run has ended.
            delivered_per_s=self.delivery.per_s(0.0 if quiet else self.silent_s() or 0.0),
            step_ms=(percentile(steps, 0.5), percentile(steps, 0.9), percentile(steps, 0.99)),
            input_share=sum(waited) / 1e3 / active_s if waited and active_s else None,
            hbm_bytes=max(used, default=None),
            silent_s=self.silent_s(),
            pause_s=self.pause_s,
            spent=self.ledger.spent(*self._tail()),
        )

    @property
    def cause(self) -> Cause | None:
        """The cause of the stall, or else of the drop."""
        return self.causes.get(True, self.causes.get(False, (None, "")))[0]

    def episode(self, stalled: bool) -> Episode | None:
        """The current stall or drop."""
        if stalled:
            now, silent_s = self.state, self.silent_s()
            if silent_s is None or now.over:
                return None
            ill = now.kind is StateKind.STOPPED or silent_s > 3 * self.normal_pause_s()
            return Episode(self._last_ns, 1.0, True) if ill else None
        drop = self.detector.open
        return None if drop is None else Episode(drop.since_ns, drop.share, False)

    def now_ns(self) -> int:
        """The time since the epoch, as the run counts it."""
        own_ns = self._clock.now_of(self.run)
        return self._clock.now_ns() if own_ns is None else own_ns

    @property
    def state(self) -> RunState:
        """The run's state, from which all reports of it derive."""
        run = self.run
        source = self._source
        if isinstance(source, ProfilerSource) and source.given_up is not None:
            return RunState(StateKind.LOST, source.given_up)
        # News of steps may be late: sampled, or flushed to event files periodically.
        late_s = {PID: 4 * EVERY_S, 0: 2 * SINK_FLUSH_S}.get(run.pid, 0.0)
        heard = Heard(
            steps=self.steps,
            here=is_here(run, self._clock.machine),
            quiet_s=self._ages.quiet_s(),
            silent_s=self._ages.silent_s(self._last_ns),
            killed_by=self.killed_by,
            was_lost=self._was_lost,
            hangs_after_s=max(PAUSE_STEPS * self.pauses.step_s, LEAST_STALL_S, late_s),
        )
        return state(run, heard)

    @property
    def lives_here(self) -> bool:
        """Whether the run's process is there, on this host."""
        return self.run.ended_ns is None and self.state.lives is True

    def done(self, idle_s: float | None) -> bool:
        """Whether the run is finished: over, and without news for `idle_s`.

        Without `idle_s` a run that ended well and whose process is gone ends the job; otherwise its
        next run or restart has a minute to begin. A living process is waited for, whatever happened
        to its recording.
        """
        now = self.state
        if not now.over and (now.kind is not StateKind.LOST or now.lives):
            return False
        here = is_here(self.run, self._clock.machine)
        well = now.kind is StateKind.COMPLETED
        if idle_s is None and well and here and not machine.alive(self.run.pid):
            return True
        return self._ages.quiet_s() > (IDLE_S if idle_s is None else idle_s)
