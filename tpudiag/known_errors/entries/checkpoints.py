# ruff: noqa: E501  (texts of other programs stay as they are)
"""Saved models, checkpoints, and the disks they lie on."""

from __future__ import annotations

from tpudiag.known_errors.model import Kind, KnownError, Phase

ERRORS = (
    KnownError(
        id="E944",
        family="no-kernel-for-device",
        phase=Phase.EXECUTING,
        patterns=(
            r"Cannot assign a device for operation (?P<operation>[\w./-]{1,120}?): .{0,300}?no supported kernel for (?P<kind>\w{2,8}) devices is available",
            r"Could not satisfy explicit device specification '(?P<device>/[\w:/]{1,80})' because no supported kernel for (?P<kind>\w{2,8}) devices is available",
            r"no supported kernel for (?P<kind>\w{2,8}) devices is available",
        ),
        cause="An operation is bound to <<kind>> and has no kernel there (Python functions, strings, files, tables, most of tf.data), and soft placement is off, so that TensorFlow may not put it on the CPU: it stands under `with tf.device(...)`, or eagerly under the strategy's scope.",
        details=("The operation is {operation}.", "The device asked for is {device}."),
        fix="""\
tf.config.set_soft_device_placement(True)      # at the start of the program: what has no kernel there runs on the host
dataset = dataset.map(preprocess, num_parallel_calls=tf.data.AUTOTUNE)      # text, files, py_function: in the dataset, before the step
with tf.device("/CPU:0"): table = make_table()                              # or that operation alone bound to the host""",
        citations=("tensorflow/tensorflow#39030",),
        example="InvalidArgumentError: Cannot assign a device for operation PyFunc: Could not satisfy explicit device specification '/job:worker/replica:0/task:0/device:TPU:0' because no supported kernel for TPU devices is available.",
        near_miss="Could not satisfy explicit device specification '/device:TPU:0' because the node was colocated",
    ),
    KnownError(
        id="E121",
        family="device-placement",
        phase=Phase.SAVING,
        patterns=(
            r"matching files (?:for|on) ram://",
            r"Cannot assign a device for operation",
            r"Could not satisfy explicit device specification",
            r"was explicitly assigned to (?P<device>/job:[\w:/]{1,80}?) but available devices are",
            r"Make sure the device specification refers to a valid device",
            r"Cannot copy .{0,80}?(?:TPU|device).{0,60}?(?:TPU|device)",
            r"unknown device.{0,40}?TPU",
            r"incompatible assigned devices",
            r"No matching devices found for '(?P<device>/job:[\w:/]{1,60})",
            r"(?P<device>/job:[\w:/]{1,60}?/device:\w{1,8}:\d{1,4}) unknown device",
            r"Could not satisfy device specification '(?P<device>/job:[\w:/]{1,60})",
            r"Could not find device for node",
            r"Tensors on conflicting devices",
        ),
        cause="An operation is bound to a device that this session does not have or that cannot read there: the TPU was not connected to, the model was made in another session (plain keras beside tf.keras, another graph), or a saved model is read on the worker instead of the client.",
        details=("The device is {device}.",),
        fix="""\
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
with strategy.scope():
    model = build_model()             # build and load weights inside; only tf.keras, not another keras
options = tf.saved_model.LoadOptions(experimental_io_device="/job:localhost")      # read and write on the client
model = tf.keras.models.load_model("model", options=options)
model.save("model", options=tf.saved_model.SaveOptions(experimental_io_device="/job:localhost"))
os.environ["TFHUB_MODEL_LOAD_FORMAT"] = "UNCOMPRESSED"      # TF Hub: read from its bucket instead of /tmp""",
        citations=(
            "tensorflow/tpu#497",
            "tensorflow/tpu#109",
            "amaljoseph/EndToEnd_Signature-Detection-Cleaning-Verification_System_using_YOLOv5-and-CycleGAN#3",
        ),
        example="InvalidArgumentError: Cannot assign a device for operation stem_conv/kernel: node was explicitly assigned to /job:worker/replica:0/task:0/device:TPU:0 but available devices are [ /job:localhost/replica:0/task:0/device:CPU:0 ]. Make sure the device specification refers to a valid device.",
        yields_to=("E941", "E944"),
    ),
    KnownError(
        id="E122",
        family="checkpoint-mismatch",
        phase=Phase.SAVING,
        patterns=(
            r"mismatch between the current graph and the graph from the checkpoint",
            r"Assign requires shapes of both tensors to match\. lhs shape= ?(?P<model>\[[\d,]{0,40}\]) rhs shape= ?(?P<saved>\[[\d,]{0,40}\])",
            r"Received incompatible tensor with shape (?P<saved>\([\d, ]{0,40}\)) when attempting to restore variable with shape (?P<model>\([\d, ]{0,40}\))",
            r"objects had attributes which were not restored",
            r"Key \S{1,160}? not found in checkpoint",
            # Said of every failure to restore; what really failed stands behind it.
            r"Restoring from checkpoint failed(?!.{0,500}?matching files)",
            r"altered the graph expected based on the checkpoint(?!.{0,300}?matching files)",
            r"was never built and thus it doesn't have any variables",
            r"load a weight file containing (?P<saved>\d{1,5}) layers into a model with (?P<model>\d{1,5}) layers",
            r"objects could not be loaded",
            r"A total of \d{1,5} objects? could not be",
            r"expected (?P<model>\d{1,5}) variables, but received (?P<saved>\d{1,5}) variables",
            r"not an sstable \(bad magic number\)",
            r"has not created its variables yet",
            r"expects \d{1,4} weight\(s\), but the saved weights have \d{1,4}",
            r"Cannot restore .{0,80}?checkpoint",
            r"Unresolved object in checkpoint.{0,600}?AssertionError",
            r"AssertionError: Unresolved object in checkpoint",
            r"Layer count mismatch when loading weights from file\. Model expected (?P<model>\d{1,5}) layers, found (?P<saved>\d{1,5})",
            r"Shape mismatch in layer #\d{1,4}",
            r"Weight count mismatch for layer",
            r"axes don't match array",
            r"Cannot assign value to variable .{0,120}?Shape mismatch",
            r"Expected to restore a tensor of type (?P<model>\w{3,12}), got a tensor of type (?P<saved>\w{3,12})",
            r"Some (?:Python )?objects were not bound to checkpointed values",
            r"expected dtype (?P<model>\w{3,12}) does not equal original dtype (?P<saved>\w{3,12})",
            r"Trackable .{1,160}? (?:expects checkpointed values but|does not expect checkpointed values)",
            r"was saved using a registered saver named",
            r"was saved with the registered saver named",
            r"Size for (?:serialized_tensors|saveable_objects) for Trackable",
            r"weight .{1,120}? has shape (?P<model>\([\d, ]{0,40}\)), but the saved weight has shape (?P<saved>\([\d, ]{0,40}\))",
            r"Inconsistent references when loading the checkpoint",
            r"Tensor name \W?(?P<key>[\w/.-]{1,120})\W? not found in checkpoint files",
        ),
        places=(r"saving_lib\.py _raise|load_own_variables|load_weights_from_hdf5_group",),
        cause="The checkpoint or weight file was written by another model than the one it is loaded into: sizes, layers, the number of classes, or a configuration differ (or weights of an old Keras are loaded by a new one).",
        details=("The model has {model}, the checkpoint {saved}.",),
        fix="""\
for name, shape in tf.train.list_variables(checkpoint_path): print(name, shape)      # what it holds
# build the model from the configuration that belongs to the checkpoint (vocabulary, width, classes)
tf.train.Checkpoint(model=model).restore(path).expect_partial()      # a new head: leave the rest out
model.load_weights("w.weights.h5", skip_mismatch=True)""",
        citations=(
            "google-research/bert#703",
            "tensorflow/minigo#685",
            "leeyoshinari/YOLO_tiny#4",
            "google-research/bert#1215",
        ),
        yields_to=("E25", "E26", "E118", "E124"),  # Saver says so of any failure to restore
        example="InvalidArgumentError: Assign requires shapes of both tensors to match. lhs shape= [3072] rhs shape= [4096]",
    ),
    KnownError(
        id="E123",
        family="checkpoint-unused",
        phase=Phase.SAVING,
        level="info",
        patterns=(
            r"Unresolved object in checkpoint",
            r"not all checkpointed values were used",
            r"Value in checkpoint could not be found in the restored object",
            r"is being deleted with unrestored values",
        ),
        cause="No failure: the checkpoint holds values that nothing asked for yet, mostly the optimizer's when only the model is restored, or layers that are built later.",
        fix="""\
checkpoint.restore(path).expect_partial()              # only the model is wanted: says so, and is silent
checkpoint.restore(path).assert_consumed()             # to go on training: raises if something is missing or unused""",
        citations=(
            "tensorflow/tensorflow#52346",
            "tensorflow/tensorflow#33150",
        ),
        example="WARNING:tensorflow:Unresolved object in checkpoint (root).optimizer.iter: attributes {",
    ),
    KnownError(
        id="E124",
        family="bucket-transport",
        phase=Phase.READING,
        kind=Kind.BROAD,
        patterns=(
            r"All \d{1,3} retry attempts failed",
            r"Error executing an HTTP request: (?:libcurl(?!.{0,120}?resolve host: metadata)|HTTP response code (?:0|429|5\d\d))",
            r"libcurl code \d{1,3}(?!.{0,120}?resolve host: metadata)",
            r"Transport endpoint is not connected",
            r"HTTP response code (?:429|5\d\d)",
            r"google\.api_core\.exceptions\.(?:GatewayTimeout|RetryError|ServiceUnavailable: 503 (?:GET|POST|PUT))",
            r"rate of change requests to the object",
            r"Cannot connect to host storage\.googleapis\.com",
        ),
        cause="The storage bucket or the network on the way to it did not answer, or refused so many requests at once.",
        fix="""\
gcloud storage ls gs://BUCKET | head          # is it reachable from this machine?
# a bucket in the TPU's own region; fewer, larger files (100 MB each); fewer parallel reads
files = tf.io.gfile.glob("gs://BUCKET/train-*.tfrecord"); tf.data.TFRecordDataset(files, num_parallel_reads=16)""",
        citations=("TensorSpeech/TensorFlowTTS#590",),
        example="AbortedError: All 10 retry attempts failed. The last failure: Unknown: : No response body.",
    ),
    KnownError(
        id="E126",
        family="disk-full",
        phase=Phase.SAVING,
        patterns=(
            r"No space left on device",
            r"OSError: \[Errno 28\]",
            r"errno = 28, error message",
            r"Disk quota exceeded",
            r"Could not append to the internal temporary file",
            r"disk is full",
            r"Not enough (?:free )?(?:disk )?space",
            r"was low on resource: ephemeral-storage",
        ),
        cause="The disk is full: a checkpoint, cache or log could not be written (what goes to gs:// is collected in /tmp first).",
        fix="""\
df -h; du -xsh /tmp ~ | sort -h                 # what fills it
tf.train.CheckpointManager(checkpoint, "gs://BUCKET/ckpt", max_to_keep=3)      # a bucket, and few of them""",
        evidence="recalled",
        example="tensorflow.python.framework.errors_impl.ResourceExhaustedError: /tmp/ckpt.data; No space left on device",
    ),
    KnownError(
        id="E128",
        family="gs-scheme",
        phase=Phase.READING,
        patterns=(r"File system scheme 'gs' not implemented",),
        cause="This build of TensorFlow cannot read gs:// (a build without Google Cloud Storage, or on Windows).",
        fix="""\
pip install tensorflow-cpu            # the official wheels for Linux read gs://
import tensorflow_io                  # other builds: registers it""",
        evidence="recalled",
        example="UnimplementedError: File system scheme 'gs' not implemented (file: 'gs://bucket/model')",
    ),
    KnownError(
        id="E170",
        family="untracked-resource",
        phase=Phase.SAVING,
        patterns=(
            r"Tried to export a function which references (?:an )?'?untracked'? (?:resource|object|Tensor)",
            r"references untracked resource",
        ),
        cause="The model that is saved uses a table or variable that is no attribute of it, so it cannot be saved with it: a global, an attribute of the class and not of the object, a moving average or table made in the function, a layer made in a builder that keeps none of it.",
        fix="""\
self.table = tf.lookup.StaticHashTable(...)      # keep tables, variables and layers as attributes of the model or module
module = tf.Module(); module.model, module.table = model, table; tf.saved_model.save(module, path)""",
        citations=(
            "tensorflow/tensorflow#57363",
            "tensorflow/tensorflow#57930",
            "tensorflow/tensorflow#40310",
            "tensorflow/transform#240",
        ),
        example='AssertionError: Tried to export a function which references untracked resource Tensor("77:0", shape=(), dtype=resource).',
    ),
    KnownError(
        id="E171",
        family="too-many-files",
        phase=Phase.READING,
        patterns=(r"Too many open files",),
        cause="The process has more files open than the system allows: many data files read at once, or files that are never closed.",
        fix="""\
ulimit -n 65536                                          # before the job
tf.data.TFRecordDataset(files, num_parallel_reads=16)      # fewer at once; fewer, larger files""",
        evidence="recalled",
        example="OSError: [Errno 24] Too many open files: '/data/part-00001'",
    ),
    KnownError(
        id="E270",
        family="waits-for-a-checkpoint",
        phase=Phase.SAVING,
        level="warning",
        patterns=(
            r"Timed-out waiting for a checkpoint",
            r"Waiting for new checkpoint at",
        ),
        cause="This process evaluates: it waits for checkpoints of another one that trains, and none came (with --checkpoint_dir the Object Detection API evaluates only and does not train).",
        fix="""\
python model_main_tf2.py --model_dir=DIR --pipeline_config_path=CONFIG                       # trains
python model_main_tf2.py --model_dir=DIR --pipeline_config_path=CONFIG --checkpoint_dir=DIR  # evaluates, beside it
ls DIR/checkpoint                                                                            # the trainer's folder, and written to""",
        citations=("tensorflow/models#8883",),
        example="checkpoint_utils.py:231] Timed-out waiting for a checkpoint.",
    ),
    KnownError(
        id="E689",
        family="weights-under-old-strategy",
        phase=Phase.SAVING,
        patterns=(
            r"(?:Load|Save) weights is not yet supported with TPUStrategy",
            r"TPUStrategy.{0,20}?with steps_per_run greater than 1",
        ),
        cause="The TPUStrategy of TensorFlow 1.13 to 2.0 runs several steps at once (steps_per_run) and can neither save nor load weights then.",
        fix="""\
pip install -U tensorflow                                               # 2.3 or newer: tf.distribute.TPUStrategy(resolver) has no such limit
strategy = tf.distribute.TPUStrategy(resolver)                          # steps at once: model.compile(..., steps_per_execution=50)
strategy = tf.distribute.experimental.TPUStrategy(resolver, steps_per_run=1)     # where the old release has to stay""",
        citations=("tensorflow/tensorflow#35942",),
        example="ValueError: Load weights is not yet supported with TPUStrategy with steps_per_run greater than 1.",
    ),
    KnownError(
        id="E683",
        family="bucket-protocol",
        phase=Phase.SAVING,
        patterns=(
            r"Unexpected response from GCS when (?P<what>writing|reading)",
            r"'Location' header not returned",
            r"EOF reached, (?P<got>\d{1,12}) bytes were read out of (?P<wanted>\d{1,12}) bytes requested",
            r"Response content size \d{1,12} (?:exceeds|is)",
            r"The (?:range|requested range) .{0,40}?not satisfiable",
        ),
        cause="TensorFlow's reader or writer of gs:// and the bucket did not understand each other: a bug of that TensorFlow release (nightly and early ones above all), an object that changed or was cut off while it was read, or a path that is a folder.",
        details=("{got} of {wanted} bytes came.",),
        fix="""\
gcloud storage ls -L gs://BUCKET/PATH | grep -i length        # is the object there, and whole?
pip install "tensorflow==2.15.*"                               # a released version, no nightly; the TPU's own where it is a TPU Node
gcloud storage cp gs://BUCKET/PATH /tmp/data                   # on a TPU VM: read it from the disk, to tell file and reader apart""",
        citations=("tensorflow/tensorflow#40032", "tensorflow/tensorflow#11766"),
        example="InternalError: Unexpected response from GCS when writing to gs://bucket/mnist/: 'Location' header not returned.",
    ),
)
