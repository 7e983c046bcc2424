"""Links to XProf for figures that got worse between the sides of a comparison."""

from collections.abc import Iterator, Mapping, Sequence

from tpudiag.diagnoses.changes import Change, ranked
from tpudiag.diagnoses.profile_places import SLOWEST_STEP, USUAL_STEP
from tpudiag.model import Report, Verdict
from tpudiag.report_figures import XProfLink
from tpudiag.xprof_pages import MEMORY_PROFILE, OP_PROFILE, ROOFLINE

SHOWN_BY: Mapping[str, Sequence[str]] = {
    "step_time_ms": (USUAL_STEP, OP_PROFILE),
    "examples_per_second": (USUAL_STEP, OP_PROFILE),
    "step_time_mean_ms": (SLOWEST_STEP,),
    "step_time_p90_ms": (SLOWEST_STEP,),
    "mxu_utilization": (ROOFLINE,),
    "peak_memory_bytes": (MEMORY_PROFILE,),
}
"""By figure, the places in either run that show it."""


def links(
    before: Report, after: Report, changes: Sequence[Change], limit: float
) -> Iterator[XProfLink]:
    """Links in both runs to what regressed beyond the limit; in B alone to new findings.

    Runs that no XProf shows, and saved reports without links, have none.
    """
    worse = [c.name for c in ranked(changes) if c.regressed(limit) or c.unsure(limit)]
    wanted = dict.fromkeys(place for name in worse for place in SHOWN_BY.get(name, ()))
    for place in wanted:
        for letter, report in (("A", before), ("B", after)):
            for link in report.xprof_links:
                if link.name == place:
                    yield XProfLink(name=f"{letter}, {place}", url=link.url)
    yield from _failed_since(before, after)


def _failed_since(before: Report, after: Report) -> Iterator[XProfLink]:
    """The place of the first finding in B of each check that fails in B but not in A."""
    old = {o.id for o in before.outcomes if o.verdict is Verdict.FAILED}
    for outcome in after.outcomes:
        urls = [f.xprof_link for f in outcome.findings if f.xprof_link is not None]
        if urls and outcome.id not in old:
            yield XProfLink(name=f"B, {outcome.id} {outcome.name}", url=urls[0])
