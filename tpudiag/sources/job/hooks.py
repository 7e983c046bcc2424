"""The one way in which hooks are put on public methods and functions."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any


def before(owner: Any, name: str, note: Callable[..., None]) -> None:
    """Call `note` with a callable's arguments before each call of it."""
    original = getattr(owner, name)

    @functools.wraps(original)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        note(*args, **kwargs)
        return original(*args, **kwargs)

    setattr(owner, name, wrapped)


def after(owner: Any, name: str, note: Callable[..., None]) -> None:
    """Call `note` with a callable's arguments after each call of it that returned."""
    original = getattr(owner, name)

    @functools.wraps(original)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        result = original(*args, **kwargs)
        note(*args, **kwargs)
        return result

    setattr(owner, name, wrapped)
