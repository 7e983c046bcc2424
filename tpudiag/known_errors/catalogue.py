"""The known errors, from the compiled cases."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from .compiled import cases
from .model import Kind, Known, KnownError, Phase, Rival
from .readings import narrower

_KINDS = {"broad": Kind.BROAD, "common": Kind.BROAD, "consequence": Kind.CONSEQUENCE}
_KNOWN: dict[str, Known] = {"reproduced": "reproduced", "experience": "recalled"}


@cache
def known_errors() -> tuple[KnownError, ...]:
    """The whole catalogue, in the order of its files."""
    return tuple(map(known_error, range(len(cases()["case"]))))


@cache
def known_error(number: int) -> KnownError:
    """One case of the catalogue with what stands within it: an answer needs but a few."""
    row: Mapping[str, Any] = cases()["case"][number]
    hits: list[str] = [row["hit"]] if isinstance(row["hit"], str) else row["hit"]
    given: dict[str, Any] = {n: row[n] for n in KnownError.__dataclass_fields__ if n in row} | {
        "patterns": tuple(row.get("says", ())),
        "citations": tuple(row.get("source", ())),
        "example": hits[0],
        "more_examples": tuple(hits[1:]),
        "phase": Phase(row.get("phase", "any")),
        "common": row.get("kind") == "common",
        "kind": _KINDS.get(row.get("kind", ""), Kind.TELLING),
        "evidence": _KNOWN.get(row.get("known", ""), "reported" if "source" in row else "recalled"),
        "details": tuple(row.get("details", ())),
        "rivals": tuple(map(_rival, row.get("one_of", ()))),
        "narrower": tuple(narrower.of_row(each, whole=True) for each in row.get("narrower", ())),
    }
    return KnownError(**given)


def _rival(row: Mapping[str, Any]) -> Rival:
    texts = {name: row[name] for name in ("cause", "look_for", "decide", "fix") if name in row}
    return Rival(**texts, cues=tuple(row.get("says", ())), families=tuple(row.get("families", ())))
