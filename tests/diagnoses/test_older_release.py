"""Failures due to removed names, with the release that still has them."""

from pathlib import Path

import pytest

from tpudiag.diagnoses.of_code import is_of_code
from tpudiag.diagnoses.older_release import advice, of_package
from tpudiag.location import Location
from tpudiag.script_run import CodeFrame, Crash


@pytest.mark.parametrize(
    ("error", "name", "release"),
    [
        (
            "AttributeError: module 'keras.api._v2.keras.layers.experimental' has no attribute "
            "'SyncBatchNormalization'",
            "SyncBatchNormalization",
            "2.15",
        ),
        ("ValueError: Argument(s) not recognized: {'lr': 0.001}", "lr", "2.15"),
        ("A KerasTensor cannot be used as input to a TensorFlow function", "Keras", "2.15"),
        ("ModuleNotFoundError: No module named 'tensorflow_addons'", "addons", "2.15"),
        ("AttributeError: module 'tensorflow' has no attribute 'estimator'", "estimator", "2.15"),
        ("AttributeError: 'Model' object has no attribute 'fit_generator'", "fit_gen", "2.15"),
        ("ImportError: cannot import name 'TFBertModel' from 'transformers'", "TFBertModel", "<5"),
        ("ModuleNotFoundError: No module named 'numpy.dual'", "numpy 1.24", "'numpy==1.24.*'"),
    ],
)
def test_the_release_that_has_it_is_named(error: str, name: str, release: str) -> None:
    text = advice(error, "2.19.1")
    assert text is not None and f"{name}" in text and release in text and "--python" in text
    assert "tensorflow" not in (advice(error, of_jax=True) or "")


BEHIND = '  File "{0}/lib/python3.11/site-packages/sklearn/utils/_param.py", line 9, in wrapper\n'
KEYWORD = "TypeError: got an unexpected keyword argument 'squared'"
BOUND = "TypeError: too many positional arguments"
MODULE = "ModuleNotFoundError: No module named 'sklearn.old'"
NAME = "AttributeError: module 'sklearn.metrics' has no attribute 'score'"


@pytest.mark.parametrize(
    ("error", "call", "behind", "told"),
    [
        (KEYWORD, "score = error(y, p, squared=False)", BEHIND, "takes no `squared`"),
        (KEYWORD, "model.fit(x, y)", BEHIND, ""),
        (BOUND, "weights = balanced('even',", BEHIND, "takes fewer arguments by position"),
        (BOUND, "weights = balanced(*columns)", BEHIND, ""),
        (BOUND, "model.fit(x, y)", BEHIND * 2, ""),  # what a library called itself
        (NAME, "metrics.score(y, p)", "", "has no `sklearn.metrics.score`"),
        (NAME, "metrics.error(y, p)", BEHIND, ""),  # what a library asked for
        (MODULE, "from sklearn.old import score", "", "has no `sklearn.old`"),
        (NAME.replace("sklearn", "mine"), "metrics.score(y, p)", "", ""),
    ],
)
def test_a_package_of_another_release_than_the_scripts_is_named(
    error: str, call: str, behind: str, told: str, tmp_path: Path
) -> None:
    place = tmp_path / "lib" / "python3.11" / "site-packages" / "scikit_learn-1.8.0.dist-info"
    place.mkdir(parents=True)
    (place / "RECORD").write_text("sklearn/__init__.py,sha256=x,9\n")
    script = tmp_path / "job" / "train.py"
    frame = CodeFrame(Location(str(script), 3), "<module>", call)
    crash = Crash(error, (frame,), f"{call}\n{behind.format(tmp_path)}")
    text = of_package(crash, str(tmp_path / "bin" / "python"))
    assert (text is not None) is bool(told)
    assert is_of_code(error, crash) is (bool(told) or error != BOUND)
    if text is not None:
        assert f"scikit-learn 1.8.0 here {told}" in text and "not known here" in text
        script.parent.mkdir()
        (script.parent / "requirements.txt").write_text("numpy\nscikit_learn==1.3.2\n")
        pinned = of_package(crash, str(tmp_path / "bin" / "python"))
        assert pinned is not None and "'scikit-learn==1.3.2'" in pinned


@pytest.mark.parametrize(("text", "told"), [("from .api import load\n", False), ("", True)])
def test_a_package_that_failed_to_be_imported_is_of_no_other_release(
    text: str, told: bool, tmp_path: Path
) -> None:
    home = tmp_path / "lib" / "python3.11" / "site-packages"
    record = "sets-1.dist-info/RECORD", "sets/__init__.py,,9"
    for name, content in (record, ("sets/__init__.py", text)):
        (home / name).parent.mkdir(parents=True)
        (home / name).write_text(content)
    frame = CodeFrame(Location("job.py", 3), "<module>", "sets.load()")
    error = "AttributeError: module 'sets' has no attribute 'load'"
    crash = Crash(error, (frame,), "sets.load()\n")
    assert (of_package(crash, str(tmp_path / "bin" / "python")) is not None) is told


def test_what_no_release_that_is_rehearsed_has_is_said_to_be_so() -> None:
    text = advice("ModuleNotFoundError: No module named 'keras.layers.core'", "2.15.1")
    assert text is not None and "keras 2.12" in text and "--python" not in text


@pytest.mark.parametrize(
    ("error", "tensorflow"),
    [
        ("ModuleNotFoundError: No module named 'cv2'", "2.19.1"),
        ("AttributeError: 'NoneType' object has no attribute 'shape'", "2.19.1"),
        ("ImportError: cannot import name 'x' from 'mine'", "2.19.1"),
        ("AttributeError: module 'tensorflow' has no attribute 'placeholder'", "2.19.1"),
        ("AttributeError: module 'keras._tf_keras.keras' has no attribute 'Foo'", "2.19.1"),
        ("NameError: name 'keras' is not defined", "2.19.1"),
        # Not in a release that is old enough: it is not gone by age.
        ("AttributeError: module 'tensorflow.keras' has no attribute '__version__'", "2.15.1"),
        ("ValueError: Argument(s) not recognized: {'lr': 0.001}", "2.15.1"),
    ],
)
def test_other_errors_are_of_no_age(error: str, tensorflow: str) -> None:
    assert advice(error, tensorflow) is None
