# ruff: noqa: E501  (texts of other programs stay as they are)
"""Objects of Keras, SavedModels and Python that lack what they are asked for."""

from __future__ import annotations

from tpudiag.known_errors.model import Kind, KnownError, Phase

ERRORS = (
    KnownError(
        id="P73",
        family="saved-model-object",
        phase=Phase.SAVING,
        patterns=(
            r"'_UserObject' object has no attribute '(?P<name>\w{1,60})'",
            r"'_UserObject' object is not callable",
            r"'AutoTrackable' object (?:has no attribute '(?P<name>\w{1,60})'|is not callable)",
            r"KeyError: ?[\"'](?P<name>serving_default|predict|serve)[\"']",
            r"SignatureDef .{0,60}?(?:not found|does not exist|could not be found)",
            r"Serving signature (?:key|name).{0,60}?not found",
            r"_SignatureMap.{0,80}?(?:KeyError|has no)",
            r"Signature .{1,40}? does not exist in the saved model",
            r"Only support at least one signature key",
            r"[Ss]erving signature key not found",
            r"not found in signature def",
            r"Loaded object has no signatures",
        ),
        cause="tf.saved_model.load gives back no Keras model: an object with the signatures and functions that were exported, and nothing else (no predict, fit, summary; not callable unless a call function was exported). What is asked for is not among them.",
        details=("It was asked for {name}.",),
        fix="""\
loaded = tf.saved_model.load(path); print(list(loaded.signatures))      # what there is
outputs = loaded.signatures["serving_default"](tf.constant(x))            # a dict of tensors
model = tf.keras.models.load_model(path)                                   # Keras 2: the model itself, if Keras saved it
layer = keras.layers.TFSMLayer(path, call_endpoint="serving_default")      # Keras 3, for prediction
# trained on a TPU: save the weights, rebuild the model outside strategy.scope(), load them, then save it""",
        citations=(
            "tensorflow/tensorflow#55438",
            "tensorflow/tensorflow#56997",
            "tensorflow/models#8990",
        ),
        example="AttributeError: '_UserObject' object has no attribute 'predict'",
    ),
    KnownError(
        id="P74",
        family="keras-attributes",
        phase=Phase.BUILDING,
        kind=Kind.BROAD,
        patterns=(
            r"'(?P<type>Sequential|Functional|Model|InputLayer|Dense|Conv\dD|Embedding|LSTM|GRU|Lambda|BatchNormalization|Layer|\w{1,30}Layer|Adam\w{0,8}|SGD|RMSprop|Adagrad|Optimizer|\w{1,20}Optimizer|LossScaleOptimizer\w{0,4}|History|ModelCheckpoint|EarlyStopping|TensorBoard|StringLookup|TextVectorization|Normalization|\w{1,30}Metric|Mean|Precision|Recall|AUC|CompileLoss|CompileMetrics|MetricsContainer|LossesContainer)' object has no attribute '(?P<name>\w{1,60})'",
            r"AttributeError: can't set attribute",
            r"AttributeError: can't set attribute '(?P<name>\w{1,40})'",
            r"property '(?P<name>\w{1,60})' of '(?P<type>\w{1,60})' object has no setter",
        ),
        cause="This class of Keras has no such attribute in the release that is installed: it was renamed or dropped between Keras 2 and 3 (or came later), it is one of its inner parts (names that begin with _), or the object is of the other Keras (keras beside tensorflow.keras or tf_keras).",
        details=("{type} has no {name}.",),
        fix="""\
python -c "import keras, tensorflow as tf; print(keras.__version__, tf.__version__)"
# Keras 3: optimizer.learning_rate (lr), no get_slot, decay or _decayed_lr; layer.output.shape (output_shape); model.loss and compute_loss
#   (compiled_loss), model.metrics (compiled_metrics), (model.predict(x) > 0.5) (predict_classes), fit (fit_generator), history.history["accuracy"] (acc)
grep -nE "^(from|import) .*(keras|tensorflow)" *.py                  # one Keras everywhere: layers, models, optimizers, callbacks
pip install --no-deps "<<keras2>>"; export TF_USE_LEGACY_KERAS=1            # a script for Keras 2 as it is (the tf-keras of your TensorFlow)""",
        citations=("OverLordGoldDragon/keras-adamw#36", "keras-team/keras#13101"),
        example="AttributeError: 'Sequential' object has no attribute 'something_of_another_keras'",
        yields_to=("P20", "P07", "P69", "E208", "E200", "E467", "P29", "P03", "E281", "P71", "P28"),
    ),
    KnownError(
        id="P75",
        family="wrong-type",
        phase=Phase.ANY,
        kind=Kind.BROAD,
        patterns=(
            r"'(?P<type>list|tuple|dict|str|int|float|bool|set|bytes|function|method|generator|range|type|numpy\.\w{3,10}|ndarray|DataFrame|Series|Image|zip|map|filter)' object has no attribute '(?P<name>\w{1,60})'",
            r"'(?P<type>int|float|bool|function|method|NotImplementedType|type|builtin_function_or_method|generator|map|zip|set|dict_keys|module)' object is not (?:subscriptable|iterable|callable|an iterator)",
            r"object of type '(?P<type>int|float|bool|generator|map|zip|function|type)' has no len\(\)",
            r"'(?P<type>str|list|dict|tuple|ndarray)' object is not callable",
            r"a bytes-like object is required, not '(?P<type>\w{1,60})'",
        ),
        cause="A plain Python or NumPy value stands where another object is expected: a list where an array or tensor is (a layer or model with several outputs gives a list), a string where a config or model is, a function that was not called (or a value that was called), a tuple of which one part is meant.",
        details=("It is a {type}, asked for {name}.",),
        fix="""\
print(type(value), value if not hasattr(value, "shape") else value.shape)     # on the last line of yours in the traceback
x = np.asarray(rows); x = tf.convert_to_tensor(rows)                           # a list that should be an array
outputs, state = model(x)                                                       # a model that gives two things
value = function()                                                              # not function itself""",
        evidence="recalled",
        example="AttributeError: 'list' object has no attribute 'shape'",
        yields_to=("E621", "E281", "E205", "E500", "P70", "E480", "P08", "P06", "E208"),
    ),
)
