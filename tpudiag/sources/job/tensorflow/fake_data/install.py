"""Puts every stand-in in its place as the job imports what it stands in for."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from . import (
    archives,
    folders,
    hub,
    hub_datasets,
    opened_files,
    paths,
    records,
    shuffles,
    tables,
    tfds_data,
)
from .files import Files
from .filling import Filling
from .images import Contents
from .keras_data import KerasData
from .ledger import MARKER, Ledger
from .modules import HostedModules
from .pictures import Pictures
from .pretrained import Pretrained
from .statements import Statements


class FakeData:
    """All stand-ins for data of one job."""

    def __init__(
        self, folder: str, put: Callable[..., None], written: Callable[[Any], bool]
    ) -> None:
        self._ledger = Ledger(os.path.abspath(folder), put)  # noqa: PTH100
        self._written = written
        self._tf: Any = None
        put(stood_in=())
        self.statements = Statements(self._ledger)
        HostedModules(self._ledger.note)
        folders.install(self._ledger)
        opened_files.install(self._ledger)
        archives.install(self._ledger)
        self._pretrained = Pretrained(self._ledger)
        self._pictures = Pictures(self._ledger)

    @property
    def used(self) -> bool:
        """Whether anything was stood in for so far."""
        return self._ledger.any

    def watch_tensorflow(self, tf: Any) -> None:
        """Files, records and contents."""
        self._tf = tf

        def marked(strings: Any) -> Any:
            # RE2's dot matches no line end.
            return tf.strings.regex_full_match(strings, f"{MARKER}(.|\n)*")

        Files(tf, self._ledger, self._written)
        records.install(tf, marked, self._ledger)
        shuffles.install(self._ledger)
        Contents(tf, marked)
        self._filling = Filling(tf, self._ledger)

    def watch_keras(self, keras: Any, package: str) -> None:
        """What Keras would download."""
        KerasData(keras, package, self._ledger)
        self._filling.watch_keras(keras)

    def watch_tfds(self, tfds: Any) -> None:
        """What tensorflow_datasets would download."""
        tfds_data.install(lambda: self._tf, tfds, self._ledger)

    def watch_pandas(self, pandas: Any) -> None:
        """Tables."""
        tables.install(pandas, self._ledger, self._written)

    def watch_datasets(self, module: Any) -> None:
        """What Hugging Face's datasets would download."""
        hub_datasets.install(module, self._ledger)

    def watch_evaluate(self, module: Any) -> None:
        """What Hugging Face's evaluate would download."""
        if hasattr(module, "EvaluationModule"):
            hub_datasets.metrics(module, self._ledger)

    def watch_numpy(self, numpy: Any) -> None:
        """Arrays."""
        opened_files.watch_numpy(numpy, self._ledger)

    def by_module(self) -> dict[str, Callable[[Any], None]]:
        """What is to be told of the import of which module."""
        base = "transformers."
        return {
            "tensorflow_datasets": self.watch_tfds,
            "tensorflow_hub": self.watch_hub,
            "datasets": self.watch_datasets,
            "evaluate": self.watch_evaluate,
            "numpy": self.watch_numpy,
            "pandas": self.watch_pandas,
            "PIL.Image": self._pictures.watch_pil,
            "cv2": self._pictures.watch_opencv,
            base + "configuration_utils": self._pretrained.watch_configurations,
            base + "modeling_tf_utils": self._pretrained.watch_models,
            base + "tokenization_utils_base": self._pretrained.watch_tokenizers,
            base + "models.auto.auto_factory": self._pretrained.watch_auto_models,
            base + "models.auto.tokenization_auto": self._pretrained.watch_auto_tokenizer,
            base + "image_processing_utils": self._pretrained.watch_picture_processors,
            base + "models.auto.image_processing_auto": self._pretrained.watch_picture_processors,
        }

    def watch_hub(self, module: Any) -> None:
        """What TF Hub would download."""
        hub.install(self._tf, module, self._ledger)


__all__ = ["FakeData", "paths"]
