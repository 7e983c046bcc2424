"""`tpudiag alerts`: the alert policies of a job in Cloud Monitoring, as code."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from tpudiag.commands._alert_wishes import limits_of, named, number, wanted_policies
from tpudiag.commands._report import Verbs, write_whole
from tpudiag.errors import UnreadableInput, UsageError

if TYPE_CHECKING:
    from tpudiag.monitoring.cloud.policies import Json
    from tpudiag.monitoring.cloud.reconcile import Alerts, Change, Kept

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
OF_PROMETHEUS = ("prometheus", "grafana")
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
    parser.add_argument(
        "--resource",
        choices=("generic_task", "k8s_container", "gce_instance"),
        default="generic_task",
        help="what `watch --resource` writes to (default: %(default)s)",
    )


def _add_limits(parser: argparse.ArgumentParser) -> None:
    """When the policies fire."""
    limits = parser.add_argument_group("limits")
    for name, metavar, default, what in (
        ("--drop", "PERCENT", 20, "throughput below the job's median of six hours"),
        ("--input-share", "PERCENT", 20, "of step time spent waiting for input"),
        ("--hbm-share", "PERCENT", 95, "of the usable HBM in use"),
        ("--first-step", "MINUTES", 20, "without a first step"),
        ("--silence", "MINUTES", 20, "without a step"),
        ("--absence", "MINUTES", 10, "without a point; 2 to 1410"),
    ):
        limits.add_argument(
            name,
            metavar=metavar,
            type=number,
            default=default,
            help=f"{what} (default: %(default)s)",
        )


def run(options: argparse.Namespace) -> int:
    """One action; raises UsageError, UnreadableInput and CloudError."""
    if options.action == "export":
        return _export(options)
    if not options.project:
        raise UsageError(f"alerts {options.action}: needs --project (export works without)")
    if options.action != "list" and not options.job:
        raise UsageError(f"alerts {options.action}: needs --job")
    from tpudiag.monitoring.cloud.reconcile import Alerts

    alerts = Alerts(options.project, options.endpoint)
    if options.action == "apply":
        wanted, channels = wanted_policies(options), alerts.channels(options.notify)
        changes = alerts.apply(options.job, wanted, channels, dry_run=options.dry_run)
        return _changed(chain(changes, _dashboard(options)), options)
    kept = _chosen(alerts, options)
    if options.action == "delete":
        changes = alerts.delete(kept, dry_run=options.dry_run)
        return _changed(chain(changes, _dashboard(options)), options)
    if options.action == "show":
        print(json.dumps([policy.json for policy in kept], indent=2, ensure_ascii=False))
        return 0
    for policy in kept:
        state = "" if policy.enabled else "  (disabled)"
        print(f"{policy.job:<24}  {policy.id:<16}  {policy.title}{state}")
    if not kept:
        print("no alert policies of tpudiag", file=sys.stderr)
    return 0


def _dashboard(options: argparse.Namespace) -> Iterator[Change]:
    """Apply or delete the job's dashboard, unless single policies or no dashboard were asked."""
    if options.policies or options.no_dashboard:
        return
    from tpudiag.monitoring.cloud.dashboards import Dashboards

    dashboards = Dashboards(options.project, options.endpoint)
    if options.action == "apply":
        yield from dashboards.apply(options.job, options.resource, dry_run=options.dry_run)
    else:
        yield from dashboards.delete(options.job, dry_run=options.dry_run)


def _chosen(alerts: Alerts, options: argparse.Namespace) -> list[Kept]:
    """The policies in the project that were asked for; raises UnreadableInput for one missing."""
    kept = alerts.kept(options.job)
    missing = set(options.policies) - {policy.id for policy in kept}
    if missing:
        raise UnreadableInput(f"{', '.join(sorted(missing))}: no such policy in {options.project}")
    if options.action == "show" and not kept:
        raise UnreadableInput(f"no policies of the job {options.job} in {options.project}")
    return [policy for policy in kept if not options.policies or policy.id in options.policies]


def _changed(changes: Iterable[Change], options: argparse.Namespace) -> int:
    """Say each change; with --dry-run, whether there is any."""
    any_ = False
    for change in changes:
        any_ = any_ or change.what != "keep"
        would = "would " if options.dry_run and change.what != "keep" else ""
        print(f"{MARKS[change.what]} {would}{change.what} {change.id}  {change.name}".rstrip())
        for difference in change.differences:
            print(f"    {difference}")
    return int(options.dry_run and any_)


def _export(options: argparse.Namespace) -> int:
    """The policies as text, without asking any service."""
    text = _exported_for_prometheus if options.format in OF_PROMETHEUS else _exported
    return _written(text(options), options)


def _exported(options: argparse.Namespace) -> str:
    """For Cloud Monitoring."""
    from tpudiag.monitoring.cloud.policies import as_json
    from tpudiag.monitoring.cloud.terraform import terraform

    if not options.job:
        raise UsageError("alerts export: needs --job (--format prometheus and grafana do not)")
    wanted = wanted_policies(options)
    if options.format == "dashboard":
        from tpudiag.monitoring.cloud import dashboards

        board = dashboards.as_json(options.job, options.resource)
        return json.dumps(board, indent=2, ensure_ascii=False) + "\n"
    if options.format == "terraform":
        return terraform(wanted, options.job, options.notify, _board(options))
    channels = _channels(options)
    made = [as_json(policy, options.job, channels) for policy in wanted]
    return json.dumps(made, indent=2, ensure_ascii=False) + "\n"


def _exported_for_prometheus(options: argparse.Namespace) -> str:
    """Rules, or Grafana's dashboard; of all jobs where none is named."""
    from tpudiag.monitoring import grafana, prometheus_rules

    if options.notify:
        raise UsageError(f"--notify: with --format {options.format} the Alertmanager notifies")
    if options.format == "grafana":
        return json.dumps(grafana.as_json(options.job), indent=2, ensure_ascii=False) + "\n"
    every = prometheus_rules.rules(options.job, limits_of(options))
    return prometheus_rules.as_yaml(named(options, every))


def _written(text: str, options: argparse.Namespace) -> int:
    """Print the text, or write it to the file that was named."""
    if options.output is None:
        sys.stdout.write(text)
        return 0
    try:
        write_whole(options.output, text)
    except OSError as error:
        raise UsageError(f"-o {options.output}: {error.strerror or error}") from error
    return 0


def _board(options: argparse.Namespace) -> Json | None:
    """The job's dashboard, unless single policies or no dashboard were asked."""
    from tpudiag.monitoring.cloud import dashboards

    left_out = options.policies or options.no_dashboard
    return None if left_out else dashboards.as_json(options.job, options.resource)


def _channels(options: argparse.Namespace) -> tuple[str, ...]:
    """The resource names of the channels; raises UsageError where they cannot be looked up."""
    from tpudiag.monitoring.cloud.terraform import CHANNEL

    names = tuple(dict.fromkeys(options.notify))
    if all(CHANNEL.fullmatch(name) for name in names):
        return names
    if not options.project:
        raise UsageError(
            "--notify: JSON holds channels by their resource names: give --project to look them "
            "up, or projects/P/notificationChannels/N (--format terraform takes display names)"
        )
    from tpudiag.monitoring.cloud.reconcile import Alerts

    return Alerts(options.project, options.endpoint).channels(names)
