"""A step that is traced and not run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.slow

PROGRAM = """
import json
import tensorflow as tf
from tpudiag.script_run import InterventionKind
from tpudiag.sources.job.tensorflow.points import interventions
from tpudiag.sources.job.tensorflow.shortening.traced_steps import TracedSteps
from tpudiag.sources.job.tensorflow.watches.functions import FunctionWatch

ran = []
functions = FunctionWatch(tf, lambda *_: None)
traced = TracedSteps(tf, functions)
kernel = tf.Variable(tf.ones((3, 2)))


@tf.function
def train(x):
    functions.current.trains = True
    begun.append(traced.begin())
    kernel.assign_add(tf.ones((3, 2)))
    return {"loss": tf.reduce_sum(x @ kernel), "out": x @ kernel, "none": None}


@tf.function
def other(x):
    return x + 1


begun = []
batch = tf.ones((4, 3))
given = train(batch)
print(json.dumps({
    "begun": begun, "loss": float(given["loss"]), "out": given["out"].shape.as_list(),
    "none": given["none"], "kernel": float(kernel[0, 0]), "other": float(other(1.0)),
    "noted": [each.kind.name for each in interventions.made()],
}))
"""


def test_it_gives_zeros_of_its_shapes_and_changes_nothing(
    in_tensorflow: Callable[[str], Any],
) -> None:
    assert in_tensorflow(PROGRAM) == {
        "begun": [True],
        "loss": 0.0,
        "out": [4, 2],
        "none": None,
        "kernel": 1.0,
        "other": 2.0,
        "noted": ["TRACED"],
    }
