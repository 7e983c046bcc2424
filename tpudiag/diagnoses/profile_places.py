"""Where XProf shows what a finding on a profile is about: a moment of the trace, or a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING

from tpudiag.model import Finding, Outcome, Report
from tpudiag.signals import ProfileFacts, ReplicaSteps
from tpudiag.sources.profile.op_kinds import COLLECTIVES, HOST_MEMORY
from tpudiag.sources.profile.step_breakdown import COMPILATION, IDLE, INPUT, TO_DEVICE
from tpudiag.sources.profile.xprof_ports import listening
from tpudiag.xprof_pages import USUAL_SERVERS, page, tool

if TYPE_CHECKING:
    from tpudiag.sources.profile.locate import Run
    from tpudiag.sources.profile.xprof_server import XProfServer

NO_SERVER = "{addresses} shows no profile {run} of these hosts: findings are not linked to XProf."

PARTS: dict[str, tuple[str, ...]] = {
    "TPU101": (COMPILATION,),
    "TPU106": (IDLE,),
    "TPU2": INPUT,
    "TPU210": (INPUT[2], TO_DEVICE, HOST_MEMORY),
    "TPU406": (IDLE,),
    "TPU504": (COLLECTIVES,),
}
"""Of the step, by id or family: the step that has most of them shows the finding best."""


def linked(report: Report, addresses: Sequence[str], run: Run, facts: ProfileFacts) -> Report:
    """The report with links to XProf where it runs at one of the addresses and shows the run.

    Says so where it does not, unless nobody named them. Raises UsageError for no address.
    """
    usual = tuple(addresses) == USUAL_SERVERS
    # Before anybody is asked: there is nothing to be linked.
    if not addresses or not any(outcome.findings for outcome in report.outcomes):
        return report
    asked = listening(addresses) if usual else addresses
    if not asked:
        return report
    from tpudiag.sources.profile.xprof_server import LIMIT_S, USUAL_LIMIT_S, showing

    server = showing(asked, run, USUAL_LIMIT_S if usual else LIMIT_S)
    if server is not None:
        return replace(report, outcomes=with_links(report.outcomes, server, facts))
    note = NO_SERVER.format(addresses=", ".join(addresses), run=PurePath(run.folder).name)
    # Nobody named the usual ports: that no XProf runs there is no news.
    return report if usual else replace(report, notes=(*report.notes, note))


def with_links(
    outcomes: Sequence[Outcome], server: XProfServer, facts: ProfileFacts
) -> tuple[Outcome, ...]:
    """The outcomes, each finding with its link; those that no page is about have none."""
    return tuple(
        replace(
            outcome,
            findings=tuple(
                replace(finding, xprof_link=_link(outcome.id, finding, server, facts.replicas))
                for finding in outcome.findings
            ),
        )
        for outcome in outcomes
    )


def _link(
    id_: str, finding: Finding, server: XProfServer, replicas: Sequence[ReplicaSteps]
) -> str | None:
    """The step that shows a finding best in the trace; the check's page where no step is known."""
    opened = page(id_)
    if opened is None:
        return None
    worst = worst_step(id_, finding.message, replicas)
    if worst is not None:
        replica, start_ms, end_ms = worst
        host = _host(server, replica.host)
        if host is not None:
            return server.moment(host, start_ms, end_ms)
    return server.page(tool(opened))


def worst_step(
    id_: str, message: str, replicas: Sequence[ReplicaSteps]
) -> tuple[ReplicaSteps, float, float] | None:
    """The replica and the step, as start and end in ms, that shows a finding best.

    Of the replicas that the message names, where it names some; warm-up counts for compilation.
    """
    timed = [replica for replica in replicas if replica.starts_ms]
    named = [r for r in timed if r.host in message.split() or r.replica in message.split()]
    parts = PARTS.get(id_, PARTS.get(id_[:4], ()))
    best: tuple[float, ReplicaSteps, float, float] | None = None
    for whole in named or timed:
        # Compilation happens in the warm-up; for all else those steps are the worst and show
        # nothing.
        replica = whole if COMPILATION in parts else whole.steady
        for weight, start, ms in zip(
            _weights(replica, parts), replica.starts_ms or (), replica.step_ms, strict=True
        ):
            if best is None or weight > best[0]:
                best = weight, whole, start, start + ms
    return best and best[1:]


def _weights(replica: ReplicaSteps, parts: Sequence[str]) -> list[float]:
    """How much each step has of the parts; its length where it has none of them."""
    columns = [part.ms for part in replica.parts if part.name in parts and any(part.ms)]
    return [sum(ms) for ms in zip(*columns, strict=True)] if columns else list(replica.step_ms)


def _host(server: XProfServer, host: str) -> str | None:
    """The host's name there, which is that of its file."""
    if host in server.hosts:
        return host
    return server.hosts[0] if len(server.hosts) == 1 else None
