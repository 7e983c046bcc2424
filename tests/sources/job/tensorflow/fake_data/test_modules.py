"""Modules that only a notebook host has."""

from __future__ import annotations

import importlib
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from tpudiag.sources.job.tensorflow.fake_data.holes import Hole
from tpudiag.sources.job.tensorflow.fake_data.modules import HOSTED, HostedModules


def test_they_answer_and_are_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    noted: list[str] = []
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    ledger: Any = SimpleNamespace(note=noted.append)
    HostedModules(ledger)
    try:
        kaggle = importlib.import_module("kaggle_datasets")
        secrets = importlib.import_module("kaggle_secrets")
        drive = importlib.import_module("google.colab.drive")
        colab = importlib.import_module("google.colab")
        assert kaggle.KaggleDatasets().get_gcs_path("flowers") == "gs://kaggle/flowers"
        assert isinstance(secrets.UserSecretsClient().get_secret("key"), Hole)
        assert isinstance(drive.mount("/content/drive"), Hole)
        assert isinstance(colab.files.upload(), Hole)
        assert not hasattr(colab, "__wrapped__"), "inspect looks for such names"
        with pytest.raises(ModuleNotFoundError):
            importlib.import_module("no_such_module_anywhere")
    finally:
        for name in [n for n in sys.modules if n.startswith(HOSTED[:-1])]:
            sys.modules.pop(name)
        google = sys.modules.get("google")
        if google is not None and hasattr(google, "colab"):
            delattr(google, "colab")
    assert noted[0] == "the module kaggle_datasets" and "the module google.colab" in noted
