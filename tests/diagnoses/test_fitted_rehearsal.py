"""What a rehearsal is started again with."""

from __future__ import annotations

from dataclasses import replace

from tpudiag.diagnoses.fitted_rehearsal import fitted, started_again, step_facts
from tpudiag.sources.job.process import protocol
from tpudiag.sources.job.process.runner import JobRun

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


def test_some_examples_where_a_batch_is_too_much_and_all_where_the_script_fails_with_some() -> None:
    read = JobRun(facts={"fitting_examples": 2, "replica_batch": 16, "batch": {}, "steps": 1})
    some = fitted(SPEC, read)
    assert some is not None and (some.real_replicas, some.examples) == (1, 2)
    assert started_again(some, SPEC) == "starting again with 2 of 16 examples a replica"
    assert step_facts(read, some) == {"batch": {}, "ran_examples": 2}
    assert step_facts(read, SPEC) == {}
    crashed = JobRun(facts={**EARLY, "end": {"how": "crash"}})
    every = fitted(some, crashed)
    assert every is not None and every.examples == 16
    assert fitted(every, crashed) is None, "it is the script that fails"
