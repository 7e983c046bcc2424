# ruff: noqa: E501  (texts of other programs stay as they are)
"""Input pipelines: Python in them, types, records, sharding, the end of the data."""

from __future__ import annotations

from tpudiag.known_errors.model import KnownError, Phase

ERRORS = (
    KnownError(
        id="E24",
        family="message-too-large",
        phase=Phase.READING,
        patterns=(
            r"in order to run (?P<op>\w{1,60}?): (?:Unable to parse tensor proto|Failed to serialize message)",
            r"Unable to parse tensor proto",
            r"InternalError: Failed to serialize message",
            r"Failed to serialize message",
            r"(?:tensor proto|GraphDef|protobuf|message).{0,60}?larger than 2 ?GB",
            r"(?:tensor proto|GraphDef|protobuf|message|size).{0,60}?2147483647",
            r"Cannot create a tensor proto whose content is larger than 2GB",
            r"Received message larger than max",
            r"Serialized size of Dataset .{0,60}?exceeds maximum allowed",
            r"EncodeError: Failed to serialize proto",
            r"proto_buffer_writer\.h:\d{1,4}\] assertion failed: byte_count_ < total_size_",
            r"exceeds maximum protobuf size of 2GB",
        ),
        cause="Arrays of more than 2 GB in the client's memory are sent to the TPU Node in one message, which cannot be that large.",
        details=("It happened while {op} was to run.",),
        fix="""\
# write the arrays to TFRecord files in a bucket once, and read them there
files = tf.io.gfile.glob("gs://BUCKET/train-*.tfrecord")
dataset = tf.data.TFRecordDataset(files, num_parallel_reads=tf.data.AUTOTUNE)
# and initialise the TPU before any array is loaded""",
        citations=(
            "tensorflow/tensorflow#34041",
            "tensorflow/tensorflow#33747",
            "tensorflow/tensorflow#34321",
            "tensorflow/tensorflow#47026",
            "tensorflow/tensorflow#33103",
        ),
        example="InternalError: Failed copying input tensor from /job:localhost/replica:0/task:0/device:CPU:0 to /job:worker/replica:0/task:0/device:CPU:0 in order to run DatasetCardinality: Unable to parse tensor proto",
        near_miss="Unable to parse tensor from stored proto in file: /data/part-00001",
        yields_to=("E938",),
    ),
    KnownError(
        id="E27",
        family="python-in-pipeline",
        phase=Phase.READING,
        patterns=(
            r"No registered '(?P<op>PyFunc|EagerPyFunc)' OpKernel for '?CPU'? devices compatible with node",
            r"No OpKernel was registered to support Op '(?P<op>(?:Eager)?PyFunc(?:Stateless)?)'",
        ),
        cause="The input pipeline or a metric calls Python (py_function, numpy_function, from_generator, a COCO metric), and the TPU Node's worker has no Python.",
        details=("The operation is {op}.",),
        fix="""\
dataset = tf.data.TFRecordDataset(files).map(parse_with_tf_ops, num_parallel_calls=tf.data.AUTOTUNE)
# a metric in Python: evaluate in a second process on a CPU or GPU (--mode=eval --use_tpu=False), from the checkpoints
# or train on a TPU VM, where the script runs beside the TPU""",
        useless="a smaller batch does not help: the worker has no Python",
        citations=(
            "tensorflow/tensorflow#39030",
            "tensorflow/tensorflow#24099",
            "tensorflow/tensorflow#30818",
            "tensorflow/tensorflow#34346",
            "tensorflow/tensorflow#32712",
            "tensorflow/tensorflow#38762",
        ),
        example="""\
NotFoundError: {{function_node __inference_train_function_128421}} No registered 'PyFunc' OpKernel for 'CPU' devices compatible with node {{node PyFunc}}
     .  Registered:  <no registered kernels>""",
        near_miss="PyFunc (No registered 'PyFunc' OpKernel for XLA_CPU_JIT devices compatible with node {{node PyFunc}})",
    ),
    KnownError(
        id="E134",
        family="python-in-pipeline",
        phase=Phase.READING,
        patterns=(
            r"Could not find callback with key=pyfunc_\d{1,6}",
            r"callback pyfunc_\d{1,6} is not found",
            r"(?:[Pp]ython generators?|`?Sequence`? inputs?|generator inputs?).{0,60}?not supported",
            r"pyfunc_\d{1,6}.{0,80}?not found",
        ),
        cause="The dataset calls Python (from_generator, py_function, numpy_function), and runs in a process that does not have that Python function: a TPU worker, a tf.data service worker, a graph that was saved and loaded.",
        fix="""\
# write what the generator yields to TFRecord files once, and read them with tf ops
dataset = tf.data.TFRecordDataset(files).map(parse_with_tf_ops, num_parallel_calls=tf.data.AUTOTUNE)
# or tf.data.Dataset.from_tensor_slices(arrays) for what fits in memory""",
        useless="a smaller batch does not help",
        citations=("tensorflow/tensorflow#50252",),
        example="ValueError: Could not find callback with key=pyfunc_0 in the registry.",
        near_miss="callback my_metric is not registered",
        yields_to=(
            "E49",
            "E39",
        ),
    ),
    KnownError(
        id="E69",
        family="captured-strings",
        phase=Phase.READING,
        patterns=(
            r"NodeDef expected inputs 'string' do not match 0 inputs specified.{0,60}?Op<name=(?P<op>(?:TensorSlice|Tensor|Map|Concatenate)Dataset)",
        ),
        cause="A dataset that holds strings (a list of file names, labels as text) was made on the client and is run on the TPU worker, which is of another version or cannot take it over.",
        details=("The operation is {op}.",),
        fix="""\
with tf.device("/job:localhost"):                       # the dataset stays on the client
    dataset = tf.data.Dataset.from_tensor_slices(paths).map(load)
files = tf.data.Dataset.list_files("gs://BUCKET/*.jpg")  # or TFRecord files in a bucket, read by the worker itself
# and the same TensorFlow version on both sides""",
        citations=("tensorflow/tensorflow#42010",),
        example="InvalidArgumentError: NodeDef expected inputs 'string' do not match 0 inputs specified; Op<name=TensorSliceDataset; signature=components: -> handle:variant;",
    ),
    KnownError(
        id="E649",
        family="corrupted-data",
        phase=Phase.READING,
        patterns=(
            r"Invalid (?:JPEG|PNG) data",
            r"Input size should match \(header_bytes",
            r"Incomplete (?:bmp|BMP|GIF|gif|WAV) content",
            r"Unable to decode bytes as (?:JPEG|PNG|GIF|BMP)",
            r"Corrupt JPEG data",
            r"Expected image \(JPEG, PNG, (?:or )?GIF.{0,20}?got (?:unknown format|empty file)(?: starting with .?(?P<start>[^'\"]{2,20}))?",
            r"Unknown image file format",
            r"Input is empty\..{0,200}?Decode(?:Jpeg|Png|Image|Gif|Bmp)",
            r"Trying to decode \w{2,5} format using (?:a )?wrong op",
            r"Number of channels inherent in the image must be",
            r"Not a (?:JPEG|PNG|GIF) file: starts with (?P<start>[\w ]{4,12})",
            r"channels attribute \d does not match bits per pixel from file",
            r"Only BMP images of \d",
            r"libpng error: ",
            r"Premature end of JPEG",
        ),
        cause="What is to be decoded as an image is none, or not of that format: the file is damaged or empty, has another format than its name says (0x89 0x50 is a PNG, `<!DO` a web page), or the record holds something else: pixels as they are, or base64 (`/9j/` is a JPEG in it).",
        details=("It starts with {start}.",),
        fix="""\
image = tf.io.decode_image(data, channels=3, expand_animations=False)      # JPEG, PNG, GIF and BMP; three channels
image = tf.reshape(tf.io.decode_raw(data, tf.uint8), [HEIGHT, WIDTH, 3])   # pixels that were written with tobytes()
image = tf.io.decode_jpeg(tf.io.decode_base64(data))                        # base64, web-safe; better: write the file's bytes as they are
file -- images/* | grep -vE "JPEG|PNG"                                     # names those that are something else
dataset = dataset.ignore_errors()                                          # only once the number of bad images is known""",
        citations=("zzh8829/yolov3-tf2#15", "tensorflow/tensorflow#9786"),
        example="InvalidArgumentError: Expected image (JPEG, PNG, or GIF), got unknown format starting with '/9j/4AAQSkZJRgAB'",
    ),
)
