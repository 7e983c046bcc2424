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
            r"symbolic Keras inputs?/outputs? to a numpy array",
            "A layer's output or a keras.Input, which has no values, comes to NumPy, or to a TensorFlow function that does not know it: in the model's own code, or in a loss or metric for compile that uses model.input or another layer's output.",
            "y = keras.layers.Lambda(lambda t: tf.nn.relu(t))(x)       # TensorFlow's function in a layer (or your own Layer's call), tf.* in place of np.*\nmodel.add_loss(loss_of(model.input, layer_output))        # a loss that needs more than (y_true, y_pred); or a train_step of your own\nfeatures = keras.Model(model.input, x).predict(data)      # where values are wanted",
            "TypeError: Cannot convert a symbolic Keras input/output to a numpy array. This error may indicate that",
        ),
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
    "E467": (
        Wording(
            r"'(?P<class>(?!Dense|Conv|Functional|Sequential|Model|Input|BatchNorm|Dropout|Embedding|LSTM|GRU|Flatten|KerasLayer|TFBert|Adam|SGD)\w{1,60})' object has no attribute '(?P<name>_\w{1,40})'",
            "The layer `<<class>>` was used before Layer.__init__ ran: the `__init__` of `<<class>>` does not call super().__init__() (`<<name>>` is made there).",
            "def __init__(self, units, **kwargs):      # of <<class>>\n    super().__init__(**kwargs)            # first, in place of a line that is missing or commented out\n    self.units = units",
            "AttributeError: 'Scale' object has no attribute '_expects_mask_arg'",
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
    "E210 E493": (
        Wording(
            r"_restore_dataset_from_list.{0,200}?setting an array element",
            "keras.utils.split_dataset makes one array of all elements, and they are of different shapes: a batched dataset whose last batch is smaller, or rows of different lengths.",
            "train, valid = dataset.skip(N), dataset.take(N)      # parts of a dataset without making arrays of it\ntrain, valid = keras.utils.split_dataset(dataset.unbatch(), left_size=0.8)      # or before .batch, elements of one shape",
            "    return tuple(np.array(sample) for sample in zip(*dataset_as_list)) in _restore_dataset_from_list\nValueError: setting an array element with a sequence.",
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
}
