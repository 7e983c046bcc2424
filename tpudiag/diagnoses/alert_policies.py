"""The alerts of a job, for Cloud Monitoring and Prometheus: applied, listed, deleted, exported."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from tpudiag.errors import UnreadableInput, UsageError
from tpudiag.monitoring.alert_rules import Limits as Limits  # noqa: PLC0414  (commands give it)
from tpudiag.monitoring.alert_rules import Rule
from tpudiag.monitoring.cloud.policies import as_json, policies
from tpudiag.monitoring.cloud.reconcile import Alerts, Kept
from tpudiag.monitoring.cloud.reconcile import Change as Change  # noqa: PLC0414  (commands show it)

if TYPE_CHECKING:
    from tpudiag.monitoring.cloud.dashboards import Dashboards

Form = Literal["json", "terraform", "dashboard", "prometheus", "grafana"]
OF_PROMETHEUS: tuple[Form, ...] = ("prometheus", "grafana")


@dataclass(frozen=True, kw_only=True)
class AlertRequest:
    """Which alerts of which job to manage, whom they notify, and their limits."""

    project: str | None = None
    job: str | None = None
    policies: tuple[str, ...] = ()
    """Only these ids; empty for all of the job."""
    notify: tuple[str, ...] = ()
    """Notification channels by their display names or resource names."""
    limits: Limits
    dashboard: bool = True
    """Whether to include the job's dashboard along with all policies."""
    dry_run: bool = False
    endpoint: str | None = None

    @property
    def with_dashboard(self) -> bool:
        """Whether to include the dashboard: not where single policies were named."""
        return self.dashboard and not self.policies


def applied(request: AlertRequest) -> Iterator[Change]:
    """Create and update the alerts of a job; raises UsageError and CloudError."""
    alerts, job = _alerts(request), request.job or ""
    # Before the first call: a wrong name must not leave half of the policies behind.
    wanted = _named(request.policies, policies(job, request.limits))
    yield from alerts.apply(job, wanted, alerts.channels(request.notify), dry_run=request.dry_run)
    if request.with_dashboard:
        yield from _dashboards(request).apply(job, dry_run=request.dry_run)


def deleted(request: AlertRequest) -> Iterator[Change]:
    """Delete the alerts of a job; raises UnreadableInput for one that is not there."""
    yield from _alerts(request).delete(kept(request), dry_run=request.dry_run)
    if request.with_dashboard:
        yield from _dashboards(request).delete(request.job or "", dry_run=request.dry_run)


def kept(request: AlertRequest) -> list[Kept]:
    """The requested policies of the project; raises UnreadableInput for a missing one."""
    # A wrong id is refused before anything is deleted.
    there = _alerts(request).kept(request.job)
    missing = set(request.policies) - {policy.id for policy in there}
    if missing:
        names = ", ".join(sorted(missing))
        raise UnreadableInput(f"{names}: no such policy in {request.project}")
    return [policy for policy in there if not request.policies or policy.id in request.policies]


def exported(request: AlertRequest, form: Form) -> str:
    """The alerts as text, without calling a service; raises UsageError."""
    if form in OF_PROMETHEUS:
        from tpudiag.monitoring import prometheus_rules

        if request.notify:
            raise UsageError(f"--notify: with --format {form} the Alertmanager notifies")
        if form == "grafana":
            return _text(prometheus_rules.as_json(request.job))
        every = prometheus_rules.rules(request.job, request.limits)
        return prometheus_rules.as_yaml(_named(request.policies, every))
    if not request.job:
        raise UsageError("alerts export: needs --job (--format prometheus and grafana do not)")
    wanted = _named(request.policies, policies(request.job or "", request.limits))
    if form in ("dashboard", "terraform"):
        from tpudiag.monitoring.cloud import dashboards
        from tpudiag.monitoring.cloud.terraform import terraform

        board = dashboards.as_json(request.job)
        if form == "dashboard":
            return _text(board)
        beside = board if request.with_dashboard else None
        return terraform(wanted, request.job, request.notify, beside)
    channels = _channels(request)
    return _text([as_json(policy, request.job, channels) for policy in wanted])


def _alerts(request: AlertRequest) -> Alerts:
    return Alerts(request.project or "", request.endpoint)


def _dashboards(request: AlertRequest) -> Dashboards:
    from tpudiag.monitoring.cloud.dashboards import Dashboards

    return Dashboards(request.project or "", request.endpoint)


def _named(ids: Sequence[str], every: tuple[Rule, ...]) -> tuple[Rule, ...]:
    """The named rules, or all; raises UsageError for an unknown one."""
    unknown = set(ids) - {each.id for each in every}
    if unknown:
        known = ", ".join(each.id for each in every)
        raise UsageError(f"{', '.join(sorted(unknown))}: no such policy; there are {known}")
    return tuple(each for each in every if not ids or each.id in ids)


def _channels(request: AlertRequest) -> tuple[str, ...]:
    """The resource names of the channels; raises UsageError where they cannot be looked up."""
    from tpudiag.monitoring.cloud.terraform import CHANNEL

    names = tuple(dict.fromkeys(request.notify))
    if all(CHANNEL.fullmatch(name) for name in names):
        return names
    if not request.project:
        raise UsageError(
            "--notify: JSON holds channels by their resource names: give --project to look them "
            "up, or projects/P/notificationChannels/N (--format terraform takes display names)"
        )
    return _alerts(request).channels(names)


def _text(made: object) -> str:
    return json.dumps(made, indent=2, ensure_ascii=False) + "\n"
