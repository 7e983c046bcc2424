# ruff: noqa: E501  (what is pasted stays in one piece)
"""A dimension of a JAX array that does not divide by the devices it is cut over."""

from __future__ import annotations

import re

from .meaning import Reading

_DIVIDED = re.compile(
    r"(?:arrayaxis|dimension)(?P<axis>\d{1,2})(?:is)?(?:partitioned|shouldbedivisibleby|divisibleby)(?P<parts>\d{1,6})"
    r"(?:times)?,?but(?:thedimensionsizeis|itisequalto)(?P<size>\d{1,9})"
)


def read(text: str, begin: int, _end: int) -> Reading | None:
    """By what a dimension of a JAX array does not divide, and what would."""
    told = _DIVIDED.search(text, begin)
    if told is None:
        return None
    axis, parts, size = told["axis"], int(told["parts"]), int(told["size"])
    fits = -(-size // parts) * parts
    return Reading(
        f"Dimension {axis} has {size} and is cut into {parts}: {size} is no multiple of {parts}; the next one is {fits}.",
        f"x = jnp.pad(x, [(0, {fits - size}) if axis == {axis} else (0, 0) for axis in range(x.ndim)])      # to {fits}; or a batch that is a multiple of {parts}",
    )
