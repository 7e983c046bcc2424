# ruff: noqa: E501  (texts of other programs stay as they are)
"""Sessions, savers and hooks of TensorFlow 1; signatures of tf.function and SavedModel."""

from __future__ import annotations

from tpudiag.known_errors.model import KnownError, Phase

ERRORS = (
    KnownError(
        id="E725",
        family="function-signature",
        phase=Phase.TRACING,
        patterns=(
            r"takes \d{1,3} positional arguments \(as specified by the input_signature\) but \d{1,3}",
            r"got keyword argument `(?P<name>\w{1,60})` that was not included in input_signature",
            r"Cannot define a TensorFlow function from a Python function with keyword",
            r"ConcreteFunction .{1,120}? was constructed with .{1,80}? value .{1,160}?, but was called with",
            r"All inputs to `ConcreteFunction`s must be Tensors",
            r"TypeError: \w[^:\n]{0,120}? missing required arguments: (?P<name>[\w, ]{1,120})",
            r"Functions that expect tf\.Variable inputs cannot be exported",
            r"Got a dictionary containing non-Tensor value",
            r"When input_signature is provided, all inputs to the Python function must be convertible",
            r"Structure of Python function inputs does not match input_signature",
            r"Python inputs incompatible with input_signature",
        ),
        cause="A tf.function with an input_signature, or a concrete function, is called with something else than it was made for: other numbers, names, types or shapes of arguments, Python values that were fixed when it was traced, keywords.",
        details=("It is about {name}.",),
        fix="""\
print(fn.input_signature, fn.structured_input_signature)                    # what it takes
@tf.function(input_signature=[tf.TensorSpec([None, 128], tf.int32), tf.TensorSpec([None], tf.int64)])     # one for each argument, None for a size that changes
outputs = fn(ids=tf.constant(ids, tf.int32))                                  # a SavedModel's signature: by keyword, tensors of its very types
# a Python value that changes (a flag, a step): a tensor, or no input_signature at all""",
        evidence="recalled",
        example="TypeError: train_step(batch) takes 1 positional arguments (as specified by the input_signature) but 2 were given",
    ),
    KnownError(
        id="E726",
        family="signature-not-there",
        phase=Phase.SAVING,
        patterns=(
            r"MetaGraphDef associated with tags .{1,120}? does not have a signature_def with key: ?'?(?P<name>[\w-]{1,60})",
            r"SignatureDef map key \"(?P<name>\w{1,60})\" is reserved",
            r"(?:Prediction|Classification|Regression) (?:inputs|outputs|examples|predictions|classes and scores) cannot (?:both )?be None",
            r"SavedModels saved from Tensorflow V1 or Estimator .{0,30}?cannot be loaded with node filters",
            r"Expected exactly one SavedModel (?:init|main) op",
            r"No tf\.train\.Saver object was passed to the function SavedModelLoader",
        ),
        cause="A SavedModel is asked for a signature or part that it was not exported with.",
        details=("The name is {name}.",),
        fix="""\
saved_model_cli show --dir PATH --all                                    # tags, signatures, their inputs and outputs
model.export(path)                                                        # Keras: signature serving_default; or
tf.saved_model.save(model, path, signatures={"predict": fn.get_concrete_function(spec)})""",
        evidence="recalled",
        example="ValueError: MetaGraphDef associated with tags {'serve'} does not have a signature_def with key: predict.",
    ),
    KnownError(
        id="E727",
        family="saver-variables",
        phase=Phase.SAVING,
        patterns=(
            r"At least two variables have the same name: (?P<name>[\w/:.-]{1,120})",
            r"ValueError: No variables to save",
            r"Variable to save is not a Variable",
            r"When eager execution is enabled, `?var_list`? must specify",
            r"Can only save/restore ResourceVariables when eager",
            r"'latest_filename' (?:collides|must not contain path)",
            r"conflicts with path used for checkpoint state",
            r"Two different ResourceVariable objects with the same shared_name",
            r"save and restore operations need to be built together",
            r"The same saveable will be restored with two names",
        ),
        cause="tf.train.Saver of TensorFlow 1 cannot make out what to save: no variables yet (it is made before the model, or eager execution hides them), two of one name, something that is no variable, or a file's name that it uses itself.",
        details=("The name is {name}.",),
        fix="""\
checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer)       # TensorFlow 2: by object, no names; CheckpointManager keeps the last ones
saver = tf.compat.v1.train.Saver(tf.compat.v1.global_variables())          # TensorFlow 1: after the whole graph is built
tf.compat.v1.disable_eager_execution()                                      # or graph mode for the whole program, before anything else""",
        evidence="recalled",
        example="ValueError: No variables to save",
    ),
    KnownError(
        id="E728",
        family="session-setup",
        phase=Phase.EXECUTING,
        patterns=(
            r"Init operations did not make model ready",
            r"Model is not initialized and no init_op or init_fn",
            r"More than one item in (?:the )?collection",
            r"No items in collection .{1,60}?\. Please add a saver",
            r"You cannot provide both saver and scaffold",
            r"Exactly one of scaffold or summary_op must be provided",
            r"exactly one of every_n_(?:steps|iter) and every_n_secs should be provided",
            r"One of num_steps or last_step must be specified",
            r"Run called even after should_stop requested",
            r"Existing \"global_step\" (?:must be|does not have|is not)",
            r"Global step (?:tensor should be created|should be created|is required)",
            r"If outfeed is requested every n steps",
            r"\[0\] should be callable",
            r"Coordinator stopped with threads still running",
        ),
        cause="A session with hooks (MonitoredSession, TPUEstimator) lacks or has twice what it works with: an initialiser that reaches all variables, one saver, a global step of an integer type, one of two options of a hook, a host_call of (function, tensors).",
        fix="""\
step = tf.compat.v1.train.get_or_create_global_step()                    # once, before the optimizer; minimize(loss, global_step=step)
scaffold = tf.compat.v1.train.Scaffold(saver=tf.compat.v1.train.Saver(sharded=True), init_op=tf.group(tf.compat.v1.global_variables_initializer(), tf.compat.v1.local_variables_initializer(), tf.compat.v1.tables_initializer()))
hook = tf.estimator.CheckpointSaverHook(path, save_steps=1000)             # one of save_steps and save_secs
host_call=(host_fn, [step_tensor_of_batch, loss_of_batch])                  # a function and a list of tensors with the batch's dimension""",
        evidence="recalled",
        example="RuntimeError: Init operations did not make model ready.  Init op: group_deps, init fn: None, local_init_op: name: group_deps_1",
    ),
    KnownError(
        id="E729",
        family="attributes-tracked",
        phase=Phase.SAVING,
        patterns=(
            r"List only supports append, multiplying in place",
            r"Mappings are an append-only data structure",
            r"Error when exporting object .{1,160}?reserved attribute",
            r"a Trackable with this name is already declared as a dependency",
            r"Only Trackables with one Saveable are supported",
            r"The object has an attribute named .{1,60}?, which is reserved",
        ),
        cause="Lists and dicts that are attributes of a Keras model, layer or tf.Module are watched for saving: removing, overwriting or reordering their items, keys that are no strings, or an attribute with a reserved name keep them from being saved.",
        fix="""\
self._sizes = tuple(sizes)                                 # a tuple, or a new list in place of a changed one
self.blocks = [*self.blocks, block]                         # not del, insert, *= or an item overwritten
self.table = {str(key): value for key, value in table.items()}
# what need not be saved: outside the model, or in a tuple""",
        evidence="recalled",
        example="ValueError: List only supports append, multiplying in place by 2 removes elements.",
    ),
    KnownError(
        id="E730",
        family="mixed-precision-twice",
        phase=Phase.BUILDING,
        patterns=(
            r"mixed precision (?:policy cannot be set|graph rewrite cannot be enabled), because",
            r"\"opt\" must not already be an instance of a (?:MixedPrecision)?LossScaleOptimizer",
            r"When a dtype policy with a loss scale is used, you can only pass a single optimizer",
            r"loss_scale_value must be (?:a Python|at least)",
        ),
        cause="Mixed precision is asked for twice: by a Keras policy and by the graph rewrite of TensorFlow 1, or an optimizer is wrapped in a loss scale that has one. A TPU needs neither rewrite nor loss scale: its type is bfloat16.",
        fix="""\
keras.mixed_precision.set_global_policy("mixed_bfloat16")     # this alone, before the model; float32 inputs and loss
optimizer = keras.optimizers.Adam(1e-3)                        # plain: no LossScaleOptimizer, no enable_mixed_precision_graph_rewrite""",
        evidence="recalled",
        example="ValueError: The mixed precision policy cannot be set, because the mixed precision graph rewrite has already been enabled.",
    ),
    KnownError(
        id="E731",
        family="nothing-to-optimise",
        phase=Phase.TRACING,
        patterns=(
            r"ValueError: No variables to optimize",
            r"ValueError: No variables provided",
            r"The model cannot be run because it has no loss to optimize",
            r"The variables must be half, float, or double",
            r"Gradient must be convertible to a Tensor or IndexedSlices",
            r"`grad` not a Tensor or IndexedSlices",
        ),
        cause="The optimizer is given nothing it can train: no trainable variables (all layers frozen, a list built before the model), no loss, variables of an integer type, or gradients that are no tensors.",
        fix="""\
print([v.name for v in model.trainable_variables])             # after the model was built or called once
base.trainable = True                                            # then compile again
optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))""",
        evidence="recalled",
        example="ValueError: No variables to optimize.",
    ),
)
