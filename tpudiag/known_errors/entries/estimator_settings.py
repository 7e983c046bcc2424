# ruff: noqa: E501  (texts of other programs stay as they are)
"""Settings and inputs that TPUEstimator refuses, Mesh TensorFlow's devices, optimizers' shapes."""

from __future__ import annotations

from tpudiag.known_errors.model import Kind, KnownError, Phase

ERRORS = (
    KnownError(
        id="E774",
        family="estimator-settings",
        phase=Phase.BUILDING,
        patterns=(
            r"SLICED mode only works on use_tpu ?= ?True",
            r"Invalid TPU[Cc]onfig `?(?P<name>\w{1,50})`? value",
            r"eval_training_input_configuration must be PER_HOST_V1 or SLICED",
            r"input_partition_dims is only supported in PER_HOST_V2",
            r"num_of_replicas_per_host is not supported for model_parallelism",
            r"You cannot provide a ClusterResolver and session_config\.cluster_def",
            r"Please specify a tpu_job_name as part of your TPUConfig",
            r"Only `count` or `seconds` are accepted as the `iterations_per_loop_counter",
            r"(?:One|Only one) of `num_steps` (?:or|and) `final_step`",
            r"Unknown TF_TPU_GRACEFUL_SHUTDOWN_MODE",
            r"One of export_to_cpu and export_to_tpu must be true",
        ),
        cause="A setting of TPUConfig, RunConfig or TPUEstimator does not go with another one: a way of feeding that exists on a TPU only (SLICED, partitions) with use_tpu=False, two addresses of the cluster, a count in the wrong place.",
        details=("The setting is {name}.",),
        fix="""\
config = tf.compat.v1.estimator.tpu.RunConfig(cluster=resolver, model_dir="gs://BUCKET/run", tpu_config=tf.compat.v1.estimator.tpu.TPUConfig(
    iterations_per_loop=1000, per_host_input_for_training=tf.compat.v1.estimator.tpu.InputPipelineConfig.PER_HOST_V2,
    eval_training_input_configuration=tf.compat.v1.estimator.tpu.InputPipelineConfig.PER_HOST_V1))      # SLICED on a TPU only
--use_tpu=True --tpu_name=NAME               # the flags that the script's settings were written for; on a CPU or GPU take PER_HOST_V1
# TensorFlow 2 has none of these: tf.distribute.TPUStrategy with Keras' fit""",
        citations=("google-research/simclr#13",),
        example="ValueError: Invalid TPUConfig `eval_training_input_configuration` value. SLICED mode only works on use_tpu = True.",
    ),
    KnownError(
        id="E775",
        family="estimator-inputs",
        phase=Phase.READING,
        patterns=(
            r"Cannot find any Tensor in features dict",
            r"For mode PREDICT, (?:`input_fn` must return|batch_axis is not supported)",
            r"`input_fn` must return a `Dataset` for this mode",
            r"The transfer size is larger than the protobuf limit",
            r"Op .{1,120}? depends on TPU computation .{1,120}?, which is not allowed",
            r"TPUEstimatorSpec\.scaffold_fn returns None",
            r"(?:host_call|eval_metrics|host_calls)(?:\[1\])? should (?:be tuple or list|have two elements)",
            r"is reserved as feature key for concatenated ?small features",
            r"`export_output` must be have type",
            r"types of the tuple elements of input_tensors .{1,300}? are not consistent",
            r"input devices for shard .{1,40}? are .{1,200}?but should all be the same",
            r"Missing or extra enqueue_data for host",
        ),
        cause="What input_fn or model_fn gives to a TPUEstimator has the wrong form: prediction wants a Dataset of feature dicts, a batch may not pass the 2 GB of a message, metrics and host calls are (function, tensors), and nothing outside the TPU's computation may read tensors of it.",
        fix="""\
def input_fn(params): return dataset.batch(params["batch_size"], drop_remainder=True)      # a Dataset of (features, labels); features a dict of tensors
spec = tf.compat.v1.estimator.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op, eval_metrics=(metric_fn, [labels, logits]), host_call=(host_fn, [tf.reshape(step, [1])]))
--train_batch_size=SMALLER                                                                   # where one batch is larger than 2 GB""",
        evidence="recalled",
        example="TypeError: For mode PREDICT, `input_fn` must return `Dataset` instead of `features` and `labels`.",
    ),
    KnownError(
        id="E776",
        family="optimizer-shapes",
        phase=Phase.EXECUTING,
        patterns=(
            r"var and (?P<slot>\w{1,20}) do not have the same shape ?(?P<of>\[[\d,]{0,60}\]) ?(?P<by>\[[\d,]{0,60}\])",
            r"(?:var|accum|grad|delta|linear|mom|ms|mg) and (?P<slot>\w{1,20}) do not have the same (?:shape|size)",
            r"grad must be the same size as indices in the first dimension",
            r"(?:lr|beta1|beta2|beta1_power|beta2_power|epsilon|rho|momentum|learning_rate|l1|l2) is not a scalar",
            r"(?:Slot|slot) variable .{0,80}?shape .{0,60}?(?:does not match|not compatible|differs)",
            r"Shapes .{1,40}? and .{1,40}? (?:are incompatible|must be equal).{0,80}?(?:ResourceApply|apply_gradients|optimizer)",
            r"[Tt]he gradient(?:s)? (?:has|have) (?:a different )?shape .{0,60}?(?:than|expected)",
        ),
        cause="The optimizer updates a variable with a gradient or a moment of another shape: the variable was made anew in another size under the same optimizer (another vocabulary or number of classes), a checkpoint brought the moments of another model, gradients and variables were paired in another order, or the learning rate is no single number.",
        details=("The {slot} is of {by}, the variable of {of}.",),
        fix="""\
optimizer = keras.optimizers.Adam(1e-4)                             # a new optimizer for a model that was changed or is another one
optimizer.apply_gradients(zip(gradients, model.trainable_variables))       # the same list in tape.gradient and here, in the same order
tf.train.Checkpoint(model=model).restore(path).expect_partial()             # the weights without the optimizer's moments
learning_rate = tf.reshape(learning_rate, [])                                # one number""",
        citations=("tensorflow/tensorflow#33809",),
        example="Invalid argument: var and grad do not have the same shape[2,1536] [512,1536]\n[[{{node Adam/Adam/update_14/update_0/ResourceApplyAdam}}]]",
    ),
    KnownError(
        id="E777",
        family="mesh-devices",
        phase=Phase.INITIALISING,
        patterns=(
            r"Argument not a list with same length as devices",
            r"mesh_shape .{0,80}?(?:does not match|must match|product).{0,60}?(?:devices|cores)",
            r"len\(devices\) != .{0,40}?mesh",
        ),
        cause="Mesh TensorFlow (GPT-Neo, T5, Mesh) lays the model over a mesh of devices, and the mesh of its configuration has another number of places than there are devices: a configuration for a TPU (or a pod) on one GPU, or for another slice.",
        fix="""\
"mesh_shape": "x:4,y:2", "layout": "batch:x,embd:y"                # the product is the number of cores: 8 on a v2-8 or v3-8
"mesh_shape": "x:1,y:1"; --gpu_ids device:GPU:0                    # one GPU
--gin_param="utils.tpu_mesh_shape.tpu_topology = 'v3-8'" --gin_param="utils.tpu_mesh_shape.model_parallelism = 1"      # T5""",
        citations=("EleutherAI/gpt-neo#158",),
        example="ValueError: Argument not a list with same length as devices arg=[0, 1, 2, 3, 4, 5, 6, 7] devices=['gpu:0']",
    ),
    KnownError(
        id="E778",
        family="cross-shard-optimizer",
        phase=Phase.BUILDING,
        patterns=(
            r"CrossShardOptimizer does not work with OptimizerV2",
            r"CrossShardOptimizer only works with tf\.train\.Optimizer",
            r"CrossShardOptimizer should be used within a tpu_shard_context",
        ),
        cause="CrossShardOptimizer wraps optimizers of TensorFlow 1 (tf.compat.v1.train) inside a TPUEstimator; Keras' optimizers sum their gradients over the replicas themselves under a TPUStrategy, and are not to be wrapped.",
        fix="""\
optimizer = tf.compat.v1.tpu.CrossShardOptimizer(tf.compat.v1.train.AdamOptimizer(1e-3))      # in a TPUEstimator's model_fn
optimizer = keras.optimizers.Adam(1e-3)                                                           # under tf.distribute.TPUStrategy, without a wrapper""",
        evidence="recalled",
        example="TypeError: CrossShardOptimizer does not work with OptimizerV2. If you are using TPUStrategy, OptimizerV2 will sum gradients across replicas.",
    ),
    KnownError(
        id="E779",
        family="text-library-release",
        phase=Phase.READING,
        patterns=(
            r"'RaggedTensor' object has no attribute '(?P<name>merge_dims|bounding_shape)",
            r"Could not retrieve ICU NFKC_CaseFold normalizer",
            r"U_FILE_ACCESS_ERROR",
            r"module 'tensorflow_text' has no attribute '(?P<name>\w{1,60})'",
        ),
        cause="tensorflow-text is of another release than TensorFlow: it is compiled for exactly one, and calls what that one has.",
        details=("It asks for {name}.",),
        fix="""\
pip list | grep -iE "tensorflow"                                       # the two numbers
pip install "tensorflow-text==$(python -c 'import tensorflow as tf; print(tf.__version__[:4])').*"      # the same release; then restart the kernel""",
        citations=("tensorflow/text#173",),
        example="AttributeError: 'RaggedTensor' object has no attribute 'merge_dims'",
    ),
    KnownError(
        id="E780",
        family="collective-given-up",
        phase=Phase.EXECUTING,
        kind=Kind.CONSEQUENCE,
        patterns=(
            r"Aborting (?:Ring|Hierarchical|Nccl)\w{0,16} with (?P<why>.{1,60})",
            r"CollectiveExecutor::StartAbort (?!Out of range|OUT_OF_RANGE)(?P<why>.{1,120})",
        ),
        cause="The sum over all replicas was given up because one of them stopped: an operation of its step failed, or its data ended before the others' (a last batch that only some replicas get, files of unequal length, an epoch's end). The reason stands in this line or before it, on one of the hosts.",
        details=("TensorFlow says: {why}",),
        fix="""\
grep -nE "StartAbort|Error|Out of range|Killed" worker*.log | head      # the first on any host is the cause; Cancelled is only passed on
model.fit(dataset.repeat(), steps_per_epoch=N)                          # as many steps on every replica, no end of data in between
dataset = dataset.batch(global_batch, drop_remainder=True)""",
        citations=("tensorflow/tensorflow#33531",),
        example="ring_alg.cc:279] Aborting RingReduce with Cancelled: [_Derived_]Cancelled",
    ),
    KnownError(
        id="E781",
        family="fed-arrays",
        phase=Phase.READING,
        patterns=(
            r"Arguments and signature arguments do not match\. ?got: ?(?P<got>\d{1,4}), ?expected: ?(?P<wanted>\d{1,4})",
            r"Arguments and signature arguments do not match",
        ),
        cause="Keras' training function (a graph of Keras 2.0 to 2.3) was made for another number of arrays than it is fed: the generator yields other inputs, labels or sample weights than the model was compiled for (or none, once it ended), compile was called again in between, or keras beside TensorFlow 2 is used in place of tensorflow.keras.",
        details=("It is fed {got}, the function takes {wanted}.",),
        fix="""\
x, y = next(generator); print(type(x), type(y))             # what one step yields: as many inputs, labels and weights as the model has
from tensorflow import keras                                 # not `import keras` of 2.3 beside TensorFlow 2
steps = len(x_train) // batch_size                           # whole batches; a generator without end""",
        citations=("keras-team/keras#13597",),
        example="ValueError: Arguments and signature arguments do not match. got: 13, expected: 14",
    ),
    KnownError(
        id="E792",
        family="estimator-spec",
        phase=Phase.BUILDING,
        patterns=(
            r"scaffold must be tf\.train\.Scaffold\. Given: (?!\{)",
            r"EstimatorSpec.{0,40}? got an unexpected keyword argument '(?P<given>scaffold_fn|eval_metrics|host_call)",
        ),
        cause="model_fn returns the spec of the other kind of Estimator: TPUEstimatorSpec takes functions (scaffold_fn, eval_metrics, host_call), EstimatorSpec takes objects (scaffold, eval_metric_ops). Code for a TPU that was made to run with EstimatorSpec (or the reverse) hands over the wrong one.",
        fix="""\
spec = tf.compat.v1.estimator.tpu.TPUEstimatorSpec(mode=mode, loss=loss, train_op=train_op, scaffold_fn=scaffold_fn)      # on a TPU: the function
spec = tf.estimator.EstimatorSpec(mode=mode, loss=loss, train_op=train_op, scaffold=scaffold_fn() if scaffold_fn else None)      # a CPU or GPU: its result
estimator = tf.compat.v1.estimator.tpu.TPUEstimator(model_fn, use_tpu=False, ...)                                                   # or TPUEstimator everywhere""",
        citations=("javaidnabi31/Multi-Label-Text-classification-Using-BERT#1",),
        example="TypeError: scaffold must be tf.train.Scaffold. Given: <function model_fn_builder.<locals>.model_fn.<locals>.tpu_scaffold at 0x7f>",
    ),
)
