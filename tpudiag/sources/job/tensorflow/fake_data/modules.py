"""Modules that only a notebook host has: kaggle_datasets, kaggle_secrets, google.colab, IPython."""

from __future__ import annotations

import importlib.abc
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from .holes import Hole
from .ledger import Ledger

HOSTED = ("kaggle_datasets", "kaggle_secrets", "kaggle_web_client", "google.colab", "IPython")


class KaggleDatasets:
    """Stands in for kaggle_datasets.KaggleDatasets: scripts join paths to what it answers."""

    def get_gcs_path(self, dataset_dir: str | None = None) -> str:
        """A bucket that is not there."""
        return f"gs://kaggle/{dataset_dir or 'dataset'}"


class HostedModules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds such a module, and whatever is below it, where no other finder did."""

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
        known = name == "google" or any(f"{name}.".startswith(f"{each}.") for each in HOSTED)
        return ModuleSpec(name, self, is_package=True) if known else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """A module whose every name is a hole."""
        if spec.name in HOSTED:
            self._ledger.note(f"the module {spec.name}")
        return _Hosted(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """What a script needs an answer from."""
        if module.__name__ == "kaggle_datasets":
            vars(module)["KaggleDatasets"] = KaggleDatasets


class _Hosted(ModuleType):
    """A module of holes."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Hole()
