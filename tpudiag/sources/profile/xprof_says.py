"""XProf's answer for a run, apart from `xprof`, which imports what a query needs."""

from tpudiag.records import dataclass


@dataclass(frozen=True)
class XProfSays:
    """XProf's figures and statements, in its own words; `failure` says why there are none."""

    figures: tuple[tuple[str, str], ...] = ()
    statements: tuple[str, ...] = ()
    """Conclusions, bottlenecks and warnings."""
    failure: str | None = None
