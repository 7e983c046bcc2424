"""Which saves over one file are reported."""

from dataclasses import replace

from tpudiag.model import Framework
from tpudiag.signals import Checkpoints, CheckpointUse, Dispatch

from .rehearsal import HERE, examine, h


def test_what_a_callback_saves_is_told_once() -> None:
    uses = (
        CheckpointUse("ModelCheckpoint", "m.keras", 0, HERE),
        CheckpointUse("Model.save", "m.keras", 3, HERE),
    )
    (finding,) = examine(h(checkpoints=Checkpoints(uses)), "TPU602").findings
    assert finding.message.startswith("ModelCheckpoint writes over one file")
    never_given = Checkpoints((replace(uses[0], given=False),))
    assert not examine(h(checkpoints=never_given), "TPU602").findings
    assert "given to no loop" in str(examine(h(checkpoints=never_given), "TPU601").reason)
    by_hand = Checkpoints((uses[1],))
    assert examine(h(checkpoints=by_hand), "TPU602").findings[0].message.startswith("Model.save")


def test_a_line_that_saves_to_several_files_leaves_one() -> None:
    uses = tuple(CheckpointUse("Model.save_weights", f"{n}.weights.h5", 4, HERE) for n in (10, 20))
    assert not examine(h(checkpoints=Checkpoints(uses)), "TPU602").findings
    assert examine(h(checkpoints=Checkpoints(uses[:1])), "TPU602").findings


def test_a_folder_of_checkpoints_of_flax_is_no_single_file() -> None:
    use = CheckpointUse("flax.training.checkpoints.save_checkpoint", "run", 4, HERE)
    assert not examine(h(checkpoints=Checkpoints((use,))), "TPU602").findings


def test_a_fit_that_keras_does_not_compile_saves_by_a_callback_as_well() -> None:
    eager = Dispatch(steps=9, steps_per_dispatch=1, eager_steps=9, not_compiled=("RandomZoom",))
    signals = h(framework=Framework.JAX, checkpoints=Checkpoints(()), dispatch=eager)
    assert "BackupAndRestore" in examine(signals, "TPU601").findings[0].fix
