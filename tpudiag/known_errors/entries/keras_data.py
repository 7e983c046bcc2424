# ruff: noqa: E501  (texts of other programs stay as they are)
"""What Keras's fit, evaluate and predict say of the data that they are given."""

from __future__ import annotations

from tpudiag.known_errors.model import Kind, KnownError, Phase

ERRORS = (
    KnownError(
        id="E460",
        family="data-adapter",
        phase=Phase.READING,
        patterns=(
            r"When providing `?x`? as a .{1,80}?, `?(?P<argument>\w{1,20})`? should not be passed",
            r"Expected all elements of `?x`? to be array-like",
            r"You cannot (?:specify )?`?class_weight`? and `?sample_weight`? at the same time",
            r"`?sample_weight`? and `?class_weight`? cannot be specified at the same time",
            r"You should provide one `?sample_weight`? array per output",
            r"the generator must (?:yield at least one batch|return a tuple)",
            r"Output of generator should be a tuple",
            r"__getitem__\(\) must return a tuple or a dict",
            r"implement the `?num_batches`? property",
            r"not sufficient to split it into a validation and training set",
            r"When passing (?:a dataset|an? \w{1,20} ?generator) to a Keras model",
            r"Expected (?:a NumPy array|argument `?dataset`?|`?dataset`?).{0,300}?(?:Received|but got)",
            r"`?validation_data`? .{0,60}?(?:must|should) be",
            r"Data is expected to be in format `?x`?, `?\(x,\)`?",
            r"`?steps_per_epoch=None`? is only valid for",
            r"When using (?:data|symbolic) tensors.{0,60}?you should specify the `?steps",
            r"The `?batch_size`? argument must not be specified",
            r"you must specify a value for `?validation_steps",
            r"`?(?:validation_steps|steps_per_epoch|steps)=None`? is only valid",
            r"Please specify (?:the )?(?:number of steps via the )?`?(?:validation_)?steps",
            r"Number of steps could not be inferred",
            r"We cannot draw that many steps",
            r"Target data is missing",
            r"Please provide (?:model inputs|as model inputs) (?:as a list|either)",
            r"as input to a model, you should specify the",
            r"accept tf\.data `?Datasets`? as input but not iterators",
            r"Do not pass inputs that mix Numpy arrays and TensorFlow",
            r"sparse matrix was passed to a model",
            r"`?validation_data`? argument, it must contain",
            r"You cannot pass a dictionary as model",
            r"Found a sample_weight",
            r"TypeError while preparing batch",
            r"data should be a Numpy array, or list/dict",
            r"you cannot use `?validation_split",
            r"Data adapters should be mutually exclusive",
            r"Data and targets have to be of same length",
            r"Received sample weight with shape",
            r"single `sample_weight` array, it should only have",
            r"Dataset input to the model should be tensors instead",
            r"Mismatch between expected batch size and model output batch size",
        ),
        cause="What fit, evaluate or predict was given is not of a form that Keras takes: a generator or Sequence that yields no (inputs, targets) tuple or nothing at all, an element of the dataset without a batch dimension, labels, batch size or weights passed twice, or both kinds of weights.",
        details=("The argument is {argument}.",),
        fix="""\
dataset = dataset.batch(global_batch, drop_remainder=True)          # elements (inputs, labels[, weights]), each with a batch dimension
print(dataset.element_spec)                                         # a tuple; rank 1 or more everywhere
model.fit(dataset, epochs=EPOCHS, steps_per_epoch=N // global_batch)   # no y=, no batch_size=, no validation_split= beside a dataset
# class_weight: map it into the dataset: lambda x, y: (x, y, tf.gather(weights, y))
# a generator on a TPU: write TFRecord once instead, Python cannot feed it fast enough""",
        citations=("tensorflow/tensorflow#47769",),
        example="ValueError: When providing `x` as a tf.data.Dataset, `y` should not be passed. Instead, the targets should be included as part of the tf.data.Dataset.",
        yields_to=("E90", "E876"),
    ),
    KnownError(
        id="E461",
        family="input-structure",
        phase=Phase.TRACING,
        patterns=(
            r"y_true and y_pred have different structures",
            r"(?:can't be found|cannot be found) in (?:either )?the model's output",
            r"Expected keys .{1,200}? in loss dict",
            r"The structure of `?inputs`? doesn't match the expected structure",
            r"should contain metrics objects and (?:either )?(?:be a dict|match the output)",
            r"`?loss_weights`? must match the number of losses",
            r"Layer .{1,60}? expects \d{1,3} (?:named )?input\(?s?\)?.{0,60}?but it received (?P<got>\d{1,3}) input tensor",
            r"No data provided for \W?(?P<name>[\w/:-]{1,60})",
            r"Error when checking model (?:input|target).{0,80}?the list of Numpy arrays that you are passing",
            r"Missing data for input \W?(?P<name>[\w/:-]{1,60})",
            r"Expected to see (?P<wanted>\d{1,3}) array\(s\)",
            r"the number of values in `?y_true`? \(.{1,20}?must match",
            r"Found unexpected (?:losses|metrics) .{0,120}?(?:outputs?|keys)",
            r"Unknown entries in (?:loss|metrics?|loss_weights|sample_weight\w{0,6}) dictionary",
            r"The model expects \d{1,3} (?:input )?arrays?, but only received",
            r"When passing a list as loss,? it should have one entry per model output",
            r"Invalid input shape for input .{1,160}?Expected shape",
            r"The input .{1,80}? is not optional, but None was passed",
            r"you are passing a list as input to your model, but",
            r"was a list of \d{1,4} elements, but the model has \d{1,4} outputs",
            r"should have one entry per model output",
            r"The model has multiple outputs, so",
            r"Could not compute output .{0,20}?(?:Tensor|KerasTensor)",
        ),
        cause="What the dataset yields and what the model, its losses or its metrics take do not match: other names, another number of inputs or outputs, a dict where a tuple is expected.",
        details=("The name is {name}.", "The model was given {got} tensors."),
        fix="""\
print(dataset.element_spec); print(model.input, model.output, model.output_names)      # names and number of both sides
dataset = dataset.map(lambda d: ({"ids": d["ids"], "mask": d["mask"]}, d["label"]))      # ({input name: tensor}, labels)
model.compile(loss={"head_a": "mse", "head_b": "mae"}, metrics={"head_a": ["mae"]})      # one entry for each output, by its name""",
        evidence="recalled",
        example="ValueError: y_true and y_pred have different structures. y_true: * y_pred: {'a': *}",
        yields_to=("E181", "E708"),
    ),
    KnownError(
        id="E462",
        family="no-loss",
        phase=Phase.BUILDING,
        patterns=(
            r"No loss to compute\. Provide a `?loss`? argument",
            r"No loss found\. You may have forgotten to provide a `?loss`?",
            r"The model cannot be compiled because it has no loss",
            r"The model must be compiled with a loss",
            r"must have a `?loss`? (?:to|in order to) (?:optimize|train)",
            r"model cannot be (?:trained|evaluated) because it has no loss",
        ),
        cause="The model has nothing to minimise: compile was given no loss, the dataset yields no labels, or the labels are None.",
        fix="""\
model.compile(optimizer="adam", loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
print(dataset.element_spec)                     # (inputs, labels): with inputs alone there is no loss to compute
self.add_loss(loss)                             # where a layer or a model computes it itself (Hugging Face models with labels among the inputs)""",
        evidence="recalled",
        example="ValueError: No loss to compute. Provide a `loss` argument in `compile()`.",
    ),
    KnownError(
        id="E463",
        family="keras-argument",
        phase=Phase.BUILDING,
        kind=Kind.BROAD,
        patterns=(
            r"Invalid value for argument `?(?P<argument>\w{1,40})",
            r"Invalid `?(?P<argument>\w{1,40})`? argument value",
            r"Invalid `?(?P<argument>\w{1,40})`? argument\.",
            r"Argument `?(?P<argument>[A-Za-z_]\w{0,40})`? (?:must|should|needs to) be",
            r"Expected `?(?P<argument>\w{1,40})`? argument to be",
            r"`(?P<argument>\w{1,40})` (?:argument )?(?:must|should|needs to) be .{1,160}?Received:?",
            r"Expected `(?P<argument>\w{1,40})` to be .{1,160}?Received:?",
            r"Only one of `?clipnorm`?, `?clipvalue`?",
            r"Threshold values must be in \[0, 1\]",
            r"Invalid (?:AUC )?(?:curve|summation method) value",
            r"Unrecognized save_freq",
            r"ReduceLROnPlateau does not support",
            r"length of boundaries should be 1 less than the length of values",
            r"LossScaleOptimizer (?:no longer supports|does not support|cannot be)",
            r"Cannot (?:interpret|convert) .{1,80}? (?:to a mixed precision )?(?:dtype ?polic|`?dtype`? argument)",
            r"Invalid `?policy`? argument",
            r"Unknown floatx type",
            r"Unknown (?:initializer|regularizer|constraint|activation|padding|interpolation|data_format|dtype|policy)(?: function)?:",
            r"The `?(?P<argument>\w{1,40})`? argument must be (?:one of|in|a|an) ",
            r"Error: (?:Unexpected|Unrecognized|Unknown|Invalid) keywords? argument\(?s?\)?(?: passed| in|:)",
            r"keyword arguments passed to `?\w{1,30}`? aren.t supported",
            r"\w{4,20} callback received monitor=",
            r"`(?:sparse|ragged)=True` can(?:not)? (?:only )?be used with (?:the )?(?:backend|TensorFlow)",
            r"When providing the `input_tensor` argument, you cannot provide an incompatible",
            r"Number of groups .{1,12}? (?:cannot be more than|must be a multiple of) the number of channels",
            r"Lora is incompatible with",
            r"Invalid einsum equation '",
            r"cannot be set to .{1,30}?, because the mixed precision graph rewrite",
            r"Unknown `?floatx`? (?:value|type)",
        ),
        cause="Keras refuses the value of an argument: the message says which values it takes and what it received. Mostly a name or a form of another Keras release, or a number out of its range.",
        details=("The argument is {argument}.",),
        fix="""\
python -c "import keras; print(keras.__version__); help(keras.losses.Loss.__init__)"      # what this release takes: the class that the message comes from
# Keras 3: reduction="sum_over_batch_size", "sum" or None (not tf.keras.losses.Reduction.*), mode= of callbacks spelled out, thresholds in [0, 1]
pip install --no-deps "<<keras2>>"; export TF_USE_LEGACY_KERAS=1        # a script for Keras 2 that shall stay as it is (the tf-keras of your TensorFlow)""",
        evidence="recalled",
        example="ValueError: Invalid value for argument `reduction`. Expected one of ['sum', None]. Received: reduction=auto",
        near_miss="INFO: argument parser ready, value for lr is 0.1",
    ),
    KnownError(
        id="E464",
        family="metric-shapes",
        phase=Phase.TRACING,
        patterns=(
            r"Score expects 2D inputs",
            r"`?y_pred`? must have rank 2 when",
            r"When class_id is provided, y_pred must be a 2D array",
            r"(?:Logits|Targets) `?y_(?:pred|true)`? are expected to be a tensor of shape",
            r"Target class id \d{1,6} is out of range",
            r"at least one valid confusion matrix variable",
            r"Shape of (?:labels|y_true) .{0,60}?(?:must|should) match (?:predictions|y_pred)",
            r"`?labels`? out of bound",
        ),
        cause="A metric is given predictions or labels of a shape or range it is not made for: class numbers where one-hot vectors are wanted (or the reverse), logits where probabilities between 0 and 1 are wanted, a sequence dimension that it does not expect.",
        fix="""\
keras.metrics.SparseCategoricalAccuracy()                        # labels are class numbers; CategoricalAccuracy: one-hot
keras.metrics.AUC(from_logits=True)                              # the model ends without sigmoid; or end it with one, in float32
y_pred = keras.ops.reshape(y_pred, (-1, NUM_CLASSES))            # a sequence: every token is an example""",
        evidence="recalled",
        example="ValueError: F1Score expects 2D inputs with shape (batch_size, output_dim). Received input shapes: y_pred.shape=(8, 4, 2) and y_true.shape=(8, 4).",
    ),
    KnownError(
        id="E465",
        family="clipping-under-strategy",
        phase=Phase.BUILDING,
        patterns=(
            r"Gradient clipping in the optimizer.{0,80}?(?:currently )?unsupported when using a distribution strategy",
            r"(?:unsupported|not supported).{0,40}?distribution strategy.{0,60}?clip(?:norm|value)",
        ),
        cause="Optimizers of TensorFlow before 2.4 do not clip gradients under a strategy: they would clip before the replicas' gradients are summed, which is another thing.",
        fix="""\
pip install -U tensorflow                                        # 2.4 and later clip after the sum; Keras 3 too
# in a train_step of your own, in any version: sum first, then clip
grads = tf.distribute.get_replica_context().all_reduce(tf.distribute.ReduceOp.SUM, grads)
grads, _ = tf.clip_by_global_norm(grads, 1.0)
optimizer.apply_gradients(zip(grads, model.trainable_variables), experimental_aggregate_gradients=False)""",
        useless="OneDeviceStrategy: it is a strategy too.",
        citations=("TensorSpeech/TensorFlowTTS#657", "tensorflow/tensorflow#33929"),
        example="ValueError: Gradient clipping in the optimizer (by setting clipnorm or clipvalue) is currently unsupported when using a distribution strategy.",
    ),
    KnownError(
        id="E466",
        family="optimizer-state",
        phase=Phase.SAVING,
        level="warning",
        patterns=(
            r"Skipping variable loading for optimizer '?(?P<name>\w{1,30})'?, because it has (?P<has>\d{1,6}) variables whereas the saved optimizer has (?P<saved>\d{1,6})",
            r"Skipping variable loading for optimizer",
            r"Could not restore the state of the optimizer",
            r"Error in loading the saved optimizer state",
        ),
        cause="The weights were restored, the optimizer's state was not: the optimizer has no slots yet (it makes them at its first step), or the model's trainable variables are others than when it was saved. Training starts with fresh moments: the loss may jump, nothing else is lost.",
        details=("The optimizer has {has} variables, the saved one {saved}.",),
        fix="""\
with strategy.scope():
    model = build_model(); model.compile(...)
    model.optimizer.build(model.trainable_variables)             # slots first
    model.load_weights("model.weights.h5")
# freeze and unfreeze the same layers before loading as when it was saved; for prediction alone: load_model(path, compile=False)""",
        citations=("keras-team/keras#20568",),
        example="UserWarning: Skipping variable loading for optimizer 'adam', because it has 2 variables whereas the saved optimizer has 369 variables.",
    ),
)
