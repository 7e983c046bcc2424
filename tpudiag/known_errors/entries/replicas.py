# ruff: noqa: E501  (texts of other programs stay as they are)
"""Values and variables of the replicas."""

from __future__ import annotations

from tpudiag.known_errors.model import KnownError, Phase, Rival

ERRORS = (
    KnownError(
        id="E143",
        family="per-replica-value",
        phase=Phase.TRACING,
        patterns=(
            r"convert a value \(PerReplica",
            r"Flattening a PerReplica to components",
            r"unsupported type \(<class '[\w.]{1,80}PerReplica'>\)",
            r"'(?:PerReplica|DistributedValues|PerReplicaSpec)' object has no attribute '(?P<attribute>\w{1,30})'",
            r"'PerReplica' object is not (?:iterable|subscriptable|callable)",
            r"PerReplica.{0,120}?(?:cannot be converted|not supported|unsupported operand)",
            r"unsupported operand type.{0,80}?PerReplica",
            r"Unsupported value type PerReplica",
            r"Fetch argument PerReplica",
            r"(?:of|with|has|unsupported|invalid) type:? ?\(?(?:<class )?'?[\w.]{0,80}PerReplica'",
            r"Can not convert a PerReplica",
            r"A non-DistributedValues value .{0,60}?cannot be reduced",
            r"argument must be .{0,40}?not '(?:PerReplica|DistributedValues)'",
        ),
        cause="A value of all replicas (PerReplica: what strategy.run returns, or what a distributed dataset gives) is used as if it were one tensor.",
        fix="""\
loss = strategy.reduce(tf.distribute.ReduceOp.SUM, per_replica_loss, axis=None)     # one number of all
outputs = tf.concat(strategy.experimental_local_results(per_replica_outputs), axis=0)
losses = strategy.run(step_fn, args=(next(iterator),))     # what the iterator gives goes into strategy.run as it is""",
        citations=(
            "noahchalifour/rnnt-speech-recognition#29",
            "tensorflow/tensorflow#35404",
            "tensorflow/tensorflow#35529",
        ),
        example="""\
ValueError: Attempt to convert a value (PerReplica:{
  0: <tf.Tensor: shape=(4, 33)>}) with an unsupported type (<class 'tensorflow.python.distribute.values.PerReplica'>) to a Tensor.""",
        yields_to=("E699",),
    ),
    KnownError(
        id="E144",
        family="aggregation-missing",
        phase=Phase.TRACING,
        patterns=(
            r"You must specify an aggregation method to update a MirroredVariable",
            r"Use DistributionStrategy\.update\(\) to modify a MirroredVariable",
            r"specify an aggregation method.{0,120}?(?:Replica|Tower)",
        ),
        cause="A variable is assigned inside the step, where each replica has a value of its own, and nothing says how they become one.",
        fix="""\
with strategy.scope():
    state = tf.Variable(0.0, trainable=False, aggregation=tf.VariableAggregation.MEAN)      # or SUM, ONLY_FIRST_REPLICA
    # each replica keeps its own, combined when it is read:
    count = tf.Variable(0.0, trainable=False, synchronization=tf.VariableSynchronization.ON_READ,
                        aggregation=tf.VariableAggregation.SUM)
# in a layer: self.add_weight(..., trainable=False, aggregation=...)""",
        rivals=(
            Rival(
                cause="an optimizer that assigns the weights itself in apply_gradients (that of BERT's first code, many a copied AdamW, LAMB or LARS), which a replica may not",
                look_for="`apply_gradients` and `optimization.py` or an optimizer's file among the last frames",
                decide="grep -n 'assign(' OPTIMIZER.py",
                fix="""\
with strategy.scope():
    optimizer = keras.optimizers.AdamW(LEARNING_RATE, weight_decay=0.01)    # knows of replicas; before TensorFlow 2.11: tfm.optimization.AdamWeightDecay of tf-models-official
# or one device, without the strategy: what the optimizer was written for""",
                cues=(r"optimiz\w{2,20}\.py.{0,60}?apply_gradients", r"adamw?_?optimizer\.py"),
            ),
            Rival(
                cause="a variable of your own (a counter, moving average, spectral norm) that the step assigns",
                look_for="the frame of your own that calls assign, assign_add",
                decide="grep -nE 'assign(_add|_sub)?\\(' train.py",
            ),
        ),
        citations=(
            "tensorflow/tensorflow#23792",
            "mlcommons/training#452",
            "tensorflow/addons#740",
            "tensorflow/tensorflow#37834",
            "tensorflow/tensorflow#19151",
            "leondgarse/Keras_insightface#3",
        ),
        example="ValueError: You must specify an aggregation method to update a MirroredVariable in Replica Context.",
    ),
    KnownError(
        id="E145",
        family="metric-outside-run",
        phase=Phase.TRACING,
        patterns=(
            r"SyncOnReadVariable does not support .{0,3}assign\w{0,4}.{0,3} in cross-replica context",
            r"SyncOnReadVariable.{0,80}?cross-replica context",
        ),
        cause="A metric is updated outside the replicas: update_state (or add_metric, while a model is saved or called directly) runs under strategy.scope() but not inside strategy.run.",
        fix="""\
def step_fn(batch):
    ...
    metric.update_state(labels, logits)          # inside strategy.run: each replica counts its own
strategy.run(step_fn, args=(batch,))
print(metric.result())                           # outside: the sum over the replicas
# a model whose call() updates metrics or add_metric: call and save it outside the scope""",
        citations=(
            "tensorflow/tensorflow#56875",
            "tensorflow/tensorflow#40366",
            "keras-team/keras#16828",
            "tensorflow/tensorflow#50407",
        ),
        example="ValueError: SyncOnReadVariable does not support `assign_add` in cross-replica context when aggregation is set to `tf.VariableAggregation.SUM`.",
    ),
    KnownError(
        id="E146",
        family="mirrored-expected",
        phase=Phase.TRACING,
        patterns=(
            r"Expected value to be mirrored across replicas",
            r"is not mirrored across replicas",
        ),
        cause="A variable that each replica keeps for itself (SyncOnRead: a metric's, a batch normalisation's, a counter of Keras 3.7) is given to the optimizer or assigned as if it were mirrored.",
        fix="""\
optimizer.apply_gradients(zip(gradients, model.trainable_variables))     # trainable ones only, no metric's or moving averages
v = tf.Variable(0.0, trainable=False, synchronization=tf.VariableSynchronization.AUTO,
                aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA)    # a state of your own: mirrored
# Keras 3.7 makes such variables by a bug: pip install "keras>=3.8\"""",
        citations=(
            "mlcommons/training#576",
            "keras-team/keras#20601",
        ),
        example="TypeError: Expected value to be mirrored across replicas: SyncOnReadVariable:{",
    ),
    KnownError(
        id="E147",
        family="tensor-initializer",
        phase=Phase.BUILDING,
        patterns=(
            r"Tensor-typed variable initializers must either be wrapped in an init_scope or callable",
            r"initial_value must have a shape specified",
            r"could not be lifted out of a `?tf\.function",
            r"is from inside a control-flow construct",
        ),
        cause="A variable is made inside a function or a strategy's scope with a tensor as its initial value; there it must be a callable (or an initializer) that each replica calls.",
        fix="""\
self.w = tf.Variable(lambda: tf.random.normal([10, 40]))                 # a callable
self.w = self.add_weight(name="w", shape=(10, 40), initializer="random_normal")      # in a layer's build()""",
        citations=("tensorflow/tensorflow#42997",),
        example="ValueError: Tensor-typed variable initializers must either be wrapped in an init_scope or callable (e.g., `tf.Variable(lambda : tf.truncated_normal([10, 40]))`) when building functions.",
    ),
    KnownError(
        id="E53",
        family="variables-in-function",
        phase=Phase.TRACING,
        patterns=(
            r"tf\.function only supports singleton tf\.Variables created on the first call",
            r"tf\.function-decorated function tried to create variables on non-first call",
            r"failed to lift variable creations out of this tf\.function",
            r"tf\.function only supports singleton tf\.Variables",
            r"tried to create variables on non-first call",
            r"Variables? .{0,40}?created (?:inside|in) .{0,20}?(?:tf\.function|@tf\.function)",
        ),
        cause="A tf.function creates variables when it is traced again: a layer, a metric or an optimizer that is not built, or one step that serves two optimizers.",
        fix="""\
with strategy.scope():                                 # everything is made here, once
    model.build((None, features))
    optimizer.build(model.trainable_variables)
# and one tf.function for each model with its optimizer, not one that takes which of them to train""",
        citations=("keras-team/keras#19005",),
        evidence="reproduced",
        example="ValueError: tf.function only supports singleton tf.Variables created on the first call. Make sure the tf.Variable is only created once or created outside tf.function. See https://www.tensorflow.org/guide/function#creating_tfvariables for more information.",
        near_miss="ValueError: tf.function only supports tf.Variables created with aggregation",
    ),
    KnownError(
        id="E148",
        family="optimizer-variables",
        phase=Phase.TRACING,
        patterns=(
            r"optimizer can only be called for the variables it was originally built with",
            r"The optimizer cannot recognize variable",
            r"Unknown variable: <KerasVariable",
            r"optimizer cannot .{0,20}?recognize variable",
            r"[Gg]radients must match .{0,40}?one-to-one",
        ),
        cause="An optimizer meets variables it was not built for: one optimizer serves two models, layers were made or unfrozen after its first step, or it was built for another model.",
        fix="""\
with strategy.scope():
    optimizer = keras.optimizers.Adam()
    optimizer.build(model.trainable_variables)      # all it will ever update, after the model is built
# one optimizer for each model; after unfreezing layers: a new optimizer, and compile again""",
        citations=("keras-team/keras#18716",),
        example="KeyError: 'The optimizer cannot recognize variable dense/kernel:0. This usually means you are trying to call the optimizer to update different parts of the model separately.",
    ),
    KnownError(
        id="E149",
        family="generator-in-scope",
        phase=Phase.BUILDING,
        patterns=(
            r"Creating a generator within a strategy scope is disallowed",
            r"generator.{0,60}?within a strategy scope",
        ),
        cause="A tf.random.Generator is made inside strategy.scope(), where it is not clear how the replicas share it.",
        fix="""\
generator = tf.random.Generator.from_seed(1)          # before and outside strategy.scope()
# inside the step: tf.random.stateless_normal(shape, seed=[seed, step]); Random* layers: in dataset.map""",
        citations=("tensorflow/cloud#57",),
        example="ValueError: Creating a generator within a strategy scope is disallowed, because there is ambiguity on how to replicate a generator",
    ),
    KnownError(
        id="E182",
        family="variables-deleted",
        phase=Phase.TRACING,
        patterns=(r"Called a function referencing variables which have been deleted",),
        cause="A tf.function uses variables that no longer exist: the model or layer they belong to was made inside a function, or by a loader of which only the function was kept, and Python freed it.",
        fix="""\
loaded = tf.saved_model.load(folder)            # keep the object, not only loaded.signatures["serving_default"]
with strategy.scope():
    self.model = build_model()                  # a name or attribute that lives as long as the function""",
        evidence="recalled",
        example="AssertionError: Called a function referencing variables which have been deleted. This likely means that function-local variables were created and not referenced elsewhere in the program.",
    ),
    KnownError(
        id="E150",
        family="variable-uninitialised",
        phase=Phase.EXECUTING,
        patterns=(
            r"Error while reading resource variable (?P<variable>\S{1,160}?) from Container",
            r"This could mean that the variable was uninitialized",
            r"This could mean that the variable has been deleted",
            r"Could not find variable (?P<variable>\S{1,160}?)\. This could mean",
            r"Trying to read variable with wrong dtype\. Expected \w{1,12} got INVALID",
            r"Attempting to use uninitialized value (?P<variable>\S{1,120})",
            r"Resource \S{1,200}?/N10tensorflow3VarE does not exist",
            r"Container \w{1,40} does not exist",
            r"Could not find resource: \w{1,40}/",
            r"Could not find variable [\w/.:-]{2,120}",
        ),
        cause="A variable that the step reads was never initialised on the TPU, or is gone: it was made outside the scope or in another session or graph, an optimizer of another library has its own variables, or the TPU was initialised again after it was made.",
        details=("The variable is {variable}.",),
        fix="""\
with strategy.scope():                     # everything that makes variables, in one scope of one strategy
    model = build_model()
    optimizer = keras.optimizers.Adam()
    metric = keras.metrics.Mean()
    model.compile(optimizer, loss, metrics=[metric])
model.fit(dataset)                         # fit itself may stand outside
# a custom optimizer: make its variables in the scope too (optimizer.build); a TF1 session: run the initialisers
# initialize_tpu_system only once, before the variables""",
        citations=("tensorflow/tensorflow#26950",),
        example="FailedPreconditionError: Error while reading resource variable dense_1/kernel/adabound_m from Container: worker. This could mean that the variable was uninitialized.",
    ),
    KnownError(
        id="E167",
        family="distributed-dataset",
        phase=Phase.READING,
        patterns=(
            r"'Distributed(?:Dataset|Iterator)\w{0,24}' object has no attribute '(?P<name>\w{1,40})'",
            r"'Distributed(?:Dataset|Iterator)\w{0,24}' object is not",
            r"Distributed datasets? (?:do not|does not|cannot) ",
            r"object of type 'Distributed(?:Dataset|Iterator)\w{0,30}' has no len",
        ),
        cause="A dataset that was distributed already is used like a plain one (map, batch, take, len, numpy).",
        details=("It was asked for {name}.",),
        fix="""\
dataset = dataset.map(parse).batch(global_batch, drop_remainder=True)             # first all transformations
distributed = strategy.experimental_distribute_dataset(dataset)                   # then distribute, once
iterator = iter(distributed); strategy.run(step_fn, args=(next(iterator),))       # model.fit: give it the plain dataset""",
        evidence="recalled",
        example="AttributeError: 'DistributedDataset' object has no attribute 'map'",
    ),
)
