"""Known errors of one family in words that each tell a cause of their own."""

from __future__ import annotations

import re

from tpudiag.known_errors.literals import squeezed_pattern
from tpudiag.known_errors.readings.meaning import Reading

from .building import BUILDING
from .compiled import COMPILED
from .data import DATA
from .devices import DEVICES
from .estimators import ESTIMATORS
from .files import FILES
from .handed_over import HANDED_OVER
from .hub import HUB
from .keras import KERAS
from .language import LANGUAGE
from .layers import LAYERS
from .machines import MACHINES
from .modules import MODULES
from .packages import PACKAGES
from .python_sentences import PYTHON_SENTENCES
from .running import RUNNING
from .runtime import RUNTIME
from .saved import SAVED
from .scope import SCOPE
from .sources import SOURCES
from .steps import STEPS
from .supplies import SUPPLIES
from .weights import WEIGHTS
from .wording import Wording, Wordings

TABLES: tuple[Wordings, ...] = (
    DEVICES,
    COMPILED,
    STEPS,
    BUILDING,
    SAVED,
    RUNTIME,
    RUNNING,
    LAYERS,
    DATA,
    ESTIMATORS,
    FILES,
    HANDED_OVER,
    HUB,
    KERAS,
    LANGUAGE,
    MACHINES,
    MODULES,
    PACKAGES,
    SCOPE,
    SOURCES,
    SUPPLIES,
    PYTHON_SENTENCES,
    WEIGHTS,
)


def wordings_of(ident: str) -> tuple[Wording, ...]:
    """All wordings of a known error, those of one table before the next."""
    return tuple(
        wording
        for table in TABLES
        for idents, wordings in table.items()
        if ident in idents.split()
        for wording in wordings
    )


def read(ident: str, around: str) -> Reading | None:
    """What the words of an error tell beyond its family, in a text without white space."""
    quoted = around.replace("`", "'")
    for wording in wordings_of(ident):
        # Compiled here: an answer needs the few of its own error, not those of all.
        told = re.search(squeezed_pattern(wording.pattern), quoted, re.IGNORECASE)
        if told:
            names = {name: value for name, value in told.groupdict().items() if value}
            cause, fix = _named(wording.cause, names), _named(wording.fix, names)
            return Reading(cause, fix, whole=True)
    return None


def _named(text: str, names: dict[str, str]) -> str:
    """A text with the names that the wording holds; what it does not hold stays a blank."""
    return re.sub(r"<<(\w+)>>", lambda hole: names.get(hole[1], hole[0]), text)
