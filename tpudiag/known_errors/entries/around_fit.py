# ruff: noqa: E501  (texts of other programs stay as they are)
"""What is given to fit beside model and data: callbacks, paths; and training that does not start."""

from __future__ import annotations

from tpudiag.known_errors.model import Kind, KnownError, Phase, Rival

ERRORS = (
    KnownError(
        id="E870",
        family="unknown-shape",
        phase=Phase.TRACING,
        kind=Kind.BROAD,
        patterns=(r"can't multiply sequence by non-int of type 'NoneType'",),
        cause="A list is repeated None times: a number is not known, or was not given.",
        fix="""\
print(dataset.element_spec)                       # under TPUStrategy: an input of <unknown> rank?
dataset = dataset.map(lambda x, y: (tf.ensure_shape(x, [HEIGHT, WIDTH, 3]), tf.ensure_shape(y, [])))      # before batch
assert count is not None                          # elsewhere: the line of the traceback names what is None (a flag without a default)""",
        rivals=(
            Rival(
                cause="an input of unknown rank comes to the TPU (py_function, numpy_function, decode_image, from_generator without output_signature)",
                look_for="`tpu_strategy.py`, `tpu_function`, TPU in the text",
                decide="print(dataset.element_spec)",
                fix="dataset = dataset.map(lambda x, y: (tf.ensure_shape(x, [HEIGHT, WIDTH, 3]), tf.ensure_shape(y, [])))",
                cues=(r"tpu_strategy", r"tpu_function", r"Kaggle TPU", r"TPUStrategy"),
                families=("unknown-shape",),
            ),
            Rival(
                cause="an argument of a function (num_threads, a count, a size) was not given and is None",
                look_for="`[...] * name` in the last frame",
                decide="the last line of the traceback: what stands behind the `*`?",
                families=("none-object",),
            ),
        ),
        citations=("tensorflow/tensorflow#40864", "MaybeShewill-CV/CRNN_Tensorflow#134"),
        example="TypeError: can't multiply sequence by non-int of type 'NoneType'",
        yields_to=("E91",),
    ),
    KnownError(
        id="E871",
        family="callback-path",
        phase=Phase.SAVING,
        patterns=(
            r"filepath\.format\(.{0,160}?'(?P<name>\w{1,60})' object has no attribute 'format'",
            r"'(?P<name>\w{1,60})' object has no attribute 'format'.{0,200}?filepath\.format\(",
        ),
        cause="ModelCheckpoint was given something else than a path as its filepath: an open file, a number, a function.",
        details=("It was given a {name}.",),
        fix="""\
keras.callbacks.ModelCheckpoint(filepath="runs/{epoch:02d}.weights.h5", save_weights_only=True)      # a str; str(path) for a pathlib.Path""",
        citations=("huaweicloud/dls-example#39",),
        example="    filepath = self.filepath.format(epoch=epoch + 1, **logs)\nAttributeError: 'File' object has no attribute 'format'",
        near_miss="AttributeError: 'File' object has no attribute 'format'",
    ),
    KnownError(
        id="E872",
        family="callback-data",
        phase=Phase.EXECUTING,
        patterns=(
            r"allback\w{0,20}'? object has no attribute '(?P<name>validation_data|training_data)'",
            r"self\.(?P<name>validation_data)\[\d\].{0,300}?'NoneType' object is not subscriptable",
            r"'\w{0,40}(?:Metric|Score|AUC|Auc|Roc|Evaluat|Eval|Kappa|F1)\w{0,40}' object has no attribute '(?P<name>validation_data)'",
        ),
        cause="A callback of your own asks for self.validation_data. Only old releases (keras beside TensorFlow 1, tf.keras before 1.11) filled it in: later there is None or no such attribute.",
        details=("It is {name}.",),
        fix="""\
class Evaluate(keras.callbacks.Callback):
    def __init__(self, x, y): super().__init__(); self.x, self.y = x, y      # given by yourself
    def on_epoch_end(self, epoch, logs=None): score(self.y, self.model.predict(self.x))
model.fit(dataset, callbacks=[Evaluate(x_valid, y_valid)])""",
        citations=("tensorflow/tensorflow#27318", "tensorflow/tensorflow#32981"),
        example="AttributeError: 'AUCCallback' object has no attribute 'validation_data'",
        near_miss="model.fit(x, y, validation_data=(x_valid, y_valid))",
    ),
    KnownError(
        id="E873",
        family="types-do-not-match",
        phase=Phase.TRACING,
        patterns=(r"Incompatible types: ?<dtype: 'resource'> ?vs\.? ?(?P<type>\w{3,8})",),
        cause="A layer that changes variables of its own (BatchNormalization) stands within a while loop (an RNN's cell, TimeDistributed, tf.scan), whose gradient TensorFlow 1.14 and 1.15 cannot make for a variable.",
        fix="""\
pip install -U tensorflow                                        # TensorFlow 2 can
x = keras.layers.BatchNormalization()(x, training=False)         # 1.x: frozen statistics in the loop, or the layer outside of it
x = keras.layers.LayerNormalization()(x)                         # in a cell: it has no moving averages""",
        citations=("tensorflow/tensorflow#31894",),
        example="TypeError: Incompatible types: <dtype: 'resource'> vs. int64. Value is 0",
    ),
    KnownError(
        id="E874",
        family="already-trained",
        level="warning",
        phase=Phase.EXECUTING,
        patterns=(r"Skipping training since max_steps has already saved",),
        cause="Nothing is trained: model_dir holds a checkpoint whose step is max_steps or more, so that the Estimator takes its work for done.",
        fix="""\
estimator = tf.estimator.Estimator(model_fn, model_dir="gs://BUCKET/a-new-run")      # a new folder, or remove the old checkpoints
train_spec = tf.estimator.TrainSpec(input_fn, max_steps=GREATER)                     # or more steps than the checkpoint has
# "includes params argument, but params are not passed" before it is a remark: model_fn is called without params""",
        useless="Another data set or batch size: the step in the checkpoint decides.",
        citations=("tensorflow/models#7283",),
        example="INFO:tensorflow:Skipping training since max_steps has already saved.",
    ),
    KnownError(
        id="E876",
        family="data-adapter",
        phase=Phase.READING,
        patterns=(
            r"`?(?P<name>validation_steps|steps_per_epoch|steps)=None`? is only valid for a generator",
            r"using a generator for validation data.{0,60}?must specify a value for `?(?P<name>validation_steps|steps)",
            r"When passing an infinitely repeating dataset.{0,40}?specify (?:the|a) `?(?P<name>validation_steps|steps_per_epoch|steps)",
        ),
        cause="A plain Python generator (or a dataset that repeats) has no end, so that Keras wants the number of batches. A Sequence of the other Keras (keras.utils.Sequence given to tensorflow.keras, or the reverse) counts as a plain generator.",
        details=("What is missing is {name}.",),
        fix="""\
model.fit(generator, steps_per_epoch=len(x_train) // BATCH, validation_data=valid, validation_steps=len(x_valid) // BATCH)
model.evaluate(valid, steps=len(x_valid) // BATCH)                 # predict likewise
from tensorflow.keras.utils import Sequence                        # the Keras of the model: its len() is then the number of batches""",
        citations=("keras-team/keras#11451", "rizkiarm/LipNet#61", "huoyijie/AdvancedEAST#84"),
        example="ValueError: `validation_steps=None` is only valid for a generator based on the `keras.utils.Sequence` class. Please specify `validation_steps` or use the `keras.utils.Sequence` class.",
    ),
    KnownError(
        id="E879",
        family="loss-reduction",
        phase=Phase.EXECUTING,
        kind=Kind.BROAD,
        patterns=(
            r"loss is (?:about |exactly )?(?P<times>[248]|16|32) ?(?:times|x) (?:that|higher|larger|bigger|greater|the|as|of|what)",
            r"loss value (?P<times>[248]|16|32)x of (?:the )?expected",
        ),
        cause="The loss that is shown is the sum over the replicas of what each replica took the mean of: it grows with their number.",
        details=("It is {times} times what it should be: as many replicas?",),
        fix="""\
print(strategy.num_replicas_in_sync)                                            # the factor?
loss = tf.nn.compute_average_loss(per_example_loss, global_batch_size=GLOBAL)   # a loop of your own: divided by the global batch, not by the replica's
def my_loss(y, p): return tf.reduce_mean(tf.square(y - p), axis=-1)             # fit: one value for each example, no mean over the batch
pip install -U keras                                                            # Keras 3: scales and sums under strategies as Keras 2 did only in later releases""",
        rivals=(
            Rival(
                cause="a loss function of your own returns one number (the mean over the batch), and the replicas' numbers are summed",
                look_for="tf.reduce_mean without axis in the loss, add_loss",
                decide="return a tensor of shape (batch,): does the factor go away?",
                cues=(r"custom loss", r"reduce_mean"),
                families=("loss-reduction", "custom-loss"),
            ),
            Rival(
                cause="Keras 3 of a release that sums or scales what is reported under tf.distribute otherwise (keras-team/keras#19969, #20541)",
                look_for="Keras 3 with a TPU of several cores; right on one core (v5e-1) or a GPU",
                decide="the same with tf_keras (TF_USE_LEGACY_KERAS=1)",
                cues=(r"tf\.keras 3", r"keras 3\.\d"),
            ),
        ),
        citations=("googlecolab/colabtools#5130", "keras-team/keras#19969"),
        example="On one core the loss is as expected; on v2-8 the loss is 8 times that.",
    ),
    KnownError(
        id="P183",
        family="estimator-remarks",
        level="info",
        phase=Phase.BUILDING,
        patterns=(r"includes params argument, but params are not passed to Estimator",),
        cause="A remark, no failure: model_fn has an argument params and the Estimator was given none. TPUEstimator puts the batch size there by itself.",
        fix="""\
estimator = tf.estimator.Estimator(model_fn, params={"learning_rate": 1e-3})      # only where model_fn reads params: a KeyError would follow""",
        citations=("tensorflow/tensorflow#41014", "tensorflow/models#7283"),
        example="WARNING:tensorflow:Estimator's model_fn (<function model_fn at 0x7f>) includes params argument, but params are not passed to Estimator.",
    ),
    KnownError(
        id="P182",
        family="keras-to-tpu-model",
        level="warning",
        phase=Phase.BUILDING,
        patterns=(r"keras_support\.py:\d{1,5}\] Keras support is now deprecated",),
        cause="The program converts its model by keras_to_tpu_model of TensorFlow 1.13, which was given up for TPUStrategy and is gone from 1.14 and later. What fails after this line mostly comes from that.",
        fix="""\
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")      # TensorFlow 2; a TPU Node: its name
tf.config.experimental_connect_to_cluster(resolver); tf.tpu.experimental.initialize_tpu_system(resolver)
with tf.distribute.TPUStrategy(resolver).scope():
    model = build_model(); model.compile(...)                                   # no keras_to_tpu_model""",
        citations=("tensorflow/tensorflow#30689",),
        example="W0714 02:35:35.778475 140626016266112 keras_support.py:217] Keras support is now deprecated in support of TPU Strategy.",
    ),
    KnownError(
        id="E877",
        family="lora",
        phase=Phase.BUILDING,
        patterns=(
            r"Cannot enable lora on a layer that isn't (?P<state>yet built)",
            r"lora is (?P<state>already enabled)",
            r"Lora is incompatible with (?P<state>kernel constraints|embedding constraints)",
        ),
        cause="enable_lora goes once, on a layer of Keras 3 that has its weights and no constraint on them.",
        details=("What is in the way: {state}.",),
        fix="""\
model.build((None, LENGTH))                          # or call it once on a batch: weights first, then
model.backbone.enable_lora(rank=4)                   # once: a cell of a notebook that is run again starts from a model made anew
model.compile(optimizer, loss)                       # after it: the optimizer must see the new weights; under one strategy.scope() or set_distribution""",
        evidence="recalled",
        example="ValueError: Cannot enable lora on a layer that isn't yet built.",
    ),
    KnownError(
        id="P184",
        family="variable-synchronization",
        phase=Phase.BUILDING,
        patterns=(
            r"Synchronization value can be set to VariableSynchronization\.ON_READ only for non-trainable",
        ),
        cause="A variable that each replica keeps for itself (ON_READ) cannot be trained: the copies would grow apart.",
        fix="""\
tf.Variable(x, trainable=False, synchronization=tf.VariableSynchronization.ON_READ, aggregation=tf.VariableAggregation.SUM)      # a count, a sum
self.add_weight(name="kernel", shape=shape, trainable=True)        # what is trained: no synchronization at all""",
        evidence="recalled",
        example="ValueError: Synchronization value can be set to VariableSynchronization.ON_READ only for non-trainable variables. You have specified trainable=True and synchronization=VariableSynchronization.ON_READ.",
    ),
    KnownError(
        id="P185",
        family="dataset-not-built",
        phase=Phase.READING,
        patterns=(
            r"Iterator called after `?on_epoch_end`? or before `?on_epoch_begin",
            r"Unable to concatenate .{0,60}?inner dense shapes",
        ),
        kind=Kind.BROAD,
        cause="Keras' own collecting of batches cannot do with what the data or the model gives.",
        fix="""\
dataset = tf.data.Dataset.from_generator(...).batch(BATCH, drop_remainder=True); model.fit(dataset)      # in place of the generator or PyDataset; made anew for each fit
outputs = np.concatenate([tf.sparse.to_dense(model(x)).numpy() for x, _ in dataset])                      # in place of predict for sparse outputs""",
        rivals=(
            Rival(
                cause="one PyDataset or generator is used by two calls at once (fit and evaluate in a callback, a fit that was broken off)",
                look_for="`on_epoch_end`, `on_epoch_begin`",
                decide="an object of its own for each call: does it go?",
                cues=(r"on_epoch_begin",),
            ),
            Rival(
                cause="predict joins sparse outputs of batches whose inner sizes differ",
                look_for="`sparse`, `inner dense shapes`",
                decide="tf.sparse.to_dense as the model's last layer",
                cues=(r"inner dense shapes",),
            ),
        ),
        evidence="recalled",
        example="RuntimeError: Iterator called after `on_epoch_end` or before `on_epoch_begin`.",
    ),
    KnownError(
        id="E875",
        family="somewhere-in-saving",
        phase=Phase.SAVING,
        kind=Kind.CONSEQUENCE,
        patterns=(),
        places=(
            r"callbacks\w{0,9}\.py _save_model",
            r"saving_utils\.py (?:mod|model_metadata)",
            r"(?:hdf5_format|legacy_h5_format|save|saving_lib|saving_api)\.py (?:save|_save)",
            r"(?:network|functional|generic_utils|serialization_lib|sequential|training)\.py (?:get_config|get_network_config|serialize_keras_object|_updated_config|save)",
        ),
        cause="The whole model could not be saved: mostly a layer or model of your own does not say with what arguments it is made (get_config), or the format takes no such model.",
        fix="""\
model.save_weights("model.weights.h5")                            # the weights alone always go; the model is made by its code
keras.callbacks.ModelCheckpoint("{epoch:02d}.weights.h5", save_weights_only=True)      # the same in fit
def get_config(self): return {**super().get_config(), "units": self.units}             # every argument of __init__, in each layer of your own""",
        rivals=(
            Rival(
                cause="a layer, model, loss or schedule of your own has no get_config, or holds in it what is no plain value (tensors, arrays)",
                look_for="NotImplementedError, `must override get_config`, `not JSON Serializable`, `deepcopy`",
                decide="for layer in model.layers: layer.get_config()      # which one fails?",
                cues=(r"get_config", r"NotImplement", r"model_metadata", r"serialize_keras_object"),
                families=("load-model", "not-serialisable"),
            ),
            Rival(
                cause="a model under a strategy, in TensorFlow 2.0 or 2.1: variables of replicas cannot be copied into the SavedModel",
                look_for="MirroredStrategy, MultiWorker or TPUStrategy; `_SaveableView`, `map_resources`",
                decide="model.save_weights(path)      # goes; TensorFlow 2.2 and later save the model too",
                cues=(r"_SaveableView", r"map_resources"),
                families=("io-device", "saved-model-object"),
            ),
            Rival(
                cause="the format: a subclassed model in .h5, arguments (save_format, options) that Keras 3 does not take",
                look_for="`.h5`, `save_format`, `subclassed`",
                decide='model.save("model.keras")',
                cues=(r"save_format", r"save_model_to_hdf5"),
                families=("save-format",),
            ),
            Rival(
                cause="the place: h5py on gs://, a local path from a TPU Node's worker, a disk that is full",
                look_for="`h5py`, `gs://`, `UnimplementedError`",
                decide="ls -ld FOLDER; df -h",
                cues=(r"h5py/", r"gs://"),
                families=("h5-in-bucket", "local-files", "disk-full", "io-device"),
            ),
        ),
        citations=("thatbrguy/Hyperspectral-Image-Segmentation#2", "strongio/keras-bert#36"),
        example='  File "tensorflow/python/keras/callbacks.py", line 1214, in _save_model\n    self.model.save(filepath, overwrite=True)\n  File "tens',
    ),
)
