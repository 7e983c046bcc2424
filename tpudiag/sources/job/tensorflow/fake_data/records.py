"""Records: what the script's own parse function asks for, made as it asks."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import prod
from typing import Any, TypeAlias

from tpudiag.sources.job.points import Call, Library, hooks, table
from tpudiag.sources.job.points.library_objects import DType

from .ledger import MARKER
from .text_files import SIZE, chosen

_VARIANTS = 8
_LARGE = 100_000
"""Values of one feature from which on a single variant is enough."""
_VARYING = 3
"""Values of a feature of varying length."""
_SIDE = re.compile(r"height|width|(^|[_/])size$", re.I)
"""What a picture is reshaped to, by a record that tells its sides."""
Features: TypeAlias = Mapping[str, Any]
"""What a script's parse function asks of a record: a feature by its key."""


def install(tf: Library, asked: Callable[[Sequence[int | None]], None]) -> None:
    """Hook the functions that parse; `asked` is told each shape that is asked of a record."""

    def parsed(
        original: Call, serialized: object, features: Features, *args: object, **kwargs: object
    ) -> object:
        for feature in features.values():
            asked(_sizes(tf, feature))
        made = chosen(tf, serialized, examples(tf, features))
        return original(made, features, *args, **kwargs)

    def csv(original: Call, records: object, record_defaults: Any, *a: Any, **kw: Any) -> object:
        line = ",".join(_column(tf, default) for default in record_defaults)
        return original(chosen(tf, records, line), record_defaults, *a, **kw)

    hooks.around(table.EXAMPLES_PARSED, parsed)
    hooks.around(table.CSV_DECODED, csv)


def _sizes(tf: Library, feature: object) -> list[int | None]:
    """The shape that a feature is asked for in."""
    sizes: list[int | None] = tf.TensorShape(getattr(feature, "shape", None) or []).as_list()
    return sizes


def examples(tf: Library, features: Features) -> list[bytes]:
    """Serialized tf.train.Examples that hold every feature asked for."""
    whole = dict(each for key, feature in features.items() for each in _keys(tf, key, feature))
    large = any(length > _LARGE for _, length in whole.values())
    return [
        tf.train.Example(
            features=tf.train.Features(
                feature={key: _feature(tf, key, *of, variant) for key, of in whole.items()}
            )
        ).SerializeToString()
        for variant in range(1 if large else _VARIANTS)
    ]


def _keys(tf: Library, key: str, feature: Any) -> Iterator[tuple[str, tuple[DType, int]]]:
    """Keys in the record that a feature is read from -> (dtype, how many values)."""
    indices = getattr(feature, "index_key", ())
    for index in [indices] if isinstance(indices, str) else indices:
        yield index, (tf.int64, _VARYING)
    kind = type(feature).__name__
    # A script takes the one text, picture or tensor out of what varies in length.
    one = kind == "VarLenFeature" and feature.dtype == tf.string
    fixed = one or kind == "FixedLenFeature"
    length = prod(size or 1 for size in _sizes(tf, feature))
    of_record = getattr(feature, "value_key", None) or key
    yield of_record, (feature.dtype, length if fixed else length * _VARYING)


def _feature(tf: Library, key: str, dtype: DType, length: int, variant: int) -> object:
    """A feature's values, by its type."""
    if dtype == tf.string:
        values = tf.train.BytesList(value=[f"{MARKER}{key} {variant}".encode()] * length)
        return tf.train.Feature(bytes_list=values)
    if dtype in (tf.float32, tf.float64):
        # In order: of two corners that follow each other the first is the lower one.
        floats = [(variant + 1 + at * 13 % 90) / 100 for at in range(length)]
        return tf.train.Feature(float_list=tf.train.FloatList(value=floats))
    size = SIZE if _SIDE.search(key) else None
    numbers = [size or (variant + at) % 2 for at in range(length)]
    return tf.train.Feature(int64_list=tf.train.Int64List(value=numbers))


def _column(tf: Library, default: Any) -> str:
    """A column of a line of CSV, by the type of its default."""
    dtype = default if isinstance(default, tf.DType) else tf.convert_to_tensor(default).dtype
    if dtype == tf.string:
        return f"{MARKER}column"
    return "1" if dtype.is_integer else "0.5"
