"""TPU605: the job's exception or output holds an error whose cause and fix are known."""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from importlib import metadata
from pathlib import Path

from tpudiag.known_errors.catalogue import known_errors
from tpudiag.known_errors.model import Kind, Match, Phase, RivalFound
from tpudiag.log_levels import Level
from tpudiag.missing_modules import hosted, is_of_another_release, missing, own_folder, packages_of
from tpudiag.model import BOTH, Evidence, Finding, Judgement, NotMeasured, Severity, check
from tpudiag.signals import JobEnd, Origin, Signals

from ._error_families import (
    OF_AUTOGRAPH,
    OF_DATA,
    OF_FUNCTIONS,
    OF_LOWERING,
    OF_MACHINE,
    OF_NO_TPU,
    OF_PACKAGES,
    OF_PIPELINES,
    OF_PYTHON,
    OF_SCOPE,
    OF_TENSORFLOW,
)
from ._job_output import JobText, died, heard
from ._need import RUN_THE_JOB, need

IN_PLACE = "run it where it may write and send: on a TPU, or with `--in-place`"
_PINNED = re.compile(r'"([\w.-]+)((?:[<>=!~]=?[\d.*]+,?)+)"')
"""A package of a `pip install`, and its releases."""
_DATED = ("tensorflow", "tensorflow-cpu", "tensorflow-tpu", "keras", "jax", "numpy")


@check("TPU605", Severity.ERROR, frameworks=BOTH)
def known_error(signals: Signals) -> Judgement:
    """The job reported an error whose cause and fix are known.

    ## What it sees
    The exception that ended the job, and the end of its output, searched for every error of the
    catalogue (`tpudiag/known_errors/`): errors of installation and connection, of compilation,
    memory, data and workers, of the training loop, of profiling and monitoring. Line wraps and
    terminal colours hide none. An error that is the consequence of another one found is left out.
    In the output, the lines of level ERROR and uncaught exceptions count; settings, summaries and
    lines of level INFO name errors that did not happen. A known warning of level WARNING, and an
    exception that the script caught and printed, are notes. If the process died without an
    exception, the whole output is searched. If the job ended normally or by an exception that tells
    its cause, was stopped, or still runs (`tpudiag attach PID` reads the log file that the process
    writes), errors in its output are at most a warning.

    ## Why it costs
    An error of the catalogue ends the job, or lets it continue more slowly or without the TPU,
    while the TPU is paid for. Error texts rarely name the cause: `Socket closed` is often the
    host's memory, `transfer manager for platform Host` a function compiled for the host.

    ## What to do
    Follow the fix of the finding; begin with the first finding. Findings that call themselves an
    artefact of the rehearsal are not faults of the script: they say how to rehearse it
    nevertheless. If the job ended by an error that the catalogue does not know, this check is
    skipped, never passed: `tpudiag explain --log FILE` searches the whole log.

    ## Source
    Issues of TensorFlow, Keras, XLA, JAX and Colab, cited with each entry of the catalogue, which
    also says what was reproduced; XLA's documented error codes (E0100 to E1001).
    """
    end = need(signals.end, "the end of the job")
    if signals.refusal is not None:
        by = signals.refusal.by.value
        raise NotMeasured(f"the job was ended by {by}, not by a fault of its own", how=IN_PLACE)
    if end.hidden is not None:
        name, file = end.hidden.name, end.hidden.file
        yield Finding(
            f"`{name}` is the job's own {file} here: it hides the installed module of that name, "
            "whose names a library asked it for.",
            f"git mv {file} ...  # another name, and its imports, or start the job elsewhere",
            (Evidence("exception", _what(end), source="exception"),),
            end.location,
        )
        return
    hits = tuple(_found(end, signals))
    quiet = end.how in ("finished", "stopped", "running")
    normal = (quiet or (end.how == "exit" and end.exit_code == 0)) and not end.error
    if end.how == "unsupported":
        raise NotMeasured(f"the job cannot be rehearsed further: {end.error}", how=RUN_THE_JOB)
    if not hits and not normal:
        raise NotMeasured(
            f"the job ended by an error that is not in the catalogue: {_what(end)}",
            how="read the job's own traceback; `tpudiag explain --log FILE` searches a whole log",
        )
    of_exception = any(text.source == "exception" for _, text in hits)
    cut = end.how in ("interrupted", "timeout")
    survived = normal or of_exception or _is_recognised(end) or cut
    python = signals.environment.path if signals.environment is not None else None
    for hit, text in hits:
        logged = text.source == "log"
        finding = _finding(hit, text, end, survived=survived and logged, python=python)
        if text.is_note(end, explained=of_exception):
            caught = text.level is Level.CAUGHT
            where = "In an exception that the script caught and printed"
            finding = _noted(finding, where) if caught else replace(finding, severity=Severity.INFO)
        if text.source == "exception" and end.follows_from:
            yield _of_a_command(finding, end)
            break
        ours = _is_ours(hit, signals)
        yield _noted(finding, "In this rehearsal, on this machine") if ours else finding
    if end.error and not of_exception:
        yield Evidence("exception", f"not in the catalogue: {_what(end)}", source="exception")
    yield Evidence("job ended", end.how)
    yield Evidence("known errors looked for", len(known_errors()), "errors", source="catalogue")


def _found(end: JobEnd, signals: Signals) -> Iterator[tuple[Match, JobText]]:
    seen: dict[str, Match] = {}
    for text in heard(end, signals):
        yield from _in(text, signals, seen)
    if not seen and died(end):
        yield from _in(JobText(end.log_tail, "log"), signals, seen)


def _in(text: JobText, signals: Signals, seen: dict[str, Match]) -> Iterator[tuple[Match, JobText]]:
    """The known errors in a text that are not seen yet, nor left to another check."""
    # Slow to load, and a profile needs none.
    from tpudiag.known_errors.circumstances import of_job
    from tpudiag.known_errors.search import match

    environment = signals.environment
    versions = environment.distributions if environment else {}
    judged_elsewhere = (
        *(OF_FUNCTIONS if signals.functions is not None else ()),
        *(OF_PIPELINES if signals.pipelines is not None else ()),
        *(OF_DATA if signals.stood_in or signals.loop is not None else ()),
        *(OF_NO_TPU if signals.origin is Origin.REHEARSAL else ()),
    )
    # A name that this release should have is not lacking for its age.
    named = "".join(f"\n{name}=={versions[name]}" for name in _DATED if name in versions)
    for hit in of_job(match(text.text + named), text.text, versions):
        known = hit.error
        # The log says again, and less of it, what the exception said.
        followed = hit.secondary or any(
            each.error.depth > known.depth and _same_words(each, hit) for each in seen.values()
        )
        elsewhere = known.rehearsal_only and signals.origin is not Origin.REHEARSAL
        judged = text.source == "log" and (
            known.id in judged_elsewhere
            or known.family in OF_AUTOGRAPH
            or OF_LOWERING in hit.excerpt
            or _is_met(hit.fix, versions)
        )
        # Outside the strategy's scope, as TPU501 says; of metrics it says nothing before an update.
        trained = [v for v in signals.variables or () if v.trainable or v.optimizer]
        judged = judged or (known.family == OF_SCOPE and not all(v.in_scope for v in trained))
        echo = known.kind is Kind.CONSEQUENCE and bool(seen)
        judged = judged or known.family in OF_PYTHON
        left_out = followed or elsewhere or judged or known.noise or echo or known.id in seen
        if not left_out and text.counts(hit, signals):
            seen[known.id] = hit
            yield hit, text


def _is_met(fix: str, versions: Mapping[str, str]) -> bool:
    """Whether all that a fix has one install, first of all, is what is installed."""
    from packaging.specifiers import SpecifierSet

    line = fix.partition("\n")[0]
    asked = _PINNED.findall(line) if line.startswith("pip install") else []
    with suppress(ValueError):  # a version that is none
        return bool(asked) and all(versions.get(at, "0") in SpecifierSet(of) for at, of in asked)
    return False


def _forbidden(fix: str, python: str | None) -> str | None:
    """What is installed and asks for another release than all that a fix has one install."""
    from packaging.requirements import InvalidRequirement, Requirement

    asked = _PINNED.findall(fix)
    for each in metadata.distributions(path=[*map(str, packages_of(python))]) if asked else ():
        for row in each.requires or ():
            with suppress(InvalidRequirement):
                of = Requirement(row)
                own = (pin for name, pin in asked if name == of.name)
                pins = [re.findall(r"[>=~]=(\d+(?:\.\d+)*)", pin) for pin in own]
                met = any(not least or least[0] in of.specifier for least in pins)
                if pins and not met and of.marker is None:
                    return f"{each.name} {each.version} asks for {of.name}{of.specifier}"
    return None


def _same_words(one: Match, other: Match) -> bool:
    """Whether two matches stand in one sentence: an excerpt goes on to the end of its line."""
    left, right = one.excerpt.rstrip(), other.excerpt.rstrip()
    return left.endswith(right) or right.endswith(left)


def _is_recognised(end: JobEnd) -> bool:
    """Whether the exception itself tells its cause: Python's own errors, an assert of the job's."""
    from tpudiag.known_errors.search import match

    if end.crash is not None and any(f.text.startswith("assert ") for f in end.crash.frames[-1:]):
        return True
    own = end.how in ("signal", "timeout")
    return not own and any(hit.error.family in OF_PYTHON for hit in match(end.error or ""))


def _finding(
    hit: Match, text: JobText, end: JobEnd, *, survived: bool, python: str | None
) -> Finding:
    severity = Severity(hit.error.level)
    finding = Finding(
        f"{hit.message} [{hit.error.id}]",
        hit.fix,
        (
            Evidence("matched text", hit.excerpt, source=text.source),
            *(Evidence(name, value, source=text.source) for name, value in hit.values.items()),
            *(Evidence("one of", _rival(each, hit), source="catalogue") for each in hit.rivals),
            Evidence("times", hit.count, "matches", source=text.source),
            Evidence("cited", ", ".join(hit.error.citations) or "none", source="catalogue"),
            Evidence("known by", hit.error.evidence, source="catalogue"),
        ),
        end.location if text.source == "exception" else None,
        severity=min(severity, Severity.WARNING) if survived else severity,
    )
    if forbidden := _forbidden(hit.fix, python):
        said = f"{hit.message} But {forbidden}: what needs another is too new, or old, for this "
        fix = f"# {forbidden}: in an environment where that is newer, too\n{hit.fix}"
        finding = replace(finding, message=f"{said}environment. [{hit.error.id}]", fix=fix)
    if hit.error.family == OF_PACKAGES and text.source == "exception":
        finding = _by_environment(finding, end, python)
    return finding


def _by_environment(finding: Finding, end: JobEnd, python: str | None) -> Finding:
    """What Python's own words tell of a module that is missing, in the place of what mostly is."""
    module = missing(end) or ""
    top = module.partition(".")[0]
    if own := hosted(module):
        return replace(
            finding,
            message=f"{own} is a module of the notebook service's own machines: no package has it. "
            f"{_id_of(finding)}",
            fix=f"try:\n    import {own}\nexcept ImportError:\n    pass  # elsewhere\n"
            "# or rehearse with --fake-data, which stands in for it",
        )
    named = f"'{module}'" in (end.error or "")
    frames = end.crash.frames if end.crash is not None else ()
    beside = (Path(frame.location.file).parent for frame in frames)
    if named and (own_at := own_folder(module, python, (*beside, Path()))):
        return replace(
            finding,
            message=f"{own_at} is the job's own, and has no {module}. {_id_of(finding)}",
            fix=f"python -c 'import {top}; print({top}.__path__)'  # the folder that is found; "
            "what the job needs of it is elsewhere, or was not copied",
        )
    if named and is_of_another_release(module, python):
        return replace(
            finding,
            message=f"{top} is installed, but this release has no {module}. {_id_of(finding)}",
            fix=f"pip install '{top.replace('_', '-')}==...'  # of the script's time",
        )
    return finding


def _id_of(finding: Finding) -> str:
    """`[E280]`, as it stands at the end of a message."""
    return finding.message.rpartition(" ")[2]


def _is_ours(hit: Match, signals: Signals) -> bool:
    """Whether it is the rehearsing machine's: its memory, which must hold every replica, its
    network, where buckets may be unreachable, or a package or service that it lacks."""
    name = hit.values.get("name", "")
    if name.partition(".")[0] in OF_TENSORFLOW or signals.origin is not Origin.REHEARSAL:
        return False
    return hit.error.family in OF_MACHINE or hosted(name) is not None


def _of_a_command(finding: Finding, end: JobEnd) -> Finding:
    """A failure due to a skipped command, reported as its consequence."""
    command = end.follows_from.partition("`")[2].rpartition("`")[0].lstrip("!% ")
    return replace(
        finding,
        message=f"{end.follows_from} was not run, as a rehearsal runs no commands: what it brings "
        "is not here.",
        fix=f"{command}      # once, in this folder; then check again",
        severity=Severity.INFO,
    )


def _noted(finding: Finding, where: str) -> Finding:
    """A finding that need be none where the job is at home."""
    return replace(finding, message=f"{where}: {finding.message}", severity=Severity.INFO)


def _rival(of_hit: RivalFound, hit: Match) -> str:
    """A cause that may be it, and how to tell."""
    rival = of_hit.rival
    seen = f"supported by: {of_hit.support}" if of_hit.support else f"look for {rival.look_for}"
    decide = f"; decide: {hit.with_names(rival.decide)}" if rival.decide else ""
    return f"{rival.cause} ({seen}{decide})"


def _what(end: JobEnd) -> str:
    if not end.error:
        return end.how if end.exit_code is None else f"{end.how}, exit code {end.exit_code}"
    from tpudiag.known_errors.unknown import unknown

    failure = unknown(end.error)
    if failure is None:
        return " ".join(end.error.split())
    near = ", ".join(f"{error.family} [{error.id}]" for error in failure.nearest)
    known = failure.phase is not Phase.ANY
    about = [failure.phase.value] * known + [f"nearest: {near}"] * bool(near)
    return f"{failure.text} ({'; '.join(about)})" if about else failure.text
