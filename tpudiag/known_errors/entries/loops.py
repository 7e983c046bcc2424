# ruff: noqa: E501  (texts of other programs stay as they are)
"""The training step: eager, traced, its loss and its numbers."""

from __future__ import annotations

from tpudiag.known_errors.model import Kind, KnownError, Phase, Rival

ERRORS = (
    KnownError(
        id="E32",
        family="eager-run",
        phase=Phase.TRACING,
        patterns=(
            r"TPUStrategy\.run\(fn, \.\.\.\) does not support pure eager execution",
            r"does not support pure eager execution",
            r"\brun_eagerly\b[^/\n]{0,80}?(?:\bTPU|not supported)",
        ),
        cause="The training step runs outside tf.function, or run_eagerly=True.",
        fix="""\
@tf.function
def train_step(iterator):
    return strategy.run(step_fn, args=(next(iterator),))

model.compile(optimizer, loss, run_eagerly=False)     # where Keras trains""",
        citations=(
            "tensorflow/tensorflow#41074",
            "tensorflow/tensorflow#42603",
        ),
        example="NotImplementedError: TPUStrategy.run(fn, ...) does not support pure eager execution. please make sure the function passed into `strategy.run` is a `tf.function` or `strategy.run` is called inside a `tf.function` if eager behavior is enabled.",
        near_miss="NotImplementedError: Trainer.run(fn, ...) does not support eager evaluation",
    ),
    KnownError(
        id="E33",
        family="loss-reduction",
        phase=Phase.TRACING,
        patterns=(
            r"Please use .{0,40}?Reduction\.SUM.{1,60}?Reduction\.NONE.{0,3}? for loss reduction when losses are used with .{0,3}?tf\.distribute\.Strategy",
            r"for loss reduction when losses are used with",
        ),
        places=(
            r"_get_redu(?:ction)?$",
            r"losses\S{0,9} _get_reduction",
        ),
        cause="A Keras loss in a custom training loop does not say how it is reduced over the replicas.",
        fix="""\
with strategy.scope():
    loss_object = tf.keras.losses.SparseCategoricalCrossentropy(
        from_logits=True, reduction=tf.keras.losses.Reduction.NONE)   # Keras 3: reduction="none"

def compute_loss(labels, predictions):
    return tf.nn.compute_average_loss(loss_object(labels, predictions), global_batch_size=global_batch)""",
        citations=(
            "deepfakes/faceswap#1224",
            "Riccorl/Super-SloMo-tf2#17",
            "tensorflow/tensorflow#28956",
        ),
        example="ValueError: Please use `tf.keras.losses.Reduction.SUM` or `tf.keras.losses.Reduction.NONE` for loss reduction when losses are used with `tf.distribute.Strategy` outside of the built-in training loops.",
        near_miss="ValueError: Please use `Reduction.SUM` in this layer.",
    ),
    KnownError(
        id="E35",
        family="retracing",
        phase=Phase.TRACING,
        level="warning",
        patterns=(
            r"(?P<traces>\d{1,6}) out of the last (?P<calls>\d{1,6}) calls to (?:<function )?(?P<function>[\w.<>]{1,200}?)(?: at 0x[0-9a-f]{1,16}>)? triggered tf\.function retracing",
            r"out of the last \d{1,6} calls to .{1,300}? triggered tf\.function retracing",
        ),
        cause="A tf.function is traced again and again: tensors of changing shape, Python values as arguments, or a new tf.function in every turn of a loop.",
        details=("{traces} of the last {calls} calls of {function} were traced.",),
        fix="""\
@tf.function(reduce_retracing=True)          # define it once, outside the loop
def train_step(images, step):                # step: a tensor, not a Python int
    ...
dataset = dataset.batch(global_batch, drop_remainder=True)
train_step(images, tf.constant(step))""",
        citations=(
            "tensorflow/tensorflow#34025",
            "tensorflow/tensorflow#67033",
            "tensorflow/tensorflow#46012",
        ),
        evidence="reproduced",
        example="WARNING:tensorflow:5 out of the last 5 calls to <function run.<locals>.step at 0x7f45dabb77e0> triggered tf.function retracing. Tracing is expensive and the excessive number of tracings could be due to (1) creating @tf.function repeatedly in a loop, (2) passing tensors with different shapes, (3) passing Python objects instead of tensors.",
        near_miss="INFO: 5 out of the last 5 calls to the service succeeded",
    ),
    KnownError(
        id="E152",
        family="symbolic-to-numpy",
        phase=Phase.TRACING,
        patterns=(
            r"Cannot convert a symbolic .{0,120}? to a numpy array",
            r"'(?:Symbolic|Eager|Keras)?Tensor' (?:object )?has no attribute 'numpy'",
            r"numpy\(\) is only available when eager execution is enabled",
            r"trying to pass a (?:Tensor|symbolic value) to a NumPy call",
            r"__array__\(\) is not supported for tf\.Tensors? in graph",
            r"Cannot use tf\.Tensor .{0,40}? as a NumPy",
            r"unsupported format string passed to (?:Symbolic|Eager)?Tensor\.__format__",
            r"(?:float|int)\(\) argument must be .{0,60}?not '(?:Symbolic|Keras)?Tensor'",
        ),
        cause="NumPy (or .numpy()) is used on a tensor inside a tf.function (train_step, a loss, a metric, dataset.map), where the tensor has no value yet; or, where no code of yours does it, an old TensorFlow meets NumPy 1.20 or later.",
        fix="""\
x = tf.reduce_mean(x)                 # tf.* in place of np.* inside the function (tf.shape, tf.random, tf.cast)
tf.print(x)                           # off the TPU, instead of print(x.numpy()); or return x and look at it outside
pip install "numpy<1.20"              # TensorFlow 2.4 and older: LSTM and tf.image fail with this text""",
        citations=(
            "tensorflow/tensorflow#36792",
            "tensorflow/tensorflow#37522",
            "tensorflow/tensorflow#38836",
            "tensorflow/tensorflow#55626",
            "tensorflow/tensorflow#40569",
            "WillianFuks/tfcausalimpact#19",
            "EdwardFerdian/4DFlowNet#2",
        ),
        example="NotImplementedError: Cannot convert a symbolic Tensor (Neg_1:0) to a numpy array.",
        yields_to=("E848",),
    ),
    KnownError(
        id="E153",
        family="python-control-flow",
        phase=Phase.TRACING,
        patterns=(
            r"sing a symbolic `?tf\.Tensor`? as a Python `?bool`? is not allowed",
            r"sing a `?tf\.Tensor`? as a Python `?bool`? is not allowed",
            r"terating over (?:a symbolic )?`?tf\.Tensor`? is not allowed",
            r"OperatorNotAllowedInGraphError",
            r"attempting to use Python control flow in a layer that was not declared to be dynamic",
        ),
        cause="A Python `if`, `while`, `for`, `and` or `assert` uses the value of a tensor inside a function whose code AutoGraph does not convert.",
        fix="""\
y = tf.where(x > 0, x, 0.0)                        # or tf.cond, tf.while_loop, tf.logical_and
for i in tf.range(n): ...                          # a tensor's range, inside @tf.function
# a library's function or a lambda that AutoGraph skips: def it in your own module, without do_not_convert""",
        evidence="recalled",
        example="OperatorNotAllowedInGraphError: Using a symbolic `tf.Tensor` as a Python `bool` is not allowed: AutoGraph did convert this function.",
    ),
    KnownError(
        id="E154",
        family="nan",
        phase=Phase.EXECUTING,
        patterns=(
            r"NaN loss during training",
            r"Model diverged with loss = NaN",
            r"Tensor had (?:NaN|Inf)(?: and \w{2,3})? values",
            r"loss is nan",
            r"loss was nan",
            r"loss became nan",
            r"loss turned nan",
            r"loss is (?:nan or )?inf\W",
            r"Invalid loss, terminating training",
            r"CheckNumerics.{0,120}?(?:NaN|Inf)",
            r"loss: nan",
            r"FloatingPointError: ",
        ),
        cause="The loss became NaN or infinite: a learning rate that is too high, log or division of zero, labels out of range, an empty batch, or bfloat16 where float32 is needed.",
        fix="""\
tf.debugging.enable_check_numerics()                 # on the CPU: names the operation that makes the first NaN
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)     # no softmax and log of your own
outputs = keras.layers.Dense(classes, dtype="float32")(x)               # logits and loss in float32 under mixed_bfloat16
optimizer = keras.optimizers.Adam(1e-4, clipnorm=1.0)                   # and a warm-up; drop_remainder=True: no empty batch""",
        rivals=(
            Rival(
                cause="the learning rate is too high, or has no warm-up",
                look_for="the loss grows before it is NaN",
                decide="a tenth of the learning rate: does it stay finite?",
            ),
            Rival(
                cause="bfloat16 or float16 in the loss, a softmax, a distance",
                look_for="it stays finite with the policy float32",
                decide='keras.mixed_precision.set_global_policy("float32")',
                fix='outputs = keras.layers.Dense(classes, dtype="float32")(x)     # logits and loss in float32',
                cues=(r"mixed_(?:bfloat16|float16)",),
            ),
            Rival(
                cause="the data: labels out of range, NaN in the features, an empty last batch",
                look_for="it fails at the same batch each time",
                decide="tf.debugging.assert_all_finite in dataset.map; drop_remainder=True",
            ),
            Rival(
                cause="a loss function of your own that takes the mean over the batch: under a strategy loss and gradients become as many times too large as there are replicas, and NaN where the last batch leaves a replica without examples",
                look_for="on one replica the same script's loss is smaller (by 8 on eight cores); a built-in loss stays finite",
                decide="model.evaluate on one replica and on all: are they equal?",
                fix="def my_loss(y_true, y_pred): return tf.reduce_mean(tf.square(y_true - y_pred), axis=-1)      # one value per example: Keras takes the mean; and batch(..., drop_remainder=True)",
                cues=(r"def \w{0,40}loss\w{0,40}\(.{0,400}?reduce_mean\((?!.{0,120}?axis)",),
            ),
        ),
        citations=(
            "googlecolab/colabtools#5130",
            "tensorflow/tensorflow#52053",
            "tensorflow/tensorflow#41635",
            "tensorflow/similarity#364",
        ),
        example="INFO:tensorflow:NaN loss during training.",
    ),
    KnownError(
        id="E186",
        family="eager-needed",
        phase=Phase.TRACING,
        kind=Kind.BROAD,
        patterns=(
            r"is only supported inside of tf\.function or when eager execution is enabled",
            r"Attempting to capture an EagerTensor without building a function",
            r"requires eager (?:execution|mode)",
            r"not supported (?:when|without) eager (?:execution|mode)",
            r"only available when eager execution is enabled",
            r"tf\.enable_eager_execution must be called at program startup",
            r"interleaving estimator/non-estimator models",
            r"only set `?run_eagerly=True`? if eager execution is enabled",
            r"BackupAndRestore only supports eager mode",
        ),
        cause="Eager execution is off (a script for TensorFlow 1, disable_v2_behavior, disable_eager_execution, a Session or an Estimator), or a tensor made eagerly is used in a graph.",
        fix="""\
grep -nE "disable_eager_execution|disable_v2_behavior|tf.Graph\\(|Session\\(|run_functions_eagerly" *.py     # take these out: TPUStrategy wants TensorFlow 2 behaviour
@tf.function
def train(iterator): strategy.run(step, args=(next(iterator),))      # loops over a distributed dataset: eagerly, or in a tf.function""",
        evidence="recalled",
        example="RuntimeError: __iter__() is only supported inside of tf.function or when eager execution is enabled.",
        yields_to=("E152",),
    ),
    KnownError(
        id="E155",
        family="tensor-out-of-scope",
        phase=Phase.TRACING,
        patterns=(
            r"is out of scope and cannot be used here",
            r"op outside of the function building code is being passed",
            r"cannot be accessed (?:here|from here), because it (?:is|was) defined in",
            r"InaccessibleTensorError",
            r"Trying to capture a tensor from an inner function",
            r"'(?:Symbolic)?Tensor' object has no attribute '_datatype_enum'",
            r"Please ensure that all operations that involve tensors are (?:created|executed) in the same graph",
            r"Can only prune function whose feeds and fetches",
        ),
        cause="A tensor that was made in one function, condition or loop body is used in another: kept in an attribute or a list, or caught from outside.",
        fix="""\
return loss, accuracy                       # give values out of the function; do not keep tensors in self or in a list
self.state = tf.Variable(0.0); self.state.assign(value)      # what must live on: a variable""",
        evidence="recalled",
        example="TypeError: <tf.Tensor 'add:0' shape=() dtype=float32> is out of scope and cannot be used here.",
    ),
    KnownError(
        id="E156",
        family="no-gradients",
        phase=Phase.TRACING,
        patterns=(
            r"No gradients provided for any variable",
            r"An operation has `?None`? for gradient",
            r"No trainable variables were accessed while the function",
            r"has `?None`? for gradient\. Please make sure that all of your ops",
            r"has `?None`? for gradient",
        ),
        places=(r"_filter_grads|filter_empty_gradients",),
        cause="No variable of the model takes part in the loss as the tape saw it: the loss is computed outside the tape, from NumPy values, through argmax or a cast to integers, or the variables were made after.",
        fix="""\
with tf.GradientTape() as tape:
    loss = loss_fn(labels, model(images, training=True))      # all of it inside, in tf ops
gradients = tape.gradient(loss, model.trainable_variables)""",
        evidence="recalled",
        example="ValueError: No gradients provided for any variable: ['dense/kernel:0', 'dense/bias:0'].",
    ),
    KnownError(
        id="E163",
        family="types-do-not-match",
        phase=Phase.TRACING,
        patterns=(
            r"cannot compute (?P<op>\w{1,40}) as input #\d{1,3}\(zero-based\) was expected to be a (?P<left>\w{1,12}) tensor but is a (?P<right>\w{1,12}) tensor",
            r"of '(?P<op>\w{1,40})' Op has type (?P<right>\w{1,12}) that does not match type (?P<left>\w{1,12}) of argument",
            r"Tensor conversion requested dtype (?P<left>\w{1,12}) for Tensor with dtype (?P<right>\w{1,12})",
            r"must have the same dtype, got tf\.(?P<left>\w{1,12}) != tf\.(?P<right>\w{1,12})",
            r"have types \[.{1,120}?\] that don't all match",
            r"expected to be a \w{1,12} tensor but is a \w{1,12} tensor",
            r"Seen floating point types of different precisions",
            r"Binary op \w{1,30} with different element types",
            r"Value passed to parameter '\w{1,24}' has DataType (?P<right>(?!bool|bfloat16)\w{1,12}) not in list of allowed values",
            r"Cannot convert .{1,60}? to EagerTensor of dtype (?P<left>\w{1,12})",
            r"Value for attr '\w{1,10}' of (?P<right>(?!bfloat16)\w{1,10}) is not in the list of allowed values",
            r"TensorArray dtype is (?P<left>\w{1,12}) but Op is trying to write dtype (?P<right>\w{1,12})",
            r"incompatible with expected (?P<left>\w{1,10})_ref",
        ),
        cause="Two tensors of different types meet in one operation: integers and floats (labels, steps, an integer learning rate or decay step), or float32 and bfloat16 under a mixed precision policy.",
        details=("In {op} {left} meets {right}.",),
        fix="""\
labels = tf.cast(labels, tf.float32); step = tf.cast(step, tf.float32)     # cast where they meet
x = tf.cast(x, self.compute_dtype)                                          # in a layer of your own under mixed_bfloat16
outputs = keras.layers.Dense(classes, dtype="float32")(x)                   # logits and loss in float32
schedule = keras.optimizers.schedules.PolynomialDecay(1e-3, 1000)           # floats for rates: 1e-3, 1.0, not 1""",
        evidence="recalled",
        example="InvalidArgumentError: cannot compute Mul as input #1(zero-based) was expected to be a int64 tensor but is a float tensor [Op:Mul]",
        yields_to=("E217", "E801"),
    ),
    KnownError(
        id="E164",
        family="too-late-to-configure",
        phase=Phase.INITIALISING,
        patterns=(
            r"must be (?:configured|set|called) at program startup",
            r"cannot be modified after being initialized",
            r"must be set before (?:the )?(?:context|program|runtime) (?:is|has been|was) (?:initialized|started)",
            r"Context is already initialized",
        ),
        cause="TensorFlow was used before it was configured: an operation, a variable or a dataset came before the TPU (or the strategy, or the devices) was set up.",
        fix="""\
import tensorflow as tf
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")     # the very first use of TensorFlow
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
# a notebook: restart the kernel, and run this cell first""",
        evidence="recalled",
        example="RuntimeError: Collective ops must be configured at program startup",
    ),
)
