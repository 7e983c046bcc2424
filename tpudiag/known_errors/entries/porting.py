# ruff: noqa: E501  (texts of other programs stay as they are)
"""Scripts for Keras 2 on Keras 3 (TensorFlow 2.16 and later)."""

from __future__ import annotations

from tpudiag.known_errors.model import KnownError, Phase

ERRORS = (
    KnownError(
        id="P20",
        family="optimizer-arguments",
        phase=Phase.BUILDING,
        patterns=(
            r"`?lr`? is deprecated.{0,60}?please use `?learning_rate`?",
            r"Argument\(?s?\)? not recognized: \{'(?P<argument>\w{1,30})'",
            r"(?P<argument>\w{1,20}) is deprecated in the new Keras optimizer",
            r"got an unexpected keyword argument '(?P<argument>lr|decay)'",
            r"'\w{1,30}' object has no attribute '(?P<argument>lr|_create_slots|_set_hyper|_get_hyper|get_updates|_decayed_lr|_hyper|get_weights|set_weights|weights|get_gradients)'",
            r"'TFOptimizer' object has no attribute '(?P<argument>\w{1,40})'",
            r"deprecated in Keras optimizer",
            r"Missing learning rate, please set",
            r"Cannot set `?iterations`? to a new Variable",
            r"Length of the specified weight list",
            r"is not a valid argument, kwargs should be empty",
            r"must be a string or a (?:real )?number, not '(?P<argument>\w{1,30}(?:Decay|Schedule|Restarts))'",
            r"is deprecated in the new [\w-]{0,4}Keras optimizer",
        ),
        cause="The optimizer's arguments changed: lr is learning_rate, decay is a schedule, and internals of Keras 2 optimizers (slots, hypers) are gone.",
        details=("It is {argument}.",),
        fix="""\
schedule = keras.optimizers.schedules.ExponentialDecay(0.1, decay_steps=1000, decay_rate=0.96)     # in place of decay=
optimizer = keras.optimizers.SGD(learning_rate=schedule, momentum=0.9)                              # learning_rate, not lr
optimizer.learning_rate.assign(0.01)          # in place of optimizer.lr, K.set_value(optimizer.lr, ...)
# use keras optimizers only (no tf.train optimizer, no mix of keras and tf.keras)
pip install --no-deps "<<keras2>>"          # or stay with Keras 2: the tf-keras of your TensorFlow (2.16 or later)
export TF_USE_LEGACY_KERAS=1           # before TensorFlow is imported""",
        citations=(
            "keras-team/tf-keras#331",
            "ramsRahim/Federated-Learning#2",
            "hunkim/DeepLearningZeroToAll#275",
            "CyberZHG/keras-radam#41",
        ),
        example="ValueError: Argument(s) not recognized: {'lr': 0.001}",
        yields_to=("E856",),
    ),
    KnownError(
        id="P21",
        family="legacy-optimizers",
        phase=Phase.INSTALLING,
        patterns=(
            r"keras\.optimizers\.legacy`? is not supported in Keras 3",
            r"optimizers'? has no attribute 'legacy'",
            r"module '[\w.]{0,60}optimizers[\w.]{0,20}' has no attribute '(?P<name>\w{1,30})'",
            r"cannot import name '(?P<name>\w{1,30})' from '[\w.]{0,40}optimizers",
            r"No module named '[\w.]{0,40}optimizers?[\w.]{0,30}'",
        ),
        cause="This Keras has no such optimizer module: keras.optimizers.legacy exists in Keras 2.11 to 2.15 (tf-keras) only, and old paths (adam_v2, optimizer_v2) are gone.",
        details=("The name is {name}.",),
        fix="""\
from tensorflow.keras.optimizers import Adam          # keras.optimizers.Adam, SGD, AdamW
# a class of your own: class Lion(keras.optimizers.Optimizer)
pip install --no-deps "<<keras2>>"          # or stay with Keras 2: the tf-keras of your TensorFlow (2.16 or later)
export TF_USE_LEGACY_KERAS=1           # before TensorFlow is imported""",
        citations=(
            "mrosol/Nonlincausality#11",
            "google/automl#1183",
        ),
        example="ImportError: keras.optimizers.legacy is not supported in Keras 3. When using tf.keras, to continue using a tf.keras.optimizers.legacy optimizer, you can install the tf_keras package (Keras 2)",
    ),
    KnownError(
        id="P22",
        family="save-format",
        phase=Phase.SAVING,
        patterns=(
            r"filepath provided must end in `?\.keras",
            r"filename must end in `?\.weights\.h5",
            r"Invalid filepath extension for saving",
            r"filepath extension for saving",
            r"`?save_format`? argument (?:is|has been) deprecated",
            r"got an unexpected keyword argument '(?:save_format|save_traces|include_optimizer)'",
            r"Saving the model to HDF5 format requires the model to be a Functional",
            r"Invalid filename: expected a `?\.keras",
            r"Invalid `?filepath`? (?:argument)?:? ?expected a",
            r"(?:must|should) end (?:in|with) `?\.keras",
            r"(?:must|should) end (?:in|with) `?\.weights\.h5",
            r"`?save`? requires model to be a graph network",
            r"(?:\.save\(|save_model|in save).{0,900}?in get_config.{0,300}?NotImplementedError",
        ),
        cause="Keras 3 takes the format from the file's name: models end in .keras (or .h5), weights in .weights.h5, and a folder (SavedModel) is written by export.",
        fix="""\
keras.callbacks.ModelCheckpoint("best.keras")                        # a whole model
keras.callbacks.ModelCheckpoint("best.weights.h5", save_weights_only=True)
model.save("model.keras"); model.save_weights("model.weights.h5")
model.export("saved_model_folder")                                   # a SavedModel, for serving
pip install --no-deps "<<keras2>>"          # or stay with Keras 2: the tf-keras of your TensorFlow (2.16 or later)
export TF_USE_LEGACY_KERAS=1           # before TensorFlow is imported""",
        citations=(
            "hfawaz/dl-4-tsc#53",
            "kr-colab/ReLERNN#53",
            "nicknochnack/Tensorflow-in-10-Minutes#4",
            "AISyLab/Triplet-attack#1",
            "pythonlessons/mltu#48",
        ),
        example="ValueError: The filepath provided must end in `.keras` (Keras model format). Received: filepath=best.hdf5",
    ),
    KnownError(
        id="P23",
        family="load-model",
        phase=Phase.SAVING,
        patterns=(
            r"Unrecognized keyword arguments:? .{0,14}\['(?P<argument>\w{1,30})'",
            r"Unrecognized keyword arguments passed to (?:DepthwiseConv[12]D|LSTM|GRU|BatchNormalization): \{'(?P<argument>groups|time_major|renorm|virtual_batch_size|adjustment)'",
            r"File format not supported: filepath",
            r"Keras 3 only supports V3 `?\.keras`? files",
            r"(?:Unknown|Could not (?:locate|deserialize)).{0,160}?custom_object(?:s|_scope)",
            r"(?:Unknown|Could not (?:locate|deserialize)).{0,200}?register_keras_serializable",
            r"Error when deserializing class '(?P<class>\w{1,40})'",
            r"bad marshal data",
            r"Restoring functional Optimizers from SavedModels is not currently supported",
            r"'RestoredOptimizer' object",
            r"Unable to (?:revive|deserialize) .{0,60}?(?:layer|model|Lambda)",
            r"could not be deserialized properly",
            r"Could not deserialize (?:class|function|object)",
            r"Could not locate class '(?P<class>\w{1,60})'",
            r"Unable to restore a layer of class (?P<class>\w{1,60})",
            r"\(['\"]Unknown (?P<kind>loss function|metric function|layer|optimizer|activation function|initializer)['\"], ?['\"]:(?P<class>\w{1,60})",
            r"Unknown (?:object|config_item|class_name)",
            r"Unknown (?:layer|optimizer): '?(?P<class>\w{1,60})",
            r"Improper config format",
            r"`?from_config`?.{0,200}?deserializ",
        ),
        cause="The model was saved by another Keras than the one that loads it (Keras 2 and 3 write other configurations: batch_shape is Keras 3, ragged Keras 2, input_dtype Keras 1), or by code whose classes are not known here.",
        details=(
            "The argument is {argument}.",
            "The class is {class}: pass it in custom_objects, or take the release that has it.",
        ),
        fix="""\
python -c "import keras, tensorflow as tf; print(keras.__version__, tf.__version__)"    # the same as where it was saved?
model = build_model(); model.load_weights("model.weights.h5")         # build it by code, load only the weights
model = keras.models.load_model("m.keras", custom_objects={"MyLayer": MyLayer})
layer = keras.layers.TFSMLayer("saved_model_folder", call_endpoint="serving_default")    # a SavedModel in Keras 3
pip install --no-deps "<<keras2>>"          # or stay with Keras 2: the tf-keras of your TensorFlow (2.16 or later)
export TF_USE_LEGACY_KERAS=1           # before TensorFlow is imported""",
        citations=(
            "tensorflow/tensorflow#66381",
            "tensorflow/tensorflow#64685",
            "stratospark/food-101-keras#24",
            "keras-team/keras#8956",
        ),
        example="ValueError: Unrecognized keyword arguments: ['batch_shape']",
        yields_to=("E474",),
    ),
    KnownError(
        id="P24",
        family="keras-tensor",
        phase=Phase.BUILDING,
        patterns=(
            r"KerasTensor cannot be used as input to a TensorFlow function",
            r"KerasTensor is symbolic: it's a placeholder",
            r"KerasTensor.{0,60}?(?:is )?(?:not supported|cannot be).{0,60}?(?:tf|TensorFlow)",
        ),
        cause="A TensorFlow function (tf.*) is called directly on the output of a Keras layer while the model is built; Keras 3 allows layers and keras.ops there only. A layer of Keras 2 in a Keras 3 model (hub.KerasLayer, a mix of tf_keras and keras) says the same.",
        fix="""\
x = keras.ops.concatenate([a, b], axis=-1)                 # keras.ops.* in place of tf.*
x = keras.layers.Lambda(lambda t: tf.image.resize(t, (64, 64)))(x)       # or wrap it in a layer
pip install --no-deps "<<keras2>>"          # or stay with Keras 2: the tf-keras of your TensorFlow (2.16 or later)
export TF_USE_LEGACY_KERAS=1           # before TensorFlow is imported""",
        citations=(
            "taipingeric/yolo-v4-tf.keras#27",
            "MPolaris/onnx2tflite#88",
            "MahdiFarvardin/MEDVSE#2",
            "XuexiongLuoMQ/ComGA#5",
        ),
        example="ValueError: A KerasTensor cannot be used as input to a TensorFlow function.",
    ),
    KnownError(
        id="P25",
        family="fit-arguments",
        phase=Phase.BUILDING,
        patterns=(
            r"(?:fit|evaluate|predict|fit_generator)\(\) got an unexpected keyword argument '(?P<argument>\w{1,30})'",
            r"got an unexpected keyword argument '(?P<argument>workers|use_multiprocessing|max_queue_size|nb_epoch|max_q_size|nb_val_samples|samples_per_epoch|period|experimental_run_tf_function|sample_weight_mode)'",
            r"Received unknown keyword arguments: \{'(?P<argument>\w{1,30})'",
        ),
        cause="fit (evaluate, predict, compile or a callback) of this Keras has no such argument.",
        details=("The argument is {argument}.",),
        fix="""\
model.fit(dataset, epochs=10)                     # drop workers, use_multiprocessing, max_queue_size (a tf.data pipeline needs none)
class Data(keras.utils.PyDataset):                # a Sequence takes them in its constructor
    def __init__(self, **kwargs): super().__init__(workers=4, use_multiprocessing=False, max_queue_size=10)
# nb_epoch is epochs; max_q_size is max_queue_size; samples_per_epoch is steps_per_epoch; period is save_freq""",
        citations=(
            "pythonlessons/mltu#60",
            "dipy/dipy#3139",
            "keras-team/keras#14135",
            "keras-team/keras#14330",
        ),
        example="TypeError: TensorFlowTrainer.fit() got an unexpected keyword argument 'workers'",
    ),
    KnownError(
        id="P40",
        family="function-arguments",
        phase=Phase.BUILDING,
        patterns=(
            r"got an unexpected keyword argument '(?P<argument>jit_compile|reduce_retracing)'",
            r"got an unexpected keyword argument '(?P<argument>experimental_compile|experimental_relax_shapes|experimental_implements)'",
        ),
        cause="tf.function (or compile) of this TensorFlow calls the argument otherwise: experimental_compile became jit_compile in 2.5, experimental_relax_shapes became reduce_retracing in 2.9.",
        details=("The argument is {argument}.",),
        fix="""\
@tf.function(jit_compile=True)                   # TensorFlow 2.5 and later; experimental_compile=True before
@tf.function(reduce_retracing=True)              # TensorFlow 2.9 and later; experimental_relax_shapes=True before
# under TPUStrategy leave jit_compile out: the step is compiled anyway. And: python -c "import tensorflow as tf; print(tf.__version__)\"""",
        citations=("thevasudevgupta/gsoc-wav2vec2#31",),
        example="TypeError: function() got an unexpected keyword argument 'jit_compile'",
    ),
    KnownError(
        id="E680",
        family="optimizer-of-another-kind",
        phase=Phase.BUILDING,
        patterns=(r"""Optimizer must have a ["'`]?(?P<name>lr|learning_rate)["'`]? attribute""",),
        cause="A callback that sets the learning rate (LearningRateScheduler, ReduceLROnPlateau) meets an optimizer of TensorFlow 1 (tf.train.AdamOptimizer, tf.compat.v1.train...), or one of another library, that keeps its rate under no such name; or this Keras calls it learning_rate.",
        details=("The callback wants {name}.",),
        fix="""\
optimizer = tf.keras.optimizers.Adam(learning_rate=1e-3)      # in place of tf.train.AdamOptimizer: callbacks can set its rate
with strategy.scope(): model.compile(optimizer=optimizer, loss=loss)
# or no callback: optimizer = tf.keras.optimizers.Adam(tf.keras.optimizers.schedules.ExponentialDecay(1e-3, 1000, 0.9))""",
        citations=("tensorflow/tensorflow#23150",),
        example='ValueError: Optimizer must have a "lr" attribute.',
        near_miss="Optimizer must have a name",
    ),
)
