"""What a text says of its job beside the error: places, versions, names; put into the answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from .blanks import names_in
from .model import Match
from .place import place_near
from .versions import (
    for_versions,
    names_of,
    package_of,
    releases,
    versions_by_paths,
    versions_in,
)


def of_job(
    matches: Sequence[Match],
    text: str,
    installed: Mapping[str, str] | None = None,
    *,
    whole: bool = True,
) -> tuple[Match, ...]:
    """Matches in a text with what it says of its job.

    `installed`: the version of each package, where the environment is known. A text that is not
    `whole` holds the two ends of a log: the lines of the matches are not those of the text.
    """
    if not matches:
        return ()
    named = versions_in(text)
    named |= {package_of(name): version for name, version in (installed or {}).items()}
    by_paths = versions_by_paths(text)
    said = releases(versions_in(text), by_paths)
    names = names_in(text) | names_of(named)
    told: list[Match] = []
    for each in matches:
        failed = whole and each.error.level == "error"
        place = place_near(text, each.line) if failed else None
        script = {"SCRIPT": place.script} if place and place.script else {}
        told.append(
            replace(
                for_versions(each, by_paths | named),
                place=place,
                releases=said,
                names=names | script,
            )
        )
    return tuple(told)
