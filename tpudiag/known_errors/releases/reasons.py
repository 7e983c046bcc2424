"""Which release is too old or too new for a name that an error says is not there."""

import re
import sys
from dataclasses import replace

from tpudiag.known_errors.compiled import wording
from tpudiag.known_errors.model import Match
from tpudiag.known_errors.readings import names as moved
from tpudiag.known_errors.readings.meaning import CALLED, Reading
from tpudiag.known_errors.readings.narrower import computed
from tpudiag.known_errors.versions import versions_in

from . import demands
from .lacking import Lack, lack_in, span_of_member
from .tables import KERAS_APART, Release, Span, arguments, names, release, span_of, spelled

_SPOKEN = r"(?<![A-Za-z])(?:{}|{})(?![A-Za-z])"
"""A package's modules, and how programs mostly call them."""
_ALL_READ = frozenset({"jax", "flax", "optax", "chex"})
"""Packages of which every name that a release lost is in the table."""
_DISTRIBUTIONS = {
    "cv2": "opencv-python-headless",
    "PIL": "pillow",
    "yaml": "pyyaml",
    "kerastuner": "keras-tuner",
    "orbax": "orbax-checkpoint",
    "haiku": "dm-haiku",
}
"""By what is imported: the package, where it is called otherwise."""
_KERAS3 = (3,)
_LAST_WITH_KERAS2 = (2, 15)


def of_match(match: Match, text: str) -> Reading | None:
    """What is read from an error: by the releases of its packages, where these decide."""
    known = match.reading
    if match.error.family == "conflicting-packages":
        return demands.read(text) or known
    if match.error.level != "error" or (known is not None and known.placed):
        return known
    lack = lack_in(text, match.line)
    error = match.error
    # An open case speaks of more libraries than the error's.
    spoken = text if error.kind.value else f"{text}\n{error.cause}\n{error.fix}"
    told = _of_lack(text, lack, spoken) if lack else None
    sure = known is not None and known.whole
    if told is None or lack is None or (sure and (told.guess or not told.whole)):
        return known
    if not lack.owner:
        return known if sure and lack.takes.startswith(".") else told
    rows = error.fix.split("\n")
    own = [row for row in rows if lack.name in row]
    said = (error.cause, known.cause if known else "", "" if own else error.example)
    if any(lack.name in each for each in said):
        return known  # what is known of this one attribute is more than its releases
    stay = [row for row in rows if "tf-keras" in row and row not in own]
    return replace(told, fix="\n".join((*own, told.fix, *stay)))


def read(text: str, line: int) -> Reading | None:
    """What the releases say of the error on a line of a text; None where they decide nothing."""
    lack = lack_in(text, line)
    return _of_lack(text, lack, text) if lack else None


def _of_lack(text: str, lack: Lack, spoken: str) -> Reading | None:
    """What the releases say of a name that is not there; `spoken`: what names its package."""
    if lack.owner:
        span = span_of_member(lack, spoken, versions_in(text))
        mixed = span is not None and _dist(lack.asker) == span.package
        told = None if span is None or mixed else _of_span(text, lack, span)
        return told or moved.of_attribute(lack.owner, lack.name, spoken)
    if lack.takes:
        told = (taken := _taken(text, lack)) and _of_span(text, lack, taken)
        known = moved.of_argument(lack.takes.rpartition(".")[0], lack.name)
        if known and told and not lack.takes.startswith("."):
            return replace(told, fix=f"{known.fix}\n{told.fix}")
        if known or told or not (lack.asker and lack.within):
            return known or told or None
    asks = _dist(lack.asker)
    who = {"asks": lack.asker, "file": lack.file, "full": lack.full, "asks_package": asks}
    if lack.asked in sys.stdlib_module_names:
        older = lack.asker and lack.asked != "typing"
        return computed("asks an older Python", **who) if older else None
    asked = {"asked": lack.asked, "asked_package": _dist(lack.asked)}
    if lack.asker == lack.asked:
        return computed("two releases of one", name=lack.name, **who, **asked)
    # Python names the first part that it did not find: the module around it is there.
    if span := names().get(lack.full):
        return _of_span(text, lack, span)
    if not lack.asker:
        return moved.of_name(lack.full)
    if lack.asked in _ALL_READ and not lack.full.endswith(")") and "._" not in lack.full:
        return computed("asked is too old", **who, **asked)
    return computed("asks of another release", **who, **asked)


def _taken(text: str, lack: Lack) -> Span | None:
    """The releases in which a function takes an argument, where one package of the text has it."""
    parts = re.sub(r"V[12]\b", "", lack.takes).split(".")
    spans = arguments().get(".".join(parts[-3:])) or arguments().get(".".join(parts[-2:]), [])
    said = f"{lack.full} {text}"
    own = wording("lacking own").fullmatch(lack.name)
    spoken = [each for each in spans if own or re.search(_SPOKEN.format(*each.called), said)]
    if not parts[0]:  # of a class that is not named: all that take it do so from one release on
        spoken = [each._replace(last=()) for each in spoken if all(of.first for of in spoken)]
    elif not (lack.asker or own) and len(parts) < 3:
        # Any program may have such a function; without a module in sight not one of several words.
        words = {*re.split(r"\W", lack.full)}
        spoken = [each for each in spoken if words.intersection(each.called)]
        spoken = spoken or (spans if re.search("[a-z][A-Z_]", parts[0]) and not lack.within else [])
    held = {each.installed for each in spoken}
    return held.pop() if len(held) == 1 else None


def _of_span(text: str, lack: Lack, span: Span) -> Reading | None:
    """What holds for a name that only some releases have."""
    low, high = _bounds(text, lack, span)
    older = bool(span.first) and not (low and low[: len(span.first)] >= span.first[: len(low)])
    newer = bool(span.last) and not (high and high[: len(span.last)] <= span.last)
    if not older and not newer:
        return None
    package = CALLED.get(span.package, span.package)
    who = f"the code that asks for {f'`{lack.further}`' if lack.further else 'it'}"
    if lack.asker and _dist(lack.asker) != span.package:
        who = f"the installed package `{lack.asker}` ({lack.file}), which asks for it"
    side = "an older" if older else "a newer"
    said = {
        "full": lack.full,
        "package": package,
        "who": who,
        "here": f"{package} here is {spelled(low) if low and low == high else f'{side} one'}",
        "first": spelled(span.first),
        "last": spelled(span.last),
        "there": _range(span),
    }
    fixes = [*([_newer(span)] if older else ()), *([_older(lack, span)] if newer else ())]
    one = "name too new" if older else "name too old"
    which = "name of some releases" if older and newer else one
    return replace(computed(which, fix="\n".join(fixes), **said), alone=len(fixes) == 1)


def _bounds(text: str, lack: Lack, span: Span) -> tuple[Release, Release]:
    """The first and last release that the package may be: its module was found."""
    versions = versions_in(text)
    told = re.search(rf"(?<![\w-]){span.package}[ =:v]{{1,4}}(\d+(?:\.\d+)+)", text, re.IGNORECASE)
    if named := versions.get(span.package) or (told and told[1]):
        return release(named), release(named)
    if span.package == "keras" and (tensorflow := release(versions.get("tensorflow", ""))[:2]):
        return (tensorflow, tensorflow) if tensorflow <= _LAST_WITH_KERAS2 else (_KERAS3, ())
    around = span_of(lack.full.rpartition(".")[0]) if lack.within else None
    if around is None or around.package != span.package or around == span:
        return (), ()
    return around.first, around.last


def _range(span: Span) -> str:
    """The releases of a span in words."""
    if span.first and span.last:
        return f"{spelled(span.first)} to {spelled(span.last)}"
    return f"{spelled(span.first)} on" if span.first else f"the first to {spelled(span.last)}"


def _newer(span: Span) -> str:
    """What mends a package that is too old."""
    first = spelled(span.first)
    if span.package == "keras" and span.first >= _KERAS3:
        return f'pip install -U "tensorflow>=2.16" "keras>={first}"      # {_range(span)}'
    last = f",<{spelled((*span.last[:-1], span.last[-1] + 1))}" if span.last else ""
    return f'pip install -U "{span.package}>={first}{last}"      # {_range(span)}'


def _older(lack: Lack, span: Span) -> str:
    """What mends a package that is too new: the asker's next release, or what is written now."""
    pins = [f'"{span.package}=={spelled(span.last)}{"" if len(span.last) > 2 else ".*"}"']
    both = {"tensorflow": "keras", "keras": "tensorflow"}.get(span.package)
    if both and KERAS_APART <= span.last[:2] <= _LAST_WITH_KERAS2:
        pins.append(f'"{both}=={spelled(span.last[:2])}.*"')
    pin = f"pip install {' '.join(pins)}      # or the last release that has it"
    if lack.asker:
        rows = [f"pip install -U {_dist(lack.asker)}      # made for a newer {span.package}", pin]
        # What many packages build on is sooner turned back.
        return "\n".join(rows[::-1] if span.package == "numpy" else rows)
    place = (lack.further and moved.place_of(lack.further)) or moved.place_of(lack.full)
    if place and "#" not in place:
        place += f"      # in place of {lack.further or lack.full}"
    return f"{place}\n{pin}" if place else pin


def _dist(module: str) -> str:
    """A package as pip knows it."""
    return _DISTRIBUTIONS.get(module, module.replace("_", "-"))
