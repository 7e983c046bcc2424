"""A module of TF Hub that cannot be fetched is a layer as wide as the script says."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tpudiag.sources.job.tensorflow.fake_data import hub
from tpudiag.sources.job.tensorflow.fake_data.ledger import Ledger


class Layer:
    """As the layer of Keras."""

    def __init__(self, **options: object) -> None:
        self.options, self.weights = options, list[tuple[int, ...]]()

    def add_weight(self, shape: tuple[int, ...], **_: object) -> object:
        self.weights.append(shape)
        return shape

    def build(self, _: object) -> None:
        """Nothing more is made."""


class Fetched(Layer):
    """As the layer of the package."""


@pytest.mark.parametrize(
    ("handle", "options", "width"),
    [
        ("https://tfhub.dev/a/feature_vector/5", {"output_shape": [1280]}, 1280),
        ("https://tfhub.dev/a/bert_H-256/1", {"output_shape": [[1, 8], [8]]}, 256),
        ("https://tfhub.dev/bert_en_L-12_H-768_A-12/4", {}, 768),
        ("https://tfhub.dev/a/other/1", {}, 512),
    ],
)
def test_a_layer_is_as_wide_as_its_script_or_its_name_says(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    handle: str,
    options: dict[str, Any],
    width: int,
) -> None:
    def put(**_: object) -> None:
        """Nothing is told here."""

    module: Any = SimpleNamespace(__name__="tensorflow_hub", KerasLayer=Fetched, load=print)
    monkeypatch.setitem(sys.modules, "tensorflow_hub", module)
    tensorflow: Any = SimpleNamespace()
    hub.install(tensorflow, module, Ledger(str(tmp_path), put))
    layer = module.KerasLayer(handle, trainable=True, **options)
    layer.build(None)
    assert layer.weights == [(1, width)] and layer.options["trainable"]
