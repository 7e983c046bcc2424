"""Tables that pandas would read: open ones, whose columns are made when they are asked for."""

import math
from collections.abc import Callable

from tpudiag.sources.job.points import Call, Library, hooks
from tpudiag.sources.job.points import table as points

from . import batch_sizes, open_tables, paths
from .holes import LENGTH
from .ledger import Ledger

_PATHS = ("filepath_or_buffer", "path_or_buf", "path", "io")


def install(pandas: Library, ledger: Ledger, written: Callable[[object], bool]) -> None:
    """Let pandas read tables that are not there."""

    def read(original: Call, *args: object, **kwargs: object) -> object:
        named = next((name for name in _PATHS if name in kwargs), None)
        if named is not None:
            args = (kwargs.pop(named), *args)
        source = args[0] if args else None
        if not paths.is_absent(source) or written(source):
            return original(*args, **kwargs)
        rows = LENGTH * max(1, math.ceil(batch_sizes.examples() / LENGTH))
        ledger.note(f"{source} ({rows} rows of the columns that are asked for)")
        return open_tables.make(pandas, rows, kwargs)

    hooks.around(points.TABLE_READ, read)
