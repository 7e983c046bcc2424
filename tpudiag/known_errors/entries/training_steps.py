# ruff: noqa: E501  (texts of other programs stay as they are)
"""Training steps of one's own, and what compile is given: told by the frame and the sentence together."""

from __future__ import annotations

from tpudiag.known_errors.model import KnownError, Phase, Rival

ERRORS = (
    KnownError(
        id="E840",
        family="gradients-without-variables",
        phase=Phase.TRACING,
        patterns=(
            r"for grad, var in grads_and_vars.{0,300}?(?:cannot unpack|values to unpack|object is not iterable|teratingover)",
            r"filter_(?:empty_)?grad(?:ient)?s.{0,500}?(?:cannot unpack non-iterable|too many values to unpack|not enough values to unpack \(expected 2, got 1\))",
            r"zip\(\*grads_and_vars\).{0,300}?(?:object is not iterable|must support iteration|too many values to unpack|no attribute '_unique_id')",
            r"return variable\._unique_id.{0,300}?Tensor' object has no attribute '_unique_id'",
            r"optimizers?/.{0,400}?'\w{0,80}\.?EagerTensor' object has no attribute '_unique_id'",
        ),
        cause="apply_gradients was given the gradients alone: it takes pairs of a gradient and its variable, and takes each gradient apart in their place.",
        fix="""\
gradients = tape.gradient(loss, model.trainable_variables)      # the loss computed from model(x) inside the tape, else they are None
optimizer.apply_gradients(zip(gradients, model.trainable_variables))      # zip: pairs, not the list of gradients""",
        useless="Casting or reshaping the gradients changes nothing.",
        citations=("tensorflow/tensorflow#28833",),
        evidence="reproduced",
        example="""\
  File "site-packages/tf_keras/src/optimizers/utils.py", line 68, in filter_empty_gradients
    for grad, var in grads_and_vars:
ValueError: too many values to unpack (expected 2)""",
        near_miss="ValueError: too many values to unpack (expected 2)",
    ),
    KnownError(
        id="E841",
        family="no-variables-to-train",
        phase=Phase.TRACING,
        patterns=(
            r"zip\(\*grads_and_vars\).{0,300}?not enough values to unpack \(expected 2, got 0\)",
            r"No variables provided to `?optimizer",
        ),
        cause="apply_gradients was given an empty list: the model has no trainable variables. It was not built when trainable_variables was read (no Input, no call yet), or all its layers are frozen (trainable = False).",
        fix="""\
model(tf.zeros([1, *SHAPE]))                       # builds it, in strategy.scope(), before the first step; or begin with keras.Input
print(len(model.trainable_variables))              # 0: which layer.trainable is False?
variables = model.trainable_variables              # read inside the step, after the model was called""",
        evidence="reproduced",
        example="""\
    grads, trainable_variables = zip(*grads_and_vars)
ValueError: not enough values to unpack (expected 2, got 0)""",
        near_miss="ValueError: not enough values to unpack (expected 2, got 0)",
    ),
    KnownError(
        id="E842",
        family="metric-arguments",
        phase=Phase.BUILDING,
        patterns=(
            r"metrics/__init__\.py.{0,160}?obj ?= ?obj\(\).{0,120}?(?P<name>\w{1,40})\.__init__\(\) missing \d{1,2} required (?:positional|keyword-only) arguments?: '(?P<argument>\w{1,40})'",
            r"Error when deserializing class '(?P<name>MeanIoU|IoU|OneHotMeanIoU|OneHotIoU|SensitivityAtSpecificity|SpecificityAtSensitivity|PrecisionAtRecall|RecallAtPrecision|MeanRelativeError)' using config=\{\}",
            r"metrics\.py.{0,40}?in __init__.{0,900}?using a `?tf\.Tensor`? as a Python `?bool",
            r"metrics ?= ?\[[^\]]{0,120}?['\"](?P<name>MeanIoU|IoU|MeanRelativeError|PrecisionAtRecall)['\"].{0,1500}?as a Python `?bool",
            r"keras/(?:src/)?metrics/.{0,400}?got an unexpected keyword argument '(?P<argument>y_true|y_pred|sample_weight)'",
        ),
        cause="A metric was given to compile by its name, and is a class whose arguments have no defaults: Keras makes it without them (or, in older releases, calls the class with y_true and y_pred).",
        details=("It is {name}.", "What is missing is {argument}."),
        fix="""\
model.compile(optimizer, loss, metrics=[keras.metrics.MeanIoU(num_classes=CLASSES)])      # an object, with what it wants; in strategy.scope()
# labels as numbers beside outputs of one column a class: keras.metrics.OneHotMeanIoU(CLASSES, sparse_y_true=True, sparse_y_pred=False)""",
        citations=("keras-team/keras#14094",),
        evidence="reproduced",
        example="""\
  File "site-packages/keras/src/metrics/__init__.py", line 208, in get
    obj = obj()
TypeError: MeanIoU.__init__() missing 1 required positional argument: 'num_classes'""",
        near_miss="TypeError: MyModel.__init__() missing 1 required positional argument: 'num_classes'",
    ),
    KnownError(
        id="E843",
        family="step-returns",
        phase=Phase.TRACING,
        patterns=(
            r"'OptionalFromValue' Op passed list of length 0",
            r"_minimum_control_deps\(outputs\).{0,300}?NoneType into a Tensor",
            r"in run_step.{0,400}?Can ?not convert a NoneType into a Tensor or Operation",
            r"callbacks\.py.{0,60}?in on_(?:epoch|train_batch|batch|test_batch)_(?:end|begin).{0,160}?logs\.items\(\).{0,160}?object has no attribute 'items'",
            r"in fit.{0,900}?logs.{0,200}?'\w{0,80}\.?(?:Eager|Symbolic)?Tensor' object has no attribute 'items'",
            r"(?:train|test)_step.{0,900}?'\w{0,80}\.?(?:Eager|Symbolic)?Tensor' object has no attribute 'items'",
            r"(?:pythonify_logs|flatten_metrics_in_order).{0,400}?has no attribute 'items'",
            r"[Mm]odel\.(?:train|test)_step.{0,60}?(?:must|should) return a dict",
        ),
        cause="train_step (or test_step) of the model returns something else than a dict: a bare loss, a tuple, or nothing at all. Keras takes it for the logs, which are a dict of names and values.",
        fix="""\
def train_step(self, data):
    ...
    return {"loss": loss}                                        # a dict of tensors
    # return {m.name: m.result() for m in self.metrics}          # or the metrics' results, updated before""",
        evidence="reproduced",
        example="ValueError: Attr 'Toutput_types' of 'OptionalFromValue' Op passed list of length 0 less than minimum 1.",
        near_miss="AttributeError: 'list' object has no attribute 'items'",
    ),
    KnownError(
        id="E844",
        family="weights-under-strategy",
        phase=Phase.SAVING,
        patterns=(
            r"(?:load_weights|hdf5_format|saving_lib|load_own_variables|strategy).{0,3000}?unsupported operand type\(s\) for /: 'Dataset' and 'int'",
            r"unsupported operand type\(s\) for /: 'Dataset' and 'int'",
        ),
        cause="A .weights.h5 file is loaded into a compiled model under a strategy with several replicas: a variable that is summed over the replicas (of a metric) is set from HDF5's own Dataset object, which cannot be divided by their number. A bug of Keras 2.15, mended in Keras 3.",
        fix="""\
pip install -U "tensorflow>=2.16"                        # Keras 3 has it mended; or tf_keras of TensorFlow 2.16 and later
model.load_weights(path); model.compile(...)             # or, in the scope, before compile: no metric has variables yet
model.save_weights("gs://BUCKET/ckpt")                   # or without a .weights.h5 ending (TensorFlow's format, or plain .h5)""",
        rivals=(
            Rival(
                cause="weights in .h5 are loaded under a strategy",
                look_for="load_weights in the traceback",
                cues=(r"load_weights", r"hdf5_format", r"saving_lib"),
            ),
            Rival(
                cause="a dataset itself (Hugging Face, h5py) is divided in place of its length",
                look_for="a `/` or `//` in your own last line",
                fix="steps = len(dataset) // global_batch      # the number, not the dataset",
                cues=(r"Dataset.{0,40}?(?:num_rows|datasets/)",),
            ),
        ),
        citations=("keras-team/tf-keras#731", "tensorflow/tensorflow#62831"),
        evidence="reproduced",
        example="model.load_weights(MODEL_WEIGHTS_PATH)\nTypeError: unsupported operand type(s) for /: 'Dataset' and 'int'",
    ),
    KnownError(
        id="E845",
        family="saved-model-of-keras",
        phase=Phase.SAVING,
        patterns=(
            r"f\(\w{1,40}, ?training, ?training.{0,200}?\) missing \d{1,2} required arguments?",
        ),
        cause="A SavedModel was loaded and saved a second time: in it a layer of your own is no Python class any more but a stand-in that holds its traced functions, and the arguments of a call(self, inputs, *args, **kwargs) are not told apart in it.",
        fix="""\
class Block(keras.layers.Layer):
    def call(self, inputs, training=None, mask=None): ...            # its arguments by name, no *args and **kwargs
model = keras.models.load_model(path, custom_objects={"Block": Block})      # the class itself, with get_config: not the stand-in
# or save from the model that was built in Python; weights alone: model.save_weights(path)""",
        evidence="recalled",
        example="TypeError: f(inputs, training, training, training, training, *, training, training) missing 1 required argument: training",
        near_miss="TypeError: f() missing 1 required positional argument: 'x'",
    ),
    KnownError(
        id="E846",
        family="custom-loss",
        phase=Phase.BUILDING,
        patterns=(
            r"'(?P<kind>method|functools\.partial|partial)' object has no attribute '_from_serialized'",
            r"'(?P<kind>functools\.partial|partial)' object has no attribute '__name__'",
            r"(?:loss|metric)_?(?:fn|function)?\.__name__.{0,200}?object has no attribute '__name__'",
            r"(?:get_loss_function|collect_per_output_metric_info|LossFunctionWrapper|MeanMetricWrapper|get_custom_objects_by_name|in get_metric_name|in get_metric_function|in compile).{0,600}?'(?P<kind>(?!module|Module)[\w.]{1,60})' object has no attribute '__name__'",
        ),
        cause="The loss or metric that compile was given is callable but no plain function: a method of an object, a functools.partial, or an object of a class of one's own. This Keras reads a function's name (or marks the function), which these have not, or do not allow.",
        details=("It is a {kind}.",),
        fix="""\
def loss(y_true, y_pred): return self.my_loss(y_true, y_pred)      # a plain function around the method or partial
class MyLoss(keras.losses.Loss):                                     # or a Loss: has a name
    def __init__(self, weight, name="my_loss"): super().__init__(name=name); self.weight = weight
    def call(self, y_true, y_pred): ...
model.compile(optimizer, loss=MyLoss(0.5), metrics=[metric_function])      # partial: f = functools.partial(...); f.__name__ = "f\"""",
        citations=("tensorflow/tensorflow#58068", "tensorflow/tensorflow#38319"),
        example="AttributeError: 'method' object has no attribute '_from_serialized'",
        near_miss="AttributeError: 'module' object has no attribute '__name__'",
    ),
    KnownError(
        id="E847",
        family="custom-loss",
        phase=Phase.BUILDING,
        patterns=(
            r"got 'auto' of type 'str' instead",
            r"Expected float32, but got auto of type 'str'",
            r"(?:_validate_compile|compile_utils).{0,300}?'property' object is not iterable",
            r"'property' object is not iterable.{0,200}?metric",
        ),
        cause="compile was given the class of a loss or metric where it wants an object: Keras calls the class with (y_true, y_pred), which it takes for its own arguments (reduction, name).",
        fix="""\
model.compile(optimizer="adam", loss=keras.losses.MeanSquaredError(), metrics=[keras.metrics.AUC()])      # with ( )
model.compile(optimizer="adam", loss=keras.losses.mean_squared_error)                                      # or the function, without""",
        evidence="reproduced",
        example="TypeError: Expected float32 passed to parameter 'y' of op 'Equal', got 'auto' of type 'str' instead. Error: Expected float32, but got auto of type 'str'.",
        near_miss="TypeError: 'property' object is not iterable",
    ),
    KnownError(
        id="E848",
        family="loop-in-function",
        phase=Phase.TRACING,
        patterns=(
            r"\w{0,40}model\w{0,40}\.(?P<name>predict|evaluate|fit|train_on_batch|predict_on_batch|test_on_batch)\(.{0,900}?'SymbolicTensor' object has no attribute 'numpy'",
            r"keras/src/(?:backend/tensorflow/)?trainer\w{0,2}\.py.{0,80}?in (?P<name>predict|evaluate|fit|train_on_batch|predict_on_batch)\b.{0,1500}?'SymbolicTensor' object has no attribute 'numpy'",
        ),
        cause="A training loop of Keras (predict, evaluate, fit) is called inside a tf.function, a train step or dataset.map: it wants values, and there are none while the function is traced.",
        details=("It is model.{name}.",),
        fix="""\
outputs = model(x, training=False)      # inside a tf.function, a step or dataset.map: the model itself, in place of model.predict(x)
outputs = model.predict(x)              # or outside: without @tf.function on the function that calls it""",
        evidence="reproduced",
        example="        y = model.predict(a)\n    AttributeError: 'SymbolicTensor' object has no attribute 'numpy'",
        near_miss="AttributeError: 'SymbolicTensor' object has no attribute 'numpy'",
    ),
    KnownError(
        id="E849",
        family="steps-unrolled",
        phase=Phase.TRACING,
        patterns=(r"unusually high number of `?(?:tf\.data\.)?Iterator\.get_next\(\)`? calls",),
        cause="One traced function takes more than 32 batches: a Python loop that is unrolled, each turn with its own next(iterator). In Keras 3 that is steps_per_execution above 32 (releases of 2024, up to about 3.6, unroll its steps); in code of one's own `for batch in dataset` in a function that AutoGraph does not convert.",
        fix="""\
model.compile(..., steps_per_execution=32)               # 32 at most; or pip install -U keras
@tf.function                                            # AutoGraph on: the loop becomes one of the graph
def epoch(iterator):
    for _ in tf.range(STEPS): strategy.run(step, args=(next(iterator),))""",
        citations=("keras-team/keras#20344",),
        example="ValueError: An unusually high number of `tf.data.Iterator.get_next()` calls was detected. This suggests that the `for elem in dataset: ...` idiom is used within tf.function with AutoGraph disabled.",
    ),
    KnownError(
        id="E850",
        family="legacy-layers",
        phase=Phase.BUILDING,
        patterns=(
            r"The following are legacy tf\.layers\.Layers",
            r"in assert_no_legacy_layers",
        ),
        cause="A layer of one's own is derived from tf.layers.Layer (TensorFlow 1's, tf.compat.v1.layers) and is used in a Keras model, which takes layers of Keras alone.",
        fix="""\
class MyLayer(tf.keras.layers.Layer):            # in place of tf.layers.Layer; add_weight and call stay as they are
    def __init__(self, **kwargs): super().__init__(**kwargs)""",
        citations=("strongio/keras-bert#14",),
        example="TypeError: The following are legacy tf.layers.Layers:\n  <__main__.BertLayer object at 0x7f6f>\nTo use keras as a framework",
    ),
    KnownError(
        id="E851",
        family="load-model",
        phase=Phase.SAVING,
        patterns=(
            r"Layer '?\"?(?P<name>[\w.-]{1,60})'?\"? expected 1 input\(s\)\. Received 2 instead",
        ),
        cause="A saved Keras model in which a functional model (an application such as EfficientNet) stands inside a Sequential is loaded by Keras 3.4 or later, which takes the inner model's outputs in the file for two. The file itself is whole.",
        details=("The layer behind it is {name}.",),
        fix="""\
pip install keras==3.3.3                               # loads it; newer: the model from its code and model.load_weights(path)
x = base.output; outputs = keras.layers.Dense(CLASSES)(keras.layers.GlobalAveragePooling2D()(x))
model = keras.Model(base.input, outputs)               # saved anew: functional throughout, in place of Sequential([base, ...])""",
        citations=("tensorflow/tensorflow#63853",),
        example="ValueError: Layer 'dense' expected 1 input(s). Received 2 instead.",
    ),
    KnownError(
        id="E852",
        family="load-model",
        phase=Phase.SAVING,
        patterns=(
            r"(?:legacy/saving/saving_utils|_resolve_compile_arguments_compat|legacy_h5_format).{0,900}?string indices must be integers",
        ),
        cause="load_model of Keras 3 reads the model of a .h5 file and fails at compile's part of it: the loss or metric is a function of one's own, which the file names in a way that this part of Keras 3 does not read.",
        fix="""\
model = keras.models.load_model(path, compile=False)      # the model whole, without its loss and optimizer; then compile
model.compile(optimizer, loss=my_loss)
model.save("model.keras")                                 # the format that keeps both""",
        evidence="reproduced",
        example="""\
  File "keras/src/legacy/saving/saving_utils.py", line 244, in _resolve_compile_arguments_compat
    obj = module.get(obj_config["config"]["name"])
TypeError: string indices must be integers, not 'str'""",
        near_miss="TypeError: string indices must be integers, not 'str'",
    ),
    KnownError(
        id="E853",
        family="input-structure",
        phase=Phase.READING,
        patterns=(r"Please do not pass a dictionary as model inputs",),
        cause="Keras of TensorFlow 1 takes no dict of inputs for a subclassed model: only functional models have names for their inputs there.",
        fix="""\
model.fit([x["a"], x["b"]], y)                       # a list, in the order in which call(self, inputs) takes them apart
model = keras.Model([input_a, input_b], outputs)     # or a functional model: a dict by its inputs' names
pip install -U tensorflow                            # 2.2 and later take dicts for subclassed models""",
        citations=("tensorflow/tensorflow#19912",),
        example="ValueError: Please do not pass a dictionary as model inputs.",
    ),
)
