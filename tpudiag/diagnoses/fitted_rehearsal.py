"""A rehearsal reduced to this machine's memory: fewer replicas."""

import signal
from dataclasses import replace

from tpudiag.diagnoses.second_try import crash_of
from tpudiag.sources.job.process import protocol
from tpudiag.sources.job.process.following import JobRun
from tpudiag.sources.job.tensorflow.devices.cpu_kernels import is_of_many


def fitted(spec: protocol.JobSpec, job: JobRun) -> protocol.JobSpec | None:
    """What to start again with, where the job said so or was too large to live; else None."""
    short = job.short_of_memory and not job.interrupted
    if (job.timed_out or job.interrupted) and not short:
        return None
    fitting = job.facts.get("fitting_replicas")
    if isinstance(fitting, int) and fitting < spec.real_replicas:
        return replace(spec, real_replicas=fitting)
    crash = crash_of(job)
    if crash is not None and is_of_many(crash.error or "") and spec.real_replicas > 1:
        return replace(spec, real_replicas=1)
    # The kernel kills for want of memory without a word; a SIGKILL so early is taken for that.
    # The launcher says it where it was first.
    early = job.phase.startswith(protocol.UP_TO_FIRST_STEP)
    killed = (job.exit_code == -signal.SIGKILL or short) and early
    return replace(spec, real_replicas=1) if killed and spec.real_replicas > 1 else None


def started_again(spec: protocol.JobSpec, before: protocol.JobSpec) -> str:
    """The message to the user about the next try."""
    return f"starting again with {spec.real_replicas} of {before.real_replicas} replicas"
