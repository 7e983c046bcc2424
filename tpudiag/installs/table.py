"""What runs where: one row a state of runtime, Python, TensorFlow and libtpu, each with its claims.

A claim says what was seen, by whom, when, and where to read it. What was seen here was seen
without a TPU: an import is no training. A new release is a new row, or a claim of an old one;
`python -m tests.newer_releases` says what the package index has that no row knows. The rows and
what is said of them are data: `table.toml`.
"""

from __future__ import annotations

import tomllib
from enum import StrEnum
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from tpudiag.records import dataclass

if TYPE_CHECKING:
    from tpudiag.signals import Runtime


class Standing(StrEnum):
    """What a claim says of a row."""

    TRAINED = "trained"
    """A TPU was found, and a step ran on it."""
    SHIPPED = "shipped"
    """A vendor's image has it, or a vendor's page offers it."""
    IMPORTED = "imported"
    """It installs and imports; whether it finds a TPU is not known."""
    DOUBTED = "doubted"
    """Somebody's job did not reach the TPU with it; others' may."""
    CONTRADICTED = "contradicted"
    """It finds no TPU."""
    BROKEN = "broken"
    """It does not import."""


@dataclass(frozen=True, kw_only=True)
class Claim:
    """What was seen of a row: by whom, when (the day), and where it stands."""

    standing: Standing
    by: str
    when: str
    source: str
    what: str
    """In words, for the end of a sentence."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One state. A range holds both of its ends; an empty one is not known, or does not matter."""

    name: str
    runtime: Runtime
    packages: tuple[str, ...]
    """The distributions that bring its TensorFlow; none where there is no TensorFlow."""
    tensorflow: tuple[str, str] | None
    python: tuple[str, str]
    claims: tuple[Claim, ...]
    libtpu: tuple[str, str] | None = None
    keras: str = ""
    protobuf: str = ""
    """As the package requires it, or as the image contains it."""
    until: str = ""
    """The day from which on its image is another."""

    @property
    def standing(self) -> Standing:
        """What decides: a claim against it, then the most that was seen."""
        seen = {claim.standing for claim in self.claims}
        return next(each for each in DRIVES if each in seen)

    @property
    def deciding(self) -> Claim:
        """The newest claim that says so; others' before our own, who had no TPU."""
        mine = (claim for claim in self.claims if claim.standing is self.standing)
        return max(mine, key=lambda claim: (claim.by != HERE, claim.when))

    @property
    def seen(self) -> str:
        """The day of its newest claim."""
        return max(claim.when for claim in self.claims)


DRIVES = {
    Standing.BROKEN: False, Standing.CONTRADICTED: False, Standing.TRAINED: True,
    Standing.DOUBTED: None, Standing.SHIPPED: True, Standing.IMPORTED: None,
}  # fmt: skip
"""Whether a TPU is found, None where nobody knows; the first that was seen of a row decides."""
HERE = "tpudiag"


def _row(entry: dict[str, Any]) -> Row:
    claims = tuple(_claim(claim) for claim in entry.pop("claims"))
    ranges = ("packages", "tensorflow", "python", "libtpu")
    fields: dict[str, Any] = {
        name: tuple(entry[name]) if name in entry else None for name in ranges
    }
    return Row(**entry | fields, claims=claims)


def _claim(entry: dict[str, Any]) -> Claim:
    return Claim(**(entry | {"standing": Standing(entry["standing"])}))


_TABLE = tomllib.loads(files("tpudiag.installs").joinpath("table.toml").read_text(encoding="utf-8"))
ROWS = tuple(_row(entry) for entry in _TABLE["row"])
_BY_NAME = {row.name: row for row in ROWS}
STANDS = _BY_NAME[_TABLE["stands"]]
"""What to install: the newest release that no vendor contradicts."""
IMAGES = _BY_NAME[_TABLE["images"]]
"""The images that have a TensorFlow which imports and trains as they come."""
JAX = _claim(_TABLE["jax"])
"""What drives the TPU where no TensorFlow does."""
IMAGE: str = _TABLE["image"]
IMAGE_OF_V6E: str = _TABLE["image_of_v6e"]
FIRST_SCALING_KERAS: tuple[int, ...] = tuple(_TABLE["first_scaling_keras"])
NEWEST_SEEN: dict[str, str] = _TABLE["newest_seen"]
"""What the package index had last when the rows were looked at."""
