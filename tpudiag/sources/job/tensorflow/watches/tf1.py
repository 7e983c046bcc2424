"""Watches uses of TensorFlow 1 interfaces while the job runs."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from tpudiag.signals import Tf1Use
from tpudiag.sources.job.tensorflow.points import hooks, user_lines

_SWITCHES = (
    "disable_v2_behavior",
    "disable_eager_execution",
    "disable_v2_tensorshape",
    "disable_control_flow_v2",
    "disable_resource_variables",
    "placeholder",
)


class Tf1Watch:
    """Hooks tf.compat.v1's sessions, placeholders and switches."""

    def __init__(self, tf: Any) -> None:
        self._uses: dict[str, Tf1Use] = {}
        v1 = tf.compat.v1
        for name in _SWITCHES:
            self._wrap(v1, name, f"tf.compat.v1.{name}")
        for name in ("Session", "InteractiveSession"):
            self._wrap(getattr(v1, name), "__init__", f"tf.compat.v1.{name}")

    def facts(self) -> tuple[Tf1Use, ...]:
        """The uses by user code so far, each interface once."""
        return tuple(self._uses.values())

    def _wrap(self, owner: Any, name: str, api: str) -> None:
        """Note calls from user code."""

        def note(*_: Any, **__: Any) -> None:
            # From the user's own line only: TensorFlow and Keras use these interfaces inside
            # themselves, for which nobody is to blame.
            location = user_lines.direct_caller()
            if location is not None:
                self._uses.setdefault(api, Tf1Use(api, location))

        hooks.before(owner, name, note)


def tf2_enabled() -> bool | None:
    """TensorFlow's own switch for v2 behaviour; private, None where it moved."""
    try:
        return bool(import_module("tensorflow.python.tf2").enabled())
    except (ImportError, AttributeError):
        return None
