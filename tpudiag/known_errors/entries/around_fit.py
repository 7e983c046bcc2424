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
)
