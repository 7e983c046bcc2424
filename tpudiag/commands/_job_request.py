"""The command line of the verbs that run a job, as the request of a diagnosis."""

from __future__ import annotations

import argparse
import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tpudiag.diagnoses.job_request import JobRequest
    from tpudiag.diagnoses.named_program import ReferenceJob


def of(options: argparse.Namespace) -> JobRequest:
    """The command line as a request; what cannot work is refused before anything starts."""
    from tpudiag.diagnoses import job_request

    name = options.target or options.module or f"reference-{options.reference}"
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

    job = job_request.resolved(
        options.target,
        options.module,
        _reference(options),
        arguments=options.arguments,
        target=options.for_,
        tpu=options.tpu,
        python=options.python,
        log_dir=folder,
        writes=job_request.WritesWanted(
            in_place=options.in_place, keep=options.keep_writes, offline=options.offline
        ),
    )
    return job_request.configured(
        job,
        steps=options.steps,
        warmup_steps=options.warmup,
        first_loop=options.first_loop,
        budget_s=options.budget,
        timeout_s=options.timeout,
        tpu_timeout_s=options.tpu_timeout,
        measure_input_s=options.measure_input,
        fake_data=options.fake_data,
        no_compile=options.no_compile,
        compiler_python=options.compiler_python,
        compile_timeout_s=options.compile_timeout,
    )


def _reference(options: argparse.Namespace) -> ReferenceJob:
    """The reference job that is asked for where no other is."""
    from tpudiag.diagnoses.named_program import ReferenceJob

    return ReferenceJob(
        model=options.reference,
        loop=options.loop,
        precision=options.precision,
        full_size=options.full_size,
        checkpoint_dir=options.checkpoint_dir,
    )
