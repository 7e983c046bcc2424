"""Jobs that cannot be diagnosed: another framework, no training, unreachable data."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from tpudiag import missing_modules
from tpudiag.diagnoses import job_summary
from tpudiag.errors import NothingDiagnosed
from tpudiag.model import Framework, Outcome, Verdict
from tpudiag.signals import JobEnd, Signals

_FRAMEWORKS = {"torch": "PyTorch"}
_REMOTE = re.compile(r"(?:gs|s3|hdfs)://[^\s'\",;)\]>]+")
_AWAY = re.compile(
    r"HTTP request|libcurl|resolve host|File system scheme|PermissionDenied|NotFound|Unavailable|"
    r"FailedPrecondition|No such file|not found|[Aa]ccess|[Cc]redential"
)
_FETCHED = re.compile(r"URL fetch failure on (\S+?):? ")
_TFDS = re.compile(r"Failed to get url (\S+?)\.? |tfds.*?(Dataset \w+ could not be loaded)", re.S)
_NO_NETWORK = re.compile(
    r"host='([^']+)'|(?:urlopen error|gaierror|Name or service not known|name resolution)"
)
_MOUNTED = re.compile(r"(/kaggle/input|\.\./input|/content/drive|/gcs/|/mnt/disks/)[^\s'\",;)\]]*")


def refuse_framework(name: str, framework: str | None) -> None:
    """End the diagnosis of a job with another framework; raises NothingDiagnosed."""
    if framework is not None:
        title = _FRAMEWORKS.get(framework, framework)
        raise NothingDiagnosed(
            f"{name}: this job trains with {title}: not diagnosed (tpudiag knows jobs of "
            "TensorFlow and JAX)"
        )


def refuse_nothing(
    name: str,
    signals: Signals,
    facts: Mapping[str, object],
    outcomes: Iterable[Outcome],
    elsewhere: str | None = None,
    defines: Sequence[str] = (),
) -> None:
    """End the diagnosis of a job that trained or read nothing with TensorFlow.

    `elsewhere`: a program that it starts, perhaps to train, which did not run; `defines`: the
    functions of a script that calls none.
    Raises NothingDiagnosed, unless the job crashed or a check has a finding.
    """
    backend = facts.get("keras_backend")
    # Keras 3 may use other backends without a line in the script.
    if isinstance(backend, str):
        refuse_framework(name, backend)
    end = signals.end
    # A job that crashed has an answer: its own error.
    ended = end is not None and end.how in ("finished", "stopped")
    if not ended or signals.dispatch is not None or signals.tf1:
        return
    failed = any(outcome.verdict is Verdict.FAILED for outcome in outcomes)
    imported = facts.get("frameworks")
    neither = signals.tensorflow is None and signals.framework is not Framework.JAX
    if neither and isinstance(imported, list) and "torch" in imported:
        refuse_framework(name, "torch")
    # The report names what failed for lack of data, and is not the whole one; a step that is too
    # large for this machine was read.
    read = failed or signals.pipelines or facts.get("step_not_run")
    if not (read or job_summary.passed_over(facts)):
        said = f"; {elsewhere}" if elsewhere else ""
        if defines:
            said = (
                f": it defines {defines[0]}{' and others' if len(defines) > 1 else ''}, and calls "
                "nothing. Check the script that does, or name a function of it (module:function)"
            )
        raise NothingDiagnosed(
            f"{name} ran to its end, and no training step and no dataset was seen: nothing to "
            f"diagnose{said}"
        )


def unreachable(end: JobEnd | None, fake_data: bool) -> str | None:
    """One line on a job that ended at unreachable data; None where it ended otherwise."""
    if end is None or end.how != "exception" or end.error is None or end.follows_from:
        return None
    module = missing_modules.missing(end)
    hosted = missing_modules.hosted(module) if module is not None else None
    what = f"the module {hosted}" if hosted is not None else _away(end.error)
    if what is None:
        return None
    where = f"{end.location} " if end.location is not None else "the job "
    hint = "" if fake_data else "; --fake-data stands in for it"
    return f"{where}asks for {what}, which cannot be reached from here{hint}"


def _away(error: str) -> str | None:
    """What could not be reached, according to an error."""
    # A path alone is no proof: an error may name a bucket that was just read successfully.
    remote = _REMOTE.search(error)
    if remote and _AWAY.search(error):
        return remote[0].rstrip(":.")
    if fetched := _FETCHED.search(error) or _TFDS.search(error):
        return next(group for group in fetched.groups() if group)
    mounted = _MOUNTED.search(error)
    # Where the disk is there, the file alone is missing: an error like any other.
    if mounted and not Path(mounted[1]).is_dir() and re.search(r"No such file|NotFound", error):
        return mounted[0].rstrip(":.")
    network = _NO_NETWORK.search(error)
    return (network[1] or "the network") if network else None
