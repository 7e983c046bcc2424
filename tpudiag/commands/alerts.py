"""`tpudiag alerts`: the alert policies of a job in Cloud Monitoring, as code."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import TYPE_CHECKING

from tpudiag.bounded_files import write_whole
from tpudiag.commands._alert_request import alerts_of
from tpudiag.commands._parser import Verb
from tpudiag.errors import UnreadableInput, UsageError
from tpudiag.printing import put, put_data, put_text, say
from tpudiag.sanitized import one_line

if TYPE_CHECKING:
    from tpudiag.diagnoses.alert_policies import AlertRequest, Change

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
MARKS = {"create": "+", "update": "~", "keep": "=", "delete": "-"}


VERB = Verb(
    help="alert policies in Cloud Monitoring, as code",
    description="Applies, lists, shows, deletes and exports the alert policies of a job.",
    epilog=EPILOG,
)


def run(options: argparse.Namespace) -> int:
    """Run one action; raises UsageError, UnreadableInput and CloudError."""
    from tpudiag.diagnoses import alert_policies

    if options.action == "export":
        return _written(alert_policies.exported(alerts_of(options), options.format), options)
    if not options.project:
        raise UsageError(f"alerts {options.action}: needs --project (export works without)")
    if options.action != "list" and not options.job:
        raise UsageError(f"alerts {options.action}: needs --job")
    request = alerts_of(options)
    if options.action == "apply":
        return _changed(alert_policies.applied(request), options)
    if options.action == "delete":
        return _changed(alert_policies.deleted(request), options)
    return _shown(request) if options.action == "show" else _listed(request)


def _shown(request: AlertRequest) -> int:
    """Print the policies in full; raises UnreadableInput where there are none."""
    from tpudiag.diagnoses.alert_policies import kept

    there = kept(request)
    if not there:
        raise UnreadableInput(f"no policies of the job {request.job} in {request.project}")
    put_data([policy.json for policy in there])
    return 0


def _listed(request: AlertRequest) -> int:
    """Print a line for each policy."""
    from tpudiag.diagnoses.alert_policies import kept

    there = kept(request)
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


def _written(text: str, options: argparse.Namespace) -> int:
    """Print the text, or write it to the file that was named."""
    if options.output is None:
        put_text(text)
        return 0
    try:
        write_whole(options.output, text.encode())
    except OSError as error:
        raise UsageError(f"-o {options.output}: {error.strerror or error}") from error
    return 0
