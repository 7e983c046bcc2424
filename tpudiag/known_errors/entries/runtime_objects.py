# ruff: noqa: E501  (texts of other programs stay as they are)
"""Variables on another device, frozen variables, widths that differ, inputs of another size."""

from __future__ import annotations

from tpudiag.known_errors.model import KnownError, Phase

ERRORS = (
    KnownError(
        id="E782",
        family="resource-elsewhere",
        phase=Phase.COMPILING,
        patterns=(
            r"Trying to access resource (?P<name>.{1,120}?) (?:\(defined @ .{1,300}?\) )?located in device (?P<there>[\w/:.]{1,80}?) from device (?P<here>[\w/:.]{0,60}(?:TPU|GPU):\d{1,3})",
        ),
        cause="A compiled function runs on one device and reads a variable that lies on another: a variable that was made outside the strategy's scope or on the CPU (a step counter of an integer type, a queue, a table), or a function of one replica that reaches for another's copy.",
        details=("{name} lies on {there}; it is read from {here}.",),
        fix="""\
with strategy.scope(): counter = tf.Variable(0, dtype=tf.int64, aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA)     # on every replica; int64, since int32 stays on the host
value = strategy.run(step_fn, args=(batch,))                     # read it inside strategy.run, or outside any compiled function
@tf.function                                                      # without jit_compile=True where it works on the host's variables""",
        evidence="recalled",
        example="INVALID_ARGUMENT: Trying to access resource step_1 (defined @ train.py:12) located in device CPU:0 from device TPU:0",
    ),
    KnownError(
        id="E783",
        family="normalised-width",
        phase=Phase.EXECUTING,
        patterns=(
            r"(?P<what>\w{1,20}) input to batch norm has bad shape ?\[(?P<width>\d{1,6})",
            r"(?P<what>\w{1,20}) must have the same number of elements as the channels of x, got (?P<width>\d{1,6})",
            r"input to batch norm has bad shape",
        ),
        cause="A batch normalisation has the numbers of another width than the channels that it gets: weights of a wider or narrower model were loaded (MobileNet's alpha, EfficientNet's letter), channels stand first, or the layer is shared by maps of two widths.",
        details=("{what} has {width} values.",),
        fix="""\
print(x.shape, layer.gamma.shape)                                 # the last axis and the layer's width are one number
model = make_model(alpha=ALPHA_OF_THE_WEIGHTS)                    # the variant that the checkpoint is of
keras.layers.BatchNormalization(axis=1)                            # channels first; better: tf.transpose(x, [0, 2, 3, 1])""",
        evidence="recalled",
        example="InvalidArgumentError: Beta input to batch norm has bad shape [24]",
    ),
    KnownError(
        id="E784",
        family="frozen-variables",
        phase=Phase.SAVING,
        patterns=(
            r"was passed (?:float|int32|int64|bool|half|bfloat16|string|double|uint8) from (?!global_step)(?P<name>.{1,120}?) incompatible with expected resource",
            r"Trying to (?:assign|read) .{0,60}?variable that is not a resource",
            r"InvalidArgumentError: (?:var|handle|input) is not a resource",
        ),
        cause="A graph wants a variable and finds a constant in its place: it was frozen (convert_variables_to_constants, an exported inference graph) and is trained or restored again, or it was frozen by a tool that does not know the resource variables and batch normalisations of TensorFlow 2.",
        details=("The place is {name}.",),
        fix="""\
model = tf.saved_model.load(path)                                  # the SavedModel or the checkpoint, not the frozen graph, to train on
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2; frozen = convert_variables_to_constants_v2(fn)      # freezes resource variables too
keras.backend.set_learning_phase(0)                                # TensorFlow 1: before the model is loaded that is to be frozen""",
        evidence="recalled",
        example="InvalidArgumentError: Input 0 of node bn/cond/ReadVariableOp/Switch was passed float from bn/gamma:0 incompatible with expected resource.",
    ),
    KnownError(
        id="E785",
        family="hbm-at-run-time",
        phase=Phase.EXECUTING,
        patterns=(r"device:TPU:\d{1,3}.{0,160}?Dst tensor is not initialized",),
        cause="A tensor could not be copied to the TPU because its memory is full: variables, a dataset kept on the device or results of earlier steps leave no room.",
        fix="""\
del results; model.predict(dataset)                                # no list of device tensors over steps: .numpy(), or float(loss)
dataset = dataset.batch(global_batch // 2, drop_remainder=True)      # a smaller batch
tpudiag check train.py --for v5e-8                                   # what the program needs of the TPU's memory""",
        evidence="recalled",
        example="InternalError: Failed copying input tensor from /job:localhost/replica:0/task:0/device:CPU:0 to /job:worker/replica:0/task:0/device:TPU:0 in order to run _EagerConst: Dst tensor is not initialized.",
    ),
    KnownError(
        id="E786",
        family="other-input-size",
        phase=Phase.TRACING,
        level="warning",
        patterns=(
            r"Model was constructed with shape (?P<built>\([\w, ]{1,60}\)) for input .{0,200}?but it was called on an input with incompatible shape (?P<got>\([\w, ]{1,60}\))",
            r"was called on an input with incompatible shape",
        ),
        cause="The model was built for inputs of one size and is called with another. Keras only warns, and a layer behind it fails, or the model is compiled again for that size: the Input's shape holds the batch or lacks a dimension, a dataset is not batched or batched twice, or sequences are not cut to one length.",
        details=("It was built for {built} and gets {got}.",),
        fix="""\
print(dataset.element_spec)                                          # (batch, ...) as the model wants it
inputs = keras.Input(shape=(128,))                                    # without the batch; the length that the data are padded and cut to
x = tf.expand_dims(x, 0)                                              # one example alone: a batch of one""",
        evidence="recalled",
        example="WARNING:tensorflow:Model was constructed with shape (None, 128) for input KerasTensor(type_spec=...), but it was called on an input with incompatible shape (32, 256).",
    ),
    KnownError(
        id="E787",
        family="renamed-run",
        phase=Phase.TRACING,
        patterns=(
            r"'(?P<type>(?:TPU|Mirrored|OneDevice|MultiWorkerMirrored|_Default\w{0,20})Strategy\w{0,4})' object has no attribute 'run'",
        ),
        cause="strategy.run came with TensorFlow 2.2; this one is older, where it is called experimental_run_v2.",
        details=("It is a {type}.",),
        fix="""\
pip install "tensorflow>=2.15"                                        # strategy.run(step_fn, args=(batch,))
strategy.experimental_run_v2(step_fn, args=(batch,))                   # TensorFlow 2.0 and 2.1, as it is""",
        evidence="recalled",
        example="AttributeError: 'TPUStrategyV1' object has no attribute 'run'",
    ),
    KnownError(
        id="E788",
        family="mismatched-keras",
        phase=Phase.INSTALLING,
        patterns=(
            r"Duplicate registrations for type '(?P<name>\w{1,40})'",
            r"(?P<name>ModuleWrapper) has arguments in `?__init__`? and therefore must override `?get_config",
            r"The added layer must be an instance of class Layer\. (?:Found|Received).{0,80}?<(?:tensorflow\.python\.)?keras",
        ),
        cause="Two copies of Keras are loaded in one process: the keras package of another release than TensorFlow (or tensorflow.python.keras, keras and tensorflow.keras side by side); a layer of one is nothing but a foreign object to the other.",
        details=("The name is {name}.",),
        fix="""\
pip install "keras==$(python -c 'import tensorflow as tf; print(tf.__version__[:4])').*"      # TensorFlow 2.6 to 2.15: Keras of the same number
grep -nE "^(from|import) .*keras" *.py                                # one way everywhere: from tensorflow import keras
pip uninstall keras-nightly tf-nightly tensorflow-gpu                   # what is left of other installs""",
        evidence="recalled",
        example="AssertionError: Duplicate registrations for type 'experimentalOptimizer'",
    ),
    KnownError(
        id="E789",
        family="weights-without-variables",
        phase=Phase.SAVING,
        patterns=(
            r"Save or restore weights that is not an instance of `?tf\.Variable`? is not supported in h5",
        ),
        cause="The model holds state that is no variable (the vocabulary of a TextVectorization or StringLookup layer, a table), which an HDF5 file cannot hold.",
        fix="""\
model.save("model", save_format="tf")                                 # a SavedModel; Keras 3: model.save("model.keras")
dataset = dataset.map(lambda x, y: (vectorize(x), y)); model.save_weights("m.h5")     # on a TPU the layer belongs into the dataset anyway""",
        evidence="recalled",
        example="NotImplementedError: Save or restore weights that is not an instance of `tf.Variable` is not supported in h5, use `save_format='tf'` instead.",
    ),
    KnownError(
        id="E790",
        family="split-of-tensors",
        phase=Phase.READING,
        patterns=(
            r"Singleton array .{1,200}? cannot be considered a valid collection",
            r"Only integer tensors of a single element can be converted to an index",
        ),
        cause="A function for NumPy arrays or lists (train_test_split, an index, range) is given a tensor, a dataset or a single value.",
        fix="""\
x_train, x_test = sklearn.model_selection.train_test_split(np.asarray(x))      # arrays, not tensors or datasets
train, test = dataset.skip(N), dataset.take(N)                          # a dataset is split so
x = tf.gather(x, indices)                                               # tensors as indices""",
        evidence="recalled",
        example="TypeError: Singleton array array(<tf.Tensor: shape=(), dtype=int32>, dtype=object) cannot be considered a valid collection.",
    ),
    KnownError(
        id="E791",
        family="file-system-scheme",
        phase=Phase.READING,
        patterns=(
            r"File system scheme '?(?P<scheme>s3a?|hdfs|viewfs|http|https|az|azfs|ftp|dbfs|oss|gdrive)'? not implemented",
            r"GCS path doesn't (?P<what>start with 'gs://'|contain a bucket name|contain an object name)",
        ),
        cause="The path is of a kind that TensorFlow cannot open by itself: s3, hdfs, az and http need tensorflow-io (which a TPU Node's worker does not have), and a bucket's path is gs://BUCKET/OBJECT with both.",
        details=("The scheme is {scheme}.", "The path does not {what}."),
        fix="""\
gcloud storage cp -r s3://OTHER/data gs://BUCKET/data                 # into a bucket near the TPU; or download it: curl -O URL
import tensorflow_io                                                   # s3://, hdfs:// on a TPU VM; of the same release as TensorFlow (at most 2.16)
path = tf.keras.utils.get_file(origin=URL)                              # http: fetched once""",
        evidence="recalled",
        example="UnimplementedError: File system scheme 's3' not implemented (file: 's3://bucket/x')",
    ),
    KnownError(
        id="E793",
        family="grpc-keepalive",
        phase=Phase.CONNECTING,
        patterns=(
            r"Too many pings",
            r"too_many_pings",
            r"ENHANCE_YOUR_CALM",
        ),
        cause="One side of a gRPC connection asks for signs of life more often than the other allows, and the connection is closed: keepalive settings of a client, a proxy or a newer gRPC against an older server, mostly while a worker is busy and no call is under way.",
        fix="""\
export GRPC_ARG_KEEPALIVE_TIME_MS=300000                              # on all processes; or unset what someone set
env | grep -iE "grpc|keepalive"; pip list | grep -iE "grpcio|tensorflow"     # the same releases on all hosts
# between processes: no HTTP proxy (unset http_proxy https_proxy), no load balancer""",
        citations=("tensorflow/benchmarks#230",),
        example='Received a GOAWAY with error code ENHANCE_YOUR_CALM and debug data equal to "too_many_pings"',
    ),
    KnownError(
        id="E794",
        family="file-system",
        phase=Phase.SAVING,
        patterns=(
            r"FailedPreconditionError: (?P<path>/(?!job:)[\w/.~-]{1,160}?)(?:;| is not a directory)",
            r"FailedPreconditionError: (?P<path>/(?!job:)[\w/.~-]{1,160})",
        ),
        cause="A folder stands where a file is wanted, or a file where a folder is: the path of a checkpoint is a prefix (gs://.../ckpt-100), that of logs and models a folder, that of data a file; and a folder that is to be written is not empty or was made as a file before.",
        details=("The path is {path}.",),
        fix="""\
ls -ld PATH; ls PATH                                                     # a file or a folder?
tf.train.latest_checkpoint(FOLDER)                                        # the prefix, for what wants a checkpoint
tf.data.TFRecordDataset(tf.io.gfile.glob("FOLDER/*.tfrecord"))             # files, for what wants files""",
        citations=("tensorflow/models#1468",),
        example="tensorflow.python.framework.errors_impl.FailedPreconditionError: /tmp",
        yields_to=("E219",),
    ),
    KnownError(
        id="E795",
        family="resolver-of-another-release",
        phase=Phase.RESOLVING,
        patterns=(
            r"'?TPUClusterResolver'?.{0,10}? has no attribute '(?P<name>connect|get_tpu_system_metadata|set_tpu_topology|tpu_hardware_feature|get_master)'",
        ),
        cause="TPUClusterResolver has no such method in this TensorFlow: connect came with 2.4, get_master went with TensorFlow 1 (master() stayed).",
        details=("It was asked for {name}.",),
        fix="""\
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")      # any release: the three steps that connect() takes
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
resolver.master()                                                                # in place of get_master()""",
        evidence="recalled",
        example="AttributeError: type object 'TPUClusterResolver' has no attribute 'connect'",
    ),
    KnownError(
        id="E796",
        family="kaggle-service",
        phase=Phase.READING,
        patterns=(
            r"No module named '(?P<name>kaggle_datasets|kaggle_secrets|kaggle_web_client|kaggle_environments)'",
            r"BackendError: (?:Unexpected response from the service|No user secrets exist)",
            r"Connection error trying to communicate with service",
            r"KaggleDatasets.{0,400}?(?:BackendError|ConnectionError|CredentialError|ValidationError)",
            r"UserSecretsClient.{0,400}?(?:BackendError|ConnectionError|CredentialError|ValidationError)",
        ),
        cause="A service of Kaggle's notebooks is used that is not there: the module exists in Kaggle's images only, it needs the notebook's internet switch, a private data set has no bucket path until it is made public or attached, and on today's TPU VMs get_gcs_path is not needed at all.",
        details=("The module is {name}.",),
        fix="""\
data_path = "/kaggle/input/NAME"                                # a TPU VM reads the attached data set from its own disk
# a bucket path wanted (an old TPU Node): Settings, Internet on; Add Data; KaggleDatasets().get_gcs_path("NAME"), the name as its folder under /kaggle/input
import kagglehub; path = kagglehub.dataset_download("OWNER/NAME")      # outside Kaggle""",
        evidence="recalled",
        example="ModuleNotFoundError: No module named 'kaggle_datasets'",
    ),
    KnownError(
        id="E797",
        family="windows-path",
        phase=Phase.READING,
        patterns=(
            r"filename, directory name, or volume label syntax is incorrect",
            r"The system cannot find the path specified.{0,40}?; Unknown error",
            r"\(unicode error\) 'unicodeescape' codec can't decode bytes",
        ),
        cause="A Windows path is written with single backslashes, which Python and the config files of TensorFlow's tools read as signs of their own (\\t, \\r, \\n, \\U), or with a sign or quote that Windows allows in no name.",
        fix="""\
input_path: "C:/models/annotations/train.record"                        # forward slashes, in config files too
path = r"C:\\models\\annotations"                                          # or a raw string, or pathlib.Path
# no quotes within the path, no : ? * | in a name (a time stamp of logs: strftime("%Y%m%d-%H%M%S"))""",
        citations=(
            "EdjeElectronics/TensorFlow-Object-Detection-API-Tutorial-Train-Multiple-Objects-Windows-10#352",
        ),
        example="NewRandomAccessFile failed to Create/Open: C:x : The filename, directory name, or volume label syntax is incorrect.",
    ),
    KnownError(
        id="E798",
        family="python2-range",
        phase=Phase.BUILDING,
        patterns=(r"Argument must be a dense tensor: range\(\d{1,6}, ?(?P<count>\d{1,6})\)",),
        cause="Python 3's range() is no list: a program written for Python 2 gives it as a tensor (in the Object Detection API: utils/learning_schedules.py).",
        details=("The range has {count} numbers.",),
        fix="""\
rate_index = tf.reduce_max(tf.where(tf.greater_equal(global_step, boundaries), list(range(num_boundaries)), [0] * num_boundaries))
# everywhere range(...) goes into a TensorFlow function: list(range(...)); or a newer release of that program""",
        citations=(
            "EdjeElectronics/TensorFlow-Object-Detection-API-Tutorial-Train-Multiple-Objects-Windows-10#11",
        ),
        example="ValueError: Tried to convert 't' to a tensor and failed. Error: Argument must be a dense tensor: range(0, 3) - got shape [3], but wanted [].",
    ),
    KnownError(
        id="E799",
        family="path-type",
        phase=Phase.READING,
        patterns=(
            r"incompatible constructor arguments.{0,300}?_pywrap_file_io",
            r"incompatible function arguments.{0,300}?_pywrap_file_io",
        ),
        cause="tf.io.gfile is given something that is no path: None (an option or field that was not set), an object already loaded, a list of paths.",
        fix="""\
print(repr(path))                                                        # before the line of yours that the traceback names
with tf.io.gfile.GFile(str(path), "r") as file: text = file.read()         # one path, a str: not None, no list, no loaded object
category_index = label_map_util.create_category_index_from_labelmap("annotations/label_map.pbtxt")      # a path, not a label map""",
        citations=("nicknochnack/RealTimeObjectDetection#48",),
        example="TypeError: __init__(): incompatible constructor arguments. The following argument types are supported: 1. tensorflow.python.lib.io._pywrap_file_io.BufferedInputStream(filename: str, buffer_size: int)",
    ),
)
