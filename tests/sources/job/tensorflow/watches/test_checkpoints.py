"""What a job does about checkpoints."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.slow

PROGRAM = """
import json, tempfile
import tensorflow as tf
from tpudiag.sources.job.tensorflow.watches.checkpoints import CheckpointWatch

folder = tempfile.mkdtemp()
watch = CheckpointWatch(lambda path: str(path).replace(folder, "gs://bucket"))
watch.watch_tensorflow()
checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
manager = tf.train.CheckpointManager(checkpoint, folder + "/managed", max_to_keep=1)
unused = tf.train.CheckpointManager(checkpoint, directory=folder + "/never", max_to_keep=1)
manager.save(), manager.save()
checkpoint.write(folder + "/written")
print(json.dumps([[u.kind, u.path, u.saved, u.location.line] for u in watch.facts()]))
"""


def test_managers_and_saves_with_the_script_s_own_paths(
    in_tensorflow: Callable[[str], Any],
) -> None:
    uses = {(kind, path): (saved, line) for kind, path, saved, line in in_tensorflow(PROGRAM)}
    managed = ("tf.train.CheckpointManager", "gs://bucket/managed")
    assert uses[managed] == (2, 9)
    assert uses["tf.train.CheckpointManager", "gs://bucket/never"] == (0, 10)
    assert uses["tf.train.Checkpoint.write", "gs://bucket/written"] == (1, 12)
