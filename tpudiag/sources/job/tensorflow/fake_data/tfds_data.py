"""tensorflow_datasets: its own mock, written to records, and splits whose size is known.

The mock makes each example in a Python generator, which the real package never does: a few of its
examples are kept in a file of records, and read from there as often as the split is long.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import re
import types
from collections.abc import Callable
from typing import Any

from tpudiag.sources.job.points import hooks, privates, table

from .ledger import FILES, RECORDS, Ledger

SPLITS = {"train": FILES * RECORDS, "test": RECORDS, "validation": RECORDS}
"""Split -> examples, where no better is known."""
KNOWN_SPLITS = {
    "mnist": {"train": 60_000, "test": 10_000},
    "fashion_mnist": {"train": 60_000, "test": 10_000},
    "kmnist": {"train": 60_000, "test": 10_000},
    "cifar10": {"train": 50_000, "test": 10_000},
    "cifar100": {"train": 50_000, "test": 10_000},
    "svhn_cropped": {"train": 73_257, "test": 26_032, "extra": 531_131},
    "imdb_reviews": {"train": 25_000, "test": 25_000, "unsupervised": 50_000},
    "imagenet2012": {"train": 1_281_167, "validation": 50_000},
    "cats_vs_dogs": {"train": 23_262},
    "tf_flowers": {"train": 3_670},
    "oxford_flowers102": {"train": 1_020, "test": 6_149, "validation": 1_020},
    "oxford_iiit_pet": {"train": 3_680, "test": 3_669},
    "stanford_dogs": {"train": 12_000, "test": 8_580},
    "food101": {"train": 75_750, "validation": 25_250},
}
"""Scripts write such sizes down, and steps_per_epoch goes by them."""
_KEPT = 64
"""Examples of the mock that are kept."""
_SIDE, _CHANNELS = 256, (1, 3, 4)
"""Of pictures whose sides nothing tells, in pixels; of what is taken for a picture."""
_MASK_CLASSES = 3
"""Of the pixels of a mask, counted from 1: of fewer, no data set is cut into parts."""

_PART = re.compile(r"\[|\+")
"""What follows the name of a split: `train[:10%]`."""

_mocks: list[Any] = []
"""A mock lasts as long as it is held."""


def install(tensorflow: Callable[[], Any], tfds: Any, ledger: Ledger) -> None:
    """Let tfds.load and tfds.builder answer with the package's mock for data that is not there.

    `tensorflow` gives the job's, which may be imported later than the package.
    """

    def load(original: Any, *args: Any, **kwargs: Any) -> Any:
        # It would look for the data in a public bucket first.
        kwargs.pop("try_gcs", None)
        return original(*args, **kwargs)

    def built(original: Any, *args: Any, **kwargs: Any) -> Any:
        kwargs.pop("try_gcs", None)
        prepared = real.builder(original, args, kwargs)
        if prepared is not None:
            return prepared
        ledger.note(f"tfds {args[0] if args else kwargs.get('name')}", "generator")
        builder = original(*args, **kwargs)
        _with_splits(tfds, builder)
        hooks.quietly(_name_classes, builder.info.features)
        return builder

    def own(builder: Any, *_: Any, **__: Any) -> None:
        # The job's own, which it makes without tfds.builder.
        if not builder.info.splits:
            ledger.note(f"tfds {builder.name}", "generator")
            _with_splits(tfds, builder)

    def as_dataset(original: Any, builder: Any, split: Any = None, *args: Any, **kw: Any) -> Any:
        made = original(builder, split, *args, **kw)
        if kw.get("read_config") is not None and kw["read_config"].add_tfds_id:
            return made
        size = _examples(builder, split)
        return hooks.quietly(_from_records, tensorflow(), ledger, made, size) or made

    real = _Prepared()
    testing: Any = importlib.import_module("tensorflow_datasets.testing")
    mock: Any = testing.mock_data(num_examples=FILES * RECORDS, policy=testing.MockPolicy.USE_CODE)
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
        self._builders: Any = importlib.import_module("tensorflow_datasets.core.dataset_builder")
        self._read_only: Any = importlib.import_module("tensorflow_datasets.core.read_only_builder")
        self._init = self._builders.DatasetBuilder.__init__
        self._from_files = self._read_only.builder_from_files
        of_files = self._builders.FileReaderBuilder
        self._methods = {
            name: getattr(of_files, name) for name in self._METHODS if hasattr(of_files, name)
        }

    def builder(self, original: Any, args: Any, kwargs: Any) -> Any:
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
        if not os.path.isdir(str(builder.data_dir)):  # noqa: PTH112
            return None
        for name, method in self._methods.items():
            setattr(builder, name, types.MethodType(method, builder))
        return builder


def _name_classes(feature: Any) -> None:
    """Give labels names where only the data has them: scripts show them, and cut them at a `-`."""
    for part in feature.values() if hasattr(feature, "values") else ():
        _name_classes(part)
    count = getattr(feature, "num_classes", None)
    if count and list(feature.names) == [str(number) for number in range(count)]:
        feature.names = [f"class-{number}" for number in range(count)]


def _examples(builder: Any, split: Any) -> int:
    """How many examples a split, or a part of one, has."""
    try:
        return int(builder.info.splits[split].num_examples) or FILES * RECORDS
    except (KeyError, ValueError, TypeError, AttributeError):
        return FILES * RECORDS


def _from_records(tf: Any, ledger: Ledger, made: Any, examples: int) -> Any:
    """A dataset that reads examples of the mock from records; None for what records cannot hold."""
    spec = made.element_spec
    flat = tf.nest.flatten(spec)
    if not all(isinstance(each, tf.TensorSpec) for each in flat):
        return None

    def write(path: str) -> None:
        with tf.io.TFRecordWriter(path) as writer:
            for example in made.take(_KEPT):
                parts = zip(tf.nest.flatten(example), flat, strict=True)
                sized = [_of_one_size(leaf, each, _is_mask(each, flat)) for leaf, each in parts]
                leaves = [tf.io.serialize_tensor(leaf) for leaf in sized]
                writer.write(tf.io.serialize_tensor(tf.stack(leaves)).numpy())

    def read(record: Any) -> Any:
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
        return dataset.take(examples).apply(tf.data.experimental.assert_cardinality(examples))


def _is_mask(spec: Any, beside: list[Any]) -> bool:
    """Whether a picture of one channel stands beside one of three: the class of each pixel."""
    channels = [each.shape[2] for each in beside if each.shape.rank == 3]
    return spec.shape.rank == 3 and spec.shape[2] == 1 and 3 in channels


def _of_one_size(leaf: Any, spec: Any, is_mask: bool = False) -> Any:
    """A picture, where nothing tells its sides, of sides that networks can halve.

    The mock's are a few pixels wide; scripts that resize none go by data whose pictures are alike.
    """
    shape = spec.shape
    open_sides = shape.rank == 3 and shape[0] is None and shape[1] is None
    if not open_sides or shape[2] not in _CHANNELS or leaf.dtype != "uint8":
        return leaf
    numpy: Any = importlib.import_module("numpy")
    sized = numpy.resize(leaf.numpy(), (_SIDE, _SIDE, shape[2]))
    return sized % _MASK_CLASSES + 1 if is_mask else sized


def _with_splits(tfds: Any, builder: Any) -> None:
    """Give a builder without data its splits, and whatever other is asked of it."""
    if builder.info.splits:
        return
    splits: Any = importlib.import_module("tensorflow_datasets.core.splits")

    def info(name: str, examples: int) -> Any:
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

    class Splits(splits.SplitDict):  # type: ignore[misc]
        """Scripts read sizes off them."""

        def __getitem__(self, key: Any) -> Any:
            name = _PART.split(str(key))[0]
            if name and name not in self.keys():
                self[name] = info(name, RECORDS)
            return splits.SplitDict.__getitem__(self, key)

    sizes = KNOWN_SPLITS.get(builder.name) or SPLITS
    listed = [info(name, examples) for name, examples in sizes.items()]
    builder.info.set_splits(splits.SplitDict(listed))
    setattr(builder.info, privates.SPLITS.name, Splits(listed))


def _shards(examples: int) -> list[int]:
    """The lengths of a split's files."""
    files = min(FILES, max(examples // RECORDS, 1))
    return [examples // files + (file < examples % files) for file in range(files)]
