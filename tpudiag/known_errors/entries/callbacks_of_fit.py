# ruff: noqa: E501  (texts of other programs stay as they are)
"""What fails in the callbacks of fit, and in what they do with the model."""

from __future__ import annotations

from tpudiag.known_errors.model import KnownError, Phase

ERRORS = (
    KnownError(
        id="E854",
        family="two-keras",
        phase=Phase.BUILDING,
        patterns=(
            r"'(?P<name>\w{1,60})' object has no attribute '_(?:implements_\w{1,20}_hooks|supports_tf_logs|chief_worker_only|call_batch_hooks)'",
        ),
        cause="A callback is not one of the Keras that runs fit: it comes from keras and the model from tensorflow.keras (or from tf_keras, or the reverse), or its class is not derived from Callback.",
        details=("The callback is a {name}.",),
        fix="""\
from tensorflow.keras.callbacks import ReduceLROnPlateau, ModelCheckpoint      # the Keras of the model: not `from keras.callbacks`
grep -nE "import.*keras|from.*keras" *.py                                       # both in one program? one of them everywhere
class Log(tf.keras.callbacks.Callback): ...                                     # one's own: derived from the model's Keras""",
        citations=("juglab/n2v#112", "janzd/EAST#62"),
        example="AttributeError: 'ReduceLROnPlateau' object has no attribute '_implements_predict_batch_hooks'",
        near_miss="def _implements_predict_batch_hooks(self):",
    ),
    KnownError(
        id="E855",
        family="no-data",
        phase=Phase.READING,
        patterns=(r"'ProgbarLogger' object has no attribute '(?:log_values|target|progbar)'",),
        cause="fit came to the end of an epoch without one batch: the data are empty (no file matched, everything was filtered), fewer than one batch, or the number of steps is 0 (len(x) // batch_size).",
        fix="""\
print(len(x_train), len(x_valid), len(generator))                 # each at least 1; for images: "Found 0 images" before it?
steps_per_epoch = max(1, len(x_train) // BATCH)                   # a batch that is larger than the data gives 0 steps""",
        citations=("keras-team/keras#13698",),
        example="AttributeError: 'ProgbarLogger' object has no attribute 'log_values'",
    ),
    KnownError(
        id="E856",
        family="optimizer-of-tf1",
        phase=Phase.TRACING,
        patterns=(
            r"'TFOptimizer' object has no attribute '(?P<name>lr|learning_rate|weights|get_weights|iterations)'",
        ),
        cause="The model was compiled with an optimizer that is not of its Keras (of tf.train of TensorFlow 1, or of tf.keras where the model is of the stand-alone Keras), which Keras wraps as TFOptimizer: callbacks (ReduceLROnPlateau, LearningRateScheduler) and saving find no learning rate or state in it.",
        details=("It was asked for {name}.",),
        fix="""\
model.compile(optimizer=tf.keras.optimizers.Adam(1e-3), loss=loss)      # in place of tf.train.AdamOptimizer(1e-3)
grep -nE "import.*keras|from.*keras" *.py                                # model, layers, optimizer and their wrappers of one Keras""",
        citations=("tensorflow/tensorflow#20619",),
        example="AttributeError: 'TFOptimizer' object has no attribute 'lr'",
    ),
    KnownError(
        id="E857",
        family="not-serialisable",
        phase=Phase.SAVING,
        patterns=(
            r"in get_config.{0,200}?copy\.deepcopy\(config\).{0,900}?(?:NoneType' object has no attribute 'update'|can't pickle|cannot pickle)",
        ),
        cause="Saving the whole model copies the layers' configuration, and one of them holds what cannot be copied: a tensor or module in the arguments of a Lambda layer, as the model of multi_gpu_model has too.",
        fix="""\
keras.callbacks.ModelCheckpoint(path, save_weights_only=True)       # weights alone; the model is made by its code
single_model.save(path)                                             # multi_gpu_model: the model that was given to it, not the one that it made
keras.layers.Lambda(f, arguments={"n": 3})                          # numbers and strings alone; tensors as inputs of the layer""",
        citations=("keras-team/keras#10696",),
        example="  File \"keras/engine/network.py\", line 931, in get_config\n    return copy.deepcopy(config)\n  File \"copy.py\", line 280, in _reconstruct\n    y.__dict__.update(state)\nAttributeError: 'NoneType' object has no attribute 'update'",
        near_miss="AttributeError: 'NoneType' object has no attribute 'update'",
    ),
    KnownError(
        id="E858",
        family="other-release",
        phase=Phase.TRACING,
        patterns=(r"tape\.gradient\(.{0,200}?'str' object has no attribute 'base_dtype'",),
        cause="TensorFlow's tape does not know the variables of Keras 3 (keras-core): this TensorFlow is older than they need (2.10, say).",
        fix="""\
pip install -U "tensorflow>=2.16" keras      # Keras 3 is made for 2.16 and later; keras-core for 2.12 and later
pip install "keras<3"                        # or Keras of TensorFlow's own number, where TensorFlow must stay""",
        citations=("keras-team/keras-core#559",),
        example="    gradients = tape.gradient(loss, trainable_vars)\nAttributeError: 'str' object has no attribute 'base_dtype'",
        near_miss="AttributeError: 'str' object has no attribute 'base_dtype'",
    ),
)
