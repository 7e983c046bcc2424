"""The batch that a script has given a name by now, and how many examples that asks for."""

import re

from tpudiag.sources.job.tensorflow.input import batch_names

from .holes import batch_of

BATCHES = 6
"""Batches that data hold at least: a fifth of them, as is put aside for validation, hold one."""
_SIMPLEST, _MOST = 32, 16_384
_NOT = re.compile(r"step|num_|(^|_)n_batch|batches|\.tpudiag_|(test|pred)\w*_batch")
"""Counts of batches, by their names, the batch of a hole, and those that nothing trains on."""


def examples() -> int:
    """Examples enough for some steps of each of a script's loops; 0 where it names no batch.

    `STEPS = NUMBER_OF_IMAGES // BATCH_SIZE` is 0 where there are fewer than a batch.
    """
    return BATCHES * (largest() or 0)


def of(data: object, simplest: int = _SIMPLEST) -> int:
    """The batch that a script asked of a hole, else the largest that it names."""
    return batch_of(data) or largest() or simplest


def largest() -> int | None:
    """The largest batch that has a name: a global one, of a class or dict of settings, a local."""
    named = ((name.lower(), size) for name, size, _ in batch_names.named() if size <= _MOST)
    batches = (size for name, size in named if "batch" in name and not _NOT.search(name))
    return max(batches, default=None)
