"""keras.datasets, keras.utils.get_file and the weights that come with it."""

from __future__ import annotations

import importlib
import os
import re
import sys
from typing import Any

from tpudiag.sources.job.points import hooks, table

from . import paths
from .folders import picture, pictures_of, texts_of
from .holes import Hole
from .ledger import Ledger
from .program_text import classes, sources
from .text_files import ARCHIVE, archive, fetched

_IMAGES = {
    "mnist": ((60000, 10000), (28, 28), 10, (1,)),
    "fashion_mnist": ((60000, 10000), (28, 28), 10, (1,)),
    "cifar10": ((50000, 10000), (32, 32, 3), 10, (2,)),
    "cifar100": ((50000, 10000), (32, 32, 3), 100, (2,)),
}
"""Name -> (examples to train and to test, shape of one, classes, dimensions of the labels)."""
_PICTURE = re.compile(r"\.(jpe?g|png|gif|bmp|webp)$", re.I)


def drawn(original: Any, *args: Any, **kwargs: Any) -> Any:
    """A drawing of a model; none where Graphviz is not, which hosts of notebooks have."""
    try:
        return original(*args, **kwargs)
    except (ImportError, AttributeError, OSError) as error:  # Graphviz, or another pydot
        print(f"tpudiag: no model is drawn here: {error}", file=sys.stderr)
        return None


class KerasData:
    """Answers where Keras would fetch something."""

    def __init__(self, keras: Any, package: str, ledger: Ledger) -> None:
        self._ledger = ledger
        version = str(getattr(keras, "__version__", "2"))
        self._gives_archive = package == "tf_keras" or version.startswith("2")
        self._numpy: Any = importlib.import_module("numpy")
        for each in table.KERAS_DATA_LOADED.each():
            hooks.around(each, self._loader(each.owners[0].rpartition(".")[2]), keras)
        hooks.around(table.KERAS_FILE, self._file, keras)
        hooks.around(table.WEIGHTS_LOADED, self._weights, keras)
        hooks.around(table.KERAS_PICTURES, self._pictures, keras)
        hooks.around(table.KERAS_TEXTS, self._text_files, keras)
        hooks.around(table.MODEL_DRAWN, drawn, keras)
        hooks.around(table.FOLDER_GENERATED, self._generated, keras)
        hooks.around(table.TABLE_GENERATED, self._generated_by_table, keras)

    def _loader(self, name: str) -> Any:
        """The stand-in for one dataset's load_data."""

        def load(original: Any, *args: Any, **kwargs: Any) -> Any:
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

    def _images(self, name: str) -> Any:
        """Pictures and labels, of the real number, shape and type."""
        counts, shape, classes, rank = _IMAGES[name]
        # Of a fixed seed: two rehearsals that are compared with each other see the same data.
        random = self._numpy.random.default_rng(0)

        def part(count: int) -> Any:
            pictures = random.integers(0, 256, (count, *shape), dtype="uint8")
            label_type = "uint8" if rank == (1,) else "int64"
            labels = random.integers(0, classes, (count, *(1,) * (rank[0] - 1)), dtype=label_type)
            return pictures, labels

        return part(counts[0]), part(counts[1])

    def _generated(
        self, original: Any, generator: Any, directory: Any, *args: Any, **kw: Any
    ) -> Any:
        """A generator of the pictures of a folder."""
        if paths.is_remote(directory) or paths.is_hosted(directory):
            self._ledger.note(f"{directory} (batches of pictures)")
            return Hole()
        return original(generator, directory, *args, **kw)

    def _generated_by_table(
        self, original: Any, generator: Any, dataframe: Any, *args: Any, **kw: Any
    ) -> Any:
        """A generator of the pictures that a table names; Keras drops those that are not there."""
        made = original(generator, dataframe, *args, **kw)
        if self._ledger.any and not getattr(made, "samples", 1):
            self._ledger.note("batches of pictures that a table names")
            return Hole()
        return made

    def _file(
        self, original: Any, fname: Any = None, origin: Any = None, *args: Any, **kw: Any
    ) -> Any:
        """A file that Keras would download: one of its kind, or a folder of pictures."""
        name = os.path.basename(str(fname or origin))  # noqa: PTH119
        cache = os.path.expanduser(str(kw.get("cache_dir") or "~/.keras"))  # noqa: PTH111
        cached = os.path.join(cache, str(kw.get("cache_subdir", "datasets")), name)  # noqa: PTH118
        if os.path.exists(cached) or str(origin).startswith("file:"):  # noqa: PTH110
            return original(fname, origin, *args, **kw)
        self._ledger.note(f"{origin or fname}")
        if kw.get("extract") or kw.get("untar"):
            paths.unpack_in(os.path.join(self._ledger.folder, "archives"))  # noqa: PTH118
            if kw.get("cache_dir"):
                # Scripts name what was unpacked from there, too.
                kept = os.path.join(str(kw["cache_dir"]), str(kw.get("cache_subdir", "datasets")))  # noqa: PTH118
                paths.unpack_in(os.path.abspath(kept))  # noqa: PTH100
            folder = pictures_of(self._ledger, ARCHIVE.sub("", name), classes(sources()))
            # Keras 2 gives the archive that it has unpacked beside it, and scripts open that.
            packed = self._gives_archive and not kw.get("untar") and ARCHIVE.search(name)
            return archive(self._ledger, name, "archives") if packed else folder
        # The operations that decode and PIL go by the content, not by the name.
        return picture(self._ledger) if _PICTURE.search(name) else fetched(self._ledger, name)

    def _pictures(self, original: Any, directory: Any, *args: Any, **kwargs: Any) -> Any:
        """A dataset of the pictures of a folder."""
        if paths.is_remote(directory) or paths.is_hosted(directory):
            self._ledger.note(f"{directory} (a folder of pictures for each class)")
            name = os.path.basename(str(directory).rstrip("/"))  # noqa: PTH119
            directory = pictures_of(self._ledger, name, classes(sources()))
        return original(directory, *args, **kwargs)

    def _text_files(self, original: Any, directory: Any, *args: Any, **kwargs: Any) -> Any:
        """A dataset of the texts of a folder."""
        if paths.is_remote(directory) or paths.is_hosted(directory):
            self._ledger.note(f"{directory} (a folder of texts for each class)")
            name = os.path.basename(str(directory).rstrip("/"))  # noqa: PTH119
            directory = texts_of(self._ledger, name, classes(sources()))
        return original(directory, *args, **kwargs)

    def _weights(self, original: Any, model: Any, filepath: Any, *args: Any, **kw: Any) -> Any:
        """Weights that were stood in for are left as they were initialised."""
        # Through a link, where the script copied it.
        if os.path.realpath(str(filepath)).startswith(self._ledger.folder):
            return None
        if paths.is_hosted(filepath):
            self._ledger.note(f"{filepath} (weights stay as initialised)")
            return None
        return original(model, filepath, *args, **kw)
