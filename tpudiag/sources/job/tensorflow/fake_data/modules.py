"""Modules that only a notebook host has: kaggle_datasets, kaggle_secrets, google.colab."""

from __future__ import annotations

import importlib.abc
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from .ledger import Ledger

HOSTED = (
    "kaggle_datasets",
    "kaggle_secrets",
    "kaggle_web_client",
    "google.colab",
    "google.colab.auth",
    "google.colab.drive",
    "google.colab.files",
    "google.colab.output",
    "google.colab.userdata",
    "google.colab.patches",
)


class KaggleDatasets:
    """Stands in for kaggle_datasets.KaggleDatasets."""

    def get_gcs_path(self, dataset_dir: str | None = None) -> str:
        """A bucket that is not there."""
        return f"gs://kaggle/{dataset_dir or 'dataset'}"


class UserSecretsClient:
    """Stands in for kaggle_secrets.UserSecretsClient."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _empty_text


class HostedModules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds such a module where no other finder did."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        # Last: where the real package is installed it is the one that is imported.
        sys.meta_path.append(self)

    def find_spec(
        self,
        name: str,
        path: Sequence[str] | None,  # noqa: ARG002
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> ModuleSpec | None:
        """A spec for the modules known here."""
        if name == "google":
            return ModuleSpec(name, self, is_package=True)
        if name not in HOSTED:
            return None
        return ModuleSpec(name, self, is_package=name == "google.colab")

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """A module whose every name is a function that does nothing."""
        self._ledger.note(f"the module {spec.name}")
        return _Hosted(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """What a script needs an answer from."""
        if module.__name__ == "kaggle_datasets":
            vars(module)["KaggleDatasets"] = KaggleDatasets
        if module.__name__ == "kaggle_secrets":
            vars(module)["UserSecretsClient"] = UserSecretsClient


class _Hosted(ModuleType):
    """A module of functions that do nothing; its submodules are imported when they are asked."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if f"{self.__name__}.{name}" in HOSTED:
            return importlib.import_module(f"{self.__name__}.{name}")
        return _nothing


def _empty_text(*_: Any, **__: Any) -> str:
    """A secret that nobody told."""
    return ""


def _nothing(*_: Any, **__: Any) -> dict[str, Any]:
    """What a function answers that does nothing."""
    return {}
