"""Diagnoses TensorFlow training jobs on TPU: before, during and after they run."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tpudiag.monitoring.training import ThroughputCallback, track

__version__ = "0.1.0"
__all__ = ["ThroughputCallback", "track"]


def __getattr__(name: str) -> object:
    """What training scripts put in, loaded when it is first used."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from tpudiag.monitoring import training

    return getattr(training, name)
