"""tpudiag as a library: what the verbs do, from Python.

```python
import tpudiag

report = tpudiag.check("train.py", target="v5e-8", arguments=["--epochs", "1"])
for outcome in report.outcomes:
    print(outcome.id, outcome.verdict.value)
Path("report.html").write_text(tpudiag.render(report, "html"), encoding="utf-8")
```

Options have the names of the command line, with the unit of those that are times.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

from tpudiag import scratch
from tpudiag.catalogue import checked_settings, renderer, renderer_names
from tpudiag.errors import UsageError
from tpudiag.model import Report
from tpudiag.notebook_display import show_reports
from tpudiag.options.jobs import CheckOptions, FixOptions, PlanOptions
from tpudiag.options.profiles import CompareOptions, ReadOptions
from tpudiag.options.verbs import KEYWORDS, filled, keywords, request_of
from tpudiag.phases import OnPhase
from tpudiag.settings import of_verb

__all__ = ["Run", "check", "compare", "fix", "load", "plan", "read", "render"]

Run = str | Path | Report
"""One run of a comparison: a profile, a report saved as JSON, or a report at hand."""
show_reports()


@keywords
def check(
    program: str | Path | None = None,
    *,
    arguments: Sequence[str] = (),
    on_phase: OnPhase = lambda _: None,
    **options: Unpack[CheckOptions],
) -> Report:
    """Run a job in a child process, observed, and diagnose it, as `tpudiag check` does.

    `program` is a script, a notebook or `module:function`, `module` one that runs as by
    `python -m`; without either the reference job runs. `options` say how it runs (tpudiag.options.
    jobs.CheckOptions, docs/options.md). Without `log_dir` the job's profile goes
    with the call. `changes_within` is a folder that offered changes stay in, where the script's
    project is larger. `on_phase` hears what is being done. Raises TpudiagError: UsageError for an
    unknown target or id, UnreadableInput for a script that is not there, MissingExtra without
    TensorFlow. Ctrl-C gives a report of what was seen, with `interrupted` set.
    """
    by_name = _filled("check", options, program=program, arguments=arguments)
    from tpudiag import snippets
    from tpudiag.diagnoses import job, job_request

    settings, kept = checked_settings(by_name), by_name["log_dir"]
    with scratch.folder("log") as temporary:
        folder = Path(kept or temporary)
        request = job_request.resolved(by_name, folder)
        folder.mkdir(parents=True, exist_ok=True)
        report = snippets.added(job.diagnose(request, settings, on_phase))
    return report if kept is not None else replace(report, next_command=None)


@keywords
def fix(
    program: str | Path | None = None,
    *,
    arguments: Sequence[str] = (),
    on_phase: OnPhase = lambda _: None,
    **options: Unpack[FixOptions],
) -> Report:
    """Change a script so that its findings are gone, proven by a rehearsal, as `tpudiag fix` does.

    Each finding of the report has its `change`, with its state and proof, or says in `no_change`
    why it has none; `mending` holds the whole difference and how many findings are `left`. Files
    are changed with `write` alone, and none outside `changes_within`. `options` say how each
    rehearsal runs (FixOptions). Raises TpudiagError: NothingDiagnosed where the job comes to no
    training step, UnreadableInput for a script that is not to be touched; and KeyboardInterrupt.
    """
    by_name = _filled("fix", options, program=program, arguments=arguments)
    from tpudiag.diagnoses import fix as fixing
    from tpudiag.diagnoses import job_request

    if program is None and by_name["module"] is None:
        raise UsageError("fix: name the script that is to be mended")
    settings = checked_settings(by_name | {"select": ()})
    with scratch.folder("log") as temporary:
        job = job_request.resolved(by_name, temporary)
        patch = None if by_name["patch"] is None else Path(by_name["patch"])
        request = request_of(
            fixing.FixRequest, by_name, job=job, select=tuple(by_name["select"]), patch=patch
        )
        return fixing.diagnose(request, settings, on_phase)


@keywords
def plan(
    program: str | Path | None = None,
    *,
    arguments: Sequence[str] = (),
    on_phase: OnPhase = lambda _: None,
    **options: Unpack[PlanOptions],
) -> Report:
    """Which TPU and which per-replica batch, by the TPU compiler's word, as `tpudiag plan` does.

    `options` say how the job runs to its first step (PlanOptions). Raises UsageError,
    UnreadableInput, MissingExtra without the compiler or TensorFlow, and NothingDiagnosed where
    the job shows no training step.
    """
    by_name = _filled("plan", options, program=program, arguments=arguments)
    from tpudiag.diagnoses import job_request
    from tpudiag.diagnoses import plan as planning

    with scratch.folder("log") as folder:
        request = planning.requested(
            by_name, lambda target: job_request.resolved(by_name, folder, target)
        )
        return planning.diagnose(request, checked_settings({}), on_phase)


@keywords
def read(
    path: str | Path, *, on_phase: OnPhase = lambda _: None, **options: Unpack[ReadOptions]
) -> Report:
    """Diagnose a TensorBoard profile, as `tpudiag read` does; XProf is asked where a limit is set.

    Raises UnreadableInput where there is no profile, KeyboardInterrupt as it comes.
    """
    from tpudiag import snippets
    from tpudiag.diagnoses import profile

    by_name = _filled("read", options)
    settings = checked_settings(by_name)
    request = request_of(profile.ProfileRequest, by_name, path=str(path))
    report = profile.diagnose(request, settings, on_phase)
    # The verb prints what was read so far under a note; a caller would take it for the whole.
    if report.interrupted:
        raise KeyboardInterrupt
    return snippets.added(report)


@keywords
def compare(
    before: Run | Sequence[Run],
    after: Run | Sequence[Run],
    *,
    on_phase: OnPhase = lambda _: None,
    **options: Unpack[CompareOptions],
) -> Report:
    """What changed between two sides, one or more runs each, as `tpudiag compare` does.

    `fail_on_regression` is the share above which a change is called a regression. Raises
    UnreadableInput, and NothingDiagnosed where the sides ran on different hardware.
    """
    from tpudiag.diagnoses import sides

    by_name = _filled("compare", options)
    both = [(side,) if isinstance(side, Run) else tuple(side) for side in (before, after)]
    return sides.compared_runs(
        (both[0], both[1]), by_name["engine"], checked_settings({}), on_phase,
        limit=by_name["fail_on_regression"], across_hardware=by_name["across_hardware"],
    ).report  # fmt: skip


def load(path: str | Path) -> Report:
    """A report that was saved as JSON; raises UnreadableInput where the file holds none."""
    from tpudiag import report_json

    return report_json.load(path)


def render(report: Report, format: str) -> str:
    """The report as text, rich, json, html, markdown, sarif or junit; else raises UsageError."""
    if format not in renderer_names():
        raise UsageError(f"{format}: not one of {', '.join(renderer_names())}")
    return renderer(format)(report)


def _filled(verb: str, options: Mapping[str, Any], **of_program: Any) -> dict[str, Any]:
    """The given options, else the settings file's, else the declared defaults; and the program."""
    known = KEYWORDS[verb].__annotations__
    written = {n: value for n, value in of_verb(verb, Path.cwd()).items() if n in known}
    return filled(verb, written | dict(options)) | of_program
