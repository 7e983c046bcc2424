# ruff: noqa: E501  (texts of other programs stay as they are)
"""Installations of two releases over each other, and parts of tf.contrib of other releases."""

from __future__ import annotations

from tpudiag.known_errors.model import KnownError, Phase

_OWN_FILE = r"(?:site|dist)-packages/%s/[\w./-]{1,140}\.py[^/]{0,400}?from %s[\w.]{0,80} import [^/]{1,240}?"
"""The last file of a traceback (no other path behind it), which imports from its own package."""


def _within(folder: str, package: str) -> tuple[str, ...]:
    """A package's own file does not find in its package what it asks for."""
    own = _OWN_FILE % (folder, package)
    return (
        rf"{own}cannot import name '?(?P<name>\w{{1,60}})",
        rf"{own}No module named '?(?P<name>{package}[\w.]{{1,80}})",
    )


ERRORS = (
    KnownError(
        id="E910",
        family="mixed-installation",
        phase=Phase.INSTALLING,
        patterns=(
            *_within(r"tensorflow(?:_core)?", "tensorflow"),
            *_within(r"keras", r"keras"),
            *_within(r"tf_keras", "tf_keras"),
            r"ImportError: cannot import name '?(?P<name>keras_export)'?",
            *_within(r"numpy", r"numpy"),
            *_within(r"jax", r"jax"),
        ),
        cause="A file of the package asks its own package for a name that is not there, which a whole installation never does: files of two releases lie in one folder (one was installed over the other, tensorflow beside tensorflow-gpu, -cpu, -tpu or tf-nightly, an upgrade that was broken off), or a notebook imported the package before it was installed anew and still holds the old half.",
        details=("What is missing is {name}.",),
        fix="""\
# a notebook: restart the kernel first, and import anew; where it comes again:
pip uninstall -y tensorflow tensorflow-cpu tensorflow-gpu tensorflow-tpu tensorflow-intel tf-nightly keras tensorflow-estimator
rm -rf "$(python -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')"/{tensorflow,tensorflow_core,keras,~*}      # what is left of them
pip install --no-cache-dir "tensorflow==THE_ONE_RELEASE"      # numpy, jax: the same with their names""",
        useless="To change the import in the package's own file: the next one fails.",
        citations=("googlecolab/colabtools#1489", "TensorSpeech/TensorFlowTTS#653"),
        example="""\
File "/usr/lib/python3.7/site-packages/tensorflow/python/keras/layers/__init__.py", line 174, in <module>
    from tensorflow.python.keras.layers.normalization import LayerNormalization
ImportError: cannot import name 'LayerNormalization' from 'tensorflow.python.keras.layers.normalization'""",
        near_miss="""\
File "/usr/lib/python3.7/site-packages/keras/engine/base_layer.py", line 17, in <module>
    from tensorflow.python.distribute import input_lib
ImportError: cannot import name 'input_lib' from 'tensorflow.python.distribute'""",
        yields_to=("E615",),
    ),
    KnownError(
        id="P190",
        family="other-tf1-release",
        phase=Phase.BUILDING,
        patterns=(
            r"No module named '?(?P<name>tensorflow\.contrib\.[\w.]{1,100})",
            r"cannot import name '?(?P<name>\w{1,60})'? from '(?P<module>tensorflow\.contrib[\w.]{0,80})'",
        ),
        cause="This is a TensorFlow 1 (tf.contrib itself was found), but of another release than the code was written for: parts came to tf.contrib and left it with nearly every 1.x (contrib.tpu's InputPipelineConfig is there from 1.10 on; 1.15 is the last with a tf.contrib at all).",
        details=("What is missing is {name}.",),
        fix="""\
python -c "import tensorflow as tf; print(tf.__version__)"
uv venv --python 3.7 tf1 && . tf1/bin/activate && uv pip install "tensorflow==1.15.*" "protobuf<3.21"      # BERT and the like of 2018 and 2019: 1.11 to 1.15
# a TPU Node: the same TensorFlow release on it; the TPU VMs of today run TensorFlow 2 only: tf.compat.v1.estimator.tpu, tf.distribute.TPUStrategy""",
        useless="TensorFlow 2: it has no tf.contrib at all.",
        citations=("macanv/BERT-BiLSTM-CRF-NER#7", "google-research/bert#49"),
        example="ModuleNotFoundError: No module named 'tensorflow.contrib.tpu.python.tpu.topology'",
        near_miss="ModuleNotFoundError: No module named 'tensorflow.contrib'",
        yields_to=("E615",),
    ),
)
