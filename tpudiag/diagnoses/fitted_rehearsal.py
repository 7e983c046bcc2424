"""A rehearsal that this machine can hold: fewer replicas, or some examples of each batch."""

from __future__ import annotations

import signal
from dataclasses import replace
from typing import cast

from tpudiag.diagnoses.cpu_kernels import is_of_many
from tpudiag.diagnoses.second_try import crash_of
from tpudiag.sources.job.process import protocol
from tpudiag.sources.job.process.runner import JobRun

STEP_FACTS = ("matrix_ops", "activations", "step_ops", "step_inputs", "numerics", "batch", "loss")
"""What the trace of the step shows, which is that of whole batches: of the try before."""


def fitted(spec: protocol.JobSpec, job: JobRun) -> protocol.JobSpec | None:
    """What to start again with, where the job said so or was too large to live; else None.

    A script that cannot bear to get some of its examples is run with all of them.
    """
    if job.timed_out or job.interrupted:
        return None
    examples, batch = job.facts.get("fitting_examples"), job.facts.get("replica_batch")
    # Before the replicas: a step that is too slow sends both, and one whole replica is too slow.
    if isinstance(examples, int) and isinstance(batch, int) and not spec.examples:
        return replace(spec, real_replicas=1, examples=examples, replica_batch=batch)
    if 0 < spec.examples < spec.replica_batch and _crashed_early(job):
        return replace(spec, examples=spec.replica_batch)
    fitting = job.facts.get("fitting_replicas")
    if isinstance(fitting, int) and fitting < spec.real_replicas:
        return replace(spec, real_replicas=fitting)
    crash = crash_of(job)
    if crash is not None and is_of_many(crash.error or "") and spec.real_replicas > 1:
        return replace(spec, real_replicas=1)
    # The kernel kills for want of memory without a word; a SIGKILL so early is taken for that.
    killed = job.exit_code == -signal.SIGKILL and job.phase == protocol.UP_TO_FIRST_STEP
    return replace(spec, real_replicas=1) if killed and spec.real_replicas > 1 else None


def _crashed_early(job: JobRun) -> bool:
    """Whether the job ended in an exception before its first step."""
    end = job.facts.get("end")
    crashed = isinstance(end, dict) and cast("dict[str, object]", end).get("how") == "exception"
    # Not by the phase: what was seen is read and sent after a crash too, as phases of their own.
    return crashed and not job.facts.get("dispatch")


def started_again(spec: protocol.JobSpec, before: protocol.JobSpec) -> str:
    """What the user is told of the next try."""
    if spec.examples:
        return f"starting again with {spec.examples} of {spec.replica_batch} examples a replica"
    return f"starting again with {spec.real_replicas} of {before.real_replicas} replicas"


def step_facts(before: JobRun, spec: protocol.JobSpec) -> dict[str, object]:
    """What the try before has read of the step, for one that runs some of its examples."""
    if not spec.examples:
        return {}
    known = {name: before.facts[name] for name in STEP_FACTS if name in before.facts}
    return {**known, "ran_examples": spec.examples}
