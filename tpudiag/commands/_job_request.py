"""The command line of the verbs that run a job, as the request of a diagnosis."""

from __future__ import annotations

import argparse
import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

from tpudiag.commands import _job_options
from tpudiag.job_options import Verb

if TYPE_CHECKING:
    from tpudiag.diagnoses.job_request import JobRequest


def of(options: argparse.Namespace, verb: Verb) -> JobRequest:
    """The command line as a request; what cannot work is refused before anything starts."""
    from tpudiag.diagnoses import job_request

    name = options.target or options.module or f"reference-{getattr(options, 'reference', '')}"
    log_dir: Path = options.log_dir
    was_there = log_dir.is_dir()
    folder = job_request.run_folder(log_dir, name)
    try:
        return _in_folder(folder, options, verb)
    except BaseException:
        for left in (folder,) if was_there else (folder, log_dir):
            with contextlib.suppress(OSError):
                left.rmdir()
        raise


def _in_folder(folder: Path, options: argparse.Namespace, verb: Verb) -> JobRequest:
    """The request of a run that has its folder."""
    from tpudiag.diagnoses import job_request

    return job_request.resolved(
        options.target,
        options.module,
        arguments=options.arguments,
        target=options.for_,
        tpu=options.tpu,
        log_dir=folder,
        said=_job_options.said(options, verb),
    )
