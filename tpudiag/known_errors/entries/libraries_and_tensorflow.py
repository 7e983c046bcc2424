# ruff: noqa: E501  (texts of other programs stay as they are)
"""Packages that ask TensorFlow for what its release has not, and shuffle buffers that fill the memory."""

from __future__ import annotations

from tpudiag.known_errors.model import KnownError, Phase, Rival

_ABOVE = r"packages/(?P<package>tensorflow_datasets|tensorflow_hub|tensorflow_text|tensorflow_transform|tensorflow_metadata|tensorflow_graphics|tensorflow_io|tensorflow_federated|tensorflow_ranking|tensorflow_estimator|tf_slim|tf_agents|tfx|tensor2tensor|mesh_tensorflow|trax|dopamine|sonnet|keras_cv|keras_nlp|keras_hub|keras_tuner|autokeras|kerastuner|ktrain)/"

ERRORS = (
    KnownError(
        id="E915",
        family="library-pair",
        phase=Phase.INSTALLING,
        patterns=(
            rf"{_ABOVE}.{{0,600}}?module '(?:tensorflow|keras|tf_keras)[\w.]{{0,60}}' has no attribute '(?P<name>\w{{1,60}})'",
            rf"{_ABOVE}.{{0,600}}?cannot import name '?(?P<name>\w{{1,60}})'? from '(?:tensorflow|keras|tf_keras)[\w.]{{0,60}}'",
            rf"{_ABOVE}.{{0,600}}?No module named '(?P<name>(?:tensorflow|keras)\.[\w.]{{1,60}})'",
        ),
        cause="A package that builds on TensorFlow is of another age than the TensorFlow (or Keras) that is installed, and asks it for a name that is not there yet, or no more. pip takes the newest package whatever TensorFlow is there, and an old one stays when TensorFlow is upgraded.",
        details=("The package is {package}.", "It asks for {name}."),
        fix="""\
pip list | grep -iE "tensorflow|keras|tfds"                   # which releases are here
pip install -U <<package>>                                    # TensorFlow is the newer one; its name has a hyphen where the module has _
pip install "tensorflow-datasets<4" "tensorflow-hub==0.12.*"  # TensorFlow 1.15 (datasets 1.3 for 1.14); tensorflow-text, tf-models-official, estimator: the number of TensorFlow itself
pip install "tensorflow==2.15.*"                              # the package has ended or knows no Keras 3: the last TensorFlow with Keras 2""",
        useless="To change the one name in the package's file: the next one fails.",
        citations=("tensorflow/datasets#1577", "tensorflow/tensorflow#38122"),
        example="""\
File "/usr/lib/python3.5/site-packages/tensorflow_datasets/core/tf_compat.py", line 40, in <module>
    tf_compat = tf.compat.v2.contrib
AttributeError: module 'tensorflow.compat.v2' has no attribute 'contrib'""",
        near_miss="AttributeError: module 'tensorflow.compat.v2' has no attribute 'contrib'",
        yields_to=("E910", "E615", "P34"),
    ),
    KnownError(
        id="E916",
        family="host-memory",
        phase=Phase.READING,
        patterns=(
            r"Filling up shuffle buffer \(this may take a while\): (?P<filled>\d{1,9}) of (?P<size>\d{1,9})\W{0,3}(?:\^C)?Killed",
            r"Filling up shuffle buffer \(this may take a while\): (?P<filled>\d{1,9}) of (?P<size>\d{1,9}).{0,80}?(?:kernel [\w-]{6,40} restarted|restarting kernel|KernelRestarter|session crashed|Process finished with exit code 137|SIGKILL|OOMKilled)",
        ),
        cause="The host's memory (RAM) ran out while the shuffle buffer was being filled: it holds that many whole elements, decoded if shuffle stands behind the map, and the system killed the process.",
        details=("It held {filled} of {size} elements by then.",),
        fix="""\
files = tf.data.Dataset.list_files(PATTERN, shuffle=True)                                       # mix the files: that costs nothing
dataset = files.interleave(tf.data.TFRecordDataset, cycle_length=16, num_parallel_calls=tf.data.AUTOTUNE)
dataset = dataset.shuffle(2048).map(decode, num_parallel_calls=tf.data.AUTOTUNE)                # few elements, and before they are decoded
free -g; dmesg -T | grep -i 'killed process' | tail -2                                          # was it memory?""",
        useless="A smaller batch: it is not what fills the memory.",
        citations=("peteryuX/retinaface-tf2#18", "megvii-research/tf-tutorials#17"),
        example="I tensorflow/core/kernels/data/shuffle_dataset_op.cc:172] Filling up shuffle buffer (this may take a while): 267610 of 604388\nKilled",
        near_miss="I shuffle_dataset_op.cc:172] Filling up shuffle buffer (this may take a while): 168 of 256\nI shuffle_dataset_op.cc:221] Shuffle buffer filled.",
    ),
    KnownError(
        id="E917",
        family="hub-handle",
        phase=Phase.BUILDING,
        patterns=(
            r"Missing implementation that supports: ?(?:loader|resolver)\(\*\('(?P<handle>[^']{1,200})'",
            r"Missing implementation that supports: ?(?:loader|resolver)",
            r"(?:Error: )?(?P<handle>(?:gs:|https?:)?[\w./~-]{1,200})/tfhub_module\.pb; ?No such file or directory",
            r"TF ?-?Hub module '(?P<handle>[^']{1,200})' is stored using TF 1\.x format",
            r"is stored using TF 1\.x format\. Loading of the module using",
        ),
        cause="What TensorFlow Hub is given is not a module in the form that this call takes.",
        details=("It was given {handle}.",),
        fix="""\
ls -l <<handle>>                                          # saved_model.pb and variables/: TensorFlow 2's form; tfhub_module.pb: TensorFlow 1's
layer = hub.KerasLayer("<<handle>>", trainable=True)      # TensorFlow 2's form: hub.KerasLayer or hub.load, never hub.Module
rm -r "${TFHUB_CACHE_DIR:-/tmp/tfhub_modules}"            # half a download: fetched anew""",
        rivals=(
            Rival(
                cause="the copy in the cache is not whole: the download was broken off, or the system cleared a part of /tmp",
                look_for="a path with tfhub_modules (TFHUB_CACHE_DIR); it worked before",
                decide='ls -l "${TFHUB_CACHE_DIR:-/tmp/tfhub_modules}"/*',
                fix='rm -r "${TFHUB_CACHE_DIR:-/tmp/tfhub_modules}"; export TFHUB_CACHE_DIR=$HOME/tfhub      # a folder that nothing clears; a TPU Node: gs://BUCKET/tfhub',
                cues=(r"Missing implementation that supports.{0,40}?tfhub_modules",),
            ),
            Rival(
                cause="the folder is no Hub module: a checkpoint (BERT's bert_model.ckpt), weights, or one level above or below the module",
                look_for="a path of your own, without tfhub_modules",
                decide="find <<handle>> -maxdepth 2 -name '*.pb'",
                fix='hub.KerasLayer("https://tfhub.dev/OWNER/NAME/VERSION")      # a handle; a checkpoint is read by its own program (tf.train.load_checkpoint)',
                cues=(
                    r"Missing implementation that supports: ?\w{1,12}\(\*\('(?!/tmp/tfhub|https?:)",
                ),
            ),
            Rival(
                cause="a module of TensorFlow 2 is opened with hub.Module, which takes TensorFlow 1's form alone",
                look_for="hub.Module in the script; tfhub_module.pb is missing, saved_model.pb is there",
                decide="grep -n 'hub.Module' *.py",
                fix='embed = hub.load("<<handle>>")      # or hub.KerasLayer("<<handle>>"), in strategy.scope()',
                cues=(r"tfhub_module\.pb; ?No such file",),
            ),
            Rival(
                cause="a module of TensorFlow 1's form is opened by hub.load of TensorFlow 2",
                look_for="`stored using TF 1.x format`",
                decide="python -c 'import tensorflow_hub; print(tensorflow_hub.__version__)'",
                fix='hub.KerasLayer("https://tfhub.dev/google/nnlm-en-dim128/2")      # the version of the same module for TensorFlow 2: mostly the next number\npip install -U tensorflow-hub                                            # newer ones load many of the old for inference',
                cues=(r"stored using TF 1\.x format",),
            ),
        ),
        citations=("tensorflow/hub#212", "tensorflow/hub#849", "tensorflow/hub#254"),
        example="RuntimeError: Missing implementation that supports: loader(*('/tmp/tfhub_modules/mobilenet_module',), **{})",
    ),
)
