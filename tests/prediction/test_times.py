"""Times of single instructions, held against real ones where those are known."""

import pytest

from tpudiag.hardware import GENERATIONS, target
from tpudiag.prediction.times import Bound, timed
from tpudiag.prediction.work import Kind, Work

GB = 10**9


def of(name: str, replicas: int = 1, **figures: object) -> tuple[float, float, float, Bound]:
    made = timed(Work(name="i", trips=1, **figures), target(name).hardware, replicas)  # type: ignore[arg-type]
    return made.ms.low, made.ms.value, made.ms.high, made.bound


def test_a_large_product_of_a_v2_takes_what_was_published() -> None:
    low, value, high, bound = of(
        "v2-8",
        kind=Kind.PRODUCT,
        cycles=68_238_000,
        flops=2 * 8192 * 8192 * 16384,
        hbm_bytes=671_088_640,
    )
    assert bound is Bound.MXU
    assert value == pytest.approx(96, rel=0.03)
    assert low <= value <= high


def test_a_loop_over_elements_of_a_v6e_takes_what_was_recorded() -> None:
    low, value, high, bound = of(
        "v6e-4", kind=Kind.ELEMENTWISE, cycles=14_180_864, hbm_bytes=2 * 5_368_709_120
    )
    assert bound is Bound.HBM
    assert low <= 7.92
    assert high >= 8.10
    assert value == pytest.approx(8.0, rel=0.15)


def test_a_broadcast_counts_by_its_bytes_whatever_the_cycles_say() -> None:
    _, value, high, _ = of("v6e-4", kind=Kind.MOVE, cycles=27_402_273, hbm_bytes=5_369_364_480)
    assert value == pytest.approx(4.44, rel=0.15)
    assert high < 7


def test_parts_of_tiles_are_written_slowly() -> None:
    low, value, high, _ = of(
        "v5p-128", kind=Kind.ELEMENTWISE, hbm_bytes=2 * 14_680_064, strided_bytes=14_680_064
    )
    assert low <= 0.195  # half of what one of its two cores took
    assert value == pytest.approx(0.187, rel=0.3)
    assert high < 1.0


def test_an_all_reduce_over_pairs_lies_in_the_range() -> None:
    low, _, high, bound = of(
        "v6e-8",
        8,
        kind=Kind.COLLECTIVE,
        collective="all-reduce",
        link_bytes=5_368_709_120,
        members=2,
    )
    assert bound is Bound.ICI
    assert low < 121.7 < high


def test_what_runs_beside_others_may_cost_nothing() -> None:
    low, value, high, _ = of(
        "v5e-8",
        8,
        kind=Kind.COLLECTIVE,
        collective="all-gather",
        link_bytes=10**6,
        members=8,
        hidden=True,
    )
    assert low == 0 < value < high


def test_a_product_with_a_collective_inside_lasts_as_the_longer_of_both() -> None:
    product = {"cycles": 6_497_360, "flops": 824_633_720_832}
    links = {"collective": "all-gather", "link_bytes": 262_144, "members": 256}
    alone = of("v5e-256", 256, kind=Kind.PRODUCT, **product)
    together = of("v5e-256", 256, kind=Kind.COLLECTIVE, **product, **links)
    assert together == alone
    slow = of("v5e-256", 256, kind=Kind.COLLECTIVE, **product, **{**links, "link_bytes": 10**8})
    assert slow[1] > alone[1]
    assert slow[3] is Bound.ICI


@pytest.mark.parametrize("generation", [g.name for g in GENERATIONS])
@pytest.mark.parametrize("cycles", [None, 10, 10**7])
def test_the_estimate_lies_between_its_ends(generation: str, cycles: int | None) -> None:
    for kind in (Kind.PRODUCT, Kind.ELEMENTWISE, Kind.MOVE, Kind.CUSTOM):
        low, value, high, _ = of(
            f"{generation}-8", kind=kind, cycles=cycles, hbm_bytes=GB, flops=10**12
        )
        assert 0 < low <= value <= high
