# ruff: noqa: E501  (texts of other programs stay as they are)
"""Scripts for TensorFlow 1 and Estimator on a TensorFlow of today."""

from __future__ import annotations

from tpudiag.known_errors.model import Kind, KnownError, Phase

ERRORS = (
    KnownError(
        id="E39",
        family="fit-generator",
        phase=Phase.BUILDING,
        patterns=(
            r"fit_generator.{0,3}? is not supported for models compiled with .{0,3}?tf\.distribute\.Strategy",
            r"fit_generator.{0,3}? is not supported for models",
        ),
        cause="fit_generator is a TensorFlow 1 interface that does not know distribution strategies.",
        fix="""\
dataset = tf.data.TFRecordDataset(files).map(parse).batch(global_batch, drop_remainder=True)
model.fit(dataset, epochs=epochs)""",
        citations=("tensorflow/tensorflow#30916",),
        example="NotImplementedError: `fit_generator` is not supported for models compiled with tf.distribute.Strategy.",
        near_miss="UserWarning: `model.fit_generator` is deprecated and will be removed in a future version.",
    ),
    KnownError(
        id="P01",
        family="tf1-contrib",
        phase=Phase.BUILDING,
        patterns=(
            r"module 'tensorflow(?:\.compat\.v1|\._api\.v[12](?:\.compat\.v1)?)?' has no attribute 'contrib'",
            r"No module named '?tensorflow\.contrib(?![\w.])",
            r"module 'tensorflow\.contrib\.tpu' has no attribute '(?P<name>TPUDistributionStrategy|keras_to_tpu_model)'",
            r"tf\.contrib (?:is|was) (?:removed|not)",
        ),
        cause="The script is written for TensorFlow 1: tf.contrib does not exist in TensorFlow 2 (nor in a few builds of 1.x that were made without it, as for the Raspberry Pi).",
        fix="""\
# tf.contrib.cluster_resolver, tf.contrib.tpu, tf.contrib.distribute are now:
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
with strategy.scope():
    model = build_model(); model.compile(...)
model.fit(dataset)
import tf_slim; contrib_layers = tf_slim.layers      # pip install tf-slim: was tf.contrib.layers and .slim; .rnn is keras.layers
# somebody else's package that imports tf.contrib: its release for TensorFlow 2 (for BERT and the like: pip install tf-models-official)
uv venv --python 3.7 && uv pip install "tensorflow==1.15.*" "protobuf<3.21"      # a script that shall stay as it is: the last TensorFlow with contrib (CPU, GPU, TPU Node)""",
        citations=(
            "tensorflow/tpu#758",
            "tensorflow/tpu#196",
        ),
        example="AttributeError: module 'tensorflow' has no attribute 'contrib'",
    ),
    KnownError(
        id="P02",
        family="tf1-names",
        phase=Phase.BUILDING,
        patterns=(
            r"module 'tensorflow(?:\._api\.v2\.v2)?' has no attribute '(?P<name>Session|InteractiveSession|placeholder|placeholder_with_default|get_variable|variable_scope|global_variables_initializer|ConfigProto|GPUOptions|reset_default_graph|get_default_graph|set_random_seed|app|flags|logging|gfile|python_io|layers|truncated_normal|random_uniform|random_normal|to_float|to_int32|log|mul|matrix_inverse|assign|losses|AUTO_REUSE|ConfigProto|trainable_variables|enable_eager_execution|disable_v2_behavior|parse_single_example|FixedLenFeature|read_file|decode_raw|VERSION|Dimension|py_func|sparse_tensor_to_dense|string_split|batch_gather|div|floordiv|ceil|rint|is_nan)'",
            r"tf\.placeholder\(\) is not compatible with eager execution",
            r"(?:tf\.)?(?P<name>\w{1,40})\(?\)? is not (?:compatible with|supported) (?:when )?eager execution",
            r"The Session graph is empty",
            r"'RefVariable' object",
            r"global_variables_initializer.{0,60}?(?:no attribute|not defined)",
            r"Session graph is empty",
            r"Cannot get session inside Tensorflow graph function",
        ),
        cause="A name or habit of TensorFlow 1 (sessions, placeholders, graph mode, tf.logging, tf.flags): TensorFlow 2 runs eagerly, and has moved or removed it.",
        details=("The name is {name}.",),
        fix="""\
# a name that only moved: tf.logging, tf.gfile -> tf.compat.v1.logging, tf.io.gfile; tf.app, tf.flags -> absl.app, absl.flags
# the honest way: functions and Keras in place of sessions; placeholders become function arguments (or tf.keras.Input)
@tf.function
def train_step(images, labels): ...
# to run it as it is, slowly and not on TPUStrategy:
import tensorflow.compat.v1 as tf; tf.disable_v2_behavior()       # or tf.compat.v1.disable_eager_execution()
# what has a new name: tf_upgrade_v2 --infile train.py --outfile train_v2.py""",
        citations=(
            "tensorflow/models#10031",
            "googlecolab/colabtools#666",
            "tensorflow/tpu#820",
            "jibynd/Neural-Texture-Transfer#1",
            "X-DataInitiative/tick#408",
        ),
        example="RuntimeError: tf.placeholder() is not compatible with eager execution.",
    ),
    KnownError(
        id="P42",
        family="distutils",
        phase=Phase.INSTALLING,
        patterns=(
            r"module 'distutils' has no attribute '(?P<name>\w{1,40})'",
            r"No module named 'distutils(?:\.(?P<name>\w{1,40}))?'",
        ),
        cause="distutils is gone since Python 3.12, and before it `import distutils` alone never brought its submodules: other packages did by chance.",
        details=("The name is {name}.",),
        fix="""\
from packaging.version import Version                 # pip install packaging
if Version(tf.__version__) < Version("2.0"): ...      # in place of distutils.version.LooseVersion
import distutils.version                              # up to Python 3.11, or with setuptools""",
        evidence="reproduced",
        example="AttributeError: module 'distutils' has no attribute 'version'",
    ),
    KnownError(
        id="P03",
        family="removed-name",
        phase=Phase.BUILDING,
        kind=Kind.BROAD,
        patterns=(
            r"module 'tensorflow(?:\._api\.v\d)?(?:\.v2)?\.?(?P<module>[\w.]{0,60})' has no attribute '(?P<name>experimental_\w{1,60})'",
            r"module 'tensorflow[\w.]{0,80}?config' has no attribute '(?P<name>\w{1,60})'",
            r"module 'tensorflow\._api\.v1\.\w{1,40}' has no attribute '(?P<name>\w{1,60})'",
            r"module 'tensorflow(?:\.[\w.]{0,80})?' has no attribute '(?P<name>\w{1,60})'",
        ),
        cause="This TensorFlow has no such name: it was removed or renamed since the script was written (often an `experimental` one), or this version is older than the script wants.",
        details=("The name is {name}.",),
        fix="""\
python -c "import tensorflow as tf; print(tf.__version__)"
# experimental_list_devices -> tf.config.list_logical_devices(); experimental.list_physical_devices -> tf.config.list_physical_devices
# tf.distribute.experimental.TPUStrategy -> tf.distribute.TPUStrategy; tf.data.experimental.AUTOTUNE -> tf.data.AUTOTUNE
# tf._api.v1: this is TensorFlow 1, and the script wants TensorFlow 2: upgrade
tf_upgrade_v2 --infile train.py --outfile train_v2.py""",
        citations=(
            "minimaxir/textgenrnn#195",
            "tensorflow/tensorflow#26851",
        ),
        example="AttributeError: module 'tensorflow._api.v2.config' has no attribute 'experimental_list_devices'",
        yields_to=("E615", "E617", "E610", "E611", "E607"),
    ),
    KnownError(
        id="P04",
        family="renamed-run",
        phase=Phase.TRACING,
        patterns=(
            r"has no attribute 'experimental_run(?:_v2)?'",
            r"has no attribute 'make_dataset_iterator'",
            r"has no attribute 'experimental_distribute_datasets_from_function'",
            r"Strategy\w{0,4}' object has no attribute '(?P<name>experimental_\w{1,40})'",
        ),
        cause="A method of the strategy was renamed when it left `experimental`.",
        fix="""\
strategy.run(step_fn, args=(batch,))                           # was experimental_run_v2, experimental_run
strategy.distribute_datasets_from_function(dataset_fn)         # was experimental_distribute_datasets_from_function
for batch in strategy.experimental_distribute_dataset(dataset): ...      # was make_dataset_iterator""",
        citations=(
            "wangcongcong123/ttt#6",
            "microsoft/UST#5",
        ),
        example="AttributeError: 'TPUStrategyV2' object has no attribute 'experimental_run_v2'",
    ),
    KnownError(
        id="P05",
        family="estimator-removed",
        phase=Phase.INSTALLING,
        patterns=(
            r"cannot import name 'estimator' from 'tensorflow",
            r"module 'tensorflow[\w.]{0,40}' has no attribute 'estimator'",
            r"No module named '?tensorflow_estimator",
            r"has no attribute 'TPUEstimator\w{0,6}'",
            r"cannot import name '(?P<name>TPUEstimator|TPUConfig|TPUEstimatorSpec)",
        ),
        cause="Estimator and TPUEstimator are gone since TensorFlow 2.16; 2.15 is the last release that has them, and no v5e, v5p or v6e runs TPUEstimator.",
        fix="""\
# the honest way: Keras under TPUStrategy
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
with strategy.scope():
    model = build_model(); model.compile(...)
model.fit(dataset)
# to run it as it is: pip install "tensorflow==2.15.*" (a v2, v3 or v4 TPU)""",
        citations=("tensorflow/models#11252",),
        example="ImportError: cannot import name 'estimator' from 'tensorflow.compat.v1'",
    ),
    KnownError(
        id="P06",
        family="estimator",
        phase=Phase.BUILDING,
        kind=Kind.BROAD,
        patterns=(
            r"TPUConfig\.num_shards is not set correctly.{0,200}?num_replicas should be \((?P<should>\d{1,6})\), got \((?P<got>\d{1,6})\)",
            r"TPUConfig\.num_shards is not set correctly",
            r"Estimators are not supported when eager execution is enabled",
            r"_fetch_cloud_tpu_metadata",
            r"_get_tpu_context",
            r"Non-resource Variables are not supported inside TPU computations",
            r"TPUEstimator.{0,120}?(?:Error|not supported|must|requires)",
            r"model_fn.{0,80}?(?:TPUEstimatorSpec|EstimatorSpec).{0,60}?(?:must|expected)",
        ),
        cause="TPUEstimator, the interface of TensorFlow 1, is told something that does not fit: the number of shards is that of all cores of the TPU, a slice is found by its TPU name only, its preemption poller needs a name too, and eager execution must be off.",
        details=("It should be {should} and is {got}.",),
        fix="""\
tpu_config = tf.compat.v1.estimator.tpu.TPUConfig(num_shards=None, iterations_per_loop=100)      # None: all cores
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="NAME_OF_THE_TPU")               # cluster=, not master=
# the honest way: Keras under TPUStrategy
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
with strategy.scope():
    model = build_model(); model.compile(...)
model.fit(dataset)""",
        citations=(
            "google-research/bert#67",
            "zihangdai/xlnet#239",
            "tensorflow/tensorflow#30869",
            "tensorflow/tensorflow#19706",
        ),
        example="ValueError: TPUConfig.num_shards is not set correctly. According to TPU system metadata for Tensorflow master (grpc://10.0.0.2:8470): num_replicas should be (8), got (6).",
    ),
    KnownError(
        id="P07",
        family="keras-to-tpu-model",
        phase=Phase.BUILDING,
        patterns=(
            r"KerasTPUModel",
            r"keras_to_tpu_model",
            r"Taking a Dataset directly is not yet supported",
            r"variable object with name '[\w-]{1,60}' already created",
            r"for better keras tpu support",
            r"TPUDistributionStrategy' object has no attribute",
        ),
        cause="keras_to_tpu_model, or an early TPUStrategy (TensorFlow 1.1x, a 2.0 preview), is used; both are long superseded by TPUStrategy of TensorFlow 2.",
        fix="""\
pip install --upgrade tensorflow                       # a release of TensorFlow 2, the same on the TPU
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
with strategy.scope():
    model = build_model(); model.compile(...)
model.fit(dataset)""",
        citations=(
            "tensorflow/tensorflow#29791",
            "tensorflow/tpu#331",
            "tensorflow/tensorflow#27992",
        ),
        example="AttributeError: 'KerasTPUModel' object has no attribute '_ckpt_saved_epoch'",
        yields_to=("E705",),
    ),
    KnownError(
        id="P08",
        family="dimension-value",
        phase=Phase.BUILDING,
        patterns=(
            r"'(?:int|NoneType)' object has no attribute 'value'.{0,400}?(?:shape|dim)",
            r"(?:get_shape|shape)[()\[\]\w.-]{0,30}\.value.{0,300}?has no attribute 'value'",
            r"has no attribute 'value'.{0,200}?(?:get_shape|\.shape)",
            r"'(?:int|NoneType)' object has no attribute '(?:value|as_list)'",
        ),
        cause="In TensorFlow 2 a dimension of a shape is an int or None, not a Dimension with .value.",
        fix="""\
width = x.shape[-1]                                    # was x.shape[-1].value or get_shape()[-1].value
batch = tf.shape(x)[0]                                 # a dimension that is None: ask at run time""",
        citations=("google/automl#15",),
        example="""\
AttributeError: 'int' object has no attribute 'value'
    channels = x.get_shape()[-1].value""",
    ),
    KnownError(
        id="E157",
        family="step-of-summary",
        phase=Phase.EXECUTING,
        patterns=(
            r"No step set via .{0,3}step.{0,3} argument or tf\.summary\.experimental\.set_step",
        ),
        cause="tf.summary of TensorFlow 2 wants the step; inside strategy.run the writer's step (and the writer itself) is not seen.",
        fix="""\
with writer.as_default(step=int(optimizer.iterations)):          # outside strategy.run, after the step
    tf.summary.scalar("loss", loss)
# or: tf.summary.experimental.set_step(step)""",
        citations=("tensorflow/tensorflow#26980",),
        example="ValueError: No step set via 'step' argument or tf.summary.experimental.set_step()",
    ),
)
