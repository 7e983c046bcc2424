"""What plots are drawn from: the figures of the signals, thinned where there are many."""

from tpudiag.diagnoses import plot_data
from tpudiag.report_figures import Series
from tpudiag.signals import (
    MemoryPeak,
    Origin,
    ProfileFacts,
    ReplicaSteps,
    Signals,
    StepPart,
    StepTimes,
)

GIB = 2**30


def by_kind(signals: Signals) -> dict[str, list[Series]]:
    found: dict[str, list[Series]] = {}
    for each in plot_data.of(signals):
        found.setdefault(each.kind, []).append(each)
    return found


def replica(host: str, name: str, compute_ms: float, first: int = 5) -> ReplicaSteps:
    numbers = tuple(range(first, first + 4))
    parts = (
        StepPart("compute", (compute_ms,) * 4),
        StepPart("collectives", (20 - compute_ms,) * 4),
        StepPart("compile", (0.0,) * 4),
    )
    return ReplicaSteps(host, name, numbers, (20.0,) * 4, parts)


def facts(*replicas: ReplicaSteps, memory: tuple[MemoryPeak, ...] = ()) -> ProfileFacts:
    return ProfileFacts(
        hosts=("h",), devices=(), ops=(), bytes_read=1, replicas=replicas, memory=memory or None
    )


def test_nothing_measured_gives_nothing() -> None:
    assert plot_data.of(Signals(origin=Origin.REHEARSAL)) == ()
    none = StepTimes(step_ms=(), input_wait_ms=None, source="job")
    assert plot_data.of(Signals(origin=Origin.REHEARSAL, steps=none)) == ()


def test_a_rehearsal_parts_the_step_by_its_wait_for_input() -> None:
    steps = StepTimes(
        step_ms=(10.0, 12.0), input_wait_ms=(4.0, 13.0), source="job", input_wait_source="profile"
    )
    found = by_kind(Signals(origin=Origin.REHEARSAL, steps=steps))
    assert [(s.name, s.x, s.y) for s in found["step_time"]] == [
        ("step time", (0.0, 1.0), (10.0, 12.0))
    ]
    assert {s.name: s.y for s in found["step_part"]} == {
        "input wait": (4.0, 13.0),
        "rest of the step": (6.0, 0.0),
    }
    unknown = Signals(
        origin=Origin.REHEARSAL, steps=StepTimes(step_ms=(10.0,), input_wait_ms=None, source="job")
    )
    assert set(by_kind(unknown)) == {"step_time"}


def test_parts_are_means_over_the_replicas_that_ran_the_step() -> None:
    profile = facts(replica("a", "0", 10), replica("b", "1", 14, first=7))
    steps = StepTimes(step_ms=(20.0,) * 4, input_wait_ms=None, source="profile")
    found = by_kind(Signals(origin=Origin.PROFILE, steps=steps, profile=profile))
    parts = {s.name: s for s in found["step_part"]}
    assert set(parts) == {"compute", "collectives"}, "a part that never took time is left out"
    assert parts["compute"].x == (5.0, 6.0, 7.0, 8.0, 9.0, 10.0)
    assert parts["compute"].y == (10.0, 10.0, 12.0, 12.0, 14.0, 14.0)
    assert found["step_time"][0].x == (5.0, 6.0, 7.0, 8.0), "the steps' own numbers"


def test_replicas_are_compared_without_collectives() -> None:
    """All wait for the slowest: their whole steps are equally long."""
    profile = facts(replica("b", "1", 14), replica("a", "0", 10))
    found = by_kind(Signals(origin=Origin.PROFILE, profile=profile))["replica_step"]
    assert [(s.name, s.y) for s in found] == [("a 0", (10.0,) * 4), ("b 1", (14.0,) * 4)]
    assert "replica_step" not in by_kind(
        Signals(origin=Origin.PROFILE, profile=facts(replica("a", "0", 1)))
    )


def test_of_many_replicas_the_slowest_stay_and_the_source_says_so() -> None:
    many = facts(*(replica(f"h{i:03}", "0", float(i % 20)) for i in range(200)))
    found = by_kind(Signals(origin=Origin.PROFILE, profile=many))["replica_step"]
    assert len(found) == plot_data.ROWS
    assert min(s.y[0] for s in found) == 13.0
    assert found[0].source == f"profile, the slowest {plot_data.ROWS}"


def test_many_steps_are_thinned_and_the_source_says_so() -> None:
    times = tuple(map(float, range(10_000)))
    steps = StepTimes(step_ms=times, input_wait_ms=None, source="job")
    (found,) = plot_data.of(Signals(origin=Origin.REHEARSAL, steps=steps))
    assert len(found.y) <= plot_data.STEPS
    assert found.x[:3] == found.y[:3] == (0.0, 3.0, 6.0)
    assert found.source == "job, one of 3 steps"


def test_memory_stands_against_what_the_allocator_may_use() -> None:
    def peak(host: str, size: int, timeline: tuple[tuple[float, int], ...]) -> MemoryPeak:
        return MemoryPeak(
            host=host,
            allocator="device 0",
            peak_bytes=size,
            capacity_bytes=16 * GIB,
            held_by=(),
            at_ms=1.0,
            timeline=timeline,
        )

    peaks = (
        peak("a", 1, ((0.5, 1),)),
        peak("b", 3 * GIB, ((0.5, 1), (2.0, 3 * GIB))),
        *(peak(f"c{i}", 2, ((0.0, 2),)) for i in range(20)),
        peak("d", 9 * GIB, ()),
    )
    found = by_kind(Signals(origin=Origin.PROFILE, profile=facts(memory=peaks)))["memory"]
    assert len(found) <= plot_data.ALLOCATORS
    assert (found[0].name, found[0].x, found[0].y) == ("b device 0", (0.5, 2.0), (1, 3 * GIB))
    assert found[0].limit == 16 * GIB
