"""Holes that are handed to a strategy: filled first, so that all who hear of it hear of data."""

from __future__ import annotations

from collections.abc import Callable

from tpudiag.sources.job.points import Call, hooks, table

from . import batch_sizes
from .holes import Hole, batch_of, batched


def install(batches: Callable[[Hole], object]) -> None:
    """Let strategies distribute holes; `batches` gives data where a model tells what they are."""

    def distributed(
        original: Call, strategy: object, dataset: object, *args: object, **kwargs: object
    ) -> object:
        if not isinstance(dataset, Hole):
            return original(strategy, dataset, *args, **kwargs)
        filled = batches(dataset)
        if filled is None:  # a model may come later
            return batched(batch_of(dataset) or batch_sizes.largest())
        return original(strategy, filled, *args, **kwargs)

    hooks.around(table.STRATEGY_DISTRIBUTES, distributed)
