"""Whether a capture fits into the trainer's memory: tested by one of 200 ms where it is tight.

The profiler holds each event many times over while it collects the profile: a busy loop of steps
grew its trainer by up to 56 times the profile's size (30 s: 4.2 GB, of which 3.8 stayed).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from tpudiag import scratch
from tpudiag.sources.live.address import Address
from tpudiag.sources.live.capture import CaptureRequest, capture
from tpudiag.sources.live.cgroups import FreeMemory
from tpudiag.sources.live.probe import Probe
from tpudiag.sources.live.run_folder import RunFolder

SAMPLE_S = 0.2
GROWTH = 56
SHARE = 0.8
"""The share of the free memory that a capture may take."""
AMPLE_BYTES_S = 500e6
"""The fastest growth seen in a trainer: with more free memory, no sample is needed."""
LEAST_BYTES = 100_000_000
"""With less free memory, not even the sample is taken."""
LEAST_S = 0.2


def fitted(
    probes: Sequence[Probe], free: Mapping[Address, FreeMemory], request: CaptureRequest
) -> tuple[CaptureRequest, tuple[Probe, ...], tuple[str, ...]]:
    """The request reduced to the trainers' memory, the trainers, and what was changed.

    `free` holds those of this machine. A trainer without room for any capture has that as its
    probe's fault. Raises KeyboardInterrupt.
    """
    near = [
        probe
        for probe in probes
        if probe.fault is None
        and probe.address in free
        # A sample is a capture, too: where memory is ample the trainer is slowed down only once.
        and free[probe.address].free_bytes < AMPLE_BYTES_S * request.duration_s
    ]
    full = [probe for probe in near if free[probe.address].free_bytes < LEAST_BYTES]
    sampled = [probe for probe in near if probe not in full]
    sizes = _sampled(sampled, request) if sampled else {}
    share = SHARE / max(1, len(free))  # all trainers of this machine grow at once
    # Growth is proportional to the events, and 200 ms of a steady loop are typical: the sample's
    # size gives the memory per second.
    longest = {
        at: share * free[at].free_bytes / (GROWTH * size / SAMPLE_S)
        for at, size in sizes.items()
        if size
    }
    small = [probe for probe in sampled if longest.get(probe.address, LEAST_S) < LEAST_S]
    left_out = {*full, *small}
    after = tuple(
        replace(probe, fault=_refusal(free[probe.address], sizes.get(probe.address)))
        if probe in left_out
        else probe
        for probe in probes
    )
    left = {at: s for at, s in longest.items() if s >= LEAST_S}
    tightest = min(left, key=left.__getitem__, default=None)
    if tightest is None or left[tightest] >= request.duration_s:
        return request, after, ()
    # Rounded down to a tenth, since rounding up might not fit.
    shorter = replace(request, duration_s=max(LEAST_S, int(10 * left[tightest]) / 10))
    growth = _growth(sizes[tightest])
    note = (
        f"Shortened from {request.duration_s:g} to {shorter.duration_s:g} s: by a sample of "
        f"{SAMPLE_S:g} s each second of capture takes up to {growth} of {tightest}'s memory, and "
        f"{_said(free[tightest].free_bytes)} are free {free[tightest].limited_by} (--force keeps "
        "the length)."
    )
    return shorter, after, (note,)


def _sampled(probes: Sequence[Probe], request: CaptureRequest) -> dict[Address, int]:
    """The size of a short profile of each trainer, in bytes; none where it sent none."""
    with scratch.folder("sample") as folder:
        run = RunFolder(str(folder))
        captures, interrupted = capture(probes, replace(request, duration_s=SAMPLE_S), run)
        if interrupted:
            raise KeyboardInterrupt
        return {
            done.address: Path(run.url, str(done.file)).stat().st_size
            for done in captures
            if done.file is not None
        }


def _refusal(free: FreeMemory, size: int | None) -> str:
    refusal = (
        f"a capture could end it: {_said(free.free_bytes)} of memory are free {free.limited_by}"
    )
    if size is not None:
        refusal += f", and by a sample of {SAMPLE_S:g} s a second takes up to {_growth(size)}"
    return f"{refusal}; --force captures all the same"


def _growth(size: int) -> str:
    return _said(int(GROWTH * size / SAMPLE_S))


def _said(size: int) -> str:
    """`4.2 GB`, `30 MB`."""
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"
