"""`tpudiag check` with the TPU compiler: real jobs, lowered and compiled."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

COMPILED = ("TPU103", "TPU301", "TPU302", "TPU303", "TPU504")
HASHED = """\
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
with strategy.scope():
    kernel = tf.Variable(tf.ones((4, 1)))


def step(x):
    with tf.GradientTape() as tape:
        value, _ = tf.unique(tf.reshape(x, [-1]))
        order = tf.raw_ops.UnravelIndex(indices=[0], dims=[2, 2])
        loss = tf.reduce_sum(x @ kernel) + tf.reduce_sum(value) + tf.cast(order[0, 0], tf.float32)
    kernel.assign_sub(1e-3 * tape.gradient(loss, kernel))


@tf.function
def train(batch):
    strategy.run(step, args=(batch,))


data = tf.data.Dataset.from_tensors(tf.zeros((4,))).repeat().batch(16, drop_remainder=True)
for batch in strategy.experimental_distribute_dataset(data):
    train(batch)
"""


def check(folder: Path, *arguments: str) -> tuple[str, dict[str, Any]]:
    """What a run in a folder of its own says, and its JSON report."""
    done = subprocess.run(
        [sys.executable, "-m", "tpudiag", "check", *arguments, "--steps", "6", "--warmup", "3",
         "--first-loop", "--measure-input", "0", "--fail-on", "never", "-o", "r.json"],
        cwd=folder, capture_output=True, text=True, timeout=800, check=False,
        env={**os.environ, "TPUDIAG_CACHE": str(folder / "cache")},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr + done.stdout
    report: dict[str, Any] = json.loads((folder / "r.json").read_text())
    return done.stdout, report


def outcomes(report: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {outcome["id"]: outcome for outcome in report["outcomes"]}


@pytest.mark.parametrize("loop", ["custom", "fit"])
def test_the_reference_job_is_healthy_and_compiled_for_its_slice(tmp_path: Path, loop: str) -> None:
    said, report = check(tmp_path, "--for", "v5e-4", "--loop", loop)
    found = outcomes(report)
    assert {o["verdict"] for o in found.values()} <= {"passed", "skipped"}
    assert said.startswith("No TPU here: rehearsed for v5e-4 on 4 CPU replicas.")
    assert report["target"] == {"name": "v5e-4", "replicas": 4}
    assert found["TPU005"]["verdict"] == "passed"
    assert found["TPU106"]["verdict"] == "skipped"
    assert report["measurements"]["step_time_ms"]["value"] > 0
    assert report["measurements"]["input_wait_ms"]["value"] >= 0
    (profile,) = tmp_path.rglob("*.xplane.pb")
    (summary,) = tmp_path.rglob("events.out.tfevents.*.tpudiag")
    assert summary.parents[2] == profile.parents[3], "TensorBoard shows the report beside it"
    assert {"step_time", "step_part"} <= {series["kind"] for series in report["series"]}
    assert said.rstrip().splitlines()[-1].startswith("Open the profile: xprof --logdir ")
    for id_ in COMPILED[:4]:
        assert found[id_]["verdict"] == "passed", found[id_]
    need = {item["name"]: item for item in found["TPU301"]["evidence"]}
    assert "TPU compiler" in need["HBM need"]["source"]
    assert 128 * 784 * 4 < need["arguments"]["value"] < 4e6
    assert "dispatch" in found["TPU504"]["reason"]
    names = [item["name"] for item in found["TPU302"]["evidence"]]
    assert any("kernel" in name and "(1.6 x)" in name for name in names)


def test_an_operation_without_a_tpu_kernel_is_named_though_the_step_lowers(tmp_path: Path) -> None:
    (tmp_path / "job.py").write_text(HASHED)
    found = outcomes(check(tmp_path, "job.py", "--for", "v5e-2")[1])
    (finding,) = found["TPU103"]["findings"]
    assert finding["message"].startswith("UnravelIndex")
    assert finding["location"]["line"] == HASHED.splitlines().index(
        "        order = tf.raw_ops.UnravelIndex(indices=[0], dims=[2, 2])"
    ) + 1  # fmt: skip
    assert found["TPU303"]["verdict"] == "passed"


def test_a_missing_compiler_is_skipped_with_the_way_to_get_it(tmp_path: Path) -> None:
    bare = tmp_path / "python"
    bare.write_text("#!/bin/sh\nexit 1\n")
    bare.chmod(0o755)
    _, report = check(tmp_path, "--for", "v5e-2", "--compiler-python", str(bare))
    found = outcomes(report)
    assert found["TPU302"]["verdict"] == "skipped"
    assert "the TPU compiler is not installed" in found["TPU302"]["reason"]
    assert "tpudiag[compiler]" in found["TPU302"]["how_to_measure"]
    assert found["TPU103"]["verdict"] == "passed"
    assert report["partial"] is None
