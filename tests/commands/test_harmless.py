"""What a rehearsed script does to files, by every verb that runs one: nothing is left of it."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from tests.sources.job.process.isolation.places import (
    CONFINED,
    HARMS,
    Place,
    changed,
    make,
    place,
    state,
)

pytestmark = pytest.mark.slow

SCRIPT = f"""\
import os, runpy, sys

here = os.getcwd()
sys.argv = ["harms.py", "."]
raised = runpy.run_path({str(HARMS)!r})["done"]()
os.chdir(here)
assert set(raised) <= set(os.environ.get("HARMS_MAY_RAISE", "").split()), raised

import h5py
import numpy as np
import tensorflow as tf

table = np.memmap("tf/table.bin", dtype="float32", mode="r+", shape=(4,))
table[:] = 7.0
table.flush()
with h5py.File("tf/weights.h5", "a") as file:
    file["w"][:] = 7.0
np.save("tf/a.npy", np.ones(3))
tf.io.write_file("tf/a.txt", "gone")
with tf.io.TFRecordWriter("tf/data.tfrecord") as writer:
    writer.write(b"gone")
tf.io.gfile.rmtree("tf/old")
tf.io.gfile.rename("tf/b.txt", "tf/c.txt")
tf.io.gfile.copy("tf/c.txt", "tf/a.npy", overwrite=True)

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
strategy = tf.distribute.TPUStrategy(resolver)
x = tf.random.normal((512, 16))
y = tf.random.uniform((512,), maxval=4, dtype=tf.int32)
data = tf.data.Dataset.from_tensor_slices((x, y))
data.save("tf/saved")
list(tf.data.Dataset.range(3).cache("tf/cache"))
data = data.repeat().batch(64)
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.Input((16,)), tf.keras.layers.Dense(4)])
    model.compile("sgd", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
checkpoint = tf.train.Checkpoint(step=tf.Variable(0, dtype=tf.int64), model=model)
manager = tf.train.CheckpointManager(checkpoint, "tf/model", max_to_keep=3)
if manager.latest_checkpoint:
    checkpoint.restore(manager.latest_checkpoint).expect_partial()
for _ in range(4):
    model.fit(data, steps_per_epoch=20, epochs=2, verbose=0, callbacks=[
        tf.keras.callbacks.ModelCheckpoint("tf/best.keras"),
        tf.keras.callbacks.CSVLogger("tf/log.csv"),
        tf.keras.callbacks.TensorBoard("tf/logs"),
    ])
    checkpoint.step.assign_add(40)
    manager.save(int(checkpoint.step))
model.save("tf/model.keras")
"""
MADE = """\
import os
import h5py, numpy as np, tensorflow as tf
os.makedirs("tf/old")
for name in "a.txt b.txt old/a.txt log.csv best.keras model.keras data.tfrecord".split():
    open(f"tf/{name}", "w").write("mine")
np.zeros(4, "float32").tofile("tf/table.bin")
np.save("tf/a.npy", np.zeros(3))
with h5py.File("tf/weights.h5", "w") as file:
    file["w"] = np.zeros(3)
checkpoint = tf.train.Checkpoint(step=tf.Variable(0, dtype=tf.int64))
manager = tf.train.CheckpointManager(checkpoint, "tf/model", max_to_keep=3)
for step in (1000, 2000, 3000):
    checkpoint.step.assign(step)
    manager.save(step)
"""
SAVES = """\
import tensorflow as tf

checkpoint = tf.train.Checkpoint(step=tf.Variable(4000, dtype=tf.int64))
tf.train.CheckpointManager(checkpoint, "tf/model", max_to_keep=3).save(4000)
"""
AT_THE_WALL = (
    *("git_commit", "git_clean", "git_checkout", "git_gc", "shell", "system", "spawned"),
    *("pipe_and_socket", "through_proc", "shell_in_another_folder"),
)
"""What ends at the wall: other programs and sockets, of which no call is redirected."""
QUICK = ("--for", "v5e-2", "--steps", "4", "--warmup", "2", "--measure-input", "0", "--budget", "5")


@pytest.fixture(scope="module")
def where(saved: Path) -> Generator[Place, None, None]:
    """A folder and a home with all that a script can harm; no test may change them."""
    with place() as made:
        prepare(made, saved)
        yield made


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What TensorFlow, numpy and h5py saved there before."""
    folder = tmp_path_factory.mktemp("saved")
    (folder / "tf").mkdir()
    subprocess.run([sys.executable, "-c", MADE], cwd=folder, check=True, capture_output=True)
    return folder / "tf"


def prepare(where: Place, saved: Path) -> None:
    make(where)
    shutil.copytree(saved, where.work / "tf", dirs_exist_ok=True)
    (where.work / "train.py").write_text(SCRIPT)


TPUDIAG = (sys.executable, "-m", "tpudiag")


def ran(where: Place, command: tuple[str, ...], said: str = "", **variables: str) -> str:
    """What a verb writes that runs the script; it leaves all as it was, and nothing behind."""
    before, temporary = state(where), where.top / "tmp"
    temporary.mkdir(exist_ok=True)
    with subprocess.Popen(
        command, cwd=where.work, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
        env={**os.environ, "HOME": str(where.home), "TMPDIR": str(temporary), **variables},
    ) as process:  # fmt: skip
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(said)
        process.stdin.flush()
        out = process.stdout.read()  # stdin stays open: an agent's client waits for its answer
        assert process.stderr is not None
        err = process.stderr.read()
    assert changed(where, before) == set(), err
    assert list(temporary.iterdir()) == []
    return out


def checked(where: Place, *options: str, **variables: str) -> dict[str, Any]:
    """The report of a check."""
    command = (*TPUDIAG, "check", "--no-compile", "train.py", *QUICK, "--format", "json")
    logs = ("--log-dir", str(where.top / "logs"))
    report: dict[str, Any] = json.loads(ran(where, (*options, *command, *logs), **variables))
    assert report["partial"] is None, report["partial"]
    return report


def found(report: dict[str, Any]) -> set[tuple[str, int | None]]:
    """Each finding's id and line."""
    return {
        (o["id"], f["location"]["line"] if f["location"] else None)
        for o in report["outcomes"]
        for f in o["findings"]
    }


@pytest.fixture(scope="module")
def in_place(saved: Path) -> set[tuple[str, int | None]]:
    """What is found where the script does to a folder like it what it does."""
    with place() as other:
        prepare(other, saved)
        command = [*TPUDIAG, "check", "--no-compile", "--in-place", "train.py", *QUICK]
        command += ["--format", "json", "--log-dir", "../logs"]
        (other.work / "train.py").write_text(SAVES)
        refused = json.loads(other.start(command).stdout)["partial"]
        assert "where the checkpoints of a real run lie" in refused
        names = {path.name for path in (other.work / "tf" / "model").glob("*.index")}
        assert names == {f"ckpt-{step}.index" for step in (1000, 2000, 3000)}
        shutil.rmtree(other.home)
        shutil.rmtree(other.work)
        other.home.mkdir()
        other.work.mkdir()
        prepare(other, saved)
        shutil.rmtree(other.work / "tf" / "model")
        for path in (other.work / "tf").glob("*.keras"):
            path.unlink()
        report = json.loads(other.start(command).stdout)
        assert report["partial"] is None, report["partial"]
        assert not (other.work / "tf" / "old").exists()
        return found(report)


def test_a_check_over_a_layer(where: Place, in_place: set[tuple[str, int | None]]) -> None:
    report = checked(where)
    assert found(report) == in_place
    writes = report["writes"]
    assert writes["isolation"] == "overlay"
    assert writes["written"] > 40 and writes["checkpoints"] > 3 and writes["removed"] > 20


def test_a_check_behind_a_wall(where: Place, in_place: set[tuple[str, int | None]]) -> None:
    confined = (sys.executable, str(CONFINED), "docker")
    report = checked(where, *confined, HARMS_MAY_RAISE=" ".join(AT_THE_WALL))
    assert found(report) == in_place
    assert report["writes"]["isolation"] == "landlock"
    assert report["writes"]["written"] > 20


def test_fix(where: Place) -> None:
    command = (*TPUDIAG, "fix", "--no-compile", "train.py", *QUICK, "--select", "TPU202")
    report = json.loads(ran(where, (*command, "--format", "json")))
    assert report["mending"]["rehearsals"] >= 1
    assert report["writes"]["isolation"] == "overlay"


def test_plan(where: Place) -> None:
    # Even if the compiler does not answer, the job is run.
    compiler = where.top / "compiler"
    compiler.write_text('#!/bin/sh\n[ "$1" = -c ] && echo libtpu 0\n')
    compiler.chmod(0o755)
    command = (*TPUDIAG, "plan", "train.py", "--for", "v5e-1", "--batch", "64")
    more = ("--compiler-python", str(compiler), "--log-dir", str(where.top / "logs"))
    ran(where, (*command, *more), TPUDIAG_CACHE=str(where.top / "cache"))


def test_an_agent_s_check(where: Place) -> None:
    arguments = {"program": "train.py", "target": "v5e-2", "steps": 4}
    arguments |= {"no_compile": True, "first_loop": True}
    asked = {"tool": "check", "arguments": arguments, "python": sys.executable}
    worker = (sys.executable, "-P", "-m", "tpudiag.mcp_server.worker")
    answer = ran(where, worker, json.dumps(asked) + "\n").splitlines()[-1]
    assert json.loads(answer)["result"]["writes"]["isolation"] == "overlay"
