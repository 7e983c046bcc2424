"""Investigates the cause of a drop or a stall on this host, within some seconds.

Nothing pauses the trainer: kernel counters, and py-spy without blocking.
"""

import contextlib
import os
import socket
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import psutil

from tpudiag.monitoring.causes import machine_events, stacks
from tpudiag.monitoring.causes.classify import cause as classified
from tpudiag.monitoring.causes.host import HostFigures, HostRing, middle
from tpudiag.monitoring.causes.machine_events import MachineEvent
from tpudiag.monitoring.causes.observations import Observations, around
from tpudiag.monitoring.causes.stacks import MainThread
from tpudiag.monitoring.causes.usual import UsualSamples
from tpudiag.monitoring.follower import Episode, Watched
from tpudiag.monitoring.recording import NS
from tpudiag.signals.causes import Cause, CauseFigure
from tpudiag.signals.run_state import StateKind
from tpudiag.sources.live.tpu_monitoring import ChipScore, scores

MOST_WORKERS = 8
"""The most workers of this host that py-spy samples."""
LEAST_WORKERS = 3
"""With fewer workers it is unclear who waits for whom."""
TOGETHER = STANDS = 0.3
LIBTPU_PORT = 8431
MOST_FIGURES = 8


def device_figures() -> tuple[CauseFigure, ...]:
    """Figures of the chips on this host, from libtpu or GKE's device plugin."""
    from tpudiag.sources.live.address import addresses
    from tpudiag.sources.live.metrics import figures, node_figures

    with socket.socket() as probe:
        probe.settimeout(0.5)
        # On most machines nothing listens, and gRPC would wait for its deadline to find out.
        serves = not probe.connect_ex(("127.0.0.1", LIBTPU_PORT))
    source = "libtpu"
    seen = figures(addresses(f"127.0.0.1:{LIBTPU_PORT}")) if serves else ()
    node = os.environ.get("TPUDIAG_NODE_IP")  # from the sidecar's manifest
    if not seen and node:
        source, seen = "device plugin", node_figures(node, os.environ.get("POD_NAME", ""))
    return tuple(
        CauseFigure(f"{one.name}, device {one.device}", one.value, one.unit, None, source)
        for one in seen[:MOST_FIGURES]
    )


@dataclass(frozen=True)
class Tools:
    """Access to processes and machines; tests pass their own."""

    stacks: Callable[[int], MainThread] = stacks.look
    events: Callable[[], MachineEvent | None] = machine_events.announced
    devices: Callable[[], Sequence[CauseFigure]] = device_figures
    chips: Callable[[int], tuple[ChipScore, ...]] = scores
    node: Callable[[], MachineEvent | None] | None = None
    """The state of the TPU, where its name is known."""


class Investigator:
    """Keeps a ring of figures of each worker on this host, and finds causes."""

    def __init__(self, tools: Tools | None = None) -> None:
        self._tools = tools or Tools()
        self._rings: dict[int, HostRing] = {}
        self._usual = UsualSamples(self._looked)
        self._usual_chips = UsualSamples(self._tools.chips)

    def sample(self, workers: Sequence[Watched]) -> None:
        """Take the samples that are due."""
        pids = {watched.run.pid: watched for watched in workers if watched.lives_here}
        for pid, watched in pids.items():
            if pid not in self._rings:
                # Between the recording and this look a process may end.
                with contextlib.suppress(psutil.Error):
                    self._rings[pid] = HostRing(pid, watched.now_ns)
        known = {watched.run.pid for watched in workers}
        self._rings = {pid: ring for pid, ring in self._rings.items() if pid in known}
        for watched in workers:
            ring = self._rings.get(watched.run.pid)
            gone = watched.state.kind is StateKind.KILLED
            if ring is not None and watched.killed_by is None and gone:
                watched.killed_by = ring.killed_by()
        for ring in self._rings.values():
            ring.sample()
        self._usual.keep(pids)
        self._usual_chips.keep(pids)
        for pid, watched in [*pids.items()][:MOST_WORKERS]:
            # Only steps are sampled as usual activity; a checkpoint is no step.
            if watched.steps and watched.run.pausing is None:
                self._usual.sample(pid, watched.now_ns)
                self._usual_chips.sample(pid, watched.now_ns)

    def causes(
        self, workers: Sequence[Watched], ill: Mapping[int, Episode]
    ) -> dict[int, tuple[Cause | None, str]]:
        """Cause and current line of each ill worker, by its index."""
        here = [place for place, one in enumerate(workers) if one.lives_here][:MOST_WORKERS]
        wanted = [place for place in here if place in ill]
        # Sample healthy workers, too: a worker that hangs in a collective waits for one that does
        # not.
        looked = here if wanted else wanted
        with ThreadPoolExecutor(max_workers=MOST_WORKERS) as pool:
            pids = [workers[place].run.pid for place in looked]
            sources = (self._tools.events if here else None, self._tools.node)
            events = [pool.submit(source) for source in sources if source is not None]
            # All at once: py-spy samples each process for three seconds, and who waits for whom
            # shows only within the same three.
            chips = {p: pool.submit(self._tools.chips, workers[p].run.pid) for p in wanted}
            threads = dict(zip(looked, pool.map(self._looked, pids), strict=True))
            # The machine's own event takes precedence over the TPU's state in the API.
            event = next(filter(None, (future.result() for future in events)), None)
        devices = tuple(self._tools.devices()) if here else ()
        odd = self._odd(workers, ill, {p: one for p, one in threads.items() if not one.fault})
        by_place: dict[int, tuple[Cause | None, str]] = {}
        for place, episode in ill.items():
            seen = replace(
                self._seen(workers[place], episode),
                event=event,
                main=threads.get(place),
                chips=chips[place].result() if place in chips else (),
            )
            if odd is not None and place != odd[0]:
                name = workers[odd[0]].worker or f"worker {odd[0]}"
                seen = replace(seen, partner=(name, odd[1]))
            worker_cause = classified(seen)
            ill_links = [
                CauseFigure(f"trouble of ICI link {one.where}", one.score, "of 10", None, "libtpu")
                for one in seen.chips
                if one.health == "ICI link" and one.score
            ]
            beside = (*ill_links[:MOST_FIGURES], *devices)
            if worker_cause is not None and beside:
                worker_cause = replace(worker_cause, figures=(*worker_cause.figures, *beside))
            by_place[place] = (worker_cause, _stands(threads.get(place)))
        return by_place

    def _odd(
        self,
        workers: Sequence[Watched],
        ill: Mapping[int, Episode],
        threads: Mapping[int, MainThread],
    ) -> tuple[int, str] | None:
        """The worker that the others wait for, and its line."""
        if len(threads) >= LEAST_WORKERS:
            return odd_one(threads)
        since_ns = max((one.since_ns for one in ill.values()), default=0)
        before = {
            place: samples[-1]
            for place in threads
            if (samples := self._usual.before(workers[place].run.pid, since_ns))
        }
        return odd_of_two(threads, before)

    def _looked(self, pid: int) -> MainThread:
        """One process's main thread; a failure must not end the search for causes."""
        try:
            return self._tools.stacks(pid)
        except Exception as error:
            return MainThread(fault=str(error))

    def _seen(self, watched: Watched, episode: Episode) -> Observations:
        """What was recorded and sampled of a worker, before anything is asked now."""
        before, now = around(watched.history, episode.since_ns)
        host_before, host = self._host(watched.run.pid, episode.since_ns)
        recording = watched.recording
        return Observations(
            lost=episode.lost,
            stalled=episode.stalled,
            stopped=watched.state.kind is StateKind.STOPPED,
            pausing=watched.run.pausing,
            before=before,
            now=now,
            traces=tuple(
                trace
                for trace in (recording.traces if recording else ())
                if trace.start_ns >= episode.since_ns
            ),
            host_before=host_before,
            host=host,
            main_before=self._usual.before(watched.run.pid, episode.since_ns),
            chips_before=next(
                iter(reversed(self._usual_chips.before(watched.run.pid, episode.since_ns))), None
            ),
            hbm_limit_bytes=watched.run.hbm_limit_bytes,
        )

    def _host(self, pid: int, since_ns: int) -> tuple[HostFigures | None, HostFigures | None]:
        """The host's median figures before and since; both, or none are used."""
        samples = list(self._rings[pid].samples) if pid in self._rings else []
        before = [one for one in samples if since_ns - 600 * NS <= one.at_ns < since_ns]
        # A sample counts since the one before: the first after the drop mostly covers the time
        # before.
        now = [one for one in samples if one.at_ns >= since_ns + NS]
        # The last minute only: the host may have changed again since the drop began.
        return middle(before), middle(now[-12:])


def odd_one(threads: Mapping[int, MainThread]) -> tuple[int, str] | None:
    """The one worker that all others wait for, and its line.

    The others share a line at which it is rarely seen, and it is at one where they are not.
    """
    if len(threads) < LEAST_WORKERS:
        return None
    odd: list[tuple[int, str]] = []
    for place, thread in threads.items():
        others = [other for key, other in threads.items() if key != place]
        waits = any(
            share >= TOGETHER
            and all(other.line_share(line) >= TOGETHER for other in others)
            and 2 * thread.line_share(line) < min(other.line_share(line) for other in others)
            for line, share in others[0].lines
        )
        alone = [
            line
            for line, share in thread.lines
            if share >= TOGETHER and all(4 * other.line_share(line) < share for other in others)
        ]
        if waits and alone:
            odd.append((place, alone[0]))
    # Where two stand apart, it is unclear which of them is waited for.
    return odd[0] if len(odd) == 1 else None


def odd_of_two(
    now: Mapping[int, MainThread], before: Mapping[int, MainThread]
) -> tuple[int, str] | None:
    """Of two workers the one that is waited for, and its line, which grew since before.

    The waiting one stays longer at a line where both have always been, the step; the other one at
    a line where its partner is not.
    """
    if len(now) != 2 or set(before) != set(now):
        return None
    found: list[tuple[int, str]] = []
    for place, thread in now.items():
        (other,) = (one for one in now if one != place)
        found += [
            (place, line)
            for line, share in thread.lines
            if share - before[place].line_share(line) >= TOGETHER
            and now[other].line_share(line) - before[other].line_share(line) < TOGETHER / 3
            and 4 * now[other].line_share(line) < share
        ][:1]
    return found[0] if len(found) == 1 else None


def _stands(thread: MainThread | None) -> str:
    """Where the main thread was most of the time, as part of a sentence."""
    share = 0.0 if thread is None else thread.line_share(thread.line)
    if thread is None or share < STANDS:
        return ""
    return f"its main thread was at {thread.line} in {share:.0%} of {stacks.SECONDS:g} s"
