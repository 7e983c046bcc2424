"""Which package to install where the job imports one missing from its environment."""

import re
from pathlib import Path

from tpudiag.missing_modules import is_of_another_release, known_package, own_folder

_MISSING = re.compile(r"ModuleNotFoundError: No module named '([\w.]+)'")
_OF_TENSORFLOW = ("tensorflow", "keras", "tf_keras", "distutils", "tpudiag")
"""Packages whose missing modules were removed, which the catalogue of errors handles."""


def advice(error: str, python: str, script: str = "") -> str | None:
    """How to install the package missing in `error` for that Python; None for another error.

    A module beside the script's folder, or above it, belongs to the repository itself.
    """
    missing = _MISSING.search(error)
    top = missing[1].split(".")[0] if missing else ""
    if not missing or top in _OF_TENSORFLOW:
        return None
    if own_folder(missing[1], python, (Path(script).absolute().parent, Path())):
        return None  # it is found, without that part
    home = _home(top, script)
    if home is not None:
        return (
            f"{top} is a module of the job's own repository, in {home}, where Python does not "
            f"look: PYTHONPATH={home} tpudiag check ..."
        )
    known = known_package(missing[1])
    if known is None and is_of_another_release(missing[1], python):
        return None  # what stands before the first missing part exists: `older_release` tells it
    # What brings a part of a namespace is mostly named like it: orbax.export, orbax-export.
    module = missing[1] if known is None else top
    name = known or re.sub(r"[._]", "-", module)
    return (
        f"{module} is not in the environment of the job. Install it there ({python} -m pip "
        f"install {name}), or name another environment by --python; a module of the job's own "
        "repository is found from its folder, or by PYTHONPATH"
    )


def _home(module: str, script: str) -> Path | None:
    """The folder around the script, or the working directory, that contains a module."""
    if not script:
        return None
    for folder in [Path(), *Path(script).absolute().parents[1:3]]:
        if (folder / f"{module}.py").is_file() or (folder / module / "__init__.py").is_file():
            return folder.absolute()
    return None
