"""Trackers are kept on this machine."""

import os
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from tpudiag.signals import SendKind
from tpudiag.sources.job.held_back.calls import by_module
from tpudiag.sources.job.held_back.trackers import TRACKERS, Trackers


@pytest.fixture
def noted(monkeypatch: pytest.MonkeyPatch) -> list[tuple[SendKind, str]]:
    for name in (name for each in TRACKERS for name in (*each.variables, *each.addresses)):
        monkeypatch.setenv(name, "before")
    return []


def test_by_their_own_switches(noted: list[tuple[SendKind, str]]) -> None:
    os.environ["MLFLOW_TRACKING_URI"] = "https://mlflow.example"
    os.environ["MLFLOW_REGISTRY_URI"] = "file:///here"
    Trackers(lambda kind, what: noted.append((kind, what)), "/folder")
    assert os.environ["WANDB_MODE"] == os.environ["NEPTUNE_MODE"] == "offline"
    assert os.environ["MLFLOW_TRACKING_URI"] == "file:///folder/mlflow"
    assert os.environ["MLFLOW_REGISTRY_URI"] == "file:///here"
    assert all(each.source.startswith("https://") for each in TRACKERS)


def test_a_script_does_not_switch_its_tracker_on(noted: list[tuple[SendKind, str]]) -> None:
    def given(*args: Any, **kwargs: Any) -> Any:
        return args, kwargs

    watches = Trackers(lambda kind, what: noted.append((kind, what)), "/folder").by_module()
    wandb: Any = SimpleNamespace(init=given)
    mlflow: Any = SimpleNamespace(set_tracking_uri=given, start_run=given)
    watches["wandb"](wandb)
    watches["mlflow"](mlflow)
    assert wandb.init(project="p", mode="online") == ((), {"project": "p", "mode": "offline"})
    assert wandb.init(mode="disabled") == ((), {"mode": "disabled"})
    assert mlflow.set_tracking_uri("https://a.example") == (("file:///folder/mlflow",), {})
    assert mlflow.set_tracking_uri("runs") == (("runs",), {})
    mlflow.start_run()
    assert noted == [(SendKind.RUN, "wandb"), (SendKind.RUN, "mlflow")]


def test_a_push_to_a_hub_is_answered(
    noted: list[tuple[SendKind, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    class HfApi:
        def create_commit(self, repo_id: str) -> str:
            raise AssertionError(repo_id)

        def model_info(self, repo_id: str) -> str:
            return repo_id

    api = HfApi()
    module: Any = SimpleNamespace(HfApi=HfApi, api=api, create_commit=api.create_commit)
    watches = by_module(lambda kind, what: noted.append((kind, what)))
    monkeypatch.setitem(sys.modules, "huggingface_hub", ModuleType("huggingface_hub"))
    monkeypatch.setitem(sys.modules, "huggingface_hub.hf_api", module)
    watches["huggingface_hub.hf_api"](module)
    done: Any = api.create_commit("me/model")
    assert f"{done.oid} {done.pr_url.strip()}" and module.create_commit("me/model")
    assert api.model_info("me/model") == "me/model", "reads are made"
    assert noted == [(SendKind.PUSH, "Hugging Face hub")] * 2
