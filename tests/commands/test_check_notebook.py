"""`tpudiag check train.ipynb`, in real child processes."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.commands.called import started

pytestmark = pytest.mark.slow

STRATEGY = """\
!pip install --quiet something
import tensorflow as tf
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
"""
MODEL = """\
%%time
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(8)])
    model.compile("sgd", "mse")
"""
PIPELINE = """\
x = tf.random.normal([4096, 8])
dataset = tf.data.Dataset.from_tensor_slices((x, x)).repeat()
dataset = dataset.map(lambda a, b: (a * 2.0, b))
dataset = dataset.batch(256, drop_remainder=True).prefetch(2)
"""
TRAINING = "model.fit(dataset, steps_per_epoch=100, epochs=2)"


def checked(folder: Path, *cells: str) -> tuple[subprocess.CompletedProcess[str], dict[str, Any]]:
    """The verb on a notebook of these cells; its process and its reports by ending."""
    code: list[object] = [
        {"cell_type": "code", "metadata": {}, "source": cell, "outputs": [],
         "execution_count": None}
        for cell in cells
    ]  # fmt: skip
    whole: dict[str, object] = {"nbformat": 4, "nbformat_minor": 2, "metadata": {}, "cells": code}
    (folder / "train.ipynb").write_text(json.dumps(whole))
    done = started(
        "check", "train.ipynb", "--for", "v5e-4", "--no-compile", "--steps", "6", "--warmup", "3",
        "--budget", "10m", "-o", "r.json", "-o", "r.sarif", cwd=folder,
    )  # fmt: skip
    reports = {file.suffix[1:]: json.loads(file.read_text()) for file in folder.glob("r.*")}
    return done, reports


def test_findings_name_the_cell_and_its_line(tmp_path: Path) -> None:
    done, reports = checked(tmp_path, STRATEGY, MODEL, PIPELINE, TRAINING)
    outcome = next(o for o in reports["json"]["outcomes"] if o["id"] == "TPU401")
    place = outcome["findings"][0]["location"]
    assert (place["file"], place["cell"], place["line"]) == ("train.ipynb", 3, 4)
    assert "train.ipynb, cell 3, line 4" in done.stdout
    notes = " ".join(reports["json"]["notes"])
    assert "cell 1, line 1: !pip install --quiet something" in notes
    result = next(r for r in reports["sarif"]["runs"][0]["results"] if r["ruleId"] == "TPU401")
    assert "train.ipynb, cell 3, line 4" in result["message"]["text"]
    assert result["locations"][0]["logicalLocations"][0]["name"] == "cell 3"


def test_a_cell_that_fails_is_named(tmp_path: Path) -> None:
    done, _ = checked(tmp_path, STRATEGY, MODEL, "first = 1\nmissing + first", TRAINING)
    assert done.returncode == 2
    assert "train.ipynb, cell 3, line 2" in done.stderr
