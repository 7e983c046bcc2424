"""Modules that only a notebook host has: kaggle_datasets, kaggle_secrets, google.colab."""

import importlib.abc
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType, SimpleNamespace

from tpudiag import missing_modules
from tpudiag.script_run import InterventionKind
from tpudiag.sources.job.points import Kwargs, interventions, main_flow, user_lines

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
        """A module whose every name is a function that does nothing."""
        self._note(f"the module {spec.name}")
        return _Hosted(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """There is nothing to run."""


class _Hosted(ModuleType):
    """A module of functions that do nothing; its submodules are imported when they are asked."""

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        if self.__name__ == COLAB:
            return importlib.import_module(f"{COLAB}.{name}")
        return _ANSWERS.get(self.__name__, _nothing)


def _any_text(*_: object, **__: object) -> str:
    """A secret that nobody told: a text, and the number that some are."""
    interventions.note(InterventionKind.SESSION)
    return "0"


def _nothing(*_: object, **__: object) -> Kwargs:
    """What a function answers that does nothing."""
    interventions.note(InterventionKind.SESSION)
    return {}


class _Secrets:
    """Stands in for kaggle_secrets.UserSecretsClient: whatever is asked of it is a text."""

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        return _any_text


def _gcs_path(dataset_dir: str | None = None) -> str:
    return f"gs://kaggle/{dataset_dir or 'dataset'}"


_ANSWERS: dict[str, object] = {
    "kaggle_datasets": lambda: SimpleNamespace(get_gcs_path=_gcs_path),
    "kaggle_secrets": _Secrets,
    f"{COLAB}.userdata": _any_text,
}
"""What the names of a module are that a script needs an answer from."""
