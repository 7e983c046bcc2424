"""What an error itself says of its cause: what its names, shapes and arguments mean."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Protocol

from . import asker, narrower
from .meaning import Reading


class Named(Protocol):
    """A known error, as far as its readings need it."""

    @property
    def id(self) -> str:
        """Its id."""
        ...

    @property
    def narrower(self) -> tuple[narrower.Said, ...]:
        """The cases within it."""
        ...

    @property
    def family(self) -> str:
        """What it has in common with others."""
        ...


NAMES = (
    *("hasnoattribute", "cannotimport", "Nomodule", "keywordargument"),
    *("notrecognized", "notunderstood"),
)
OBJECTS = ("objecthasnoattribute", "objectisnot", "objectcannot", "operandtype")
SHAPES = ("hape", "size", "samples", "butgot", "ndim", "axis", "In[0]", "Input0")
SERVICES = (
    "ssh",
    "port22",
    "ermission",
    "denied",
    "scopes",
    "API",
    "itioned",
    "visible",
    "hadsize",
)
"""Words of which one is in each error that a module here can read."""
STEP_FAMILIES = ("constant-shape", "unsupported-op", "dynamic-dimension", "type-not-on-tpu")
"""Families of errors that name an operation of the step, or a type in it."""
PATH_FAMILIES = ("file-missing", "local-files", "no-files")
"""Families of errors that name a path."""
ARGUMENT_FAMILIES = ("argument-refused", "keras-argument", "data-adapter", "wrong-type")
"""Families of errors that name an argument."""
PAIR_FAMILIES = ("version-requirement", "conflicting-packages")
"""Families of errors that name two packages of which one wants another release of the other."""
SURROUNDED_FAMILIES = (
    *("replica-context", "none-object", "checkpoint-mismatch", "somewhere-in-a-checkpoint"),
    *("parse-spec", "assertion", "unknown-shape", "static-shape-wanted", "static-shapes-wanted"),
    *("ragged-or-sparse", "none-value", "outside-scope", "generator-output"),
    *("python-control-flow", "layer-arguments", "keras-argument"),
    *("conflicting-packages", "no-such-release", "autograph-source", "nested-function"),
    *("recursion", "variables-in-function", "dataset-misused", "tensor-as-key"),
    *("legacy-optimizers", "symbolic-tensor", "moved-modules", "removed-name", "other-release"),
    *("wrong-object", "wrong-type"),
)
"""Families of errors whose cause the code or traceback around them may decide."""
GPU_FAMILIES = ("gpu-memory", "gpu-libraries")
"""Families of errors whose shapes tell nothing: a library of the GPU failed."""
TOLD_FAMILIES = frozenset(
    (
        *("uneven-replica-batches", "custom-loss", "gradients-without-variables"),
        *("no-variables-to-train", "metric-arguments", "weights-under-strategy"),
        *("optimizer-of-tf1", "estimator-pair", "callback-data"),
        *("mixed-installation", "other-tf1-release", "library-pair"),
    )
)
"""Families of errors that tell all of it themselves: their shapes and objects mean nothing else."""
FORM = 3
"""The kind of an error of which only the form is known."""
BEFORE, BEHIND = 200, 700
"""Bytes around a match in which what it names may stand."""
WIDE = 6000
"""Bytes before a match in which its traceback stands."""
TRACED = 1500
"""Bytes before a match in which the last frames that lead to it stand."""


def reading(
    bare: bytes, hit: re.Match[bytes], error: Named, values: dict[str, str], *, kind: int
) -> Reading | None:
    """What a match says itself, in a text without white space; None where that tells nothing.

    `values`: what the named groups of the match hold. `kind`: how much the error tells of its
    cause, from 0 (it names it) to 3 (only its form is known: its operation is read as well).
    """
    family = error.family
    if (kind or family in SURROUNDED_FAMILIES) and (told := _surroundings(bare, hit, family, kind)):
        return told
    if family in GPU_FAMILIES or family in TOLD_FAMILIES:
        return None
    first = max(0, hit.start() - BEFORE)
    around = bare[first : hit.end() + BEHIND].decode(errors="replace")
    begin, end = hit.start() - first, hit.end() - first
    traced = bare[max(0, hit.start() - WIDE) : hit.start()].decode(errors="replace")
    if worded := narrower.read(error.narrower, around, traced + around[begin:]):
        return worded
    if family in asker.FAMILIES and (told := asker.read(traced, around)):
        return told
    if (read_family := _of_family(family)) and (meant := read_family(family, values, around)):
        return meant
    for read in _readers(around, traced[-TRACED:]):
        if meant := read(around, begin, end):
            return meant
    if kind < FORM:
        return None
    from . import operations

    return operations.read(around, begin)


def _surroundings(bare: bytes, hit: re.Match[bytes], family: str, kind: int) -> Reading | None:
    """What the traceback and the code around a match decide."""
    from . import surroundings

    around = bare[max(0, hit.start() - surroundings.REACH) : hit.end() + BEHIND]
    return surroundings.read(family, around.decode(errors="replace"), broad=kind > 0)


def _of_family(
    family: str,
) -> Callable[[str, dict[str, str], str], Reading | None] | None:
    """Who reads what the errors of a family name: loaded for them alone, for speed."""
    if family in STEP_FAMILIES:
        from . import step_operations

        return step_operations.read
    if family in PATH_FAMILIES:
        from . import paths

        return paths.read
    if family in ARGUMENT_FAMILIES:
        from . import refused_arguments

        return refused_arguments.read
    if family == "checkpoint-mismatch":
        from . import checkpoint_shapes

        return checkpoint_shapes.read
    if family == "host-memory":
        from . import allocations

        return allocations.read
    if family == "hbm-at-compile-time":
        from . import hbm_usage

        return hbm_usage.read
    if family == "hbm-for-the-program":
        from . import hbm_usage

        return hbm_usage.read_reserved
    if family in PAIR_FAMILIES:
        from . import package_pairs

        return package_pairs.read
    if family == "no-such-release":
        from . import wheels

        return wheels.read
    return None


def _readers(text: str, before: str) -> Iterator[Callable[[str, int, int], Reading | None]]:
    """Who may read a text: each is loaded only where one of its words is in it, for speed."""
    if any(word in text for word in NAMES):
        from . import names

        yield names.read
    if any(word in text for word in SHAPES):
        from . import shapes

        yield partial(shapes.read, before=before)
    if any(word in text for word in OBJECTS):
        from . import objects

        yield objects.read
    if "required" in text or "positional" in text:
        from . import calls

        yield calls.read
    if any(word in text for word in SERVICES):
        from . import services

        yield services.read
    if "notfoundincheckpoint" in text:
        from . import checkpoint_keys

        yield checkpoint_keys.read
