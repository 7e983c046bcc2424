"""Peak memory of each allocator, and its holders, from the trace's allocation events."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tpudiag.signals import MemoryPeak
from tpudiag.sources.profile.event_pattern import Events
from tpudiag.sources.profile.varints import Ints
from tpudiag.sources.profile.xspace import Plane
from tpudiag.sources.profile.xstats import fractions, named, texts

RESERVED = "programs' own (temporaries, stack)"
STATS = (
    "bytes_reserved", "bytes_allocated", "bytes_available", "requested_bytes", "allocation_bytes",
    "addr", "tf_op", "index_on_host", "device_ordinal", "allocator_name",
)  # fmt: skip
EARLIER = "allocated before the capture"
HOLDERS = 5
MOMENTS = 400
"""Points kept of the memory curve over time."""


class Allocations(NamedTuple):
    """Allocations and deallocations of one window; `allocator` is the allocator's name."""

    times: Ints
    sizes: Ints
    """Bytes allocated; 0 for a deallocation."""
    addresses: Ints
    reserved: Ints
    allocated: Ints
    free: Ints
    fragmented: NDArray[np.float64]
    """Fragmentation: 1 minus the largest free piece over all free memory; NaN where unknown."""
    ops: list[str]
    allocators: list[str]


def allocations(plane: Plane, events: Events) -> Allocations:
    """The allocation events of one window."""
    stats = named(events, {name: plane.stat_id(name) for name in STATS})
    names = plane.stat_names
    allocator_ids, has_name = stats["allocator_name"]
    ops = [names.get(ref, "") for ref in stats["tf_op"][0].tolist()]
    index = np.where(
        stats["index_on_host"][1], stats["index_on_host"][0], stats["device_ordinal"][0]
    )
    allocators = [
        names.get(ref, "") if is_named else f"device {number}"
        for ref, is_named, number in zip(
            allocator_ids.tolist(), has_name.tolist(), index.tolist(), strict=True
        )
    ]
    if not has_name.all() and plane.stat_id("allocator_name") is not None:
        # An old profiler wrote the names out in each event.
        written = texts(events, {name: plane.stat_id(name) for name in ("allocator_name", "tf_op")})
        for into, name in ((allocators, "allocator_name"), (ops, "tf_op")):
            for event, text in written[name].items():
                into[event] = text
    taken = np.where(
        stats["allocation_bytes"][1], stats["allocation_bytes"][0], stats["requested_bytes"][0]
    )
    is_allocation = np.array(
        [plane.names.get(id_) == "MemoryAllocation" for id_ in events.ids.tolist()], np.bool_
    )
    return Allocations(
        times=events.offsets,
        # At least 1, to distinguish an empty allocation from a deallocation.
        sizes=np.where(is_allocation, np.maximum(taken, 1), 0),
        addresses=stats["addr"][0],
        reserved=stats["bytes_reserved"][0],
        allocated=stats["bytes_allocated"][0],
        free=stats["bytes_available"][0],
        fragmented=fractions(events, plane.stat_id("fragmentation")),
        ops=ops,
        allocators=allocators,
    )


def peaks(parts: Sequence[Allocations], host: str) -> Iterator[MemoryPeak]:
    """The peak of each allocator of a host; sizes in bytes."""
    if not parts:
        return
    columns: Any = zip(*parts, strict=True)
    whole = Allocations(*map(_whole, columns))
    by_name: defaultdict[str, list[int]] = defaultdict(list)
    for index, name in enumerate(whole.allocators):
        by_name[name].append(index)
    for name, members in sorted(by_name.items()):
        order = np.argsort(whole.times[members], kind="stable")
        yield _peak(whole, np.array(members, np.int64)[order], host, name)


def _whole(parts: Sequence[Any]) -> Any:
    return [*chain(*parts)] if isinstance(parts[0], list) else np.concatenate(parts)


def _peak(whole: Allocations, index: Ints, host: str, name: str) -> MemoryPeak:
    """The peak of one allocator; `index` are its events, in order of time."""
    used = (whole.reserved + whole.allocated)[index]
    at = int(np.argmax(used))
    here = int(index[at])
    peak, reserved = int(used[at]), int(whole.reserved[here])
    held = _held(index[: at + 1], whole)
    # The allocator records its total; what no captured event explains was there before.
    before = int(whole.allocated[here]) - sum(held.values())
    held |= {RESERVED: reserved, EARLIER: max(before, 0)}
    largest = sorted(((n, size) for n, size in held.items() if size), key=lambda x: -x[1])
    return MemoryPeak(
        host=host,
        allocator=name,
        peak_bytes=peak,
        capacity_bytes=peak + int(whole.free[here]) or None,
        held_by=tuple(largest[:HOLDERS]),
        fragmentation=None if np.isnan(whole.fragmented[here]) else float(whole.fragmented[here]),
        at_ms=int(whole.times[here]) / 1e9,
        timeline=tuple(_moments(whole.times[index], used)),
    )


def _moments(times: Ints, used: Ints) -> Iterator[tuple[float, int]]:
    """Samples of the memory held: the fullest moment of each stretch of events."""
    # not np.unique, which imports numpy.ma: a tenth of a small file's time; the edges differ anyway
    edges = np.linspace(0, len(used), min(len(used), MOMENTS) + 1).astype(np.int64)
    for begin, end in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        fullest = begin + int(np.argmax(used[begin:end]))
        yield int(times[fullest]) / 1e9, int(used[fullest])


def _held(until: Ints, whole: Allocations) -> dict[str, int]:
    """What was allocated after a sequence of events: bytes by op."""
    alive: dict[int, tuple[int, int]] = {}
    for index in until.tolist():
        if whole.sizes[index]:
            alive[int(whole.addresses[index])] = (int(whole.sizes[index]), index)
        else:
            # A deallocation of what was allocated before the capture began.
            alive.pop(int(whole.addresses[index]), None)
    held: defaultdict[str, int] = defaultdict(int)
    for size, index in alive.values():
        held[whole.ops[index] or "unnamed"] += size
    return dict(held)
