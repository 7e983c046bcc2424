"""Tables that pandas would read: the columns that the script asks them for, filled by their names.

Most Kaggle scripts read names, texts and labels from a CSV beside their records.
"""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Callable
from datetime import date, timedelta
from typing import Any, cast

from tpudiag.sources.job.tensorflow.points import hooks, user_lines

from . import batch_sizes, paths, table_columns, table_sizes
from .ledger import Ledger
from .program_text import sources
from .table_columns import Column, asked
from .table_sizes import TableSize
from .text_files import WORDS

ROWS = 2048
"""Rows of each table that is stood in for."""
_REST = 4
"""Columns that a script takes with one, where nothing tells how many classes there are."""
_READERS = ("read_csv", "read_table", "read_json", "read_parquet", "read_pickle", "read_feather")
_PATHS = ("filepath_or_buffer", "path_or_buf", "path")
_TEXT = re.compile(r"text|comment|content|sentence|review|tweet|question|context|title|descr", re.I)
_NAME = re.compile(r"(^|_)(id|ids|uid|name|file|filename|path|image|img|url)(_|$)|_?id$", re.I)
_LABEL = re.compile(r"label|class|target|digit|categor|diagnosis|^y$", re.I)
_FOLD = re.compile(r"fold", re.I)
_DAY = re.compile(r"\d{4}-\d\d-\d\d.*")
_DATE = re.compile(r"date|timestamp", re.I)
_FIRST_DAY = date(1990, 1, 1)
_LANGUAGE = re.compile(r"^(lang|language|locale)$", re.I)


def install(pandas: Any, ledger: Ledger, written: Callable[[Any], bool]) -> None:
    """Let pandas read tables that are not there."""

    def read(original: Any, *args: Any, **kwargs: Any) -> Any:
        named = next((name for name in _PATHS if name in kwargs), None)
        if named is not None:
            args = (kwargs.pop(named), *args)
        source = args[0] if args else None
        kept = paths.kept(source, ledger.folder)
        if kept is not None and os.path.exists(kept):  # noqa: PTH110
            return original(kept, *args[1:], **kwargs)
        if not paths.is_absent(source) or written(source):
            return original(*args, **kwargs)
        table = _stand_in(pandas, kwargs)
        ledger.note(f"{source} ({len(table)} rows of {len(table.columns)} columns)")
        return table

    def write(original: Any, table: Any, *args: Any, **kwargs: Any) -> Any:
        kept = paths.kept(args[0], ledger.folder) if args else None
        return original(table, *((kept, *args[1:]) if kept else args), **kwargs)

    def sampled(original: Any, table: Any, n: Any = None, *args: Any, **kwargs: Any) -> Any:
        replaces = bool(args[1:2] or kwargs.get("replace"))
        return original(table, _fewer(n, table, replaces) if ledger.any else n, *args, **kwargs)

    hooks.around(hooks.definer(pandas.DataFrame, "sample"), "sample", sampled)
    for name in _READERS:
        if hasattr(pandas, name):
            hooks.around(pandas, name, read)
    for name in ("to_csv", "to_json", "to_pickle", "to_parquet"):
        hooks.around(hooks.definer(pandas.DataFrame, name), name, write)


def _fewer(count: Any, table: Any, replaces: bool) -> Any:
    """How many rows are drawn: scripts know how many the real table has."""
    return min(count, len(table)) if isinstance(count, int) and not replaces else count


def _stand_in(pandas: Any, options: dict[str, Any]) -> Any:
    """The table that the script's own lines ask for."""
    texts = sources()
    size = table_sizes.read(texts, table_columns.tables)
    # Beside numbers, only the columns that this very read is asked for have names.
    line = user_lines.caller() if size.numbers else None
    lines = table_columns.read_at(texts, line.line) if line and line.line else ()
    columns = asked(texts, lambda name: hasattr(pandas.DataFrame, name), lines)
    return _table(pandas, columns, size, options)


def _table(pandas: Any, columns: list[Column], size: TableSize, options: dict[str, Any]) -> Any:
    """A table of these columns, or of a name and a number where the script asks for none."""
    rows = size.rows or max(ROWS, 2 * size.index, batch_sizes.examples(sources()))
    rows = min(int(options.get("nrows") or rows), rows)
    names: Any = options.get("names") or options.get("usecols")
    if isinstance(names, (list, tuple)) and all(
        isinstance(each, str) for each in cast("list[object]", names)
    ):
        known = {column.name: column for column in columns}
        wanted = [str(each) for each in cast("list[object]", names)]
        columns = [known.get(name, Column(name)) for name in wanted]
    columns = columns or ([] if size.numbers else [Column("id"), Column("target")])
    classes = size.classes or 2
    if not names:
        columns = _with_rest(columns, size.classes or _REST)
    if size.dropped and not names:
        columns = [*(Column(f"Unnamed: {number}") for number in range(size.dropped)), *columns]
    table = pandas.DataFrame({each.name: values(each, rows, classes) for each in columns})
    more = size.numbers or size.columns - len(table.columns)
    if more > 0 and not names:
        table = pandas.concat([table, _numbers(pandas, rows, more)], axis=1)
    dtypes: Any = options.get("dtype")
    if isinstance(dtypes, dict):
        given = cast("dict[str, Any]", dtypes)
        known_types = {name: given[name] for name in given if name in table}
        table = table.astype(known_types, errors="ignore")
    index = options.get("index_col")
    if isinstance(index, int) and index is not False:
        index = table.columns[index]
    if isinstance(index, str):
        made = table[index] if index in table else values(Column(index), rows)
        table = table.assign(**{index: made}).set_index(index)
    return table


def _with_rest(columns: list[Column], classes: int) -> list[Column]:
    """The columns, and those that a script takes with one: mostly there is one for each class."""
    first = next((each for each in columns if each.first_of_rest), None)
    if first is None:
        return columns
    others = [Column(f"{first.name} {number}") for number in range(2, classes + 1)]
    return [*(each for each in columns if each is not first), first, *others]


def _days(bounds: list[str], rows: int) -> list[str]:
    """Days from the first of these to the last, in their order."""
    first, last = (date.fromisoformat(each[:10]) for each in (min(bounds), max(bounds)))
    return [str(first + (last - first) * row / rows) for row in range(rows)]


def _numbers(pandas: Any, rows: int, width: int) -> Any:
    """Columns that the script asks for together, without their names: 0 to 255, as pixels."""
    numpy: Any = importlib.import_module("numpy")
    held = (numpy.arange(width)[None] + numpy.arange(rows)[:, None]) % 256
    return pandas.DataFrame(held, columns=[f"pixel{number}" for number in range(width)])


def values(column: Column, rows: int, classes: int = 2) -> list[Any]:
    """The values of a column, by what the script does with them and by its name."""
    if len(column.bounds) > 1 and all(_DAY.fullmatch(each) for each in column.bounds):
        return _days(column.bounds, rows)
    if column.compared:
        return [column.compared[row % len(column.compared)] for row in range(rows)]
    if _TEXT.search(column.name):
        words = WORDS.split()
        return [" ".join(words[row % 5 :]) for row in range(rows)]
    if _NAME.search(column.name) or column.is_text:
        return [f"file-{row:05d}" for row in range(rows)]
    if _DATE.search(column.name):
        # Each day twice, as other columns turn: what is followed over days has all of them.
        return [(_FIRST_DAY + timedelta(row // 2)).isoformat() for row in range(rows)]
    if _LANGUAGE.search(column.name):
        return ["en"] * rows
    if _FOLD.search(column.name):
        return [row % 5 for row in range(rows)]
    return [row % (classes if _LABEL.search(column.name) else 2) for row in range(rows)]


__all__ = ["install", "values"]
