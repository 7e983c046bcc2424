"""Profiles of running trainers, many at once, over TensorFlow's profiler service.

All captures are requested before any answer is awaited, so they run side by side. A trainer from
TensorFlow 2.21 on sends the profile back; older ones (every tensorflow-tpu up to 2.20) write it
themselves, into a session folder inside the run's: on the same machine, or behind a URL that both
reach.
"""

from __future__ import annotations

import queue
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from uuid import uuid4

import grpc

from tpudiag.sources.live import profiler_messages
from tpudiag.sources.live.address import Address
from tpudiag.sources.live.channel import channel, code_of, details_of, method
from tpudiag.sources.live.probe import Probe
from tpudiag.sources.live.run_folder import RunFolder
from tpudiag.sources.profile import wire
from tpudiag.sources.profile.locate import ENDING
from tpudiag.sources.profile.run_reader import NOT_READ

ANSWER_LIMIT_S = 60.0
"""The time after the capture for a trainer to collect and send it."""


BUSY = (
    "another capture is running in it, or it profiles itself (a TensorBoard callback); "
    "try again when that has ended"
)
"""The fault of a trainer that answers while its profiler is busy."""


@dataclass(frozen=True)
class CaptureRequest:
    """A capture's duration, and how long to wait for the answer after that."""

    duration_s: float = 2.0
    answer_limit_s: float = ANSWER_LIMIT_S

    @property
    def limit_s(self) -> float:
        """The time after which an answer is given up."""
        return self.duration_s + self.answer_limit_s


@dataclass(frozen=True)
class Capture:
    """The result of one trainer: its file in the run's folder, or the fault in one line."""

    address: Address
    file: str | None = None
    fault: str | None = None
    took_s: float = 0.0


def capture(
    probes: Sequence[Probe],
    wish: CaptureRequest,
    run: RunFolder,
    done: Callable[[Capture], None] = lambda _: None,
) -> tuple[tuple[Capture, ...], bool]:
    """Capture every trainer that was found into the folder `run`; others keep their fault.

    `done` is called with each as it ends. The second value says whether Ctrl-C ended it: captures
    still open are cancelled, at the trainer too.
    """
    captures = {p.address: Capture(p.address, fault=p.fault) for p in probes if p.fault is not None}
    # A unique name: Terminate ends every session of that name.
    session = f"tpudiag-{uuid4().hex[:12]}"
    begun = time.monotonic()
    ended: queue.SimpleQueue[Address] = queue.SimpleQueue()
    calls: dict[Address, tuple[Probe, grpc.Channel, grpc.Future[bytes]]] = {}

    def arrived(address: Address, _: object) -> None:
        ended.put(address)

    with ExitStack() as stack:
        if not all(probe.sends_profile for probe in probes):
            # An older trainer writes below the run's folder: take its profile out, and remove the
            # rest.
            stack.callback(run.remove, session)
        for probe in probes:
            if probe.fault is None:
                opened = stack.enter_context(channel(probe.address))
                calls[probe.address] = (probe, opened, _started(opened, probe, wish, session, run))
        # After all requests: the captures of a pod must begin together, and a callback may run at
        # once.
        for address, (_, _, pending) in calls.items():
            pending.add_done_callback(partial(arrived, address))
        try:
            while calls:
                # As they arrive, so that one hanging host does not hold back the others' files.
                address = ended.get()
                probe, _, pending = calls.pop(address)
                taken = _taken(probe, pending, wish, session, run)
                captures[address] = Capture(address, *taken, time.monotonic() - begun)
                done(captures[address])
        except KeyboardInterrupt:
            _call_off(calls, session)
            cut = [Capture(probe.address, fault=NOT_READ) for probe in probes]
            return tuple(captures.get(one.address, one) for one in cut), True
    return tuple(captures[probe.address] for probe in probes), False


def _started(
    opened: grpc.Channel, probe: Probe, wish: CaptureRequest, session: str, run: RunFolder
) -> grpc.Future[bytes]:
    # Before TensorFlow 2.21 the trainer writes the profile itself, to a path on its machine.
    repository = "" if probe.sends_profile else run.url
    # At least 1: a trainer takes 0 as no capture at all.
    duration_ms = max(1, round(wish.duration_s * 1e3))
    request = profiler_messages.profile_request(
        session, probe.address.file_name, duration_ms, repository
    )
    return method(opened, profiler_messages.PROFILE).future(request, timeout=wish.limit_s)


def _taken(
    probe: Probe, pending: grpc.Future[bytes], wish: CaptureRequest, session: str, run: RunFolder
) -> tuple[str | None, str | None]:
    """The file of a capture that ended, put into place, or the fault."""
    name = probe.address.file_name + ENDING
    try:
        response = pending.result()
        theirs = None if probe.sends_profile else run.read(f"{session}/{name}")
        if not probe.sends_profile and theirs is None:
            return None, (
                "it runs TensorFlow before 2.21, which writes the profile itself, and wrote none "
                f"into {run.url}; give a --log-dir that it sees and may write to, e.g. gs://..."
            )
        space = profiler_messages.xspace(response) if theirs is None else memoryview(theirs)
        if not profiler_messages.has_events(space):
            return None, (
                "no trace event: the trainer is idle (waiting, compiling or at its end), or the "
                "capture was too short; try a longer --duration"
            )
        run.write(name, space)
    except grpc.RpcError as error:
        return None, _fault(error, wish)
    except wire.Damaged as error:
        return None, f"its answer is no profile: {error}"
    except OSError as error:
        return None, f"its profile could not be written: {error.strerror or error}"
    return name, None


def _fault(error: grpc.RpcError, wish: CaptureRequest) -> str:
    code, details = code_of(error), details_of(error)
    if "Another profiling session" in details or code is grpc.StatusCode.ALREADY_EXISTS:
        return BUSY
    if code is grpc.StatusCode.DEADLINE_EXCEEDED:
        return (
            f"no answer within {wish.limit_s:g} s ({wish.duration_s:g} s of capture and "
            f"{wish.answer_limit_s:g} s for the answer); try a shorter --duration or a longer "
            "--timeout"
        )
    if code is grpc.StatusCode.UNAVAILABLE:
        return (
            f"the trainer went away during the capture ({details or 'connection lost'}): if its "
            "log says `PLUGIN_Profiler_Api size` or SIGSEGV, its libtpu is not the one of its JAX"
        )
    return f"the capture failed: {details or code.name}"


def _call_off(
    calls: dict[Address, tuple[Probe, grpc.Channel, grpc.Future[bytes]]], session: str
) -> None:
    """Cancel the captures that are still running, at the trainer too."""
    for _, _, pending in calls.values():
        pending.cancel()
    endings = [
        method(opened, profiler_messages.TERMINATE).future(
            profiler_messages.terminate_request(session), timeout=2.0
        )
        for _, opened, _ in calls.values()
    ]
    for ending in endings:
        with suppress(grpc.RpcError, grpc.FutureTimeoutError, grpc.FutureCancelledError):
            ending.result(timeout=2.0)
