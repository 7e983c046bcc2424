"""A job that crashed by what the rehearsal may have changed, tried once more without.

All that the exception may be due to is left out at once; what only CPU replicas need, where there
is nothing else. An exception that stays is the script's. One that goes away is ours, and so may be
one that could not be tried again in time: neither becomes a finding.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

import msgspec

from tpudiag.diagnoses import older_release, stand_ins
from tpudiag.diagnoses.undiagnosed import unreachable
from tpudiag.model import Location
from tpudiag.script_run import Coverage, InterventionKind, Misfit, UnreachedLines
from tpudiag.signals import JobEnd
from tpudiag.sources.job.process.protocol import JobSpec
from tpudiag.sources.job.process.runner import JobRun
from tpudiag.sources.job.tensorflow.devices import cpu_kernels

_LENGTHS = (
    InterventionKind.PREDICTIONS,
    InterventionKind.BATCHES,
    InterventionKind.ROWS,
    InterventionKind.REPLICAS,
)
"""What changes how long things are; the others spare time."""
_ADAPTATIONS = (InterventionKind.UNCOMPILED, InterventionKind.EARLY, InterventionKind.ALIKE)
"""What CPU replicas need where a TPU needs nothing: a try without that ends sooner, or otherwise,
ends by the CPU's fault and decides nothing."""
_FOR_GOOD = (InterventionKind.HOLES, InterventionKind.TRACED, InterventionKind.SESSION)
"""What no try can be without: a job would end where it was first needed, or never."""
_ENDS = ("end", "came_to", "coverage", "refusal", "interventions", "misfits", "stood_in")
"""The facts of how a try ended: all that is taken of one whose steps the first has shown."""

_OF_TYPES = re.compile(
    r"(\w*TypeError|AttributeError|NotImplementedError|UnimplementedError)\b|"
    r"(ValueError|\w*InvalidArgumentError)\b.*?([Ss]hapes?\b|dtype|dimension|incompatible)",
    re.S,
)
"""Exceptions that repeated results, shorter loops and single steps do not bring about."""
LONGER, AT_LEAST_S = 1.5, 60.0
"""How long a further try may take: so many times the first, and so much."""


def judged(
    spec: JobSpec,
    job: JobRun,
    run: Callable[[JobSpec, str, float], JobRun],
    known: tuple[Misfit, ...] = (),
) -> JobRun:
    """The job as it is to be reported; `run` runs it again: why, and so long at most.

    Once for each exception, without all that it may be due to.
    """
    end = crash_of(job)
    kinds = tuple(_to_leave_out(spec, job)) if end is not None else ()
    job.facts["misfits"] = told = (*known, *_misfits(job))
    if end is None or not kinds:
        return job if end is None else _of_what_stays(job, end)
    names = " and ".join(kind.value for kind in kinds)
    again = _without(spec, kinds, job)
    why = f"it crashed at {end.location}: once more without {names}"
    second = run(again, why, LONGER * job.wall_s + AT_LEAST_S)
    crash, passed = crash_of(second), _passed(second, end)
    misfit = Misfit(kinds, end.location, _first_line(end.error), decided=passed)
    same = crash is not None and _is_same(crash, end)
    if not passed and not same and set(kinds) <= set(_ADAPTATIONS):
        return _of_what_stays(job, end)
    if not passed and not same:
        job.interrupted = job.interrupted or second.interrupted
        return _set_aside(job, end, misfit)
    second.facts = _joined(job, second, kinds)
    second.wall_s += job.wall_s
    if not passed and crash is not None:
        second.facts["misfits"] = (*told, *_misfits(second))
        return _of_what_stays(second, crash)
    return judged(again, second, run, (*told, misfit))


def crash_of(job: JobRun) -> JobEnd | None:
    """The end of a job by an exception; None where it ended otherwise."""
    return None if job.timed_out or job.interrupted else _exception(job.facts.get("end"))


def say_what_failed(job: JobRun, before: JobEnd | None) -> None:
    """Let a job that was cut by time say what it was about to fail with, or a try before it did."""
    if job.timed_out:
        own = _exception(job.facts.get("came_to"))
        failed = own or before
        if failed is not None and not cpu_kernels.is_only_here(failed.error or ""):
            which = "it had" if own else "the try before it"
            job.timed_out += f"; {which} crashed: {_first_line(failed.error)} ({failed.location})"


def _exception(end: object) -> JobEnd | None:
    """The end of a job, where it is one by an exception."""
    known = msgspec.convert(end, JobEnd | None, strict=False)
    return known if known is not None and known.how == "exception" else None


def _to_leave_out(spec: JobSpec, job: JobRun) -> Iterator[InterventionKind]:
    """What to run without: all that the exception may be due to, and can be left out."""
    end = crash_of(job)
    # What was refused the job has said by whom, and what is out of reach is so in each try.
    error = end.error or "" if end is not None else ""
    told = job.facts.get("refusal") or unreachable(end, fake_data=True)
    if end is None or told or stand_ins.OF_CODE.match(error):
        return
    fixed = (*spec.without, InterventionKind.DATA, *_FOR_GOOD)
    left = [kind for kind in _to_blame(job) if kind not in fixed]
    adapted = [kind for kind in left if kind in _ADAPTATIONS]
    others = [kind for kind in left if kind not in adapted]
    # What spares time keeps types and shapes; and where what cannot be left out may be to blame,
    # to know more would not help.
    of_others = cpu_kernels.is_only_here(error) or _may_be_of_data(job, end)
    if of_others or _OF_TYPES.match(error):
        others = [kind for kind in others if kind in _LENGTHS]
    yield from others or ([] if of_others else adapted)


def _to_blame(job: JobRun) -> tuple[InterventionKind, ...]:
    """What the rehearsal changed, of which the exception may be: as its values went."""
    told = job.facts.get("interventions", ())
    return msgspec.convert(told, tuple[InterventionKind, ...], strict=False)


def _without(spec: JobSpec, kinds: tuple[InterventionKind, ...], job: JobRun) -> JobSpec:
    """The job with these switched off; nothing is measured or lowered twice."""
    return replace(
        spec,
        without=(*spec.without, *kinds),
        lower_to="" if "lowered" in job.facts else spec.lower_to,
        measure_input_s=0.0 if _observed(job) else spec.measure_input_s,
    )


def _observed(job: JobRun) -> bool:
    """Whether a job came past the steps that are observed: what is said of them is known."""
    coverage = job.facts.get("coverage")
    return bool(coverage) and msgspec.convert(coverage, Coverage, strict=False).rest_s > 0


def _joined(
    first: JobRun, second: JobRun, kinds: tuple[InterventionKind, ...]
) -> dict[str, object]:
    """What two tries have sent: of the first what it alone has, and its steps where it took any."""
    later = second.facts
    if InterventionKind.REPLICAS in kinds or _observed(first):
        later = {name: later[name] for name in _ENDS if name in later}
    return {**second.facts, **first.facts, "interventions": (), "misfits": (), **later}


def _passed(job: JobRun, end: JobEnd) -> bool:
    """Whether a job came past the statement at which another try of it crashed."""
    coverage = job.facts.get("coverage")
    if job.timed_out or job.interrupted or not coverage or end.crash is None:
        return False
    seen = msgspec.convert(coverage, Coverage, strict=False)
    if seen.end == "whole":
        return True
    places = [frame.location for frame in end.crash.frames]
    if seen.stopped_at is None or not places or seen.stopped_at in places:
        return False
    return not any(_holds(rest, place) for rest in seen.unreached for place in places)


def _holds(rest: UnreachedLines, place: Location) -> bool:
    """Whether a line is one of those that were not reached."""
    same = (rest.file, rest.cell) == (place.file, place.cell)
    return same and rest.first_line <= (place.line or 0) <= rest.last_line


def _is_same(crash: JobEnd, other: JobEnd) -> bool:
    """Whether two tries ended by an exception of one kind in one place."""
    return crash.location == other.location and _kind(crash) == _kind(other)


def _kind(end: JobEnd) -> str:
    """The class of an exception."""
    return (end.error or "").partition(":")[0]


def _first_line(error: str | None) -> str:
    """What an exception says first."""
    return (error or "").strip().partition("\n")[0]


def _misfits(job: JobRun) -> tuple[Misfit, ...]:
    """What did not fit, as the job itself noted it."""
    return msgspec.convert(job.facts.get("misfits", ()), tuple[Misfit, ...], strict=False)


def _of_what_stays(job: JobRun, end: JobEnd) -> JobRun:
    """A job that crashed, where what cannot be left out may be to blame: CPUs, made-up data."""
    error = end.error or ""
    if cpu_kernels.is_only_here(error):
        kinds: tuple[InterventionKind, ...] = (InterventionKind.CPU,)
    elif _may_be_of_data(job, end):
        kinds = (InterventionKind.DATA,)
    else:
        of_code = stand_ins.OF_CODE.match(error) or older_release.advice(error)
        kinds = () if of_code else tuple(kind for kind in _to_blame(job) if kind in _FOR_GOOD)
    if not kinds:
        return job
    return _set_aside(job, end, Misfit(kinds, end.location, _first_line(error), decided=False))


def _may_be_of_data(job: JobRun, end: JobEnd) -> bool:
    """Whether data that were stood in for may be to blame for an exception that they came to."""
    if InterventionKind.DATA not in _to_blame(job):
        return False
    stood_in = msgspec.convert(job.facts.get("stood_in", ()), tuple[str, ...], strict=False)
    return stand_ins.may_be_to_blame(end.error or "", stood_in)


def _set_aside(job: JobRun, end: JobEnd, misfit: Misfit) -> JobRun:
    """A job that ended by an exception of which nobody knows whose it is."""
    # Without its text, which stands in the job's output, too: no known error is told of it.
    told = replace(end, how="unsupported", error=f"{misfit.names} may not fit")
    job.facts.update(end=told, misfits=(*_misfits(job), misfit))
    job.log_tail = job.log_tail.replace(end.crash.traceback if end.crash else "", "")
    return job
