"""tensorflow_datasets: its own mock, written to records, and splits whose size is known.

The mock makes each example in a Python generator, which the real package never does: a few of its
examples are kept in a file of records, and read from there as often as the split is long.
"""

import hashlib
import importlib
import os
import re
import types
from collections.abc import Callable
from typing import Any, Protocol

from tpudiag.sources.job.points import Args, Call, Kwargs, Library, hooks, privates, table
from tpudiag.sources.job.points.library_objects import Dataset

from .ledger import FILES, RECORDS, Ledger

SPLITS = {"train": FILES * RECORDS, "test": RECORDS, "validation": RECORDS}
"""Split -> examples."""
_KEPT = 64
"""Examples of the mock that are kept."""
_PART = re.compile(r"\[|\+")
"""What follows the name of a split: `train[:10%]`."""

_mocks: list[object] = []
"""A mock lasts as long as it is held."""


class _Builder(Protocol):
    """What prepares and reads one data set."""

    name: str
    data_dir: object
    info: Any


def install(tensorflow: Callable[[], Library], tfds: Library, ledger: Ledger) -> None:
    """Let tfds.load and tfds.builder answer with the package's mock for data that is not there.

    `tensorflow` gives the job's, which may be imported later than the package.
    """

    def load(original: Call, *args: object, **kwargs: object) -> object:
        # It would look for the data in a public bucket first.
        kwargs.pop("try_gcs", None)
        return original(*args, **kwargs)

    def built(original: Callable[..., _Builder], *args: object, **kwargs: object) -> object:
        kwargs.pop("try_gcs", None)
        prepared = real.builder(original, args, kwargs)
        if prepared is not None:
            return prepared
        ledger.note(f"tfds {args[0] if args else kwargs.get('name')}", "generator")
        builder = original(*args, **kwargs)
        _with_splits(tfds, builder)
        return builder

    def own(builder: _Builder, *_: object, **__: object) -> None:
        # The job's own, which it makes without tfds.builder.
        if not builder.info.splits:
            ledger.note(f"tfds {builder.name}", "generator")
            _with_splits(tfds, builder)

    def as_dataset(
        original: Callable[..., Dataset],
        builder: _Builder,
        split: object = None,
        *args: object,
        **kw: object,
    ) -> object:
        made = original(builder, split, *args, **kw)
        if getattr(kw.get("read_config"), "add_tfds_id", False):
            return made
        size = _examples(builder, split)
        return hooks.quietly(_from_records, tensorflow(), ledger, made, size) or made

    real = _Prepared()
    testing = importlib.import_module("tensorflow_datasets.testing")
    mock = testing.mock_data(num_examples=FILES * RECORDS, policy=testing.MockPolicy.USE_CODE)
    mock.__enter__()
    _mocks.append(mock)
    hooks.around(table.TFDS_READ, as_dataset)
    hooks.before(table.TFDS_PREPARED, own)
    hooks.around(table.TFDS_BUILT, built)
    hooks.around(table.TFDS_LOADED, load)


class _Prepared:
    """The package as it was before its mock: for data that were prepared on this machine."""

    _METHODS = ("download_and_prepare", "as_dataset", "as_data_source", *table.TFDS_READ.names)

    def __init__(self) -> None:
        self._builders = importlib.import_module("tensorflow_datasets.core.dataset_builder")
        self._read_only = importlib.import_module("tensorflow_datasets.core.read_only_builder")
        self._init = self._builders.DatasetBuilder.__init__
        self._from_files = self._read_only.builder_from_files
        of_files = self._builders.FileReaderBuilder
        self._methods = {
            name: getattr(of_files, name) for name in self._METHODS if hasattr(of_files, name)
        }

    def builder(
        self, original: Callable[..., _Builder], args: Args, kwargs: Kwargs
    ) -> _Builder | None:
        """The builder of prepared data, with its own methods; None where nothing is prepared."""
        class_, module = self._builders.DatasetBuilder, self._read_only
        try:
            with (
                hooks.instead(class_, __init__=self._init),
                hooks.instead(module, builder_from_files=self._from_files),
            ):
                builder = original(*args, **kwargs)
        except Exception:
            return None
        if not os.path.isdir(str(builder.data_dir)):
            return None
        for name, method in self._methods.items():
            setattr(builder, name, types.MethodType(method, builder))
        return builder


def _examples(builder: _Builder, split: object) -> int:
    """How many examples a split, or a part of one, has."""
    try:
        return int(builder.info.splits[split].num_examples) or FILES * RECORDS
    except (KeyError, ValueError, TypeError, AttributeError):
        return FILES * RECORDS


def _from_records(tf: Library, ledger: Ledger, made: Dataset, examples: int) -> Dataset | None:
    """A dataset that reads examples of the mock from records; None for what records cannot hold."""
    spec = made.element_spec
    flat = tf.nest.flatten(spec)
    if not all(isinstance(each, tf.TensorSpec) for each in flat):
        return None

    def write(path: str) -> None:
        with tf.io.TFRecordWriter(path) as writer:
            for example in made.take(_KEPT):
                leaves = [tf.io.serialize_tensor(leaf) for leaf in tf.nest.flatten(example)]
                writer.write(tf.io.serialize_tensor(tf.stack(leaves)).numpy())

    def read(record: object) -> object:
        leaves = tf.raw_ops.ParseTensor(serialized=record, out_type=tf.string)
        parsed = [
            tf.raw_ops.ParseTensor(serialized=leaves[at], out_type=each.dtype)
            for at, each in enumerate(flat)
        ]
        for leaf, each in zip(parsed, flat, strict=True):
            leaf.set_shape(each.shape)
        return tf.nest.pack_sequence_as(spec, parsed)

    with tf.init_scope():
        name = hashlib.sha1(repr(spec).encode(), usedforsecurity=False).hexdigest()[:12]
        file = ledger.file(f"tfds/{name}.tfrecord", write)
        # The same small file as often as the split is long: a pass over it has the real number of
        # examples, and reads from memory.
        files = [file] * -(-examples // _KEPT)
        dataset = tf.data.TFRecordDataset(files).map(read, num_parallel_calls=tf.data.AUTOTUNE)
        known = tf.data.experimental.assert_cardinality(examples)
        of_split: Dataset = dataset.take(examples).apply(known)
        return of_split


def _with_splits(tfds: Library, builder: _Builder) -> None:
    """Give a builder without data its splits, and whatever other is asked of it."""
    if builder.info.splits:
        return
    plain: Any = importlib.import_module("tensorflow_datasets.core.splits").SplitDict

    def info(name: str, examples: int) -> object:
        template = tfds.core.ShardedFileTemplate(
            dataset_name=builder.name,
            data_dir=builder.data_dir,
            split=name,
            filetype_suffix="tfrecord",
        )
        return tfds.core.SplitInfo(
            name=name,
            shard_lengths=_shards(examples),
            num_bytes=0,
            filename_template=template,
        )

    class Splits(plain):  # type: ignore[misc]
        """Scripts read sizes off them."""

        def __getitem__(self, key: object) -> object:
            name = _PART.split(str(key))[0]
            if name and name not in self.keys():
                self[name] = info(name, RECORDS)
            return plain.__getitem__(self, key)

    listed = [info(name, examples) for name, examples in SPLITS.items()]
    builder.info.set_splits(plain(listed))
    setattr(builder.info, privates.SPLITS.name, Splits(listed))


def _shards(examples: int) -> list[int]:
    """The lengths of a split's files."""
    files = min(FILES, max(examples // RECORDS, 1))
    return [examples // files + (file < examples % files) for file in range(files)]
