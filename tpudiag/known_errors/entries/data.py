# ruff: noqa: E501  (texts of other programs stay as they are)
"""Input pipelines: Python in them, types, records, sharding, the end of the data."""

from __future__ import annotations

from tpudiag.known_errors.model import Kind, KnownError, Phase

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
    ),
    KnownError(
        id="E27",
        family="python-in-pipeline",
        phase=Phase.READING,
        patterns=(
            r"No registered '(?P<op>PyFunc|EagerPyFunc)' OpKernel for '?CPU'? devices compatible with node",
        ),
        cause="The input pipeline calls Python (py_function, numpy_function or from_generator), and the TPU Node's worker has no Python.",
        details=("The operation is {op}.",),
        fix="""\
dataset = tf.data.TFRecordDataset(files).map(parse_with_tf_ops, num_parallel_calls=tf.data.AUTOTUNE)
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
        id="E129",
        family="corrupted-data",
        phase=Phase.READING,
        patterns=(
            r"corrupted record at (?P<offset>\d{1,18})",
            r"truncated record at (?P<offset>\d{1,18})",
            r"DataLossError",
            r"Invalid (?:JPEG|PNG) data",
            r"Unable to decode bytes as (?:JPEG|PNG|GIF|BMP)",
            r"Corrupt JPEG data",
            r"inflate\(\) failed with error",
            r"Expected image \(JPEG, PNG, (?:or )?GIF.{0,20}?got (?:unknown format|empty file)",
            r"Unknown image file format",
            r"Could not parse .{0,20}?proto",
        ),
        cause="A data file is damaged, cut off, or no TFRecord file of that compression: it was not downloaded or written to its end, or is read as what it is not.",
        details=(
            "It was found at byte {offset}: 0 means that the file is no TFRecord file of that compression at all.",
        ),
        fix="""\
for path in tf.io.gfile.glob(pattern):                     # which file
    try: n = sum(1 for _ in tf.data.TFRecordDataset(path))
    except tf.errors.DataLossError as error: print(path, error)
# write it again (close the writer), fetch it again; compression_type="GZIP" where it is compressed
dataset = dataset.ignore_errors()                          # only once the number of bad records is known""",
        citations=(
            "tensorflow/tensorflow#13463",
            "tensorflow/tensorflow#21772",
            "AdaCompNUS/pfnet#1",
            "google/automl#495",
        ),
        example="DataLossError: corrupted record at 12",
    ),
    KnownError(
        id="E130",
        family="parse-spec",
        phase=Phase.READING,
        patterns=(
            r"Could not parse example input",
            r"Number of \w{1,8} values != expected",
            r"Name: .{0,60}?Feature: (?P<feature>[\w/]{1,60}) ",
            r"Can't parse serialized Example",
            r"Feature: (?P<feature>[\w/]{1,60}) \(data type: (?P<type>\w{1,12})\) is required but could not be found",
            r"Key: (?P<feature>[\w/]{1,60})\. .{0,30}?Data types don't match",
        ),
        cause="The records do not hold what the parse function asks for: another name, type or length of a feature.",
        details=("The feature is {feature}.",),
        fix="""\
raw = next(iter(tf.data.TFRecordDataset(path))); print(tf.train.Example.FromString(raw.numpy()))     # what they hold
features = {"image": tf.io.FixedLenFeature([], tf.string), "label": tf.io.FixedLenFeature([], tf.int64)}
# a list of changing length: tf.io.VarLenFeature, or FixedLenSequenceFeature(allow_missing=True)""",
        evidence="recalled",
        example="InvalidArgumentError: Feature: image (data type: string) is required but could not be found.",
    ),
    KnownError(
        id="E131",
        family="end-of-data",
        phase=Phase.READING,
        patterns=(
            r"Your input ran out of data",
            r"(?:Your|The) dataset.{0,60}?ran out of data",
            r"(?:OutOfRangeError|Out of range|OUT_OF_RANGE).{0,160}?(?:function_node|root error).{0,200}?End of sequence",
            r"OutOfRangeError.{0,200}?End of sequence",
            r"End of sequence.{0,120}?input_pipeline_task",
            r"infeed.{0,300}?End of sequence",
            r"You may need to use the repeat\(\) function",
            r"When passing an infinitely repeating dataset",
        ),
        cause="The dataset ended before the steps that were asked for: steps_per_epoch (or validation_steps, max_steps) times epochs is more than it holds, or it is not repeated.",
        fix="""\
dataset = dataset.repeat()                                          # with steps_per_epoch; without it no repeat()
steps_per_epoch = examples // global_batch                          # with drop_remainder=True, rounded down
model.fit(dataset, steps_per_epoch=steps_per_epoch, validation_steps=validation_examples // global_batch)""",
        citations=(
            "tensorflow/tensorflow#44506",
            "williamfzc/stagesepx#145",
            "tensorflow/tensorflow#64476",
            "tensorflow/tpu#132",
            "captain-pool/GSOC#12",
            "kr-colab/ReLERNN#16",
        ),
        example="""\
OutOfRangeError: 9 root error(s) found.
  (0) Out of range: {{function_node __inference_train_function_22346}} End of sequence""",
    ),
    KnownError(
        id="E132",
        family="type-not-on-tpu",
        phase=Phase.EXECUTING,
        patterns=(
            r"Unsupported data type for TPU: (?P<type>\w{1,12})",
            r"<dtype: '(?P<type>\w{1,12})'> is not a supported TPU infeed type",
            r"(?P<type>U8 and S8) types are not supported",
            r"OpKernel for '?TPU'? devices compatible.{0,300}?T\w{0,6}=DT_(?P<type>\w{1,12})",
            r"OpKernel for '?TPU'? devices",
            r"(?:type|dtype) (?P<type>\w{1,12}) (?:is )?not supported (?:on|by) TPU",
            r"TPU.{0,60}?(?:does not|doesn't|cannot) support .{0,30}?(?:type|dtype) (?P<type>\w{1,12})",
        ),
        cause="A tensor of a type that a TPU does not have (string, uint8, int8, float64 and the like) reaches the TPU.",
        details=("The type is {type}.",),
        fix="""\
dataset = dataset.map(lambda image, label: (tf.cast(image, tf.float32), tf.cast(label, tf.int32)))   # cast on the host
# strings: encode them (tokenize, look up) in dataset.map, and drop what the model does not need
dataset = dataset.map(lambda x: {k: v for k, v in x.items() if v.dtype != tf.string})""",
        citations=(
            "tensorflow/tensorflow#60092",
            "tensorflow/tensorflow#37426",
            "tensorflow/datasets#832",
            "google/uncertainty-baselines#579",
            "google-research/text-to-text-transfer-transformer#291",
            "pytorch/xla#567",
        ),
        example="InvalidArgumentError: Unsupported data type for TPU: string, caused by output Pad_1:0",
    ),
    KnownError(
        id="E41",
        family="bfloat16-op",
        phase=Phase.BUILDING,
        patterns=(
            r"Value for attr '(?P<attr>\w{1,20})' of bfloat16 is not in the list of allowed values",
            r"bfloat16.{0,60}?(?:is not in|not in) (?:the )?list of allowed values",
            r"No (?:OpKernel|registered kernel).{0,200}?DT_BFLOAT16",
        ),
        cause="A layer (often image augmentation) uses an operation that has no bfloat16 version, under a mixed_bfloat16 policy.",
        fix='layer = keras.layers.RandomRotation(0.1, dtype="float32")     # for the layer in the traceback',
        citations=("keras-team/keras#17508",),
        example="InvalidArgumentError: Value for attr 'dtype' of bfloat16 is not in the list of allowed values: uint8, int32, int64, half, float, double",
        near_miss="TypeError: Value passed to parameter 'images' has DataType string not in list of allowed values: uint8, float32",
    ),
    KnownError(
        id="E138",
        family="ragged-or-sparse",
        phase=Phase.READING,
        patterns=(
            r"(?:Ragged|Sparse)Tensors?.{0,100}?(?:not|isn't|cannot be) (?:yet )?(?:supported|used).{0,80}?(?:TPU|XLA|Strategy)",
            r"(?:TPU|XLA|Strategy).{0,100}?(?:not|doesn't|cannot) .{0,20}?support .{0,40}?(?:Ragged|Sparse)Tensor",
            r"composite tensors? .{0,60}?not supported.{0,60}?(?:TPU|Strategy)",
        ),
        cause="Ragged or sparse tensors reach the TPU, which knows dense ones of fixed shape only.",
        fix="""\
dataset = dataset.map(lambda x: x.to_tensor(shape=[None, MAX_LENGTH]))       # RaggedTensor: padded to a fixed length
dataset = dataset.map(lambda x: tf.sparse.to_dense(x))                       # SparseTensor""",
        evidence="recalled",
        example="NotImplementedError: RaggedTensor inputs are not supported with TPUStrategy",
    ),
    KnownError(
        id="E135",
        family="embedding-initializer",
        phase=Phase.BUILDING,
        patterns=(
            r"Function does not have \*\*kwargs parameter, but contains an unknown partial keyword",
        ),
        cause="An initializer class was given where an instance is meant (TableConfig of TPUEmbedding).",
        fix="""\
table = tf.tpu.experimental.embedding.TableConfig(
    vocabulary_size=1000, dim=64, initializer=tf.initializers.TruncatedNormal(mean=0.0, stddev=0.1))   # an instance: with ()
dataset = dataset.batch(global_batch, drop_remainder=True)""",
        citations=("tensorflow/recommenders#240",),
        example="ValueError: Function does not have **kwargs parameter, but contains an unknown partial keyword.",
    ),
    KnownError(
        id="E136",
        family="embedding-on-tpu",
        phase=Phase.BUILDING,
        kind=Kind.BROAD,
        patterns=(
            r"TPUEmbedding.{0,200}?(?:Error|not supported|must be|outside|only (?:be )?used|requires?)",
            r"(?:Error|not supported|must be|outside|only).{0,160}?TPUEmbedding",
            r"SparseCore.{0,120}?(?:not (?:supported|available|found)|Error|fail)",
            r"embedding_device.{0,80}?(?:not supported|unsupported)",
        ),
        cause="The TPU's embedding hardware is used where it cannot be: outside the strategy's scope, with a batch whose size is unknown, with an optimizer or feature it does not take, or on a generation that lacks it.",
        fix="""\
with strategy.scope():
    embedding = tfrs.layers.embedding.TPUEmbedding(feature_config, optimizer=tf.tpu.experimental.embedding.Adagrad(0.1))
dataset = dataset.batch(global_batch, drop_remainder=True)       # inputs of rank 1, ragged or sparse; no batch_size= in the layer""",
        evidence="recalled",
        example="ValueError: TPUEmbedding layer must be created under a TPUStrategy",
    ),
    KnownError(
        id="E36",
        family="sharded-by-elements",
        phase=Phase.READING,
        level="info",
        patterns=(
            r"AUTO sharding policy will apply DATA sharding policy as it failed to apply FILE sharding policy",
        ),
        cause="The dataset does not read files, so it is sharded by elements: every host reads all the data (harmless on one host).",
        fix="""\
options = tf.data.Options()
options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.DATA
dataset = dataset.with_options(options)""",
        citations=(
            "tensorflow/tensorflow#66851",
            "tensorflow/tensorflow#55474",
            "tensorflow/tensorflow#42146",
            "keras-team/keras#16604",
        ),
        example="W tensorflow/core/grappler/optimizers/data/auto_shard.cc:776] AUTO sharding policy will apply DATA sharding policy as it failed to apply FILE sharding policy because of the following reason: Found an unshardable source dataset",
        near_miss="AUTO sharding policy will apply FILE sharding policy",
    ),
    KnownError(
        id="E37",
        family="sharded-by-elements",
        phase=Phase.READING,
        level="info",
        patterns=(
            r"In AUTO-mode, and switching to DATA-based sharding, instead of FILE-based sharding",
        ),
        cause="The dataset does not read files, so it is sharded by elements: every host reads all the data (harmless on one host; the wording of older versions).",
        fix="""\
options = tf.data.Options()
options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.DATA
dataset = dataset.with_options(options)""",
        citations=("fastestimator/fastestimator#987",),
        example="W tensorflow/core/grappler/optimizers/data/auto_shard.cc:656] In AUTO-mode, and switching to DATA-based sharding, instead of FILE-based sharding as we cannot find appropriate reader dataset op(s) to shard.",
        near_miss="The auto_shard_policy is DATA; consider FILE-based sharding",
    ),
    KnownError(
        id="E38",
        family="too-few-files",
        phase=Phase.READING,
        patterns=(
            r"There aren't enough elements in this dataset for each shard to have at least one element \(# elems = (?P<elements>\d{1,9}), # shards = (?P<shards>\d{1,9})",
            r"There aren't enough elements in this dataset for each shard to have at least one element",
            r"not enough (?:files|elements).{0,80}?shard",
        ),
        cause="The dataset reads fewer files than there are hosts, so some host would get none.",
        details=("There are {elements} for {shards} shards.",),
        fix="""\
options = tf.data.Options()
options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.DATA
dataset = dataset.with_options(options)      # or write at least one file for each host""",
        citations=("tensorflow/tensorflow#36846",),
        example="InvalidArgumentError: There aren't enough elements in this dataset for each shard to have at least one element (# elems = 1, # shards = 2)",
        near_miss="There aren't enough elements in this list for each worker",
    ),
    KnownError(
        id="E47",
        family="data-service",
        phase=Phase.READING,
        level="warning",
        patterns=(
            r"Failed to send task updates to dispatcher: .{0,100}?Task (?P<task>\d{1,12}) not found",
        ),
        cause="A worker of the tf.data service has lost its task and serves no data: throughput falls without any error in the trainer.",
        details=("The task is {task}.",),
        fix="""\
# restart the workers that say so (they do not recover by themselves), and watch their network egress:
worker = tf.data.experimental.service.WorkerServer(
    tf.data.experimental.service.WorkerConfig(dispatcher_address="DISPATCHER:5050"))
worker.join()""",
        citations=("tensorflow/tensorflow#52252",),
        example="2021-10-05 02:19:10.033421: W tensorflow/core/data/service/worker_impl.cc:311] Failed to send task updates to dispatcher: Not found: Failed to send worker update: Task 4003 not found",
        near_miss="I tensorflow/core/data/service/dispatcher_impl.cc:822] Started assigning task 4000 to worker 10.0.0.2:5001",
    ),
    KnownError(
        id="E48",
        family="data-service",
        phase=Phase.READING,
        patterns=(r"Failed to register dataset: failed to connect to all addresses",),
        cause="The TPU Node cannot reach the tf.data service over the network.",
        fix="""\
# run the tf.data service's dispatcher and workers in the TPU Node's own VPC, on addresses it can reach
dataset = dataset.apply(tf.data.experimental.service.distribute(
    "distributed_epoch", "grpc://ADDRESS_IN_THE_VPC:5050"))
# or train on a TPU VM""",
        citations=("tensorflow/tensorflow#43125",),
        example="E tensorflow/core/common_runtime/eager/context.cc:678] Failed to register function remotely due to Failed to register dataset: failed to connect to all addresses",
        near_miss="Failed to register dataset: the name is taken",
    ),
    KnownError(
        id="E49",
        family="data-service",
        phase=Phase.READING,
        patterns=(
            r"Failed to get element from worker.{1,400}?Could not find callback with key=pyfunc_",
        ),
        cause="The dataset calls Python (from_generator, py_function), which the workers of the tf.data service do not have.",
        fix="""\
# write what the generator yields to TFRecord files once, and read those
dataset = tf.data.TFRecordDataset(files).map(parse_with_tf_ops, num_parallel_calls=tf.data.AUTOTUNE)
dataset = dataset.apply(tf.data.experimental.service.distribute("distributed_epoch", service))""",
        citations=("tensorflow/tensorflow#50252",),
        evidence="reproduced",
        example="""\
InvalidArgumentError: Failed to get element from worker localhost:39591: Failed to get an element, with a nonretryable error: Failed to get element: ValueError: Could not find callback with key=pyfunc_0 in the registry.
Traceback (most recent call last):""",
        near_miss="ValueError: Could not find callback with key=pyfunc_10 in the registry.",
    ),
    KnownError(
        id="E160",
        family="index-out-of-range",
        phase=Phase.EXECUTING,
        patterns=(
            r"indices\[[\d,]{1,24}\] = (?P<index>-?\d{1,12}) is not in \[0, (?P<size>\d{1,12})\)",
            r"label value of (?P<index>-?\d{1,12}) which is outside the valid range of \[0, (?P<size>\d{1,12})\)",
        ),
        cause="An index is larger than its table: a token id beyond the vocabulary, or a label beyond the number of classes (on a TPU this raises nothing and gives zeros or NaN, so mend it on the CPU).",
        details=("The index is {index}, the table has {size}.",),
        fix="""\
assert vocabulary_size > max_token_id and classes > max_label        # labels start at 0; ids of added tokens, padding and unknown count too
keras.layers.Embedding(vocabulary_size + 1, width)
tf.debugging.assert_less(labels, classes)                              # in dataset.map, once""",
        citations=("tensorflow/recommenders-addons#496",),
        example="InvalidArgumentError: indices[21] = 21 is not in [0, 21)",
    ),
    KnownError(
        id="E161",
        family="captured-dataset",
        phase=Phase.READING,
        kind=Kind.BROAD,
        patterns=(
            r"Encode\(\) method is not implemented for \w{0,20}Dataset",
            r"DatasetVariantWrapper",
            r"dataset.{0,80}?(?:created|made) (?:before|outside).{0,60}?TPU",
        ),
        cause="A dataset object made on the client is handed to the TPU worker, and cannot be sent there: it was made before the TPU was connected to, or its source lives on the client.",
        fix="""\
tf.config.experimental_connect_to_cluster(resolver)          # first the TPU, then the datasets
tf.tpu.experimental.initialize_tpu_system(resolver)
dataset = tf.data.TFRecordDataset(files)                       # made after it; files in a bucket
dataset = strategy.distribute_datasets_from_function(dataset_fn)""",
        citations=("googlecolab/colabtools#952",),
        example="E tensorflow/core/framework/dataset.cc:86] The Encode() method is not implemented for DatasetVariantWrapper objects.",
    ),
    KnownError(
        id="E162",
        family="data-adapter",
        phase=Phase.READING,
        patterns=(
            r"Failed to find data adapter that can handle input",
            r"Unrecognized data type: x=",
        ),
        cause="fit was given data of a kind it does not take: a list of arrays, a mix of arrays and tensors, a generator of another Keras.",
        fix="""\
x, y = np.asarray(x), np.asarray(y)                            # arrays of one dtype, not lists of lists
dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(global_batch, drop_remainder=True)
# a Sequence or layer of `keras` and a model of `tf.keras` do not mix: one of them everywhere""",
        evidence="recalled",
        example="ValueError: Failed to find data adapter that can handle input: <class 'numpy.ndarray'>, (<class 'list'> containing values of types {<class 'int'>})",
    ),
)
