"""What a model's name tells of its build, and what prepares its examples."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tpudiag.sources.job.points import barrier
from tpudiag.sources.job.tensorflow.fake_data.holes import Hole
from tpudiag.sources.job.tensorflow.fake_data.ledger import Ledger
from tpudiag.sources.job.tensorflow.fake_data.pretrained import Pretrained, configuration


@pytest.mark.parametrize(
    ("name", "kind", "expected"),
    [
        ("bert-base-uncased", "bert", {}),
        ("bert-large-uncased", "bert", {"hidden_size": 1024, "num_hidden_layers": 24}),
        ("xlm-roberta-large", "xlm-roberta", {"vocab_size": 250_002, "hidden_size": 1024}),
        ("distilbert-base-multilingual-cased", "distilbert", {"vocab_size": 119_547}),
        ("roberta-base", "roberta", {"vocab_size": 50_265, "max_position_embeddings": 514}),
    ],
)
def test_a_name_tells_the_size_of_a_model(name: str, kind: str, expected: dict[str, int]) -> None:
    made = configuration(name, kind)
    assert made["model_type"] == kind
    assert {key: made.get(key) for key in expected} == expected


@pytest.fixture
def noted() -> list[Any]:
    """What was stood in for, after each thing."""
    return []


@pytest.fixture
def watch(tmp_path: Path, noted: list[Any]) -> Callable[[Any], None]:
    """Has a module that fetches be imported."""

    def put(**facts: Any) -> None:
        noted.append(facts["stood_in"])

    of_hub = Pretrained(Ledger(str(tmp_path), put))
    return lambda module: of_hub.by_module()[module.__name__](module)


@pytest.fixture
def as_transformers(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, Any], Any]:
    """Has an object be a module of the package that the job has imported."""

    def put(name: str, module: Any) -> Any:
        monkeypatch.setitem(sys.modules, "transformers", SimpleNamespace())
        module.__name__ = f"transformers.{name}"
        monkeypatch.setitem(sys.modules, module.__name__, module)
        return module

    return put


class Config:
    """As a configuration class of the package."""

    model_type = "bert"

    @classmethod
    def get_config_dict(cls, name: str, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        if name == "/there":
            return {"model_type": cls.model_type, "hidden_size": 3}, kwargs
        raise OSError(f"{name} is not a local folder")


def test_what_is_on_this_machine_is_read_and_the_rest_stood_in_for(
    watch: Callable[[Any], None],
    noted: list[Any],
    as_transformers: Callable[[str, Any], Any],
) -> None:
    watch(as_transformers("configuration_utils", SimpleNamespace(PretrainedConfig=Config)))
    assert not barrier.defects(), "what is not imported yet is no defect"
    assert Config.get_config_dict("/there")[0]["hidden_size"] == 3
    assert not noted
    made, left = Config.get_config_dict("bert-large", num_labels=4, revision="main")
    assert made["hidden_size"] == 1024
    assert left == {"num_labels": 4}
    assert "bert-large" in noted[-1][0]


class Resizes:
    """As an image processor of the package."""

    @classmethod
    def from_pretrained(cls, name: str, **_: Any) -> Resizes:
        if name == "of a kind":
            Config.get_config_dict(name)
            raise KeyError(Config)
        raise OSError(f"{name} is not a local folder")


def test_data_of_a_hub_are_read_where_they_are_kept_and_holes_where_not(
    watch: Callable[[Any], None], noted: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def load_dataset(path: str, name: str | None = None, **_: Any) -> Any:
        if path == "kept":
            return "of the cache"
        raise ConnectionError(name)

    made: Any = SimpleNamespace(load_dataset=load_dataset, __name__="datasets")
    monkeypatch.setitem(sys.modules, "datasets", made)
    made.__file__ = __file__
    watch(made)
    assert made.load_dataset is load_dataset, "a module of the user's own"
    made.__file__ = "/site-packages/datasets/__init__.py"
    watch(made)
    assert made.load_dataset("kept") == "of the cache" and not noted
    train, test = made.load_dataset("glue", "mnli", split=["train", "test"])
    assert isinstance(train.map(len)["label"], Hole) and isinstance(test, Hole)
    assert noted[-1] == ("glue, of a hub",)


def test_what_prepares_examples_is_a_hole(
    watch: Callable[[Any], None], as_transformers: Callable[[str, Any], Any]
) -> None:
    utilities = SimpleNamespace(BaseImageProcessor=Resizes)
    watch(as_transformers("configuration_utils", SimpleNamespace(PretrainedConfig=Config)))
    watch(as_transformers("image_processing_utils", utilities))
    for name in ("vit-base", "of a kind"):
        assert isinstance(Resizes.from_pretrained(name), Hole)


class Auto:
    """As an automatic class of the package: it looks for the configuration by itself."""

    @classmethod
    def from_pretrained(cls, model: str, config: object = None, **_: Any) -> object:
        if config is None:
            raise OSError(f"Incorrect path_or_model_id: '{model}'")
        return config


def test_an_automatic_class_is_told_the_configuration_of_a_folder_that_is_not_there(
    watch: Callable[[Any], None], as_transformers: Callable[[str, Any], Any]
) -> None:
    config = SimpleNamespace(from_pretrained="as {}".format)
    for name in ("models", "models.auto"):
        as_transformers(name, SimpleNamespace())
    as_transformers("models.auto.configuration_auto", SimpleNamespace(AutoConfig=config))
    factory = SimpleNamespace(_BaseAutoModelClass=Auto)
    made = as_transformers("models.auto.auto_factory", factory)
    watch(made)
    assert Auto.from_pretrained(model="/input/roberta-base/") == "as /input/roberta-base/"
