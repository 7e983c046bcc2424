"""Modules that only a notebook host has."""

import importlib
import sys

import pytest

from tpudiag.missing_modules import hosted
from tpudiag.sources.job.tensorflow.fake_data.modules import OF_SESSIONS, HostedModules


def test_they_answer_and_are_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    noted: list[str] = []
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    HostedModules(noted.append, OF_SESSIONS)
    assert importlib.import_module("google.colab.userdata").get("key") == "0"
    assert all(name.startswith("the module google") for name in noted), "it signs in: no data"
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("kaggle_datasets")
    try:
        importlib.import_module("google.colab.output")
    except ImportError:
        assert "google.colab.output" not in sys.modules, "the script goes on without"
    else:
        pytest.fail("a module that a script can do without is not stood in for")
    noted.clear()
    HostedModules(noted.append)
    try:
        try:
            kaggle = importlib.import_module("kaggle_datasets")
        except ImportError:
            pytest.fail("the machine that has the TPU has it: nothing else reads its data")
        secrets = importlib.import_module("kaggle_secrets")
        drive = importlib.import_module("google.colab.drive")
        colab = importlib.import_module("google.colab")
        assert kaggle.KaggleDatasets().get_gcs_path("flowers") == "gs://kaggle/flowers"
        client = secrets.UserSecretsClient()
        assert client.get_secret("key") == "0" and client.set_tensorflow_credential(1) == "0"
        assert not drive.mount("/content/drive").get("x").startswith("/"), "whatever is asked"
        assert [*colab.files.upload().keys()], "the name of a file"
        assert not hasattr(colab, "__wrapped__"), "inspect looks for such names"
        with pytest.raises(ModuleNotFoundError):
            importlib.import_module("no_such_module_anywhere")
    finally:
        for name in [each for each in sys.modules if hosted(each)]:
            del sys.modules[name]
        google = sys.modules.get("google")
        if google is not None and hasattr(google, "colab"):
            delattr(google, "colab")
    assert noted[0] == "the module kaggle_datasets" and "the module google.colab.drive" in noted
