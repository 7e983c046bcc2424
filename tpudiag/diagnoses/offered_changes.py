"""The changes that `tpudiag fix` would try, attached to the findings of a check's report."""

import shlex
from dataclasses import replace

from tpudiag.diagnoses.changes_of_source import Project, candidates, offered
from tpudiag.diagnoses.job_request import JobRequest
from tpudiag.diagnoses.named_program import REFERENCE
from tpudiag.model import Report


def with_changes(report: Report, request: JobRequest) -> Report:
    """The report with a change at each finding that has one; unchanged for the reference job."""
    if request.program == REFERENCE or not any(outcome.findings for outcome in report.outcomes):
        return report
    notebook = request.notebook.source if request.notebook is not None else None
    project = Project(
        request.name_of_file,
        notebook,
        request.changes_within,
        framework=request.framework,
    )
    report, _ = candidates(report, project, request.target)
    # Without a step nothing can be proven, and `fix` would refuse.
    command = _command(request) if report.samples and any(True for _ in offered(report)) else None
    return replace(report, fix_command=command)


def _command(request: JobRequest) -> str:
    """The command that shows and proves the changes."""
    program = ("-m", request.program) if request.is_module else (request.program,)
    # A target that was found or is the default will be chosen again.
    target = ("--for", request.target.name) if request.target_choice == "asked" else ()
    arguments = ("--", *request.arguments) if request.arguments else ()
    return shlex.join(("tpudiag", "fix", *program, *target, *arguments))
