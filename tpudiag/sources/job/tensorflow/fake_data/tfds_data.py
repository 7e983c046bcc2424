"""tensorflow_datasets: a builder without data has a folder and splits; its own reader looks there.

The files that it finds missing are stood in for like a script's own, as its features ask. Only what
is read by its place, without TensorFlow, is of the package's mock.
"""

import importlib
import os
import re
from typing import Any

from tpudiag.sources.job.points import Call, Library, hooks, privates, table

from . import batch_sizes, paths
from .buffers import example_bytes
from .ledger import FILES, RECORDS, Ledger

_SPLITS = {"train": FILES, "test": 1, "validation": 1}
"""Split -> files of records."""
_NAME = re.compile(r"(?:\w+\((?:\w+=)?['\"])?([^\[+'\"]*)")
"""Of a split, also of a part of it: `train[:10%]`, `ReadInstruction('train[:10%]')`, or of what
tfds.split_for_jax_process gives, `_EvenSplit(split='train', ...)`."""
_AT_ONCE_BYTES = 1 << 27


def install(tfds: Library, ledger: Ledger) -> None:
    """Give each builder without data its folder, and whatever split is asked of it."""
    if not hasattr(tfds, "core"):  # it prints why it could not be imported, and is empty
        return

    def split(name: str, template: Any, files: int) -> object:
        template = template.replace(split=name)
        return tfds.core.SplitInfo(
            name=name,
            shard_lengths=[ledger.records] * files,
            num_bytes=0,
            filename_template=template,
        )

    def made(builder: Any, *_: object, **__: object) -> None:
        if os.path.isdir(str(builder.data_dir)):
            return
        ledger.note(f"tfds {builder.name}")
        # A script may decode all of them into one array before its first step.
        few = _AT_ONCE_BYTES // example_bytes(builder.info.features.get_tensor_spec())
        ledger.expect(batch_sizes.examples() or few)
        folder = os.path.join(ledger.folder, "tfds", *str(builder.info.full_name).split("/"))
        os.makedirs(folder, exist_ok=True)
        paths.fetched(folder)
        setattr(builder, privates.BUILDER_FOLDER.name, folder)
        template = tfds.core.ShardedFileTemplate(
            dataset_name=builder.name, data_dir=folder, filetype_suffix="tfrecord"
        )
        listed = [split(name, template, files) for name, files in _SPLITS.items()]
        builder.info.set_splits(type(builder.info.splits)(listed))

    def asked(original: Call, *args: object, **kwargs: object) -> object:
        # It would look for the data in a public bucket first.
        kwargs.pop("try_gcs", None)
        if paths.is_remote(kwargs.get("data_dir")):
            del kwargs["data_dir"]
        return original(*args, **kwargs)

    def found(original: Call, splits: Any, key: object) -> object:
        one: Any = next(iter(splits.values()), None)
        named = _NAME.match(str(key)) if _is_ours(one, ledger) else None
        if named is None or not named[1]:
            return original(splits, key)
        if named[1] not in splits:
            splits[named[1]] = split(named[1], one.filename_template, 1)
        return original(splits, named[1])  # a part of it has as many examples

    def by_place(original: Call, builder: Any, *args: object, **kwargs: Any) -> object:
        if not str(builder.data_dir).startswith(ledger.folder):
            return original(builder, *args, **kwargs)
        testing = importlib.import_module("tensorflow_datasets.testing")
        examples, policy = FILES * RECORDS, testing.MockPolicy.USE_CODE
        with testing.mock_data(num_examples=examples, policy=policy):
            return builder.as_data_source(*args, **kwargs)

    hooks.around(table.TFDS_ASKED, asked)
    hooks.after(table.TFDS_MADE, made)
    hooks.around(table.TFDS_SPLIT, found)
    hooks.around(table.TFDS_READ_BY_PLACE, by_place)


def _is_ours(split: Any, ledger: Ledger) -> bool:
    """Whether a split is of a builder that was given its folder here."""
    template = getattr(split, "filename_template", None)
    return str(getattr(template, "data_dir", "")).startswith(ledger.folder)
