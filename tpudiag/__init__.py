"""Diagnoses TensorFlow training jobs on TPU: before, during and after they run.

As a library: `tpudiag.check("train.py", target="v5e-8")`, `tpudiag.read("logs/")`,
`tpudiag.load("report.json")` and `tpudiag.render(report, "html")`; see tpudiag.library.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tpudiag.library import check, load, read, render

__version__ = "0.1.0"
__all__ = ["__version__", "check", "load", "read", "render"]


def __getattr__(name: str) -> object:
    """The functions of the library, imported when they are first asked for."""
    if name.startswith("_") or name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from tpudiag import library

    return getattr(library, name)
