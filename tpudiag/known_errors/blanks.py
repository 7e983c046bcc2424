"""The names in a text (TPU, zone, project, bucket, script) put where a fix leaves them blank."""

import re
from collections.abc import Mapping
from functools import partial

from tpudiag import missing_modules

from .compiled import names as tables
from .compiled import wording

_CUES = {
    "ZONE": ("-",),
    "PROJECT": ("--project", "projects/"),
    "NAME": ("tpu",),
    "BUCKET": ("gs://",),
    "ADDRESS": ("grpc://", "ipv4:"),
}
"""Words without which a text holds no such name: most hold none, and are not searched."""
_PLACES = ("ZONE", "PROJECT", "NAME", "BUCKET", "ADDRESS", "tensorflow", "SCRIPT")
_PACKAGES = {"TensorFlow": "tensorflow", "JAX": "jax", "PyTorch/XLA": "torch-xla"}
_TENSORFLOW = re.compile(r"\b(?:tf|keras)\.\w|pip install[^#\n]*tensorflow|import tensorflow")


def names_in(text: str, installed: Mapping[str, str] | None = None) -> dict[str, str]:
    """By its blank: what a text names once only, so that it is sure to be meant."""
    names: dict[str, str] = {}
    for blank, cues in _CUES.items():
        hits = wording(f"blanks {blank}").finditer(text) if any(cue in text for cue in cues) else ()
        named = {name for hit in hits for name in hit.groups() if name}
        if blank in ("NAME", "BUCKET"):
            named = {each for each in named if not wording(f"no_names {blank}").fullmatch(each)}
        if len(named) == 1:
            names[blank] = named.pop()
    if found := re.search(r"No module named '([\w.]+)'", text):
        own = found[1].partition(".")[0].replace("_", "-")
        names["package"] = missing_modules.known_package(found[1]) or own
    # How the framework of a text, or of its environment, is called and installed.
    spoken = [name for name in _PACKAGES if wording(f"frameworks {name}").search(text)]
    spoken = spoken or [name for name, package in _PACKAGES.items() if package in (installed or {})]
    if len(spoken) != 1 or spoken[0] not in tables()["installed"]:
        return names
    return names | {"framework": spoken[0], "tpu_install": tables()["installed"][spoken[0]]}


def filled(fix: str, names: Mapping[str, str]) -> str:
    """A fix with the names in its blanks, in the words of the framework of the text.

    Where a TPU is made, zone and name are left open.
    """
    rows = fix.split("\n")
    if spelled := tables().get(names.get("framework", "")):
        rows = _spelled(rows, spelled)
    for blank in (each for each in _PLACES if each in names):
        made = blank in ("ZONE", "NAME") and wording("blanks makes")
        put = partial(wording(f"places {blank}").sub, names[blank].replace("\\", r"\\"))
        rows = [row if made and made.search(row) else put(row) for row in rows]
    return "\n".join(rows)


def _spelled(rows: list[str], spelled: Mapping[str, str]) -> list[str]:
    """Rows in the words of another framework than TensorFlow; what stays TensorFlow's goes."""
    kept: list[str] = []
    gone = False
    for row in rows:
        own = row
        for form, place in spelled.items():
            own = re.sub(form, place, own)
        gone = bool(_TENSORFLOW.search(own.split("   #")[0])) or (gone and own.startswith(" "))
        kept += () if gone else (own,)
    return kept or rows
