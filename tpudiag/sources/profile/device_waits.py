"""The waits of a host's devices: idle time and stalled programs, split by cause."""

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from tpudiag.sources.profile.device_plane import DeviceRead
from tpudiag.sources.profile.functions import tracing
from tpudiag.sources.profile.host_read import HostRead
from tpudiag.sources.profile.intervals import EMPTY, Spans, merged, shared_out
from tpudiag.sources.profile.op_kinds import COLLECTIVES, HOST_MEMORY, INFEED

INFEED_WAIT, HOST_MEMORY_WAIT = "input (infeed)", "host memory (offload)"
PARTNER = "a partner that is late for a collective"
COMPILATION, GET_NEXT, TRANSFER = "compilation", "input (the host's iterator)", "host to device"
OTHERS = "other devices of the host, which still run"
DISPATCH = "the host's next dispatch"


def device_waits(trace: HostRead, devices: Sequence[DeviceRead]) -> dict[str, int]:
    """The time (ps) that all devices together wait, by cause, from first to last module."""
    sums: Counter[str] = Counter()
    for device in devices:
        if device.busy:
            others = [other for other in devices if other is not device]
            sums.update(dict(_stalled(device, others)))
            sums.update(dict(_idle(trace, device, others)))
    return {cause: ps for cause, ps in sums.most_common() if ps}


def _stalled(device: DeviceRead, others: Sequence[DeviceRead]) -> Iterator[tuple[str, int]]:
    """Waits inside programs, read from their operations."""
    yield INFEED_WAIT, device.parts.get(INFEED, EMPTY).total
    yield HOST_MEMORY_WAIT, device.parts.get(HOST_MEMORY, EMPTY).total
    own = device.parts.get(COLLECTIVES, EMPTY)
    if own and others:
        # On one clock: a partner on the same host that still works on something else is late.
        late = merged(*(o.busy - o.parts.get(COLLECTIVES, EMPTY) for o in others))
        yield PARTNER, (own & late).total


def _idle(
    trace: HostRead, device: DeviceRead, others: Sequence[DeviceRead]
) -> Iterator[tuple[str, int]]:
    """Waits between programs: what the host or the other devices did meanwhile."""
    window = Spans(np.array([device.busy.starts[0]]), np.array([device.busy.ends[-1]]))
    causes = (
        (COMPILATION, merged(trace.compiles, tracing(trace.calls))),
        (GET_NEXT, trace.all_get_next),
        (TRANSFER, trace.transfers),
        (OTHERS, merged(EMPTY, *(o.busy for o in others))),
    )
    parts, rest = shared_out(window - device.busy, causes)
    yield from ((cause, spans.total) for cause, spans in parts.items())
    yield DISPATCH, rest.total
