"""What is known of an error: its patterns, cause, fix and sources."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Level = Literal["error", "warning", "info"]


@dataclass(frozen=True)
class KnownError:
    """An error whose text, cause and fix are known; its fields: entries.py."""

    id: str
    level: Level
    patterns: tuple[str, ...]
    cause: str
    fix: str
    citations: tuple[str, ...]
    evidence: Literal["reproduced", "reported", "recalled"]
    example: str
    near_miss: str
    details: tuple[str, ...] = ()
    yields_to: tuple[str, ...] = ()
    rehearsal_only: bool = False


@dataclass(frozen=True)
class Silent:
    """An id of the collected facts that has no text to recognise, and why."""

    id: str
    reason: str
