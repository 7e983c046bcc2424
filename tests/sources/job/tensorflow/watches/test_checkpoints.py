"""What a job does about checkpoints."""

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.slow

PROGRAM = """
import json, tempfile
import tensorflow as tf
from tpudiag.signals import VariableSeen
from tpudiag.sources.job.tensorflow.watches.checkpoints import CheckpointWatch

folder = tempfile.mkdtemp()
watch = CheckpointWatch(lambda path: str(path).replace(folder, "gs://bucket"))
watch.watch_tensorflow(tf)
checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
manager = tf.train.CheckpointManager(checkpoint, folder + "/managed", max_to_keep=1)
unused = tf.train.CheckpointManager(checkpoint, directory=folder + "/never", max_to_keep=1)
manager.save(), manager.save()
checkpoint.write(folder + "/written")
seen = [[u.kind, u.path, u.saved, u.location.line] for u in watch.facts()]

kernel, moment, count = tf.Variable(tf.ones((4, 3))), tf.Variable(tf.ones((4, 3))), tf.Variable(1)
variables = tuple(
    VariableSeen(name="", dtype="float32", shape=(4, 3), bytes=48, in_scope=True, trainable=kept,
                 optimizer=not kept, trained=kept) for kept in (True, False)
)
whole = dict(model=kernel, moments=[moment], count=count)
for name, held in (("bare", dict(model=kernel, count=count)), ("whole", whole)):
    tf.train.Checkpoint(**held).write(f"{folder}/{name}")
bare = [u.path for u in watch.facts(variables) if u.without_optimizer]
print(json.dumps([seen, bare]))
"""


def test_managers_and_saves_with_the_script_s_own_paths(
    in_tensorflow: Callable[[str], Any],
) -> None:
    seen, bare = in_tensorflow(PROGRAM)
    uses = {(kind, path): (saved, line) for kind, path, saved, line in seen}
    managed = ("tf.train.CheckpointManager", "gs://bucket/managed")
    assert uses[managed] == (2, 11)
    assert uses["tf.train.CheckpointManager", "gs://bucket/never"] == (0, 12)
    assert uses["tf.train.Checkpoint.write", "gs://bucket/written"] == (1, 14)
    assert bare == ["gs://bucket/bare"], "it holds nothing of the optimizer"
