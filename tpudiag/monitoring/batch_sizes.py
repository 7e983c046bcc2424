"""How many examples a batch of the loop holds, beside the first: a batch may double on its way."""

from __future__ import annotations

from typing import Any


class BatchSizes:
    """Scales the global batch that was named by the first dimension of what the loop gets."""

    def __init__(self, global_batch: int | None) -> None:
        self._global_batch, self._first = global_batch, 0
        self._known = global_batch is not None

    def examples(self, batch: Any) -> int:
        """The examples of a batch; -1 where it shows none, and the named batch is taken."""
        if not self._known:
            return -1
        try:
            # PerReplica, tuple, list, dict: the first of whatever it is made of.
            part: Any = batch
            while not hasattr(part, "shape"):
                inner: Any = getattr(part, "values", part)
                parts: Any = inner() if callable(inner) else inner
                part = next(iter(parts))
            rows = int(part.shape[0])
            self._first = self._first or rows
            return int((self._global_batch or 0) * rows / self._first)
        except Exception:
            self._known = False  # not asked again: each step pays for it
            return -1
