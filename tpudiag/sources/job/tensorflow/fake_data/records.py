"""Records: what the script's own parse function asks for, made as it asks."""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import Any

from tpudiag.sources.job.tensorflow.points import hooks

from .ledger import MARKER, Ledger
from .text_files import SIZE, keep_records_within

_VARIANTS = 8
_LARGE = 100_000
"""Values of one feature from which on a single variant is enough."""
_VARYING = 3
"""Values of a feature of varying length."""
_DATE = re.compile(r"(^|[/_])(date|day|timestamp)s?$", re.I)
_FIRST_DAY = date(1950, 1, 1)
_STRING_BYTES = 64
"""What a short string takes as a tensor, and as an object of Python's."""
_ID = re.compile(r"(^|[/_])(\w*[_/])?(id|ids|idx|index|num\w*)$", re.I)


def install(tf: Any, marked: Any, ledger: Ledger) -> None:
    """Hook the functions that parse; `marked(strings)` says in the graph which are stand-ins."""

    def parsed(original: Any, serialized: Any, features: Any, *args: Any, **kwargs: Any) -> Any:
        keep_records_within(tf, ledger, _parsed_bytes(tf, features))
        return original(chosen(serialized, examples(tf, features)), features, *args, **kwargs)

    def sequence(original: Any, serialized: Any, *args: Any, **kwargs: Any) -> Any:
        names = ("context_features", "sequence_features")
        given = {**dict(zip(names, args, strict=False)), **kwargs}
        made = sequences(tf, given.get(names[0]) or {}, given.get(names[1]) or {})
        return original(chosen(serialized, made), *args, **kwargs)

    def csv(original: Any, records: Any, record_defaults: Any, *args: Any, **kwargs: Any) -> Any:
        line = ",".join(_column(tf, default) for default in record_defaults)
        return original(chosen(records, [line]), record_defaults, *args, **kwargs)

    def chosen(strings: Any, stand_ins: list[Any]) -> Any:
        strings = tf.convert_to_tensor(strings)
        with tf.name_scope("tpudiag_fake"):
            # In the graph, for the parse function runs inside Dataset.map: a stand-in record is
            # chosen by the hash of its name, so that labels vary and each run is the same.
            at = tf.strings.to_hash_bucket_fast(strings, len(stand_ins))
            return tf.where(marked(strings), tf.gather(tf.constant(stand_ins), at), strings)

    for owner in (tf.io, tf.compat.v1, tf.compat.v1.io):
        for name in ("parse_example", "parse_single_example"):
            hooks.around(owner, name, parsed)
        for name in ("parse_sequence_example", "parse_single_sequence_example"):
            if hasattr(owner, name):
                hooks.around(owner, name, sequence)
        hooks.around(owner, "decode_csv", csv)


def examples(tf: Any, features: Any) -> list[bytes]:
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


def sequences(tf: Any, context: Any, lists: Any) -> list[bytes]:
    """Serialized tf.train.SequenceExamples of a few steps."""
    features = {k: _feature(tf, k, *of, 0) for k, of in _keys(tf, context).items()}
    steps = {
        key: tf.train.FeatureList(
            feature=[_feature(tf, key, dtype, length, step) for step in range(4)]
        )
        for key, (dtype, length) in _keys(tf, lists, varying=1).items()
    }
    made = tf.train.SequenceExample(
        context=tf.train.Features(feature=features),
        feature_lists=tf.train.FeatureLists(feature_list=steps),
    )
    return [made.SerializeToString()]


def _keys(tf: Any, features: Any, varying: int = _VARYING) -> dict[str, tuple[Any, int]]:
    """Key in the record -> (dtype, how many values)."""
    keys: dict[str, tuple[Any, int]] = {}
    for key, feature in features.items():
        kind = type(feature).__name__
        if kind == "SparseFeature":
            indices = feature.index_key
            for index in [indices] if isinstance(indices, str) else indices:
                keys[index] = (tf.int64, varying)
            keys[feature.value_key] = (feature.dtype, varying)
        elif kind == "RaggedFeature":
            keys[feature.value_key or key] = (feature.dtype, varying)
        else:
            length = _length(tf, getattr(feature, "shape", None))
            of_steps = kind in {"VarLenFeature", "FixedLenSequenceFeature"}
            keys[key] = (feature.dtype, length * varying if of_steps else length)
    return keys


def _parsed_bytes(tf: Any, features: Any) -> int:
    """What one record holds once it is parsed."""
    return sum(
        length * (_STRING_BYTES if dtype == tf.string else dtype.size)
        for dtype, length in _keys(tf, features).values()
    )


def _length(tf: Any, shape: Any) -> int:
    """How many values a shape holds."""
    length = 1
    for size in tf.TensorShape(shape if shape is not None else []).as_list():
        length *= size or 1
    return length


def _feature(tf: Any, key: str, dtype: Any, length: int, variant: int) -> Any:
    """A feature's values, by its type and a little by its name."""
    if dtype == tf.string and _DATE.search(key):
        days = [str(_FIRST_DAY + timedelta(days=variant + at)).encode() for at in range(length)]
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=days))
    if dtype == tf.string:
        text = str(variant) if _ID.search(key) else f"{MARKER}{key} {variant}"
        values = tf.train.BytesList(value=[text.encode()] * length)
        return tf.train.Feature(bytes_list=values)
    if dtype in (tf.float32, tf.float64):
        floats = [_float(key, variant * 7 + at * 13) for at in range(length)]
        return tf.train.Feature(float_list=tf.train.FloatList(value=floats))
    size = SIZE if re.search(r"height|width|(^|[_/])size$", key, re.I) else None
    numbers = [size or (variant + at) % 2 for at in range(length)]
    return tf.train.Feature(int64_list=tf.train.Int64List(value=numbers))


def _float(key: str, seed: int) -> float:
    """A number from 0 to 1; a corner of a box lies on its side."""
    corner = re.search(r"([xy])?(min|max)$", key, re.I)
    if corner:
        return 0.1 if corner[2].lower() == "min" else 0.9
    return seed % 100 / 100


def _column(tf: Any, default: Any) -> str:
    """A column of a line of CSV, by the type of its default."""
    dtype = default if isinstance(default, tf.DType) else tf.convert_to_tensor(default).dtype
    if dtype == tf.string:
        return f"{MARKER}column"
    return "1" if dtype.is_integer else "0.5"
