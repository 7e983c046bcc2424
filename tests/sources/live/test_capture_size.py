"""Captures that do not fit into a trainer's memory are shortened or refused, by a short sample."""

from collections.abc import Generator
from contextlib import ExitStack

import pytest

from tests.sources.live.profiler_service import SPACE, response, served
from tpudiag.sources.live.address import Address
from tpudiag.sources.live.capture import CaptureRequest
from tpudiag.sources.live.capture_size import GROWTH, SAMPLE_S, fitted
from tpudiag.sources.live.cgroups import FreeMemory
from tpudiag.sources.live.probe import probe_all
from tpudiag.sources.profile.schema import message, parsed

REQUEST = CaptureRequest(30.0, 20.0)
SIZE = 500_000
A_SECOND = GROWTH * SIZE / SAMPLE_S
ERROR = "x" * (SIZE - len(SPACE) - 4)
LARGE = SPACE + bytes(message("XSpace")(errors=[ERROR]).SerializeToString())


class Trainers:
    """Two trainers, and the captures requested of them in ms."""

    def __init__(self, stack: ExitStack) -> None:
        self.asked: list[int] = []
        self.addresses = [stack.enter_context(served(self._profile)) for _ in range(2)]

    def _profile(self, request: bytes) -> bytes:
        self.asked.append(parsed("ProfileRequest", request).duration_ms)
        return response(LARGE)

    def fitted(
        self, wish: CaptureRequest, *free_bytes: float
    ) -> tuple[CaptureRequest, dict[Address, str | None], tuple[str, ...]]:
        free = {
            at: FreeMemory(int(size), "in its cgroup")
            for at, size in zip(self.addresses, free_bytes, strict=False)
        }
        request, probes, notes = fitted(probe_all(self.addresses), free, wish)
        return request, {probe.address: probe.fault for probe in probes}, notes


@pytest.fixture
def trainers() -> Generator[Trainers]:
    with ExitStack() as stack:
        yield Trainers(stack)


def test_with_room_enough_nobody_is_sampled(trainers: Trainers) -> None:
    request, faults, notes = trainers.fitted(REQUEST, 16e9)
    assert (request, notes, trainers.asked) == (REQUEST, (), [])
    assert set(faults.values()) == {None}


def test_a_capture_that_fits_by_its_sample_is_taken_whole(trainers: Trainers) -> None:
    request, _, notes = trainers.fitted(REQUEST, A_SECOND * 30 / 0.79)
    assert (request, notes, trainers.asked) == (REQUEST, (), [200])


def test_one_that_does_not_is_shortened_for_all(trainers: Trainers) -> None:
    free_bytes = A_SECOND * 4.05 * 2 / 0.8, A_SECOND * 20 * 2 / 0.8
    request, faults, (note,) = trainers.fitted(REQUEST, *free_bytes)
    assert request == CaptureRequest(4.0, 20.0)
    assert sorted(trainers.asked) == [200, 200]
    for part in ("from 30 to 4 s", "140 MB", str(trainers.addresses[0]), "in its cgroup"):
        assert part in note
    assert set(faults.values()) == {None}


def test_a_trainer_without_room_is_left_out_and_the_others_go_on(trainers: Trainers) -> None:
    request, faults, _ = trainers.fitted(REQUEST, 90e6)
    full, other = (faults[at] for at in trainers.addresses)
    assert full is not None
    assert "a capture could end it: 90 MB of memory are free in its cgroup" in full
    assert other is None
    assert (request, trainers.asked) == (REQUEST, []), "not even a sample"


def test_a_sample_that_leaves_less_than_itself_refuses(
    trainers: Trainers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tpudiag.sources.live.capture_size.LEAST_BYTES", 1)
    fault = trainers.fitted(REQUEST, 0.1 * A_SECOND)[1][trainers.addresses[0]]
    assert fault is not None
    assert "a second takes up to 140 MB" in fault
