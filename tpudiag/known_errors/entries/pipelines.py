# ruff: noqa: E501  (texts of other programs stay as they are)
"""Sharding, indices, and the tf.data service."""

from __future__ import annotations

from tpudiag.known_errors.model import Kind, KnownError, Phase

ERRORS = (
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
            r"does not index into param(?:s)? shape",
            r"indices\[[\d,]{1,24}\] = \[[-\d, ]{1,40}\] does not index into",
            r"Received a label value of -?\d{1,9} which is outside",
            r"flat indices\[[\d, :]{1,20}\] = \[[-\d, ]{1,40}\] does not index",
            r"[Ii]ndex out of range using input dim",
            r"to_categorical.{0,300}?is out of bounds for axis \d with size",
        ),
        cause="An index is larger than its table: a token id beyond the vocabulary, a label beyond the number of classes, or a table that is empty (`[0, 0)`: an example without boxes, an empty file; dataset.filter leaves it out) (on a TPU this raises nothing and gives zeros or NaN, so mend it on the CPU).",
        details=("The index is {index}, the table has {size}.",),
        fix="""\
assert vocabulary_size > max_token_id and classes > max_label        # labels start at 0; ids of added tokens, padding and unknown count too
keras.layers.Embedding(vocabulary_size + 1, width)
tf.debugging.assert_less(labels, classes)                              # in dataset.map, once""",
        citations=("tensorflow/recommenders-addons#496",),
        example="InvalidArgumentError: indices[21] = 21 is not in [0, 21)",
        yields_to=("E733",),
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
            r"in order to run DatasetFromGraph",
            r"FetchOutputs node ?: not found",
            r"Function __inference_\w{0,20}Dataset_\w{1,60} is not defined",
            r"Function __inference_[\w<>]{1,80} is not (?:defined|found)",
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
    KnownError(
        id="E275",
        family="too-few-files",
        phase=Phase.READING,
        kind=Kind.BROAD,
        patterns=(
            r"(?:InvalidArgument|NotFound)Error.{0,120}?Found an unshardable source dataset",
        ),
        cause="The dataset is to be sharded by files (AutoShardPolicy.FILE) and reads none that TensorFlow can tell apart: a generator, arrays, or a source wrapped in map.",
        fix="""\
options = tf.data.Options()
options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.DATA
dataset = dataset.with_options(options)""",
        evidence="recalled",
        example="InvalidArgumentError: Found an unshardable source dataset: name: TensorSliceDataset/_1",
    ),
)
