# ruff: noqa: E501  (texts of other programs stay as they are)
"""Embeddings on the TPU's own engine, tensors split over cores, names of devices."""

from __future__ import annotations

from tpudiag.known_errors.model import KnownError, Phase

ERRORS = (
    KnownError(
        id="E715",
        family="embedding-inputs",
        phase=Phase.READING,
        patterns=(
            r"Found both SparseTensors and RaggedTensors in the input to the enqueue",
            r"Inputs are not a subset of feature_config",
            r"Multiple calls to enqueue with different batch sizes",
            r"Weight specified for (?:dense|SparseTensor|RaggedTensor) input",
            r"Sequence features unsupported at this time",
            r"Received input tensor of shape .{1,60}?\. Rank must be 1 and above",
            r"Input .{1,80}? has rank 0, rank must be at least 1",
            r"Rank 2 or above dense tensor should have last dimension as 1",
            r"Device of .{1,60}? does not agree with that of ?emb?e?b?dding_indices",
            r"Inconsistent shape found(?:ed)? for input feature",
            r"TPUEmbedding.{0,160}?(?:per_replica_batch_size|batch size (?:is|must|has))",
            r"You must specify a per_replica_batch_size when calling build",
            r"Found (?:gradient of shape .{1,60}?|.{1,60}?) at path .{1,80}? (?:in gradients\. )?Expected (?:shape|Tensor)",
        ),
        cause=(
            "What is enqueued for the TPU's embedding engine does not fit its feature_config: other names or nesting, sparse and ragged"
            " features mixed, a dense feature of another rank than [batch] or [batch, 1], a batch that differs between features or that"
            " is the global one where that of one replica is wanted."
        ),
        fix="""\
dataset = dataset.batch(global_batch, drop_remainder=True)                # one fixed batch for all features
dataset = dataset.map(lambda x: {name: x[name] for name in feature_config})   # the names and nesting of feature_config, no more
ids = tf.RaggedTensor.from_sparse(sparse)                                  # all ragged or all sparse; dense: tf.int32 of [batch] or [batch, 1]
embedding.build(per_replica_batch_size=global_batch // strategy.num_replicas_in_sync)
distributed = strategy.experimental_distribute_dataset(dataset, tf.distribute.InputOptions(experimental_fetch_to_device=False))     # sparse ids stay on the host""",
        evidence="recalled",
        example="ValueError: Found both SparseTensors and RaggedTensors in the input to the enqueue operation. Please ensure that your data does not include both",
    ),
    KnownError(
        id="E716",
        family="embedding-tables",
        phase=Phase.BUILDING,
        patterns=(
            r"Multiple tables with name .{1,60}? found",
            r"At most one of learning_rate and learning_rate_(?:key|fn) can be",
            r"`optimization_parameters` (?:must inherit from|should be `?None)",
            r"There are dynamic learning rates but step is None",
            r"use_gradient_accumulation is not set to True",
            r"The number of slot_(?:names|dims) \(\d{1,4}\) must match the number of slot",
            r"Only evenly sharding across devices is currently supported",
            r"Only tables with the same dimension are currently supported",
            r"initializer must be callable if specified",
            r"Mod sharding of embedding tables not supported on CPU",
            r"Setting TPUConfig\.num_shards==1 is unsupported when embedding_config_spec",
            r"Embedding feature column did not capture any thing",
            r"For embedding var name .{1,80}?, the (?:variable scope|embedding) name is different",
            r"Invalid (?:vocabulary_size|combiner|max_sequence_length) .{1,30}\.",
            r"[Ll]ayouts in checkpoint and embedding must have the same keys",
        ),
        cause=(
            "The tables of the TPU's embedding engine are configured in a way that it refuses: two tables of one name, an initializer that"
            " is a class in place of an object, an optimizer it does not have, sizes that the chips do not divide, or names of TPUEmbeddings"
            " that differ from those of the checkpoint."
        ),
        fix="""\
table = tf.tpu.experimental.embedding.TableConfig(vocabulary_size=V, dim=D, initializer=tf.keras.initializers.TruncatedNormal(), combiner="mean", name="users")     # an object, with ()
features = {"user": tf.tpu.experimental.embedding.FeatureConfig(table=table)}          # one table for several features: the same object
optimizer = tf.tpu.experimental.embedding.Adagrad(learning_rate=0.1)                    # of that module: SGD, Adagrad, Adam, FTRL
# V and D: multiples of the chips' number (8 per core) where the engine shards evenly""",
        citations=("tensorflow/recommenders#240",),
        example="ValueError: initializer must be callable if specified. Embedding of column_name: user",
    ),
    KnownError(
        id="E717",
        family="split-over-cores",
        phase=Phase.BUILDING,
        patterns=(
            r"Number of logical devices \(\d{1,6}\) does not match the number of partition splits",
            r"Length of `partition_dimensions` \(",
            r"Tensor shape at dimension \(.{1,12}?\) must be divisible by corresponding value specified by `partition_dimensions`",
            r"input_partition_dims?.{0,120}?(?:must|does not|should)",
            r"All input partition dims must be >= 1",
            r"Device assignment is only supported for a single core single replica",
            r"cannot assign ring order in the given topology",
            r"TPU cores on each device is not the same",
            r"group_assignment must be a (?:list of list|permutation of range)",
            r"The size of each subgroup in group_assignment must be equal",
        ),
        cause="A tensor, or a replica, is to be split over several cores, and the numbers do not fit: the product of the splits is not the number of cores of a replica, a size is no multiple of its split, or the groups are not equal.",
        fix="""\
assignment = tf.tpu.experimental.DeviceAssignment.build(topology, computation_shape=[1, 1, 1, 2], num_replicas=4)    # 2 cores a replica, 4 replicas: 8 cores
strategy = tf.distribute.TPUStrategy(resolver, experimental_device_assignment=assignment)
x = strategy.experimental_split_to_logical_devices(x, [1, 2, 1, 1])            # one number for each dimension; product = cores of a replica (2); 2 divides that size
# TPUEstimator: TPUConfig(num_cores_per_replica=2, input_partition_dims=[[1, 2, 1, 1], None])""",
        evidence="recalled",
        example="ValueError: Number of logical devices (2) does not match the number of partition splits specified (4).",
    ),
    KnownError(
        id="E718",
        family="device-string",
        phase=Phase.CONNECTING,
        patterns=(
            r"Malformed device specification '?(?P<device>[^'\"]{1,120})",
            r"Unknown attribute: '.{1,60}?' (?:is being parsed )?in '(?P<device>[^'\"]{1,120})",
            r"Could not satisfy (?:explicit )?device specification '(?P<device>[^'\"]{1,120})'.{0,80}?(?:malformed|could not be parsed)",
            r"(?:Unable|Failed) to parse device name:? ?'?(?P<device>/[^'\" ]{1,120})",
            r"Local device should have only 'localhost' in the job field",
            r"(?:Local|Remote) device string (?:cannot|must) have (?:job|task) specified",
        ),
        cause="The name of a device is none: a part of it is empty or no word (a job name with a blank, an address in place of a job's name, a path, a missing number).",
        details=("It reads {device}.",),
        fix="""\
tpu_job_name = None                                       # TPUEstimator, ELECTRA, BERT: leave it out; "worker" or "tpu_worker" is found
tf.device("/job:worker/task:0/device:CPU:0")              # /job:NAME/replica:0/task:N/device:TPU:N, words and numbers only
print([d.name for d in tf.config.list_logical_devices()])  # the names that there are""",
        citations=("google-research/electra#67",),
        example="ValueError: Malformed device specification '/job:my tpu job /task:0/device:CPU:0' in job my tpu job ",
    ),
)
