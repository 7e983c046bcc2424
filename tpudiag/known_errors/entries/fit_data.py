# ruff: noqa: E501  (texts of other programs stay as they are)
"""Arrays, generators and datasets that fit or tf.data refuse."""

from __future__ import annotations

from tpudiag.known_errors.model import Kind, KnownError, Phase

ERRORS = (
    KnownError(
        id="E210",
        family="not-a-tensor",
        phase=Phase.READING,
        patterns=(
            r"Failed to convert a NumPy array to a Tensor \(Unsupported object type (?P<type>[\w.]{1,40})\)",
            r"setting an array element with a sequence",
            r"has an inhomogeneous shape after",
            r"Can't convert non-rectangular Python sequence to Tensor",
            r"Invalid dtype: (?P<type>object|str)\b",
            r"Attempt to convert a value \(.{1,200}?\) with an unsupported type \(<class '(?P<type>(?!NoneType)[\w.]{1,60})'>\) to a Tensor",
            r"Failed to convert object of type <class '(?P<type>(?![\w.]{0,60}?(?:Ragged|Sparse)Tensor)[\w.]{1,60})'> to Tensor",
            r"Expected \w{3,10}, (?:but )?got list containing Tensors",
            r"Argument must be a dense tensor",
            r"Can't convert Python sequence with mixed types to Tensor",
            r"Tensorflow type \d{1,3} not convertible to numpy dtype",
            r"can't convert np\.ndarray of type numpy\.object_",
            r"Failed to convert elements of .{1,200}? to Tensor\. Consider casting",
        ),
        cause="What should become a tensor is no array of numbers: rows of different lengths, an object column with strings or None, a list of tensors of different shapes, a dict.",
        details=("The type is {type}.",),
        fix="""\
x = np.asarray(x, dtype=np.float32)                                   # fails at the row that does not fit
x = keras.utils.pad_sequences(texts, maxlen=MAX_LENGTH)               # rows of different lengths
frame = frame.apply(pd.to_numeric, errors="coerce").fillna(0)         # object columns of a DataFrame
print(x.dtype, x.shape)                                               # object is what must not be left""",
        evidence="recalled",
        example="ValueError: Failed to convert a NumPy array to a Tensor (Unsupported object type numpy.ndarray).",
        yields_to=(
            "E752",
            "E798",
            "E411",
            "E24",
            "E143",
            "E543",
        ),
    ),
    KnownError(
        id="E211",
        family="data-adapter",
        phase=Phase.READING,
        patterns=(
            r"Data cardinality is ambiguous",
            r"`?validation_split`? is only supported for",
            r"Expect x to be a non-empty array or dataset",
            r"`?(?:y|batch_size|sample_weight)`? argument is not supported",
            r"`?(?:y|batch_size|sample_weight)`? argument must not be specified",
            r"Make sure all arrays contain the same number of samples",
            r"Asked to retrieve element \d{1,6}, but the Sequence has length 0",
            r"PyDataset has length 0",
            r"`?x`? and `?y`? should have the same (?:length|number)",
            r"Expected input data to be non-empty",
            r"should have the same number of samples",
            r"Leading dimensions of input arrays must match",
            r"Empty training data",
            r"Expected x to be a non-empty",
        ),
        cause="fit was given data that do not belong together: arrays of different lengths, a dataset with batch_size, y or validation_split (which only arrays may have), or nothing at all (an empty folder, a filter that keeps nothing, fewer files than one batch).",
        fix="""\
print(x.shape, y.shape); print(dataset.cardinality(), dataset.element_spec)         # as many labels as examples; not 0
valid, train = dataset.take(N // 10), dataset.skip(N // 10)                          # a dataset is split by hand
model.fit(dataset, epochs=EPOCHS)                                                    # batched, with its labels inside: no y=, no batch_size=
tf.io.gfile.glob("gs://BUCKET/train*.tfrecord")                                      # [] is an empty dataset""",
        evidence="recalled",
        example="ValueError: Data cardinality is ambiguous. Make sure all arrays contain the same number of samples. 'x' sizes: 100 'y' sizes: 99",
        yields_to=("E90",),
    ),
    KnownError(
        id="E212",
        family="dataset-misused",
        phase=Phase.READING,
        patterns=(
            r"'_?\w{1,40}Dataset\w{0,8}' object is not (?P<what>subscriptable|an iterator|callable|reversible)",
            r"The dataset length is unknown",
            r"object of type '_?\w{1,40}Dataset\w{0,8}' has no len",
            r"dataset length is (?:unknown|infinite)",
            r"'_?\w{1,40}Dataset\w{0,8}' object has no attribute '(?P<what>shape|dtype|as_numpy_iterator|reshape|columns|numpy|element_spec|next|ndim|ravel|flatten|values|astype|keys|T)'",
            r"'(?:OwnedIterator|IteratorV2|OwnedMultiDeviceIterator)' object has no attribute",
            r"iterator has not been initialized",
            r"'_?\w{1,40}Adapter' object is not (?P<what>subscriptable|an iterator)",
            r"only supports Python-style iteration in eager mode",
            r"'_?(?:Prefetch|Map|Parallel\w{1,20}|Shuffle|Repeat|Take|Cache|MemoryCache|Zip|Options|TensorSlice|Batch|PaddedBatch|FlatMap|Interleave|Concatenate|TFRecord|Skip|Shard|Filter|ParallelMap|ParallelBatch)Dataset(?:V\d)?' object has no attribute '(?P<what>\w{1,40})'",
            r"'(?:Directory|NumpyArray|DataFrame)Iterator' object has no attribute '(?P<what>\w{1,40})'",
            r"'ImageDataGenerator' object has no attribute '(?P<what>\w{1,40})'",
            r"Cannot convert a Tensor of dtype variant to a NumPy array",
        ),
        cause="A tf.data.Dataset is used like an array or an iterator: it has no index, no shape, and often no length before it is read.",
        fix="""\
for batch in dataset.take(1): ...                        # in place of dataset[0] and next(dataset)
iterator = iter(dataset); batch = next(iterator)
size = dataset.cardinality().numpy()                     # -1 infinite, -2 unknown: dataset.apply(tf.data.experimental.assert_cardinality(N))
# TensorFlow 1's make_one_shot_iterator().get_next(): a for loop over the dataset""",
        evidence="recalled",
        example="TypeError: 'BatchDataset' object is not subscriptable",
        near_miss="the dataset is not split yet",
        yields_to=("E167",),
    ),
    KnownError(
        id="E213",
        family="generator-output",
        phase=Phase.READING,
        patterns=(
            r"`?generator`? yielded an element of shape (?P<got>\([\d, None]{0,40}\)) where an element of shape (?P<wanted>\([\d, None]{0,40}\)) was expected",
            r"`?generator`? yielded an element that (?:could not be converted|did not match)",
            r"generator yielded an element",
            r"Must provide (?:`?output_types`?|at least one of)",
        ),
        cause="What the generator yields is not what output_signature (or output_types, output_shapes) declares: another shape, type or structure, or None.",
        details=("It yielded {got} and declared {wanted}.",),
        fix="""\
dataset = tf.data.Dataset.from_generator(generate, output_signature=(
    tf.TensorSpec([224, 224, 3], tf.float32), tf.TensorSpec([], tf.int32)))      # exactly what one yield gives, unbatched
# and on a TPU better: write the examples to TFRecord once, Python cannot feed it fast enough""",
        evidence="recalled",
        example="TypeError: `generator` yielded an element of shape (32,) where an element of shape () was expected.",
    ),
    KnownError(
        id="E214",
        family="unequal-shapes-in-batch",
        phase=Phase.READING,
        patterns=(
            r"Shape mismatch in tuple component (?P<component>\d{1,3})\. Expected (?P<first>\[[\d,?]{0,40}\]), got (?P<other>\[[\d,?]{0,40}\])",
            r"Shape mismatch in tuple component",
        ),
        cause="An example of another shape than the queue declares came: images of different sizes or channels, an extra batch dimension, or an enqueue of one for enqueue_many.",
        details=("Component {component} should be {first} and is {other}.",),
        fix="""\
image = tf.ensure_shape(tf.image.resize(image, [224, 224]), [224, 224, 3])       # one shape before batching
# queues are of TensorFlow 1: tf.data.Dataset.batch(global_batch, drop_remainder=True)""",
        citations=("tensorflow/tensorflow#14323",),
        example="Shape mismatch in tuple component 1. Expected [361,361,1], got [321,321,1]",
    ),
    KnownError(
        id="E215",
        family="slice-out-of-range",
        phase=Phase.EXECUTING,
        patterns=(
            r"slice index (?P<index>-?[1-9]\d{0,6}) of dimension (?P<dimension>\d{1,2}) out of bounds",
            r"Expected (?:size|begin)\[\d{1,2}\] in \[",
            r"Determined shape must either match",
            r"paddings must be non-negative",
            r"Need minval < maxval",
            r"Sliced? .{0,40}? out of bounds",
            r"begin\[\d\] \d{1,9} \+ size \d{1,9} exceeds",
        ),
        cause="A slice, crop, split or pad asks for more than the tensor holds: an example shorter or smaller than expected, a size computed wrongly or as 0, or a branch of tf.cond that is not taken: a TPU computes both, so it must work there too (tf.maximum(1, k), or a Python `if`).",
        details=("Index {index} of dimension {dimension}.",),
        fix="""\
x = x[:tf.minimum(tf.shape(x)[0], MAX)]                           # what may be shorter
x = tf.pad(x, [[0, tf.maximum(0, MAX - tf.shape(x)[0])], [0, 0]])[:MAX]
image = tf.image.resize_with_crop_or_pad(image, 224, 224)""",
        evidence="recalled",
        example="InvalidArgumentError: slice index 5 of dimension 0 out of bounds. [Op:StridedSlice]",
        yields_to=("E90",),
    ),
    KnownError(
        id="E216",
        family="dataset-download",
        phase=Phase.READING,
        patterns=(
            r"NonMatchingChecksumError",
            r"DatasetNotFoundError",
            r"Failed to construct dataset (?P<name>\w{1,60})",
            r"Dataset (?P<name>[\w/.-]{1,60}): could not find data in",
            r"Manual download is required",
            r"URL fetch failure on \S{1,120}",
        ),
        cause="TensorFlow Datasets (or Keras) could not fetch or prepare the data: the name or version is unknown to this release, the source changed or was cut off, it must be downloaded by hand, or it was never prepared at data_dir.",
        details=("The dataset is {name}.",),
        fix="""\
pip install -U tfds-nightly                                             # newer recipes and checksums
rm -r ~/tensorflow_datasets/downloads/*                                 # what came damaged
tfds.load("NAME", data_dir="gs://BUCKET/tfds", download=False)          # prepared once, read by all hosts""",
        evidence="recalled",
        example="tensorflow_datasets.core.download.download_manager.NonMatchingChecksumError: Artifact has wrong checksum",
    ),
    KnownError(
        id="E217",
        family="no-files",
        phase=Phase.READING,
        patterns=(
            r"conversion requested dtype string for Tensor with dtype float32",
            r"Tensor conversion requested dtype string for Tensor with dtype float32",
            r"num must be >= 1, got 0",
            r"`?filenames`? must be a `?tf\.data\.Dataset",
            r"'(?:filenames?|pattern|input_pattern|contents)' of '\w{1,20}' Op has type float32 that does not match",
            r"list_files/assert_not_empty",
            r"Attempted to repeat an empty dataset infinitely",
            r"repeat an empty dataset",
            r"Asked to retrieve element \d{1,9}, but the Sequence has length 0",
        ),
        cause="The dataset is empty: the pattern matches no file, so that the list of names holds floats in place of strings, or this worker's share has no file, or a filter leaves nothing.",
        fix="""\
files = tf.io.gfile.glob("gs://BUCKET/train-*.tfrecord"); assert files, "no files"
gcloud storage ls "gs://BUCKET/train-*"                     # the path, the pattern, the rights; on a TPU Node gs:// only""",
        citations=("zihangdai/xlnet#45",),
        example="Error recorded from training_loop: Tensor conversion requested dtype string for Tensor with dtype float32: 'Tensor(\"arg0:0\", shape=(), dtype=float32, device=/job:tpu_worker/task:0/device:CPU:0)'",
    ),
    KnownError(
        id="E218",
        family="csv-record",
        phase=Phase.READING,
        patterns=(
            r"Field (?P<field>\d{1,4}) in record is not a valid (?P<type>\w{1,12})",
            r"Field (?P<field>\d{1,4}) is required but missing in record",
            r"Expect (?P<wanted>\d{1,4}) fields but have (?P<got>\d{1,4}) (?:\w{1,8} )?in record",
            r"(?:Unquoted|Quoted) fields? (?:cannot|has to|must)",
            r"StringToNumberOp could not correctly convert string",
            r"No columns to parse from file",
            r"Error tokenizing data",
            r"select_cols (?:is not strictly increasing|contains negative)",
            r"Length of select_cols and record_defaults",
            r"Field \d{1,6} in record \d{1,9} is not a valid",
        ),
        cause="A line of a CSV file does not have the columns or types that it is read with: a header line, a text in a column of numbers, an empty field, another delimiter.",
        details=("Field {field} is no {type}.", "{wanted} fields are expected and {got} there."),
        fix="""\
dataset = tf.data.experimental.CsvDataset(files, record_defaults=[tf.float32, tf.string], header=True)
dataset = dataset.apply(tf.data.experimental.ignore_errors())          # what may be left out
head -3 FILE; awk -F, '{print NF}' FILE | sort | uniq -c              # columns, and lines that have others""",
        citations=("google/model_search#38",),
        example="InvalidArgumentError: Field 1 in record is not a valid int32: setosa",
    ),
    KnownError(
        id="E219",
        family="file-system",
        phase=Phase.READING,
        patterns=(
            r"\.\w{2,14}; Invalid argument \[Op",
            r"; Input/output error",
            r"UnknownError: Input/output error",
            r"Stale file handle",
            r"; Is a directory",
            r"Transport endpoint is not connected",
            r"[\w/]; Permission denied",
            r"Read-only file system",
            r"PermissionError: \[Errno 13\]",
            r"IsADirectoryError",
            r"\[Errno 5\] Input/output error",
            r"; Not a directory",
            r"Failed to rename: ",
            r"(?:FailedPrecondition|PermissionDenied)Error: [\w./-]{0,80}?/[\w./-]{2,200}\.(?:index|data|meta|ckpt|pb|h5|tfrecord)",
            r"cp: cannot (?:create|stat|open) .{1,160}?: (?:Input/output error|Read-only file system|Permission denied)",
        ),
        cause="The file system refused: a network mount (NFS, gcsfuse) that went away or is overloaded, a folder where a file is meant, no rights, or a place that may not be written.",
        fix="""\
ls -l PATH; df -h PATH; mount | grep PATH                      # there, a file, whose, on which mount
sudo umount -l MOUNT && gcsfuse BUCKET MOUNT                    # `Transport endpoint is not connected`
tf.data.TFRecordDataset("gs://BUCKET/...")                      # TensorFlow reads buckets itself, faster than a mount""",
        citations=("waymo-research/waymo-open-dataset#457",),
        example="InvalidArgumentError: /nfs/data/validation/segment-1.tfrecord; Invalid argument [Op:IteratorGetNext]",
        yields_to=("E26", "E478", "E918"),
    ),
    KnownError(
        id="E290",
        family="dataset-download",
        phase=Phase.READING,
        kind=Kind.BROAD,
        patterns=(
            r"URLError: <urlopen error",
            r"CERTIFICATE_VERIFY_FAILED",
            r"urllib\.error\.HTTPError: HTTP Error (?P<status>\d{3})",
            r"requests\.exceptions\.(?:ConnectionError|HTTPError|SSLError|ReadTimeout)",
            r"Incomplete or corrupted file detected\. The",
            r"pip\._vendor.{0,120}?(?:ReadTimeoutError|ConnectTimeoutError|ProtocolError|IncompleteRead)",
        ),
        cause="A download (data, pretrained weights, a tokenizer) failed: no way to the internet (a TPU VM without external address, a notebook with the internet switched off), a certificate, an address that is gone, or too many requests.",
        details=("The server answered {status}.",),
        fix="""\
curl -sI ADDRESS | head -1                                    # from the TPU VM: is there a way out?
# Kaggle: Settings, Internet on; a TPU VM without external address: Cloud NAT
gcloud storage cp -r local_copy gs://BUCKET/data               # fetch once elsewhere, read from the bucket""",
        evidence="recalled",
        example="urllib.error.URLError: <urlopen error [SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed>",
        yields_to=("E55", "E57", "E56", "E26", "E216", "E521"),
    ),
    KnownError(
        id="E521",
        family="local-service",
        phase=Phase.EXECUTING,
        patterns=(
            r"HTTPS?ConnectionPool\(host='(?:localhost|127\.0\.0\.1)', port=(?P<port>\d{1,5})\)",
        ),
        cause="The program asks a server on its own machine that is not running: TensorFlow Serving, TensorBoard or an experiment tracker that a cell or another shell was to start.",
        details=("It is asked for at port {port}.",),
        fix="""\
ss -ltnp                                                       # what listens here?
nohup tensorflow_model_server --rest_api_port=8501 --model_name=NAME --model_base_path=PATH >server.log 2>&1 &      # start it first, then wait until it answers
# it is no matter of training: leave what follows out of the job for the TPU""",
        evidence="recalled",
        example="requests.exceptions.ConnectionError: HTTPConnectionPool(host='localhost', port=9000): Max retries exceeded with url: /v1/models/m:predict (Caused by NewConnectionError('Failed to establish a new connection: [Errno 111] Connection refused'))",
    ),
)
