# ruff: noqa: E501  (patterns stay in one piece)
"""Which releases of packages and of Python a text gives, or implies by its paths."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from .tables import Release, Span, modules, packages, release, span_of, spelled


class Here(NamedTuple):
    """What a text tells of the release of a package: two bounds, the same where it is named."""

    low: Release
    high: Release
    how: str
    """Where it is read from, in words."""

    @property
    def exact(self) -> bool:
        """Whether the release itself is named."""
        return bool(self.low) and self.low == self.high

    def is_before(self, first: Release) -> bool:
        """Whether it is older than a release for sure."""
        return bool(first and self.high) and self.high[: len(first)] < first[: len(self.high)]


NOT_TOLD = Here((), (), "")
_ALIASES = {
    "tf": "tensorflow", "tensor flow": "tensorflow", "tf-nightly": "tensorflow", "tfds": "tensorflow-datasets",
    "tfp": "tensorflow-probability", "tf-text": "tensorflow-text", "tf-hub": "tensorflow-hub", "kerastuner": "keras-tuner",
    "tfa": "tensorflow-addons", "tf-addons": "tensorflow-addons", "orbax": "orbax-checkpoint",
}  # fmt: skip
_FILLER = r"(?:[\s:`'\"*,(|]|-|==?|\b(?:version|ver|v|is|was|to|now|got|upgraded|updated|downgraded|installed|by|package|release)\b)"
_NUMBER = r"v?(?P<number>\d{1,2}\.\d{1,3}(?:\.\d{1,3})?)(?![\w.]*[\d.]*\d\.\d|%|s\b|GB|\s?GiB)"
_PYTHON = re.compile(
    r"[Pp]ython(?:\s+[Vv]ersion)?\s{0,3}[:=]{0,2}\s{0,3}(?P<number>[23]\.\d{1,2})"
    r"|\bcp(?P<tag>[23]\d{1,2})-|[Pp]ython(?P<windows>3\d{1,2})[\\/]|[\\/_-]py(?P<conda>[23]\d{1,2})_"
)
_PATH = re.compile(r"(?:site|dist)-packages[/\\]+(?P<path>\w+(?:[/\\]+\w+){1,8})\.py")
_WHEELS = re.compile(r"[-_](?:cpu|gpu|tpu|macos|intel|rocm)$")


def package_of(name: str) -> str:
    """A package's one name: that of all its wheels, also where it is said as people do."""
    plain = re.sub(r"[\s_]", "-", name.lower())
    plain = _WHEELS.sub("", plain)
    return _ALIASES.get(plain, _ALIASES.get(plain.replace("-", " "), plain))


@cache
def _named() -> re.Pattern[str]:
    """How a release of a package is named."""
    known = sorted({*packages(), *_ALIASES, *modules()}, key=len, reverse=True)
    either = "|".join(re.sub(r"[-_ ]", r"[-_ ]", name) for name in known)
    return re.compile(
        rf"(?<![\w./-])(?P<package>{either})(?:[-_](?:cpu|gpu|tpu|macos|intel))?(?:\.__version__)?(?![\w<>~!])"
        rf"{_FILLER}{{0,8}}(?P=package)?{_FILLER}{{0,4}}{_NUMBER}",
        re.IGNORECASE,
    )


def named(text: str) -> dict[str, tuple[str, ...]]:
    """By its package, the releases that a text names, in their order."""
    told: dict[str, list[str]] = {}
    for found in _named().finditer(_SPECIFIERS.sub(" ", text)):
        told.setdefault(package_of(found["package"]), []).append(found["number"])
    return {package: tuple(dict.fromkeys(numbers)) for package, numbers in told.items()}


_SPECIFIERS = re.compile(
    r"[\w-]{2,40}\s?(?:[<>~!]=?|>=)\s?\d[\w.,<>=!~* ]{0,40}|requires [^\n]{3,60}"
)
"""What is wanted is not what is here."""


def python_in(text: str) -> Release:
    """The Python that a text names, or that its paths are of."""
    found = _PYTHON.search(text)
    if found is None:
        return ()
    if found["number"]:
        return release(found["number"])
    tag = found["tag"] or found["windows"] or found["conda"]
    return int(tag[0]), int(tag[1:])


def here(text: str, package: str) -> Here:
    """What a text tells of the release of a package."""
    numbers = named(text).get(package, ())
    if numbers:
        last = release(_upgraded(text, numbers))
        return Here(last, last, f"{package} {spelled(last)}")
    bounds = _by_names(text, package)
    python = python_in(text)
    if python and package in packages():
        rows = [row for row in packages()[package] if row.pythons[0] and row.pythons[1]]
        of = [row for row in rows if row.pythons[0] <= python <= row.pythons[1]]
        if of:
            bounds = _narrower(
                bounds, Here(of[0].first, of[-1].last, f"its Python is {spelled(python)}")
            )
    return bounds


def _upgraded(text: str, numbers: tuple[str, ...]) -> str:
    """Of several releases, the one that an upgrade led to."""
    led = re.search(r"(?:grade|update)d? [^\n]{0,40}?\bto v?(\d{1,2}\.\d{1,3}(?:\.\d{1,3})?)", text)
    return led[1] if led and led[1] in numbers else numbers[0]


def _by_names(text: str, package: str) -> Here:
    """What the files and modules in a text tell: each is in some releases alone."""
    dotted = {
        re.sub(r"[/\\]+", ".", hit["path"]).removesuffix(".__init__")
        for hit in _PATH.finditer(text)
    }
    dotted |= {
        found["dotted"] for found in re.finditer(r"[Mm]odule '(?P<dotted>[\w.]+)' has", text)
    }
    bounds = NOT_TOLD
    for name in sorted(dotted):
        if re.match(r"tensorflow_core\.", name) and package == "tensorflow":
            bounds = _narrower(bounds, Here((1, 15), (2, 1), "the files lie in tensorflow_core"))
        if "_api.v1" in name and package == "tensorflow":
            bounds = _narrower(bounds, Here((), (1, 15), "its files are those of 1.x"))
        if "_api.v2" in name and package == "tensorflow":
            bounds = _narrower(bounds, Here((2, 0), (), "its files are those of 2.x"))
        for span in filter(None, {span_of(name), span_of(canonical(name))}):
            told = (
                _of_tensorflow(span) if (span.package, package) == ("keras", "tensorflow") else span
            )
            if told.package == package:
                bounds = _narrower(bounds, Here(told.first, told.last, f"it has {name}"))
    return bounds


def _of_tensorflow(span: Span) -> Span:
    """The releases of TensorFlow that go with some of Keras: of one number from 2.6 to 2.15."""
    first = (2, 16) if span.first >= (3,) else span.first if span.first >= (2, 6) else ()
    last = span.last if (2, 6) <= span.last < (2, 16) else ()
    return Span("tensorflow", first, last)


def _narrower(one: Here, other: Here) -> Here:
    """Two bounds at once."""
    low = max(one.low, other.low)
    high = min((each for each in (one.high, other.high) if each), default=())
    changed = (low, high) != (one.low, one.high)
    return Here(low, high, other.how if changed else one.how)


def canonical(name: str) -> str:
    """A name as the table writes it: tf. for what is public of TensorFlow."""
    name = re.sub(r"^tensorflow_core\b", "tensorflow", name)
    name = re.sub(r"^(?:keras\.api\._v[12]\.keras|keras\._tf_keras\.keras)\b", "tf.keras", name)
    name = re.sub(r"^keras\.api\.", "keras.", name)
    return re.sub(
        r"^tensorflow(?:\._api\.v[12])?(?:\.compat\.v2|\.v2)?(?=$|\.(?!python|core\b|compiler|_api))",
        "tf",
        name,
    )
