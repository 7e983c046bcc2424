"""Links to XProf for findings on a profile: a moment of the trace, or a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING

from tpudiag.model import Finding, Outcome, Report
from tpudiag.report_figures import XProfLink
from tpudiag.signals import ProfileFacts, ReplicaSteps
from tpudiag.sources.profile.op_kinds import COLLECTIVES, HOST_MEMORY
from tpudiag.sources.profile.step_breakdown import COMPILATION, IDLE, INPUT, TO_DEVICE
from tpudiag.xprof_pages import (
    MEMORY_PROFILE,
    OP_PROFILE,
    OVERVIEW,
    ROOFLINE,
    TOOLS,
    USUAL_SERVERS,
    listens,
    page,
)

if TYPE_CHECKING:
    from tpudiag.sources.profile.locate import Run
    from tpudiag.sources.profile.xprof_server import XProfServer

USUAL_STEP, SLOWEST_STEP = "usual step", "slowest step"
"""Names of links."""
NO_SERVER = "{addresses} shows no profile {run} of these hosts: findings are not linked to XProf."

PARTS: dict[str, tuple[str, ...]] = {
    "TPU101": (COMPILATION,),
    "TPU106": (IDLE,),
    "TPU2": INPUT,
    "TPU210": (INPUT[2], TO_DEVICE, HOST_MEMORY),
    "TPU406": (IDLE,),
    "TPU504": (COLLECTIVES,),
}
"""Parts of the step, by id or family: the step with most of them shows the finding best."""


def linked(
    report: Report, addresses: Sequence[str], seen_at: str | None, run: Run, facts: ProfileFacts
) -> Report:
    """The report with links to XProf where it runs at one of the addresses and shows the run.

    Readers see it at `seen_at`, where that is another address. A note says so where it does not
    run, if the user named the addresses. Raises UsageError for no address.
    """
    usual = tuple(addresses) == USUAL_SERVERS
    reachable = tuple(filter(listens, addresses)) if usual else addresses
    if not reachable:
        return report
    from tpudiag.sources.profile.xprof_server import LIMIT_S, USUAL_LIMIT_S, showing

    server = showing(reachable, run, USUAL_LIMIT_S if usual else LIMIT_S)
    if server is None:
        # Nobody misses an XProf on the usual ports.
        if usual or seen_at is not None:
            return report
        note = NO_SERVER.format(addresses=", ".join(addresses), run=PurePath(run.folder).name)
        return replace(report, notes=(*report.notes, note))
    if seen_at is not None:
        server = replace(server, address=seen_at)
    return replace(
        report,
        outcomes=with_links(report.outcomes, server, facts),
        xprof_links=tuple(links(server, facts)),
    )


def links(server: XProfServer, facts: ProfileFacts) -> Iterator[XProfLink]:
    """Links for a whole run: its usual and its slowest step, and the main pages."""
    steps = sorted(
        (
            (ms, start, replica)
            for replica in (whole.steady for whole in facts.replicas if whole.starts_ms)
            for start, ms in zip(replica.starts_ms or (), replica.step_ms, strict=True)
        ),
        key=lambda step: step[:2],
    )
    for name, place in ((USUAL_STEP, len(steps) // 2), (SLOWEST_STEP, -1)):
        if steps and (host := _host(server, steps[place][2].host)) is not None:
            ms, start, _ = steps[place]
            yield XProfLink(name=name, url=server.moment(host, start, start + ms))
    for opened in (OVERVIEW, OP_PROFILE, ROOFLINE, MEMORY_PROFILE):
        yield XProfLink(name=opened, url=server.page(TOOLS[opened]))


def with_links(
    outcomes: Sequence[Outcome], server: XProfServer, facts: ProfileFacts
) -> tuple[Outcome, ...]:
    """The outcomes, each finding with its link; none where no page fits."""
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
    """The step that shows a finding best in the trace; the check's page where none is known."""
    opened = page(id_)
    if opened is None:
        return None
    worst = worst_step(id_, finding.message, replicas)
    if worst is not None:
        replica, start_ms, end_ms = worst
        host = _host(server, replica.host)
        if host is not None:
            return server.moment(host, start_ms, end_ms)
    return server.page(TOOLS[opened])


def worst_step(
    id_: str, message: str, replicas: Sequence[ReplicaSteps]
) -> tuple[ReplicaSteps, float, float] | None:
    """The replica and the step, as start and end in ms, that show a finding best.

    Among the replicas named in the message, if any; warm-up counts for compilation.
    """
    timed = [replica for replica in replicas if replica.starts_ms]
    named = [r for r in timed if r.host in message.split() or r.replica in message.split()]
    parts = PARTS.get(id_, PARTS.get(id_[:4], ()))
    best: tuple[float, ReplicaSteps, float, float] | None = None
    for whole in named or timed:
        # Compilation happens in the warm-up, whose steps are not typical of anything else.
        replica = whole if COMPILATION in parts else whole.steady
        for weight, start, ms in zip(
            _weights(replica, parts), replica.starts_ms or (), replica.step_ms, strict=True
        ):
            if best is None or weight > best[0]:
                best = weight, whole, start, start + ms
    return best and best[1:]


def _weights(replica: ReplicaSteps, parts: Sequence[str]) -> list[float]:
    """Each step's time in the parts; its length where it has none of them."""
    columns = [part.ms for part in replica.parts if part.name in parts and any(part.ms)]
    return [sum(ms) for ms in zip(*columns, strict=True)] if columns else list(replica.step_ms)


def _host(server: XProfServer, host: str) -> str | None:
    """The host's name in XProf, which is that of its file."""
    if host in server.hosts:
        return host
    return server.hosts[0] if len(server.hosts) == 1 else None
