"""The results of the observed steps, for comparison with a run on the same seed."""

from collections.abc import Iterable
from typing import Any

from tpudiag.signals import TrainedNumbers


class NumbersSeen:
    """The scalars of each step's results, and sums of the last one's arrays."""

    def __init__(self) -> None:
        self._losses: list[float | None] = []
        self._arrays: list[Any] = []

    def step(self, results: Iterable[Any]) -> None:
        """A training step gave these arrays."""
        floats = [leaf for leaf in results if "float" in str(getattr(leaf, "dtype", ""))]
        scalars = [float(leaf) for leaf in floats if leaf.ndim == 0]
        self._losses.append(sum(scalars) / len(scalars) if scalars else None)
        self._arrays = [leaf for leaf in floats if leaf.ndim > 0]

    def facts(self) -> TrainedNumbers:
        """Sum and sum of magnitudes of each array: the sum alone hides what cancels out."""
        sums: list[float] = []
        for array in self._arrays:
            if not array.is_deleted():
                sums += [float(array.sum()), float(abs(array).sum())]
        losses = tuple(self._losses)
        return TrainedNumbers(steps=len(losses), losses=losses, weights=tuple(sums))
