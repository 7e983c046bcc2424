"""Data sets of Keras and torchvision, keras.utils.get_file, and what loaders of torch read."""

import importlib
import os
from functools import partial
from typing import Any

from tpudiag.sources.job.points import Call, Library, hooks, table

from . import holes, missing_data_errors, paths
from .holes import Hole
from .ledger import Ledger

_IMAGES = {
    "mnist": ((60000, 10000), (28, 28), 10, 1),
    "fashion_mnist": ((60000, 10000), (28, 28), 10, 1),
    "cifar10": ((50000, 10000), (32, 32, 3), 10, 2),
    "cifar100": ((50000, 10000), (32, 32, 3), 100, 2),
}
"""Name -> (examples to train and to test, shape of one, classes, dimensions of the labels)."""

_OF_PROCESSES = (
    "num_workers", "prefetch_factor", "persistent_workers", "timeout", "multiprocessing_context",
)  # fmt: skip
"""What a loader of torch is told of processes of its own, which would know of no stand-ins."""


def install(keras: Library, ledger: Ledger) -> None:
    """Answer where Keras would fetch something; what it fetched before is read."""

    def load(name: str, original: Call, *args: object, **kwargs: object) -> object:
        try:
            return original(*args, **kwargs)
        except OSError:  # also of the file that `fetched` names
            ledger.note(f"keras.datasets.{name}")
            return _pictures(name) if name in _IMAGES else Hole()

    def fetched(
        original: Call, fname: object = None, origin: object = None, *a: object, **kw: object
    ) -> object:
        """A file that Keras would download: where it would lie, and is not."""
        cache = os.path.expanduser(str(kw.get("cache_dir") or "~/.keras"))
        folder = os.path.join(cache, str(kw.get("cache_subdir", "datasets")))
        at = os.path.join(folder, os.path.basename(str(fname or origin)))
        if os.path.exists(at) or str(origin).startswith("file:"):
            return original(fname, origin, *a, **kw)
        ledger.note(f"{origin or fname}")
        paths.fetched(folder)
        return at

    for each in table.KERAS_DATA_LOADED.each():
        hooks.around(each, partial(load, each.owners[0].rpartition(".")[2]), keras)
    hooks.around(table.KERAS_FILE, fetched, keras)


def of_torchvision(ledger: Ledger, _: Library) -> None:
    """Give its sets of pictures, and those that inherit from them, pictures where it has none."""

    def made(original: Call, dataset: Any, *args: object, **kwargs: object) -> None:
        try:
            original(dataset, *args, **kwargs)
        except (OSError, RuntimeError):  # it is not found, or cannot be fetched
            kinds = (each.__name__.lower() for each in type(dataset).__mro__)
            name = next(name for name in kinds if name in _IMAGES)
            ledger.note(f"torchvision.datasets.{type(dataset).__name__}")
            parts: Any = _pictures(name)
            dataset.data, labels = parts[not dataset.train]
            dataset.targets = labels.ravel().tolist()
            if name == "mnist":  # which holds tensors, and knows its classes
                torch: Any = importlib.import_module("torch")
                dataset.data, dataset.targets = map(
                    torch.as_tensor, (dataset.data, dataset.targets)
                )
            else:
                dataset.classes = [str(label) for label in range(_IMAGES[name][2])]

    hooks.around(table.TORCH_PICTURES, made)


def of_torch(ledger: Ledger, _: Library) -> None:
    """Batches of examples that a data set of the script's own cannot read."""

    def fetched(original: Call, fetcher: Any, at: Any) -> object:
        try:
            return original(fetcher, at)
        except Exception as error:
            if not _wants(error):
                raise
            ledger.note(f"what {type(fetcher.dataset).__name__} reads")
            return Hole() if isinstance(at, int) else holes.batched(len(at))

    def made(original: Call, loader: object, dataset: Any, *args: Any, **options: Any) -> None:
        try:
            _ = dataset[0] if options.get("num_workers") else None
        except Exception as error:
            for name in _OF_PROCESSES if _wants(error) else ():
                options.pop(name, None)
        original(loader, dataset, *args, **options)

    hooks.around(table.TORCH_FETCHED, fetched)
    hooks.around(table.TORCH_LOADER, made)


def _wants(error: Exception) -> bool:
    return missing_data_errors.is_absent(error) or missing_data_errors.is_of_hole(error)


def _pictures(name: str) -> object:
    """Pictures and labels, of the real number, shape and type."""
    counts, shape, classes, rank = _IMAGES[name]
    # Of a fixed seed: two rehearsals that are compared with each other see the same data.
    random: Any = importlib.import_module("numpy").random.default_rng(0)
    dtype = "uint8" if rank == 1 else "int64"

    def part(count: int) -> object:
        pictures = random.integers(0, 256, (count, *shape), dtype="uint8")
        return pictures, random.integers(0, classes, (count, 1)[:rank], dtype=dtype)

    return tuple(map(part, counts))
