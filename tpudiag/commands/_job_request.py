"""The command line of verbs as requests: a job to run, and the pods of one that runs."""

from __future__ import annotations

import argparse
import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

from tpudiag.errors import UsageError

if TYPE_CHECKING:
    from tpudiag.diagnoses.job_request import JobRequest
    from tpudiag.sources.live.pods import Selection


def of(options: argparse.Namespace, target: str | None = None) -> JobRequest:
    """The command line as a request; an invalid one is refused before anything starts.

    `target` replaces its own where a verb has several.
    """
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
        return job_request.resolved(vars(options), folder, target)
    except BaseException:
        for left in (folder,) if was_there else (folder, log_dir):
            with contextlib.suppress(OSError):
                left.rmdir()
        raise


def selection(options: argparse.Namespace) -> Selection | None:
    """The requested pods; raises UsageError."""
    if options.selector is None:
        if options.namespace or options.context:
            raise UsageError("--namespace and --context tell where pods are; name --selector")
        return None
    from tpudiag.sources.live.pods import Selection

    return Selection(options.selector, options.namespace, options.context)
