# ruff: noqa: E501  (texts of other programs stay as they are)
"""What Keras 2 (TensorFlow 1.13 to 2.15) says of a TPU, of batches, inputs and options."""

from __future__ import annotations

from tpudiag.known_errors.model import KnownError, Phase

ERRORS = (
    KnownError(
        id="E704",
        family="stateful-rnn",
        phase=Phase.BUILDING,
        patterns=(
            r"RNNs with stateful=True (?:are )?not (?:yet )?supported with tf\.distribute",
            r"Single core must be used for computation on stateful models",
            r"stateful RNNs? .{0,60}?(?:TPU|[Ss]trategy).{0,60}?not supported",
        ),
        cause="A recurrent layer with stateful=True under a strategy: its state belongs to one batch on one core, and each replica has a batch of its own. TensorFlow runs such a layer on one core only.",
        fix="""\
keras.layers.LSTM(UNITS, stateful=False)                    # under the strategy; longer sequences in place of the kept state
serving = build_model(stateful=True); serving.set_weights(model.get_weights())     # for the prediction step by step: on the CPU, outside the scope
# or one core: topology = tf.tpu.experimental.initialize_tpu_system(resolver)
#   tf.distribute.TPUStrategy(resolver, experimental_device_assignment=tf.tpu.experimental.DeviceAssignment.build(topology, num_replicas=1))
# one core, a loop of your own: h, c as arguments and results of the step""",
        evidence="recalled",
        example="ValueError: RNNs with stateful=True not yet supported with tf.distribute.Strategy.",
    ),
    KnownError(
        id="E705",
        family="keras-to-tpu-model",
        phase=Phase.BUILDING,
        patterns=(
            r"has a variable shape in a non-batch dimension\. {0,2}TPU models must have constant shapes",
            r"For model replication, only \(bfloat16, float32 and int32\) is supported",
            r"The function passed as the `x` parameter did not return a `tf\.data\.Dataset`",
            r"The dataset must return a (?:tuple of tf\.Tensors|2-element tuple)",
            r"The dataset returns a (?:scalar tensor|non-Tensor type)",
            r"The infeed tensors on TPU core has only \d",
            r"RuntimeError: Keras support is now deprecated in support of TPU Strategy",
            r"`?strategy`? must have type `tf\.contrib\.tpu\.TPUDistributionStrategy",
            r"This model is a subclassed model\. Such a model cannot be cloned",
        ),
        cause=(
            "The trial way of TensorFlow 1.11 to 1.13 (tf.contrib.tpu.keras_to_tpu_model) refuses the model or its data: it clones the model"
            " and compiles it with fixed sizes, so it takes Sequential and functional models only, with every dimension but the batch known,"
            " and datasets of (x, y) tuples, batched with a fixed size. It is gone since TensorFlow 1.15."
        ),
        fix="""\
with strategy.scope(): model = make_model(); model.compile(...)            # TensorFlow 2: tf.distribute.TPUStrategy in place of keras_to_tpu_model
keras.Input(shape=(MAX_LENGTH,)); keras.layers.Embedding(V, D, input_length=MAX_LENGTH)     # every dimension but the batch's a number
model.fit(lambda: dataset.batch(1024, drop_remainder=True).repeat(), steps_per_epoch=N)    # TensorFlow 1.13: a function that returns the dataset of (x, y)
model = keras.Model(inputs=x, outputs=y)                                    # functional, not a subclass of Model""",
        citations=("googlecodelabs/feedback#621",),
        example="ValueError: Layer <Dense> has a variable shape in a non-batch dimension.  TPU models must have constant shapes for all operations.",
    ),
    KnownError(
        id="E706",
        family="fixed-batch-size",
        phase=Phase.READING,
        patterns=(
            r"`batch_size` argument value (?P<given>\d{1,9}) is incompatible with the specified batch size of your Input Layer: (?P<made>\d{1,9})",
            r"The batch output shape of your `Dataset` is (?P<given>\w{1,12}), which is incompatible with the specified batch size of your Input Layer: (?P<made>\d{1,9})",
            r"batch size from input tensor is different from the input param",
        ),
        cause="The model's input has a fixed batch size (Input(batch_size=...), batch_shape, batch_input_shape), and the data has another: under a strategy the layer sees the batch of one replica, the dataset that of all.",
        details=("The model was made for {made}, and {given} comes.",),
        fix="""\
inputs = keras.Input(shape=SHAPE)                                     # no batch size in the model; the dataset fixes it
dataset = dataset.batch(global_batch, drop_remainder=True)            # global_batch = batch of a replica * strategy.num_replicas_in_sync
inputs = keras.Input(shape=SHAPE, batch_size=global_batch // strategy.num_replicas_in_sync)     # if it must be fixed""",
        evidence="recalled",
        example="ValueError: The `batch_size` argument value 128 is incompatible with the specified batch size of your Input Layer: 64",
    ),
    KnownError(
        id="E707",
        family="schedule-types",
        phase=Phase.TRACING,
        patterns=(
            r"Boundaries \(.{1,60}?\) must have the same dtype as x \(.{1,60}?\)",
            r"Values must have elements all with the same dtype",
            r"PiecewiseConstant(?:Decay)?.{0,200}?(?:same dtype|dtype mismatch)",
            r"The length of boundaries should be 1 less than the length of values",
        ),
        cause="A learning-rate schedule by steps: its boundaries are of another type than the step that it is asked with (int64 from the optimizer, int32 or float in your list), its values are of mixed types, or there is not one value more than there are boundaries.",
        fix="""\
keras.optimizers.schedules.PiecewiseConstantDecay(boundaries=[1000, 2000], values=[1e-2, 1e-3, 1e-4])     # whole numbers; floats, one more
class Schedule(keras.optimizers.schedules.LearningRateSchedule):
    def __call__(self, step): step = tf.cast(step, tf.float32); ...         # one type first of all
tf.cast(tf.compat.v1.train.get_global_step(), tf.int32)                     # TensorFlow 1: the step as the boundaries are""",
        evidence="recalled",
        example="ValueError: Boundaries (<dtype: 'int32'>) must have the same dtype as x (<dtype: 'int64'>).",
    ),
    KnownError(
        id="E708",
        family="outputs-by-name",
        phase=Phase.BUILDING,
        patterns=(
            r"Found unexpected keys that do not correspond to any Model output: (?:dict_keys\()?(?P<given>[\[{].{1,120}?[\]}])\)?\. Expected: (?P<wanted>.{1,120})",
            r"Found unexpected losses or metrics that do not correspond to any Model output: (?:dict_keys\()?(?P<given>[\[{].{1,120}?[\]}])",
            r"Provided `\w{1,30}` was a list of \d{1,3} elements, but the model has \d{1,3} outputs",
            r"Unable to match target structure and sample_weight_modes structure",
            r"In the dict argument `\w{1,20}`, key [`'\"]?(?P<given>\w{1,60})[`'\"]? does not correspond to any model output",
            r"Unknown entr(?:y|ies) in (?:loss|metrics|sample_weight_mode|loss_weights|weighted_metrics)? ?dictionary:? .{0,120}?[Oo]nly expected",
        ),
        cause="Losses, metrics, labels or weights are given by name, and a name is none of the model's outputs: the output's name is that of its last layer (dense_1, not what you call it), or the model gives one tensor and no dict.",
        details=("Given: {given}.", "The outputs are {wanted}."),
        fix="""\
print(model.output_names)                                                  # the names that count
outputs = {"head": keras.layers.Dense(10, name="head")(x)}                   # the layer named as in loss, metrics and the dataset
model.compile(loss={"head": "mse"}, metrics={"head": ["mae"]}); dataset = dataset.map(lambda x, y: (x, {"head": y}))
# a subclassed model: call() returns a dict with those very keys""",
        evidence="recalled",
        example="ValueError: Found unexpected keys that do not correspond to any Model output: dict_keys(['a']). Expected: ['b']",
    ),
    KnownError(
        id="E709",
        family="integers-into-layer",
        phase=Phase.BUILDING,
        patterns=(
            r"Unable to build `?\w{1,40}`? layer with non-floating point dtype",
            r"RNN cell only supports floating point inputs",
            r"A (?:`)?Dense(?:`)? layer can only be built with a floating-point dtype",
        ),
        cause="A layer with weights gets whole numbers (int32, uint8, bool): a raw image, ids without an Embedding, or an Input with an integer dtype.",
        fix="""\
x = tf.cast(x, tf.float32) / 255.0                                     # in dataset.map, or keras.layers.Rescaling(1 / 255)
inputs = keras.Input(shape=SHAPE, dtype="float32")                      # ids: keras.layers.Embedding(V, D)(ids) first""",
        evidence="recalled",
        example="TypeError: Unable to build `Dense` layer with non-floating point dtype <dtype: 'int32'>",
    ),
    KnownError(
        id="E710",
        family="not-all-inputs-symbolic",
        phase=Phase.BUILDING,
        patterns=(
            r"It appears you are trying to construct a functional model, but not all of the inputs",
            r"The initial state or constants of an RNN layer cannot be specified (?:with|via) a mix of Keras",
            r"Cannot clone a `?Sequential`? model on top of a tensor that comes from a Keras layer other than",
        ),
        cause="One call of a layer mixes tensors of the model being built (from keras.Input) with others: a constant, a variable, a NumPy array, or a tensor of another model.",
        fix="""\
layer([a, b])                                                             # all inputs in the first argument, each from keras.Input or a layer
state = keras.layers.Lambda(lambda t: tf.zeros([tf.shape(t)[0], UNITS]))(x)   # a constant as the output of a layer
class Block(keras.layers.Layer): ...                                       # or the whole call within a layer of your own""",
        evidence="recalled",
        example="ValueError: It appears you are trying to construct a functional model, but not all of the inputs in the first positional argument of your layer call are symbolic tensors.",
    ),
    KnownError(
        id="E711",
        family="vocabulary-layers",
        phase=Phase.BUILDING,
        patterns=(
            r"The passed vocabulary has the correct (?:mask|OOV) token",
            r"Reserved (?:mask|OOV) token .{1,60}? was found in the passed vocabulary",
            r"The dataset passed to ['\"]?adapt(?:\(\))?['\"]? (?:has an infinite number|must contain a single tensor)",
            r"(?:StringLookup|IntegerLookup|TextVectorization|CategoryEncoding|Hashing) may only have a dtype",
            r"is not a supported (?:standardization|splitting)\. ?TextVectorization",
            r"you need to call `adapt\(\)` (?:on it )?before using it",
            r"set the number of elements, the layer's 'max_tokens' arg",
            r"The mean and/or variance of a Normalization preprocessing layer were set without",
            r"df_data must be (?:set|the same length)",
            r"You must (?:set|call) .{0,60}?vocabulary.{0,60}?before (?:calling|using)",
            r"num_elements cannot be changed after the layer is called",
            r"A `CategoryCrossing` layer should be called on a list",
        ),
        cause="A preprocessing layer (TextVectorization, StringLookup, CategoryEncoding, Normalization) has no vocabulary or statistics yet, or what it is given does not fit: special tokens in the wrong places of the list, an endless dataset for adapt(), another type.",
        fix="""\
layer.adapt(dataset.map(lambda x, y: x).take(1000))                        # before the model is built, outside strategy.scope(), of a finite dataset
layer = keras.layers.StringLookup(vocabulary=words)                         # the words alone, without "" and "[UNK]"; or the list of get_vocabulary() whole
dataset = dataset.map(lambda x, y: (layer(x), y))                           # strings on the host: a TPU takes none""",
        evidence="recalled",
        example="ValueError: Reserved OOV token [UNK] was found in the passed vocabulary at index 5. Please either remove the reserved token from the vocabulary",
    ),
    KnownError(
        id="E712",
        family="batch-normalisation-options",
        phase=Phase.BUILDING,
        patterns=(
            r"Passing (?:both )?fused=True .{0,60}?is unsupported",
            r"[Uu]nsupported axis, fused batch norm only supports",
            r"Batch normalization layers with .?fused=True.? only support 4D",
            r"When using virtual_batch_size, ",
            r"virtual_batch_size must be a positive integer that divides",
            r"renorm_clipping .{1,60}? contains keys not in",
        ),
        cause="Options of BatchNormalization that exclude each other: fused=True takes 4D tensors, axis 1 or 3, and neither renorm nor virtual_batch_size; virtual_batch_size must divide the batch of a replica.",
        fix="""\
keras.layers.BatchNormalization()                                        # no fused, renorm or virtual_batch_size: Keras 3 has none of them
keras.layers.BatchNormalization(synchronized=True)                        # statistics over all replicas: what small batches of a replica need""",
        evidence="recalled",
        example="ValueError: Passing both fused=True and renorm=True is unsupported",
    ),
    KnownError(
        id="E713",
        family="python-state-in-callback",
        phase=Phase.TRACING,
        patterns=(
            r"Callback's method contains Python state and should be called outside of",
            r"Cannot get value inside Tensorflow graph function",
            r"Cannot create an execution function which is comprised of elements from multiple graphs",
        ),
        cause="keras.backend.get_value, a callback or K.function is asked for a value while a graph is traced: a number for Python exists only when the step runs, not while it is built.",
        fix="""\
keras.backend.get_value(optimizer.learning_rate)             # outside tf.function and call(); in a callback's on_epoch_end
tf.print(x)                                                   # CPU and GPU only; for a TPU return the value from the step
outputs = keras.Model(model.input, model.get_layer("x").output).predict(data)     # in place of K.function""",
        evidence="recalled",
        example="RuntimeError: Cannot get value inside Tensorflow graph function.",
    ),
    KnownError(
        id="E714",
        family="saved-model-of-keras",
        phase=Phase.SAVING,
        patterns=(
            r"Error when loading from SavedModel -- the following models could not be initialized",
            r"Loading a saved_model containing ShardedVariable",
            r"Unable to decode config: ",
            r"(?:Function|Object) \w{1,60} missing from serialized (?:function|object) dict",
            r"Saved configuration not understood",
            r"This Keras op layer was generated from .{1,80}?, a method that is not an exposed in the TensorFlow API",
        ),
        cause="A Keras model in SavedModel format cannot be made again: another release of TensorFlow or Keras wrote it, its own layers lack get_config, a part of its files is missing, or its variables were sharded.",
        fix="""\
model = keras.models.load_model(path, custom_objects={"Layer": Layer})      # the release that saved it: saved_model.pb names it (saved_model_cli show --dir PATH --all)
model.save_weights("gs://BUCKET/w.weights.h5")                              # in the old release; then build the model from code and load_weights
layer = keras.layers.TFSMLayer(path, call_endpoint="serving_default")       # Keras 3: to run it only""",
        evidence="recalled",
        example="ValueError: Error when loading from SavedModel -- the following models could not be initialized: ['model']",
    ),
    KnownError(
        id="E802",
        family="legacy-optimizer-wanted",
        phase=Phase.BUILDING,
        patterns=(
            r"optimizer is not an object of tf\.keras\.optimizers\.(?:legacy\.)?Optimizer",
            r"(?:must|should) be an instance of `?(?:tf\.)?keras\.optimizers\.legacy\.Optimizer",
        ),
        cause="A wrapper around an optimizer (MovingAverage, SWA or Lookahead of TensorFlow Addons, a project's own) was written for Keras' old optimizers, and gets one of the new kind, which Keras 2.11 to 2.15 make.",
        fix="""\
optimizer = tfa.optimizers.MovingAverage(keras.optimizers.legacy.SGD(rate))      # Keras 2.11 to 2.15: the old kind by its name
optimizer = keras.optimizers.SGD(rate, use_ema=True, ema_momentum=0.999)          # Keras' own moving average, in place of the wrapper; Keras 3 has no other
pip install "tensorflow==2.10.*" "tensorflow-addons==0.18.*"                      # where the old kind was the only one""",
        evidence="recalled",
        example="TypeError: optimizer is not an object of tf.keras.optimizers.legacy.Optimizer",
    ),
)
