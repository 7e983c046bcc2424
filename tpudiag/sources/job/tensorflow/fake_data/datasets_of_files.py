"""Datasets of files that cannot be reached: each is replaced by a file of stand-ins.

One record is as good as another: few are shuffled at once, and none is skipped for want of more.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, cast

from tpudiag.script_run import InterventionKind
from tpudiag.sources.job.points import (
    Call,
    Library,
    bindings,
    hooks,
    interventions,
    privates,
    table,
)

from . import paths, text_files
from .holes import Hole
from .ledger import MARKER, Ledger

_AWAY = f"{paths.REMOTE}|{MARKER}.*"
"""Names that reach nothing: of a remote file, or read from a stand-in."""

MOST = 64
"""Elements that a buffer of stand-ins holds."""
_UNKNOWN = -2
"""The cardinality of a dataset whose elements only reading counts."""


def install(tf: Library, ledger: Ledger, is_away: Callable[[object], bool]) -> None:
    """Hook what reads records, lines and pieces of files, and the dataset of their names."""

    def of_files(
        stand_in: Callable[..., str], told: Sequence[str], original: Call, dataset: object,
        filenames: object, *a: Any, **kw: Any,
    ) -> object:  # fmt: skip
        """Files of a kind; `told` are parameters by which a stand-in is written."""
        given = dict(zip(bindings.parameters(original)[2:], a, strict=False)) | kw
        packed = paths.text_of(_value(given.get("compression_type"))) or ""
        sizes = (int(given.get(name) or 0) for name in told)
        known = reachable(filenames, stand_in(ledger, packed, *sizes))
        return original(dataset, known, *a, **kw)

    def listed(original: Call, file_pattern: Any, *args: object, **kwargs: object) -> object:
        texts = _texts(file_pattern)
        if not any(is_away(text) for text in texts):
            return original(file_pattern, *args, **kwargs)
        names = [name for text in texts for name in tf.io.gfile.glob(text)]
        made = tf.data.Dataset.from_tensor_slices(names)
        shuffle = args[0] if args else kwargs.get("shuffle")
        return made if shuffle is False else made.shuffle(max(len(names), 1))

    def reachable(names: Any, stand_in: str) -> object:
        """File names, each that cannot be reached replaced; the same object where none is."""
        if isinstance(names, tf.data.Dataset):
            chosen = tf.autograph.experimental.do_not_convert(partial(in_graph, stand_in))
            # Not serial: this map is no line of the script's.
            with hooks.instead(ledger, fills=False):
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

    hooks.around(table.RECORDS_READ, partial(of_files, partial(text_files.records, tf), ()))
    hooks.around(table.LINES_READ, partial(of_files, text_files.lines, ()))
    sizes = ("record_bytes", "header_bytes", "footer_bytes")
    hooks.around(table.BYTES_READ, partial(of_files, text_files.pieces, sizes))
    hooks.around(table.FILES_LISTED, listed)


def of_stand_ins(ledger: Ledger) -> None:
    """Shuffle and skip what is stood in for; what was asked for is still read."""

    def shuffled(
        original: Call, dataset: object, buffer_size: Any, *args: object, **kwargs: object
    ) -> object:
        asked = 0
        with suppress(TypeError, ValueError):  # that only a graph knows
            asked = int(buffer_size)
        # To fill a buffer with thousands of pictures takes minutes and gigabytes in each pass.
        small = ledger.any and asked > MOST
        if not small or not interventions.allowed(InterventionKind.SHUFFLES):
            return original(dataset, buffer_size, *args, **kwargs)
        interventions.note(InterventionKind.SHUFFLES)
        made = original(dataset, MOST, *args, **kwargs)
        setattr(made, privates.BUFFER_SIZE.name, asked)  # where the checks read it
        return made

    def skipped(original: Call, dataset: Any, count: Any, *a: object, **kw: object) -> object:
        with suppress(TypeError, ValueError, AttributeError):  # that only a graph knows
            rows = int(dataset.cardinality().numpy())
            short = ledger.any and (rows == _UNKNOWN or 0 <= rows <= int(count))
            if short and interventions.allowed(InterventionKind.SHUFFLES):
                interventions.note(InterventionKind.SHUFFLES)
                count = 0
        return original(dataset, count, *a, **kw)

    hooks.around(table.DATASET_SHUFFLED, shuffled)
    hooks.around(table.DATASET_SKIPPED, skipped)


def _texts(value: Any) -> list[str]:
    """A name, or those in a list or tuple; none where anything in it is none."""
    several = cast("list[object]", value if isinstance(value, (list, tuple)) else [value])
    texts = list(map(paths.text_of, several))
    return [] if None in texts else [text for text in texts if text is not None]


def _value(names: Any) -> object:
    """What an array or tensor holds, as Python's own; anything else as it is."""
    names = names.numpy() if hasattr(names, "numpy") else names
    return names.tolist() if hasattr(names, "tolist") else names
