"""What long work says of itself while it goes on."""

from __future__ import annotations

from collections.abc import Callable


class Phase(str):
    """What is being done, in words; with how much of it is done where the number is known."""

    done: int | None
    total: int | None

    def __new__(cls, text: str, done: int | None = None, total: int | None = None) -> Phase:
        """The words, `done` of `total`."""
        made = super().__new__(cls, text)
        made.done, made.total = done, total
        return made


OnPhase = Callable[[str], None]
"""Called with each phase as it begins (a Phase where a number is known)."""
