"""What was held back, counted and reported."""

from pathlib import Path

from tpudiag.model import Location
from tpudiag.signals import HeldBack, SendKind
from tpudiag.sources.job.held_back.ledger import Ledger


class Told:
    def __init__(self) -> None:
        self.times = 0
        self.held: tuple[HeldBack, ...] = ()

    def __call__(self, **facts: tuple[HeldBack, ...]) -> None:
        self.times += 1
        self.held = facts["held_back"]


def test_each_thing_is_listed_once_and_told_as_its_number_doubles() -> None:
    told = Told()
    ledger = Ledger(told)
    assert told.times == 1, "nothing was held back: that is a fact, too"
    for _ in range(1000):
        ledger.note(SendKind.REQUEST, "POST a.example", Location("train.py", 3))
    assert told.times < 15
    ledger.flush()
    assert told.held == (
        HeldBack(SendKind.REQUEST, "POST a.example", 1000, Location("train.py", 3)),
    )
    assert ledger.lines() == {Location("train.py", 3)}
    for host in range(1000):
        ledger.note(SendKind.REQUEST, f"POST {host}.example")
    ledger.flush()
    assert len(told.held) == 100, "bounded"


def test_a_file_of_a_bucket_counts_once() -> None:
    told = Told()
    ledger = Ledger(told)
    for path in ("gs://bucket/a", "gs://bucket/a", "gs://bucket/run/b", "/local/file"):
        ledger.note_file(path, False)
    ledger.note_file("gs://bucket/a", True)
    ledger.flush()
    assert [(each.kind, each.what, each.count) for each in told.held] == [
        (SendKind.UPLOAD, "gs://bucket", 2),
        (SendKind.DELETION, "gs://bucket", 1),
    ]


def test_what_child_processes_add_is_read_once(tmp_path: Path) -> None:
    told, file = Told(), tmp_path / "sends"
    ledger = Ledger(told, str(file))
    ledger.flush()
    file.write_text('["push", "git push", "train.py:7"]\nhalf a li\n["mail", "mail", ""]\n')
    ledger.flush()
    ledger.flush()
    assert [(each.what, each.count) for each in told.held] == [("git push", 1), ("mail", 1)]
    assert told.held[0].location == Location("train.py", 7)
