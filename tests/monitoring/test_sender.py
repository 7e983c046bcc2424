"""Points on their way to Cloud Monitoring: the real client, real gRPC, a clock of our own."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tpudiag.errors import UsageError
from tpudiag.monitoring.cloud import sender as sending
from tpudiag.monitoring.cloud.connection import Service
from tpudiag.monitoring.cloud.connection import client as client_of
from tpudiag.monitoring.cloud.resource import PointSource, point_source
from tpudiag.monitoring.cloud.sender import Sender, time_series
from tpudiag.monitoring.cloud.spool import Point, Spool
from tpudiag.monitoring.metrics import METRICS
from tpudiag.monitoring.recording import NS

grpc: Any = import_module("grpc")

START_S = 1_790_000_000.0
SERIES = ("steps_per_second", "step_time_p50_ms", "steps")


def source(job: str = "job", task: str = "host") -> PointSource:
    return point_source("p", job, task)


def always(code: Any) -> Callable[[str], Any]:
    return lambda _: code


class World:
    """A job that makes a point of three series each 30 s, and a sender; time is ours."""

    def __init__(self, emulator: Any, folder: Path, period_s: float = 30) -> None:
        self.period_s, self.source = period_s, source()
        self.now, self.made, self.emulator = START_S, 0, emulator
        emulator.clock = lambda: self.now
        self.spool = Spool(folder / "points.buffer")
        self.said: list[str] = []
        self.sender = self.another()

    def another(self) -> Sender:
        """A sender as a new process would have it."""
        client = client_of(Service.METRICS, self.emulator.endpoint)
        return Sender(self.spool, client, "p", lambda: self.now, self.said.append)

    def make(self) -> None:
        """A point of each series, at this time."""
        end_ns = int(self.now * NS)
        points = [Point(self.source, name, end_ns, self.made) for name in SERIES]
        self.spool.add(points, 10 * NS)
        self.made += 1

    def run(self, seconds: float, points: bool = True) -> None:
        """So much time goes by."""
        end, due = self.now + seconds, self.now
        wake = self.now
        while self.now < end:
            if points and self.now >= due:
                self.make()
                due += self.period_s
            if self.now >= wake:
                wake = self.now + self.sender.step()
            self.now = min(end, max(self.now + 0.001, min(wake, due if points else end)))

    @property
    def arrived(self) -> dict[str, list[tuple[float, float]]]:
        return {key[0].rpartition("/")[2]: found for key, found in self.emulator.series.items()}


@pytest.fixture
def world(emulator: Any, tmp_path: Path) -> World:
    return World(emulator, tmp_path)


def whole(world: World) -> None:
    """Each point that was made has arrived once, in order."""
    for name in SERIES:
        assert [value for _, value in world.arrived[name]] == list(range(world.made)), name
    assert world.spool.waiting == 0
    assert world.spool.counts == {"accepted": len(SERIES) * world.made}


def test_points_arrive_in_order_and_not_too_often(world: World) -> None:
    world.run(600)
    world.run(60, points=False)
    whole(world)
    assert world.made == 20
    written = [at for at, method, _ in world.emulator.calls if method == "CreateTimeSeries"]
    assert all(b - a >= 5 for a, b in pairwise(written))


def test_ten_minutes_unavailable_lose_and_double_nothing(world: World) -> None:
    world.run(120)
    world.emulator.fail_with = always(grpc.StatusCode.UNAVAILABLE)
    before = len(world.emulator.calls)
    world.run(600)
    tries = len(world.emulator.calls) - before
    assert world.spool.waiting == 3 * 20
    assert world.said == [said for said in world.said if "not reached" in said][:1]
    assert 10 <= tries <= 60, "tried again, with growing pauses"
    world.emulator.fail_with = always(None)
    world.run(600)
    world.run(120, points=False)
    whole(world)
    assert "again" in world.said[-1]


@pytest.mark.parametrize("code", ["UNAVAILABLE", "DEADLINE_EXCEEDED"])
def test_an_answer_that_is_lost_doubles_nothing(world: World, code: str) -> None:
    count = [0]

    def lost(method: str) -> Any:
        count[0] += method == "CreateTimeSeries"
        return getattr(grpc.StatusCode, code) if count[0] % 3 == 1 else None

    world.emulator.forget_answer = lost
    world.run(900)
    world.emulator.forget_answer = always(None)
    world.run(300, points=False)
    whole(world)


def test_a_process_killed_between_sending_and_noting_doubles_nothing(world: World) -> None:
    """What a kill leaves behind: the call was made, its answer never noted."""
    world.run(60)
    world.make()
    world.now += 10
    points = world.spool.due()
    world.spool.mark(points, under_way=True)
    client = client_of(Service.METRICS, world.emulator.endpoint)
    client.create_time_series(
        name="projects/p", time_series=[time_series(point) for point in points]
    )
    world.sender = world.another()
    world.run(300)
    world.run(60, points=False)
    whole(world)


def test_points_too_old_are_counted_as_lost(world: World) -> None:
    world.emulator.fail_with = always(grpc.StatusCode.UNAVAILABLE)
    for _ in range(100):
        world.spool.add([Point(world.source, "steps", int(world.now * NS), 0)], 10 * NS)
        world.now += 30
    world.now += 86_400 - 50 * 30
    world.emulator.fail_with = always(None)
    world.run(3_600, points=False)
    counts = world.spool.counts
    assert counts["too old"] + counts["accepted"] == 100
    assert counts["too old"] >= 50
    assert len(world.arrived["steps"]) == counts["accepted"] > 0


def test_what_is_refused_is_counted_and_the_rest_stands(world: World) -> None:
    world.run(30)
    bad = world.emulator.series
    key = next(key for key in bad if key[0].endswith("/steps"))
    bad[key].append((world.now + 100, 7.0))
    world.run(90)
    world.run(60, points=False)
    counts = world.spool.counts
    assert counts["refused"] + counts["accepted"] == 3 * world.made
    assert 1 <= counts["refused"] <= 3
    others = [name for name in SERIES if name != "steps"]
    assert all(len(world.arrived[name]) == world.made for name in others)
    assert any("refused" in said for said in world.said)


def test_an_outage_is_caught_up_at_a_point_each_5_s_and_series(
    emulator: Any, tmp_path: Path
) -> None:
    world = World(emulator, tmp_path, period_s=10)
    world.run(60)
    emulator.fail_with = always(grpc.StatusCode.UNAVAILABLE)
    world.run(450)
    emulator.fail_with = always(None)
    world.run(600)
    assert world.spool.waiting <= len(SERIES), "while the job goes on"
    world.run(60, points=False)
    whole(world)
    written: dict[str, list[float]] = {name: [] for name in SERIES}
    for at, method, request in emulator.calls:
        for series in request.time_series if method == "CreateTimeSeries" else ():
            written[series.metric.type.rpartition("/")[2]].append(at)
    assert all(b - a >= 5 for times in written.values() for a, b in pairwise(times[-50:]))


def test_a_service_that_wants_points_further_apart_gets_them_so(world: World) -> None:
    """Five seconds are documented; refusals of points 5.5 s apart were reported."""
    world.emulator.written_apart_s = 12.0
    world.emulator.fail_with = always(grpc.StatusCode.UNAVAILABLE)
    world.run(300)
    world.emulator.fail_with = always(None)
    world.run(900)
    world.run(120, points=False)
    whole(world)


@pytest.mark.parametrize("lacks", ["NOT_FOUND", "PERMISSION_DENIED"])
def test_a_missing_project_or_right_is_said_and_tried_again_within_a_minute(
    world: World, lacks: str
) -> None:
    if lacks == "NOT_FOUND":
        world.emulator.project = "projects/other"
    else:
        world.emulator.fail_with = always(grpc.StatusCode.PERMISSION_DENIED)
    world.run(1_200)
    assert world.spool.waiting == 3 * 40
    tries = [at for at, method, _ in world.emulator.calls if method == "CreateMetricDescriptor"]
    assert 20 <= len(tries) <= 60
    assert world.said == [said for said in world.said if lacks in said][:1]
    world.emulator.project, world.emulator.fail_with = "projects/p", always(None)
    given = world.now
    world.run(90)
    first = next(at for at, name, _ in world.emulator.calls if name == "CreateTimeSeries")
    assert first - given <= 61
    world.run(600)
    world.run(60, points=False)
    whole(world)


def test_points_of_an_earlier_job_keep_its_name(world: World) -> None:
    world.emulator.fail_with = always(grpc.StatusCode.UNAVAILABLE)
    world.run(60)
    world.source, world.sender = source("next"), world.another()
    world.emulator.fail_with = always(None)
    world.run(60)
    world.run(60, points=False)
    jobs = {
        (dict(key[1])["training_job"], dict(key[3])["job"]): len(points)
        for key, points in world.emulator.series.items()
        if key[0].endswith("/steps")
    }
    assert jobs == {("job", "job"): 2, ("next", "next"): 2}
    assert world.spool.counts == {"accepted": 12}


def test_no_call_holds_more_than_200_series(
    emulator: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, emulators: ModuleType
) -> None:
    many = tuple(replace(METRICS[0], name=f"m{number}") for number in range(220))
    monkeypatch.setattr(sending, "METRICS", many)
    world = World(emulator, tmp_path)
    end_ns = int(world.now * NS)
    world.spool.add([Point(world.source, metric.name, end_ns, 1.0) for metric in many], 10 * NS)
    world.run(60, points=False)
    sizes = [
        len(request.time_series)
        for _, method, request in emulator.calls
        if method == "CreateTimeSeries"
    ]
    assert sizes == [emulators.SERIES_A_CALL, 20]
    assert world.spool.counts == {"accepted": 220}


@pytest.mark.parametrize("lie", ["UPDATE sources SET source = '[1]'", "DELETE FROM sources", ""])
def test_a_buffer_that_no_watch_wrote_is_refused_in_a_line(lie: str, tmp_path: Path) -> None:
    file = tmp_path / "points.buffer"
    spool = Spool(file)
    spool.add([Point(source(), f"figure-{n}", 10**18, 1.0) for n in range(500)], 1)
    spool.close()
    Spool(file).close()
    with closing(sqlite3.connect(file)) as base:
        base.execute(lie)
        base.commit()
    if not lie:  # bytes of another file
        data = file.read_bytes()
        file.write_bytes(data[:4096] + b"\xff" * len(data[4096:]))
    with pytest.raises(UsageError, match="the buffer"):
        Spool(file)
