# ruff: noqa: E501  (texts of other programs stay as they are)
"""Parameter servers, TF_CONFIG, outside compilation, DTensor and embeddings: the rarer ways to a TPU."""

from __future__ import annotations

from tpudiag.known_errors.model import Kind, KnownError, Phase, Rival

ERRORS = (
    KnownError(
        id="E420",
        family="parameter-server",
        phase=Phase.INITIALISING,
        patterns=(
            r"ParameterServerStrategy`? (?:must be used with|is supported to work with|currently only works with|scope)",
            r"PreemptionCheckpointHandler does not ?support",
            r"There must be at least one (?:ps|worker)\.",
            r"cluster spec needs to have `?ps`? jobs",
            r"ClusterCoordinator\.schedule",
            r"Function passed to `?ClusterCoordinator",
            r"function (?:was cancelled while attempting to recover from worker|is aborted\. Please reschedule)",
            r"Converting ShardedVariable to tensor",
            r"using Tensor (?:in slice_spec|for indexing) is not allowed",
            r"try increasing the number of parameter servers",
            r"Output of a scheduled function that is not tf\.function",
        ),
        cause="A parameter-server strategy is used as the other strategies are, or its cluster is incomplete. It is for CPUs and GPUs: on TPUs the variables lie in the TPUs' memory, and large tables in TPU embeddings.",
        fix="""\
strategy = tf.distribute.TPUStrategy(resolver)          # on TPUs: in place of ParameterServerStrategy
# with parameter servers: one coordinator runs
strategy = tf.distribute.ParameterServerStrategy(cluster_resolver)
coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
coordinator.schedule(train_step, args=(coordinator.create_per_worker_dataset(dataset_fn).__iter__(),)); coordinator.join()""",
        evidence="recalled",
        example="NotImplementedError: `tf.distribute.experimental.ParameterServerStrategy` must be used with `tf.distribute.experimental.coordinator.ClusterCoordinator` in a custom training loop.",
        yields_to=("E28", "E113", "E124"),
    ),
    KnownError(
        id="E421",
        family="tf-config",
        phase=Phase.INITIALISING,
        patterns=(
            r"is not found in (?:the `?task`? part of )?TF_CONFIG",
            r"Timeout waiting for the cluster, timeout is",
            r"must be at most one '(?:chief|evaluator)' job",
            r"`?task_type`? .{1,30}? not found in cluster_spec",
            r"There is no id for task_type",
            r"task_id`? .{1,12}? exceeds the maximum id",
            r"When `?cluster_spec`? is given, you must also specify",
            r"Disallowed task type found in cluster spec",
            r"tasks can be found in `?cluster_spec",
            r"TF_CONFIG.{0,80}?(?:invalid|not (?:set|valid)|missing|must|Expecting property name)",
            r"Unexpected task_type",
            r"be sure to specify (?:cluster_spec|master).{0,40}? in RunConfig",
            r"is not a valid task_(?:type|id)",
            r"Unrecognized task_type: ",
            r"`cluster_spec' should be dict or a",
            r"Could not start gRPC server",
        ),
        cause="The cluster that TF_CONFIG describes is wrong or not reached: a missing part, an index past the end, a worker that was not started, or the strategy is made after TensorFlow has begun. TPUs need no TF_CONFIG.",
        fix="""\
env | grep TF_CONFIG; unset TF_CONFIG                    # on TPUs: TPUStrategy finds the hosts by the TPU's name
# several machines without TPUs: the same on each, but the index; started on all
export TF_CONFIG='{"cluster": {"worker": ["host0:2222", "host1:2222"]}, "task": {"type": "worker", "index": 0}}'
nc -vz host1 2222                                        # each must reach each
strategy = tf.distribute.MultiWorkerMirroredStrategy()   # first of all in the program""",
        evidence="recalled",
        example='ValueError: "task" is not found in TF_CONFIG.',
    ),
    KnownError(
        id="E422",
        family="outside-compilation",
        phase=Phase.TRACING,
        patterns=(
            r"outside_compilation (?:scope|clusters)",
            r"within outside_compilation",
            r"Cannot nest gradient colocation operations outside compilation",
            r"Badly nested gradient colocation",
            r"TPU computations cannot be nested",
            r"map_outside_compilation op",
            r"TensorList crossing the XLA/TF boundary",
            r"inputs of outside.compilation.{0,80}?(?:dynamic|static|shape|not supported)",
            r"tpu_shard_context cannot be nested",
        ),
        cause="A part of the step that runs on the host (outside compilation) is nested, differentiated, or passes what cannot cross between host and TPU (a list of tensors, a variant, a dynamic shape).",
        fix="""\
dataset = dataset.map(host_part, num_parallel_calls=tf.data.AUTOTUNE)       # before the TPU
# or out of the step: return the tensors, and work on them on the host after strategy.run
# left in the step: one level only, no gradient through it, static shapes in and out (tf.ensure_shape), stacked tensors, no lists""",
        evidence="recalled",
        example="NotImplementedError: Cannot nest outside_compilation clusters",
    ),
    KnownError(
        id="E423",
        family="initialiser-in-step",
        phase=Phase.TRACING,
        patterns=(
            r"Undeclared output of TPU computation",
            r"variable initializers that depend on the TPU computation",
            r"has been marked as not (?P<mark>fetchable|feedable)",
            r"Operation .{1,160}? in a while loop.{0,60}?(?:fetch|outside)",
            r"accessed from outside (?:the )?(?:TPU|while|loop|cond)",
        ),
        cause="A tensor of the TPU's step is used outside it: a variable is initialised from it, a summary or hook fetches it, or an update is made inside a condition or loop and needed out of it.",
        details=("It is marked as not {mark}.",),
        fix="""\
with strategy.scope():
    state = tf.Variable(tf.zeros([BATCH, WIDTH]))          # made before the step, from shapes, not from the step's tensors
def replica_step(batch):
    return loss, accuracy                                  # what is needed outside is returned (TPUEstimator: host_call)
# an optimizer's step inside tf.cond: outside of it, with gradients multiplied by tf.cast(condition, tf.float32)""",
        citations=("tensorflow/tensorflow#32696", "tensorflow/tensorflow#27716"),
        example="InvalidArgumentError: Undeclared output of TPU computation. A common cause of this error is variable initializers that depend on the TPU computation. Edge: lstm/while/Exit",
    ),
    KnownError(
        id="E424",
        family="too-late-to-configure",
        phase=Phase.INITIALISING,
        patterns=(
            r"(?:Intra|Inter) op parallelism cannot be modified",
            r"Virtual (?:devices?|CPUs) already set",
            r"devices cannot be modified",
            r"timeout cannot be modified after initialization",
            r"Context must be initialized first",
            r"Trying to change the options of an active eager",
            r"should be set before being initialized",
            r"cannot be modified after (?:being )?initiali[sz]",
            r"has already been initialized.{0,60}?(?:must be called before|cannot)",
            r"Collective ops are already configured",
            r"Memory growth cannot differ between GPU devices",
            r"is being mapped to multiple (?:CUDA )?devices",
        ),
        cause="An option of TensorFlow's runtime is set after it has begun: a tensor, a device list or the TPU's initialisation came before.",
        fix="""\
import tensorflow as tf
tf.config.set_soft_device_placement(True)            # all tf.config.* first, before any tensor, dataset, list_logical_devices or strategy
# in a notebook: restart the runtime, then run this cell first""",
        evidence="recalled",
        example="RuntimeError: Intra op parallelism cannot be modified after initialization.",
        yields_to=("E164",),
    ),
    KnownError(
        id="E425",
        family="dtensor",
        phase=Phase.TRACING,
        kind=Kind.BROAD,
        patterns=(
            r"Accelerator system (?:has already been|is not) initialized",
            r"Layout of tensor: .{1,200}?did not match expected layout",
            r"Expected layout with rank",
            r"batch dimension of element spec",
            r"Mesh dimension .{1,60}? was repeated in sharding",
            r"dimension sharding must either be a valid mesh dimension",
            r"in DTensor checkpoint is not supported",
            r"DTensor.{0,80}? (?:is |are )?not (?:yet )?(?:supported|implemented)",
            r"DTensor.{0,80}? mesh .{0,80}?(?:must|mismatch|invalid|not )",
            r"global_device_ids",
        ),
        cause="DTensor was not initialised in the right order, or a layout does not fit the mesh, the tensor's rank or the batch.",
        fix="""\
from tensorflow.experimental import dtensor
dtensor.initialize_accelerator_system("TPU")                     # first of all in the program, once
mesh = dtensor.create_distributed_mesh([("batch", 8)], device_type="TPU")      # the product is the number of cores
layout = dtensor.Layout(["batch", dtensor.UNSHARDED], mesh)      # one name for each dimension of the tensor, each mesh name once
dataset = dataset.batch(global_batch, drop_remainder=True)       # static; DTensorDataset batches by itself: give it unbatched data""",
        evidence="recalled",
        example="ValueError: Accelerator system is not initialized. Call tf.experimental.dtensor.initialize_accelerator_system first.",
    ),
    KnownError(
        id="E426",
        family="profiler-state",
        phase=Phase.WATCHING,
        patterns=(
            r"Cannot stop profiling",
            r"No profiler is running",
            r"ProfilerNotRunningError",
            r"Cannot export trace.{0,40}?(?:not been|No profiler|not started)",
            r"Profiling failed.{0,60}?(?:not running|not started)",
            r"must enable (?:trace|profil\w{1,8}) before",
            r"trace_export.{0,60}?(?:before|without|not)",
            r"No profile (?:session|started)",
        ),
        cause="A profile is stopped that is not running: it was stopped before (by the TensorBoard callback, an exception in between, a second stop), or never started because another one held the profiler.",
        fix="""\
tf.profiler.experimental.start(logdir)
try:
    for step in range(10): train_step(next(iterator))
finally:
    tf.profiler.experimental.stop()                  # once for each start
keras.callbacks.TensorBoard(logdir, profile_batch=0)      # no profile by the callback where you profile by hand; else profile_batch=(10, 20)
# steps fewer than profile_batch's end: the callback stops what it did not start; choose smaller numbers""",
        citations=("tensorflow/tensorboard#2819", "tensorflow/tensorflow#46103"),
        example="ProfilerNotRunningError: Cannot stop profiling. No profiler is running.",
    ),
    KnownError(
        id="E430",
        family="embedding-on-tpu",
        phase=Phase.BUILDING,
        kind=Kind.BROAD,
        patterns=(
            r"Unable to retrieve embedding tables when using a TPU",
            r"does not match graph which contains TPUReplicateContext",
            r"tpu_input_identity",
            r"Non-TPU device .{1,80}? passed to enqueue",
            r"Configured not to check output shapes on each enqueue",
            r"Input Feature .{1,80}? has output shape set as",
            r"Output shape set in the FeatureConfig",
            r"(?:ragged|sparse|dense) tensor is supported, (?:find|but got) rank",
            r"Weights? (?:specified )?for .{1,80}?, but input is dense",
            r"Weights? (?:specified )?for .{1,80}?, but this is a sequence",
            r"Please only pass Tensor, SparseTensor or RaggedTensor",
            r"Tensor, SparseTensor or RaggedTensor expected",
            r"tf\.tpu\.experimental\.embedding",
            r"TPU embedding config(?:uration)?",
            r"TPUEmbedding(?:Configuration|Engine|V[0-9]|Layer)?\b.{0,80}?(?:must|invalid|not (?:supported|found|initialized)|unsupported|failed)",
            r"Tables must have a unique name",
            r"embedding_lookup_device",
            r"tensor_core_shape",
            r"LoadAllTPUEmbeddingParameters",
            r"ensure that you have only created one TPUEmbedding",
            r"categorical_column for tpu",
            r"max_sequence_lengths? and categorical_columns",
            r"has not been (?:built|configured).{0,40}?(?:tpu_)?embedding",
            r"(?:table|feature)_to_config_dict",
            r"enqueue_datas_list",
            r"(?:disabling|disable) [Ll]azy Adam",
            r"gradient accumulation must be (?:used|enabled)",
            r"`optimization_parameters` is missing",
            r"is a sequence feature but a dense tensor was passed",
            r"experimental_sparsecore_restore_info",
            r"Weight for .{1,80}? is (?:of )?type .{1,60}? (?:does not match|but it does not match|which does not match)",
            r"max_seq_length=\d{1,6} specified for non sequence",
            r"Unable to extract initializer function and shape from",
            r"at least 2 for simulated quantization",
            r"Cannot load embedding parameters into the TPU system",
        ),
        cause="A TPU embedding is set up or fed in a way that it does not take: features of another kind or rank than its configuration, shapes that are not fixed, made outside the scope or twice, or used before it is built.",
        fix="""\
with strategy.scope():
    table = tf.tpu.experimental.embedding.TableConfig(vocabulary_size=V, dim=D, initializer=tf.initializers.TruncatedNormal())
    feature = tf.tpu.experimental.embedding.FeatureConfig(table=table)
    layer = tf.tpu.experimental.embedding.TPUEmbedding(feature, tf.tpu.experimental.embedding.Adagrad(0.1))      # one for each TPU
dataset = dataset.batch(global_batch, drop_remainder=True)                           # fixed sizes; ids int32/int64: dense, ragged or sparse of rank 2
distributed = strategy.experimental_distribute_dataset(dataset, options=tf.distribute.InputOptions(experimental_fetch_to_device=False))
# serving and reading tables: build the same layer on the CPU, restore the checkpoint there""",
        evidence="recalled",
        example="RuntimeError: Unable to retrieve embedding tables when using a TPU strategy. If you need access, save your model, create this object under a CPU strategy and restore.",
        yields_to=("E135", "E79", "E136", "E05", "E431"),
    ),
    KnownError(
        id="E431",
        family="embedding-too-large",
        phase=Phase.LOADING,
        patterns=(
            r"Could not fit merged_table",
            r"Exceeded TPU table quota",
            r"TPU table with HBM usage: ?(?P<needed>[\w.]{1,20}) that does not fit in available space: ?(?P<limit>[\w.]{1,20})",
            r"does not fit in TileSpmem",
            r"max_(?:unique_)?ids_per_partition.{0,160}?(?:exceed|larger|too|more|observed|mini-?batch)",
            r"(?:exceed|observed|greater).{0,100}?max_(?:unique_)?ids_per_partition",
            r"Unsupported optimizer in minibatching mode",
            r"should be multiple of number of sparse cores",
            r"embedding work in one sample exceeds",
            r"must evenly divide the SparseCores",
            r"without SparseCore",
            r"Unsupported on SparseCore",
            r"current embedding configuration does not fit on the TPU",
        ),
        cause="An embedding does not fit the SparseCores: a table larger than the HBM of all chips, more ids in a batch than the buffers were made for, or a dimension that is no multiple of what a SparseCore works on.",
        details=("It needs {needed} of {limit}.",),
        fix="""\
# tables are spread over all chips: a larger slice, fewer rows (hash the ids), a smaller dimension, an optimizer with less state (SGD, Adagrad)
dimension = -(-dimension // 8) * 8                              # a multiple of 8 (of the number of sparse cores for the whole table's rows)
# ids per partition: raise max_ids_per_partition and max_unique_ids_per_partition to what the message reports, or a smaller batch
# chips without SparseCore (v2 to v4 have other cores, v5e has none): an ordinary Embedding layer""",
        rivals=(
            Rival(
                cause="the tables are too large for the HBM of the slice",
                look_for="`HBM`, `quota`, `fit`",
                decide="rows x dimension x 4 bytes x (1 + slots of the optimizer) / number of chips",
                cues=(r"table quota", r"merged_table", r"with HBM usage"),
            ),
            Rival(
                cause="a batch has more ids than the buffers hold",
                look_for="`ids_per_partition`, `minibatching`",
                decide="the ids per example: a longest length for ragged features",
                cues=(r"ids_per_partition",),
            ),
        ),
        evidence="recalled",
        example="RESOURCE_EXHAUSTED: Found TPU table with HBM usage: 41.2GiB that does not fit in available space: 12.0GiB",
    ),
)
