"""One wording of a family's errors, and what it alone tells."""

from __future__ import annotations

from tpudiag.records import dataclass


@dataclass(frozen=True)
class Wording:
    """A sentence that tells more than the family it belongs to.

    `pattern`: as those of KnownError; its named groups fill `<<name>>` in cause and fix.
    `example`: an error that holds it.
    """

    pattern: str
    cause: str
    fix: str
    example: str


Wordings = dict[str, tuple[Wording, ...]]
"""By the ids of the known errors that hold them, the most telling first."""
