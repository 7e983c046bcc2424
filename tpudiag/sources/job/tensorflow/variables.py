"""Watches the making of variables: inside strategy.scope() or not, and on which line."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from tpudiag.signals import VariableSeen
from tpudiag.sources.job.tensorflow import user_lines

_OPTIMIZER_FRAMES = ("optimizers", "optimizer")


LARGE_BYTES = 256 << 20
"""A variable that may alone decide how many replicas this machine can hold."""


class VariableWatch:
    """A variable creator in the outermost scope: it sees every variable that is made."""

    def __init__(self, tf: Any, after_large: Callable[[], None]) -> None:
        self._tf = tf
        self._after_large = after_large
        self._seen: dict[str, VariableSeen] = {}
        self._kept: list[Any] = []
        self._scope = tf.variable_creator_scope(self._create)
        self._scope.__enter__()

    def facts(self) -> tuple[VariableSeen, ...]:
        """One entry a variable, replicas counted once."""
        return tuple(self._seen.values())

    def _create(self, next_creator: Any, **kwargs: Any) -> Any:
        variable = next_creator(**kwargs)
        name = re.sub(r"/replica_\d+", "", variable.name)
        replica_copy = "/replica_" in variable.name
        shape = tuple(variable.shape)
        if not replica_copy and None not in shape:
            in_scope = bool(self._tf.distribute.has_strategy())
            key = f"{name}#{len(self._seen)}"
            seen = self._seen[key] = VariableSeen(
                name=name,
                dtype=variable.dtype.base_dtype.name,
                shape=shape,
                bytes=variable.dtype.base_dtype.size * int(variable.shape.num_elements() or 0),
                in_scope=in_scope,
                trainable=bool(getattr(variable, "trainable", False)),
                optimizer=_made_by_optimizer(),
                location=user_lines.caller(),
            )
            if seen.bytes >= LARGE_BYTES:
                self._after_large()
        return variable


def _made_by_optimizer() -> bool:
    """Whether an optimizer of Keras is on the stack."""
    import sys

    frame = sys._getframe(2)  # pyright: ignore[reportPrivateUsage]
    while frame is not None:
        owner = frame.f_globals.get("__name__", "")
        if "keras" in owner and ".optimizers" in owner:
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False
