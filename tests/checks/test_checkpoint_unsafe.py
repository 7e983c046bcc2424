"""Which saves over one file are told of."""

from __future__ import annotations

from tpudiag.signals import Checkpoints, CheckpointUse

from .rehearsal import HERE, examine, h


def test_what_a_callback_saves_is_told_once() -> None:
    uses = (
        CheckpointUse("ModelCheckpoint", "m.keras", 0, HERE),
        CheckpointUse("Model.save", "m.keras", 3, HERE),
    )
    (finding,) = examine(h(checkpoints=Checkpoints(uses)), "TPU602").findings
    assert finding.message.startswith("ModelCheckpoint writes over one file")
    by_hand = Checkpoints((uses[1],))
    assert examine(h(checkpoints=by_hand), "TPU602").findings[0].message.startswith("Model.save")
