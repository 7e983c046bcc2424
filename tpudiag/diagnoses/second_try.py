"""Repeats a job that crashed by what the rehearsal may have changed, without those changes.

Everything that may have caused the exception is left out at once; adaptations for CPU replicas only
where there is nothing else. An exception that remains is the script's. One that disappears is ours,
and so may be one that could not be repeated in time: neither becomes a finding.
"""

import re
import signal
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import msgspec

from tpudiag.diagnoses.of_code import is_of_code, told
from tpudiag.diagnoses.undiagnosed import unreachable
from tpudiag.known_errors.model import Kind, KnownError, Phase
from tpudiag.model import Location
from tpudiag.script_run import Coverage, Crash, InterventionKind, Misfit, UnreachedLines
from tpudiag.signals import JobEnd
from tpudiag.sources.job.process.following import JobRun
from tpudiag.sources.job.process.protocol import UP_TO_FIRST_STEP, JobSpec
from tpudiag.sources.job.tensorflow.devices import cpu_kernels

_SHORTEST_STEM = 8
"""The least length of a file's name that is no common word."""
_MARKS = ("/fake-data/", "tpudiag-fake:")
"""Identify synthetic data: its file, or its content."""


_OF_PARTS = re.compile(r"\w+: (Cannot iterate over a|cannot unpack|(not enough|too many) values)")
"""How many parts something has, which is not known of what stands in for it."""


def may_be_to_blame(error: str, stood_in: Sequence[str], crash: Crash | None = None) -> bool:
    """Whether synthetic data may have caused an exception, unless a known error explains it.

    Always where the error names synthetic data, or is Python's own, whose text shows no cause.
    """
    from tpudiag.known_errors.search import match

    if not stood_in or is_of_code(error, crash):
        return False
    # Scripts use the names of files for what they unpack.
    stems = (each.split(" ")[0].rpartition("/")[2].partition(".")[0] for each in stood_in)
    marks = (*_MARKS, *(stem for stem in stems if len(stem) >= _SHORTEST_STEM))
    named = any(mark in error for mark in marks) or _OF_PARTS.match(error) is not None
    return named or all(_is_of_data(hit.error) for hit in match(error) if not hit.secondary)


def _is_of_data(known: KnownError) -> bool:
    # Errors that synthetic data can cause are marked: failures while data is read, and with values,
    # sizes, types and weights that real data would not have.
    if known.noise or known.kind is Kind.CONSEQUENCE:
        return True  # it speaks against nothing
    if known.of_data is not None:
        return known.of_data
    return known.phase is Phase.READING or (known.kind is Kind.BROAD and known.phase is Phase.ANY)


_LENGTHS = (
    InterventionKind.ROUNDS,
    InterventionKind.PREDICTIONS,
    InterventionKind.BATCHES,
    InterventionKind.ROWS,
    InterventionKind.REPLICAS,
)
"""Interventions that change lengths; the others save time."""
_OF_NAMES = re.compile(r"(NameError|UnboundLocalError)\b")
"""Exceptions of the code that what a loop left out may cause, alone of all interventions."""
_ADAPTATIONS = (InterventionKind.UNCOMPILED, InterventionKind.EARLY, InterventionKind.ALIKE)
"""Adaptations that CPU replicas need, but a TPU does not: a try without them ends earlier, or by
the CPU's fault, and decides nothing."""
_FOR_GOOD = (
    InterventionKind.HOLES,
    InterventionKind.TRACED,
    InterventionKind.SESSION,
    InterventionKind.DEFECT,
)
"""Interventions that no try can omit: the job would end where it first needed them, or never."""
_ENDS = ("end", "came_to", "coverage", "refusal", "interventions", "misfits", "stood_in")
"""Facts on a try's end: all that is taken from it where the first one has shown the steps."""

_OF_TYPES = re.compile(
    r"(\w*TypeError|AttributeError|NotImplementedError|UnimplementedError)\b|"
    r"(ValueError|\w*InvalidArgumentError)\b.*?([Ss]hapes?\b|dtype|dimension|incompatible)",
    re.S,
)
"""Exceptions not caused by repeated results, shorter loops or single steps."""
_OF_OPERATIONS = "InvalidArgumentError: Graph execution error"
"""Of a value in a step: it is the same however many steps are taken at once."""
_OF_SYMBOLS = re.compile(
    r"(TypeError|AttributeError|NotImplementedError): in user code:|KeyError: .*['\"][^\W\d]"
)
"""Raised while a graph was traced, which sees types and no values, or for a name, which is none."""
_FOUND_SHAPE = re.compile(r"is incompatible with the layer: .*found shape=\(\w+, ([\d, ]+)\)")
"""The shape of an example that does not fit: the script's own, where it parses records to it."""
_SHAPE = re.compile(r"[\[(](?:\d+, ?)+\d*[\])]")
_WORD, _ALIKE = re.compile(r"[A-Za-z]{3,}"), 0.5
"""Words of an error, and the share of all that two have in common where they are the same."""
LONGER, AT_LEAST_S = 1.5, 60.0
"""The time limit of a further try: a multiple of the first one's, and a minimum."""


def judged(
    spec: JobSpec,
    job: JobRun,
    run: Callable[[JobSpec, str, float], JobRun],
    known: tuple[Misfit, ...] = (),
) -> JobRun:
    """The job as to be reported; `run` repeats it, with the reason and a time limit.

    Once per exception, without everything that may have caused it.
    """
    end = crash_of(job)
    kinds = tuple(_to_leave_out(spec, job, end)) if end is not None else ()
    job.facts["misfits"] = noted = (*known, *_misfits(job))
    if end is None or not kinds:
        return job if end is None else _of_what_stays(job, end)
    names = " and ".join(kind.value for kind in kinds)
    again = replace(
        spec,
        without=(*spec.without, *kinds),
        lower_to="" if "lowered" in job.facts else spec.lower_to,
        measure_input_s=0.0 if _observed(job) else spec.measure_input_s,
    )
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
    later = second.facts
    if InterventionKind.REPLICAS in kinds or _observed(job):
        later = {name: later[name] for name in _ENDS if name in later}
    second.facts = {**second.facts, **job.facts, "interventions": (), "misfits": (), **later}
    second.wall_s += job.wall_s
    if not passed and crash is not None:
        second.facts["misfits"] = (*noted, *_misfits(second))
        return _of_what_stays(second, crash)
    return judged(again, second, run, (*noted, misfit))


def crash_of(job: JobRun) -> JobEnd | None:
    """The end of a job by an exception; None where it ended otherwise."""
    return None if job.timed_out or job.interrupted else _exception(job.facts.get("end"))


def fitted(spec: JobSpec, job: JobRun) -> JobSpec | None:
    """What to start again with, where the job said so or was too large to live; else None."""
    short = job.short_of_memory and not job.interrupted
    if (job.timed_out or job.interrupted) and not short:
        return None
    fitting = job.facts.get("fitting_replicas")
    if isinstance(fitting, int) and fitting < spec.real_replicas:
        return replace(spec, real_replicas=fitting)
    crash = crash_of(job)
    if crash is not None and cpu_kernels.is_of_many(crash.error or "") and spec.real_replicas > 1:
        return replace(spec, real_replicas=1)
    # The kernel kills for want of memory without a word; a SIGKILL so early is taken for that.
    # The launcher says it where it was first.
    early = job.phase.startswith(UP_TO_FIRST_STEP)
    killed = (job.exit_code == -signal.SIGKILL or short) and early
    return replace(spec, real_replicas=1) if killed and spec.real_replicas > 1 else None


def say_what_failed(job: JobRun, before: JobEnd | None) -> None:
    """Add the pending exception to a job cut by time, from it or an earlier try."""
    if job.timed_out:
        own = _exception(job.facts.get("came_to"))
        failed = own or before
        if failed is not None and not cpu_kernels.is_only_here(failed.error or ""):
            which = "it had" if own else "the try before it"
            job.timed_out += f"; {which} crashed: {_first_line(failed.error)} ({failed.location})"


def _exception(end: object) -> JobEnd | None:
    known = msgspec.convert(end, JobEnd | None, strict=False)
    return known if known is not None and known.how == "exception" else None


def _to_leave_out(spec: JobSpec, job: JobRun, end: JobEnd) -> Iterator[InterventionKind]:
    """The interventions to leave out: possible causes of the exception that can be omitted."""
    error = end.error or ""
    # Refusals are named by the job itself, and unreachable data stays so in each try.
    if job.facts.get("refusal") or unreachable(end, fake_data=True):
        return
    fixed = (*spec.without, InterventionKind.DATA, *_FOR_GOOD)
    left = [kind for kind in _to_blame(job) if kind not in fixed]
    if is_of_code(error, end.crash):
        yield from (k for k in left if k is InterventionKind.ROUNDS and _OF_NAMES.match(error))
        return
    adapted = [kind for kind in left if kind in _ADAPTATIONS]
    others = [kind for kind in left if kind not in adapted]
    # Interventions that save time keep types and shapes; and where one that cannot be omitted may
    # be the cause, another try would not help.
    of_others = cpu_kernels.is_only_here(error) or _may_be_of_data(job, end)
    known = told(error)
    phase = known.phase if known is not None else None
    if of_others or phase is Phase.TRACING or _OF_TYPES.match(error):
        others = [kind for kind in others if kind in _LENGTHS]
    if error.startswith(_OF_OPERATIONS):
        others = [kind for kind in others if kind is not InterventionKind.SINGLE_STEPS]
    if phase is Phase.BUILDING and not of_others:
        others = []
    yield from others or ([] if of_others else adapted)


def _to_blame(job: JobRun) -> tuple[InterventionKind, ...]:
    """The interventions that may have caused the exception, by the flow of their values."""
    values = job.facts.get("interventions", ())
    return msgspec.convert(values, tuple[InterventionKind, ...], strict=False)


def _observed(job: JobRun) -> bool:
    """Whether a job finished its observed steps, so that their facts are complete."""
    coverage = job.facts.get("coverage")
    return bool(coverage) and msgspec.convert(coverage, Coverage, strict=False).rest_s > 0


def _passed(job: JobRun, end: JobEnd) -> bool:
    """Whether a job passed the statement at which another try crashed."""
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
    same = (rest.file, rest.cell) == (place.file, place.cell)
    return same and rest.first_line <= (place.line or 0) <= rest.last_line


def _is_same(one: JobEnd, other: JobEnd) -> bool:
    """Whether two tries ended by the same exception: at one place, of a type, in like words.

    What is left out may let the place fail in another way; sizes and names of replicas differ.
    """
    said, others = (each.error or "" for each in (one, other))
    alike = said.partition(":")[0] == others.partition(":")[0]
    words, more = (set(_WORD.findall(each)) for each in (said, others))
    shared = len(words & more) >= _ALIKE * len(words | more)
    return one.location == other.location and alike and shared


def _first_line(error: str | None) -> str:
    return (error or "").strip().partition("\n")[0]


def _misfits(job: JobRun) -> tuple[Misfit, ...]:
    return msgspec.convert(job.facts.get("misfits", ()), tuple[Misfit, ...], strict=False)


def _of_what_stays(job: JobRun, end: JobEnd) -> JobRun:
    """A crashed job, where what cannot be omitted may be the cause: CPUs, synthetic data."""
    error = end.error or ""
    if (own := str(job.facts.get("own_error", ""))) and own in error:
        return job  # it saw itself that no stand-in was read
    if cpu_kernels.is_only_here(error):
        kinds: tuple[InterventionKind, ...] = (InterventionKind.CPU,)
    elif _may_be_of_data(job, end):
        kinds = (InterventionKind.DATA,)
    else:
        left = () if is_of_code(error, end.crash) else _to_blame(job)
        kinds = tuple(kind for kind in left if kind in _FOR_GOOD)
        if kinds == (InterventionKind.TRACED,) and _OF_SYMBOLS.match(error):
            kinds = ()  # its zeros are of the right types
    if not kinds:
        return job
    return _set_aside(job, end, Misfit(kinds, end.location, _first_line(error), decided=False))


def _may_be_of_data(job: JobRun, end: JobEnd) -> bool:
    if InterventionKind.DATA not in _to_blame(job):
        return False
    error = end.error or ""
    found = _FOUND_SHAPE.search(error)
    asked, chosen = (
        msgspec.convert(job.facts.get(name, ()), set[int], strict=False)
        for name in ("asked_sizes", "chosen_sizes")
    )
    if found and set(map(int, re.findall(r"\d+", found[1]))) <= asked:
        return False
    named = {int(size) for shape in _SHAPE.findall(error) for size in re.findall(r"\d+", shape)}
    if named & (chosen - asked) and not is_of_code(error, end.crash):
        return True
    stood_in = msgspec.convert(job.facts.get("stood_in", ()), tuple[str, ...], strict=False)
    return may_be_to_blame(error, stood_in, end.crash)


def _set_aside(job: JobRun, end: JobEnd, misfit: Misfit) -> JobRun:
    # Without its text, which is in the job's output, too: no known error is reported for it.
    unsupported = replace(end, how="unsupported", error=f"{misfit.names} may not fit")
    job.facts.update(end=unsupported, misfits=(*_misfits(job), misfit))
    job.log_tail = job.log_tail.replace(end.crash.traceback if end.crash else "", "")
    return job
