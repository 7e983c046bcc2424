"""`tpudiag alerts`: the alert policies of a job in Cloud Monitoring, as code."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from tpudiag.commands._alert_request import number, percent, request_of
from tpudiag.commands._report import Verbs, write_whole
from tpudiag.errors import UnreadableInput, UsageError
from tpudiag.harmless import one_line
from tpudiag.printing import put, put_data, put_text, say

if TYPE_CHECKING:
    from tpudiag.diagnoses.alert_policies import AlertRequest, Change

EPILOG = """\
`tpudiag watch SOURCE --project PROJECT --job JOB` writes the metrics that these alerts are on.

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


def add_parser(verbs: Verbs) -> None:
    """The options of `alerts`."""
    parser = verbs.add_parser(
        "alerts",
        help="alert policies in Cloud Monitoring, as code",
        description="Applies, lists, shows, deletes and exports the alert policies of a job.",
        epilog=EPILOG,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "action",
        choices=("apply", "list", "show", "delete", "export"),
        metavar="ACTION",
        help="apply, list, show, delete or export",
    )
    parser.add_argument(
        "policies",
        metavar="POLICY",
        nargs="*",
        help="only these, right after ACTION, e.g. throughput-drop (default: all of the job)",
    )
    _add_job_options(parser)
    parser.add_argument(
        "--format",
        choices=("json", "terraform", "dashboard", "prometheus", "grafana"),
        default="json",
        help="of export: the policies as JSON or Terraform, the JSON of the dashboard; rules for "
        "Prometheus and a dashboard for Grafana, on what `watch --prometheus` serves (default: "
        "%(default)s)",
    )
    parser.add_argument("-o", "--output", metavar="FILE", type=Path, help="where export goes")
    parser.add_argument("--endpoint", metavar="HOST:PORT", help="another server, without TLS")
    _add_limits(parser)
    parser.set_defaults(run=run)


def _add_job_options(parser: argparse.ArgumentParser) -> None:
    """Whose policies they are, who is told, and what is left alone."""
    parser.add_argument("--project", metavar="PROJECT", help="the Google Cloud project")
    parser.add_argument("--job", metavar="NAME", help="the job, as `watch --job` names it")
    parser.add_argument(
        "--notify",
        metavar="CHANNEL",
        action="append",
        default=[],
        help="a notification channel by its name, or its resource name; repeatable",
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="say what would change, and change nothing"
    )
    parser.add_argument(
        "--no-dashboard", action="store_true", help="leave the job's dashboard alone"
    )


def _add_limits(parser: argparse.ArgumentParser) -> None:
    """When the policies fire."""
    limits = parser.add_argument_group("limits")
    for name, metavar, default, what in (
        ("--drop", "PERCENT", 20, "throughput below the job's own baseline"),
        ("--input-share", "PERCENT", 20, "of step time spent waiting for input"),
        ("--hbm-share", "PERCENT", 95, "of the usable HBM in use"),
        ("--first-step", "MINUTES", 20, "without a first step"),
        ("--silence", "MINUTES", 20, "without a step"),
        ("--absence", "MINUTES", 10, "without a point; 2 to 1410"),
    ):
        limits.add_argument(
            name,
            metavar=metavar,
            type=percent if metavar == "PERCENT" else number,
            default=default,
            help=f"{what} (default: %(default)s)",
        )


def run(options: argparse.Namespace) -> int:
    """One action; raises UsageError, UnreadableInput and CloudError."""
    from tpudiag.diagnoses import alert_policies

    if options.action == "export":
        return _written(alert_policies.exported(request_of(options), options.format), options)
    if not options.project:
        raise UsageError(f"alerts {options.action}: needs --project (export works without)")
    if options.action != "list" and not options.job:
        raise UsageError(f"alerts {options.action}: needs --job")
    request = request_of(options)
    if options.action == "apply":
        return _changed(alert_policies.applied(request), options)
    if options.action == "delete":
        return _changed(alert_policies.deleted(request), options)
    return _shown(request) if options.action == "show" else _listed(request)


def _shown(request: AlertRequest) -> int:
    """Print the policies whole; raises UnreadableInput where there are none."""
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
    """Say each change; with --dry-run, whether there is any."""
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
        write_whole(options.output, text)
    except OSError as error:
        raise UsageError(f"-o {options.output}: {error.strerror or error}") from error
    return 0
