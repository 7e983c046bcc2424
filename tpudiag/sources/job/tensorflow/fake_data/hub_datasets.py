"""`datasets.load_dataset` of data sets on a hub: rows of the columns that they have there."""

from __future__ import annotations

import contextlib
import importlib
import os
import re
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import Any, cast

from tpudiag.sources.job.tensorflow.points import hooks, table

from . import batch_sizes
from .ledger import RECORDS, Ledger
from .program_text import sources
from .table_columns import Column, asked
from .tables import values
from .text_files import WORDS

_LOCAL = {"csv", "json", "text", "parquet", "arrow", "pandas", "imagefolder", "generator"}
"""Readers of files, which are no data sets of a hub."""
_SENTENCE, _PAIR = ("sentence", "label", "idx"), ("sentence1", "sentence2", "label", "idx")
_CONFIGURED = {
    "cola": _SENTENCE,
    "sst2": _SENTENCE,
    "mrpc": _PAIR,
    "stsb": _PAIR,
    "rte": _PAIR,
    "wnli": _PAIR,
    "qqp": ("question1", "question2", "label", "idx"),
    "qnli": ("question", "sentence", "label", "idx"),
    "mnli": ("premise", "hypothesis", "label", "idx"),
}
_COLUMNS = {
    "wikitext": ("text",),
    "squad": ("id", "title", "context", "question", "answers"),
    "imdb": ("text", "label"),
    "ag_news": ("text", "label"),
    "rotten_tomatoes": ("text", "label"),
    "emotion": ("text", "label"),
    "xsum": ("document", "summary", "id"),
    "cnn_dailymail": ("article", "highlights", "id"),
    "beans": ("image_file_path", "image", "labels"),
    "cifar10": ("img", "label"),
    "mnist": ("image", "label"),
    "fashion_mnist": ("image", "label"),
    "food101": ("image", "label"),
}
"""The columns of data sets that examples are written for, by the last part of their names."""
_CLASSES = {
    "mnli": 3,
    "ag_news": 4,
    "emotion": 6,
    "beans": 3,
    "cifar10": 10,
    "mnist": 10,
    "fashion_mnist": 10,
    "food101": 101,
}
_PICTURES = {"mnist": ("L", 28), "fashion_mnist": ("L", 28), "cifar10": ("RGB", 32)}
_SIDE = 64
"""Of a picture: the package writes each of them as a PNG."""
_SPLIT = re.compile(
    r"""["'](train|test|unsupervised|(?:validation|test)_(?:mis)?matched|validation)["'\[]"""
)
_SHARES = {"train": 1.0}
_SHARE = 0.25
"""Rows of any other split, of those to train on."""
_LABELS = ("label", "labels")
_IMAGES = ("image", "img")
_TURNS = 4
"""How often all words stand in a text: scripts cut them into blocks of a model's length."""


def install(module: Any, ledger: Ledger) -> None:
    """Let a package that is called `datasets`, if it is that of Hugging Face, read what is away."""
    if not hasattr(module, "load_dataset") or not hasattr(module, "DatasetDict"):
        return

    def load(original: Any, path: Any, name: Any = None, *args: Any, **kwargs: Any) -> Any:
        if str(path) in _LOCAL or os.path.exists(str(path)):  # noqa: PTH110
            return original(path, name, *args, **kwargs)
        try:
            with offline(module):
                return original(path, name, *args, **kwargs)
        except Exception:
            made = _Made(module, str(path), str(name or ""))
            ledger.note(f"the data set {path}" + (f" ({name})" if name else ""))
            return made.splits(kwargs.get("split"))

    hooks.around(table.DATASETS_LOADED, load, module)


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
    """One data set that is away."""

    def __init__(self, module: Any, path: str, name: str) -> None:
        self._module = module
        self._name = name if name in _CONFIGURED else path.rsplit("/", 1)[-1]
        texts = sources()
        self._rows = max(RECORDS, batch_sizes.examples(texts))
        self._classes = _CLASSES.get(self._name, 2)
        known = _CONFIGURED.get(self._name) or _COLUMNS.get(self._name)
        columns = [Column(each) for each in known or ()]
        self._columns = columns or _asked(texts) or [Column("text"), Column("label")]
        named = {match for text in texts for match in _SPLIT.findall(text)}
        # A script for all tasks of GLUE names the splits of the one that has two of them, too.
        other = name in _CONFIGURED and name != "mnli"
        matched = set[str]() if other else {each for each in named if "matched" in each}
        self._splits = ["train", *sorted(matched), *({"validation", "test"} if not matched else ())]

    def splits(self, asked_for: Any) -> Any:
        """All splits, or those that were asked for: `"train[:10%]"`."""
        if asked_for is None:
            return self._module.DatasetDict({each: self._split(each) for each in self._splits})
        if isinstance(asked_for, (list, tuple)):
            return [self._split(str(each)) for each in cast("list[Any]", asked_for)]
        return self._split(str(asked_for))

    def _split(self, split: str) -> Any:
        """The rows of one split."""
        rows = max(int(self._rows * _SHARES.get(re.split(r"[\[+]", split)[0], _SHARE)), 1)
        table = {column.name: self._values(column, rows) for column in self._columns}
        made = self._module.Dataset.from_dict(table)
        for name in _LABELS:
            if name in table and all(isinstance(each, int) for each in table[name]):
                classes = [f"class_{number}" for number in range(self._classes)]
                made = made.cast_column(name, self._module.ClassLabel(names=classes))
        return made

    def _values(self, column: Column, rows: int) -> list[Any]:
        """The values of one column."""
        name = column.name
        special: dict[str, Callable[[int], Any]] = {
            "answers": lambda _: {"text": [WORDS.split()[0]], "answer_start": [0]},
            "idx": lambda row: row,
            "id": str,
            "image_file_path": lambda row: f"/data/class_{row % self._classes}/file-{row:05d}.jpg",
        }
        if name in special:
            return [special[name](row) for row in range(rows)]
        if name in _IMAGES:
            image: Any = importlib.import_module("PIL.Image")
            mode, side = _PICTURES.get(self._name, ("RGB", _SIDE))
            return [image.new(mode, (side, side))] * rows
        if name in _LABELS:
            return [row % self._classes for row in range(rows)]
        if name in {each for known in _columns() for each in known}:
            return [f"{WORDS} " * (_TURNS if name != "title" else 1) for _ in range(rows)]
        return values(column, rows, self._classes)


def _columns() -> Iterator[tuple[str, ...]]:
    """The columns of all that is known; what is no number in them is text."""
    yield from _CONFIGURED.values()
    yield from _COLUMNS.values()


def _asked(texts: list[str]) -> list[Column]:
    """The columns that the script asks for by their names."""
    return [each for each in asked(texts, lambda _: False) if not _SPLIT.match(f'"{each.name}"')]
