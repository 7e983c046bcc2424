# ruff: noqa: E501  (sentences and what is pasted stay in one piece)
"""Wordings of the strategy's scope, its replicas and its variables."""

from __future__ import annotations

from .wording import Wording, Wordings

_STEP = """\
@tf.function
def train_step(batch):
    strategy.run(replica_step, args=(batch,))      # tape, gradient and apply_gradients inside replica_step"""

SCOPE: Wordings = {
    "E139": (
        Wording(
            r"colocate_vars_with`? must only be passed a variable created in this",
            "The optimizer (its slots) belongs to this strategy, a variable that it trains to none or another: the model was built, or loaded, outside the scope.",
            "with strategy.scope():\n    model = build_model()                          # or load_model, from_pretrained, clone_model: here too\n    optimizer = tf.keras.optimizers.Adam()\n    model.compile(optimizer, loss)",
            "ValueError: `colocate_vars_with` must only be passed a variable created in this tf.distribute.Strategy.scope(), not: <tf.Variable 'w:0'>",
        ),
        Wording(
            r"(?:Trying to create optimizer slot variable under the scope|different from the scope used for the original variable)",
            "The model's variables and the optimizer were made in different scopes: one of them outside `with strategy.scope()`, or the strategy object was made twice.",
            "with strategy.scope():      # both, by the same strategy object\n    model = build_model()\n    optimizer = tf.keras.optimizers.Adam(1e-3)\n# a loop of your own: strategy.run(train_step, args=(batch,)) inside a tf.function, not train_step(batch) itself",
            "ValueError: Trying to create optimizer slot variable under the scope for tf.distribute.Strategy (<TPUStrategyV2>), which is different from the scope used for the original variable",
        ),
        Wording(
            r"metric was not created in (?:the )?\w{0,20}Strategy|not created in the distribution strategy scope|passed to `?model\.compile`? was created inside",
            "The metric (or the optimizer, or the model) was made outside the scope: compile gets an object that is older than the scope.",
            'with strategy.scope():\n    model = build_model()\n    model.compile("adam", loss, metrics=[tf.keras.metrics.AUC()])      # the metric is made here, or named: metrics=["accuracy"]',
            "ValueError: Metric (<keras.metrics.AUC>) passed to model.compile was created inside of a different distribution strategy scope than the model. ... not created in the distribution strategy scope",
        ),
        Wording(
            r"Need to be inside .{0,4}with strategy\.scope\(\)",
            "Something is called that works with the strategy's variables, outside its scope: mostly building, compiling or the first fit of a model made in the scope.",
            "with strategy.scope():\n    model = build_model(); model.compile(...); model.fit(dataset)      # where it fails in fit: fit inside the scope too",
            'RuntimeError: Need to be inside "with strategy.scope()" for <TPUStrategyV2>',
        ),
    ),
    "E140": (
        Wording(
            r"Strategy object at 0x\w{1,16}> is not <[\w.]{0,80}_DefaultDistributionStrategy",
            "Something that trains with this strategy was made outside its scope: most often the optimizer, where compile is called once more to fine-tune (Keras 3 keeps the variables of the optimizer where it was made).",
            "with strategy.scope():                                  # each compile, also one after layers were unfrozen\n    model.compile(keras.optimizers.Adam(1e-5), loss, metrics=[...])",
            "RuntimeError: Mixing different tf.distribute.Strategy objects: <TPUStrategy object at 0x7f15> is not <tensorflow.python.distribute.distribute_lib._DefaultDistributionStrategy object at 0x7f14>",
        ),
    ),
    "E142 E141": (
        Wording(
            r"graph generated from the cross-replica context in an in-replica context",
            "A tf.function that was traced outside strategy.run is called inside it.",
            _STEP
            + "\n# replica_step calls the plain Python function, not one under @tf.function that ran outside before",
            "RuntimeError: Attempting to capture an EagerTensor without building a function. graph generated from the cross-replica context in an in-replica context",
        ),
        Wording(
            r"'NoneType' object has no attribute 'merge_call'",
            "An optimizer's step, a variable's assignment or load_model's optimizer state runs where there is no replica: within the strategy's scope but outside strategy.run (in TensorFlow 1.14 and 2.0 also load_model in the scope, and fit in a loop of your own).",
            _STEP
            + '\nmodel = build_model(); model.load_weights("w.h5")      # in the scope: weights alone, in place of load_model'
            + "\npip install -U tensorflow",
            "AttributeError: 'NoneType' object has no attribute 'merge_call'",
        ),
        Wording(
            r"(?:renorm.{0,180}?`?handle`? is not available outside the replica|`?handle`? is not available outside the replica context.{0,500}?renorm)",
            "BatchNormalization with renorm=True changes its variables in a way that a strategy does not take.",
            "keras.layers.BatchNormalization()                        # without renorm under a strategy (TensorFlow 2; tf.keras)\nkeras.layers.BatchNormalization(synchronized=True)       # 2.12 and later, Keras 3: statistics over all replicas, for small batches",
            "BatchNormalization(renorm=True): ValueError: `handle` is not available outside the replica context or a `tf.distribute.Strategy.update()` call.",
        ),
        Wording(
            r"`?handle`? is not available outside the replica context",
            "The tape or the optimizer touches the strategy's variables outside strategy.run: a train step is called directly, train_on_batch is used, or the model is not of the same Keras (keras beside tf.keras).",
            _STEP
            + "\nmodel.fit(dataset)      # or this, in place of train_on_batch\ngrep -rnE 'import.*keras|from.*keras' *.py      # all from tensorflow.keras",
            "ValueError: `handle` is not available outside the replica context or a `tf.distribute.Strategy.update()` call.",
        ),
        Wording(
            r"(?:Replica-local|SyncOnRead|replica).{0,20}variables may only be assigned in a replica context",
            "A metric's variables are set (reset, updated) outside strategy.run: a bug of Keras in TensorFlow 1.13 with metrics in compile, else a metric.update_state or reset in the main program.",
            "pip install -U tensorflow      # 1.14 and later do it right\nstrategy.run(replica_step, args=(batch,))      # metric.update_state inside replica_step",
            "RuntimeError: Replica-local variables may only be assigned in a replica context.",
        ),
        Wording(
            r"Detected a call to `?Model\.(?P<name>\w{3,9})`? inside a `?tf\.function",
            "model.<<name>> is a training loop of its own and is called within a tf.function.",
            "# take @tf.function off the function that calls model.<<name>>; inside a tf.function call the model itself: model(x, training=False)",
            "RuntimeError: Detected a call to `Model.predict` inside a `tf.function`.",
        ),
        Wording(
            r"`?merge_call`? called while defining a new graph or a tf\.function",
            "apply_gradients (or what else joins the replicas) stands, within strategy.run, in a nested tf.function or in a condition or loop on tensors (tf.cond, an `if` or `for` on a tensor, an optimizer that accumulates gradients): the replicas cannot meet there.",
            "# no @tf.function on what strategy.run calls: only on the outer train_step\n# no tf.cond, tf.range or `if` on a tensor around apply_gradients: a Python if or range, or two step functions\n# Keras 3: an optimizer without gradient_accumulation_steps and use_ema",
            "RuntimeError: `merge_call` called while defining a new graph or a tf.function. must be called in a replica context",
        ),
    ),
    "E415": (
        Wording(
            r"inside variable_sync_on_read_context",
            "A metric's result reads its own variable as a tensor (variable.read_value(), a NumPy function, mixed precision around it), while Keras joins the replicas' values: metrics of other libraries (tensorflow_addons' F1Score) or of your own do so under a strategy.",
            "metrics=[keras.metrics.F1Score(average='macro')]            # Keras's own (2.13 and later): made for strategies\nmetric = MyMetric(dtype=tf.float32)                         # with mixed precision: its variables are not cast\ndef result(self): return tf.math.divide_no_nan(self.total, self.count)      # of your own: the variable itself, no read_value() or .numpy()",
            "NotImplementedError: call `variable.read_value()` inside variable_sync_on_read_context is not supported",
        ),
        Wording(
            r"_distributed_apply\(\)`? instead of",
            "A TensorFlow 1 optimizer (tf.train, tf.compat.v1.train) is asked to minimize inside strategy.scope(), where no replica runs.",
            "optimizer = tf.keras.optimizers.Adam(1e-3)      # in place of tf.compat.v1.train.AdamOptimizer\n"
            + _STEP,
            "RuntimeError: Use `_distributed_apply()` instead of `apply_gradients()` in a cross-replica context.",
        ),
        Wording(
            r"Some replicas made a different number of replica_context\(\)\.merge_call",
            "Not all replicas took the same way: apply_gradients, a metric or an all_reduce stands under a Python `if` or a `try` that differs from replica to replica.",
            "# every replica must call apply_gradients, all_reduce and metric updates equally often: choose by tf.where on values, not by an if around the call",
            "RuntimeError: Some replicas made a different number of replica_context().merge_call() calls.",
        ),
    ),
    "E150": (
        Wording(
            r"(?:serving_default|saved_model|SavedModel|org\.tensorflow|Servable).{0,700}?(?:Could not find variable|could mean that the variable|resource variable)|(?:Could not find variable|could mean that the variable|resource variable).{0,700}?(?:serving_default|saved_model_cli|SavedModelBundle|org\.tensorflow|Servable)",
            "An exported SavedModel is run and its variables were not restored with it: a Keras 3 model that was written by tf.saved_model.save (Keras 3's variables are not tracked there as loaders in C++, Java and saved_model_cli expect), or a signature whose function holds variables that the saved object does not.",
            'model.export("path")                                   # Keras 3: writes what a loader restores; or keras.export.ExportArchive()\nexport TF_USE_LEGACY_KERAS=1; tf.saved_model.save(model, "path")      # a Keras 2 model',
            "FAILED_PRECONDITION: Could not find variable sequential/conv2d_1/kernel. [[{{function_node __inference_serving_default_8088}}{{node ReadVariableOp}}]]",
        ),
        Wording(
            r"Resource \S{1,200}?/N10tensorflow3VarE does not exist",
            "The variable was not made on this replica yet: weights were loaded before the model was compiled or first called, or the TPU was initialised again (a cell that ran twice) after the model was built.",
            "with strategy.scope():\n    model = build_model()\n    model.compile(...)\n    model.load_weights(path)      # after compile, in the scope\n# after tf.tpu.experimental.initialize_tpu_system everything is made anew: strategy, model, optimizer",
            "NotFoundError: Resource worker/batch_normalization_10/moving_mean/replica_7/N10tensorflow3VarE does not exist.",
        ),
    ),
    "E143": (
        Wording(
            r"A non-DistributedValues value .{0,60}?cannot be reduced",
            "strategy.reduce is given one plain value: the result of a function that did not run through strategy.run, or that was reduced already.",
            "losses = strategy.run(replica_step, args=(batch,))\nloss = strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)",
            "ValueError: A non-DistributedValues value 3.0 cannot be reduced with the given reduce op SUM.",
        ),
        Wording(
            r"'PerReplica' object has no attribute '(?P<name>numpy|shape|dtype|item)'",
            "What strategy.run gives back holds one value for each replica: `.<<name>>` is of one of them.",
            "value = strategy.reduce(tf.distribute.ReduceOp.MEAN, per_replica, axis=None).numpy()      # one number of all\nparts = strategy.experimental_local_results(per_replica); parts[0].<<name>>             # or the part of one replica",
            "AttributeError: 'PerReplica' object has no attribute 'numpy'",
        ),
    ),
    "E147": (
        Wording(
            r"Tensor-typed variable initializers must either be wrapped in an init_scope or callable",
            "A layer, or a variable, is made inside a function that is traced (dataset.map, a tf.function, a train step): each call would make it anew, and its initial value is a tensor of that graph.",
            "layer = tf.keras.layers.RandomFlip()                   # once, outside the function (a layer with a seed or weights too)\ndataset = dataset.map(lambda x, y: (layer(x, training=True), y))\nself.w = tf.Variable(lambda: tf.random.normal([10, 40]))      # a variable of your own: a callable, or add_weight in build()",
            "ValueError: Tensor-typed variable initializers must either be wrapped in an init_scope or callable (e.g., `tf.Variable(lambda : tf.truncated_normal([10, 40]))`) when building functions.",
        ),
    ),
    "E411": (
        Wording(
            r"TPU functions? (?:return values )?must (?:all either be Operations|return zero-or more Tensor)",
            "The function under strategy.run returns something that is no tensor (a string, an object, an optimizer).",
            "return loss      # tensors alone, or dicts and tuples of tensors",
            "TypeError: TPU function return values must all either be Operations or convertible to Tensors. Got error",
        ),
        Wording(
            r"Failed to convert object of type .{0,4}?class '(?P<name>[\w.]{1,80})",
            "An object of type `<<name>>` is passed as an argument to strategy.run or a tf.function; only tensors can be passed.",
            "def replica_step(x, y): ...      # model, optimizer and tokenizer are used from outside (captured), not passed as arguments\nstrategy.run(replica_step, args=(x, y))",
            "TypeError: Failed to convert object of type <class 'keras.optimizers.Adam'> to Tensor",
        ),
    ),
    "E417": (
        Wording(
            r"does not support distributed datasets with device prefetch when using sparse or ragged",
            "The dataset yields sparse or ragged tensors, which cannot be sent to the TPU ahead of time.",
            "options = tf.distribute.InputOptions(experimental_fetch_to_device=False)      # for a TPUEmbedding, which takes them on the host\nstrategy.experimental_distribute_dataset(dataset, options)\ndataset = dataset.map(lambda x, y: (x.to_tensor(shape=[None, MAX_LENGTH]), y))      # else dense, of one length",
            "ValueError: Found tensor SparseTensorSpec. TPUStrategy does not support distributed datasets with device prefetch when using sparse or ragged tensors.",
        ),
        Wording(
            r"__iter__\(\) is not supported inside of tf\.function or in graph mode",
            "The loop over the dataset (or its iter()) stands inside a tf.function that cannot make the iterator.",
            "iterator = iter(distributed_dataset)      # outside\n@tf.function\ndef train(iterator):\n    for _ in tf.range(STEPS): strategy.run(step, args=(next(iterator),))",
            "RuntimeError: __iter__() is not supported inside of tf.function or in graph mode.",
        ),
    ),
    "E419": (
        Wording(
            r"initialize_tpu_system is not supported within tf\.functions",
            "initialize_tpu_system is called inside a tf.function; it belongs into plain Python, once, at the start.",
            "tf.config.experimental_connect_to_cluster(resolver)\ntf.tpu.experimental.initialize_tpu_system(resolver)      # at the top of the program",
            "RuntimeError: initialize_tpu_system is not supported within tf.functions.",
        ),
        Wording(
            r"connect_to_cluster`? can only be called in eager mode",
            "Eager execution was switched off (disable_eager_execution, disable_v2_behavior) before the TPU is connected to.",
            "# delete tf.compat.v1.disable_eager_execution() and tf.compat.v1.disable_v2_behavior()",
            "ValueError: `experimental_connect_to_cluster` can only be called in eager mode.",
        ),
    ),
}
