"""What long work says of itself while it goes on."""

from __future__ import annotations

from collections.abc import Callable


# A str: whoever only prints or logs a phase needs to know no other type.
class Phase(str):
    """What is being done, in words; with how much of it is done where the number is known."""

    done: int | None
    total: int | None
    unit: str

    def __new__(
        cls, text: str, done: int | None = None, total: int | None = None, unit: str = ""
    ) -> Phase:
        """The words, `done` of `total` of a unit."""
        made = super().__new__(cls, text)
        made.done, made.total, made.unit = done, total, unit
        return made

    @property
    def how_far(self) -> str:
        """`12 of 340 MB`; empty where the number is not known."""
        return "" if self.total is None else f"{self.done or 0} of {self.total} {self.unit}".strip()


OnPhase = Callable[[str], None]
"""Called with each phase as it begins (a Phase where a number is known)."""
