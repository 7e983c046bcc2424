"""tpudiag as a library: what the verbs do, from Python.

```python
import tpudiag

report = tpudiag.check("train.py", target="v5e-8", arguments=["--epochs", "1"])
for outcome in report.outcomes:
    print(outcome.id, outcome.verdict.value)
Path("report.html").write_text(tpudiag.render(report, "html"), encoding="utf-8")
```
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tpudiag.errors import UsageError
from tpudiag.model import Report
from tpudiag.settings import Settings


def check(
    program: str | Path | None = None,
    *,
    target: str | None = None,
    arguments: Sequence[str] = (),
    tpu: str | None = None,
    steps: int | None = None,
    warmup_steps: int = 5,
    timeout_s: float = 900.0,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    log_dir: str | Path | None = None,
    python: str | Path | None = None,
) -> Report:
    """Run a job in a child process, observed, and diagnose it, as `tpudiag check` does.

    `program` is a script or `module:function`; without one the reference job runs. Without
    `log_dir` the job's profile goes with the call. `python` is the job's Python, as for
    `--python`. Raises TpudiagError: UsageError for an unknown
    target or id, UnreadableInput for a script that is not there, MissingExtra without TensorFlow.
    """
    from tpudiag import snippets
    from tpudiag.diagnoses import job, job_request

    settings = _settings(select, ignore)
    script = None if program is None else job_request.checked_program(str(program))
    goal = job_request.goal(target, tpu)
    with tempfile.TemporaryDirectory(prefix="tpudiag-") as temporary:
        request = job_request.JobRequest(
            program=script or job_request.REFERENCE, name=script or "reference job",
            arguments=tuple(arguments), target=goal.target, target_choice=goal.target_choice,
            topology=goal.topology, tpu=goal.tpu, steps=steps, warmup_steps=warmup_steps,
            timeout_s=timeout_s, log_dir=Path(log_dir or temporary),
            python=job_request.python(None if python is None else str(python), script),
        )  # fmt: skip
        request.log_dir.mkdir(parents=True, exist_ok=True)
        report = job.diagnose(request, settings)
    report = snippets.added(report)
    return report if log_dir is not None else replace(report, next_command=None)


def read(
    path: str | Path,
    *,
    run: str | None = None,
    engine: str = "local",
    xprof_limit_s: float | None = 0,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
) -> Report:
    """Diagnose a TensorBoard profile, as `tpudiag read` does; XProf is asked where a limit is set.

    Raises UnreadableInput where there is no profile, KeyboardInterrupt as it comes.
    """
    from tpudiag import snippets
    from tpudiag.diagnoses import profile

    request = profile.ProfileRequest(
        path=str(path), run=run, engine=engine, xprof_limit_s=xprof_limit_s
    )
    report = profile.diagnose(request, _settings(select, ignore))
    if report.interrupted:
        raise KeyboardInterrupt
    return snippets.added(report)


def load(path: str | Path) -> Report:
    """A report that was saved as JSON; raises UnreadableInput where the file holds none."""
    from tpudiag import report_json

    return report_json.load(path)


def render(report: Report, format: str) -> str:
    """The report as text, rich, json, html, markdown, sarif or junit; else raises UsageError."""
    from tpudiag.catalogue import renderer, renderer_names

    if format not in renderer_names():
        raise UsageError(f"{format}: not one of {', '.join(renderer_names())}")
    return renderer(format)(report)


def _settings(select: Sequence[str], ignore: Sequence[str]) -> Settings:
    """Those of the working folder, narrowed; raises UsageError for an id that no check has."""
    from tpudiag.catalogue import checked_settings

    return checked_settings(Path.cwd(), select, ignore)
