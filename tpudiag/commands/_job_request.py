"""The command line of the verbs that run a job, as the request of a diagnosis."""

from __future__ import annotations

import argparse
import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tpudiag.diagnoses.job_request import JobRequest


def of(options: argparse.Namespace) -> JobRequest:
    """The command line as a request; what cannot work is refused before anything starts."""
    from tpudiag.diagnoses import job_request

    name = (
        options.program
        or getattr(options, "module", None)
        or f"reference-{getattr(options, 'reference', '')}"
    )
    log_dir: Path = options.log_dir
    was_there = log_dir.is_dir()
    folder = job_request.run_folder(log_dir, name)
    try:
        return _in_folder(folder, options)
    except BaseException:
        for left in (folder,) if was_there else (folder, log_dir):
            with contextlib.suppress(OSError):
                left.rmdir()
        raise


def _in_folder(folder: Path, options: argparse.Namespace) -> JobRequest:
    """The request of a run that has its folder."""
    from tpudiag.diagnoses import job_request

    return job_request.resolved(
        options.program,
        getattr(options, "module", None),
        arguments=options.arguments,
        target=options.target,
        tpu=getattr(options, "tpu", "none"),
        log_dir=folder,
        said=vars(options),
    )
