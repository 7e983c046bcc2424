# ruff: noqa: E501  (texts of other programs stay as they are)
"""Variables, metrics and values of a strategy: its scope, its replicas."""

from __future__ import annotations

from tpudiag.known_errors.model import KnownError, Phase

ERRORS = (
    KnownError(
        id="E139",
        family="outside-scope",
        phase=Phase.BUILDING,
        patterns=(
            r"`?colocate_vars_with`? must only be passed a variable created in this",
            r"Need to be inside .{0,4}with strategy\.scope\(\)",
            r"metric was not created in (?:the )?\w{0,20}Strategy'?s? scope",
            r"was not created in the distribution strategy scope",
            r"different from the scope used for the original variable",
            r"(?:slot variables?|optimizer).{0,60}?(?:are |be )?created under the same strategy scope",
            r"(?:created|creating|built) (?:outside|out of) .{0,40}?strategy.{0,12}?scope",
            r"restoring from a checkpoint outside the scope",
            r"assert isinstance\(var, values",
            r"Trying to access resource .{1,300}? located in device .{1,80}?CPU:\d.{0,20}? from device .{1,80}?TPU",
            r"Trying to create optimizer slot variable under the scope",
            r"passed to `?model\.compile`? was created inside (?:of )?a different distribution strategy scope",
        ),
        cause="A variable (of the model, the optimizer or a metric) was made outside the strategy's scope, or in the scope of another strategy object.",
        fix="""\
with strategy.scope():                     # everything that makes variables, in one scope of one strategy
    model = build_model()
    optimizer = keras.optimizers.Adam()
    metric = keras.metrics.Mean()
    model.compile(optimizer, loss, metrics=[metric])
model.fit(dataset)                         # fit itself may stand outside""",
        citations=(
            "dmonterom/face_recognition_TF2#4",
            "google/automl#773",
            "tensorflow/tensorflow#55713",
            "keras-team/keras#20045",
            "huggingface/transformers#12202",
            "tensorflow/tensorflow#42953",
        ),
        example="ValueError: `colocate_vars_with` must only be passed a variable created in this tf.distribute.Strategy.scope(), not: <tf.Variable 'kernel:0'",
    ),
    KnownError(
        id="E140",
        family="mixed-strategies",
        phase=Phase.BUILDING,
        patterns=(r"Mixing different tf\.distribute\.Strategy objects",),
        cause="Two strategy objects are in play: the strategy was created twice (a notebook cell that was run again, once for each model), or the model was made outside its scope and is trained inside.",
        fix="""\
strategy = tf.distribute.TPUStrategy(resolver)      # once for each process; in a notebook: restart after running it again
with strategy.scope():                     # everything that makes variables, in one scope of one strategy
    model = build_model()
    optimizer = keras.optimizers.Adam()
    metric = keras.metrics.Mean()
    model.compile(optimizer, loss, metrics=[metric])
model.fit(dataset)                         # fit itself may stand outside""",
        citations=(
            "tensorflow/tensorflow#35601",
            "tensorflow/tensorflow#47466",
            "GoogleCloudPlatform/practical-ml-vision-book#19",
        ),
        example="RuntimeError: Mixing different tf.distribute.Strategy objects: <MirroredStrategyV1 object at 0x7f50> is not <MirroredStrategy object at 0x7f51>",
    ),
    KnownError(
        id="E141",
        family="nested-function",
        phase=Phase.TRACING,
        patterns=(
            r"merge_call`? called while defining a new graph or a tf\.function",
            r"merge_call.{0,80}?LossScaleOptimizer",
            r"LossScaleOptimizer.{0,120}?merge_call",
        ),
        cause="Inside strategy.run the gradients are applied (or a variable is updated) within a nested @tf.function or a condition or loop on tensors, where the replicas cannot meet.",
        fix="""\
def step_fn(batch):                       # no @tf.function here, nor on train_step, test_step or call of a keras.Model
    ...
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))     # not inside tf.cond, if or while on tensors
@tf.function                              # only the outermost function
def train_step(iterator):
    return strategy.run(step_fn, args=(next(iterator),))
# an average or state of your own: tf.Variable(..., synchronization=tf.VariableSynchronization.ON_READ)
model.compile(optimizer, loss, jit_compile=False)      # several replicas and a loss scale: no jit_compile; or mixed_bfloat16, which needs no scale""",
        citations=(
            "keras-team/keras#21366",
            "tensorflow/models#9972",
            "TensorSpeech/TensorFlowTTS#449",
            "tensorflow/tensorflow#59487",
            "google-research/hit-gan#1",
            "tensorflow/tensorflow#34203",
        ),
        example="RuntimeError: `merge_call` called while defining a new graph or a tf.function. This can often happen if the function `fn` passed to `strategy.run()` contains a nested `@tf.function`",
    ),
    KnownError(
        id="E142",
        family="replica-context",
        phase=Phase.TRACING,
        patterns=(
            r"Method requires being in cross-replica context",
            r"`?handle`? is not available outside the replica context",
            r"Trying to access a placeholder that is not supposed to be executed",
            r"graph generated from the cross-replica context in an in-replica context",
            r"'NoneType' object has no attribute 'merge_call'",
            r"(?:must|only|should|has to|cannot) be (?:called|used|run) (?:in|inside|within|from|outside) (?:of )?(?:a |the )?(?:cross-)?replica(?:_| )context",
            r"requires? (?:being in|a) (?:cross-)?replica context",
            r"`?apply_gradients\(\)`? cannot be called in cross-replica context",
            r"was called in a cross-replica context",
            r"may only be assigned in a replica context",
            r"(?:called|used|defined) outside (?:of )?(?:a |the )?replica context",
            r"cannot be called in (?:the )?cross[-_ ]replica[-_ ]?context",
            r"(?:must|should|needs to) be called (?:in|inside|from|under|within) (?:a |the )?(?:replica[-_ ]context|`?strategy\.run)",
            r"Detected a call to `?Model\.\w{3,9}`? inside a `?tf\.function",
            r"(?:get_replica_context|distribute|replica).{0,400}?'NoneType' object has no attribute '(?:all_reduce|all_gather|replica_id_in_sync_group|num_replicas_in_sync|strategy)'",
        ),
        cause="Something is called on the wrong side: the forward pass, gradients and apply_gradients belong into strategy.run (replica context); building, fit, reduce and saving belong outside it.",
        fix="""\
def step_fn(batch):                                    # runs on each replica
    with tf.GradientTape() as tape:
        loss = compute_loss(model(batch, training=True))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss
@tf.function
def train_step(iterator):
    return strategy.reduce(tf.distribute.ReduceOp.SUM, strategy.run(step_fn, args=(next(iterator),)), axis=None)
# model.fit, train_on_batch and strategy.reduce: outside strategy.run""",
        citations=(
            "tensorflow/tensorflow#41773",
            "tensorflow/tensorflow#30947",
            "tensorflow/tensorflow#35226",
            "tensorflow/tensorflow#36392",
            "tensorflow/tensorflow#56852",
            "tensorflow/tensorflow#60906",
        ),
        example="RuntimeError: Method requires being in cross-replica context, use get_replica_context().merge_call()",
    ),
)
