# ruff: noqa: E501  (texts of other programs stay as they are)
"""Replicas whose functions do not give the same, and values that cannot cross between them."""

from __future__ import annotations

from tpudiag.known_errors.model import Kind, KnownError, Phase, Rival

ERRORS = (
    KnownError(
        id="E880",
        family="collective-of-other-shapes",
        phase=Phase.EXECUTING,
        patterns=(
            r"Shape mismatch in the collective instance \d{1,9}\..{0,120}?expected shape (?P<one>\[[\d,]{0,40}\]) but another member in the group expected shape (?P<other>\[[\d,]{0,40}\])",
            r"This is likely due to different input shapes at different members of the collective",
            r"RecvBufResponse returned (?P<got>\d{1,12}) bytes where to_tensor expected (?P<wanted>\d{1,12})",
        ),
        cause="The replicas hand tensors of different sizes to one operation that joins them (a sum, a gather): what each has depends on its own data. That is so after tf.unique, tf.boolean_mask or tf.where in the step, for the gradients of an embedding by rows (IndexedSlices), and for a last batch that is smaller on some replicas. A TPU needs one size, fixed when it compiles.",
        details=("One replica has {one}, another {other}.",),
        fix="""\
dataset = dataset.batch(global_batch, drop_remainder=True)      # as many examples on every replica, to the last batch
ids = tf.reshape(ids, [-1])                                     # look up all ids: no tf.unique, no tf.boolean_mask in the step
kept = tf.where(mask[:, None], values, 0.0)                     # what is masked is set to zero, and stays where it is
total = tf.math.unsorted_segment_sum(values, ids, NUM_ROWS)     # one size, whatever the ids are""",
        evidence="reproduced",
        example="Collective ops is aborted by: Shape mismatch in the collective instance 7. Op at device /job:localhost/replica:0/task:0/device:CPU:3 expected shape [512,16] but another member in the group expected shape [508,16]. This is likely due to different input shapes at different members of the collective op.",
    ),
    KnownError(
        id="E608",
        family="replica-results-differ",
        phase=Phase.TRACING,
        patterns=(
            r"in regroup.{0,200}?Assertion",
            r"regroup.{0,80}?assert (?:len\(v\)|isinstance|set|v is|v == v0|\w{1,10} ==)",
            r"assert len\(v\) == len\(v0\)",
            r"Output of (?:the )?function .{0,80}?(?:different|not the same) .{0,40}?(?:replicas|structure)",
        ),
        cause="The function that strategy.run calls does not give the same structure on every replica, or merge_call gets different arguments from them: a list that grows by one on each trace, variables made anew in each call (BatchNormalization, metrics), a dict whose keys differ, a value that is None on some.",
        fix="""\
with strategy.scope():
    model = build_model(); model.build(input_shape); optimizer.build(model.trainable_variables)      # all variables before the first step
def replica_step(batch):
    ...
    return {"loss": loss, "accuracy": accuracy}          # the same keys and types on every path; no Python list from outside, no None
gradients = tape.gradient(loss, model.trainable_variables)      # the list of this very model, in the same order on each replica""",
        citations=("tensorflow/tensorflow#52986",),
        example='  File "distribute_utils.py", line 61, in regroup\n    assert len(v) == len(v0)\nAssertionError',
    ),
    KnownError(
        id="E609",
        family="input-not-copied",
        phase=Phase.EXECUTING,
        kind=Kind.BROAD,
        patterns=(
            r"Failed copying input tensor from (?P<source>/job:[\w:/]{1,60}) to (?P<target>/job:[\w:/]{1,60}) in order to run (?P<op>\w{1,40})",
            r"Failed copying input tensor from",
            r"Error copying tensor to device: (?P<target>\S{3,60})",
        ),
        cause="A tensor could not be brought to the device where an operation wants it; the reason stands after the operation's name.",
        details=("It goes from {source} to {target}, for {op}.",),
        fix="""\
# `Unable to parse tensor proto`, `Failed to serialize`: an array above 2 GB: TFRecord files in gs://, no from_tensor_slices
# `Socket closed`, `failed to connect`, `context_id`: the worker is gone: its log; then connect and initialise again
# `out of memory`, `ResourceExhausted`: a smaller batch, or the data in the pipeline rather than as one tensor
tf.config.experimental_connect_to_cluster(resolver); tf.tpu.experimental.initialize_tpu_system(resolver)      # first of all, before any dataset or tensor
tf.debugging.set_log_device_placement(True)              # which tensors go where""",
        rivals=(
            Rival(
                cause="the tensor is larger than a message may be (2 GB)",
                look_for="`proto`, `serialize`, DatasetCardinality, AutoShardDataset, TensorSliceDataset",
                decide="print(x.nbytes)",
                cues=(r"to parse tensor proto", r"serialize message", r"TensorSliceDataset"),
                families=("message-too-large",),
            ),
            Rival(
                cause="the worker died or was restarted",
                look_for="`Socket closed`, `connect`, `context_id`",
                decide="gcloud compute tpus tpu-vm describe NAME --zone=ZONE --format='value(state,health)'",
                cues=(r"Socket closed", r"failed to connect", r"context_id"),
                families=("worker-lost", "context-lost", "tpu-unreachable"),
            ),
            Rival(
                cause="the device's memory is full",
                look_for="`out of memory`, `Dst tensor is not initialized`",
                decide="tpudiag check train.py --for v5e-8",
                cues=(r"Dst tensor is not initialized", r"out of memory", r"RESOURCE_EXHAUSTED"),
                families=("hbm-at-run-time", "memory-exhausted", "gpu-memory"),
            ),
        ),
        evidence="recalled",
        example="InternalError: Failed copying input tensor from /job:localhost/replica:0/task:0/device:CPU:0 to /job:worker/replica:0/task:0/device:TPU:0 in order to run Identity: something new",
        yields_to=("E24", "E29", "E28", "E25", "E454", "E56", "E220"),
    ),
    KnownError(
        id="E888",
        family="shape-conflict",
        phase=Phase.EXECUTING,
        patterns=(
            r"Input tensor (?P<what>shapes|dtypes) do not match for distributed tensor inputs",
        ),
        cause="The replicas were given inputs of different shapes or types: each replica's part of the batch was made by itself (padded_batch pads each to its own longest element, images are resized differently, the last batch is shorter).",
        fix="""\
dataset = dataset.padded_batch(global_batch, padded_shapes=([MAX_LENGTH], []), drop_remainder=True)      # one length for all, not None
dataset = dataset.map(lambda x, y: (tf.ensure_shape(x, [HEIGHT, WIDTH, 3]), y)).batch(global_batch, drop_remainder=True)
model.fit(dataset)                                              # the strategy splits the global batch: no batch for each replica by hand""",
        citations=("tensorflow/tensorflow#28541",),
        example="ValueError: Input tensor shapes do not match for distributed tensor inputs PerReplica:{0: <tf.Tensor: shape=(1, 4, 4, 1)>, 1: <tf.Tensor: shape=(1, 5, 5, 1)>}",
    ),
    KnownError(
        id="E800",
        family="uneven-replica-batches",
        phase=Phase.EXECUTING,
        patterns=(
            r"AddN_N_(?P<replicas>\d{1,4})_device.{0,300}?must have the same size and shape\. {1,3}Input 0: \[(?P<first>\d{1,9})[\d,]{0,40}\] != input (?P<index>\d{1,4}): \[(?P<last>\d{1,9})[\d,]{0,40}\]",
        ),
        cause="Values of the replicas are added up outside the step, and one replica has fewer examples: the batch does not divide by the replicas, or it is the shorter last one (or each replica padded its part to another length). Keras 3 does so with the first batch of `fit`, `evaluate` and `predict`, to build the model under a strategy.",
        details=(
            "Of {replicas} replicas the first has {first} examples, number {index} (from 0) has {last}.",
        ),
        fix="""\
global_batch = 128 * strategy.num_replicas_in_sync                # a multiple of the replicas: 100 on 8 gives seven times 13 and 9
dataset = dataset.batch(global_batch, drop_remainder=True)        # of training, validation and prediction
outputs = strategy.gather(per_replica, axis=0)                    # in a loop of your own: parts of different length are joined, not added""",
        evidence="reproduced",
        example="{{function_node __wrapped__AddN_N_8_device_/job:localhost/replica:0/task:0/device:CPU:0}} Inputs to operation AddN of type AddN must have the same size and shape.  Input 0: [13,12,2] != input 7: [9,12,2] [Op:AddN] name:",
    ),
    KnownError(
        id="E801",
        family="strings-to-replicas",
        phase=Phase.EXECUTING,
        patterns=(
            r"Value for attr 'T' of string is not in the list of allowed values.{0,900}?(?:node AddN|Op:AddN|Op<name=AddN)",
        ),
        cause="The dataset hands strings to the replicas (raw text, file names, ids), and they are added up: Keras 3 averages the first batch over the replicas to build the model. A TPU takes no strings at all.",
        fix="""\
lookup = keras.layers.StringLookup(vocabulary=words)                          # or TextVectorization, a tokenizer
dataset = dataset.map(lambda x, y: (lookup(x), y), num_parallel_calls=tf.data.AUTOTUNE)    # on the host, in the pipeline: the model takes integers
dataset = dataset.map(lambda x, y: ({k: v for k, v in x.items() if v.dtype != tf.string}, y))    # ids and names that the model does not use""",
        evidence="reproduced",
        example="InvalidArgumentError: Value for attr 'T' of string is not in the list of allowed values: float, double, int32, variant\n\t; NodeDef: {{node AddN}}; Op<name=AddN; signature=inputs:N*T -> sum:T> [Op:AddN] name:",
    ),
    KnownError(
        id="E684",
        family="partition-lengths",
        phase=Phase.EXECUTING,
        patterns=(
            r"data\.shape must start with partitions\.shape, got data\.shape = (?P<left>\[[\d,]{0,40}\]), partitions\.shape = (?P<right>\[[\d,]{0,40}\])",
            r"(?:segment_ids|indices|partitions) should (?:be|have) the same (?:size|length|shape)",
            r"segment ids (?:must be|are not) (?:>= 0|increasing|sorted)",
            r"partitions\[\d{1,9}\] = -?\d{1,9} is not in \[0, \d{1,9}\)",
        ),
        cause="tf.dynamic_partition, segment sums and stitching take one partition (segment) number for each row of the data: here there are more or fewer, or a number is out of range.",
        details=("The data is {left}, the numbers are {right}.",),
        fix="""\
partitions = tf.cast(condition, tf.int32); partitions.set_shape(data.shape[:1])      # one number for each row, from 0 to num_partitions - 1
print(data.shape, partitions.shape)
x = tf.where(condition[:, None], data, 0.0)                                           # in a step for a TPU: a mask keeps the shape, a partition does not""",
        citations=("tensorflow/recommenders-addons#417",),
        example="data.shape must start with partitions.shape, got data.shape = [2,4], partitions.shape = [1]",
    ),
    KnownError(
        id="E693",
        family="optimizer-under-strategy",
        phase=Phase.EXECUTING,
        patterns=(
            r"You must feed a value for placeholder tensor '(?P<name>cond[\w/.]{0,80}Placeholder\w{0,10})' with dtype",
        ),
        cause="Keras 3's optimizer under a strategy of several replicas, in a training loop of your own: what it does under a condition (building its variables, counting its iterations) is traced once, and is then asked for in a graph that has no value for it.",
        details=("The placeholder is {name}.",),
        fix="""\
with strategy.scope():
    model = make_model(); optimizer = keras.optimizers.Adam(1e-3)
    optimizer.build(model.trainable_variables)                    # before the first step: nothing is left to build under a condition
pip install --no-deps "<<keras2>>"; export TF_USE_LEGACY_KERAS=1      # Keras 2's optimizers do not have it
model.compile(optimizer=optimizer, loss=loss); model.fit(dataset)              # Keras' own loop takes care of it""",
        citations=("keras-team/keras#23085", "keras-team/keras#20164"),
        example="INVALID_ARGUMENT: You must feed a value for placeholder tensor 'cond/else/_1/cond/Placeholder' with dtype int32 [[{{node cond/Placeholder}}]]",
        yields_to=("R01", "R02"),
    ),
    KnownError(
        id="E692",
        family="graph-optimizer",
        phase=Phase.EXECUTING,
        patterns=(
            r"(?:ArithmeticOptimizer|AddOpsRewrite)\w{0,20}/[\w/]{0,60}tmp_var",
            r"N10tensorflow19TemporaryVariableOp6TmpVarE",
        ),
        cause="Grappler, TensorFlow's optimizer of graphs, rewrote sums in a loop with a temporary variable that two turns of the loop share: a bug of that release.",
        fix="""\
tf.config.optimizer.set_experimental_options({"arithmetic_optimization": False})      # before the first step
pip install -U tensorflow                                                               # fixed in later releases
# TensorFlow 1: ConfigProto().graph_options.rewrite_options.arithmetic_optimization = rewriter_config_pb2.RewriterConfig.OFF""",
        citations=("google-research/text-to-text-transfer-transformer#222",),
        example="AlreadyExistsError: Resource __per_step_39/while_loop/while/ArithmeticOptimizer/AddOpsRewrite_add_73/tmp_var/N10tensorflow19TemporaryVariableOp6TmpVarE",
    ),
)
