"""tpudiag check: run a training job under observation and report its problems."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from tpudiag.commands import _job_request, _report
from tpudiag.commands._interrupts import Interrupts
from tpudiag.commands._progress import progress
from tpudiag.errors import EXIT_INTERRUPTED, UsageError
from tpudiag.printing import say

if TYPE_CHECKING:
    from tpudiag.diagnoses.job_request import JobRequest
    from tpudiag.model import Report

EPILOG = """\
Without TARGET the reference job runs: a small model trained as a good TPUStrategy job trains.
Without a TPU the job is rehearsed: CPU replicas stand in for the target's, and the report says so.

examples:
  tpudiag check
  tpudiag check --for v6e-8 --reference bert --loop fit
  tpudiag check train.py --for v5e-8 -- --epochs 3
  tpudiag check package.module:train
  tpudiag check -m package.module -- --epochs 3
  tpudiag check --tpu local            on a TPU VM
  tpudiag check train.py --for v5e-8 --baseline main.json --fail-on-regression 2%
"""


def run(options: argparse.Namespace) -> int:
    """Diagnose the job and write the report."""
    settings = _report.settings_for(options)
    if options.baseline is None and options.fail_on_regression is not None:
        raise UsageError("--fail-on-regression needs --baseline REPORT.json")
    from tpudiag import report_json

    # Read before anything runs.
    baseline = None if options.baseline is None else report_json.load(options.baseline)
    from tpudiag.planning import prices

    known = prices.load(options.cost) if options.cost is not None else {}
    request = _job_request.of(options)
    from tpudiag.diagnoses import job
    from tpudiag.diagnoses.predicted_cost import priced

    with Interrupts() as interrupts:
        with progress() as on_phase:
            heard = interrupts.finishing_at(job.FINISHING, on_phase)
            report = job.diagnose(request, settings, heard)
        report = priced(report, known, options.examples)
        code = _written(report, baseline, request, options)
    return EXIT_INTERRUPTED if interrupts.waits else code


def _written(
    report: Report, baseline: Report | None, request: JobRequest, options: argparse.Namespace
) -> int:
    """Compare the report with an earlier one, if requested, and write it."""
    if baseline is not None and not report.interrupted:
        from tpudiag.diagnoses.sides import held_against

        limit = options.fail_on_regression
        report, verdict = held_against(baseline, options.baseline, report, limit)
        say(verdict)
    code = _report.emit(report, options)
    if report.next_command is not None:
        _report.beside_profile(report, str(request.log_dir))
    return code
