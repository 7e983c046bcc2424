"""ThroughputCallback in the loops of Keras 3 and tf-keras, in processes of their own."""

import os
from pathlib import Path

import pytest

from tests.sources.job.programs import printed
from tpudiag.monitoring.reader import read

pytestmark = pytest.mark.slow

SCRIPT = """
import sys, numpy, tensorflow as tf, tpudiag
keras = tf.keras
model = keras.Sequential([keras.layers.Input((8,)), keras.layers.Dense(1)])
model.compile("sgd", "mse", steps_per_execution=int(sys.argv[2]))
x, y = numpy.zeros((640, 8), "float32"), numpy.zeros((640, 1), "float32")
callback = tpudiag.ThroughputCallback(global_batch_size=16, path=sys.argv[1], name="fit")
for _ in range(2):
    model.fit(x, y, batch_size=16, epochs=3, validation_data=(x, y), verbose=0,
              callbacks=[callback, keras.callbacks.EarlyStopping("loss", patience=9),
                         keras.callbacks.ModelCheckpoint(sys.argv[1] + ".weights.h5",
                                                         save_weights_only=True)])
print(model.__module__.partition(".")[0], callback.recorder.lost_steps)
"""


@pytest.mark.parametrize(("legacy", "module"), [("0", "keras"), ("1", "tf_keras")])
def test_every_step_is_recorded_and_pauses_are_known(
    tmp_path: Path, legacy: str, module: str
) -> None:
    path = tmp_path / "throughput.sqlite"
    chosen = {**os.environ, "TF_USE_LEGACY_KERAS": legacy}
    assert printed(SCRIPT, str(path), "4", env=chosen).split() == [module, "0"]
    found = read(path)
    assert found.run.name == "fit"
    assert found.run.ended_ns is not None
    assert found.steps == 3 * 40, "steps, not executions; of the second run alone"
    assert sum(w.examples or 0 for w in found.windows) == 3 * 640
    of_kinds = [(w.evaluation_ms, w.checkpoint_ms) for w in found.windows]
    evaluation_ms, checkpoint_ms = map(sum, zip(*of_kinds, strict=True))
    assert 0 < evaluation_ms < sum(w.pause_ms for w in found.windows) - checkpoint_ms
    assert checkpoint_ms > 0
    assert found.run.parameters == 9
    assert found.run.loop == 0
    assert found.windows[0].compile_ms > 0
    assert all(w.wait_ms is None for w in found.windows), "fit hides the wait: not measured"
