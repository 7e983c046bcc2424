# ruff: noqa: E501  (texts of other programs stay as they are)
"""What mostly fails in losses, layers, variables and functions, for tracebacks without their last line."""

from __future__ import annotations

from tpudiag.known_errors.model import Kind, KnownError, Phase, Rival

_TRACING = r"(?:def_function|polymorphic_function|func_graph|tracing_compilation|tracing_compiler|concrete_function|monomorphic_function|autograph/impl/api|autograph/operators/\w{1,30}|__autograph_generated_file\w{1,20}|eager/function)\.py "

ERRORS = (
    KnownError(
        id="E864",
        family="somewhere-in-the-loss",
        phase=Phase.TRACING,
        kind=Kind.CONSEQUENCE,
        patterns=(),
        places=(
            r"keras/[\w/]{0,60}losses[\w/]{0,30}\.py ",
            r"(?:nn_impl|nn_ops|nn|backend|tensorflow_backend)\.py \w{0,40}(?:crossentropy|cross_entropy)",
            r"compile_utils\.py ",
        ),
        cause="The loss or a metric refuses what it is given: labels and outputs of different shapes, number or type.",
        fix="""\
print(dataset.element_spec[1], model.output_shape)            # labels against outputs: same shape, or (batch,) of class numbers
model.compile(loss="sparse_categorical_crossentropy")         # class numbers; one-hot columns: "categorical_crossentropy"
outputs = keras.layers.Dense(CLASSES)(x)                      # as many units as classes; 1 for binary_crossentropy
loss = tf.keras.losses.MeanSquaredError(reduction="none")     # in a loop of your own under a strategy""",
        rivals=(
            Rival(
                cause="another number of classes than the last layer has units, or class numbers where columns are wanted (or the reverse)",
                look_for="`categorical_crossentropy`, `sigmoid_cross_entropy`, `assert_is_compatible_with`",
                decide="print(y.shape, model.output_shape)",
                cues=(r"_crossentropy", r"cross_entropy_with_logits", r"assert_is_compatible"),
                families=("shape-conflict", "rank-mismatch"),
            ),
            Rival(
                cause="a Keras loss in a loop of your own under a strategy, with the reduction AUTO",
                look_for="`_get_reduction`",
                decide='grep -n "losses\\." train.py',
                fix="loss = tf.keras.losses.CategoricalCrossentropy(reduction=tf.keras.losses.Reduction.NONE)     # then / global_batch",
                cues=(r"_get_redu",),
                families=("loss-reduction",),
            ),
            Rival(
                cause="as many losses or metrics, or as deep a structure of labels, as the model has outputs: they differ",
                look_for="`compile_utils`, `map_missing_dict_keys`, several outputs",
                decide="print(model.output_names, tf.nest.map_structure(lambda t: t.shape, next(iter(dataset))[1]))",
                cues=(r"compile_utils",),
                families=("input-structure", "no-loss", "structures-differ"),
            ),
            Rival(
                cause="types: integer labels where floats are wanted, or bfloat16 beside float32",
                look_for="`cast`, `dtype`",
                decide="print(y.dtype, model.output.dtype)",
                families=("types-do-not-match",),
            ),
        ),
        citations=("OpenNMT/OpenNMT-tf#526", "tensorflow/tensorflow#43276"),
        example='  File "keras/losses.py", line 1990, in categorical_crossentropy\n    return backend.categorical_crossentropy(y_true, y_pr',
    ),
    KnownError(
        id="E865",
        family="somewhere-under-the-strategy",
        phase=Phase.TRACING,
        kind=Kind.CONSEQUENCE,
        patterns=(),
        places=(
            r"distribute/[\w/]{0,40}(?:values|values_util|tpu_values|ps_values|distribute_utils|cross_device_ops|cross_device_utils|mirrored_run|mirrored_strategy|tpu_strategy|input_lib|values_v2)\.py ",
            r"normalization\w{0,6}\.py _(?:as|fused|moving)|(?:_assign_moving_average|add_update)\b",
        ),
        cause="A variable or value of the strategy is used where it cannot be: changed outside the replicas (or in them, where it belongs outside), or handed on as one tensor where each replica has its own.",
        fix="""\
@tf.function
def train_step(batch):
    return strategy.run(step_fn, args=(batch,))                # forward pass, tape, apply_gradients, metric.update_state: in step_fn
with strategy.scope(): model, optimizer, metric = build(), tf.keras.optimizers.Adam(), tf.keras.metrics.Mean()
total = strategy.reduce(tf.distribute.ReduceOp.SUM, train_step(batch), axis=None)
tf.keras.layers.BatchNormalization()                           # no renorm, no virtual_batch_size under a strategy; tf.metrics (TF 1): tf.keras.metrics""",
        rivals=(
            Rival(
                cause="a variable, moving average or metric is assigned in the cross-replica context: the model is called, or the metric updated, outside strategy.run",
                look_for="`assign`, `assign_add`, `_assign_moving_average`, `update_state`",
                decide='grep -nE "strategy.run|update_state|model\\(" train.py',
                cues=(
                    r"in assign_(?:add|sub)",
                    r"_moving_average",
                    r"_fused_batch_norm",
                    r"update_state",
                ),
                families=("replica-context", "metric-outside-run", "aggregation-missing"),
            ),
            Rival(
                cause="the replicas do not do the same: batches of different structure or size (the last one), or a condition on a tensor around what joins them",
                look_for="`regroup`, `merge_call`, `_call_for_each_replica`",
                decide="dataset.batch(global_batch, drop_remainder=True)",
                cues=(r"in regroup", r"merge_call\("),
                families=("nested-function", "uneven-replica-batches"),
            ),
            Rival(
                cause="a PerReplica value or a distributed dataset is used as one tensor or a plain dataset",
                look_for="`PerReplica`, `input_lib`, `_as_graph_element`",
                decide='grep -nE "experimental_local_results|strategy.reduce" train.py',
                cues=(r"PerReplica", r"input_lib"),
                families=("per-replica-value", "distributed-dataset"),
            ),
            Rival(
                cause="inputs of unknown rank or length come to the TPU",
                look_for="`tpu_function`, `maximum_shape`, py_function in the pipeline",
                decide="print(dataset.element_spec)",
                cues=(r"maximum_shape",),
                families=("unknown-shape",),
            ),
        ),
        citations=("tensorflow/tensorflow#20509", "tensorflow/tensorflow#20874"),
        example='  File "tensorflow/contrib/distribute/python/values.py", line 311, in assign_add\n    return self.get(device=_get_update_device()).assign_add(*args, **kwargs)\n  File "tensorflow/contrib/distribute/py',
    ),
    KnownError(
        id="E866",
        family="somewhere-in-tracing",
        phase=Phase.TRACING,
        kind=Kind.CONSEQUENCE,
        patterns=(),
        places=(
            _TRACING,
            r"ops/variables\.py |resource_variable_ops\.py |distribute_lib\.py creator",
        ),
        cause="A function was being traced (made into a graph) when it failed: the frames are always these, and what failed stands in the frames and the sentence below them.",
        fix="""\
tf.config.run_functions_eagerly(True)             # on a CPU, without strategy: the same line fails in plain Python, with values to print
print(dataset.element_spec)                       # shapes and types that come in
# last lines of the traceback: the innermost line of your own ("in user code:" shows it) and the sentence below it""",
        rivals=(
            Rival(
                cause="a variable is made within the function on a later call: a layer, metric or optimizer in the step, two models with one optimizer",
                look_for="`invalid_creator_scope`, `_variable_v2_call`, `_stateless_fn` (the second call)",
                decide='grep -nE "Variable\\(|optimizers\\.|layers\\." train.py',
                fix="make layers, metrics and optimizers (optimizer.build(...)) before the function is called",
                cues=(
                    r"invalid_creator_scope",
                    r"_variable_v2_call",
                    r"_stateless_fn",
                    r"_no_variable_creation_fn",
                ),
                families=("variables-in-function",),
            ),
            Rival(
                cause="Python where tensors are: an `if` or `for` on a tensor, .numpy(), a list that grows, a value that only one branch sets",
                look_for="`autograph`, `if_stmt`, `for_stmt`, `.numpy()`",
                decide="the innermost line of your own",
                cues=(r"if_stmt", r"for_stmt", r"while_stmt", r"\.numpy\(\)"),
                families=(
                    "python-control-flow",
                    "branches-differ",
                    "loop-variable-changes",
                    "eager-needed",
                ),
            ),
            Rival(
                cause="shapes or types that do not fit, in an operation or layer of the step",
                look_for="a layer's or operation's name in the innermost frames",
                decide="print(x.shape, x.dtype) before that line",
                families=("shape-conflict", "layer-input", "types-do-not-match"),
            ),
        ),
        citations=("tensorflow/tensorflow#27120",),
        example='  File "tensorflow/python/eager/def_function.py", line 888, in _call\n    return self._stateless_fn(*args, **kwds)\n  File "tensorflow/python/eager/function.py", line 3361, in _maybe_define_function\n    graph_function = self._create_graph_function(args, kwargs)',
    ),
    KnownError(
        id="E868",
        family="somewhere-in-a-layer",
        phase=Phase.BUILDING,
        kind=Kind.CONSEQUENCE,
        patterns=(),
        places=(
            r"(?:base_layer\w{0,6}|input_spec|functional|sequential|keras_tensor|node|operation)\.py ",
            r"keras/(?:src/)?layers/[\w/]{0,60}\.py ",
        ),
        cause="A layer could not be made or called: its input has another shape, type or kind than it takes.",
        fix="""\
model.summary()                                       # the shape before the layer that the frames name
print(x.shape, x.dtype, type(x))                      # what it is given
from tensorflow.keras import layers                   # one Keras for all layers: no keras beside tensorflow.keras or tf_keras""",
        rivals=(
            Rival(
                cause="the input's shape does not fit the layer: rank, channels, features, a size that is not known",
                look_for="`assert_input_compatibility`, `build`, `compute_output_shape`",
                decide="model.summary()",
                cues=(r"assert_input_compat", r"compute_output_shape", r"in build"),
                families=("layer-input", "shape-conflict", "unknown-shape"),
            ),
            Rival(
                cause="the input is no Keras tensor or of another Keras, or an operation of TensorFlow is used on a symbolic tensor",
                look_for="KerasTensor, keras/src and tensorflow/python/keras in one traceback",
                decide='grep -nE "import.*keras|from.*keras" *.py',
                cues=(r"KerasTensor", r"keras_tensor\.py"),
                families=("keras-tensor", "two-keras", "graph-disconnected"),
            ),
            Rival(
                cause="types: integers or float64 where the layer computes in float32 or bfloat16",
                look_for="`cast`, `matmul`, `dtype`",
                decide="print(x.dtype, layer.compute_dtype)",
                families=("types-do-not-match", "integers-into-layer"),
            ),
        ),
        citations=("tensorflow/tensorflow#50407",),
        example='  File "keras/engine/base_layer.py", line 736, in __call__\n    outputs = self.call(inputs, *args, **kwargs)',
    ),
    KnownError(
        id="E878",
        family="somewhere-in-an-operation",
        phase=Phase.TRACING,
        kind=Kind.CONSEQUENCE,
        patterns=(),
        places=(
            r"(?:constant_op|tensor_util|op_def_library|tensor_conversion\w{0,12}|tensor_shape)\.py ",
            r"framework/ops\.py (?:\w{0,12}convert_\w{0,30}|_create_c_op|create_op)",
        ),
        cause="A value could not be made into the tensor that an operation wants, or the operation refuses the shapes and types that it gets.",
        fix="""\
print(type(value), getattr(value, "dtype", None), getattr(value, "shape", None))      # before the innermost line of your own
x = tf.cast(x, tf.float32); y = tf.cast(y, x.dtype)                                      # types that meet
assert all(g is not None for g in tape.gradient(loss, model.trainable_variables))        # None where a gradient is wanted""",
        rivals=(
            Rival(
                cause="None stands where a value is wanted: a size that is not known (x.shape[0]), a gradient through a cast to integers, argmax or a comparison, a function without return",
                look_for="`None values not supported`",
                decide="print(value)",
                cues=(r"to_int32", r"argmax", r"None values"),
                families=("none-value", "no-gradients"),
            ),
            Rival(
                cause="types: int beside float, float64 beside float32, a text or an object array",
                look_for="`preferred_dtype`, `dtype`",
                decide="print(x.dtype, y.dtype)",
                families=("types-do-not-match", "not-a-tensor"),
            ),
            Rival(
                cause="shapes: sizes that must be equal and are not, another number of dimensions",
                look_for="`_create_c_op`, `tensor_shape`, `assert_is_compatible_with`",
                decide="print(x.shape, y.shape)",
                cues=(r"_create_c_op", r"assert_is_compatible", r"tensor_shape\.py"),
                families=("shape-conflict", "rank-mismatch"),
            ),
        ),
        citations=("keras-team/keras#7246",),
        example='  File "tensorflow/python/framework/constant_op.py", line 102, in constant\n    tensor_util.make_tensor_proto(value, dtype=dtype, shape=shape, verify_shape=verify_shape))',
    ),
)
