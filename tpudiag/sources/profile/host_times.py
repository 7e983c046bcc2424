"""Eager ops, callbacks to Python and the input pipeline of a host's trace."""

from collections.abc import Sequence

from tpudiag.signals import CallbackTime, IteratorTime
from tpudiag.sources.profile.device_plane import PS_PER_MS, DeviceRead
from tpudiag.sources.profile.host_read import Callback, HostRead
from tpudiag.sources.profile.step_breakdown import waits


def eager_share(trace: HostRead | None) -> float | None:
    """Share of the trace in ops that ran eagerly; None where no call from Python was traced."""
    if trace is None or not (trace.calls or trace.eager) or not trace.spans_ps:
        return None
    length = trace.spans_ps[1] - trace.spans_ps[0]
    return trace.eager.total / length if length else None


def eager_ops(trace: HostRead | None) -> tuple[CallbackTime, ...] | None:
    """The ops that ran eagerly; None where no call from Python was traced."""
    if trace is None or not (trace.calls or trace.eager):
        return None
    return longest_first(trace.eager_ops)


def callbacks(trace: HostRead | None) -> tuple[CallbackTime, ...] | None:
    """Callbacks to the host; None where the trace would not have shown any."""
    # None, not an empty tuple: TPU105 may pass only where a callback would have shown.
    if trace is None or not (trace.executes or trace.callbacks):
        return None
    return longest_first(trace.callbacks)


def longest_first(callbacks: Sequence[Callback]) -> tuple[CallbackTime, ...]:
    """As times in ms, longest first."""
    made = (CallbackTime(f.op.rpartition(": ")[2], f.calls, f.ps / PS_PER_MS) for f in callbacks)
    return tuple(sorted(made, key=lambda callback: -callback.ms))


def iterators(trace: HostRead | None, devices: list[DeviceRead]) -> tuple[IteratorTime, ...] | None:
    """The input pipeline's ops; None where none was traced."""
    if trace is None or not trace.iterators.sums:
        return None
    return tuple(trace.iterators.times(waits(trace, devices)))
