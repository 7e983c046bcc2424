"""`tpudiag check` with the TPU compiler: real jobs, lowered and compiled."""

from pathlib import Path
from typing import Any

import pytest

from tests import tiny_job
from tests.commands.called import reported

pytestmark = pytest.mark.slow

COMPILED = ("TPU103", "TPU301", "TPU302", "TPU303", "TPU504")
HASHED = f"""\
import tensorflow as tf

{tiny_job.STRATEGY}
with strategy.scope():
    kernel = tf.Variable(tf.ones((4, 1)))


def step(x):
    with tf.GradientTape() as tape:
        value, _ = tf.unique(tf.reshape(x, [-1]))
        order = tf.raw_ops.UnravelIndex(indices=[0], dims=[2, 2])
        loss = tf.reduce_sum(x @ kernel) + tf.reduce_sum(value) + tf.cast(order[0, 0], tf.float32)
    kernel.assign_sub(1e-3 * tape.gradient(loss, kernel))


data = tf.data.Dataset.from_tensors(tf.zeros((4,))).repeat().batch(16, drop_remainder=True)
{tiny_job.LOOP}"""


def check(folder: Path, *arguments: str) -> tuple[str, dict[str, Any]]:
    """What a run in a folder of its own says, and its JSON report."""
    options = ("--steps", "6", "--warmup", "3", "--first-loop", "--measure-input", "0")
    cache = {"TPUDIAG_CACHE": str(folder / "cache")}
    done, report = reported(folder, "check", *arguments, *options, "--fail-on", "never", env=cache)
    assert done.returncode == 0, done.stderr + done.stdout
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
