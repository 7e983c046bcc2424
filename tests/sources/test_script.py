"""Facts from a script's source, without running it."""

from pathlib import Path

import pytest

from tpudiag.sources.script import file_of, look

TF1 = {
    "import tensorflow as tf\nwith tf.Session() as s: pass\n": ("tf.Session", 2),
    "import tensorflow.compat.v1 as tf\ntf.disable_v2_behavior()\n": (
        "tf.compat.v1.disable_v2_behavior",
        2,
    ),
    "from tensorflow.contrib import tpu\n": ("tf.contrib.tpu", 1),
    "import tensorflow as t\nx = t.estimator.Estimator(1)\n": ("tf.estimator.Estimator", 2),
    "from tensorflow.compat.v1 import placeholder as p\np(1)\n": ("tf.compat.v1.placeholder", 1),
}
TF2 = (
    "import tensorflow as tf\ntf.compat.v1.logging.set_verbosity(1)\n",
    "import tensorflow as tf\nopt = tf.compat.v1.train.AdamOptimizer()\n",
    "class Session: pass\nSession()\n",
    "import requests\nrequests.Session()\n",
    "def broken(:\n",
    "import tensorflow as tf\nif tf.executing_eagerly():\n    pass\nelse:\n    tf.Session()\n",
    "import tensorflow as tf\nif tf.__version__ < '2':\n    tf.placeholder(1)\n",
    "import tensorflow as tf\ntry:\n    c = tf.contrib.x\nexcept AttributeError:\n    c = None\n",
)


@pytest.mark.parametrize("text", TF1)
def test_a_tensorflow_1_interface_is_named_with_its_line(tmp_path: Path, text: str) -> None:
    file = tmp_path / "job.py"
    file.write_text(text)
    facts = look(str(file))
    api, line = TF1[text]
    assert (api, line) in {(use.api, use.location and use.location.line) for use in facts.tf1}
    assert facts.is_tensorflow_1


@pytest.mark.parametrize("text", TF2)
def test_tensorflow_2_is_left_alone(tmp_path: Path, text: str) -> None:
    file = tmp_path / "job.py"
    file.write_text(text)
    assert look(str(file)).tf1 == ()


def test_a_script_that_only_defines_functions_is_known(tmp_path: Path) -> None:
    file = tmp_path / "job.py"
    file.write_text("import os\nSIZE = 3\ndef train():\n    return os.getcwd()\n")
    assert look(str(file)).defines == ("train",)
    file.write_text("def train():\n    pass\nif True:\n    train()\n")
    assert look(str(file)).defines == ()


def test_calls_that_save_are_found(tmp_path: Path) -> None:
    file = tmp_path / "job.py"
    file.write_text("model.fit(x)\nmodel.save('m.keras')\n")
    assert [place.line for place in look(str(file)).saves] == [2]
    file.write_text("import numpy\nget_ipython().run_cell_magic('time', '', 'model.save(x)')\n")
    assert [place.line for place in look(str(file)).saves] == [2]


def test_arrays_that_are_kept_without_a_manager_are_found(tmp_path: Path) -> None:
    file = tmp_path / "job.py"
    calls = (
        "pickle.dump(params, file)", "np.savez('w.npz', **params)", "np.load('w.npz')",
        "np.savez_compressed('w.npz', **params)", "safetensors.flax.save_file(params, 'w')",
        "eqx.tree_serialise_leaves('w.eqx', model)", "eqx.tree_deserialise_leaves('w.eqx', model)",
    )  # fmt: skip
    file.write_text("\n".join(calls))
    assert [place.line for place in look(str(file)).saves] == [1, 2, 4, 5, 6]


def test_what_helpers_save_is_found(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("def keep(m):\n    m.save_pretrained('out')\n")
    (tmp_path / "other.py").write_text("import helper\ncheckpoint.write('x')\nfile.write('y')\n")
    file = tmp_path / "job.py"
    file.write_text("from other import something\nimport numpy\n")
    places = {(Path(place.file).name, place.line) for place in look(str(file)).saves}
    assert places == {("helper.py", 2), ("other.py", 2)}


def test_a_module_is_found_among_the_packages_of_its_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packages = tmp_path / "env/lib/python3.11/site-packages/trainer"
    packages.mkdir(parents=True)
    (packages / "__main__.py").write_text("import jax\n")
    monkeypatch.chdir(tmp_path)
    python = str(tmp_path / "env/bin/python")
    assert file_of("trainer", python) == str(packages / "__main__.py")
    assert file_of("trainer") == "trainer"
