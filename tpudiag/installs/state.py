"""Where an environment stands in the table, and what gets TensorFlow to the TPU from there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from typing import TYPE_CHECKING

from tpudiag.installs import words
from tpudiag.installs.table import DRIVES, ROWS, STANDS, Row
from tpudiag.records import dataclass

if TYPE_CHECKING:
    from tpudiag.signals import Environment

OLD_DAYS = 183
"""A row older than this is reported as old."""
_BEATS = ("tensorflow-tpu", "tensorflow", "tensorflow-cpu", "tensorflow-gpu", "tf-nightly")


@dataclass(frozen=True, kw_only=True)
class Clash:
    """A package that TensorFlow does not go with: its version, and what goes."""

    package: str
    version: str
    wanted: str


@dataclass(frozen=True, kw_only=True)
class State:
    """What an environment is to a TPU."""

    name: str
    """What is installed, in words."""
    row: Row | None
    drives: bool | None
    """Whether its TensorFlow finds a TPU; None where nobody is known to have tried."""
    because: str
    """Who saw that, and when."""
    ways: tuple[words.Way, ...]
    """What gets to the TPU, the shortest first."""
    clashes: tuple[Clash, ...] = ()

    def __str__(self) -> str:
        finds = {True: "finds the TPU", False: "finds no TPU", None: "is not known to find a TPU"}
        return f"{self.name} {finds[self.drives]}: {self.because}"


def state_of(environment: Environment, today: date | None = None) -> State:
    """The state of an environment."""
    owner = owner_of(environment)
    version = environment.distributions.get(owner, "")
    clashes = tuple(_clashes(owner, version, environment))
    row = _row(owner, version, environment)
    drives = None if row is None else DRIVES[row.standing]
    if clashes and drives is not False:
        drives = None
        because = "; ".join(f"it asks for {c.package} {c.wanted}" for c in clashes)
    elif row is None:
        because = "nothing of it is in the table"
    else:
        because = words.claimed(row.deciding) + _age(row, today)
    return State(
        name=_name(owner, version, environment),
        row=row,
        drives=drives,
        because=because,
        ways=tuple(_ways(owner, row, drives, clashes, environment)),
        clashes=clashes,
    )


def note(environment: Environment) -> str:
    """An environment's state and the shortest way to the TPU from it, for a report."""
    state = state_of(environment)
    if not state.ways:
        return f"{state}."
    return f"{state}. To the TPU: {'; '.join(state.ways[0].commands)}"


def none_installed(environment: Environment) -> str:
    """What to say where there is no TensorFlow at all beside what drives a TPU; else nothing."""
    state = state_of(environment)
    if owner_of(environment) or state.row is None:
        return ""
    return f"{state}. To train on the TPU: {' | '.join(way.commands[0] for way in state.ways)}"


def owner_of(environment: Environment) -> str:
    """The distribution that brings TensorFlow; that for TPUs where there are several."""
    return next((name for name in _BEATS if name in environment.distributions), "")


def goes_with(tensorflow_tpu: str) -> tuple[str, str] | None:
    """The first and last libtpu that a release of tensorflow-tpu imports with; None: not known."""
    own = (row for row in ROWS if row.runtime == "own" and "tensorflow-tpu" in row.packages)
    return next((row.libtpu for row in own if _within(tensorflow_tpu, row.tensorflow)), None)


def _row(owner: str, version: str, environment: Environment) -> Row | None:
    """The row that an environment is in: one of its runtime before one of any machine."""
    fitting = [row for row in ROWS if _fits(row, owner, version, environment)]
    return next((row for row in fitting if row.runtime != "own"), next(iter(fitting), None))


def _fits(row: Row, owner: str, version: str, environment: Environment) -> bool:
    if row.runtime not in {"own", environment.runtime}:
        return False
    if row.runtime != "own" and not _within(environment.python, row.python):
        return False
    libtpu = environment.distributions.get("libtpu")
    if not owner:
        return not row.packages and libtpu is not None
    if owner not in row.packages or not _within(version, row.tensorflow):
        return False
    # The CPU builds need none; of an image it stands in a file that is no distribution.
    return row.libtpu is None or libtpu is None or _within(libtpu, row.libtpu)


def _clashes(owner: str, version: str, environment: Environment) -> Iterator[Clash]:
    """What does not go with the TensorFlow for TPUs that is there."""
    if owner != "tensorflow-tpu":
        return
    libtpu, fitting = environment.distributions.get("libtpu"), goes_with(version)
    if libtpu and fitting and not _within(libtpu, fitting) and _number(libtpu):
        wanted = f"=={fitting[0]}" if fitting[0] == fitting[1] else f">={fitting[0]},<={fitting[1]}"
        yield Clash(package="libtpu", version=libtpu, wanted=wanted)
    protobuf = environment.distributions.get("protobuf")
    if protobuf and _within(version, STANDS.tensorflow):
        before = re.search(r"<(\d+)", STANDS.protobuf)
        if before and _number(protobuf)[:1] >= (int(before[1]),):
            yield Clash(package="protobuf", version=protobuf, wanted=STANDS.protobuf)


def _ways(
    owner: str,
    row: Row | None,
    drives: bool | None,
    clashes: tuple[Clash, ...],
    environment: Environment,
) -> Iterator[words.Way]:
    """What to do, the shortest first: nothing where an image has it already."""
    if drives:
        if row is STANDS:
            yield words.VARIABLES
        return
    notebook = environment.runtime in {"kaggle", "colab"}
    if clashes and _within(environment.distributions.get(owner, ""), STANDS.tensorflow):
        yield words.repaired(" ".join(f'"{c.package}{c.wanted}"' for c in clashes))
    elif not notebook and _within(environment.python, STANDS.python):
        yield words.in_place([name for name in _BEATS if name in environment.distributions])
    else:
        yield words.OWN_ENVIRONMENT
        yield from (words.JAX_THERE,) if notebook else (words.IMAGE, words.JAX)


def _name(owner: str, version: str, environment: Environment) -> str:
    places = {"kaggle": "Kaggle, ", "colab": "Colab, ", "tpu-vm": "a TPU VM's image, ", "own": ""}
    libtpu = environment.distributions.get("libtpu")
    python = ".".join(environment.python.split(".")[:2])
    tensorflow = f"{owner} {version}" if owner else "no TensorFlow"
    beside = f" with libtpu {libtpu}" if libtpu and owner != "tensorflow-cpu" else ""
    return f"{places[environment.runtime]}Python {python}: {tensorflow}{beside}"


def _age(row: Row, today: date | None) -> str:
    """That a row is old, where it is."""
    days = ((today or date.today()) - date.fromisoformat(row.seen)).days
    return f" (last looked at {row.seen}: it may have changed)" if days > OLD_DAYS else ""


def _within(version: str, releases: tuple[str, str] | None) -> bool:
    """Whether a version lies in a range, both ends of it included, as far as they say."""
    if releases is None or not _number(version):
        return False
    first, last = map(_number, releases)
    return first <= _number(version) and _number(version)[: len(last)] <= last


def _number(version: str) -> tuple[int, ...]:
    """A version to compare by: its numbers, without what marks a candidate or a build."""
    plain = re.match(r"\d+(?:\.\d+)*", version)
    return tuple(int(part) for part in plain[0].split(".")) if plain else ()
