"""Names that a release of a package took away, moved or brought: what is written in their place."""

import re
from functools import cache
from pathlib import Path

from tpudiag.known_errors.compiled import names

from .meaning import CALLED, Reading

_SPELLED = (
    (r"^tensorflow_estimator\.python\.estimator\.api\._v[12]\.estimator\b", "tf.estimator"),
    (r"^(?:tf|tensorflow\.python|tf_keras\.api\._v[12])\.keras\b", "keras"),
    (r"^keras\.src\.(?=layers|utils|engine|backend|optimizers|saving|preprocessing)", "keras."),
    (r"^jax\._src\.(?=numpy|core|tree_util|lax\b)", "jax."),
)
"""How users write a module, by how the table of releases does."""
_PUBLIC = {f"keras.{part}" for part in ("utils", "optimizers", "layers", "models", "callbacks")}


def place_of(full: str) -> str:
    """What is written in place of a name that is gone; empty where that is not known."""
    return _places().get(_known_as(full), "")


def of_name(full: str) -> Reading | None:
    """What is known of a name of a module, or of a module."""
    if gone := _known_as(full):
        place, first = _places()[gone], gone.partition(".")[0]
        package = CALLED.get(first, first)
        said = f"`{gone}` is not in this release of {package}: moved, renamed or removed."
        return Reading(said, f"{place}      # in place of {gone}" if "#" not in place else place)
    module, _, name = _spelled(full).rpartition(".")
    if module not in _PUBLIC:
        return None
    return Reading(
        f"`{name}` is not in the `{module}` that is imported here: Keras is of another release"
        " than this code, or two Keras lie over each other.",
        f"from tensorflow.{module} import {name}      # TensorFlow's own Keras",
    )


def of_attribute(kind: str, name: str, spoken: str) -> Reading | None:
    """What is known of an attribute that objects of a class had in another release.

    Any program may have a class that is called much like one: then `spoken` names a library.
    """
    alike = re.search(r"keras|tensorflow|\btf\.|jax|transformers|protobuf", spoken) is not None
    place = _placed("attributes", name, {kind.lower()}, alike=alike)
    said = f"`{kind}` has no `{name}` in this release: moved, renamed or removed."
    return Reading(said, place) if place else None


def _placed(table: str, name: str, owners: set[str], *, alike: bool = True) -> str:
    """What a table says of a name of one of its owners; `alike`: or of what is called much so."""
    fitting = re.search if alike else re.fullmatch
    for key, place in names()[table].items():
        of, _, each = key.rpartition(" ")
        fits = any(not owner or fitting(of, owner) for owner in owners) if of else alike
        if each == name and fits:
            return place
    return ""


def of_argument(function: str, name: str) -> Reading | None:
    """What is known of an argument that a function, if it is named, does not take."""
    lower = function.lower()  # with its class, and without
    place = _placed("arguments", name, {lower, lower.rsplit(".", 1)[-1]})
    younger = place.startswith("pip install")
    age = ": it came with a later one, so the library is too old for the code" if younger else ""
    who = f"`{function}`" if function else "It"
    said = f"{who} takes no argument `{name}` in this release{age}."
    return Reading(said, place) if place else None


def _known_as(full: str) -> str:
    """Of a name and the modules around it the first that is known to be gone; empty for none."""
    parts = (full := _spelled(full)).split(".")
    around = (".".join(parts[:end]) for end in range(len(parts) - 1, 1, -1))
    of_keras = [f"tf.{full}"] if full.startswith("keras.") else []
    return next((each for each in (full, *of_keras, *around) if each in _places()), "")


def _spelled(name: str) -> str:
    """A module's name as users write it."""
    for pattern, plain in _SPELLED:
        name = re.sub(pattern, plain, name)
    return name


@cache
def _places() -> dict[str, str]:
    """By the full name of what is gone: what is written in its place."""
    # TensorFlow's own table of what its second release renamed (tests/tensorflow_renames.py).
    rows = Path(__file__).with_name("renames.txt").read_text(encoding="utf-8").splitlines()
    pairs = (row.split(" ", 1) for row in rows if not row.startswith("#"))
    # The whole of tf.distributions left for another package.
    places = {old: new for old, new in pairs if not old.startswith("tf.distributions.")}
    for modules, gone in names()["moved"].items():
        old_module, _, new_module = modules.partition(" ")
        for entry in gone.split():
            old, _, new = entry.partition("=")
            places[f"{old_module}.{old}"] = f"{new_module}.{new or old}"
    return places | names()["replaced"]
