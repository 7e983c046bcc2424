"""tensorflow_datasets: its own mock, and splits whose size is known."""

from __future__ import annotations

import importlib
from typing import Any

from tpudiag.sources.job.tensorflow import hooks

from .ledger import FILES, RECORDS, Ledger

SPLITS = {"train": FILES, "test": 1, "validation": 1}
"""Split -> shards of so many records each."""

_kept: list[Any] = []
"""The mock lasts as long as it is held."""


def install(tfds: Any, ledger: Ledger) -> None:
    """Let tfds.load and tfds.builder answer with the package's mock for data that is not there."""

    def load(original: Any, name: Any, *args: Any, **kwargs: Any) -> Any:
        ledger.note(f"tfds {name}")
        kwargs.pop("try_gcs", None)
        return original(name, *args, **kwargs)

    def built(original: Any, *args: Any, **kwargs: Any) -> Any:
        kwargs.pop("try_gcs", None)
        builder = original(*args, **kwargs)
        _with_splits(tfds, builder)
        return builder

    testing: Any = importlib.import_module("tensorflow_datasets.testing")
    mock: Any = testing.mock_data(num_examples=FILES * RECORDS, policy=testing.MockPolicy.USE_CODE)
    mock.__enter__()
    _kept.append(mock)
    load_module: Any = importlib.import_module("tensorflow_datasets.core.load")
    for owner in (tfds, load_module):
        hooks.around(owner, "builder", built)
        hooks.around(owner, "load", load)


def _with_splits(tfds: Any, builder: Any) -> None:
    """Give a builder without data its splits: scripts read sizes off them."""
    if builder.info.splits:
        return
    splits: Any = importlib.import_module("tensorflow_datasets.core.splits")
    builder.info.set_splits(
        splits.SplitDict(
            [
                tfds.core.SplitInfo(
                    name=name, shard_lengths=[RECORDS] * shards, num_bytes=0,
                    filename_template=tfds.core.ShardedFileTemplate(
                        dataset_name=builder.name, data_dir=builder.data_dir, split=name,
                        filetype_suffix="tfrecord",
                    ),
                )
                for name, shards in SPLITS.items()
            ]
        )
    )  # fmt: skip
