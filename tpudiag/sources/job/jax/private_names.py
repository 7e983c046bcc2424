"""What of JAX is hooked or read that is not part of its documented interface: these names alone.

Tried with JAX 0.4.30 and 0.10.2. `step` also reads `source_info` of the equations of a jaxpr:
its `traceback` and `name_stack`. Where a release lacks one, what it serves is not measured, and
nothing else.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

ARRAY_CLASS = ("jax._src.array", "ArrayImpl")
"""The class of all concrete arrays: where Python asks for a value."""
COMPILE_EVENT = "/jax/core/compile/backend_compile_duration"
"""Of `jax.monitoring`: a program was compiled."""


def array_class() -> Any:
    """The class of concrete arrays; None where it moved."""
    module, name = ARRAY_CLASS
    try:
        return getattr(import_module(module), name, None)
    except ImportError:
        return None
