"""What a script trains with, as far as its text and the settings tell."""

import json
from pathlib import Path

import pytest

from tpudiag.model import Framework
from tpudiag.sources.script import trains_with


@pytest.mark.parametrize(
    ("text", "backend", "framework"),
    [
        ("import jax\nimport optax", None, Framework.JAX),
        ("import tensorflow as tf\nfrom flax import linen", None, Framework.JAX),
        ("import jax\nimport tensorflow as tf\ns = tf.distribute.TPUStrategy(r)", None,
         Framework.TENSORFLOW),
        ("import keras", None, Framework.TENSORFLOW),
        ("import keras", "jax", Framework.JAX),
        ("import os\nos.environ['KERAS_BACKEND'] = 'jax'\nimport keras", None, Framework.JAX),
        ("import os, keras, my\nif my.jax:\n  os.environ['KERAS_BACKEND'] = 'jax'", None,
         Framework.TENSORFLOW),
        ("import os, keras\nif not E.get('KERAS_BACKEND'): E['KERAS_BACKEND'] = 'jax'",
         None, Framework.JAX),
        ("import os\nos.environ['KERAS_BACKEND'] = 'tensorflow'\nimport keras", "jax",
         Framework.TENSORFLOW),
        ("import tensorflow as tf", "jax", Framework.TENSORFLOW),
        ("import tensorflow as tf\nm = tf.keras.Sequential()", "jax", Framework.JAX),
        ("from tensorflow import keras\nkeras.Model()", "jax", Framework.JAX),
        ("from tensorflow.keras import layers as l\nl.Dense(1)", None, Framework.TENSORFLOW),
        ("import tensorflow as tf\ntf.keras.Model()\ntf.GradientTape()", "jax",
         Framework.TENSORFLOW),
        ("import os\nos.environ['TF_USE_LEGACY_KERAS'] = '1'\nfrom tensorflow import keras\n"
         "keras.Model()", "jax", Framework.TENSORFLOW),
        ("import os\nos.environ['TF_USE_LEGACY_KERAS'] = '0'\nfrom tensorflow import keras\n"
         "keras.Model()", "jax", Framework.JAX),
        ("import (", None, Framework.TENSORFLOW),
    ],
)  # fmt: skip
def test_by_imports_and_backend(
    tmp_path: Path, text: str, backend: str | None, framework: Framework
) -> None:
    script = tmp_path / "train.py"
    script.write_text(text)
    variables = {} if backend is None else {"KERAS_BACKEND": backend}
    assert trains_with(str(script), variables, tmp_path) is framework


def test_by_what_its_own_modules_import(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "loop.py").write_text("import jax\nfrom flax import nnx")
    script = tmp_path / "train.py"
    script.write_text("from lib import loop\nloop.main()")
    assert trains_with(str(script), {}, tmp_path) is Framework.JAX
    script.write_text("from lib.loop import main\nmain()")
    assert trains_with(str(script), {}, tmp_path) is Framework.JAX


def test_by_the_settings_of_keras(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text("import keras")
    (tmp_path / ".keras").mkdir()
    (tmp_path / ".keras" / "keras.json").write_text(json.dumps({"backend": "jax"}))
    assert trains_with(str(script), {}, tmp_path) is Framework.JAX
    assert trains_with(str(script), {}, tmp_path, "2.15.0") is Framework.TENSORFLOW
