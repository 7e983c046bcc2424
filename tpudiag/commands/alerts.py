"""Applies, lists, shows, deletes and exports the alert policies of a job."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import TYPE_CHECKING

from tpudiag.bounded_files import write_whole
from tpudiag.errors import UnreadableInput, UsageError
from tpudiag.options.verbs import request_of
from tpudiag.printing import put, put_data, put_text, say
from tpudiag.sanitized import one_line

if TYPE_CHECKING:
    from tpudiag.diagnoses.alert_policies import AlertRequest, Change, Limits
    from tpudiag.monitoring.cloud.reconcile import Kept

EPILOG = """\
`tpudiag watch SOURCE --project PROJECT --job JOB` writes the metrics for these alerts.

examples:
  tpudiag alerts apply --project my-project --job bert --notify 'team mail' --dry-run
  tpudiag alerts list --project my-project
  tpudiag alerts show throughput-drop --project my-project --job bert
  tpudiag alerts delete --project my-project --job bert
  tpudiag alerts export --job bert --format terraform -o alerts.tf     no project needed
  tpudiag alerts export --format prometheus -o tpudiag.rules.yml       for `watch --prometheus`

exit codes: 0 done; 1 --dry-run found something to change; 2 usage error, or not reached.
"""
MOST_ABSENCE_MIN, MOST_CHANNELS, MOST_JOB = 1410, 16, 400
"""Limits of the service: minutes of absence, channels per policy, the job's part of a policy's name
(of 512)."""
MARKS = {"create": "+", "update": "~", "keep": "=", "delete": "-"}


def run(options: argparse.Namespace) -> int:
    """Run one action; raises UsageError, UnreadableInput and CloudError."""
    from tpudiag.diagnoses import alert_policies

    if options.action == "export":
        text = alert_policies.exported(_request_of(options), options.format)
        if options.output is None:
            put_text(text)
            return 0
        try:
            write_whole(options.output, text.encode())
        except OSError as error:
            raise UsageError(f"-o {options.output}: {error.strerror or error}") from error
        return 0
    if not options.project:
        raise UsageError(f"alerts {options.action}: needs --project (export works without)")
    if options.action != "list" and not options.job:
        raise UsageError(f"alerts {options.action}: needs --job")
    request = _request_of(options)
    if options.action == "apply":
        return _changed(alert_policies.applied(request), options)
    if options.action == "delete":
        return _changed(alert_policies.deleted(request), options)
    there = alert_policies.kept(request)
    return _shown(there, request) if options.action == "show" else _listed(there)


def _shown(there: list[Kept], request: AlertRequest) -> int:
    """Print the policies in full; raises UnreadableInput where there are none."""
    if not there:
        raise UnreadableInput(f"no policies of the job {request.job} in {request.project}")
    put_data([policy.json for policy in there])
    return 0


def _listed(there: list[Kept]) -> int:
    for policy in there:
        state = "" if policy.enabled else "  (disabled)"
        put(f"{one_line(policy.job):<24}  {policy.id:<16}  {one_line(policy.title)}{state}")
    if not there:
        say("no alert policies of tpudiag")
    return 0


def _changed(changes: Iterable[Change], options: argparse.Namespace) -> int:
    """Print each change; with --dry-run, return whether there is any."""
    any_ = False
    for change in changes:
        any_ = any_ or change.what != "keep"
        would = "would " if options.dry_run and change.what != "keep" else ""
        put(f"{MARKS[change.what]} {would}{change.what} {change.id}  {change.name}".rstrip())
        for difference in change.differences:
            put(f"    {difference}")
    return int(options.dry_run and any_)


def _request_of(options: argparse.Namespace) -> AlertRequest:
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
