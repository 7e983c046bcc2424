"""tensorflow_datasets: examples of its own mock, in a file, and splits whose size is known.

The mock makes each example in a Python generator, which the real package never does: a few of its
examples are saved, and read as often as the split is long.
"""

import hashlib
import importlib
import os
import re
from collections.abc import Callable
from functools import partial
from typing import Any, cast

from tpudiag.sources.job.points import Call, Kwargs, Library, hooks, privates, table

from .ledger import FILES, RECORDS, Ledger

SPLITS = {"train": FILES * RECORDS, "test": RECORDS, "validation": RECORDS}
"""Split -> examples."""
_KEPT = 64
"""Examples of the mock that are kept."""
_PART = re.compile(r"\[|\+")
"""What follows the name of a split: `train[:10%]`."""


def install(tensorflow: Callable[[], Library], tfds: Library, ledger: Ledger) -> None:
    """Let builders answer with the package's mock for data that were not prepared here.

    `tensorflow` gives the job's, which may be imported later than the package.
    """
    testing = importlib.import_module("tensorflow_datasets.testing")
    mocked: list[object] = []

    def is_away(builder: Any) -> bool:
        return not mocked and not os.path.isdir(str(builder.data_dir))

    def asked(original: Call, *args: object, **kwargs: object) -> object:
        # It would look for the data in a public bucket first.
        kwargs.pop("try_gcs", None)
        return original(*args, **kwargs)

    def made(builder: Any, *_: object, **__: object) -> None:
        if is_away(builder):
            ledger.note(f"tfds {builder.name}", "generator")
            hooks.quietly(_with_splits, tfds, builder)

    def prepared(original: Call, builder: Any, *args: object, **kwargs: object) -> object:
        return None if is_away(builder) else original(builder, *args, **kwargs)

    def read(name: str, original: Call, builder: Any, split: Any = None, **kwargs: Any) -> object:
        if not is_away(builder):
            return original(builder, split, **kwargs)

        def again(of: object) -> object:
            return read(name, original, builder, of, **kwargs)

        if split is None:
            return _Mapping({each: again(each) for each in builder.info.splits}, again)
        if isinstance(split, dict):
            return {key: again(of) for key, of in cast("dict[str, object]", split).items()}
        if isinstance(split, (list, tuple)):
            several = cast("list[object]", split)
            return type(several)(map(again, several))
        return mock(name, builder, split, **kwargs)

    def mock(name: str, builder: Any, split: object, **kwargs: Any) -> object:
        mocked.append(builder)
        # What is read by its place is made when it is read: nothing keeps it from its real length.
        examples = _KEPT if name == "as_dataset" else _examples(builder, split)
        try:
            with testing.mock_data(num_examples=examples, policy=testing.MockPolicy.USE_CODE):
                found = getattr(builder, name)(split=split, **kwargs)
        finally:
            mocked.clear()
        if name != "as_dataset" or kwargs.get("batch_size") == -1:
            return found
        elements = -(-_examples(builder, split) // int(kwargs.get("batch_size") or 1))
        return hooks.quietly(_kept, tensorflow(), ledger, found, elements) or found

    def example(original: Call, generator: object, random: object) -> object:
        return original(generator, _OneLength(random))

    hooks.around(table.TFDS_EXAMPLE, example)
    hooks.around(table.TFDS_ASKED, asked)
    hooks.after(table.TFDS_MADE, made)
    hooks.around(table.TFDS_PREPARED, prepared)
    for at in table.TFDS_READ.each():
        hooks.around(at, partial(read, at.names[0]))


class _OneLength:
    """A generator that draws one length an example: the boxes of a picture and their labels are as
    many, which the mock draws apart."""

    def __init__(self, random: Any) -> None:
        self._random, self._lengths = random, dict[object, Any]()

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._random, name)
        return partial(self._drawn, found) if name in ("integers", "randint") else found

    def _drawn(
        self, draw: Callable[..., Any], low: int, high: int | None = None, size: object = None
    ) -> Any:
        """Sizes are drawn one by one, values as an array."""
        drawn = draw(low, high, size)
        return drawn if size is not None else self._lengths.setdefault((low, high), drawn)


class _Mapping(dict[str, object]):
    """All splits, and whatever other is asked for."""

    def __init__(self, known: Kwargs, made: Callable[[str], object]) -> None:
        super().__init__(known)
        self._of = made

    def __missing__(self, name: str) -> object:
        return self.setdefault(name, self._of(name))


def _examples(builder: Any, split: object) -> int:
    """How many examples a split, or a part of one, has."""
    try:
        return int(builder.info.splits[split].num_examples) or FILES * RECORDS
    except (KeyError, ValueError, TypeError, AttributeError):
        return FILES * RECORDS


def _kept(tf: Library, ledger: Ledger, made: Any, examples: int) -> Any:
    """A dataset that reads examples of the mock from a file, as many as a split has."""
    with tf.init_scope():
        name = hashlib.sha1(repr(made.element_spec).encode(), usedforsecurity=False).hexdigest()
        path = ledger.file(f"tfds/{name[:12]}", made.take(_KEPT).save)

        # The same few as often as the split is long: they are read from memory.
        times = tf.data.Dataset.range(-(-examples // _KEPT))

        def kept(_: object) -> object:
            return tf.data.Dataset.load(path, made.element_spec)

        known = tf.data.experimental.assert_cardinality(examples)
        return times.flat_map(kept).take(examples).apply(known)


def _with_splits(tfds: Library, builder: Any) -> None:
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
            name=name, shard_lengths=[examples], num_bytes=0, filename_template=template
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
