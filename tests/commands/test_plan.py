"""`tpudiag plan` over real jobs and the real TPU compiler."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests import tiny_job
from tests.commands.called import reported

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
WIDE = f"""\
import tensorflow as tf

{tiny_job.STRATEGY}
with strategy.scope():
    kernel = tf.Variable(tf.zeros((256, 8192)))
data = tf.data.Dataset.from_tensors(tf.zeros((256,))).repeat().batch(64, drop_remainder=True)


def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.square(tf.tanh(x @ kernel) @ tf.transpose(kernel)))
    kernel.assign_sub(1e-3 * tape.gradient(loss, kernel))
    print("traced", flush=True)


{tiny_job.LOOP}    open("ran", "w").close()
"""


def plan(folder: Path, *arguments: str) -> tuple[subprocess.CompletedProcess[str], dict[str, Any]]:
    """Run the verb in a folder of its own; its process and its JSON report ({} where none)."""
    return reported(folder, "plan", *arguments, env={"TPUDIAG_CACHE": str(folder / "cache")})


def rows(report: dict[str, Any]) -> dict[tuple[str, int], dict[str, Any]]:
    """The table's rows by TPU and batch."""
    (table,) = report["tables"]
    named = [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]
    return {(row["TPU"], row["batch"]): row for row in named}


def test_the_reference_job_is_planned_and_kept(tmp_path: Path) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text("[chip_hour]\nv5e = 1.0\nv6e = 1e9\n")
    asked = ("--for", "v5e-4,v6e-4", "--batch", "64,128", "--cost", "prices.toml")
    done, report = plan(tmp_path, *asked)
    assert done.returncode == 0, done.stderr + done.stdout
    jsonschema.validate(
        report, json.loads((ROOT / "reports" / "report-v1.schema.json").read_text())
    )
    found = rows(report)
    assert set(found) == {(tpu, b) for tpu in ("v5e-4", "v6e-4") for b in (64, 128)}
    assert all(row["fits"] == "yes" and row["ex/s/chip"] > 0 for row in found.values())
    assert all(r["step_low_ms"] <= r["step_ms"] <= r["step_high_ms"] for r in report["plan"])
    assert found["v5e-4", 128]["GiB"] >= found["v5e-4", 64]["GiB"] > 0
    assert found["v5e-4", 64]["ex/price"] > found["v6e-4", 64]["ex/price"]
    assert report["headline"].startswith("Take a per-replica batch of 128 on v5e-4")
    kept = sorted(file.stat().st_mtime_ns for file in (tmp_path / "cache").glob("*.json"))
    assert len(kept) == 4
    again, second = plan(tmp_path, *asked)
    assert again.returncode == 0
    assert second["tables"] == report["tables"]
    assert report.get("writes") and not second.get("writes"), "no job ran again"
    assert any("an earlier plan lowered" in note for note in second["notes"])
    assert kept == sorted(f.stat().st_mtime_ns for f in (tmp_path / "cache").glob("*.json"))


def test_the_wall_is_found_without_running_a_step(tmp_path: Path) -> None:
    (tmp_path / "job.py").write_text(WIDE)
    done, report = plan(tmp_path, "job.py", "--for", "v5e-1", "--batch", "4096,1048576")
    assert done.returncode == 0, done.stderr + done.stdout
    assert not (tmp_path / "ran").exists()
    found = {batch: row for (_, batch), row in rows(report).items()}
    assert found[4096]["fits"] == "yes"
    assert found[1048576]["fits"] == "no"
    assert len(found) > 2, "the wall between both was not looked for"
    fitting = [batch for batch, row in found.items() if row["fits"] != "no"]
    assert max(fitting) < min(batch for batch in found if batch not in fitting)


ALONE = """\
import tensorflow as tf
kernel = tf.Variable(tf.ones((64, 8)))
@tf.function
def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(x @ kernel))
    kernel.assign_sub(0.1 * tape.gradient(loss, kernel))
    return loss
data = tf.data.Dataset.from_tensors(tf.ones((64,))).repeat().batch(32)
for x in data:
    step(x)
"""
BUILT_BY_ITS_FIRST_STEP = """\
import numpy as np
import tensorflow as tf
model = tf.keras.Sequential([tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(np.ones((100, 20), "float32"), np.ones((100, 1), "float32"))
"""


@pytest.mark.parametrize("script", [ALONE, BUILT_BY_ITS_FIRST_STEP])
def test_a_job_without_a_strategy_is_planned_as_one_replica(tmp_path: Path, script: str) -> None:
    (tmp_path / "job.py").write_text(script)
    done, report = plan(tmp_path, "job.py", "--for", "v5e-8", "--batch", "16,32")
    assert done.returncode == 0, done.stderr + done.stdout
    assert {row["batch_per_replica"]: row["fits"] for row in report["plan"]} == {16: True, 32: True}
    assert any("makes no TPUStrategy" in note for note in report["notes"])


@pytest.mark.parametrize(
    ("script", "says"),
    [
        ("raise RuntimeError('no data')", "crashed before its first training step: RuntimeError"),
        ("import tensorflow.compat.v1 as tf\ntf.Session().run([])", "a TensorFlow 1 script"),
        ("print('done')", "ended without a training step"),
        ("import os; os._exit(7)", "died before its first training step"),
    ],
)
def test_a_job_without_a_step_is_one_line(tmp_path: Path, script: str, says: str) -> None:
    (tmp_path / "job.py").write_text(script)
    done, report = plan(tmp_path, "job.py")
    assert done.returncode == 2
    assert says in done.stderr
    assert done.stderr.strip().splitlines()[-1].startswith("tpudiag: ")
    assert report == {}


def test_an_interrupt_leaves_a_partial_plan(tmp_path: Path) -> None:
    """A compiler that never answers is interrupted while it is waited for."""
    python, pipe = tmp_path / "python", tmp_path / "compiling"
    os.mkfifo(pipe)
    python.write_text(
        f"#!{sys.executable}\nimport sys, time\nif '-c' in sys.argv:\n    print('libtpu 0')\n"
        f"else:\n    open({str(pipe)!r}, 'w').close()\n    time.sleep(600)\n"
    )
    python.chmod(0o755)
    with subprocess.Popen(
        [sys.executable, "-m", "tpudiag", "plan", "--for", "v5e-1", "--batch", "64",
         "--compiler-python", str(python), "-o", "p.json"],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "TPUDIAG_CACHE": str(tmp_path / "cache")},
    ) as process:  # fmt: skip
        with pipe.open():  # returns when the compiler has opened its end
            pass
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=800)
    assert process.returncode == 130
    assert "interrupted" in err
    assert "Traceback" not in err
    report = json.loads((tmp_path / "p.json").read_text())
    assert "interrupted" in report["partial"]
    assert report["tables"][0]["rows"] == []
