"""`--fake-data`: the input pipeline is run alone where its data are the job's own."""

from pathlib import Path

import pytest

from tests import tiny_job
from tests.commands.called import reported

pytestmark = pytest.mark.slow

JOB = """\
import tensorflow as tf

strategy = tf.distribute.TPUStrategy(tf.distribute.cluster_resolver.TPUClusterResolver.connect())
with strategy.scope():
    kernel = tf.Variable(tf.ones((4, 1)))


def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(x @ kernel)
    kernel.assign_sub(1e-3 * tape.gradient(loss, kernel))


data = SOURCE.repeat().batch(16, drop_remainder=True)
"""
OWN = "tf.data.Dataset.from_tensor_slices(tf.zeros((64, 4)))"
STOOD_IN = "tf.data.TFRecordDataset('gs://bucket/train').map(lambda _: tf.zeros((4,)))"


@pytest.mark.parametrize(("source", "measured"), [(OWN, True), (STOOD_IN, False)])
def test_a_pipeline_of_the_jobs_own_data_is_measured(
    tmp_path: Path, source: str, measured: bool
) -> None:
    (tmp_path / "job.py").write_text(JOB.replace("SOURCE", source) + tiny_job.LOOP)
    done, report = reported(
        tmp_path, "check", "job.py", "--for", "v5e-2", "--fake-data", "--no-compile",
        "--first-loop", "--measure-input", "2s", "--steps", "3", "--warmup", "1",
        "--fail-on", "never",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr + done.stdout
    assert ("measuring the input pipeline" in done.stderr) is measured
    (bound,) = [each for each in report["outcomes"] if each["id"] == "TPU201"]
    assert ("stood in for" in bound.get("reason", "")) is not measured
