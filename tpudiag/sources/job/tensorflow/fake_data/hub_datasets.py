"""Data sets and metrics of Hugging Face's hub: one that cannot be fetched is a hole."""

import contextlib
import importlib
import os
from collections.abc import Generator
from contextlib import contextmanager

from tpudiag.sources.job.points import Call, hooks, table

from .holes import Hole
from .ledger import Ledger

_LOCAL = {"csv", "json", "text", "parquet", "arrow", "pandas", "imagefolder", "generator"}
"""Readers of files, which are no data sets of a hub."""


def install(module: object, ledger: Ledger) -> None:
    """Let `datasets`, if it is that of Hugging Face, or `evaluate` go on without what is away."""
    of_data = hasattr(module, "load_dataset") and hasattr(module, "DatasetDict")
    if not of_data and not hasattr(module, "EvaluationModule"):
        return

    def load(original: Call, path: object, *args: object, **kwargs: object) -> object:
        if str(path) in _LOCAL or os.path.exists(str(path)):  # noqa: PTH110
            return original(path, *args, **kwargs)
        try:
            with _offline(module):
                return original(path, *args, **kwargs)
        except Exception:
            ledger.note(f"{path}, of a hub")
            return Hole()

    points = (table.DATASETS_LOADED, table.OLD_METRIC_LOADED) if of_data else (table.METRIC_LOADED,)
    for at in points:
        hooks.around(at, load, module)


@contextmanager
def _offline(module: object) -> Generator[None, None, None]:
    """While the package looks on this machine alone; its names for that have moved."""
    names = ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE", "HF_EVALUATE_OFFLINE")
    constants: object = None
    with contextlib.suppress(ImportError):
        constants = importlib.import_module("huggingface_hub.constants")
    with contextlib.ExitStack() as stack:
        for owner in (getattr(module, "config", None), constants):
            there = {name: True for name in names if hasattr(owner, name)}
            stack.enter_context(hooks.instead(owner, **there))
        yield
