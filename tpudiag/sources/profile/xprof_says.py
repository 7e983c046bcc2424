"""What XProf said of a run; to hold it takes none of what it takes to ask."""

from tpudiag.records import dataclass


@dataclass(frozen=True)
class XProfSays:
    """XProf's figures and statements, in its own words; `failure` tells why there are none."""

    figures: tuple[tuple[str, str], ...] = ()
    statements: tuple[str, ...] = ()
    """Conclusions, bottlenecks and warnings."""
    failure: str | None = None
