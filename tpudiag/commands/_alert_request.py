"""The alert request of the command line: which policies, whom they notify, and their limits."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from tpudiag.errors import UsageError
from tpudiag.options.verbs import request_of

if TYPE_CHECKING:
    from tpudiag.diagnoses.alert_policies import AlertRequest, Limits

MOST_ABSENCE_MIN, MOST_CHANNELS, MOST_JOB = 1410, 16, 400
"""Limits of the service: minutes of absence, channels per policy, the job's part of a policy's name
(of 512)."""


def alerts_of(options: argparse.Namespace) -> AlertRequest:
    """The command line as a request; raises UsageError for what the service would refuse."""
    from tpudiag.diagnoses.alert_policies import AlertRequest

    return request_of(
        AlertRequest, vars(options), limits=_limits(options), dashboard=not options.no_dashboard
    )


def _limits(options: argparse.Namespace) -> Limits:
    """The limits of the command line; raises UsageError for what the service would refuse."""
    from tpudiag.diagnoses.alert_policies import Limits

    for name in ("drop", "input_share", "hbm_share"):
        if getattr(options, name) >= 100:
            raise UsageError(f"--{name.replace('_', '-')}: must be below 100 %")
    for name in ("first_step", "silence"):
        if getattr(options, name) < 1:
            raise UsageError(f"--{name.replace('_', '-')}: at least 1 minute")
    if options.absence < 2:
        raise UsageError("--absence: Cloud Monitoring takes 2 minutes or more")
    if options.absence > MOST_ABSENCE_MIN:
        raise UsageError(
            f"--absence: Cloud Monitoring takes {MOST_ABSENCE_MIN} minutes (23.5 hours) or less"
        )
    if len(options.job or "") > MOST_JOB:
        raise UsageError(f"--job: at most {MOST_JOB} characters, so that policies can be named")
    if len(set(options.notify)) > MOST_CHANNELS:
        raise UsageError(f"--notify: Cloud Monitoring takes {MOST_CHANNELS} channels a policy")
    return Limits(
        drop=options.drop / 100,
        input_share=options.input_share / 100,
        hbm_share=options.hbm_share / 100,
        first_step_min=round(options.first_step),
        silent_min=round(options.silence),
        absent_min=round(options.absence),
    )
