"""What a rehearsal is started again with."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from tpudiag.diagnoses.fitted_rehearsal import fitted, started_again, step_facts
from tpudiag.sources.job.process import job_python, protocol
from tpudiag.sources.job.process.python_places import Place
from tpudiag.sources.job.process.runner import JobRun, Limits, run

SPEC = protocol.JobSpec(
    program="train.py",
    arguments=(),
    replicas=8,
    real_replicas=8,
    hosts=1,
    rehearse=True,
    steps=6,
    warmup_steps=3,
    budget_s=0.0,
    log_dir="",
)
EARLY: dict[str, object] = {"phase": protocol.UP_TO_FIRST_STEP}


def test_fewer_replicas_where_the_job_said_so_or_was_killed_before_its_first_step() -> None:
    two = fitted(SPEC, JobRun(facts={"fitting_replicas": 2}))
    assert two is not None and two.real_replicas == 2
    assert started_again(two, SPEC) == "starting again with 2 of 8 replicas"
    killed = JobRun(facts=EARLY, exit_code=-9)
    one = fitted(SPEC, killed)
    assert one is not None and one.real_replicas == 1
    assert fitted(one, killed) is None
    assert fitted(SPEC, replace(killed, interrupted=True)) is None
    assert fitted(SPEC, JobRun(facts={"end": {"how": "stopped"}})) is None


def test_one_replica_where_several_cannot_meet() -> None:
    error = "RuntimeError: `merge_call` called while defining a new graph or a tf.function."
    apart = JobRun(facts={"end": {"how": "exception", "error": error}})
    one = fitted(SPEC, apart)
    assert one is not None and one.real_replicas == 1
    assert fitted(one, apart) is None
    other = JobRun(facts={"end": {"how": "exception", "error": "ValueError"}})
    assert fitted(SPEC, other) is None


def test_some_examples_where_a_batch_is_too_much_and_all_where_the_script_fails_with_some() -> None:
    read = JobRun(facts={"fitting_examples": 2, "replica_batch": 16, "batch": {}, "steps": 1})
    some = fitted(SPEC, read)
    assert some is not None and (some.real_replicas, some.examples) == (1, 2)
    assert started_again(some, SPEC) == "starting again with 2 of 16 examples a replica"
    assert step_facts(read, some) == {"batch": {}, "ran_examples": 2}
    assert step_facts(read, SPEC) == {}
    crashed = JobRun(facts={"end": {"how": "exception"}, "phase": "reading what was seen"})
    every = fitted(some, crashed)
    assert every is not None and every.examples == 16
    assert fitted(every, crashed) is None, "it is the script that fails"
    later = JobRun(facts={**crashed.facts, "dispatch": {"steps": 1}})
    assert fitted(some, later) is None, "its steps bear it"


FIXED_SIZE = """
import tensorflow as tf
resolver = tf.distribute.cluster_resolver.TPUClusterResolver.connect("local")
strategy = tf.distribute.TPUStrategy(resolver)
with strategy.scope():
    W = tf.Variable(tf.zeros((8, 8)))

def trained(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.matmul(tf.reshape(x, (16, 8)), W))
    W.assign_sub(tape.gradient(loss, W))

@tf.function
def step(x):
    strategy.run(trained, (x,))

data = tf.data.Dataset.from_tensors(tf.ones((128, 8))).repeat()
for x in strategy.experimental_distribute_dataset(data):
    step(x)
"""


@pytest.mark.slow
def test_a_script_of_one_batch_size_is_run_with_all_examples(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(FIXED_SIZE)
    some = replace(
        SPEC, program=str(script), log_dir=str(tmp_path / "log"), real_replicas=1, examples=2,
        replica_batch=16,
    )  # fmt: skip
    python = job_python.choose(Place(sys.executable, "--python"), None)
    limits = Limits(120.0)
    every = fitted(some, run(some, python, limits, lambda _: None))
    assert every is not None and every.examples == 16
    whole = run(every, python, limits, lambda _: None)
    end = cast("dict[str, object]", whole.facts["end"])
    assert end["how"] == "stopped", whole.log_tail
    assert fitted(every, whole) is None
