"""Datasets of files that cannot be reached: each is replaced by a file of stand-ins."""

from collections.abc import Callable
from functools import partial
from typing import Any, cast

from tpudiag.sources.job.points import Call, Library, bindings, hooks, table

from . import paths, text_files
from .holes import Hole
from .ledger import MARKER, Ledger

_AWAY = f"{paths.REMOTE}|{MARKER}.*"
"""Names that reach nothing: of a remote file, or read from a stand-in."""


def install(tf: Library, ledger: Ledger, written: Callable[[object], bool]) -> None:
    """Hook what reads records, lines and whole files, and the dataset of their names."""

    def of_files(stand_in: Callable[..., str], *told: str) -> Call:
        """Files of a kind; `told` are parameters by which a stand-in is written."""

        def call(original: Call, dataset: object, filenames: object, *a: Any, **kw: Any) -> object:
            given = dict(zip(bindings.parameters(original)[2:], a, strict=False)) | kw
            packed = _compression(tf, given.get("compression_type"))
            sizes = (int(given.get(name) or 0) for name in told)
            known = reachable(filenames, stand_in(ledger, packed, *sizes))
            return original(dataset, known, *a, **kw)

        return call

    def read(original: Call, filename: object, *args: object, **kwargs: object) -> object:
        return original(reachable(filename, text_files.lines(ledger, count=1)), *args, **kwargs)

    def listed(original: Call, file_pattern: Any, *args: object, **kwargs: object) -> object:
        texts = _texts(file_pattern)
        if not any(is_away(text) for text in texts):
            return original(file_pattern, *args, **kwargs)
        names = [name for text in texts for name in tf.io.gfile.glob(text)]
        made = tf.data.Dataset.from_tensor_slices(names)
        shuffle = args[0] if args else kwargs.get("shuffle")
        return made if shuffle is False else made.shuffle(max(len(names), 1))

    def is_away(path: object) -> bool:
        return paths.is_absent(path) and not written(path)

    def reachable(names: Any, stand_in: str) -> object:
        """File names, each that cannot be reached replaced; the same object where none is."""
        if isinstance(names, tf.data.Dataset):
            chosen = tf.autograph.experimental.do_not_convert(partial(in_graph, stand_in))
            # Not serial: this map is no line of the script's.
            return names.map(chosen, num_parallel_calls=tf.data.AUTOTUNE)
        if isinstance(names, Hole):
            ledger.note("files whose names are not known")
            return stand_in
        value = _value(names)
        texts = _texts(value)
        if not texts:
            return in_graph(stand_in, names)
        away = [name for name in texts if is_away(name)]
        if not away:
            return names
        ledger.note(away[0] + (f" and {len(away) - 1} more" if len(away) > 1 else ""))
        known = [stand_in if name in away else name for name in texts]
        return known if isinstance(value, (list, tuple)) else known[0]

    def in_graph(stand_in: str, names: Any) -> object:
        """Names as tensors: the choice is made in the graph."""
        names = tf.convert_to_tensor(names)
        if names.dtype != tf.string:
            return names
        ledger.choose_in_graph()
        away = tf.strings.regex_full_match(names, f"{_AWAY}|{paths.hosted()}")
        here = tf.strings.regex_full_match(names, paths.reachable())
        return tf.where(tf.logical_and(away, tf.logical_not(here)), stand_in, names)

    hooks.around(table.RECORDS_READ, of_files(partial(text_files.records, tf)))
    hooks.around(table.LINES_READ, of_files(text_files.lines))
    pieces = of_files(text_files.pieces, "record_bytes", "header_bytes", "footer_bytes")
    hooks.around(table.BYTES_READ, pieces)
    hooks.around(table.FILES_LISTED, listed)
    for api in (tf, tf.compat.v2, tf.compat.v1):
        hooks.around(table.FILE_READ, read, api)


def _texts(value: Any) -> list[str]:
    """A name, or those in a list or tuple; none where anything in it is none."""
    several = cast("list[object]", value if isinstance(value, (list, tuple)) else [value])
    texts = list(map(paths.text_of, several))
    return [] if None in texts else [text for text in texts if text is not None]


def _value(names: Any) -> object:
    """What an array or tensor holds, as Python's own; anything else as it is."""
    names = names.numpy() if hasattr(names, "numpy") else names
    return names.tolist() if hasattr(names, "tolist") else names


def _compression(tf: Library, given: object) -> str:
    """A type of compression, however it is given."""
    return paths.text_of(tf.get_static_value(given) if tf.is_tensor(given) else given) or ""
