"""A dimension of a compiled step of which only the bound is known."""

from __future__ import annotations

import re

from .meaning import Reading
from .narrower import computed

_BOUNDED = re.compile(r"[\[(]((?:(?:<=)?\d{1,9},){0,7}(?:<=)?\d{1,9})[\])]")


def read(_: dict[str, str], text: str) -> Reading | None:
    """Which dimension is known by its bound alone: the batch, or a length."""
    for shape in _BOUNDED.finditer(text):
        sizes = shape[1].split(",")
        bounded = [at for at, size in enumerate(sizes) if size.startswith("<=")]
        if not bounded:
            continue
        most = sizes[bounded[0]].removeprefix("<=")
        if re.search(r"all-?reduce|CrossReplicaSum", text):
            return computed(
                "bounded in an all-reduce", shape=shape[1], bounded=bounded[0], most=most
            )
        if bounded == [0]:
            return computed("bounded batch", shape=shape[1], most=most)
        return computed("bounded length", shape=shape[1], bounded=bounded[0], most=most)
    return None
