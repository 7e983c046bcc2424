# ruff: noqa: E501  (what is pasted stays in one piece)
"""Wordings of training steps: strategies, tf.function, compile and fit."""

from __future__ import annotations

from .wording import Wording, Wordings

STEPS: Wordings = {
    "E143": (
        Wording(
            r"float\(\) argument must be .{0,40}?not '(?:PerReplica|DistributedValues)'|unsupported operand type\(s\) for .{1,3}: '(?:PerReplica' and '|\w{1,20}' and 'PerReplica)",
            "What strategy.run gives back is counted with as if it were one number: it holds one value for each replica.",
            "loss = strategy.reduce(tf.distribute.ReduceOp.SUM, per_replica_loss, axis=None)      # one tensor; the loss was divided by the global batch in the step\ntotal += float(loss)",
            "TypeError: float() argument must be a string or a real number, not 'PerReplica'",
        ),
        Wording(
            r"'PerReplica' object is not (?:iterable|subscriptable)",
            "An element of a distributed dataset, or what strategy.run gives back, is taken apart as if it were one tensor: it holds one part for each replica.",
            "for batch in distributed: strategy.run(step, args=(batch,))      # the step gets its own part: images, labels = batch inside it\nparts = strategy.experimental_local_results(value); parts[0]      # outside: the part of one replica",
            "TypeError: 'PerReplica' object is not subscriptable",
        ),
        Wording(
            r"using a PerReplica object while not inside a replica context",
            "A value of all replicas (PerReplica) meets a tf function outside strategy.run.",
            "loss = strategy.reduce(tf.distribute.ReduceOp.SUM, per_replica, axis=None)      # one tensor\noutputs = tf.concat(strategy.experimental_local_results(per_replica), axis=0)      # or all parts, for predictions\nstrategy.run(function, args=(per_replica,))                                       # or the function where the parts are",
            "ValueError: It looks like you are using a PerReplica object while not inside a replica context, which is not supported.",
        ),
    ),
    "E414": (
        Wording(
            r"'(?P<name>\w{1,30})' is not a valid ReduceOp",
            "strategy.reduce has two kinds, SUM and MEAN; `<<name>>` is none.",
            "strategy.reduce(tf.distribute.ReduceOp.SUM, value, axis=None)      # or .MEAN; a maximum: tf.reduce_max(strategy.experimental_local_results(value))",
            "ValueError: 'MAX' is not a valid ReduceOp",
        ),
        Wording(
            r"reduce\(\) missing 1 required positional argument: '(?:axis|value)'",
            "strategy.reduce takes three arguments: the kind, the value and axis (None: over the replicas alone; 0: over the examples of each replica too).",
            "strategy.reduce(tf.distribute.ReduceOp.SUM, per_replica_loss, axis=None)      # one value for each replica\nstrategy.reduce(tf.distribute.ReduceOp.MEAN, per_example_loss, axis=0)       # one value for each example",
            "TypeError: StrategyBase.reduce() missing 1 required positional argument: 'axis'",
        ),
        Wording(
            r"allgather/(?:range|Rank|concat|strided)",
            "strategy.gather (all_gather) joins along an axis, and each replica gives a single number, which has none.",
            "strategy.gather(value[tf.newaxis], axis=0)      # or return loss[tf.newaxis] in the step; one number of all: strategy.reduce(..., axis=None)",
            "ValueError: Requires start <= limit when delta > 0: 1/0 for '{{node allgather/range_1}} = Range[Tidx=DT_INT32](allgather/range_1/start",
        ),
    ),
    "E411": (
        Wording(
            r"next\(iterator\)`? should be called from outside of replica_fn",
            "The function given to strategy.run takes the next batch itself, or starts a loop that does (model.fit, predict).",
            "strategy.run(replica_step, args=(next(iterator),))      # the batch is taken outside and handed in\nmodel.fit(dataset)                                     # outside strategy.run: it calls strategy.run itself",
            "ValueError: next(iterator) should be called from outside of replica_fn. e.g. strategy.run(replica_fn, args=(next(iterator),))",
        ),
        Wording(
            r"EagerTensor' object is not callable|'PerReplica' object is not callable",
            "strategy.run was given the result of the step, not the step: it was called within the brackets.",
            "strategy.run(step, args=(batch,))      # not strategy.run(step(batch))",
            "strategy.run(step(batch))\nTypeError: 'tensorflow.python.framework.ops.EagerTensor' object is not callable",
        ),
        Wording(
            r"Could not build a TypeSpec for name: ?\"(?:Assign|Resource|group|NoOp)",
            "A tf.function returns an operation (what metric.update_state, assign_add or optimizer.apply_gradients gives back in a graph), which is no tensor.",
            "def step(batch):\n    metric.update_state(labels, predictions)      # no return in front of it, nor a lambda around it alone\n    return loss",
            'TypeError: Could not build a TypeSpec for name: "AssignAddVariableOp_1" op: "AssignAddVariableOp"',
        ),
    ),
    "E142": (
        Wording(
            r"'NoneType' object has no attribute '(?P<name>all_reduce|all_gather|replica_id_in_sync_group|num_replicas_in_sync|strategy)'",
            "tf.distribute.get_replica_context() gives None here: `<<name>>` was asked for outside strategy.run, within strategy.scope().",
            "def replica_step(x):\n    total = tf.distribute.get_replica_context().all_reduce(tf.distribute.ReduceOp.SUM, x)      # inside what strategy.run calls\nstrategy.reduce(tf.distribute.ReduceOp.SUM, per_replica, axis=None)                        # outside of it",
            "total = tf.distribute.get_replica_context().all_reduce('SUM', x)\nAttributeError: 'NoneType' object has no attribute 'all_reduce'",
        ),
    ),
    "E401": (
        Wording(
            r"'(?P<name>[\w.]{1,60})' has (?P<what>dtype|shape) (?P<before>.{1,40}?) in the main branch, but (?:dtype|shape) (?P<after>[\w(), ?]{1,40}) in the else",
            "AutoGraph compiles both branches of an `if` on a tensor, and `<<name>>` has <<what>> <<before>> in one and <<after>> in the other: both must give the same.",
            "<<name>> = tf.cast(value, tf.float32)      # in both branches; a Python number beside a tensor: tf.constant(1.0)\n<<name>> = tf.where(condition, a, b)       # or both values, and one is taken",
            "TypeError: 'y' has dtype float32 in the main branch, but dtype int32 in the else branch",
        ),
        Wording(
            r"branch must also have a return statement",
            "AutoGraph compiles both branches of an `if` on a tensor, and only one of them returns.",
            "result = default\nif condition: result = value\nreturn result                        # one return at the end; or else: return as well\nreturn tf.where(condition, a, b)      # both values, and one is taken",
            "ValueError: the else branch must also have a return statement.",
        ),
    ),
    "E400": (
        Wording(
            r"'(?P<name>[\w.]{1,60})' has dtype (?P<before>\w{1,20}) before the loop, but dtype (?P<after>\w{1,20}) after one iteration",
            "`<<name>>` is <<before>> before the loop and <<after>> after the first turn: in a compiled loop a variable keeps its type.",
            "<<name>> = tf.constant(0, tf.<<after>>)      # before the loop, of the type that the loop gives (0 is an integer, 0.0 a float)",
            "TypeError: 'y' has dtype int32 before the loop, but dtype float32 after one iteration",
        ),
    ),
    "E407": (
        Wording(
            r"(?:Symbolic)?Tensor' object cannot be interpreted (?:as )?an? ?integer",
            "Python's range (or an index) is given a tensor whose value is not known while the function is traced.",
            "for i in tf.range(n): ...      # in a function that AutoGraph converts; or a Python number, known before: range(STEPS)",
            "TypeError: 'SymbolicTensor' object cannot be interpreted as an integer",
        ),
    ),
    "E405": (
        Wording(
            r"missing a required argument: '(?P<name>\w{1,40})'",
            "A tf.function is called, or get_concrete_function asked, without its argument `<<name>>`.",
            "step.get_concrete_function(tf.TensorSpec([None, 224, 224, 3], tf.float32))      # a TensorSpec for each argument; or input_signature= on the tf.function",
            "TypeError: Binding inputs to tf.function failed due to `missing a required argument: 'x'`. Received args: () and kwargs: {} for signature: (x).",
        ),
        Wording(
            r"input_signature missing type constraint for (?P<name>\w{1,40})",
            "input_signature names fewer arguments than the function has: none for `<<name>>`.",
            "@tf.function(input_signature=[tf.TensorSpec([None, WIDTH], tf.float32), tf.TensorSpec([None], tf.int32)])      # one for each argument but self",
            "TypeError: input_signature missing type constraint for y",
        ),
        Wording(
            r"Can not cast TensorSpec\(shape=(?P<came>\([\d, None]{0,40}\)), dtype=tf\.(?P<type>\w{1,12}).{0,40}?\) to TensorSpec\(shape=(?P<want>\([\d, None]{0,40}\)|<unknown>), dtype=tf\.(?P<wanted>\w{1,12})",
            "The tf.function has an input_signature (or was loaded from a SavedModel) for <<want>> of <<wanted>>, and is given <<came>> of <<type>>.",
            "step(tf.cast(x, tf.<<wanted>>))      # the type; the shape: tf.reshape, tf.expand_dims, or None in the signature: tf.TensorSpec([None, None], tf.<<type>>)",
            "TypeError: Binding inputs to tf.function failed due to `Can not cast TensorSpec(shape=(1, 1), dtype=tf.float32, name=None) to TensorSpec(shape=(None,), dtype=tf.int32, name=None)`. Received args",
        ),
        Wording(
            r"Python functions must return zero or more Tensors.{0,300}?found return value of type <?(?:class )?'?(?P<type>[\w.]{1,60})",
            "A tf.function returns an object of type <<type>>, which is no tensor.",
            "return loss      # tensors, None, or dicts and tuples of them; a string, a model or an object of your own is used from outside",
            "TypeError: To be compatible with tf.function, Python functions must return zero or more Tensors or ExtensionTypes or None values; in compilation of <function f at 0x7f>, found return value of type History, which is not a Tensor or ExtensionType.",
        ),
    ),
    "E152": (
        Wording(
            r"unsupported format string passed to (?:Symbolic|Eager)?Tensor\.__format__",
            "A tensor of a graph is formatted like a number (f'{loss:.3f}', '%.3f'): it has no value while the function is traced.",
            "tf.print('loss', loss)                 # in a tf.function; slow in a TPU's step: rather return it\nprint(f'{float(loss):.3f}')            # outside, where it has a value",
            "TypeError: unsupported format string passed to SymbolicTensor.__format__",
        ),
        Wording(
            r"(?:float|int)\(\) argument must be .{0,60}?not '(?:Symbolic|Keras)?Tensor'",
            "float() or int() is called on a tensor that has no value yet: inside a tf.function, a train_step, a loss or a layer.",
            "loss = tf.cast(loss, tf.float32)      # stays a tensor: in place of float(loss); return it, and float() outside\nn = tf.shape(x)[0]                     # sizes likewise; x.shape[0] where it is known",
            "TypeError: float() argument must be a string or a real number, not 'SymbolicTensor'",
        ),
    ),
    "E406": (
        Wording(
            r"'(?:numpy\.\w{1,12}|float|int|ndarray|list)' object has no attribute '_id'",
            "tape.gradient is asked for the gradient of a number that is no tensor: .numpy(), float() or NumPy inside the tape cut it off from the variables.",
            "with tf.GradientTape() as tape: loss = tf.reduce_mean(tf.square(model(x) - y))      # tf functions alone, from the model's call to the loss\ngradients = tape.gradient(loss, model.trainable_variables)",
            "g = tape.gradient(loss, variables)\nAttributeError: 'numpy.float32' object has no attribute '_id'",
        ),
    ),
    "E492": (
        Wording(
            r"of type '(?P<name>\w{0,40}(?:Decay|Schedule|WarmUp|Restarts))'",
            "A learning-rate schedule (<<name>>) stands where a number is wanted: only the argument learning_rate of a Keras optimizer takes the object itself; weight_decay of TensorFlow Addons, callbacks and a loop of one's own want a number, or a function that gives it.",
            "step = tf.Variable(0, trainable=False); optimizer = tfa.optimizers.AdamW(learning_rate=lambda: rate(step), weight_decay=lambda: decay(step))      # called at each step\nvalue = schedule(optimizer.iterations)                                      # the number at this step",
            "TypeError: Expected float32, got <PiecewiseConstantDecay object at 0x7f57> of type 'PiecewiseConstantDecay' instead.",
        ),
        Wording(
            r"Expected int32, but got None of type 'NoneType'",
            "A shape holds None: x.shape[0] (or another size) is not known while the function is traced, and is used to make a tensor.",
            "n = tf.shape(x)[0]; tf.zeros([n, WIDTH])                                   # the size when it runs\ndataset = dataset.batch(global_batch, drop_remainder=True)      # on a TPU: a size that is known; then x.shape[0] is a number",
            "TypeError: Expected int32, but got None of type 'NoneType'.",
        ),
    ),
    "E210": (
        Wording(
            r"Failed to convert elements of [(\[](?:-?\d{1,7}, ?|None, ?){0,5}None",
            "A shape holds None: a size that is not known while the model is built or traced (x.shape[1]) is used in tf.reshape, tf.zeros or the like.",
            "y = tf.reshape(x, [-1, tf.shape(x)[1]])                          # tf.shape: the size when it runs\ninputs = keras.Input((LENGTH, WIDTH))                            # or sizes that are known: best on a TPU",
            "TypeError: Failed to convert elements of [-1, None] to Tensor. Consider casting elements to a supported type.",
        ),
        Wording(
            r"Contents: \(.{0,60}?Dimension\(",
            "A shape holds a Dimension, TensorFlow 1's object for a size (input_shape[1], x.shape[1]), where plain numbers are wanted.",
            "width = int(input_shape[1])      # in build(); or tf.compat.dimension_value(input_shape[1]), in TensorFlow 1 also .value\nself.add_weight(name='kernel', shape=(width, self.units))",
            "TypeError: Failed to convert object of type <class 'tuple'> to Tensor. Contents: (10, Dimension(10)). Consider casting elements to a supported type.",
        ),
    ),
    "E471": (
        Wording(
            r"symbolic KerasTensor cannot be used as a boolean|object of type 'KerasTensor' has no len|symbolic inputs/outputs do not implement `?__len__",
            "Python (`if`, `and`, len, assert) is used on a tensor of a functional model under construction, which stands for data that come later.",
            "class Branch(keras.layers.Layer):                        # what depends on values, in a layer of your own\n    def call(self, x): return keras.ops.where(x > 0, x, 0.0)\nif x.shape[-1] == 3: ...                                   # sizes that are known may be asked; use `is not None` in place of `if x`",
            "TypeError: A symbolic KerasTensor cannot be used as a boolean.",
        ),
    ),
    "P24": (
        Wording(
            r"placeholder for a shape an a dtype.{0,160}?cannot convert it to a NumPy array",
            "NumPy (np.*, len, a plot, print of values) is used on a tensor of a functional model under construction, which stands for data that come later; or a layer that is written for Keras 2 (hub.KerasLayer, a tokenizer, TensorFlow Probability's) is called on it in Keras 3.",
            "y = keras.ops.mean(x, axis=-1)                                   # keras.ops in place of np; or within a Layer's call\nfeatures = keras.Model(model.input, x).predict(data)            # the values of a layer: by a model, on data\n# hub.KerasLayer and other layers of Keras 2: tf_keras (below), or within a Layer's call",
            "ValueError: A KerasTensor is symbolic: it's a placeholder for a shape an a dtype. It doesn't have any actual numerical value. You cannot convert it to a NumPy array.",
        ),
    ),
    "P31": (
        Wording(
            r"(?:passed to (?:Functional|Model): \{|not understood:?'?,? ?\(?)'(?P<name>input|output|inputs|outputs)'",
            "keras.Model takes inputs= and outputs=, both of them: `<<name>>` alone, or by its old name (input=, output=), it does not know.",
            "model = keras.Model(inputs=x, outputs=y)",
            "ValueError: Unrecognized keyword arguments passed to Model: {'input': <KerasTensor shape=(None, 2), dtype=float32>}",
        ),
    ),
    "E204": (
        Wording(
            r"Could not interpret optimizer identifier: <class '(?P<name>[\w.]{1,80})'>",
            "compile was given an optimizer's class (<<name>>) where it wants an object of it.",
            'model.compile(optimizer=keras.optimizers.Adam(1e-3), loss=loss)      # with ( ); or by name: "adam"',
            "ValueError: Could not interpret optimizer identifier: <class 'keras.src.optimizers.adam.Adam'>",
        ),
    ),
    "E574": (
        Wording(
            r"'LossScaleOptimizer\w{0,3}' object has no attribute '(?P<name>get_scaled_loss|get_unscaled_gradients)'",
            "`<<name>>` is of Keras 2's loss scaling. In Keras 3 the LossScaleOptimizer has scale_loss alone, and apply_gradients takes the scale out of the gradients itself. On a TPU with mixed_bfloat16 there is nothing to scale.",
            'scaled_loss = optimizer.scale_loss(loss)                               # Keras 3, float16: inside the tape, in place of get_scaled_loss\ngradients = tape.gradient(scaled_loss, variables); optimizer.apply_gradients(zip(gradients, variables))      # no get_unscaled_gradients\nkeras.mixed_precision.set_global_policy("mixed_bfloat16")          # TPU: this, a plain optimizer and the plain loss',
            "AttributeError: 'LossScaleOptimizer' object has no attribute 'get_scaled_loss'",
        ),
    ),
    "E510": (
        Wording(
            r"_distributed_apply_gradients_fn.{0,600}?'Variable' object has no attribute 'device'|keras_core/.{0,900}?'Variable' object has no attribute 'device'",
            "The optimizer of keras-core (and of the first Keras 3 releases) does not know tf.distribute: under a strategy it hands its own variables to TensorFlow.",
            "pip uninstall -y keras-core; pip install -U keras      # Keras 3.1 and later train under a strategy; import keras in place of keras_core",
            "in _distributed_apply_gradients_fn(self, distribution, grads_and_vars)\n    distribution.extended.update(\nAttributeError: 'Variable' object has no attribute 'device'",
        ),
    ),
    "E462": (
        Wording(
            r"The model cannot be compiled because it has no loss",
            "This is a Keras of TensorFlow 2.1 or older: there compile wants a loss. A model with its own train_step (fit made to measure), or whose loss is added in call by add_loss, is known from TensorFlow 2.2 on.",
            "pip install -U tensorflow                               # 2.2 and later: compile(optimizer) alone, with a train_step of your own\nmodel.compile(optimizer, loss=keras.losses.MeanSquaredError())      # else a loss",
            "ValueError: The model cannot be compiled because it has no loss to optimize.",
        ),
    ),
    "E489": (
        Wording(
            r"keyword arguments are not supported by this model: \[['\"](?P<name>labels|next_sentence_label|start_positions)",
            "`<<name>>` was given to a model that has no head and so no loss: TFBertModel, TFAutoModel and the like give hidden states alone.",
            "model = TFAutoModelForSequenceClassification.from_pretrained(name, num_labels=CLASSES)      # a model with a head, which takes labels\nmodel(input_ids, attention_mask=mask)                                                       # or without labels, and a loss of your own",
            "ValueError: The following keyword arguments are not supported by this model: ['labels'].",
        ),
    ),
    "E498": (
        Wording(
            r"compile\(\) missing 1 required positional argument: '(?P<name>loss|optimizer)'",
            "compile is called without `<<name>>`. Keras before 2.2.3 (and before TensorFlow 2.2) wants it, also where the loss comes from add_loss; or the model has a compile() of its own that does.",
            "model.compile(optimizer=optimizer, loss=None)      # add_loss or a train_step of its own: loss=None\npip install -U tensorflow                             # in place of an old keras",
            "TypeError: compile() missing 1 required positional argument: 'loss'",
        ),
    ),
    "E194": (
        Wording(
            r"`?output`? must have rank \(ndim\) `?target\.ndim - 1|target\.ndim - 1",
            "sparse_categorical_crossentropy wants class numbers, and the labels have one column for each class (one-hot), or one axis too many.",
            'model.compile(loss="categorical_crossentropy")      # one-hot labels\nlabels = tf.argmax(labels, axis=-1)                  # or class numbers: shape (batch,) beside outputs of (batch, classes)',
            "ValueError: Argument `output` must have rank (ndim) `target.ndim - 1`. Received: target.shape=(None, 3), output.shape=(None, 3)",
        ),
    ),
    "E495": (
        Wording(
            r"Tensor' object has no attribute '__setitem__'",
            "Tensors cannot be written to in place: x[i] = value works on NumPy arrays and on slices of a tf.Variable (.assign).",
            "x = tf.tensor_scatter_nd_update(x, [[i]], [value])      # in place of x[i] = value\nx = tf.where(mask, value, x)                            # where a mask says which",
            "AttributeError: 'tensorflow.python.framework.ops.EagerTensor' object has no attribute '__setitem__'",
        ),
    ),
    "E463 E430": (
        Wording(
            r"Argument `?initializer`? must be a callable",
            "A TableConfig's initializer is to be an object that makes the table (called with shape and dtype); a class, a name or a number is none.",
            "tf.tpu.experimental.embedding.TableConfig(V, D, initializer=tf.initializers.TruncatedNormal(stddev=0.02))      # with ( )",
            "ValueError: Argument `initializer` must be a callable (or None). Received: 1",
        ),
    ),
    "E430": (
        Wording(
            r"is an unsupported optimizer class",
            "A TPUEmbedding takes an optimizer of its own kinds; names and Keras' own objects of other kinds it does not know.",
            "tf.tpu.experimental.embedding.Adam(1e-3)      # or .Adagrad, .SGD, .FTRL: of tf.tpu.experimental.embedding",
            "ValueError: <class 'str'> is an unsupported optimizer class. Please pass an instance of one of the optimizer classes under tf.tpu.experimental.embedding.",
        ),
    ),
    "E701": (
        Wording(
            r"keras_learning_phase",
            "The symbolic learning phase (K.learning_phase()) is handed to K.function or Model as an input: from TensorFlow 2.3 on it is none.",
            "get = keras.Model(model.input, model.layers[i].output); y = get(x, training=False)      # in place of K.function([model.input, K.learning_phase()], ...)",
            'ValueError: Input tensors to a Functional must come from `tf.keras.Input`. Received: Tensor("keras_learning_phase:0", shape=(), dtype=bool) (missing previous layer metadata).',
        ),
    ),
}
