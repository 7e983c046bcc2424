# ruff: noqa: E501  (texts of other programs stay as they are)
"""What tf.data says of a pipeline that is built or run wrongly."""

from __future__ import annotations

from tpudiag.known_errors.model import Kind, KnownError, Phase

ERRORS = (
    KnownError(
        id="E480",
        family="dataset-function",
        phase=Phase.READING,
        patterns=(
            r"`?map_func`? (?:argument )?must return a `?Dataset",
            r"`?predicate`? must return a `?tf\.bool",
            r"`?(?:key_func|window_size_func|shard_func)`? must return a single `?tf\.int64",
            r"`?reduce_func`? must return a",
            r"`?transformation_func`? must return a",
            r"Invalid `?(?P<argument>scan_func|choice_dataset|datasets|weights|reducer|elements|element|padding_values|batch_sizes|predicate|input_dataset|dataset)`?\.",
            r"Unsupported return value from function passed to (?P<argument>Dataset\.\w{1,20})",
            r"Could not build a `?TypeSpec`? for",
            r"Could not build a structure for output class",
            r"Value .{1,120}? is not convertible to a tensor with dtype",
            r"Incompatible dataset elements",
            r"No common supertype of",
            r"Two datasets to concatenate have different (?:types|classes)",
            r"element (?:classes|types) for the new state must match",
            r"Expected output (?:types|classes|shapes) .{1,200}? but got dataset with output",
            r"Must pass at least one dataset to `?zip",
            r"Invalid input to `?zip",
            r"Each input of dataset .{1,60}? should be a subclass of",
            r"(?:lambda|map_func|<lambda>|parse\w{0,20}|preprocess\w{0,20}|process\w{0,20}|decode\w{0,20}|load\w{0,20})\(\) takes (?P<takes>\d) positional arguments? but (?P<given>\d) (?:were|was) given",
            r"(?:map_func|<lambda>|parse\w{0,20}|preprocess\w{0,20}|process\w{0,20}|load_\w{0,20}|decode_\w{0,20})\(\) missing \d required positional arguments?",
            r"`?filenames`? argument must contain `?tf\.string",
            r"Input dataset should be a dataset of vectors of strings",
            r"`map_and_batch\w{0,30}` allows only one of",
        ),
        cause="A function or argument of a tf.data transformation does not have the form that this transformation takes: map's function gets one argument for each component of an element (a dict is one), flat_map and interleave want a Dataset back, filter one bool, zip and concatenate datasets of one structure.",
        details=("It is {argument}.", "The function takes {takes} arguments and is given {given}."),
        fix="""\
print(dataset.element_spec)                                  # what the function is given: (a, b) -> f(a, b); {"a": ...} -> f(d)
dataset = dataset.map(lambda x, y: (augment(x), y), num_parallel_calls=tf.data.AUTOTUNE)
dataset = files.interleave(tf.data.TFRecordDataset)           # returns a Dataset
dataset = dataset.filter(lambda x, y: tf.reduce_all(y > 0))   # one bool
dataset = tf.data.Dataset.zip((images, labels))               # one tuple of datasets""",
        evidence="recalled",
        example="TypeError: The `map_func` argument must return a `Dataset` object. Got <class 'tensorflow.python.framework.ops.Tensor'>.",
    ),
    KnownError(
        id="E481",
        family="unequal-shapes-in-batch",
        phase=Phase.READING,
        patterns=(
            r"Input element must have the same batch size in each component",
            r"`?unbatch\(\)`? is only supported for datasets of elements whose components have a matching leading dimension",
            r"Cannot unbatch an input with scalar components",
            r"padded shape .{1,80}? is not compatible with the shape",
            r"You must provide `?padded_shapes`? argument because component",
            r"`?padded_batch`? is (?:only|not) supported for",
            r"Slicing dataset elements is not supported for rank 0",
            r"All elements in a batch must have the same rank",
            r"Shapes of all inputs must match: values\[",
            r"Cannot add tensor to the batch",
            r"Cannot batch tensors with different (?:shapes|types|ranks)",
            r"inconsistent (?:number of )?(?:elements|shapes) .{0,40}?batch",
            r"Failed to (?:copy|add) .{0,20}?(?:element|tensor).{0,20}? (?:into|to) (?:the )?batch",
            r"`?len\(bucket_batch_sizes\)`? must equal",
            r"Expected the dataset's elements to have rank",
            r"Shape of sample .{1,40}? of sequence at position",
        ),
        cause="Examples that differ in shape were put into one batch, or components of one element differ in their first dimension: images of different size or channels, sequences that are not padded, labels of another length than the inputs.",
        fix="""\
image = tf.io.decode_image(bytes, channels=3, expand_animations=False)
image = tf.ensure_shape(tf.image.resize(image, [224, 224]), [224, 224, 3])              # one size before batch
dataset = dataset.padded_batch(global_batch, padded_shapes=([MAX_LENGTH], []), drop_remainder=True)   # fixed lengths for a TPU, not [None]
ids = ids[:MAX_LENGTH]                                                                    # longer ones are cut first""",
        evidence="recalled",
        example="InvalidArgumentError: Input element must have the same batch size in each component. Component 0 had size 8 but component 1 had size 4.",
        yields_to=("E159",),
    ),
    KnownError(
        id="E482",
        family="ragged-or-sparse",
        phase=Phase.READING,
        patterns=(
            r"Found tensor .{1,60}? with spec .{1,120}?(?:Ragged|Sparse)TensorSpec",
            r"(?:Ragged|Sparse)TensorSpec.{0,120}?(?:not supported|unsupported|cannot)",
            r"(?:TypeError|ValueError).{0,120}?(?:Failed to convert|Cannot convert|object of type).{0,60}?(?:Ragged|Sparse)Tensor",
            r"Failed to convert .{0,60}?(?:Ragged|Sparse)Tensor.{0,400}?to Tensor",
            r"'(?P<type>RaggedTensor|SparseTensor)' object has no attribute '(?P<name>\w{1,40})'",
            r"(?:unsupported|not supported).{0,60}?(?P<type>Ragged)Tensor",
            r"does not (?:yet |currently )?support `?(?P<type>Ragged) ?Tensor",
            r"(?:unsupported|not supported).{0,60}?(?P<type>Sparse)Tensor",
            r"is not supported for datasets that produce values of type .{0,80}?(?:Ragged|Sparse)",
            r"SparseTensor and RaggedTensor inputs must be explicitly declared",
        ),
        cause="Ragged or sparse tensors reach the TPU (or a layer that wants a dense tensor): rows of different lengths from a tokenizer, VarLenFeature, bounding boxes. A TPU computes with dense tensors of fixed size.",
        details=("It is a {type}, asked for {name}.",),
        fix="""\
dataset = dataset.map(lambda x, y: (x.to_tensor(shape=[None, MAX_LENGTH]), y))           # ragged -> dense, fixed length, after batch
dataset = dataset.map(lambda x, y: (tf.sparse.to_dense(x), y))                            # sparse; then tf.ensure_shape
feature = tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True)                  # in place of VarLenFeature; cut or pad to MAX_LENGTH
boxes = bounding_box.to_dense(boxes, max_boxes=100)                                        # KerasCV, before the model
# tokenizers: padding="max_length", truncation=True, max_length=MAX_LENGTH
# the host alone needs them: options = tf.distribute.InputOptions(experimental_fetch_to_device=False)""",
        citations=("keras-team/keras-cv#1075", "tensorflow/tensorflow#50507"),
        example="AttributeError: 'SparseTensor' object has no attribute 'reshape'",
        yields_to=("E417", "E779"),
    ),
    KnownError(
        id="E483",
        family="dataset-misused",
        phase=Phase.READING,
        patterns=(
            r"`?tf\.data\.Dataset`? only supports `?len`? in eager mode",
            r"The dataset is infinite\.",
            r"as_numpy_iterator\(\)`? is (?:only supported|not supported)",
            r"make_initializable_iterator\(?\)?`? is not supported in eager mode",
            r"make_one_shot_iterator\(?\)?`? (?:is not supported|does not support)",
            r"has no attribute 'make_(?:one_shot|initializable)_iterator'",
            r"captures a stateful object, such as a",
            r"Mutating `?tf\.data\.Options",
            r"`?num_parallel_calls`? .{0,60}?(?:must be|should be) (?:a )?positive",
            r"The graph .{1,80}? of the iterator is different from the graph",
            r"Dataset object .{0,40}?(?:eager|graph mode)",
            r"DatasetV[12] object .{0,40}?(?:eager|graph mode)",
            r"element_spec.{0,60}? (?:must|has to) be (?:provided|specified)",
            r"`?buffer_size`? must be greater than zero",
            r"[Bb]atch[ _]size must be greater than zero",
            r"Cannot set .{0,60}?(?:input_context|num_shards)",
            r"index must be between 0 and \d{0,6}, ?currently index",
            r"num_shards must be",
            r"Input(?:Context|Options).{0,80}?(?:must|required|not supported)",
        ),
        cause="A dataset is used in a way that its mode or its arguments do not allow: an iterator of TensorFlow 1 in eager mode (or the reverse), a length that it does not have, a size of zero (a global batch or shuffle buffer computed from a number that is zero).",
        fix="""\
for x, y in dataset.take(1): print(x.shape, y.shape)                  # iterate it; no make_one_shot_iterator in TensorFlow 2
size = dataset.cardinality().numpy()                                   # -1 infinite, -2 unknown
dataset = dataset.shuffle(max(1, buffer)).batch(max(1, PER_REPLICA * strategy.num_replicas_in_sync), drop_remainder=True)
dataset = dataset.shard(context.num_input_pipelines, context.input_pipeline_id)     # in distribute_datasets_from_function""",
        evidence="recalled",
        example="RuntimeError: `make_initializable_iterator()` is not supported in eager mode. Use Python-style iteration instead.",
        near_miss="the dataset is sharded by file",
        yields_to=("E942",),
    ),
    KnownError(
        id="E484",
        family="generator-output",
        phase=Phase.READING,
        patterns=(
            r"`?generator`? must be a Python callable",
            r"`?generator`? yielded an element of (?:type )?(?P<got>\S{1,60}) where an element of (?:type )?(?P<wanted>\S{1,60}) was expected",
            r"argument can ?not be used together with the `?output_signature",
            r"To specify the output signature you need to provide",
            r"`?output_signature`? must contain objects that are subclass",
            r"The (?:two|expected) structure.{0,80}?generator",
        ),
        cause="from_generator wants a function (not its call) and elements exactly of the declared output_signature: structure, types and shapes of one example.",
        details=("It yielded {got} and declared {wanted}.",),
        fix="""\
def examples():
    for x, y in data: yield np.asarray(x, np.float32), np.int32(y)
dataset = tf.data.Dataset.from_generator(examples, output_signature=(        # examples, not examples()
    tf.TensorSpec([224, 224, 3], tf.float32), tf.TensorSpec([], tf.int32)))
# and on a TPU better: write the examples to TFRecord once""",
        evidence="recalled",
        example="TypeError: `generator` must be a Python callable.",
        yields_to=("E213",),
    ),
    KnownError(
        id="E485",
        family="csv-record",
        phase=Phase.READING,
        patterns=(
            r"No files match `?file_pattern",
            r"contains? duplicate column(?:s| names)",
            r"`?label_name`? provided must be one of",
            r"`?label_key`? provided .{1,60}? must be one of",
            r"Expected `?column_names`? or `?header`? arguments",
            r"Problem inferring types: CSV row",
            r"should have the same column names in the header row",
            r"`?column_defaults`? and `?select_columns`? must have the same length",
            r"Failed when reading the header line",
            r"unknown `?compression_type`?",
            r"Not a valid compression_type",
        ),
        kind=Kind.TELLING,
        cause="The CSV or record files are not what the reader was told: no file matches the pattern, the header lacks the label's column, rows have other columns, or the compression has another name (GZIP, ZLIB or empty).",
        fix="""\
files = tf.io.gfile.glob("gs://BUCKET/data/*.csv"); assert files
head -1 FILE; awk -F, '{print NF}' FILE | sort | uniq -c                     # the header, and columns of each row
tf.data.experimental.make_csv_dataset(files, batch_size=B, label_name="label", num_epochs=1)""",
        evidence="recalled",
        example="ValueError: `label_name` provided must be one of the columns: ['a', 'b']. Received: label.",
    ),
    KnownError(
        id="E486",
        family="dataset-download",
        phase=Phase.READING,
        patterns=(
            r"Could not read dataset info from",
            r"tensorflow_datasets.{0,900}?(?:BuilderConfig|Unknown split|not found|No such file)",
            r"BuilderConfig .{1,60}? not found",
            r"Builder config with name .{1,60}? not found",
            r"Unknown split .{1,40}?\. ?Should be one of",
            r"Trying to access `?splits\[",
            r"This likely indicates the dataset has not been generated yet",
            r"Manual directory .{1,160}? does not exist or is empty",
            r"Not enough disk space\. Needed:",
            r"Dataset(?:Collection)?NotFoundError",
            r"Failed to get url .{1,200}?HTTP code",
            r"dataset_info\.json.{0,20}?(?:was not found|not found|No such)",
            r"No such file or directory: '[^']{0,200}?dataset_info\.json",
            r"as_supervised=True but .{1,60}? does not support a supervised",
            r"Missing checksums url",
            r"FileNotFoundError: Request for object (?P<name>\S{1,120}) (?:failed|not found)",
            r"can only be generated using TFDS code synced",
            r"Dataset (?P<name>\w{1,60}) (?:is not|was not) (?:found|generated|prepared)",
            r"not implemented for ArrayRecord files",
            r"No random access data source",
            r"version of the dataset you are trying to use \((?P<name>[\w/.:-]{1,80})\) is too old",
            r"Failed importing (?P<package>[\w.]{1,40})\. ?This likely means that the dataset requires additional dependencies",
        ),
        cause="TensorFlow Datasets does not find the prepared data, or not this config, version or split: nothing was prepared at data_dir (or only on another machine or with another release), the name is misspelt, or it must be downloaded by hand.",
        details=("It is {name}.",),
        fix="""\
builder = tfds.builder("NAME/CONFIG:VERSION", data_dir="gs://BUCKET/tfds"); builder.download_and_prepare()    # once
print(builder.info.splits, builder.builder_configs)                      # what there is
gcloud storage ls "gs://BUCKET/tfds/NAME/**"                              # NAME/CONFIG/VERSION/dataset_info.json
builder = tfds.builder_from_directory("gs://BUCKET/tfds/NAME/1.0.0")      # prepared by another release, or without its code
pip install -U tfds-nightly""",
        citations=(
            "google-research/text-to-text-transfer-transformer#749",
            "tensorflow/datasets#5203",
        ),
        example="NotFoundError: The specified path gs://bucket/glue/mrpc/1.0.0/dataset_info.json was not found.",
        near_miss="Load dataset info from /root/tensorflow_datasets/mnist/3.0.1",
        yields_to=("E25", "E26"),
    ),
)
