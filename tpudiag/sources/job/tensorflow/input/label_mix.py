"""Tells whether batches in a row have the labels of a well mixed dataset."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from tpudiag.signals.input_pipeline import UnmixedLabel

BEYOND_CHANCE = 8.0
"""How much more the counts of labels vary between batches than those of a random draw would."""
RARE = 1 / 3
"""The share of a label's mean up to which it is rare in a batch."""
MOST_CLASSES = 10_000
"""The widest one-hot label that is read."""


def of_batch(element: Any) -> Counter[float] | None:
    """The labels of a batch (x, y), whole numbers or one-hot; None where it has none."""
    parts: list[Any] = list(element) if element.__class__ is tuple else []
    given: Any = parts[1] if len(parts) > 1 else None
    shape = list(getattr(given, "shape", ()))
    if not 1 <= len(shape) <= 2 or (len(shape) == 2 and shape[1] > MOST_CLASSES):
        return None
    values = given.numpy()
    if values.dtype.kind not in "biuf" or (values.astype(float) % 1 != 0).any():
        return None
    if len(shape) == 1 or shape[1] == 1:
        return Counter(values.ravel().tolist())
    if ((values != 0) & (values != 1)).any() or (values.sum(1) != 1).any():
        return None
    return Counter(values.argmax(1).tolist())


def unmixed(batches: Sequence[Counter[float] | None]) -> UnmixedLabel | None:
    """The label that is rarest in one batch for its mean, if labels vary far beyond chance."""
    seen = [batch for batch in batches if batch]
    total = sum(seen, Counter[float]())
    freedom = (len(seen) - 1) * (len(total) - 1)
    if len(seen) < len(batches) or freedom < 1:
        return None
    examples = total.total()

    def off(label: float) -> float:
        due = ((batch, total[label] * batch.total() / examples) for batch in seen)
        return sum((batch[label] - expected) ** 2 / expected for batch, expected in due)

    away = {label: off(label) for label in total}
    label = max(away, key=lambda each: away[each])
    shares = [batch[label] / batch.total() for batch in seen]
    by_chance = sum(away.values()) < BEYOND_CHANCE * freedom
    if by_chance or min(shares) > RARE * total[label] / examples:
        return None
    return UnmixedLabel(f"{label:g}", min(shares), max(shares), len(seen))
