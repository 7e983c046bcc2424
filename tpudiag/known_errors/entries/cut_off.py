# ruff: noqa: E501  (texts of other programs stay as they are)
"""What mostly fails at a place of TensorFlow or Keras, for tracebacks without their last line."""

from __future__ import annotations

from tpudiag.known_errors.model import Kind, KnownError, Phase, Rival

ERRORS = (
    KnownError(
        id="E859",
        family="somewhere-in-the-optimizer",
        phase=Phase.TRACING,
        kind=Kind.CONSEQUENCE,
        patterns=(),
        places=(
            r"(?:optimizers?|optimizer_v2|optimizer_experimental|optimizer_utils)/[\w/]{0,60}\.py ",
            r"optim(?:izer|ization)\w{0,30}\.py ",
            r"self\.optimizer\.(?:apply_gradients|minimize)\(",
        ),
        cause="The optimizer's step failed: its own variables (slots) cannot be made for the model's, it is given no gradients, or the replicas cannot meet where it stands.",
        fix="""\
with strategy.scope():                                      # model, optimizer and metrics in one scope of one strategy
    model = build_model(); optimizer = tf.keras.optimizers.Adam(1e-3)
    model.build((None, *SHAPE)); optimizer.build(model.trainable_variables)      # its variables before the step, not in it
grep -nE "import.*keras|optimizer" train.py                 # model and optimizer of one Keras?""",
        rivals=(
            Rival(
                cause="the model (or the optimizer) was made outside strategy.scope(), and the other within it: slots cannot be placed beside the variables",
                look_for="`_create_slots`, `add_slot`, `colocate_vars_with`, a strategy in the traceback",
                decide='grep -nE "scope\\(|from_pretrained|build_model|optimizer *=" train.py',
                fix="with strategy.scope(): model = build_model(); optimizer = tf.keras.optimizers.Adam()",
                cues=(
                    r"(?:tpu|mirrored)_(?:strategy|run)\.py",
                    r"args\.strategy\.run",
                    r"experimental_run_v2",
                ),
                families=("outside-scope", "mixed-strategies"),
            ),
            Rival(
                cause="no variable of the model takes part in the loss (the forward pass stands outside the tape, .numpy(), argmax, no labels)",
                look_for="`filter_empty_gradients`, `_filter_grads`",
                decide="print([g is None for g in tape.gradient(loss, model.trainable_variables)])",
                cues=(r"filter_empty_grad", r"_filter_grads"),
                families=("no-gradients",),
            ),
            Rival(
                cause="a synchronisation of the replicas within a condition, loop or inner tf.function (gradient accumulation)",
                look_for="`merge_call`, tf.cond or an `if` on a tensor around apply_gradients",
                decide='grep -nE "tf.cond|@tf.function" train.py',
                cues=(r"merge_call", r"smart_cond", r"in tf\.cond"),
                families=("nested-function",),
            ),
            Rival(
                cause="the optimizer's variables are made on a later call of the function: a new optimizer, or one optimizer for two models",
                look_for="`invalid_creator_scope`, a second model",
                decide='grep -n "optimizers\\." train.py',
                cues=(r"invalid_creator_scope",),
                families=("variables-in-function", "optimizer-variables"),
            ),
            Rival(
                cause="the optimizer is of another Keras, or of another kind than the code around it expects",
                look_for="keras and tf_keras (or keras/ and tensorflow/python/keras/) in one traceback",
                decide='grep -nE "import.*keras|from.*keras" *.py',
                families=("two-keras", "optimizer-arguments", "loss-scale"),
            ),
        ),
        citations=(
            "huggingface/transformers#9467",
            "keras-team/keras#14829",
            "keras-team/tf-keras#570",
        ),
        example='  File "keras/engine/training.py", line 893, in train_step\n    self.optimizer.minimize(loss, self.trainable_variables, tape=tape)\n  File "keras/optimizers/optimizer_v2/optimizer_v2.py", line 539, in minimize\n    return self.apply_gradients(grads_and_vars, name=name)\n  File "keras/opti',
    ),
    KnownError(
        id="E860",
        family="somewhere-in-a-callback",
        phase=Phase.EXECUTING,
        kind=Kind.CONSEQUENCE,
        patterns=(),
        places=(
            r"callbacks[\w/]{0,60}\.py ",
            r"callbacks?\.on_(?:epoch|train|batch|test|predict)_",
        ),
        cause="A callback of fit failed, at the time that its frame names (the end of an epoch or of a batch).",
        fix="""\
model.fit(dataset, callbacks=[])                                   # does it run without? then put them back one by one
print(history.history.keys())                                      # the names that a path or `monitor` may use
keras.callbacks.ModelCheckpoint("gs://BUCKET/run/{epoch:02d}.weights.h5", save_weights_only=True)      # TPU Node: gs://, not a local folder
keras.callbacks.TensorBoard("gs://BUCKET/logs", histogram_freq=0)   # no histograms, no embeddings, on a TPU""",
        rivals=(
            Rival(
                cause="the path of ModelCheckpoint (or `monitor`) uses a name that the logs of the epoch do not hold: no validation ran, or the metric is named otherwise",
                look_for="`filepath.format`, a KeyError",
                decide="print(model.metrics_names); is validation_data given?",
                cues=(r"filepath\.format", r"_get_file_path", r"KeyError {0,80}Traceback"),
                families=("metric-name",),
            ),
            Rival(
                cause="saving the model failed: a layer without get_config, a file that cannot be written, .h5 on gs://",
                look_for="`_save_model`, `model.save(`, h5py",
                decide="model.save_weights(path)      # alone, before fit",
                cues=(r"_save_model", r"model\.save", r"save_weights\(", r"h5py/"),
                families=("not-serialisable", "h5-in-bucket", "local-files", "save-format"),
            ),
            Rival(
                cause="the step itself had failed on the device: its results are fetched here, and its error comes out with them",
                look_for="`on_train_batch_end`, `_batch_update_progbar`, `to_numpy_or_python_type`",
                decide="the error's own sentence, below these frames; the worker's log",
                cues=(r"to_numpy_or_python_type", r"_batch_update_progbar", r"on_train_batch_end"),
                families=("worker-lost", "hbm-at-run-time", "unsupported-op", "dynamic-dimension"),
            ),
            Rival(
                cause="TensorBoard's callback: histograms, a graph or a profile that cannot be written",
                look_for="`TensorBoard`, `_log_weights`, `summary`",
                decide="histogram_freq=0, write_graph=False, profile_batch=0",
                cues=(
                    r"_log_weights",
                    r"_write_keras_model",
                    r"_log_epoch_metrics",
                    r"self\.merged",
                ),
                families=("summary-in-step", "profiler-busy"),
            ),
            Rival(
                cause="a callback of your own, or CSVLogger whose columns changed with the metrics",
                look_for="a frame of your own file, `csv_file`",
                decide="the innermost line of your own in the traceback",
                cues=(r"csv_file", r"CSVLogger"),
            ),
        ),
        citations=("CSBDeep/CSBDeep#3", "tensorflow/tensorflow#40907"),
        example='  File "keras/engine/training_generator.py", line 240, in fit_generator\n    callbacks.on_epoch_end(epoch, epoch_logs)\n  File "tensorflow/pyth',
    ),
    KnownError(
        id="E861",
        family="step-failed",
        phase=Phase.EXECUTING,
        kind=Kind.CONSEQUENCE,
        patterns=(),
        places=(
            r"execute\.py quick_execute",
            r"tf_utils\.py (?:to_numpy|sync_to)",
            r"session\.py (?:_do_call|_do_run|_run_fn|_call_tf_session\w{0,5}|__call__|run)$",
            r"session\.py (?:_do_call|_do_run|_run_fn|_call_tf_session\w{0,5}|__call__|run)\n",
            r"errors_impl\.py __exit__",
            r"ops\.py (?:_numpy\w{0,9}|raise_from_not_ok_status)",
        ),
        cause="The compiled program failed while it ran, was compiled or was fed: the frames are always these, and only the sentence below them says what it was.",
        fix="""\
keras.config.disable_traceback_filtering()        # the whole traceback; the LAST lines tell: the status, the operation in {{node ...}}
tpudiag explain --log LOG                         # a whole log: finds the first telling line by itself
model.train_on_batch(*next(iter(dataset)))        # on a CPU, without strategy: shapes, labels and data fail there too""",
        rivals=(
            Rival(
                cause="it did not compile for the device: a dynamic shape, an operation or type that the TPU does not have, memory",
                look_for="`Compilation failure`, `XLA`, `Detected unsupported operations`",
                decide="tpudiag check train.py --for v5e-8",
                cues=(r"Compilation failure", r"UnimplementedError", r"tpu_compile"),
                families=(
                    "dynamic-dimension",
                    "unsupported-op",
                    "type-not-on-tpu",
                    "hbm-at-compile-time",
                ),
            ),
            Rival(
                cause="the worker is gone, or memory ran out",
                look_for="UnavailableError, AbortedError, ResourceExhaustedError; `Socket closed`",
                decide="the worker's log and memory; a smaller batch",
                cues=(r"UnavailableError", r"AbortedError", r"ResourceExhausted"),
                families=("worker-lost", "hbm-at-run-time", "host-memory", "preempted"),
            ),
            Rival(
                cause="the data: an element that cannot be read, decoded or batched, or the end of the data",
                look_for="`IteratorGetNext`, OutOfRangeError, DataLossError, `Decode`",
                decide="for element in dataset: pass      # on a CPU",
                cues=(r"IteratorGetNext", r"OutOfRangeError", r"DataLossError", r"NotFoundError"),
                families=(
                    "end-of-data",
                    "corrupted-data",
                    "unequal-shapes-in-batch",
                    "file-missing",
                ),
            ),
            Rival(
                cause="shapes, class numbers or indices that do not fit: labels beyond the classes, another batch than the model holds",
                look_for="InvalidArgumentError, `labels`, `Incompatible shapes`, `indices`",
                decide="print(dataset.element_spec, model.output_shape); the largest label",
                cues=(r"InvalidArgumentError",),
                families=("shape-conflict", "index-out-of-range", "rank-mismatch"),
            ),
        ),
        citations=("keras-team/keras-io#1234", "tensorflow/tensorflow#43186"),
        example='  File "tensorflow/python/eager/execute.py", line 52, in quick_execute\n    tensors = pywrap_tfe.TFE_Py_Execute(ctx._handle, device_name, op_name,',
    ),
    KnownError(
        id="E862",
        family="somewhere-in-loading",
        phase=Phase.SAVING,
        kind=Kind.CONSEQUENCE,
        patterns=(),
        places=(
            r"sav(?:ing|ed_model)[\w/]{0,60}\.py ",
            r"(?:hdf5_format|legacy_h5_format|load|save|checkpoint_view|restore|saver|serialization\w{0,9})\.py ",
            r"\.(?:from_pretrained|from_preset|load_weights|load_model)\(",
        ),
        cause="A model or its weights could not be read: they are of another model or another Keras than the code that reads them, need classes that are not known, or the file is not whole.",
        fix="""\
unzip -p model.keras metadata.json                                # which Keras wrote it; .h5: h5dump -a keras_version model.h5
model = build_model_as_it_was_saved(); model.load_weights(path)   # by its own code: no classes to be found
keras.models.load_model(path, compile=False, custom_objects={"MyLayer": MyLayer})
model.save_pretrained(folder); Model.from_pretrained(folder)      # models of transformers: never save() and load_model()""",
        rivals=(
            Rival(
                cause="a model of transformers (or of another library) is read as one of Keras: load_model does not know how to build it",
                look_for="transformers, TFAuto..., T5, BERT in names of files or classes",
                decide="model = TFAutoModel....from_pretrained(folder)",
                fix="model.save_pretrained(folder); model = type(model).from_pretrained(folder)",
                cues=(r"transformers/", r"FlanT5", r"TFAutoModel", r"TFBert"),
                families=("load-model", "transformers-tensorflow"),
            ),
            Rival(
                cause="other layers, sizes or classes than the file holds, or another release of the library that defines them",
                look_for="`_raise_loading_failure`, `load_own_variables`, `load_weights`",
                decide="the same release of Keras (keras-hub, keras-cv) as when it was saved",
                cues=(r"_raise_loading", r"load_own_variables", r"from_preset", r"load_weights"),
                families=("checkpoint-mismatch",),
            ),
            Rival(
                cause="classes or functions of your own (layers; a loss or metric, when the model is compiled anew) that are not registered, or a Lambda",
                look_for="`deserialize`, `from_config`, `compile_args_from_training_config`",
                decide="load_model(path, compile=False): without loss and metrics",
                fix='model = keras.models.load_model(path, compile=False, custom_objects={"MyLayer": MyLayer}); model.compile(...)',
                cues=(
                    r"deserialize_keras_object",
                    r"from_config",
                    r"class_and_config",
                    r"compile_args_from_training",
                ),
                families=("load-model",),
            ),
            Rival(
                cause="the file is missing, cut short, or of another format than its ending says",
                look_for="`h5py`, `zipfile`, `TensorSliceReader`",
                decide="ls -l PATH; file PATH",
                cues=(r"h5py/", r"zipfile\.py", r"TensorSliceReader"),
                families=("h5-file", "file-missing", "checkpoint-damaged"),
            ),
        ),
        citations=("huggingface/transformers#27198", "keras-team/keras#23018"),
        example='  File "keras/src/saving/saving_lib.py", line 281, in load_model\n    asset_store.close()',
    ),
    KnownError(
        id="E863",
        family="somewhere-in-the-data-of-fit",
        phase=Phase.READING,
        kind=Kind.CONSEQUENCE,
        patterns=(),
        places=(
            r"data_adapters?[\w/]{0,60}\.py ",
            r"training_(?:utils|arrays|generator)\w{0,6}\.py ",
            r"(?:_keras_sequence|data_handler|data_adapter)\.",
        ),
        cause="What was given to fit, evaluate or predict could not be made into batches: another structure, lengths or types than fit takes, or the generator that was given failed itself.",
        fix="""\
x, y = generator[0]; print(type(x), x.shape, x.dtype, y.shape)      # a Sequence or generator: arrays of one type, equal first numbers
dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(global_batch, drop_remainder=True)      # what a TPU takes best
model.fit(dataset, steps_per_epoch=STEPS)                           # (x, y) or (x, y, weights): a tuple, no list""",
        rivals=(
            Rival(
                cause="a method of the Sequence or generator that was given failed: __getitem__, __len__, on_epoch_end",
                look_for="a frame of your own below these; `_keras_sequence`",
                decide="generator[0]; len(generator); generator.on_epoch_end()",
                cues=(r"_keras_sequence", r"__getitem__", r"get_index\("),
                families=("generator-threads", "generator-ended"),
            ),
            Rival(
                cause="x, y and sample weights of different lengths, rows of different lengths in one array (pad them), or lists in place of arrays",
                look_for="`_check_data_cardinality`, `standardize`",
                decide="print([np.shape(each) for each in (x, y)])",
                cues=(
                    r"ragged nested sequences",
                    r"cardinality",
                    r"standardize",
                    r"check_num_samples",
                ),
                families=("data-adapter", "input-structure", "rows-do-not-match"),
            ),
            Rival(
                cause="a type that fit does not take (object arrays, DataFrames of mixed columns, a distributed dataset with class_weight)",
                look_for="`select_data_adapter`, `convert_to_tensor`",
                decide="print(x.dtype, type(x))",
                cues=(r"select_data_adapter", r"convert_to_tensor"),
                families=("data-adapter", "distributed-dataset"),
            ),
        ),
        citations=("tensorflow/tensorflow#45962",),
        example='  File "tensorflow/python/keras/engine/data_adapter.py", line 953, in on_epoch_end\n    self._keras_sequence.on_epoch_end()',
    ),
)
