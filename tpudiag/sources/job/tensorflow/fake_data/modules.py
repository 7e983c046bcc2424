"""Modules that only a notebook host has: kaggle_datasets, kaggle_secrets, google.colab."""

import importlib.abc
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

from tpudiag import missing_modules
from tpudiag.script_run import InterventionKind
from tpudiag.sources.job.points import interventions, main_flow, user_lines

COLAB = "google.colab"
OF_SESSIONS = (COLAB,)
"""Those that sign a session in and show its files: no training data come of them."""


class HostedModules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds such a module where no other finder did."""

    def __init__(
        self, note: Callable[[str], None], known: Sequence[str] = missing_modules.HOSTED
    ) -> None:
        self._note, self._known = note, known
        # Last: where the real package is installed it is the one that is imported.
        sys.meta_path.append(self)

    def find_spec(self, name: str, *_: object) -> ModuleSpec | None:
        """A spec for the modules known here."""
        hosted = missing_modules.hosted(name)
        if name != "google" and hosted not in self._known:
            return None
        # A notebook that can do without Colab has another way to its data; whoever looks for
        # Kaggle's means the machine that has the TPU. No library asks for either.
        of_data = hosted is not None and hosted not in OF_SESSIONS
        asks = user_lines.direct_caller() is not None
        if asks and (of_data or not main_flow.guarded(user_lines.stack()[-1])):
            return ModuleSpec(name, self, is_package=name in ("google", COLAB))
        return None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """A module whose every name is an answer."""
        self._note(f"the module {spec.name}")
        return _Hosted(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """There is nothing to run."""


class _Hosted(ModuleType):
    """A module of answers; its submodules are imported when they are asked."""

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        if self.__name__ == COLAB:
            return importlib.import_module(f"{COLAB}.{name}")
        return getattr(_Answer("0"), name)


class _Answer(str):
    """What a session answers: a text, and the number that some secrets are; so is what it has."""

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __call__(self, *_: object, **__: object) -> object:
        interventions.note(InterventionKind.SESSION)
        return self

    def get_gcs_path(self, dataset_dir: str | None = None) -> str:
        """The bucket in which Kaggle keeps a data set."""
        return f"gs://kaggle/{dataset_dir or 'dataset'}"
