"""Diagnoses TensorFlow training jobs on TPU: before, during and after they run.

As a library: `tpudiag.check("train.py", target="v5e-8")`, `tpudiag.read("logs/")`,
`tpudiag.load("report.json")` and `tpudiag.render(report, "html")`; see tpudiag.library. In a
training script: `tpudiag.ThroughputCallback()` and `tpudiag.track(steps, ...)`. In a notebook:
`%load_ext tpudiag`.
"""

from typing import TYPE_CHECKING

from tpudiag.version import __version__

if TYPE_CHECKING:
    from tpudiag.library import check, compare, fix, load, plan, read, render
    from tpudiag.model import Report
    from tpudiag.monitoring.training import ThroughputCallback, track

__all__ = [
    "Report", "ThroughputCallback", "__version__", "check", "compare", "fix", "load", "plan",
    "read", "render", "track",
]  # fmt: skip


def load_ipython_extension(shell: object) -> None:
    """`%load_ext tpudiag` in a notebook: `%%tpudiag_check` and `%tpudiag_read`."""
    from tpudiag.commands import magics

    magics.load(shell)


def __dir__() -> list[str]:
    """What is there, imported or not."""
    return sorted({*globals(), *__all__})


def __getattr__(name: str) -> object:
    """The API for scripts and programs, imported on first access."""
    if name.startswith("_") or name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # A training script pays for these alone: they run on Python 3.10 without a package that reports
    # need.
    if name in ("ThroughputCallback", "track"):
        from tpudiag.monitoring import training

        return getattr(training, name)
    if name == "Report":
        from tpudiag.model import Report

        return Report
    from tpudiag import library

    return getattr(library, name)
