# ruff: noqa: E501  (what is pasted stays in one piece)
"""Why pip has no such release: the Pythons and machines that a package's wheels are for."""

from __future__ import annotations

import re

from .meaning import Reading

_PYTHONS: dict[str, tuple[tuple[tuple[int, int], int, int], ...]] = {
    "tensorflow": (
        ((1, 12), 4, 6),
        ((1, 15), 5, 7),
        ((2, 1), 5, 7),
        ((2, 3), 5, 8),
        ((2, 4), 6, 8),
        ((2, 6), 6, 9),
        ((2, 7), 7, 9),
        ((2, 11), 7, 10),
        ((2, 13), 8, 11),
        ((2, 15), 9, 11),
        ((2, 19), 9, 12),
        ((2, 20), 9, 13),
    ),
}
"""Up to a release: the first and the last Python 3 that it has wheels for."""
_WHEELS = {
    "tensorflow-cpu": "tensorflow",
    "tensorflow-gpu": "tensorflow",
    "tf-nightly": "tensorflow",
}
_LINUX_ONLY = ("tensorflow-tpu", "libtpu", "libtpu-nightly", "tensorflow-text", "tensorflow-io")
_ENDED = {
    "tensorflow-gpu": (
        'pip install "tensorflow[and-cuda]"',
        "ended with 2.12: GPUs are part of tensorflow",
    ),
    "tensorflow-addons": (
        'pip install "tensorflow==2.15.*" "keras==2.15.*" tensorflow-addons',
        "ended with TensorFlow 2.15",
    ),
    "libtpu-nightly": ("pip install -U 'jax[tpu]'", "ended in 2025: libtpu is its name now"),
    "tf-models-nightly": ("pip install tf-models-official", "is built no more"),
    "keras-nightly": ("pip install -U keras", "is built for few days only"),
}
_WANTED = re.compile(
    r"(?:satisfiestherequirement|distributionfoundfor)(?P<package>[A-Za-z][\w.-]{1,40}?)(?:\[[\w,-]{1,40}\])?"
    r"(?:(?P<how>==|~=|>=|<=|<|>)(?P<release>\d{1,3}(?:\.\d{1,3}){0,3}))"
)
_NAMED = re.compile(r"satisfiestherequirement(?P<package>[A-Za-z][\w.-]{1,40}?)(?=[=<>~!\[(])")
_APPLE = re.compile(
    r"macos|darwin|AppleM\d|MacBook|\bM[1-4](?:Pro|Max)?\b|osx|arm64", re.IGNORECASE
)
_NONE = re.compile(r"\(fromversions:none\)")
_LISTED = re.compile(r"\(fromversions:(?P<all>[\w.,+-]{1,600})")
_FIRST = re.compile(r"\(fromversions:(?P<first>\d{1,3}(?:\.\d{1,3}){1,3})\w*")


def read(values: dict[str, str], text: str) -> Reading | None:
    """Why there is no such release here."""
    wanted = _WANTED.search(text) or _NAMED.search(text)
    package = (wanted["package"] if wanted else values.get("package", "")).lower().replace("_", "-")
    if ended := _ENDED.get(package):
        return Reading(f"{package} {ended[1]}.", f"{ended[0]}      # in place of {package}")
    release = wanted.groupdict().get("release", "") if wanted else ""
    if package.startswith("tensorflow") and _NONE.search(text) and _APPLE.search(text):
        return Reading(
            f"There is no {package} for a Mac with Apple's processor (for this Python).",
            'pip install "tensorflow>=2.13"      # one package for Macs too from 2.13 on, Python 3.8 to 3.12; before it: tensorflow-macos\n'
            "python -c 'import platform; print(platform.machine())'      # arm64? a Python for x86_64 finds other wheels",
        )
    if package in _LINUX_ONLY and _NONE.search(text):
        return Reading(
            f"{package} has wheels for Linux on x86-64 and few Pythons only, and this is another machine or Python.",
            f"python --version; uname -sm      # Linux x86_64?\nuv venv --python 3.11; uv pip install {package}",
        )
    if gone := _gone(package, release, text):
        return gone
    if pythons := _pythons(_WHEELS.get(package, package), release):
        first, last = pythons
        series = ".".join(release.split(".")[:2])
        return Reading(
            f"{package} {release} has wheels for Python 3.{first} to 3.{last} only.",
            f'uv venv --python 3.{last}; uv pip install "{package}=={series}.*"      # a Python that the release is for\n'
            f"pip install -U {package}                                         # or the code brought to a release for this Python",
        )
    oldest = _FIRST.search(text)
    if release and oldest and _number(release) < _number(oldest["first"]):
        return Reading(
            f"{package} {release} is older than what there is for this Python: {oldest['first']} is the first.",
            f'pip install "{package}>={oldest["first"]}"      # or an older Python: uv venv --python 3.9',
        )
    return None


def _gone(package: str, release: str, text: str) -> Reading | None:
    """A release that is no more, where others of the same series are there for this Python."""
    listed = _LISTED.search(text)
    series = ".".join(release.split(".")[:2])
    if listed is None or not series:
        return None
    there = [each for each in listed["all"].split(",") if each.startswith(f"{series}.")]
    if not there:
        return None
    nightly = "nightly" in package or ".dev" in there[0]
    why = (
        "nightly builds are deleted after a while" if nightly else "it was never built or withdrawn"
    )
    stable = package.replace("tf-nightly", "tensorflow")
    return Reading(
        f"This Python is not the reason: there are releases {there[0]} to {there[-1]} of {package} for it, but not the one that is asked for ({why}).",
        f'pip install "{package}=={there[-1]}"      # one of those that are listed\n'
        f'pip install "{stable}=={series}.*"      # or the finished release of that series; a package that pins the old one: pip install --no-deps PACKAGE',
    )


def _pythons(package: str, release: str) -> tuple[int, int] | None:
    """The first and last minor Python 3 of a release, where they are known."""
    if not release or "." not in release:
        return None
    number = _number(release)[:2]
    for upto, first, last in _PYTHONS.get(package, ()):
        if number <= upto:
            return first, last
    return None


def _number(release: str) -> tuple[int, ...]:
    """A release to compare by."""
    return tuple(int(part) for part in release.split("."))
