# ruff: noqa: E501  (texts of other programs stay as they are)
"""Layers and models that are built wrongly, in any Keras."""

from __future__ import annotations

from tpudiag.known_errors.model import Kind, KnownError, Phase

ERRORS = (
    KnownError(
        id="E467",
        family="super-init",
        phase=Phase.BUILDING,
        patterns=(
            r"you forgot to call `?super\(\)\.__init__",
            r"It looks like you are subclassing `?Model`? and (?:you )?forgot to call",
            r"has no attribute '(?:_?built|_trainable_variables|_self_setattr_tracking|_obj_reference_counts_dict|_tracker|_dtype_policy|_auto_config)'",
            r"'(?!Dense|Conv|Functional|Sequential|Model|Input|BatchNorm|Dropout|Embedding|LSTM|GRU|Flatten|KerasLayer|TFBert|Adam|SGD)\w{1,60}' object has no attribute '_(?:expects_(?:mask|training)_arg|call_has_(?:mask|training|context)_arg|call_(?:fn_args|accepts_kwargs|signature|spec|context_args)|non_trainable_(?:weights|variables)|callable_losses|losses_override|metrics_lock|inbound_nodes_value|self_tracked_trackables|name_scope_on_declaration)'",
            r"cannot (?:set|assign) attributes? before calling `?super",
            r"reserved and should not be used",
            r"can't set the attribute \W?(?P<name>\w{1,40})\W{0,3}, likely because it conflicts with an existing read-only",
            r"You must call `?super\(\)\.__init__\(\)`? in the layer",
            r"You must call `?super\(\)\.__init__",
            r"Variables were created within a Lambda layer",
            r"calls? .{0,80}? but are not tracked by said layer",
        ),
        cause="A layer, model, metric or optimizer of your own sets attributes before Keras is ready for them: super().__init__() is not the first statement of its __init__, or an attribute has a name that Keras uses itself (layers, inputs, name, metrics, losses, dtype).",
        details=("The name is {name}.",),
        fix="""\
class Block(keras.layers.Layer):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)          # first
        self.units = units                  # then the rest; not self.layers, self.inputs, self.metrics: another name""",
        evidence="recalled",
        example="RuntimeError: In layer 'block', you forgot to call `super().__init__()` as the first statement in the `__init__()` method. Go add it!",
    ),
    KnownError(
        id="E468",
        family="layer-contract",
        phase=Phase.BUILDING,
        patterns=(
            r"does not have a `?call\(\)`? method implemented",
            r"When subclassing the `?(?:Model|Layer)`? class, you should implement",
            r"Unimplemented `?tf\.keras\.Model\.call\(\)`?",
            r"Should implement `?def compute_output_shape",
            r"`?compute_output_shape\(\)`? .{0,80}?(?:not implemented|cannot be interpreted as a shape|must be implemented)",
            r"Layer `?add_metric\(\)`? method is deprecated",
            r"object has no attribute 'add_metric'",
            r"`?add_loss\(\)`? can only be called from inside",
            r"Expected a symbolic Tensors? or a callable for the loss value",
            r"Please provide a name for your metric like",
            r"received `?\w{1,20}\(\)`? argument `?\w{1,40}`?,? (?:which does not end in `?_shape|but `?call\(\))",
            r"Only input tensors may be passed as positional arguments",
            r"you cannot mix tensors and non-tensors",
            r"Inputs to a layer should be tensors\. Got",
            r"The first argument to `?(?:Layer|Model)\.call`? must always be passed",
            r"You cannot build your model by calling `?build`? if your layers do not support float type inputs",
            r"Unable to automatically build the model",
            r"Models passed to `?fit`? can only have `?training`? and the first argument",
            r"The `?build\(\)`? method on layer .{0,80}?should take",
            r"`?build\(\)`? was called on layer .{0,200}?(?:does not have a `?build|has no)",
            r"`?call`? method should return a Tensor or a list",
            r"implement the `?compute_output_shape`? method",
            r"Input shape must be defined when calling `?build",
            r"you cannot build your model if it has positional",
            r"Found (?:two|duplicated) (?:weighted )?metrics",
            r"Please provide different names for the metrics",
            r"Your model contains layers that can only be successfully run in eager",
            r"infer the shape of the Lambda's output",
            r"`?output_shape`? could not be inferred",
        ),
        cause="A layer or model of your own does not keep to what Keras asks of it: call(inputs, ...) with tensors first, build(input_shape) for its variables, compute_output_shape where shapes cannot be inferred; add_metric is gone in Keras 3.",
        fix="""\
class Block(keras.layers.Layer):
    def build(self, input_shape): self.dense = keras.layers.Dense(8); self.dense.build(input_shape)
    def call(self, x, training=False): return self.dense(x)
    def compute_output_shape(self, input_shape): return (*input_shape[:-1], 8)
# metrics: model.compile(metrics=[...]), or self.tracker = keras.metrics.Mean() in __init__ and update_state in train_step
model(next(iter(dataset))[0])                                     # built by one batch before fit, load_weights, summary""",
        evidence="recalled",
        example="NotImplementedError: Model <Net> does not have a `call()` method implemented.",
    ),
    KnownError(
        id="E469",
        family="layer-call",
        phase=Phase.BUILDING,
        kind=Kind.CONSEQUENCE,
        patterns=(
            r"Exception encountered when calling (?:layer )?\W?(?P<name>[\w./]{1,60})",
            r"Arguments received by (?P<name>[\w.]{1,60}):",
            r"Call arguments received by layer",
        ),
        cause="A layer failed while it was called; the lines between this one and the next blank one say why, and the arguments below say with which shapes and types.",
        details=("The layer is {name}.",),
        fix="""\
# read the sentence under this line: it is the error; then the shapes under `Arguments received by`
for spec in tf.nest.flatten(dataset.element_spec): print(spec.shape, spec.dtype)     # rank and type of what goes in""",
        evidence="recalled",
        example="ValueError: Exception encountered when calling layer 'dense' (type Dense).",
    ),
    KnownError(
        id="E470",
        family="sequential-model",
        phase=Phase.BUILDING,
        patterns=(
            r"Sequential model .{0,60}?(?:has no defined|cannot be built because it has no layers|has already been configured)",
            r"has no defined (?:input|output) shape yet",
            r"All layers (?:added to|in) a Sequential model should have",
            r"Layers added to a Sequential model (?:should have|can only have)",
            r"The layer .{0,60}? has never been called and thus has no defined (?:input|output)",
            r"Layer .{0,60}? has no inbound nodes",
            r"The first layer in a Sequential model must",
            r"You must either provide `?input_shape`?.{0,120}?Sequential",
            r"layer .{0,60}? has multiple inbound nodes",
            r"Was asked to retrieve layer at index \d{1,5} but model only has (?P<has>\d{1,5})",
            r"There are no layers in the model",
            r"You must provide an `?input_shape`? argument",
            r"[Uu]nvisited input tensors(?! that are disconnected)",
            r"is part of a cycle",
            r"the same input multiple times",
            r"does not support distribution strategy with a `?Sequential",
            r"Layer .{1,60}? is not connected, no input",
            r"has never been called and thus has no defined",
        ),
        cause="A Sequential model is asked for its input or output before it has one: in Keras 3 it knows no shape until it is built, has no model.input before that, and no layer.output for layers never called.",
        fix="""\
model = keras.Sequential([keras.Input((224, 224, 3)), ...])           # an Input first: then model.input and model.output exist
model.build((None, 224, 224, 3))                                       # or build it before it is used
print([layer.name for layer in model.layers])                          # names and number of the layers that there are""",
        evidence="recalled",
        example="AttributeError: Sequential model 'sequential' has no defined input shape yet.",
    ),
    KnownError(
        id="E471",
        family="symbolic-tensor",
        phase=Phase.BUILDING,
        patterns=(
            r"A symbolic KerasTensor cannot be used as a boolean",
            r"Iterating over a symbolic KerasTensor is not supported",
            r"KerasTensors? cannot be (?:used|converted)",
            r"attribute of KerasTensor is immutable",
            r"Cannot iterate over a (?:scalar )?tensor",
            r"Cannot iterate over a tensor with unknown (?:first dimension|shape)",
            r"(?:Tensor objects are only iterable|`?Tensor`? objects are not iterable) when eager execution is",
            r"len is not well defined for a symbolic Tensor",
            r"Scalar tensor has no `?len\(\)`?",
            r"Tensor\.(?:op|graph|name|value_index|consumers|device) is (?:undefined|meaningless) when eager execution is enabled",
            r"__array__\(\) takes 1 positional argument but 2 were given",
            r"object does not support item assignment.{0,40}?(?:EagerTensor|Tensor)",
            r"'(?:\w{0,20}EagerTensor|Tensor|KerasTensor|SymbolicTensor|\w{0,20}Variable)' object does not support item assignment",
            r"'(?P<type>Tensor|KerasTensor|SymbolicTensor|\w{0,20}EagerTensor)' object (?:is not callable|cannot be interpreted as an integer)",
            r"'(?P<type>Tensor|KerasTensor|SymbolicTensor|\w{0,20}EagerTensor|TensorShape)' object has no attribute '(?P<name>\w{1,40})'",
            r"Expected float32, got .{0,30}?KerasTensor",
            r"Encountered an Eager-defined Tensor during graph construction",
            r"using a `?(?:tf\.)?Tensor`? as a Python `?bool`? is not allowed",
            r"The truth value of (?:a|an) (?:Tensor|KerasTensor)",
            r"symbolic inputs/outputs do not implement",
            r"You should not pass an EagerTensor to `?Input",
            r"an intermediate (?:TF-)?Keras symbolic input/output",
            r"does not handle the case of the path where all inputs are not already EagerTensors",
            r"Cannot iterate over a scalar",
            r"Using symbolic output of a Keras layer during eager execution",
            r"Inputs to eager execution function cannot be Keras symbolic tensors",
            r"object of type 'KerasTensor' has no len",
            r"symbolic inputs/outputs do not implement `?__len__",
        ),
        cause="A tensor is used as if it were a NumPy array or a Python number: in a tf.function, a layer or a dataset.map it has no value yet, tensors cannot be assigned to in place, and a KerasTensor only stands for a layer's output.",
        details=("It is a {type} and was asked for {name}.",),
        fix="""\
x = tf.tensor_scatter_nd_update(x, [[0]], [value])                # in place of x[0] = value
y = tf.where(condition, a, b); y = tf.map_fn(f, x)                # in place of if and for over tensors
n = tf.shape(x)[0]; x = tf.reshape(x, [n, -1]); x = tf.cast(x, tf.float32)     # in place of len(x), x.reshape, x.astype
x = keras.ops.squeeze(x)                                           # Keras 3: keras.ops on layers' outputs, or a Layer/Lambda around tf functions""",
        evidence="recalled",
        example="TypeError: 'Tensor' object does not support item assignment",
        yields_to=("E152", "E153", "E209", "P24", "P06", "E208", "P08", "E407"),
    ),
    KnownError(
        id="E472",
        family="static-shape-wanted",
        phase=Phase.BUILDING,
        kind=Kind.BROAD,
        patterns=(
            r"(?:channel|last) dimension of the inputs.{0,30}? should be defined",
            r"Undefined shapes are not supported",
            r"Cannot convert .{1,60}? to a shape",
            r"Unrolling requires a fixed number of timesteps",
            r"must have a statically known rank",
            r"Cannot convert a partially known TensorShape",
            r"Cannot convert an unknown Dimension",
            r"must (?:have|be) (?:a )?fully defined",
            r"must (?:have|be) (?:a )?statically known",
            r"(?:convolution|pooling) operation resulted in an empty output",
            r"'images' must (?:have either 3 or 4 dimensions|be at least three-dimensional)",
            r"`?shape`? argument cannot contain `?None",
            r"[Rr]ank of (?:input|tensor).{0,30}? must be (?:known|statically)",
            r"Cannot unroll a RNN if the time dimension is undefined",
            r"time dimension is undefined",
            r"Cannot infer argument `num` from shape",
            r"should have a defined dimension but",
            r"Shape .{1,40}? is not fully defined",
            r"Cannot convert unknown Dimension",
            r"must be accessible via shape inference",
            r"does not allow indices with unknown (?:rank|shape)",
            r"Number of mask dimensions must be specified",
            r"must have statically-known rank",
        ),
        cause="A layer or operation needs a size that is not known when the model is built: the dataset's map lost the shape (decode, py_function, a parsed feature of variable length), or the input was declared with None where a number is needed. A TPU wants all sizes static anyway.",
        fix="""\
image = tf.io.decode_jpeg(bytes, channels=3); image = tf.image.resize(image, [224, 224]); image.set_shape([224, 224, 3])
x = tf.ensure_shape(x, [None, 128])                                # after py_function, parse, sparse.to_dense
inputs = keras.Input((224, 224, 3), batch_size=GLOBAL_BATCH)        # None only for the batch; drop_remainder=True
print(dataset.element_spec)                                         # <unknown> is what must not be left""",
        evidence="recalled",
        example="ValueError: The channel dimension of the inputs should be defined. The input_shape received is (None, None, None), where axis -1 is undefined.",
        yields_to=("E91",),
    ),
    KnownError(
        id="E473",
        family="stateless-scope",
        phase=Phase.BUILDING,
        patterns=(
            r"attempting to (?:create|initialize) a variable while in a stateless scope",
            r"A Keras Variable cannot be used as a boolean",
            r"Variable .{1,60}? is already initialized",
            r"stateless_apply is not supported with the TensorFlow backend",
            r"You cannot add new elements of state \(variables or sub-layers\) to a layer that is already built",
            r"shape of the target variable and the shape of the target value in `?variable\.assign",
            r"`?exclude_from_weight_decay\(\)`? can only be configured before",
        ),
        cause="Keras 3 makes variables once, before the first step: a layer that is made inside call, added to a built layer, or assigned another shape is refused.",
        fix="""\
def build(self, input_shape):                       # sub-layers and weights here or in __init__, never in call
    self.kernel = self.add_weight(shape=(input_shape[-1], self.units), name="kernel")
    super().build(input_shape)
model.build(input_shape)                             # before fit, and before the optimizer is built""",
        evidence="recalled",
        example="ValueError: You are attempting to create a variable while in a stateless scope. This is disallowed.",
    ),
)
