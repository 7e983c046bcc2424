"""Records: what the script's own parse function asks for, made as it asks."""

import re
from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any, TypeAlias

from tpudiag.sources.job.points import Call, Library, hooks, table
from tpudiag.sources.job.points.library_objects import DType

from .ledger import MARKER
from .text_files import SIZE

_VARIANTS = 8
_LARGE = 100_000
"""Values of one feature from which on a single variant is enough."""
_VARYING = 3
"""Values of a feature of varying length."""
_SIDE = re.compile(r"height|width|(^|[_/])size$", re.I)
"""What a picture is reshaped to, by a record that tells its sides."""
Features: TypeAlias = Mapping[str, Any]
"""What a script's parse function asks of a record: a feature by its key."""


def install(tf: Library, marked: Call, asked: Callable[[Sequence[int | None]], None]) -> None:
    """Hook the functions that parse; `marked(strings)` says in the graph which are stand-ins.

    `asked` is told each shape that the script asks of a record.
    """

    def parsed(
        original: Call, serialized: object, features: Features, *args: object, **kwargs: object
    ) -> object:
        for feature in features.values():
            asked(tf.TensorShape(getattr(feature, "shape", None) or []).as_list())
        return original(chosen(serialized, examples(tf, features)), features, *args, **kwargs)

    def csv(original: Call, records: object, record_defaults: Any, *a: Any, **kw: Any) -> object:
        line = ",".join(_column(tf, default) for default in record_defaults)
        return original(chosen(records, [line]), record_defaults, *a, **kw)

    def chosen(strings: object, stand_ins: Sequence[str | bytes]) -> object:
        strings = tf.convert_to_tensor(strings)
        with tf.name_scope("tpudiag_fake"):
            # In the graph, for the parse function runs inside Dataset.map: a stand-in record is
            # chosen by the hash of its name, so that labels vary and each run is the same.
            at = tf.strings.to_hash_bucket_fast(strings, len(stand_ins))
            return tf.where(marked(strings), tf.gather(tf.constant(stand_ins), at), strings)

    hooks.around(table.EXAMPLES_PARSED, parsed)
    hooks.around(table.CSV_DECODED, csv)


def examples(tf: Library, features: Features) -> list[bytes]:
    """Serialized tf.train.Examples that hold every feature asked for."""
    whole = _keys(tf, features)
    large = any(length > _LARGE for _, length in whole.values())
    return [
        tf.train.Example(
            features=tf.train.Features(
                feature={
                    key: _feature(tf, key, dtype, length, variant)
                    for key, (dtype, length) in whole.items()
                }
            )
        ).SerializeToString()
        for variant in range(1 if large else _VARIANTS)
    ]


def _keys(tf: Library, features: Features) -> dict[str, tuple[DType, int]]:
    """Key in the record -> (dtype, how many values)."""
    keys: dict[str, tuple[DType, int]] = {}
    for key, feature in features.items():
        kind = type(feature).__name__
        if kind == "SparseFeature":
            indices = feature.index_key
            for index in [indices] if isinstance(indices, str) else indices:
                keys[index] = (tf.int64, _VARYING)
            keys[feature.value_key] = (feature.dtype, _VARYING)
        elif kind == "RaggedFeature":
            keys[feature.value_key or key] = (feature.dtype, _VARYING)
        else:
            sizes = tf.TensorShape(getattr(feature, "shape", None) or []).as_list()
            length = prod(size or 1 for size in sizes)
            # A script takes the one text, picture or tensor out of what varies in length.
            varies = kind == "VarLenFeature" and feature.dtype != tf.string
            of_steps = varies or kind == "FixedLenSequenceFeature"
            keys[key] = (feature.dtype, length * _VARYING if of_steps else length)
    return keys


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
