"""From files to the facts of a run."""

from pathlib import Path

import pytest

from tests.sources.profile import spaces
from tpudiag.errors import UnreadableInput
from tpudiag.sources.profile.run_reader import NOT_READ, Answers, facts, here


def test_a_host_that_cannot_be_read_keeps_back_no_other(tmp_path: Path) -> None:
    good = spaces.write(spaces.training(devices=1, steps=6), tmp_path, host="good")
    bad = good.with_name("bad.xplane.pb")
    bad.write_bytes(b"\x0a\x7fxx")
    read, times = facts(tmp_path)
    assert read.hosts == ("worker-0",) and times is not None
    (unread,) = read.unread
    assert unread.name == "bad" and str(bad) not in unread.reason
    good.write_bytes(b"nothing of the kind")
    with pytest.raises(UnreadableInput, match=r"bad\.xplane\.pb.* \(nor can any of the 2 hosts\)"):
        facts(tmp_path)


def test_files_that_were_not_reached_are_told(tmp_path: Path) -> None:
    first = spaces.write(spaces.training(devices=1, steps=6), tmp_path, host="a")
    moved: list[int] = []
    files = (str(first), str(first.with_name("b.xplane.pb")))
    answers = Answers(files).add_all(here(files[:1], moved=moved.append))
    assert 0 < sum(moved) <= first.stat().st_size
    read, _ = answers.merged()
    assert [(each.name, each.reason) for each in read.unread] == [("b", NOT_READ)]


def test_events_of_a_name_as_steps(tmp_path: Path) -> None:
    made = spaces.space("host")
    threads = {"python": [("my_step", 0.0, 30.0), ("my_step", 1.0, 5.0)]}
    spaces.each_step(spaces.Plane(made, "/host:CPU"), (100.0, 150.0, 200.0), threads)
    files = [str(spaces.write(made, tmp_path))]
    assert facts(tmp_path)[1] is None
    _, times = Answers(files).add_all(here(files, "my_step")).merged()
    assert times is not None and times.step_ms == pytest.approx((30.0,) * 3)
    assert Answers(files).add_all(here(files, "no_such_event")).merged()[1] is None
