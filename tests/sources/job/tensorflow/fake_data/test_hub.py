"""A module of TF Hub that cannot be fetched is a layer as wide as the script says."""

import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tpudiag.sources.job.tensorflow.fake_data import hub
from tpudiag.sources.job.tensorflow.fake_data.holes import Hole
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


def no_one(**_: object) -> None:
    """Is told nothing."""


class Fetched(Layer):
    """As the layer of the package."""


@pytest.fixture
def hub_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """The package, with stand-ins for what of TensorFlow is named."""

    def put(**tensorflow: Any) -> Any:
        module: Any = SimpleNamespace(__name__="tensorflow_hub", KerasLayer=Fetched, load=print)
        monkeypatch.setitem(sys.modules, "tensorflow_hub", module)
        given: Any = SimpleNamespace(**tensorflow)
        hub.install(given, module, Ledger(str(tmp_path), no_one))
        return module

    return put


@pytest.mark.parametrize(
    ("handle", "options", "width"),
    [
        ("https://tfhub.dev/a/feature_vector/5", {"output_shape": [1280]}, 1280),
        ("https://tfhub.dev/a/bert_H-256/1", {"output_shape": [[1, 8], [8]]}, 256),
        ("https://tfhub.dev/bert_en_L-12_H-768_A-12/4", {}, 768),
        ("https://tfhub.dev/a/other/1", {}, 512),
        (Hole(), {}, 512),  # loaded from where nothing is
    ],
)
def test_a_layer_is_as_wide_as_its_script_or_its_name_says(
    hub_with: Callable[..., Any], handle: str, options: dict[str, Any], width: int
) -> None:
    layer = hub_with().KerasLayer(handle, trainable=True, **options)
    layer.build(None)
    assert layer.weights == [(1, width)] and layer.options["trainable"]


def test_texts_are_prepared_in_parts(hub_with: Callable[..., Any]) -> None:
    module = hub_with(ones=np.ones, shape=np.shape, int32=np.int32)
    prepares = module.load("https://tfhub.dev/tensorflow/bert_en_uncased_preprocess/3")
    tokens = prepares.tokenize(["a text", "another"])
    packed = prepares.bert_pack_inputs([tokens, tokens], np.int32(20))
    assert {each.shape for each in packed.values()} == {(2, 20)}
    one: Any = np.array(["one"])
    assert prepares.call(one)["input_mask"].shape == (1, 128)


def test_a_list_of_inputs_gives_what_is_pooled_and_each_position(
    hub_with: Callable[..., Any],
) -> None:
    module = hub_with(cast=np.asarray, reduce_mean=np.mean)
    layer = module.load("https://tfhub.dev/tensorflow/bert_en_L-12_H-768_A-12/1")
    layer._kernel = np.ones((1, 4), "float32")
    pooled, positions = layer.call([np.ones((2, 7))] * 3)
    assert (pooled.shape, positions.shape) == ((2, 4), (2, 7, 4))


def test_as_many_outputs_are_given_as_the_line_takes_apart(hub_with: Callable[..., Any]) -> None:
    numpy: dict[str, Any] = {"cast": np.asarray, "reduce_mean": np.mean, "string": np.str_}
    module = hub_with(**numpy, reshape=np.reshape, shape=np.shape)
    of_keras: dict[str, Any] = {}
    text = "def called(layer, x): layer.build(None); layer._kernel = x[:1]; return layer.call(x)"
    exec(compile(text, "/lib/python3/site-packages/keras/layer.py", "exec"), of_keras)
    called, images = of_keras["called"], np.ones((2, 7), "float32")
    features, attention = called(module.load("https://tfhub.dev/a/vit_fe/1"), images)
    assert features.shape == attention.shape == (2, 7)
    assert called(module.load("https://tfhub.dev/a/vit_fe/1"), images).shape == (2, 7)


def test_what_else_a_module_would_have_is_a_hole(hub_with: Callable[..., Any]) -> None:
    layer = hub_with().KerasLayer("https://tfhub.dev/a/bert/1")
    assert isinstance(layer.resolved_object.vocab_file, Hole) and not hasattr(layer, "_private")
