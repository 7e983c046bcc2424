"""Pictures that Keras' ImageDataGenerator reads from folders or by the rows of a table."""

from __future__ import annotations

import os
from typing import Any, cast

from tpudiag.sources.job.tensorflow.points import hooks, privates, table

from . import paths
from .folders import picture, pictures_of
from .ledger import Ledger
from .program_text import classes, sources

_NAMED_CLASSES = ("categorical", "binary", "sparse")
"""What a generator makes of classes whose names are text."""


def install(keras: Any, ledger: Ledger) -> None:
    """Let the generators of a Keras read what a notebook host mounts and is not there."""

    def from_directory(
        original: Any, generator: Any, directory: Any, *args: Any, **kwargs: Any
    ) -> Any:
        if _is_away(directory):
            asked: Any = kwargs.get("classes")
            names = cast("list[Any]", asked) if isinstance(asked, (list, tuple)) else None
            labels = tuple(map(str, names)) if names else classes(sources())
            name = os.path.basename(str(directory).rstrip("/"))  # noqa: PTH119
            ledger.note(f"{directory} (a folder of pictures for each of {len(labels)} classes)")
            directory = pictures_of(ledger, name, labels)
        return original(generator, directory, *args, **kwargs)

    def from_table(
        original: Any, generator: Any, dataframe: Any, directory: Any = None, *args: Any, **kw: Any
    ) -> Any:
        names = kw.get("x_col", args[0] if args else "filename")
        if not _is_away(_first(dataframe, names, directory)):
            return original(generator, dataframe, directory, *args, **kw)
        ledger.note(f"{directory or names} ({len(dataframe)} pictures)")
        labels = kw.get("y_col", args[1] if len(args) > 1 else "class")
        mode = kw.get("class_mode", args[6] if len(args) > 6 else "categorical")
        if mode in _NAMED_CLASSES and isinstance(labels, str) and labels in dataframe:
            dataframe = dataframe.assign(**{labels: dataframe[labels].astype(str)})
        # It would look for each file on the disk, and drop the row.
        kw["validate_filenames"] = False
        made = original(generator, dataframe, directory, *args, **kw)
        files = privates.FILE_PATHS
        setattr(made, files.name, [picture(ledger)] * len(files.of(made)))
        return made

    hooks.around(table.FOLDER_GENERATED, from_directory, keras)
    hooks.around(table.TABLE_GENERATED, from_table, keras)


def _is_away(path: Any) -> bool:
    """Whether pictures cannot be reached there."""
    return paths.is_remote(path) or paths.is_hosted(path)


def _first(dataframe: Any, column: Any, directory: Any) -> str:
    """The path of the first picture that a table names; empty where it names none."""
    try:
        name = str(dataframe[column].iloc[0])
    except (KeyError, IndexError):
        return ""
    return os.path.join(str(directory), name) if directory else name  # noqa: PTH118
