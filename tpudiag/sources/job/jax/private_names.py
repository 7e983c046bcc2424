"""What of JAX is hooked or read that is not part of its documented interface: these names alone.

Where a release lacks one, what it serves is not measured, and nothing else.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

NAMES: dict[str, tuple[str, str, str]] = {
    "jax._src.array.ArrayImpl": ("0.4.30", "0.10.2", "lines that ask for a value"),
    "/jax/core/compile/backend_compile_duration": ("0.4.30", "0.10.2", "compilations"),
    "Traced.jaxpr": ("0.4.30", "0.10.2", "the traced step"),
    "Traced.args_info": ("0.4.30", "0.10.2", "which arguments are donated"),
    "JaxprEqn.source_info.traceback": ("0.4.30", "0.10.2", "the line of an operation"),
    "JaxprEqn.source_info.name_stack": ("0.4.30", "0.10.2", "forward or backward"),
}
"""Name -> the first and the last release that was tried with it, and what it serves."""
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
