"""Finds this room's fixes, and makes the change for a finding."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from tpudiag import fixes
from tpudiag.fixes import edits as texts
from tpudiag.fixes.advice import ADVICE, GENERAL
from tpudiag.fixes.edits import Edit, NoChange
from tpudiag.fixes.model import Fix, Place
from tpudiag.fixes.source import NotParsed, Source, module_of
from tpudiag.model import Framework


@dataclass(frozen=True)
class Made:
    """A change that was made."""

    fix: Fix
    edits: tuple[Edit, ...]


@cache
def all_fixes() -> tuple[Fix, ...]:
    """Every fix, in the order of their modules and lines."""
    return tuple(
        value
        for module in sorted(iter_modules(fixes.__path__), key=lambda info: info.name)
        for value in vars(import_module(f"{fixes.__name__}.{module.name}")).values()
        if isinstance(value, Fix)
    )


def of_id(id_: str, framework: Framework = Framework.TENSORFLOW) -> Iterator[Fix]:
    """The fixes for the findings of a check, in scripts of a framework."""
    return (e for e in all_fixes() if id_ in e.ids and framework in e.frameworks)


def reason(id_: str) -> str:
    """Why a check's findings have no change of their own."""
    return ADVICE.get(id_, GENERAL)


def made(place: Place) -> Made:
    """The first possible change; raises NoChange with the first reason."""
    reasons: list[str] = []
    for each in of_id(place.id, place.framework):
        try:
            edits = tuple(each.function(replace(place)))
            return Made(each, _sound(place.source, edits))
        except NoChange as none:
            # An empty reason means that another fix of the same check applies.
            reasons += [str(none)] if str(none) else []
    raise NoChange(reasons[0] if reasons else reason(place.id))


def _sound(source: Source, edits: tuple[Edit, ...]) -> tuple[Edit, ...]:
    """The edits, if they change the text and the result can be parsed."""
    if texts.conflict(edits, edits):
        raise NoChange("its parts are in each other's way")
    after = texts.applied(source.text, edits)
    if after == source.text:
        raise NoChange("the line is as it should be")
    try:
        # Both: LibCST preserves the text, Python knows the rules (such as `return` outside a
        # function).
        module_of(after)
        compile(after, "<changed>", "exec", dont_inherit=True)
    except (NotParsed, SyntaxError, ValueError) as error:
        raise NoChange("the changed line would be no Python") from error
    return edits
