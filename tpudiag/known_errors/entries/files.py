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
            r"Anonymous credentials cannot be refreshed",
            r"Reauthentication (?:is )?(?:needed|failed)",
            r"(?:Anonymous caller|caller) does not have storage",
            r"does not have storage\.(?:objects|buckets)\.(?P<right>\w{2,12}) access",
            r"HTTP response code 40[13]",
            r"Permission ?denied.{0,120}?gs://",
            r"gs://.{0,200}?Permission ?denied",
            r"gs://.{0,200}?Access ?denied",
            r"PermissionDeniedError: gs://[\w./*-]{1,160}",
            r"(?<![\d.])403 permission.{0,200}?(?:bucket|gs://|storage\.googleapis)",
            r"(?<![\d.])403 forbidden.{0,200}?(?:bucket|gs://|storage\.googleapis)",
            r"(?:bucket|gs://|storage\.googleapis).{0,120}?(?<![\d.])403 forbidden",
            r"ResumableUploadAbortException: 403",
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
            r"Could not find directory gs://",
            r"google\.(?:cloud|api_core)\.exceptions\.NotFound: 404",
            r"No URLs matched: gs:",
            r"One or more URLs matched no objects",
        ),
        cause="There is no such object or bucket: the path is mistyped, or the file was never written there (it is not a question of rights).",
        details=("The object is {object}.",),
        fix="""\
gcloud storage ls gs://BUCKET/PATH*          # what is there: compare letter by letter
files = tf.io.gfile.glob("gs://BUCKET/train-*.tfrecord"); assert files""",
        citations=("nyu-dl/dl4marco-bert#19",),
        yields_to=("E486", "E914"),
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
            r"""(?:NotFoundError|FileNotFoundError|NOT_FOUND|Not found).{0,160}?(?P<file>(?:[\w.~-]{1,60})?/[^\s;'\"\[\]]{1,200}?);? ?No such file or directory""",
            r"No such file or directory: '(?P<file>[^']{1,200})'",
            r"(?:NotFoundError|FileNotFoundError).{0,200}?No such file or directory",
            r"'FileNotFoundError' object has no attribute 'op'",
            r"Expected .{0,40}?files.{0,40}?(?:found none|matched no)",
            r"No files found based on the file pattern (?P<file>[\w./:*?-]{1,160})",
            r"No files matched pattern: ?(?P<file>[\w./:*?{}$-]{1,160})",
            r"No files matched pattern",
            r"Did not match any files",
            r"Failed to find any matching files for (?P<file>[\w./:+-]{1,160})",
            r"FileNotFoundError: .{0,60}?does not exist: ?(?P<file>[\w./:-]{1,160})",
            r"FileNotFoundError: (?P<file>[\w./:-]{3,160}) not found",
            r"[\w/\-.]; No such file or directory",
            r"errno = 2, error message = 'No such file",
            r"ENOENT: no such file",
            r"NewRandomAccessFile failed to Create/Open: .{1,200}?(?:cannot find|filename, directory name)",
            r"No file or directory found at ?(?P<file>\S{1,160})",
            r"Parent directory of (?P<file>[\w./:-]{1,160}) doesn't exist",
            r"(?:FailedPrecondition|NotADirectory|NotFound)Error: .{1,160}? is not a directory",
            r"NotFoundError: (?P<file>[\w./~-]{1,200}\.(?:tfrecords?|tfrec|record|jpe?g|png|csv|tsv|txt|json|npy|npz|h5|gz|zip|wav|xml|pbtxt))",
            r"Not found: (?P<file>[\w./~-]{1,200}\.(?:tfrecords?|tfrec|record|jpe?g|png|csv|tsv|txt|json|npy|npz|h5|gz|zip|wav|xml|pbtxt))",
            r"NOT_FOUND: (?P<file>[\w./~-]{1,200}\.(?:tfrecords?|tfrec|record|jpe?g|png|csv|tsv|txt|json|npy|npz|h5|gz|zip|wav|xml|pbtxt))",
            r"\[Errno 20\] Not a directory",
            r"bash: .{0,30}?cd: .{1,200}?No such file or directory",
            r"bash: .{1,200}?: No such file or directory",
            r"Error when restoring from checkpoint or SavedModel at .{1,300}? double-check that the path",
        ),
        cause="A file does not exist where the program looks for it: the path is wrong or missing, or it is looked for on another machine (each host of a slice has a disk of its own).",
        details=("The file is {file}.",),
        fix="""\
print(tf.io.gfile.glob("gs://BUCKET/train-*.tfrecord"))     # what is there
# the same file on every host, or one bucket for all; relative paths start where the script was started""",
        citations=("google/automl#119",),
        example="tensorflow.python.framework.errors_impl.NotFoundError: /data/train.tfrecord; No such file or directory",
        near_miss="ImportError: libtpu.so: cannot open shared object",
        yields_to=("E917",),
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
        id="E598",
        family="bucket-refused",
        phase=Phase.READING,
        kind=Kind.BROAD,
        patterns=(
            r"HTTP response code (?P<code>4(?:0[02579]|1\d)) with body",
            r"HTTP response code (?P<code>4(?:0[02579]|1\d))",
            r"Invalid bucket name",
        ),
        cause="Cloud Storage refuses the request as it is: a bucket or object name that cannot be (a placeholder that was never filled in, a capital letter, a // in the path), a project that has to pay, or a request that it does not allow; its message stands in the body.",
        details=("The code is {code}.",),
        fix="""\
echo "gs://$BUCKET/$MODEL"                    # is every variable set? names: lower case, no gs:// twice, no trailing blank
gcloud storage ls gs://BUCKET                  # from this machine, with this account
gcloud storage buckets describe gs://BUCKET     # its project; requester_pays?""",
        citations=("google-research/bert#696",),
        example="InvalidArgumentError: Error executing an HTTP request: HTTP response code 400 with body 'Invalid'",
        yields_to=("E26", "E118", "E124", "E236", "E230", "E231", "E232"),
    ),
)
