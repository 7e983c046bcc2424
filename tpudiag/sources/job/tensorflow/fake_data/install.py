"""Puts every stand-in in its place as the job imports what it stands in for."""

import os
from collections.abc import Callable
from functools import partial

from tpudiag.sources.job.points import Call, Library, Watches, hooks, table

from . import buffers, hub, keras_data, model_holes, paths, tfds_data
from .elements import Elements
from .files import Files
from .filling import Filling
from .holes import Hole
from .ledger import Ledger
from .modules import HostedModules
from .pretrained import Pretrained
from .statements import Statements


class FakeData:
    """All stand-ins for data of one job."""

    def __init__(
        self, folder: str, put: Callable[..., None], written: Callable[[object], bool]
    ) -> None:
        self._ledger = Ledger(os.path.abspath(folder), put)
        self._written = written
        self._tf: Library
        put(stood_in=())
        self.statements = Statements(self._ledger)
        HostedModules(partial(self._ledger.note, kind="service"))
        self._files = Files(self._ledger, written)
        write_and_open_holes()

    def _is_away(self, path: object, for_data: bool) -> bool:
        away = paths.is_missing if for_data else paths.is_absent
        return away(path) and not self._written(path)

    @property
    def used(self) -> bool:
        """Whether anything was stood in for so far."""
        return self._ledger.any

    def watch_tensorflow(self, tf: Library) -> None:
        """Files, records and contents."""
        self._tf = tf
        self._files.watch_tensorflow(tf)
        buffers.install(self._ledger)
        Elements(tf, self._ledger, self._is_away)
        self._filling = Filling(tf, self._ledger)

    def watch_keras(self, keras: Library, of_jax: bool = False) -> None:
        """What Keras would download, and what it is given of no value."""
        keras_data.install(keras, self._ledger)
        self._files.watch_keras(keras)
        if of_jax:
            model_holes.fill_models(keras, self._ledger)
        else:
            self._filling.watch_keras(keras)

    def by_module(self) -> Watches:
        """What is to be told of the import of which module."""
        ledger = self._ledger
        return {
            "tensorflow_datasets": lambda tfds: tfds_data.install(tfds, ledger),
            "tensorflow_hub": lambda module: hub.install(self._tf, module, ledger),
            "torch.utils.data": partial(keras_data.of_torch, ledger),
            "torchvision.datasets": partial(keras_data.of_torchvision, ledger),
            "grain.python": lambda _: hooks.around(table.EXAMPLES_LOADED, self._loads_here),
            "PIL.Image": self._files.watch_pillow,
            "cv2": self._files.watch_opencv,
            "numpy": self._files.watch_numpy,
            "pandas": self._files.watch_pandas,
            **Pretrained(ledger).by_module(),
        }

    def _loads_here(self, original: Call, *args: object, **options: object) -> object:
        """Processes that a loader would start know of no stand-ins."""
        return original(*args, **options | ({"worker_count": 0} if self.used else {}))


def write_and_open_holes() -> None:
    """A hole is written as JSON as a number, and opened as a path that nothing has."""

    def of_json(original: Call, encoder: object, value: object) -> object:
        return int(value) if isinstance(value, Hole) else original(encoder, value)

    def opened(original: Call, file: object, *args: object, **kwargs: object) -> object:
        # Python takes what can be a number for a file that is open.
        named = file.__fspath__() if isinstance(file, Hole) else file
        return original(named, *args, **kwargs)

    hooks.around(table.JSON_WRITTEN, of_json)
    hooks.around(table.FILE_OPENED, opened)
