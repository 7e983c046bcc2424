"""What was held back, in words."""

from tpudiag.diagnoses import not_sent
from tpudiag.model import Location
from tpudiag.script_run import Writes
from tpudiag.signals import HeldBack, Origin, Refusal, RefusedBy, SendKind, Signals

HELD = (
    HeldBack(SendKind.UPLOAD, "gs://bucket", 3, Location("train.py", 7)),
    HeldBack(SendKind.UPLOAD, "gs://other", 1, Location("train.py", 8)),
    HeldBack(SendKind.RUN, "wandb", 1, Location("train.py", 2)),
    HeldBack(SendKind.PUSH, "git push", 2),
)


def test_each_kind_with_its_number() -> None:
    assert not_sent.words(HELD) == ("4 uploads", "1 wandb run", "2 pushes")
    signals = Signals(origin=Origin.REHEARSAL, held_back=HELD)
    writes = not_sent.with_sends(Writes(isolation="overlay"), signals)
    assert writes is not None and writes.not_sent == ("4 uploads", "1 wandb run", "2 pushes")
    (note,) = not_sent.notes(signals)
    assert "gs://bucket (train.py:7)" in note and note.endswith("git push.")


def test_what_nobody_can_tell_of_is_said_apart() -> None:
    database = HeldBack(SendKind.UNJUDGED, "10.0.0.5:5432", 3, HELD[0].location)
    alone = Signals(origin=Origin.REHEARSAL, held_back=(database,))
    writes = Writes(isolation="overlay")
    assert not_sent.with_sends(writes, alone) is writes
    (note,) = not_sent.notes(alone)
    assert "not held back" in note and note.endswith(f"10.0.0.5:5432 ({HELD[0].location}).")
    both = Signals(origin=Origin.REHEARSAL, held_back=(*HELD, database))
    told = not_sent.with_sends(writes, both)
    assert told is not None and told.not_sent == ("4 uploads", "1 wandb run", "2 pushes")
    assert len(not_sent.notes(both)) == 2


def test_nothing_held_back_is_nothing_said() -> None:
    signals = Signals(origin=Origin.REHEARSAL, held_back=())
    writes = Writes(isolation="overlay")
    assert not_sent.with_sends(writes, signals) is writes
    assert not_sent.notes(signals) == () and not_sent.refused(signals) is None


def test_what_the_rehearsal_ended_is_told_as_its_own_doing() -> None:
    refusal = Refusal(RefusedBy.WALL, "PermissionError: [Errno 13] /data/x", HELD[0].location)
    said = not_sent.refused(Signals(origin=Origin.REHEARSAL, refusal=refusal))
    assert said is not None and said.startswith("train.py:7: ended by the wall")
    assert "not by a fault of its own: PermissionError" in said
