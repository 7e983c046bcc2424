"""`datasets.load_dataset` of data sets on a hub: their columns and splits are made when asked for.

As with tables: what a script's own function, or a method of the package, does not find is made, and
the call done again.
"""

# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false, reportUnknownLambdaType=false
from __future__ import annotations

import contextlib
import importlib
import os
import re
from collections.abc import Generator
from contextlib import contextmanager
from functools import wraps
from types import FunctionType
from typing import Any, cast

from tpudiag.sources.job.points import hooks, table

from . import batch_sizes
from .column_values import Kind, Use, by_name
from .holes import Hole
from .ledger import RECORDS, Ledger
from .text_files import WORDS

_LOCAL = {"csv", "json", "text", "parquet", "arrow", "pandas", "imagefolder", "generator"}
"""Readers of files, which are no data sets of a hub."""
_BEGIN = "column_0"
_SIDE = 64
"""Of a picture: the package writes each of them as a PNG."""
_SHARE = 0.25
"""Rows of any other split than that to train on, of those."""
_LABELS, _IMAGES = ("label", "labels"), ("image", "img")
_CLASSES = 2
_TURNS = 4
"""How often all words stand in a text: scripts cut them into blocks of a model's length."""
_MOST_TRIES = 32


def install(module: Any, ledger: Ledger) -> None:
    """Let a package that is called `datasets`, if it is that of Hugging Face, read what is away."""
    if not hasattr(module, "load_dataset") or not hasattr(module, "DatasetDict"):
        return
    made = _Made(module)

    def load(original: Any, path: Any, name: Any = None, *args: Any, **kwargs: Any) -> Any:
        if str(path) in _LOCAL or os.path.exists(str(path)):  # noqa: PTH110
            return original(path, name, *args, **kwargs)
        try:
            with offline(module):
                return original(path, name, *args, **kwargs)
        except Exception:
            ledger.note(f"the data set {path}" + (f" ({name})" if name else ""))
            return made.splits(kwargs.get("split"))

    hooks.around(table.DATASETS_LOADED, load, module)
    metrics(module, ledger)


def metrics(module: Any, ledger: Ledger) -> None:
    """Let `evaluate.load`, or `datasets.load_metric`, give a hole for a metric that is away."""

    def load(original: Any, path: Any, *args: Any, **kwargs: Any) -> Any:
        if os.path.exists(str(path)):  # noqa: PTH110
            return original(path, *args, **kwargs)
        try:
            with offline(module):
                return original(path, *args, **kwargs)
        except Exception:
            ledger.note(f"the metric {path}")
            return Hole()

    at = table.METRIC_LOADED if hasattr(module, "EvaluationModule") else table.OLD_METRIC_LOADED
    hooks.around(at, load, module)


@contextmanager
def offline(module: Any) -> Generator[None, None, None]:
    """While the package looks on this machine alone; its names for that have moved."""
    names = ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE", "HF_EVALUATE_OFFLINE")
    with contextlib.ExitStack() as stack:
        for owner in (getattr(module, "config", None), _hub_constants()):
            there = {name: True for name in names if hasattr(owner, name)}
            stack.enter_context(hooks.instead(owner, **there))
        yield


def _hub_constants() -> Any:
    """Settings of the package that fetches."""
    try:
        return importlib.import_module("huggingface_hub.constants")
    except ImportError:
        return None


class _Made:
    """Splits of data sets that are away."""

    def __init__(self, module: Any) -> None:
        self._module = module
        self._class = _open_class(module)
        made = self

        class Splits(module.DatasetDict):  # type: ignore[misc]
            """Has whatever split is asked for."""

            def __missing__(self, name: str) -> Any:
                self[name] = made.split(name)
                return self[name]

        self._splits = Splits

    def splits(self, asked_for: Any) -> Any:
        """All splits, or those that were asked for: `"train[:10%]"`."""
        if asked_for is None:
            return self._splits(
                {each: self.split(each) for each in ("train", "validation", "test")}
            )
        if isinstance(asked_for, (list, tuple)):
            return [self.split(str(each)) for each in cast("list[Any]", asked_for)]
        return self.split(str(asked_for))

    def split(self, name: str) -> Any:
        """The rows of one split."""
        rows = max(RECORDS, batch_sizes.examples())
        if re.split(r"[\[+]", name)[0] != "train":
            rows = max(int(rows * _SHARE), 1)
        return _as(self._class, self._module.Dataset.from_dict({_BEGIN: list(range(rows))}))


def _as(class_: Any, dataset: Any) -> Any:
    """A dataset, as one of this class."""
    dataset.__class__ = class_
    return dataset


def _open_class(module: Any) -> Any:
    """A dataset that has every column."""
    base = module.Dataset

    class Open(base):  # type: ignore[misc,valid-type]
        """Columns are made when they are asked for."""

        def _make(self, name: str) -> None:
            whole = base.from_dict({name: _values(name, len(self))})
            if name in _LABELS:
                names = [f"class_{number}" for number in range(_CLASSES)]
                whole = base.cast_column(whole, name, module.ClassLabel(names=names))
            rest = [each for each in self.column_names if each != _BEGIN]
            parts = [whole, *([base.select_columns(self, rest)] if rest else [])]
            joined = module.concatenate_datasets(parts[::-1], axis=1) if rest else whole
            self.__dict__.update(joined.__dict__)

        @property
        def features(self) -> Any:
            """What the columns hold."""
            dataset = self

            class Features(type(base.features.__get__(self))):  # type: ignore[misc]
                def __missing__(self, name: str) -> Any:
                    dataset._make(name)
                    return base.features.__get__(dataset)[name]

            return Features(base.features.__get__(self))

        def __getitem__(self, key: Any) -> Any:
            if isinstance(key, str) and key not in self.column_names:
                self._make(key)
            found = base.__getitem__(self, key)
            return Row(found, self, key) if isinstance(found, dict) else found

    class Row(dict[str, Any]):
        """A row, or some of them, with whatever column is asked for."""

        def __init__(self, found: dict[str, Any], dataset: Any, key: Any) -> None:
            dict.__init__(self, found)
            self._of = dataset, key

        def __missing__(self, name: str) -> Any:
            dataset, key = self._of
            dataset._make(name)
            self[name] = base.__getitem__(dataset, key)[name]
            return self[name]

    def completed(original: Any) -> Any:
        @wraps(original)
        def call(self: Any, *args: Any, **kwargs: Any) -> Any:
            for _ in range(_MOST_TRIES):
                try:
                    result = original(self, *args, **kwargs)
                except (KeyError, ValueError) as error:
                    missing = list(_missing(error, [*args, *kwargs.values()], self.column_names))
                    for each in missing:
                        self._make(each)
                    if not missing:
                        raise
                else:
                    return _as(Open, result) if type(result) is base else result
            return original(self, *args, **kwargs)

        return call

    for name in dir(base):
        original = getattr(base, name, None)
        if isinstance(original, FunctionType) and name not in vars(Open) and name[0] != "_":
            setattr(Open, name, completed(original))
    return Open


def _missing(error: Exception, given: list[Any], known: list[str]) -> list[str]:
    """The columns that a call did not find."""
    asked = [each for each in error.args[:1] if isinstance(error, KeyError)]
    for each in given:
        asked += each if isinstance(each, (list, tuple)) else [each]
    names = (each for each in asked if isinstance(each, str) and each.isidentifier())
    return [name for name in dict.fromkeys(names) if name not in known]


def _values(name: str, rows: int) -> list[Any]:
    """The values of a column, by what its name tells: the package fixes their type with them."""
    if name in _IMAGES:
        image: Any = importlib.import_module("PIL.Image")
        return [image.new("RGB", (_SIDE, _SIDE))] * rows
    if name in _LABELS:
        return [row % _CLASSES for row in range(rows)]
    if name == "answers":
        return [{"text": [WORDS.split()[0]], "answer_start": [0]}] * rows
    kind = by_name(name)
    if kind is Kind.NUMBER:  # most columns of such data sets are texts
        kind = Kind.WORDS
    if kind is Kind.WORDS:
        return [f"{WORDS} " * _TURNS] * rows
    return Use(kind).values(range(rows), rows)
