"""The number of examples in each batch of the loop, which may change during training."""

from typing import Any


class BatchSizes:
    """Scales the given global batch by the first dimension of the loop's batches."""

    def __init__(self, global_batch: int | None) -> None:
        self._global_batch, self._first = global_batch, 0
        self._known = global_batch is not None

    def examples(self, batch: Any) -> int:
        """The examples of a batch; -1 where it has no visible size."""
        if not self._known:
            return -1
        try:
            # PerReplica, tuple, list, dict: take the first component.
            part: Any = batch
            while not hasattr(part, "shape"):
                inner: Any = getattr(part, "values", part)
                parts: Any = inner() if callable(inner) else inner
                part = next(iter(parts))
            rows = int(part.shape[0])
            self._first = self._first or rows
            return int((self._global_batch or 0) * rows / self._first)
        except Exception:
            self._known = False  # not tried again: each step would pay for it
            return -1
