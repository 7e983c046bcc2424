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

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Unpack

from tpudiag.errors import UsageError
from tpudiag.library_jobs import check, fix, plan, settings_of
from tpudiag.model import Report
from tpudiag.notebook_display import show_reports
from tpudiag.options.profiles import CompareOptions, ReadOptions
from tpudiag.options.verbs import filled, keywords, request_of
from tpudiag.phases import OnPhase

__all__ = ["Run", "check", "compare", "fix", "load", "plan", "read", "render"]

Run = str | Path | Report
"""One run of a comparison: a profile, a report saved as JSON, or a report at hand."""
show_reports()


@keywords
def read(
    path: str | Path, *, on_phase: OnPhase = lambda _: None, **options: Unpack[ReadOptions]
) -> Report:
    """Diagnose a TensorBoard profile, as `tpudiag read` does; XProf is asked where a limit is set.

    Raises UnreadableInput where there is no profile, KeyboardInterrupt as it comes.
    """
    from tpudiag import snippets
    from tpudiag.diagnoses import profile

    said = filled("read", options)
    settings = settings_of(said)
    request = request_of(profile.ProfileRequest, said, path=str(path))
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

    said = filled("compare", options)
    both = [(side,) if isinstance(side, Run) else tuple(side) for side in (before, after)]
    return sides.compared_runs(
        (both[0], both[1]), said["engine"], settings_of({}), on_phase,
        limit=said["fail_on_regression"], across_hardware=said["across_hardware"],
    ).report  # fmt: skip


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
