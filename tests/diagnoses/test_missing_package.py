"""What to install where a package is missing."""

from pathlib import Path

import pytest

from tpudiag.diagnoses.missing_package import advice


@pytest.mark.parametrize(
    ("module", "installed"),
    [
        ("cv2", "pip install opencv-python-headless"),
        ("official.nlp.bert", "pip install tf-models-official"),
        ("google.cloud.storage", "pip install google-cloud-storage"),
        ("tensorflow_addons", "pip install tensorflow-addons"),
        ("gin", "pip install gin-config"),
    ],
)
def test_the_package_is_named_as_it_is_installed(module: str, installed: str) -> None:
    text = advice(f"ModuleNotFoundError: No module named '{module}'", "/env/bin/python")
    assert text is not None
    assert f"/env/bin/python -m {installed})" in text


def test_a_module_of_a_package_that_is_there_is_not_to_be_installed() -> None:
    gone = "ModuleNotFoundError: No module named 'transformers.tokenization_bert'"
    assert advice(gone, "python") is None
    text = advice("ModuleNotFoundError: No module named 'google.auth.aio'", "python")
    assert text is not None and "not in the environment" in text


def test_a_part_of_a_namespace_is_brought_by_another_package(tmp_path: Path) -> None:
    (tmp_path / "lib/python3.11/site-packages/orbax/checkpoint").mkdir(parents=True)
    python = str(tmp_path / "bin" / "python")
    text = advice("ModuleNotFoundError: No module named 'orbax.export'", python)
    assert text is not None
    assert text.startswith("orbax.export is not in") and "pip install orbax-export)" in text


@pytest.mark.parametrize(
    "error",
    [
        "ModuleNotFoundError: No module named 'tensorflow.contrib'",
        "ModuleNotFoundError: No module named 'keras.layers.core'",
        "ImportError: cannot import name 'x' from 'y'",
    ],
)
def test_other_errors_need_no_package(error: str) -> None:
    assert advice(error, "python") is None


def test_a_module_of_the_repository_is_not_to_be_installed(tmp_path: Path) -> None:
    (tmp_path / "dataloader.py").touch()
    script = tmp_path / "tf2" / "train.py"
    text = advice("ModuleNotFoundError: No module named 'dataloader'", "python", str(script))
    assert text is not None and f"PYTHONPATH={tmp_path} tpudiag check" in text
    text = advice("ModuleNotFoundError: No module named 'cv2'", "python", str(script))
    assert text is not None and "pip install" in text
