# ruff: noqa: E501  (sentences and what is pasted stay in one piece)
"""Wordings of Keras: its layers, models and training loop."""

from __future__ import annotations

from .wording import Wording, Wordings

KERAS: Wordings = {
    "P28": (
        Wording(
            r"has no attribute '_?(?P<name>outbound_nodes|inbound_nodes|_outbound_nodes|_inbound_nodes)'",
            "A layer of one Keras is used by the functions of another: `keras` and `tensorflow.keras` (or `tensorflow.python.keras`) are both imported, here or in a library that builds the model, and each keeps `<<name>>` under its own name.",
            "from tensorflow.keras import layers, models      # everywhere the same: no `import keras`, no tensorflow.python.keras beside it\nos.environ['SM_FRAMEWORK'] = 'tf.keras'; from classification_models.tfkeras import Classifiers      # libraries for both Kerases (segmentation_models, classification_models, efficientnet.tfkeras) are told which",
            "AttributeError: 'Activation' object has no attribute 'outbound_nodes'",
        ),
    ),
    "E471 E153 E563": (
        Wording(
            r"AutoGraph did convert this function",
            "AutoGraph did convert the function; the tensor is used as a Python value in a place that it does not convert: a comprehension or generator expression, a lambda, a default value, any(), all(), min(), max(), sorted() or `in` over tensors, a chain of comparisons, or Python code of a library that is called from here.",
            "y = tf.where(condition, a, b)                       # both values, in place of `a if condition else b` within a comprehension or lambda\ntf.reduce_any(x); tf.reduce_all(x); tf.minimum(a, b)      # in place of any(), all(), min()\nfor i in tf.range(tf.shape(x)[0]): ...              # a statement of its own, in place of [f(t) for t in x]; or tf.map_fn(f, x)",
            "OperatorNotAllowedInGraphError: Using a symbolic `tf.Tensor` as a Python `bool` is not allowed: AutoGraph did convert this function. This might indicate you are trying to use an unsupported feature.",
        ),
        Wording(
            r"AutoGraph did not convert this function|AutoGraph (?:is disabled|could not)",
            "The function that holds the `if`, `for` or unpacking was not converted by AutoGraph: it is called from code that AutoGraph leaves alone (a library, a Lambda layer, a lambda, a decorator, a comprehension), or its source is not to be had (a shell, exec).",
            "@tf.function                                    # right above the function that holds the loop or condition (def, in a file or a cell)\ndef body(x): ...\nfunction = tf.autograph.to_graph(function)      # a function that you cannot decorate\ny = tf.map_fn(f, x); y = tf.where(condition, a, b)      # or without Python's for and if",
            "OperatorNotAllowedInGraphError: iterating over `tf.Tensor` is not allowed: AutoGraph did not convert this function. Try decorating it directly with @tf.function",
        ),
        Wording(
            r"all inputs are not already EagerTensors",
            "An operation that runs eagerly (py_function, numpy_function, a summary) is called on tensors of a model under construction (keras.Input, a layer's output): these have no values, and this operation cannot be recorded as a layer.",
            "y = keras.layers.Lambda(lambda t: tf.py_function(f, [t], tf.float32))(x)      # within a layer: called with values. Never on a TPU: rather tf functions\ndataset = dataset.map(lambda x: tf.py_function(f, [x], tf.float32))            # or in the dataset, on the host",
            "_FallbackException: This function does not handle the case of the path where all inputs are not already EagerTensors.",
        ),
        Wording(
            r"an intermediate (?:TF-)?Keras symbolic input/output",
            "A tensor of a model that is being built reaches TensorFlow code that cannot record it as a layer. Either two Keras are mixed (tensorflow.python.keras, which nobody should import, beside tensorflow.keras or keras: the paths in the traceback show which), or a tf.function, tf.cond, tf.map_fn or GradientTape is called on it outside a layer.",
            "grep -rnE 'import.*keras|from.*keras' *.py      # one Keras only; none from tensorflow.python.keras\nclass Step(keras.layers.Layer):                   # what TensorFlow does with it, in a layer of your own\n    def call(self, x): return tf.map_fn(f, x)",
            "TypeError: You are passing KerasTensor(...), an intermediate Keras symbolic input/output, to a TF API that does not allow registering custom dispatchers",
        ),
        Wording(
            r"preprocessing[/\\.]image.{0,400}?has no attribute '(?P<name>ndim|shape|astype)'",
            "The functions of tf.keras.preprocessing.image (random_rotation, random_shift, random_zoom, apply_affine_transform) work on NumPy arrays, and one is called on a tensor (in dataset.map).",
            "augment = tf.keras.layers.RandomRotation(0.1)      # made once; RandomTranslation, RandomZoom likewise\ndataset = dataset.map(lambda x, y: (augment(x, training=True), y))\nimage = tf.numpy_function(lambda a: random_rotation(a, 5), [image], tf.float32)      # or the NumPy function itself; never on a TPU Node",
            "File keras/preprocessing/image.py, line 2620, in apply_affine_transform AttributeError: 'Tensor' object has no attribute 'ndim'",
        ),
        Wording(
            r"Tensor\.(?:op|graph|name|value_index|consumers) is (?:undefined|meaningless) when eager execution is enabled",
            "A tensor with values (eager) stands where one of a graph is wanted: a functional keras.Model whose inputs are tensors of data and not keras.Input, or TensorFlow 1's way of asking a tensor (gradients, K.function, its op or name).",
            'ids = keras.Input((LENGTH,), dtype="int32"); model = keras.Model(ids, layers(ids))      # Input stands for the data; the data goes to fit or predict\nwith tf.GradientTape() as tape: ...                                                     # in place of tf.gradients and K.function',
            "AttributeError: Tensor.op is meaningless when eager execution is enabled.",
        ),
        Wording(
            r"object does not support item assignment",
            "Tensors cannot be written to in place: x[i] = value works on NumPy arrays and tf.Variable slices (.assign) only.",
            "x = tf.tensor_scatter_nd_update(x, [[i]], [value])      # in place of x[i] = value\nx = tf.where(mask, value, x)                            # where a mask says which",
            "TypeError: 'tensorflow.python.framework.ops.EagerTensor' object does not support item assignment",
        ),
        Wording(
            r"using a `?(?:tf\.)?Tensor`? as a Python `?bool`? is not allowed",
            "A Python `if`, `while`, `and`, `or` or `not` stands on a tensor in a function that AutoGraph did not convert (a library's, a lambda, a layer's call without tf.function).",
            "y = tf.cond(condition, lambda: a, lambda: b); y = tf.where(condition, a, b)      # in place of if\nboth = tf.logical_and(a, b)                                                     # in place of and",
            "OperatorNotAllowedInGraphError: using a `tf.Tensor` as a Python `bool` is not allowed in Graph execution.",
        ),
        Wording(
            r"(?:[Ii]terating over|iterate over|only iterable).{0,60}?(?:tensor|Tensor)",
            "A Python loop, an unpacking (a, b = tensor) or a list comprehension goes over a tensor in a graph.",
            "a, b = tf.unstack(x, num=2)                      # in place of a, b = x\ny = tf.map_fn(f, x)                              # in place of [f(row) for row in x]\nfor row in tf.unstack(x, num=ROWS): ...          # a fixed number of rows",
            "OperatorNotAllowedInGraphError: Iterating over a symbolic KerasTensor is not supported.",
        ),
        Wording(
            r"'(?:\w{0,20}Tensor)' object has no attribute '(?P<name>astype|reshape|flatten|copy|tolist|mean|sum|max|min|argmax|transpose|T|ndim|size)'",
            "`.<<name>>` is of NumPy arrays; a tensor has a function for it.",
            "x = tf.cast(x, tf.float32); x = tf.reshape(x, [-1]); n = tf.rank(x)      # astype, reshape and flatten, ndim; tf.reduce_mean, tf.argmax, tf.transpose\nx = x.numpy()                                                            # or an array, outside tf.function and dataset.map",
            "AttributeError: 'Tensor' object has no attribute 'astype'",
        ),
        Wording(
            r"Inputs to eager execution function cannot be Keras symbolic tensors",
            "A tensor of the model under construction is used outside it: in a loss, metric or function that runs eagerly (a loss that captures a layer's output, y_true as keras.Input).",
            "model.add_loss(fn(layer_output, target))      # a loss that needs inner tensors, in place of a closure in compile(loss=...)\ngrep -n 'run_eagerly\\|experimental_run_tf_function' *.py      # not run eagerly",
            "TypeError: Inputs to eager execution function cannot be Keras symbolic tensors, but found [<tf.Tensor>]",
        ),
    ),
    "E203": (
        Wording(
            r"[Ff]ound unexpected instance while processing input tensors.{0,160}?Got: ?(?P<got>[\w<][\w.<>' ]{0,40})",
            "An input of the functional model or of K.function is no Keras tensor but <<got>>: 0 or 1 is K.learning_phase(), which is a number in TensorFlow 2; else an array, None or a layer in place of its output.",
            "features = keras.Model(model.inputs, model.layers[26].output)      # in place of K.function([model.input, K.learning_phase()], [output])\nfeatures(x, training=False)                                        # the phase is an argument of the call\npart = keras.Model(keras.Input(model.layers[27].input.shape[1:]), ...)      # the second half gets an Input of its own",
            "ValueError: Found unexpected instance while processing input tensors for keras functional model. Expecting KerasTensor which is from tf.keras.Input() or output from keras layer call(). Got: 0",
        ),
    ),
    "E163": (
        Wording(
            r"has DataType (?P<type>float64|double|int64|float16|half) not in list of allowed values: bfloat16, float32, int32, uint32",
            "An operation between the TPU's cores (all-reduce, cross_replica_sum, all_to_all) is given <<type>>: it knows bfloat16, float32, int32 and uint32 only, so variables, losses and metrics of <<type>> cannot be summed over replicas.",
            'keras.backend.set_floatx("float32"); x = tf.cast(x, tf.float32)      # the whole model: weights, inputs, losses\ngpflow.config.set_default_float(np.float32)                          # libraries that compute in float64: a larger jitter in place of it',
            "TypeError: Value passed to parameter 'input' has DataType float64 not in list of allowed values: bfloat16, float32, int32, uint32",
        ),
    ),
    "E460 E211 E436": (
        Wording(
            r"Expect x to be a non-empty array or dataset|Empty training data|PyDataset has length 0|Sequence has length 0|Expected input data to be non-empty",
            "fit (or evaluate, predict) got no batch at all: no file matched, a filter, take or skip left nothing, drop_remainder dropped the only batch because it is larger than the data, or a generator was used up by an earlier run.",
            "print(len(tf.io.gfile.glob(PATTERN)), sum(1 for _ in dataset))      # files and batches: which of them is 0?\nbatch = min(global_batch, examples)                                # drop_remainder=True drops a batch that is not full\ndataset = tf.data.Dataset.from_generator(lambda: read(), output_signature=SIGNATURE)      # a function that starts anew, not a generator that is used up",
            "ValueError: Expect x to be a non-empty array or dataset.",
        ),
        Wording(
            r"Data adapters should be mutually exclusive",
            "The object given to fit fits several of Keras's adapters, mostly a list or DataFrame mixed with tensors, or Keras found twice.",
            "x, y = np.asarray(x), np.asarray(y)      # arrays, or one tf.data.Dataset",
            "RuntimeError: Data adapters should be mutually exclusive for handling inputs.",
        ),
        Wording(
            r"Output of generator should be a tuple",
            "The generator yields a list (or one array) in place of a tuple.",
            "yield x, y      # a tuple (inputs, labels[, weights]); several inputs: yield (a, b), y, not [[a, b], y]",
            "ValueError: Output of generator should be a tuple `(x, y, sample_weight)` or `(x, y)`. Found: [array]",
        ),
        Wording(
            r"When providing `?x`? as a (?P<what>[\w. ]{1,60}?), `?(?P<name>\w{1,20})`? should not be passed",
            "x is a <<what>>, which brings its own `<<name>>`: the argument must go.",
            "model.fit(dataset, epochs=EPOCHS)      # without <<name>>=: batch in the dataset, labels in its elements (x, y)",
            "ValueError: When providing `x` as a tf.data.Dataset, `batch_size` should not be passed.",
        ),
        Wording(
            r"The `?batch_size`? argument must not be specified",
            "x is a dataset, a generator or a Sequence, which has its batches already: batch_size must go.",
            "model.fit(dataset, epochs=EPOCHS)      # without batch_size=; dataset.batch(N) where it is not batched yet",
            "ValueError: The `batch_size` argument must not be specified for the given input type.",
        ),
        Wording(
            r"Target data is missing",
            "The model has a loss that wants labels, and the dataset yields inputs only: one tensor, a list in place of a tuple, or a dict without labels.",
            "dataset = tf.data.Dataset.zip((images, labels)).batch(global_batch)      # elements are tuples (x, y)\nprint(dataset.element_spec)      # a tuple of two; [x, y] is taken as two inputs",
            "ValueError: Target data is missing. Your model was compiled with loss=mse",
        ),
        Wording(
            r"Number of steps could not be inferred|Please specify the number of steps",
            "The data has no known end (repeat(), a generator): fit wants steps_per_epoch, evaluate and predict want steps.",
            "model.fit(dataset, steps_per_epoch=EXAMPLES // global_batch, validation_steps=VALIDATION // global_batch)",
            "ValueError: Number of steps could not be inferred from the data, please pass the steps_per_epoch argument.",
        ),
        Wording(
            r"sample_weight with shape|Found a sample_weight",
            "The sample weights have another shape than the labels (one weight an example is wanted, or one for each output).",
            "dataset = dataset.map(lambda x, y: (x, y, weights_of(y)))      # [batch], or [batch, time] for sequences",
            "ValueError: Found a sample_weight array with shape (8, 1)",
        ),
    ),
    "E461 E181": (
        Wording(
            r"Layer \W?(?P<layer>[\w.-]{1,60})\W? expects (?P<wanted>\d{1,3}) (?:named )?input\(?s?\)?.{0,60}?but it received (?P<got>\d{1,3}) input tensor",
            "The model `<<layer>>` has <<wanted>> inputs and the dataset gives <<got>>: a tuple (a, b, label) is read as (inputs, labels, weights), or a list stands where one tensor is meant.",
            "dataset = dataset.map(lambda a, b, y: ((a, b), y))      # all inputs in one tuple, then the labels\nprint(dataset.element_spec, len(model.inputs))",
            "ValueError: Layer model_1 expects 2 input(s), but it received 1 input tensors.",
        ),
        Wording(
            r"y_true and y_pred have different structures",
            "The labels and the model's outputs are not built alike: a model with several outputs gets one label (or the reverse), or a dict meets a list.",
            'dataset = dataset.map(lambda x, a, b: (x, {"head_a": a, "head_b": b}))      # one label for each output, by its name\nprint(model.output_names, dataset.element_spec[1])',
            "ValueError: y_true and y_pred have different structures.",
        ),
    ),
    "E468": (
        Wording(
            r"infer the shape of the Lambda's output|`?output_shape`? could not be inferred",
            "Keras 3 cannot work out what shape the Lambda's function gives.",
            "x = keras.layers.Lambda(f, output_shape=(WIDTH,))(x)      # without the batch; or a small Layer with call and compute_output_shape",
            "NotImplementedError: We could not automatically infer the shape of the Lambda's output. Please specify the `output_shape` argument.",
        ),
        Wording(
            r"Only input tensors may be passed as positional arguments",
            "Keras 3 lets only tensors be positional arguments of a layer's call: a mask, a bool, a number or a list comes without its name.",
            "y = layer(x, training=training, mask=mask)      # by keyword: all but the tensors",
            "ValueError: Only input tensors may be passed as positional arguments. The following argument value should be passed as a keyword argument: True",
        ),
        Wording(
            r"provide a name for your metric",
            "add_metric was given a plain tensor without a name (and, in TensorFlow before 2.2, without aggregation): only a Metric object brings its own.",
            'self.add_metric(value, name="kl", aggregation="mean")      # Keras 2; Keras 3 has no add_metric: keras.metrics.Mean(name="kl") in __init__, update_state in call',
            "ValueError: Please provide a name for your metric like `self.add_metric(tf.reduce_sum(inputs), name='mean_activation', aggregation='mean')`",
        ),
        Wording(
            r"symbolic Tensors? or a callable for the loss value",
            "add_loss, called outside of a layer's call, was given a value (a NumPy number, an eager tensor, what a variable gives) that does not come from the model's inputs.",
            "layer.add_loss(lambda: 1e-4 * tf.reduce_sum(tf.square(layer.kernel)))      # from weights alone: a function without arguments\nmodel.add_loss(loss_of(model.input, model.output))                            # from the model's own tensors (Keras 2)\ndef call(self, x): self.add_loss(tf.reduce_mean(x)); return x                 # in a layer's call: any tensor",
            "ValueError: Expected a symbolic Tensors or a callable for the loss value. Please wrap your loss computation in a zero argument `lambda`.",
        ),
        Wording(
            r"add_metric",
            "add_metric is gone in Keras 3.",
            'self.tracker = keras.metrics.Mean(name="kl")      # in __init__\nself.tracker.update_state(value)                 # in call or train_step; listed by the model\'s metrics by itself',
            "AttributeError: 'Block' object has no attribute 'add_metric'",
        ),
        Wording(
            r"does not have a `?call\(\)`? method|Unimplemented `?tf\.keras\.Model\.call|you should implement",
            "The subclass has no method named call: it is misspelt, indented into __init__, or named forward or __call__.",
            "class Net(keras.Model):\n    def call(self, x, training=False): return self.dense(x)      # call, on the level of __init__",
            "NotImplementedError: Unimplemented `tf.keras.Model.call()`: if you intend to create a `Model` with the Functional API, please provide `inputs` and `outputs` arguments.",
        ),
    ),
    "E470": (
        Wording(
            r"has no defined (?:input|output)|has never been called and thus has no defined",
            "In Keras 3 a Sequential model (or a layer) has no input and output before it is built: Grad-CAM, feature extractors and model.input fail on it.",
            "model = keras.Sequential([keras.Input(shape=(224, 224, 3)), ...])      # an Input first\nfeatures = keras.Model(model.inputs, model.layers[-2].output)         # after it",
            "AttributeError: The layer sequential has never been called and thus has no defined input.",
        ),
    ),
    "E205": (
        Wording(
            r"[Ll]earning rate schedule must override get_config",
            "A learning rate schedule of your own (a subclass of LearningRateSchedule) is saved with the compiled model's optimizer, and has no get_config.",
            'def get_config(self): return {"d_model": self.d_model, "warmup_steps": self.warmup_steps}      # in the schedule: plain numbers, every argument of __init__\nmodel.save(path, include_optimizer=False)      # or model.save_weights(path): the optimizer is left out',
            "NotImplementedError: Learning rate schedule must override get_config",
        ),
        Wording(
            r"'str' object has no attribute 'decode'",
            "h5py 3 reads text as str, and this Keras (TensorFlow 2.1 and older) wants bytes.",
            'pip install "h5py<3"      # for TensorFlow 1.x to 2.1; or TensorFlow 2.4 and later\n# restart the notebook after it',
            "AttributeError: 'str' object has no attribute 'decode' in keras/engine/saving.py load_weights h5",
        ),
        Wording(
            r"deserialization of a `?Lambda`? layer",
            "Keras 3 does not run the code of a Lambda layer from a file unless it is told that the file is trusted.",
            "model = keras.models.load_model(path, safe_mode=False)      # a file of your own\nkeras.config.enable_unsafe_deserialization()                # where the loader takes no safe_mode",
            "ValueError: Requested the deserialization of a `Lambda` layer whose `function` is a Python lambda.",
        ),
        Wording(
            r"must override `?get_config",
            "A layer of your own is saved with its model and does not say with what arguments it was made.",
            'def get_config(self): return {**super().get_config(), "units": self.units}      # every argument of __init__\nmodel.save_weights("model.weights.h5")                                         # or the weights alone, which need none',
            "NotImplementedError: Layer Attention has arguments in `__init__` and therefore must override `get_config`.",
        ),
    ),
    "P30": (
        Wording(
            r"got multiple values for argument 'name'",
            "In this Keras (2.3 to 2.15, tf.keras before 2.16) the first argument of add_weight is the name, and the layer, written for an older Keras, gives the shape there.",
            'self.w = self.add_weight(name="w", shape=(n, m), initializer="glorot_uniform")      # shape= and name= by keyword: right in every Keras\n# in a library: the same edit in the line that the traceback names, or the release of Keras that it asks for',
            "TypeError: add_weight() got multiple values for argument 'name'",
        ),
        Wording(
            r"\('c', ?'o', ?'u', ?'n', ?'t', ?'e', ?'r'\).{0,120}?to a shape|tensorflow_recommenders.{0,400}?to a shape|tfrs\..{0,400}?to a shape",
            "TensorFlow Recommenders (its FactorizedTopK makes a weight named `counter`) is written for Keras 2, and TensorFlow 2.16 and later bring Keras 3, whose add_weight takes the shape first.",
            'pip install "<<keras2>>" && export TF_USE_LEGACY_KERAS=1      # Keras 2 for the whole program, set before TensorFlow is imported\npip install "tensorflow<2.16" tensorflow-recommenders          # or a TensorFlow that has Keras 2\npip install --no-deps tensorflow-recommenders                  # keeps pip from replacing that TensorFlow (scann does it too)',
            "ValueError: Cannot convert '('c', 'o', 'u', 'n', 't', 'e', 'r')' to a shape. Found invalid entry 'c' of type '<class 'str'>'.",
        ),
        Wording(
            r"Cannot convert '\((?P<name>(?:'\w', ?){2,40}'\w'),?\)' to a shape",
            "add_weight was given the weight's name where Keras 3 takes the shape: code, or a library, written for Keras 2.",
            'self.w = self.add_weight(name="w", shape=(n, m), initializer="glorot_uniform")      # by keyword, in code of your own\npip install "<<keras2>>" && export TF_USE_LEGACY_KERAS=1                              # where a library does it: Keras 2 for the whole program',
            "ValueError: Cannot convert '('k', 'e', 'r', 'n', 'e', 'l')' to a shape. Found invalid entry 'k'",
        ),
    ),
    "P20": (
        Wording(
            r"'(?P<who>\w{1,30})' object has no attribute 'get_updates'",
            "Keras' old graph mode (engine/training_v1, keras-rl) asks the optimizer for get_updates, which the optimizers of TensorFlow 2.11 and later do not have: eager execution is off (tf.compat.v1.disable_eager_execution(), disable_v2_behavior()), or optimizer and model are of two kinds of Keras.",
            "optimizer = tf.keras.optimizers.legacy.<<who>>(1e-3)      # TensorFlow 2.11 to 2.15 (2.16: tf_keras.optimizers.legacy)\n# or without tf.compat.v1.disable_eager_execution(): fit then takes the new optimizers\nfrom tensorflow.keras.optimizers import <<who>>           # not from tensorflow.python.keras, not from keras beside it",
            "AttributeError: 'Adam' object has no attribute 'get_updates'",
        ),
    ),
    "P74": (
        Wording(
            r"'(?P<who>Adam\w{0,3}|SGD|RMSprop|Adagrad|Adadelta|Nadam|Optimizer)' object has no attribute '(?P<name>apply_gradients|minimize|compute_gradients)'",
            "This <<who>> is of the stand-alone Keras of before 2.4 (`from keras.optimizers import <<who>>`), which has no `<<name>>`; a loop of your own wants the one of tf.keras.",
            "from tensorflow.keras.optimizers import <<who>>      # and layers, models from tensorflow.keras as well\noptimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))",
            "AttributeError: 'Adam' object has no attribute 'apply_gradients'",
        ),
        Wording(
            r"'(?P<who>Adam\w{0,3}|SGD|RMSprop|Adagrad|Adadelta|Nadam|Optimizer)' object has no attribute 'learning_rate'",
            "Keras called the learning rate `lr` before 2.3 (tf.keras before TensorFlow 2.0 too): this optimizer is of such a release, or was made or pickled by one, and the code asks as the later ones do. Parts of two releases in one process (an upgrade without a restart of the kernel) look the same.",
            "pip install -U keras; python -c 'import keras; print(keras.__version__)'      # 2.3 and later; then restart the kernel, and make the optimizer anew\nrate = keras.backend.get_value(model.optimizer.lr)                             # in the old one",
            "AttributeError: 'Adam' object has no attribute 'learning_rate'",
        ),
        Wording(
            r"getattr\(self\.optimizer.{0,900}?'(?P<who>\w{1,30})' object has no attribute '(?P<name>name|_name|updates|weights|lr|iterations)'",
            "A wrapper around an optimizer (gradient accumulation, look-ahead, weight decay) copies what the optimizers of the stand-alone Keras 2 had, and is given a <<who>> of tf.keras, which has no `<<name>>` of that kind.",
            "from keras.optimizers import <<who>>                                             # the Keras that the wrapper is written for, for model and optimizer alike (keras 2.2 or 2.3)\noptimizer = keras.optimizers.<<who>>(1e-3, gradient_accumulation_steps=4)        # Keras 3: accumulation without a wrapper",
            "    value = getattr(self.optimizer, attr)\nAttributeError: 'Adam' object has no attribute 'name'",
        ),
    ),
}
