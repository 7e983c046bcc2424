# ruff: noqa: E501  (texts of other programs stay as they are)
"""Packages that are named wrongly, or whose parts are of several releases."""

from __future__ import annotations

from tpudiag.known_errors.model import KnownError, Phase

ERRORS = (
    KnownError(
        id="E606",
        family="wrong-package-name",
        phase=Phase.INSTALLING,
        patterns=(
            r"(?P<package>\w{2,30}) is a namespace, and not a standalone package",
            r"[\"'](?P<package>tensorflow-gpu)[\"'] package has been removed",
            r"The '(?P<package>[\w-]{2,30})' PyPI package is deprecated, use",
            r"tensorflow-gpu.{0,200}?has been removed",
            r"package (?:has been|is|was) (?:renamed|moved) to ['\"`]?[\w-]{2,40}",
            r"you (?:probably|likely) (?:want|mean[t]?) (?:to )?(?:pip )?install",
        ),
        cause="The package that is asked for is not the one that is meant: it was renamed, split or never held the code, and its installer says which one to take instead. A requirements file or an old dependency mostly names it.",
        details=("The name is {package}.",),
        fix="""\
pip install orbax-checkpoint                              # not orbax (Flax below 0.6.9 asks for it: pip install -U flax)
<<tpu_install>>; not tensorflow-gpu, not tensorflow beside it; on a GPU: tensorflow[and-cuda]
pip install scikit-learn opencv-python tf-models-official # not sklearn, cv2, official
grep -rnE "orbax|tensorflow-gpu|sklearn" requirements*.txt setup.py pyproject.toml      # who asks for it""",
        citations=("young-geng/EasyLM#84", "google/orbax#436"),
        example="*** Orbax is a namespace, and not a standalone package. For model checkpointing and exporting utilities, please install `orbax-checkpoint` and `orbax-export` respectively (instead of `orbax`). ***",
    ),
    KnownError(
        id="E607",
        family="estimator-pair",
        phase=Phase.BUILDING,
        patterns=(
            r"'_?(?:Eager)?Context' object has no attribute '(?P<name>\w{3,80})'",
            r"module 'tensorflow_core\.[\w.]{1,80}' has no attribute '(?P<name>\w{3,80})'",
            r"No module named '?(?:tensorflow\.python\.estimator\.)?model_utils",
            r"(?P<name>_call_(?:input|model)_fn)\(\) takes (?:from )?\d.{0,20}? positional arguments? but \d",
        ),
        cause="Parts of TensorFlow are of different releases: tensorflow, tensorflow-estimator, keras and tensorboard of one release belong together, and one of them was installed or upgraded alone, so that it asks for what the others do not have yet (or no more).",
        details=("It is {name}.",),
        fix="""\
pip list | grep -iE "tensorflow|keras|estimator|tensorboard"        # all of one release: 2.15 with estimator 2.15
pip uninstall -y tensorflow tensorflow-cpu tensorflow-tpu tensorflow-estimator keras tf-nightly
pip install "tensorflow==2.15.*"                                      # brings the estimator that belongs to it; 2.16 and later have none""",
        citations=("tensorflow/tpu#620",),
        example="ERROR:tensorflow:Error recorded from training_loop: 'Context' object has no attribute 'summary_recording_distribution_strategy'",
        yields_to=("P05",),
    ),
    KnownError(
        id="E610",
        family="private-names",
        phase=Phase.BUILDING,
        patterns=(
            r"module 'tensorflow\.python\.[\w.]{1,80}' has no attribute '(?P<name>\w{1,60})'",
            r"cannot import name '(?P<name>\w{1,60})' from '(?:partially initialized module ')?tensorflow\.python(?!\.keras)[\w.]{0,80}'",
            r"No module named '(?P<name>tensorflow\.python(?!\.keras)[\w.]{1,80})'",
        ),
        cause="A private module of TensorFlow (tensorflow.python...) is asked for a name that this release does not have: the script imports tensorflow.python.keras in place of tensorflow.keras, or a package that reaches into it (keras, tensorflow-estimator, tensorflow-probability, tensorflow-addons, tensorflow-text, TF-Slim) is of another release.",
        details=("The name is {name}.",),
        fix="""\
from tensorflow import keras                                 # never tensorflow.python.*: it is private, and changes with each release
grep -rnE "tensorflow\\.python" *.py                          # in your own code?
pip list | grep -iE "tensorflow|keras|probability|addons"    # the package of the traceback's last file: of this TensorFlow's release
pip install -U "tensorflow-probability[tf]" tf-keras         # 0.25 for TensorFlow 2.18; tensorflow-addons ends at 2.15""",
        citations=("tensorflow/tensorflow#61974",),
        example="AttributeError: module 'tensorflow.python.distribute.input_lib' has no attribute 'DistributedDatasetInterface'",
        yields_to=("E615", "E617", "P05", "E607", "E910"),
    ),
    KnownError(
        id="E611",
        family="keras-distribution",
        phase=Phase.BUILDING,
        patterns=(
            r"distribution_lib' has no attribute '(?P<name>\w{1,60})'",
            r"keras\.distribution.{0,160}?(?:only|not) .{0,40}?(?:JAX|jax|supported|available|backend)",
            r"(?:ModelParallel|DataParallel|LayoutMap|DeviceMesh).{0,160}?(?:JAX|jax) backend",
            r"Cannot create sharding when device mesh is not set",
            r"matches multiple layout specification keys",
            r"Cannot override device mesh value",
            r"Invalid axis names for Layout",
            r"The provided job_addresses .{0,80}? num_processes",
        ),
        cause="keras.distribution (DeviceMesh, LayoutMap, DataParallel, ModelParallel) is used where it does not work or is set up wrongly: it is for the JAX backend (on TensorFlow a strategy does that work), its layout's axes must be those of the mesh, and each variable may match one key of the layout map.",
        details=("It is {name}.",),
        fix="""\
os.environ["KERAS_BACKEND"] = "jax"                          # before keras is imported; then ModelParallel works on a TPU
# on the TensorFlow backend: strategy = tf.distribute.TPUStrategy(resolver), and the model in its scope
devices = keras.distribution.list_devices()
mesh = keras.distribution.DeviceMesh(shape=(1, len(devices)), axis_names=("batch", "model"), devices=devices)
layout = keras.distribution.LayoutMap(mesh); layout["decoder_block.*attention.*kernel"] = ("model", None, None)      # keys are regular expressions: only one for each variable
keras.distribution.set_distribution(keras.distribution.ModelParallel(layout_map=layout, batch_dim_name="batch"))       # once, before the model is made""",
        citations=("keras-team/keras#18983", "keras-team/keras#19496"),
        example="AttributeError: module 'keras.src.backend.tensorflow.distribution_lib' has no attribute 'num_processes'",
    ),
    KnownError(
        id="P120",
        family="transformers-trainer",
        phase=Phase.BUILDING,
        patterns=(
            r"'TF(?:TrainingArguments|Trainer)' object has no attribute '(?P<name>\w{1,60})'",
            r"TFTrainer.{0,60}?(?:is deprecated|has been removed|will be removed)",
        ),
        cause="TFTrainer and TFTrainingArguments of Transformers are used: they were broken under TPUStrategy in several releases (their strategy is made at the first access), were deprecated, and are gone; Keras' own fit replaces them.",
        details=("It is {name}.",),
        fix="""\
with strategy.scope():
    model = TFAutoModelForSequenceClassification.from_pretrained(NAME, num_labels=2)
    model.compile(optimizer=tf.keras.optimizers.Adam(3e-5))           # the model has its own loss
model.fit(dataset.batch(global_batch, drop_remainder=True), epochs=3)
pip install "transformers>=4.40,<5" tf-keras                           # the last line with TF classes""",
        citations=("huggingface/transformers#7343",),
        example="AttributeError: 'TFTrainingArguments' object has no attribute 'args'",
    ),
    KnownError(
        id="E172",
        family="jax-pair",
        phase=Phase.INSTALLING,
        patterns=(
            r"jaxlib version .{1,30}? is (?:newer|older) than and incompatible with jax version",
            r"jax requires jaxlib version",
            r"jaxlib is version (?P<has>[\d.]{3,12}), but this version of jax requires version ?>= ?(?P<wants>\d{1,2}\.\d{1,3}(?:\.\d{1,3})?)",
            r"module 'jaxlib[\w.]{0,60}' has no attribute '(?P<name>(?!GpuAllocatorConfig)\w{1,60})'",
            r"cannot import name '(?P<name>\w{1,60})' from '(?:partially initialized module ')?jaxlib[\w.]{0,60}'",
            r"cannot import name '(?P<name>\w{1,60})' from 'jax\._src[\w.]{0,60}'",
            r"'jaxlib\.[\w.]{1,80}' object has no attribute '(?P<name>(?!coords|heap_profile|core_on_chip|slice_index|memory_stats|num_cores)\w{1,60})'",
            r"module 'jax' has no attribute '(?P<name>version|_src|api_util)'",
            r"version .{1,20}? of jaxlib .{0,40}?incompatible",
            r"module 'ml_dtypes' has no attribute",
            r"cannot import name '\w{1,40}' from 'ml_dtypes",
        ),
        cause="jax and jaxlib (and libtpu) are of releases that do not belong together, or one of them was replaced while a notebook still held the old one.",
        details=("jaxlib is {has}, and jax wants {wants} or later.", "What is missing is {name}."),
        fix="""\
pip list | grep -iE "^(jax|jaxlib|libtpu|ml.dtypes)"
pip uninstall -y jax jaxlib libtpu; pip install -U "jax[tpu]"      # jaxlib and libtpu of the same release; TensorFlow on TPU in an environment of its own
# code that wants an old one: both by the same number, pip install "jax==0.4.25" "jaxlib==0.4.25" (before 0.4 the pair that jax's changelog names); then restart the kernel""",
        evidence="recalled",
        example="RuntimeError: jaxlib version 0.4.30 is newer than and incompatible with jax version 0.4.25. Please update your jax and/or jaxlib packages.",
    ),
    KnownError(
        id="E897",
        family="pip-rights",
        phase=Phase.INSTALLING,
        patterns=(
            r"Could not install packages due to an (?:OSError|EnvironmentError): \[Errno 13\] Permission denied: '(?P<path>[^']{1,200})'",
            r"Could not install packages due to an (?:OSError|EnvironmentError): \[WinError 5\]",
            r"Defaulting to user installation because normal site-packages is not writeable.{0,600}?Permission denied",
            r"Operation not permitted: '(?P<where>/tmp/pip-[^']{1,200})'",
            r"Cannot uninstall \W?(?P<package>[\w.-]{1,40})\W?\. It is a distutils installed project",
        ),
        cause="pip may not write into this Python's folder, which belongs to the system (or, on Windows, a program that runs holds the files).",
        details=("It is {path}.",),
        fix="""\
python3 -m venv ~/tpu && source ~/tpu/bin/activate && pip install -U pip     # an environment of your own; on every host of a slice
pip install --user PACKAGE                                                  # or for this user alone
gcloud compute tpus tpu-vm ssh NAME --zone=ZONE --worker=all --command='~/tpu/bin/pip install PACKAGE'""",
        useless="sudo pip install overwrites packages of the system, which apt then finds changed.",
        evidence="recalled",
        example="ERROR: Could not install packages due to an OSError: [Errno 13] Permission denied: '/usr/local/lib/python3.8/dist-packages/numpy'",
    ),
)
