"""What a rehearsal is started again with."""

from dataclasses import replace

from tpudiag.diagnoses.fitted_rehearsal import fitted, started_again
from tpudiag.sources.job.process import protocol
from tpudiag.sources.job.process.following import JobRun

SPEC = protocol.JobSpec(
    program="train.py", arguments=(), replicas=8, real_replicas=8, hosts=1, rehearse=True, steps=6,
    warmup_steps=3, budget_s=0.0, log_dir="",
)  # fmt: skip
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
    short = JobRun(facts=EARLY, timed_out="399 MiB of memory left", short_of_memory=True)
    assert fitted(SPEC, short) == one and fitted(one, short) is None
    assert fitted(SPEC, replace(short, short_of_memory=False)) is None


def test_one_replica_where_several_cannot_meet() -> None:
    error = "RuntimeError: `merge_call` called while defining a new graph or a tf.function."
    apart = JobRun(facts={"end": {"how": "exception", "error": error}})
    one = fitted(SPEC, apart)
    assert one is not None and one.real_replicas == 1
    assert fitted(one, apart) is None
    other = JobRun(facts={"end": {"how": "exception", "error": "ValueError"}})
    assert fitted(SPEC, other) is None
