"""Files that Python itself opens and reads: text, JSON and arrays of NumPy."""

from __future__ import annotations

import builtins
import io
import json
import re
from typing import Any

from tpudiag.sources.job.tensorflow.points import hooks

from . import paths, table_sizes
from .ledger import RECORDS, Ledger
from .program_text import sources
from .text_files import WORDS, plain

_MANY = re.compile(r"(^|_)(data|list|array|rows)$|[a-z]{2}s$")
_TEXT = re.compile(r"text|caption|question|answer|context|title|sentence|name|label|url|file", re.I)
_TEXTS = "words|texts|sentences|captions|names|labels|titles|files"
_ELEMENTS = 16
_LABELS = re.compile(r"(^|[_\-/.])(y|labels?|targets?)([_\-.]|$)", re.I)


class GuessedJson(dict[str, Any]):
    """An object that has whatever key is asked for: lists by plural names, words, or numbers."""

    def __missing__(self, key: str) -> Any:
        name = str(key)
        if re.fullmatch(_TEXTS, name):
            value: Any = [WORDS] * _ELEMENTS
        elif _MANY.search(name):
            value = [GuessedJson() for _ in range(_ELEMENTS)]
        else:
            value = WORDS if _TEXT.search(name) and not name.endswith(("_id", "_start")) else 1
        self[key] = value
        return value

    def __contains__(self, key: object) -> bool:
        return True

    def get(self, key: str, default: Any = None) -> Any:  # noqa: ARG002
        """The value, which is there."""
        return self[key]


def install(ledger: Ledger) -> None:
    """Answer for files of folders that a notebook host mounts, and for JSON that was fetched."""

    def opened(original: Any, file: Any, mode: Any = "r", *args: Any, **kwargs: Any) -> Any:
        if paths.is_hosted(file) and str(mode).startswith("r"):
            ledger.note(str(file))
            file = plain(ledger, str(file))
        return original(file, mode, *args, **kwargs)

    def loaded(original: Any, fp: Any, *args: Any, **kwargs: Any) -> Any:
        if str(getattr(fp, "name", "")).startswith(ledger.folder):
            return GuessedJson()
        return original(fp, *args, **kwargs)

    hooks.around(builtins, "open", opened)
    hooks.around(io, "open", opened)  # as pathlib opens a file
    hooks.around(json, "load", loaded)


def watch_numpy(numpy: Any, ledger: Ledger) -> None:
    """Let numpy.load read arrays of such folders: pictures as the model takes them, or labels."""

    def loaded(original: Any, file: Any, *args: Any, **kwargs: Any) -> Any:
        if not paths.is_absent(file) or not str(file).endswith(".npy"):
            return original(file, *args, **kwargs)
        texts = sources()
        if _LABELS.search(str(file)):
            size = table_sizes.read(texts, lambda _: set())
            array = numpy.arange(RECORDS) % (size.classes or 2)
        else:
            array = numpy.zeros((RECORDS, *table_sizes.input_shape(texts)), dtype="float32")
        ledger.note(f"{file} (an array of {array.shape})")
        return array

    hooks.around(numpy, "load", loaded)
