"""keras.datasets, keras.utils.get_file, folders that Keras reads, weights."""

import importlib
import os
import sys
from functools import partial

from tpudiag.sources.job.points import Call, Library, hooks, table

from . import paths
from .holes import Hole, batched
from .ledger import Ledger

_IMAGES = {
    "mnist": ((60000, 10000), (28, 28), 10, (1,)),
    "fashion_mnist": ((60000, 10000), (28, 28), 10, (1,)),
    "cifar10": ((50000, 10000), (32, 32, 3), 10, (2,)),
    "cifar100": ((50000, 10000), (32, 32, 3), 100, (2,)),
}
"""Name -> (examples to train and to test, shape of one, classes, dimensions of the labels)."""


def drawn(original: Call, *args: object, **kwargs: object) -> object:
    """A drawing of a model; none where Graphviz is not, which hosts of notebooks have."""
    try:
        return original(*args, **kwargs)
    except (ImportError, AttributeError, OSError) as error:  # Graphviz, or another pydot
        print(f"tpudiag: no model is drawn here: {error}", file=sys.stderr)
        return None


class KerasData:
    """Answers where Keras would fetch something."""

    def __init__(self, keras: Library, ledger: Ledger) -> None:
        self._ledger = ledger
        self._numpy = importlib.import_module("numpy")
        for each in table.KERAS_DATA_LOADED.each():
            hooks.around(each, self._loader(each.owners[0].rpartition(".")[2]), keras)
        hooks.around(table.KERAS_FILE, self._file, keras)
        hooks.around(table.WEIGHTS_LOADED, self._weights, keras)
        for at in (table.KERAS_PICTURES, table.KERAS_TEXTS):
            hooks.around(at, self._folder, keras)
        hooks.around(table.MODEL_DRAWN, drawn, keras)
        hooks.around(table.FOLDER_GENERATED, self._generated, keras)
        hooks.around(table.TABLE_GENERATED, self._generated_by_table, keras)

    def _loader(self, name: str) -> Call:
        """The stand-in for one dataset's load_data."""

        def load(original: Call, *args: object, **kwargs: object) -> object:
            cached = os.path.expanduser("~/.keras/datasets")  # noqa: PTH111
            stem = name.replace("_", "-")
            if os.path.isdir(cached) and any(  # noqa: PTH112
                file.startswith((stem, name, stem.replace("cifar", "cifar-")))
                for file in os.listdir(cached)  # noqa: PTH208
            ):
                return original(*args, **kwargs)
            self._ledger.note(f"keras.datasets.{name}")
            return self._images(name) if name in _IMAGES else Hole()

        return load

    def _images(self, name: str) -> object:
        """Pictures and labels, of the real number, shape and type."""
        counts, shape, classes, rank = _IMAGES[name]
        # Of a fixed seed: two rehearsals that are compared with each other see the same data.
        random = self._numpy.random.default_rng(0)

        def part(count: int) -> object:
            pictures = random.integers(0, 256, (count, *shape), dtype="uint8")
            label_type = "uint8" if rank == (1,) else "int64"
            labels = random.integers(0, classes, (count, *(1,) * (rank[0] - 1)), dtype=label_type)
            return pictures, labels

        return part(counts[0]), part(counts[1])

    def _folder(self, original: Call, directory: object, *args: object, **kwargs: object) -> object:
        """A dataset of the pictures, or texts, of a folder."""
        if not (paths.is_remote(directory) or paths.is_hosted(directory)):
            return original(directory, *args, **kwargs)
        self._ledger.note(f"{directory} (batches of its files)")
        return batched(kwargs.get("batch_size", 32))

    def _generated(
        self, original: Call, generator: object, directory: object, *a: object, **kw: object
    ) -> object:
        """A generator of the pictures of a folder."""
        return self._folder(partial(original, generator), directory, *a, **kw)

    def _generated_by_table(
        self, original: Call, generator: object, dataframe: object, *args: object, **kw: object
    ) -> object:
        """A generator of the pictures that a table names; Keras drops those that are not there."""
        made = original(generator, dataframe, *args, **kw)
        if self._ledger.any and not getattr(made, "samples", 1):
            self._ledger.note("batches of pictures that a table names")
            return batched(kw.get("batch_size", 32))
        return made

    def _file(
        self,
        original: Call,
        fname: object = None,
        origin: object = None,
        *args: object,
        **kw: object,
    ) -> object:
        """A file that Keras would download: where it would lie, and is not."""
        cache = os.path.expanduser(str(kw.get("cache_dir") or "~/.keras"))  # noqa: PTH111
        folder = os.path.join(cache, str(kw.get("cache_subdir", "datasets")))  # noqa: PTH118
        at = os.path.join(folder, os.path.basename(str(fname or origin)))  # noqa: PTH118, PTH119
        if os.path.exists(at) or str(origin).startswith("file:"):  # noqa: PTH110
            return original(fname, origin, *args, **kw)
        self._ledger.note(f"{origin or fname}")
        paths.fetched(folder)
        return at

    def _weights(
        self, original: Call, model: object, filepath: object, *args: object, **kw: object
    ) -> object:
        """Weights that are not there are left as they were initialised."""
        if not paths.is_hosted(filepath):
            return original(model, filepath, *args, **kw)
        self._ledger.note(f"{filepath} (weights stay as initialised)")
        return None
