# ruff: noqa: E501  (texts of other programs stay as they are)
"""Files, buckets, checkpoints and saved models."""

from __future__ import annotations

from tpudiag.known_errors.model import Kind, KnownError, Phase

ERRORS = (
    KnownError(
        id="E25",
        family="local-files",
        phase=Phase.READING,
        patterns=(
            r"File system scheme '\[local\]' not implemented \(file: '(?P<file>[^']{1,300})'\)",
            r"File system scheme '\[local\]' not implemented",
            r"File system scheme '\[local\]'",
        ),
        cause="The TPU Node's worker was given a path on the client's disk, which it cannot see (data, checkpoint or model.save).",
        details=("The path is {file}.",),
        fix="""\
data_path, checkpoint_path = "gs://BUCKET/data", "gs://BUCKET/checkpoints"     # what a TPU Node reads and writes
options = tf.saved_model.LoadOptions(experimental_io_device="/job:localhost")      # read and write on the client
model = tf.keras.models.load_model("model", options=options)
model.save("model", options=tf.saved_model.SaveOptions(experimental_io_device="/job:localhost"))
os.environ["TFHUB_MODEL_LOAD_FORMAT"] = "UNCOMPRESSED"      # TF Hub: read from its bucket instead of /tmp
# a TPU VM reads its own disk""",
        useless="another path on the client's disk does not help, nor does Google Drive",
        citations=(
            "tensorflow/tensorflow#36447",
            "tensorflow/tensorflow#49177",
            "tensorflow/tensorflow#23406",
            "tensorflow/models#8265",
            "tensorflow/models#9059",
            "keras-team/keras-tuner#921",
            "google-research/language#54",
            "tensorflow/datasets#486",
            "canjiali/PARADE#27",
            "sayakpaul/Learnable-Image-Resizing#1",
            "google-research/bert#445",
        ),
        example="UnimplementedError: File system scheme '[local]' not implemented (file: '/tmp/model/model.ckpt-0_temp_3546763fe0ab4b32a5353eb8f190192c')",
        near_miss="UnimplementedError: File system scheme 'gs' not implemented (file: 'gs://bucket/model')",
    ),
    KnownError(
        id="E26",
        family="bucket-rights",
        phase=Phase.READING,
        patterns=(
            r"(?P<account>service-\d{1,20}@cloud-tpu\.iam\.gserviceaccount\.com).{0,200}? does not have storage\.objects\.(?P<right>get|list|create|delete) access",
            r"(?P<account>[\w.-]{1,80}@[\w.-]{1,60}gserviceaccount\.com).{0,200}?does not have storage\.(?:objects|buckets)\.(?P<right>\w{2,12}) access",
            r"DefaultCredentialsError",
            r"Could not automatically determine credentials",
            r"Reauthentication (?:is )?(?:needed|failed)",
            r"(?:Anonymous caller|caller) does not have storage",
            r"does not have storage\.(?:objects|buckets)\.(?P<right>\w{2,12}) access",
            r"HTTP response code 40[13]",
            r"Permission ?denied.{0,120}?gs://",
            r"gs://.{0,200}?Permission ?denied",
            r"gs://.{0,200}?Access ?denied",
        ),
        cause='The account that reads the bucket (the TPU\'s service account, or nobody: "anonymous caller") has no right to it.',
        details=("{account} needs storage.objects.{right}.",),
        fix="""\
gcloud storage buckets add-iam-policy-binding gs://BUCKET \\
    --member="serviceAccount:ADDRESS_IN_THE_MESSAGE" --role=roles/storage.objectAdmin
# roles/storage.objectViewer is enough where it only reads
gcloud auth application-default login            # "Anonymous caller": no credentials at all; log in
# in Colab: from google.colab import auth; auth.authenticate_user()
# Kaggle: GCS paths change: take KaggleDatasets().get_gcs_path() anew in each session; a TPU VM reads /kaggle/input""",
        citations=(
            "googlecolab/colabtools#1177",
            "googlecolab/colabtools#1056",
            "google-research/text-to-text-transfer-transformer#1003",
            "tensorflow/models#10828",
            "EleutherAI/gpt-neo#160",
            "tensorflow/datasets#486",
            "nyu-dl/dl4marco-bert#19",
            "kingoflolz/mesh-transformer-jax#152",
            "keras-team/keras-io#223",
        ),
        example="""\
PermissionDeniedError: Error executing an HTTP request: HTTP response code 403 with body '{
  "error": {
    "code": 403,
    "message": "service-123456789012@cloud-tpu.iam.gserviceaccount.com does not have storage.objects.create access to bucketname/train/events.out.tfevents.",""",
        near_miss="AccessDeniedException: 403 in the proxy",
    ),
    KnownError(
        id="E118",
        family="object-missing",
        phase=Phase.READING,
        patterns=(
            r"HTTP response code 404",
            r"No such object: (?P<object>[\w./-]{1,200})",
            r"The specified (?:bucket|key) does not exist",
            r"BucketNotFound",
            r"""gs://[^\s'\"]{1,160}.{0,20}?No such file or directory""",
            r"""gs://[^\s'\"]{1,160}.{0,20}?does not exist""",
        ),
        cause="There is no such object or bucket: the path is mistyped, or the file was never written there (it is not a question of rights).",
        details=("The object is {object}.",),
        fix="""\
gcloud storage ls gs://BUCKET/PATH*          # what is there: compare letter by letter
files = tf.io.gfile.glob("gs://BUCKET/train-*.tfrecord"); assert files""",
        citations=("nyu-dl/dl4marco-bert#19",),
        example="""\
Error executing an HTTP request: HTTP response code 404 with body '{"message": "No such object: bucket/dataset_train.tf"
 when reading metadata of gs://bucket/dataset_train.tf""",
    ),
    KnownError(
        id="E119",
        family="file-missing",
        phase=Phase.READING,
        kind=Kind.BROAD,
        patterns=(
            r"""(?:NotFoundError|FileNotFoundError|NOT_FOUND|Not found).{0,160}?(?P<file>/[^\s;'\"]{1,200}?);? ?No such file or directory""",
            r"No such file or directory: '(?P<file>[^']{1,200})'",
            r"(?:NotFoundError|FileNotFoundError).{0,200}?No such file or directory",
            r"'FileNotFoundError' object has no attribute 'op'",
            r"Expected .{0,40}?files.{0,40}?(?:found none|matched no)",
            r"No files matched pattern",
            r"Did not match any files",
            r"Failed to find any matching files for (?P<file>[\w./:-]{1,160})",
            r"Failed to get matching files on (?P<file>[\w./:-]{1,160})",
        ),
        cause="A file does not exist where the program looks for it: the path is wrong or missing, or it is looked for on another machine (each host of a slice has a disk of its own).",
        details=("The file is {file}.",),
        fix="""\
print(tf.io.gfile.glob("gs://BUCKET/train-*.tfrecord"))     # what is there
# the same file on every host, or one bucket for all; relative paths start where the script was started""",
        citations=("google/automl#119",),
        example="tensorflow.python.framework.errors_impl.NotFoundError: /data/train.tfrecord; No such file or directory",
        near_miss="ImportError: libtpu.so: cannot open shared object",
    ),
    KnownError(
        id="E120",
        family="h5-in-bucket",
        phase=Phase.SAVING,
        patterns=(
            r"Unable to (?:synchronously )?(?:create|open) file .{0,60}?name = '(?P<file>gs://[^']{1,200})'",
            r"h5py/_hl.{0,300}?gs://",
            r"Unable to (?:synchronously )?(?:create|open) file.{0,200}?gs://",
        ),
        cause="HDF5 files (.h5) are written and read by h5py, which knows local files only, no gs://.",
        details=("The file is {file}.",),
        fix="""\
model.save("/tmp/model.keras")                                   # locally, then copy
tf.io.gfile.copy("/tmp/model.keras", "gs://BUCKET/model.keras", overwrite=True)
tf.train.Checkpoint(model=model).save("gs://BUCKET/ckpt")        # TensorFlow's own formats write there directly""",
        citations=(
            "tensorflow/tensorflow#36453",
            "keras-team/keras#15041",
        ),
        example="OSError: Unable to create file (unable to open file: name = 'gs://MY-BUCKET/model.h5', errno = 2, error message = 'No such file or directory', flags = 13, o_flags = 242)",
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
            r"Load weights is not yet supported with TPUStrategy",
            r"load a weight file containing (?P<saved>\d{1,5}) layers into a model with (?P<model>\d{1,5}) layers",
            r"objects could not be loaded",
            r"expected (?P<model>\d{1,5}) variables, but received (?P<saved>\d{1,5}) variables",
            r"Unable to restore .{0,60}?(?:checkpoint|weights)",
            r"Cannot restore .{0,80}?checkpoint",
            r"Unresolved object in checkpoint.{0,600}?AssertionError",
        ),
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
            "tensorflow/tensorflow#35942",
        ),
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
            r"Error executing an HTTP request: (?:libcurl|HTTP response code (?:0|429|5\d\d))",
            r"libcurl code \d{1,3}",
            r"HTTP response code (?:429|5\d\d)",
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
            r"Disk quota exceeded",
        ),
        cause="The disk is full: a checkpoint, cache or log could not be written.",
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
)
