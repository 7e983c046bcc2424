"""A process that is the user's own is left as it was found."""

from pathlib import Path

import pytest

from tests.points import ROWS
from tests.sources.job.programs import told

pytestmark = pytest.mark.slow

PROGRAM = """
import atexit, inspect, json, os, sys
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import jax, keras, numpy, pandas, random
import tensorflow as tf
# rows
from tpudiag.sources.job.points.point import Undone

MADE = (keras.Sequential, tf.data.Dataset, tf.Variable, type(iter(tf.data.Dataset.range(1))))

def found():
    for title, row in {**ROWS, **OF_FILES}.items():
        of = keras if row.owners and row.owners[0].startswith("keras") else None
        for each in [of] if row.owners else MADE:
            for holder, name in row.places(each):
                at_exit = row.undone is Undone.AT_EXIT
                yield title, holder, name, inspect.getattr_static(holder, name, None), at_exit

def changed():
    return [
        (f"{title} {holder}.{name}", at_exit)
        for title, holder, name, value, at_exit in before
        if inspect.getattr_static(holder, name, None) is not value
    ]

before = list(found())
seen = {"places": len(before)}
atexit.register(lambda: print(json.dumps({**seen, "at exit": changed()})))
import tpudiag
dataset = tf.data.Dataset.from_tensor_slices((tf.ones((8, 2)), tf.ones((8, 1)))).batch(4)
model = keras.Sequential([keras.layers.Dense(1)])
model.compile("sgd", "mse")
callback = tpudiag.ThroughputCallback(global_batch_size=4, path="a.sqlite")
class Look(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        seen["in fit"] = len(changed())
model.fit(dataset, verbose=0, callbacks=[callback, Look()])
del callback
step = jax.jit(lambda x: x + 1)
x = jax.numpy.ones(3)
for _ in tpudiag.track(range(3), global_batch_size=4, path="b.sqlite"):
    x = step(x)
seen["after"] = [key for key, at_exit in changed() if not at_exit]
"""


def test_every_point_is_undone_at_the_end(tmp_path: Path) -> None:
    seen = told(PROGRAM.replace("# rows", ROWS), cwd=tmp_path)
    assert seen["places"] > 200 and seen["in fit"] > 4, "else it was not looked"
    assert (seen["after"], seen["at exit"]) == ([], [])
