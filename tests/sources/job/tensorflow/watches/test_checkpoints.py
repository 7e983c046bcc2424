"""What a job does about checkpoints."""

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from tests.sources.job.programs import InTensorFlow
from tpudiag.sources.job.points import hooks
from tpudiag.sources.job.tensorflow.watches.checkpoints import CheckpointWatch

PROGRAM = """
import tempfile, time
from tpudiag.sources.job.tensorflow.watches.checkpoints import CheckpointWatch

folder = tempfile.mkdtemp()
watch = CheckpointWatch(lambda path: str(path).replace(folder, "gs://bucket"))
watch.watch_tensorflow(tf)
watch.watch_keras(tf.keras)
checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
manager = tf.train.CheckpointManager(checkpoint, folder + "/managed", max_to_keep=1)
unused = tf.train.CheckpointManager(checkpoint, directory=folder + "/never", max_to_keep=1)
manager.save(), manager.save()
checkpoint.write(folder + "/written")
given, kept = [tf.keras.callbacks.ModelCheckpoint(f"{folder}/{n}.keras") for n in "gk"]
given.set_model(tf.keras.Sequential())
seen = [[u.kind, u.path, u.saved, u.location.line, u.given] for u in watch.facts()]

kernel, moment, count = tf.Variable(tf.ones((4, 3))), tf.Variable(tf.ones((4, 3))), tf.Variable(1)
whole = dict(model=kernel, moments=[moment], count=count)
for name, held in (("bare", dict(model=kernel, count=count)), ("whole", whole)):
    tf.train.Checkpoint(**held).write(f"{folder}/{name}")
later = CheckpointWatch(str)
later.watch_tensorflow(tf)
for name in (time.strftime("%Y%m%d-%H%M%S"), time.strftime("%d/%m %H:%M"), str(int(time.time()))):
    tf.train.CheckpointManager(checkpoint, f"{folder}/run-{name}", max_to_keep=1)
dated = [use.of_this_run for use in later.facts()] + [later.looked_for]
checkpoint.restore(tf.train.latest_checkpoint(folder))
dated.append(later.looked_for)
print(json.dumps([dated, seen, [[u.path, u.shapes] for u in watch.facts() if u.shapes]]))
"""


@pytest.mark.slow
def test_managers_and_saves_with_the_script_s_own_paths(in_tensorflow: InTensorFlow) -> None:
    dated, seen, held = in_tensorflow(PROGRAM)
    assert dated == [True, False, True, False, True], "which no other run has, and what is asked"
    uses = {(kind, path): (*facts,) for kind, path, *facts in seen}
    managed = ("tf.train.CheckpointManager", "gs://bucket/managed")
    assert uses[managed] == (2, 10, True)
    assert uses["tf.train.CheckpointManager", "gs://bucket/never"] == (0, 11, True)
    assert uses["tf.train.Checkpoint.write", "gs://bucket/written"] == (1, 13, True)
    assert [uses["ModelCheckpoint", f"gs://bucket/{n}.keras"][2] for n in "gk"] == [True, False]
    assert held == [["gs://bucket/bare", [[4, 3]]], ["gs://bucket/whole", [[4, 3], [4, 3]]]]


class Composite:
    """As Orbax': any name may be one of an item."""

    def __init__(self, array: object) -> None:
        self._items = {"state": array}

    def __getattr__(self, name: str) -> object:
        return self._items[name]


Composite.__module__ = "orbax.checkpoint.args"


def leaves(tree: Any) -> list[object]:
    if type(tree) not in (dict, tuple):
        return [tree]
    inner: Any = [*tree.values()] if type(tree) is dict else tree
    return [leaf for each in inner for leaf in leaves(each)]


def test_a_function_that_saves_may_get_all_its_arguments_by_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def save_checkpoint(ckpt_dir: str, target: object) -> None: ...

    both = dict.fromkeys(("save_checkpoint", "save_checkpoint_multiprocess"), save_checkpoint)
    saves: Any = SimpleNamespace(**both)
    flax = SimpleNamespace(training=SimpleNamespace(checkpoints=saves))
    monkeypatch.setitem(sys.modules, "flax", flax)
    tree: Any = SimpleNamespace(tree_leaves=leaves)
    monkeypatch.setitem(sys.modules, "jax", SimpleNamespace(tree_util=tree))
    watch = CheckpointWatch(lambda path: path)
    watch.watch_flax()
    saves.save_checkpoint(ckpt_dir="run", target=Composite(SimpleNamespace(shape=(4, 3))))
    hooks.undo()
    assert [(use.path, use.saved, use.shapes) for use in watch.facts()] == [("run", 1, ((4, 3),))]
