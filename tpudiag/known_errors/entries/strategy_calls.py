# ruff: noqa: E501  (texts of other programs stay as they are)
"""Calls of tf.distribute and of the TPU functions that are refused before anything runs."""

from __future__ import annotations

from tpudiag.known_errors.model import Kind, KnownError, Phase

ERRORS = (
    KnownError(
        id="E410",
        family="mixed-strategies",
        phase=Phase.TRACING,
        patterns=(
            r"not be called inside a `?tf\.distribute\.Strategy`? scope",
            r"Must not nest tf\.distribute\.Strategy scopes",
            r"Mismatching (?:tf\.distribute\.Strategy objects|ReplicaContext)",
            r"Need to be inside `?(?:call_for_each_replica|tf\.distribute\.Strategy)",
            r"Only(?: support)? one strategy.{0,40}?(?:scope|default)",
            r"is in a (?:distribution|different) strategy scope",
            r"Cannot call `?(?:set_|experimental_set_)strategy",
        ),
        cause="A strategy is used inside the scope of another one, or a model and what trains it belong to different strategies (a second TPUStrategy was made by running the cell again).",
        fix="""\
strategy = tf.distribute.TPUStrategy(resolver)      # once for each process; restart the notebook rather than run this again
with strategy.scope():
    model, optimizer, metrics = build()             # all of it in one scope, by the same strategy
for batch in strategy.experimental_distribute_dataset(dataset):      # outside the scope and outside strategy.run
    strategy.run(step, args=(batch,))""",
        evidence="recalled",
        example="RuntimeError: Must not nest tf.distribute.Strategy scopes.",
    ),
    KnownError(
        id="E411",
        family="replica-function",
        phase=Phase.TRACING,
        patterns=(
            r"TPUStrategy\.run\(\) cannot handle",
            r"call to TPUStrategy\.run",
            r"parameters not supported by TPUStrategy",
            r"Supplied (?:computation|loop body function|loop condition function) cannot be called with the specified inputs",
            r"TPU functions? (?:return values )?must (?:all either be Operations|return zero-or more Tensor)",
            r"tpu\.rewrite does not support Operation as return",
            r"should be called from outside of replica_fn",
            r"tpu\.replicate\(\) inputs must be",
            r"Replicas must have (?:the same number of inputs|matching input types)",
            r"positional args must be a list or tuple, got",
            r"Cannot convert a .{0,60}?(?:NoneType|function|dict|str).{0,20}? into a Tensor or Operation",
            r"Failed to convert object of type .{0,4}?class '.{1,80}?(?:optimi[sz]|Optimi[sz]er|Strategy|Iterator|Tokenizer)",
            r'Could not build a TypeSpec for name: ?"(?:Assign|Resource|group|NoOp)',
            r"(?:strategy\.run\(|mirrored_run\.py|distribute_lib\.py|tpu_strategy\.py).{0,900}?EagerTensor' object is not callable",
            r"'PerReplica' object is not callable",
        ),
        cause="The function given to strategy.run gets or returns what cannot cross to the TPU: variables as arguments, a wrong number of arguments, an iterator, or a value that is no tensor (a string, None, an object).",
        fix="""\
@tf.function
def train_step(iterator):
    def replica_step(images, labels):        # tensors in; variables are captured, not passed
        loss = compute(images, labels)
        return loss                          # tensors out (or dicts and tuples of them)
    return strategy.run(replica_step, args=next(iterator))      # next() outside the replica's function; args is a tuple""",
        evidence="recalled",
        example="ValueError: TPUStrategy.run() cannot handle Variables passed to *args. Either name the function argument, or capture the Variable implicitly.",
    ),
    KnownError(
        id="E412",
        family="device-count",
        phase=Phase.INITIALISING,
        patterns=(
            r"physical and logical shapes must have the same product",
            r"requested (?P<asked>\d{1,6}) replicas? but only (?P<there>\d{1,6}) replicas? with shape",
            r"computation (?:footprint|_shape|shape|_stride) .{0,80}?(?:does not fit|must (?:be|have))",
            r"`?logical_(?:core|device)_id`? (?:to assign|not in range)",
            r"`?partition_dimensions`? (?:must|should|\(=)",
            r"partition_dimensions.{0,60}?(?:must be divisible|must equal|should be the same)",
            r"assign a tensor to a logical device in SPMD",
            r"core_assignment(?:\.shape)?.{0,20}? must",
            r"topology must be provided if device_assignment",
            r"not valid for the current TPU topology",
            r"local devices (?P<there>\d{1,6}) does not match (?P<asked>\d{1,6})",
            r"replica groups .{0,80}?(?:must|invalid|not cover)",
            r"no TPU device assignment was supplied",
            r"is not compatible with the 3D tiling",
            r"`?mesh_shape`? must be a (?:sequence|vector) of (?:size )?4",
            r"each input partition dim should equal to num_cores_per_replica",
            r"num_cores_per_replica.{0,80}?(?:must|does not|should|invalid)",
            r"Number of replicas .{0,60}?(?:exceeds|must|does not match).{0,40}?(?:cores|devices)",
            r"device assignment.{0,80}?(?:replica_count|does not match|requires|invalid).{0,60}?device",
            r"Insufficient devices for .{0,20}?mesh: found (?P<there>\d{1,6}), expected (?P<asked>\d{1,6})",
            r"requires? (?P<asked>\d{1,6}) devices?,? but only (?P<there>\d{1,6}) (?:are )?available",
            r"[Nn]umber of devices .{0,30}?does not match the product of the .{0,30}?parallelism",
            r"Can not find any replica in task",
            r"num_hosts .{0,12}? should divide num_cores",
            r"num of cores required by the model parallelism",
            r"Attempted to map cluster_func output index",
            r"TPU topology must be provided if num_cores_per_replica",
            r"Invalid core number in device assignment",
            r"Length of device_assignment attribute must be equal",
            r"num_replicas is divisible by the number of slices",
        ),
        cause="The mesh, the device assignment or the cores per replica that the program asks for do not fit the TPU that is there: another number of cores, or a form that its topology does not have (a configuration made for a larger slice).",
        details=("Asked for are {asked}, there are {there}.",),
        fix="""\
print(len(tf.config.list_logical_devices("TPU")), strategy.num_replicas_in_sync)      # what there is
topology = tf.tpu.experimental.initialize_tpu_system(resolver)
assignment = tf.tpu.experimental.DeviceAssignment.build(topology, num_replicas=topology.num_tasks * topology.num_tpus_per_task)
# mesh TensorFlow, T5, JAX: the product of the mesh's dimensions must be the number of cores (model parallelism no more than that)
# v2-8 and v3-8: 8 cores; v4-8: 4 devices (one for a chip); v5e-8 and v6e-8: 8; v5p-8: 4""",
        citations=(
            "google-research/text-to-text-transfer-transformer#488",
            "ARahim3/kaggle-tpu-lab#6",
        ),
        example="ValueError: physical and logical shapes must have the same product",
        yields_to=("E823",),
    ),
    KnownError(
        id="E413",
        family="indivisible-batch",
        phase=Phase.READING,
        patterns=(
            r"cannot be sharded (?P<ways>\d{1,6}) ways along dimension",
            r"Sharded shapes .{1,120}? are not consistent shards",
            r"(?:num_replicas_in_sync|number of replicas).{0,80}?cannot be divided by",
            r"batch.{0,40}?not (?:evenly )?divisible by .{0,40}?(?:replica|shard|core|device|worker|slice)",
            r"batch.{0,60}?must be (?:evenly )?divisible by .{0,60}?(?:replica|shard|core|device|worker)",
            r"batch.{0,60}?must be a multiple of .{0,60}?(?:replica|shard|core|device|worker)",
            r"Unable to get batched dataset from the input dataset",
            r"cannot be sharded \d{1,6} ways",
            r"Global batch size must be divisible by the number of processes",
            r"is not a multiple of number of cores",
            r"does not contain shard_dimension",
            r"could not be sharded evenly across the sync replicas",
            r"divisible (?:the )?by (?:the )?number of replicas",
            r"number of samples .{0,12}? is not divisible by (?:batch size|steps)",
            r"split dimension must be a multiple of the number of cores per replica",
            r"cannot be sharded evenly across",
        ),
        cause="What is to be spread over the replicas cannot be divided by their number: the global batch, or a dimension of it.",
        details=("It is to be split {ways} ways.",),
        fix="""\
global_batch = PER_REPLICA_BATCH * strategy.num_replicas_in_sync        # 8 x 128 = 1024
dataset = dataset.batch(global_batch, drop_remainder=True)              # batch is the last but prefetch
dataset = dataset.prefetch(tf.data.AUTOTUNE)""",
        evidence="recalled",
        example="ValueError: Shape (100, 224, 224, 3) cannot be sharded 8 ways along dimension 0",
        yields_to=("E90",),
    ),
    KnownError(
        id="E414",
        family="cross-replica-reduction",
        phase=Phase.TRACING,
        patterns=(
            r"Currently we only support ReduceOp\.SUM and ReduceOp\.MEAN in TPUStrategy",
            r"Expected `?reduce_op`? to be a",
            r"`?reduce_op`? must be Reduce\.SUM or",
            r"ReduceOp on TPU does not support (?P<type>\w{2,10})",
            r"all_?reduce is only implemented for TPU for (?P<types>[\w, ]{3,60}?) element types",
            r"gather does not support IndexedSlices",
            r"Could not convert from `?tf\.VariableAggregation",
            r"value_destination_pairs",
            r"Cannot convert `?input_tensor`? to a `?PerReplica",
            r"AllReduce.{0,60}?(?:unsupported|not supported).{0,60}?type",
            r"is not a valid ReduceOp",
            r"reduce\(\) missing 1 required positional argument: '(?:axis|value)'",
            r"node allgather/.{0,600}?Requires start <= limit",
            r"Requires start <= limit.{0,60}?node allgather/",
        ),
        cause="A value is to be combined over the replicas by an operation, or of a type, that TPUStrategy does not have: it sums and averages float32, bfloat16 and int32.",
        details=("The type is {type}.",),
        fix="""\
total = strategy.reduce(tf.distribute.ReduceOp.SUM, per_replica, axis=None)      # outside strategy.run; SUM or MEAN only
context = tf.distribute.get_replica_context()
total = context.all_reduce(tf.distribute.ReduceOp.SUM, tf.cast(x, tf.float32))   # inside: float32, bfloat16 or int32, not int64
# a maximum: gather and reduce; context.all_gather(x, axis=0). Gradients of embeddings (IndexedSlices): tf.convert_to_tensor first""",
        evidence="recalled",
        example="NotImplementedError: `reduce_op`=ReduceOp.MAX is not supported. Currently we only support ReduceOp.SUM and ReduceOp.MEAN in TPUStrategy.",
    ),
    KnownError(
        id="E415",
        family="replica-context",
        phase=Phase.TRACING,
        patterns=(
            r"_distributed_apply\(\)`? instead of",
            r"Cannot use DistributedValues to update variables in replica context",
            r"ON_READ variables doesn't support",
            r"synchronization=ON_READ`? doesn't support",
            r"call `?variable\.(?:read_)?value\(\)`? inside variable_sync_on_read_context",
            r"TPUVariableMixin\.?.{0,40}? (?:not accessible|is not supported) within a TPU context",
            r"not available outside (?:tpu|save|replica) context",
            r"You may be using variable created under distribute strategy in TF 1\.x",
            r"Some replicas made a different number of replica_context\(\)\.merge_call",
            r"(?:not supported|not allowed|disallowed|cannot be (?:called|used)) (?:in|inside|within) (?:a |the )?(?:cross-)?replica(?:[-_ ])?context",
            r"in cross-replica context when aggregation is set to",
        ),
        cause="Something that belongs inside strategy.run (a layer, an optimizer's step, a metric's update, a variable's assignment) is called outside it, or the other way round, or only by some of the replicas (inside a condition).",
        fix="""\
@tf.function
def train_step(iterator):
    def replica_step(batch):                     # inside: forward, gradients, apply_gradients, metric.update_state
        with tf.GradientTape() as tape:
            loss = compute_loss(batch)
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
        return loss
    losses = strategy.run(replica_step, args=(next(iterator),))
    return strategy.reduce("SUM", losses, axis=None)      # outside: strategy.reduce, metric.result(), checkpoints""",
        useless="an optimizer's step inside tf.cond: let all replicas take it, and multiply the gradients by 0 or 1",
        citations=("tensorflow/tensorflow#43974", "keras-team/tf-keras#505"),
        example="RuntimeError: Use `_distributed_apply()` instead of `apply_gradients()` in a cross-replica context.",
        yields_to=("E142", "E144", "E145", "E141"),
    ),
    KnownError(
        id="E416",
        family="aggregation-missing",
        phase=Phase.TRACING,
        patterns=(
            r"Cannot update non-float variables with tf\.VariableAggregation\.MEAN",
            r"variable synchronization mode is not supported with tf\.distribute",
            r"Invalid variable (?:synchronization|aggregation) mode",
            r"must specify an aggregation method to update",
        ),
        cause="A variable is updated in the replicas, and its way to combine their values is missing or does not fit its type (a mean of integers).",
        fix="""\
with strategy.scope():
    counter = tf.Variable(0, dtype=tf.int32, aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA)     # integers
    total = tf.Variable(0.0, synchronization=tf.VariableSynchronization.ON_READ, aggregation=tf.VariableAggregation.SUM)
    mean = tf.Variable(0.0, aggregation=tf.VariableAggregation.MEAN)""",
        evidence="recalled",
        example="ValueError: Cannot update non-float variables with tf.VariableAggregation.MEAN aggregation in replica context. Either change the variable dtype to float or update it in cross-replica context.",
        yields_to=("E144",),
    ),
    KnownError(
        id="E417",
        family="distributed-dataset",
        phase=Phase.READING,
        patterns=(
            r"does not support distributed datasets with device prefetch when using sparse or ragged",
            r"experimental_place_dataset_on_device",
            r"InputReplicationMode\.PER_REPLICA is only supported",
            r"__iter__\(\) is not supported inside of tf\.function or in graph mode",
            r"Unsupported input types for MirroredStrategy",
            r"When using a multi-worker distribution with auto-sharding enabled",
            r"create_per_worker_dataset",
            r"AsyncDistributedIterator",
            r"Creating variables in `?dataset_fn",
            r"must be the last transformation in a dataset pipeline",
            r"input_fn must return a tf\.data\.Dataset",
            r"Number of input workers .{0,12}? is not same as number of input_contexts",
        ),
        cause="A dataset is given to the strategy in a form that it does not take: ragged or sparse tensors with prefetch to the device, options of another strategy, an iterator made inside the tf.function, or arrays where a tf.data.Dataset is wanted.",
        fix="""\
dataset = dataset.map(lambda x, y: (x.to_tensor(shape=[None, MAX_LENGTH]), y))       # ragged to dense, of a fixed length
options = tf.distribute.InputOptions(experimental_fetch_to_device=False)            # sparse or ragged features (embeddings)
distributed = strategy.experimental_distribute_dataset(dataset, options)
iterator = iter(distributed)                                                         # outside tf.function; pass it in""",
        evidence="recalled",
        example="ValueError: Found tensor ids with spec RaggedTensorSpec. TPUStrategy does not support distributed datasets with device prefetch when using sparse or ragged tensors.",
    ),
    KnownError(
        id="E418",
        family="tpu-name",
        phase=Phase.RESOLVING,
        patterns=(
            r"No TPUs with the specified names exist",
            r"Could not interpret \"?(?P<address>[\w.:/,-]{5,200}?)\"? as a host-port pair",
            r"At least one TPU must be specified",
            r"Fail(?:ed)? to initialize TPU system with master \(?(?P<address>[\w.:/,-]{1,120})",
            r"Could not infer TPU job name",
            r"Currently, tpu_worker is not an allowed job name",
            r"but cannot find master .{0,80}? in the cluster",
            r"Failed to configure worker (?P<address>[\w.:/-]{3,80})",
            r"No session factory registered for the given session options",
        ),
        cause="The TPU is not named as the resolver wants it: a list of addresses (a pod's) where one name belongs, a name that is not there, or an address of one host of a slice.",
        details=("Given was {address}.",),
        fix="""\
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")           # on the TPU VM itself
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="NAME", zone="ZONE", project="PROJECT")    # a pod slice or a TPU Node: by its name
# TPUEstimator, T5, Model Garden: --tpu=NAME (not --master=grpc://a,grpc://b)
gcloud compute tpus tpu-vm list --zone=ZONE""",
        citations=("GoogleCloudPlatform/ml-testing-accelerators#183",),
        example='Error recorded from training_loop: Could not interpret "10.120.19.18:8470,grpc://10.120.19.20:8470" as a host-port pair.',
    ),
    KnownError(
        id="E419",
        family="initialised-late",
        phase=Phase.INITIALISING,
        patterns=(
            r"initialize_tpu_system is not supported within tf\.functions",
            r"connect_to_cluster`? (?:is called inside existing device scope|can only be called in eager mode)",
            r"experimental_connect_to_cluster`? can only",
            r"Failed to delete mesh interface",
            r"multiple TPU host mesh",
            r"Multiple TPU jobs detected",
            r"TPU host devices must be in the same",
            r"call tf\.tpu\.experimental\.initialize_tpu_system\(\) before running",
            r"GetTpuMeshStateInterface",
            r"Could not find registered TPU system",
        ),
        cause="The TPU is connected to or initialised at the wrong place: inside a tf.function or a device scope, in graph mode, twice for different clusters, or not at all before the first operation.",
        fix="""\
import tensorflow as tf                                         # first of all, before any tensor or model, in eager mode
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)             # once a process; then strategy = tf.distribute.TPUStrategy(resolver)
# no tf.compat.v1.disable_eager_execution(), no `with tf.device(...)` around it""",
        kind=Kind.TELLING,
        evidence="recalled",
        example="RuntimeError: initialize_tpu_system is not supported within tf.functions. You should call initialize_tpu_system outside of your tf.function.",
    ),
)
