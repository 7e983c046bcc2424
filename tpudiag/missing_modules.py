"""A module that a job could not import: its whole name, and whether any package has it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # `explain` starts without it
    from tpudiag.signals import JobEnd

HOSTED = ("google.colab", "kaggle_datasets", "kaggle_secrets", "kaggle_web_client")
"""Modules of the machines of Colab and Kaggle: no package brings them elsewhere."""
NAMESPACES = ("google", "azure", "jaraco", "zope")
"""What many packages share: one of them may be there without the others."""
_INSTALLED_AS = {
    "cv2": "opencv-python-headless",
    "gin": "gin-config",
    "PIL": "pillow",
    "sklearn": "scikit-learn",
    "skimage": "scikit-image",
    "yaml": "pyyaml",
    "bs4": "beautifulsoup4",
    "official": "tf-models-official",
    "tensorflow_models": "tf-models-official",
    "absl": "absl-py",
    "dateutil": "python-dateutil",
    "attr": "attrs",
    "google.cloud.storage": "google-cloud-storage",
    "google.cloud.aiplatform": "google-cloud-aiplatform",
    "iterstrat": "iterative-stratification",
    "kerastuner": "keras-tuner",
    "imblearn": "imbalanced-learn",
    "git": "gitpython",
    "dotenv": "python-dotenv",
    "umap": "umap-learn",
    "Levenshtein": "levenshtein",
    "pkg_resources": "'setuptools<81'",
    "tensorflow_decision_forests": "tensorflow-decision-forests",
}
"""Module -> the name of its package, where that differs."""
_MISSING = re.compile(r"No module named '([\w.]+)'")
_IMPORT = re.compile(r"^\s*(?:from|import)\s+([\w.]+)")


def missing(end: JobEnd) -> str | None:
    """The module that an exception says is not there, as the import has it; None of another.

    Python names the first part that it does not find: of `google.colab` it may be `google`.
    """
    found = _MISSING.search(end.error or "")
    if found is None:
        return None
    frames = end.crash.frames if end.crash is not None else ()
    line = _IMPORT.match(frames[-1].text) if frames else None
    imported = line[1] if line is not None else ""
    return imported if imported.startswith(f"{found[1]}.") else found[1]


def known_package(module: str) -> str | None:
    """What brings a module, where its package has another name; None where it may have its own."""
    # The whole path first: `google` alone is a namespace of many packages.
    return _INSTALLED_AS.get(module) or _INSTALLED_AS.get(module.partition(".")[0])


def hosted(module: str) -> str | None:
    """The module of Colab's or Kaggle's own that it is, or is a part of; None of another."""
    return next((own for own in HOSTED if f"{module}.".startswith(f"{own}.")), None)


def is_of_another_release(named: str, python: str | None) -> bool:
    """Whether the package of a module that Python names is there, without that part of it.

    A namespace is no package: another one, which is not installed, brings that part of it.
    """
    top, dot, _ = named.partition(".")
    places = [at / top for at in packages_of(python)]
    namespace = any(at.is_dir() and not any(at.glob("__init__.*")) for at in places)
    return bool(dot) and top not in NAMESPACES and not namespace


def own_folder(named: str, python: str | None, folders: Iterable[Path]) -> Path | None:
    """The job's own module that has not the part which is missing, below one of these folders.

    None where the environment has a package of that name, which Python may have found.
    """
    top, dot, _ = named.partition(".")
    if not dot or any((at / name).exists() for at in packages_of(python) for name in _forms(top)):
        return None
    found = (folder / name for folder in folders for name in _forms(top))
    return next((each for each in found if each.exists()), None)


def _forms(top: str) -> tuple[str, str]:
    return top, f"{top}.py"


def packages_of(python: str | None) -> list[Path]:
    """Where this Python's environment has its packages."""
    return [*Path(python).parent.parent.glob("lib/python3*/*-packages")] if python else []
