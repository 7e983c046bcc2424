# ruff: noqa: E501  (texts of other programs stay as they are)
"""Scripts for Keras 2 on Keras 3 (TensorFlow 2.16 and later)."""

from __future__ import annotations

from tpudiag.known_errors.model import Kind, KnownError, Phase

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
            r"'\w{1,30}' object has no attribute '(?P<argument>lr|_create_slots|_set_hyper|_get_hyper|get_updates|_decayed_lr|_hyper)'",
            r"'TFOptimizer' object has no attribute '(?P<argument>\w{1,40})'",
            r"deprecated in Keras optimizer",
        ),
        cause="The optimizer's arguments changed: lr is learning_rate, decay is a schedule, and internals of Keras 2 optimizers (slots, hypers) are gone.",
        details=("It is {argument}.",),
        fix="""\
schedule = keras.optimizers.schedules.ExponentialDecay(0.1, decay_steps=1000, decay_rate=0.96)     # in place of decay=
optimizer = keras.optimizers.SGD(learning_rate=schedule, momentum=0.9)                              # learning_rate, not lr
optimizer.learning_rate.assign(0.01)          # in place of optimizer.lr, K.set_value(optimizer.lr, ...)
# use keras optimizers only (no tf.train optimizer, no mix of keras and tf.keras)
pip install "tf-keras~=2.15"          # or stay with Keras 2: the tf-keras of your TensorFlow's version (2.16: tf-keras~=2.16)
export TF_USE_LEGACY_KERAS=1           # before TensorFlow is imported""",
        citations=(
            "keras-team/tf-keras#331",
            "ramsRahim/Federated-Learning#2",
            "hunkim/DeepLearningZeroToAll#275",
            "CyberZHG/keras-radam#41",
        ),
        example="ValueError: Argument(s) not recognized: {'lr': 0.001}",
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
pip install "tf-keras~=2.15"          # or stay with Keras 2: the tf-keras of your TensorFlow's version (2.16: tf-keras~=2.16)
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
        ),
        cause="Keras 3 takes the format from the file's name: models end in .keras (or .h5), weights in .weights.h5, and a folder (SavedModel) is written by export.",
        fix="""\
keras.callbacks.ModelCheckpoint("best.keras")                        # a whole model
keras.callbacks.ModelCheckpoint("best.weights.h5", save_weights_only=True)
model.save("model.keras"); model.save_weights("model.weights.h5")
model.export("saved_model_folder")                                   # a SavedModel, for serving
pip install "tf-keras~=2.15"          # or stay with Keras 2: the tf-keras of your TensorFlow's version (2.16: tf-keras~=2.16)
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
            r"File format not supported: filepath",
            r"Keras 3 only supports V3 `?\.keras`? files",
            r"(?:Unknown|Could not (?:locate|deserialize)).{0,160}?custom_objects",
            r"(?:Unknown|Could not (?:locate|deserialize)).{0,200}?register_keras_serializable",
            r"Error when deserializing class '(?P<class>\w{1,40})'",
            r"bad marshal data",
            r"Restoring functional Optimizers from SavedModels is not currently supported",
            r"'RestoredOptimizer' object",
            r"Unable to (?:revive|deserialize) .{0,60}?(?:layer|model|Lambda)",
        ),
        cause="The model was saved by another Keras than the one that loads it (Keras 2 and 3 write other configurations: batch_shape is Keras 3, input_dtype or ragged are Keras 2), or by code whose classes are not known here.",
        details=("The argument is {argument}.",),
        fix="""\
python -c "import keras, tensorflow as tf; print(keras.__version__, tf.__version__)"    # the same as where it was saved?
model = build_model(); model.load_weights("model.weights.h5")         # build it by code, load only the weights
model = keras.models.load_model("m.keras", custom_objects={"MyLayer": MyLayer})
layer = keras.layers.TFSMLayer("saved_model_folder", call_endpoint="serving_default")    # a SavedModel in Keras 3
pip install "tf-keras~=2.15"          # or stay with Keras 2: the tf-keras of your TensorFlow's version (2.16: tf-keras~=2.16)
export TF_USE_LEGACY_KERAS=1           # before TensorFlow is imported""",
        citations=(
            "tensorflow/tensorflow#66381",
            "tensorflow/tensorflow#64685",
            "stratospark/food-101-keras#24",
            "keras-team/keras#8956",
        ),
        example="ValueError: Unrecognized keyword arguments: ['batch_shape']",
    ),
    KnownError(
        id="P24",
        family="keras-tensor",
        phase=Phase.BUILDING,
        patterns=(
            r"KerasTensor cannot be used as input to a TensorFlow function",
            r"KerasTensor.{0,60}?(?:is )?(?:not supported|cannot be).{0,60}?(?:tf|TensorFlow)",
        ),
        cause="A TensorFlow function (tf.*) is called directly on the output of a Keras layer while the model is built; Keras 3 allows layers and keras.ops there only.",
        fix="""\
x = keras.ops.concatenate([a, b], axis=-1)                 # keras.ops.* in place of tf.*
x = keras.layers.Lambda(lambda t: tf.image.resize(t, (64, 64)))(x)       # or wrap it in a layer
pip install "tf-keras~=2.15"          # or stay with Keras 2: the tf-keras of your TensorFlow's version (2.16: tf-keras~=2.16)
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
        id="P26",
        family="schedule-assigned",
        phase=Phase.BUILDING,
        patterns=(
            r"learning rate is not settable",
            r"This optimizer was created with a `?LearningRateSchedule`?",
            r"'(?:PolynomialDecay|ExponentialDecay|CosineDecay|PiecewiseConstantDecay|WarmUp|CustomSchedule|\w{0,30}(?:Schedule|Decay))' object has no attribute '(?P<name>\w{1,30})'",
            r"Optimizer must have a .{0,3}lr.{0,3} attribute",
            r"output of the .{0,3}schedule.{0,3} function should be (?:a )?float",
        ),
        cause="A callback sets the learning rate of an optimizer that has a schedule (or reads .lr, which is gone): only one of both can steer it.",
        fix="""\
optimizer = keras.optimizers.Adam(learning_rate=1e-3)           # a number: then callbacks may set it
callbacks = [keras.callbacks.LearningRateScheduler(lambda epoch, lr: float(lr * 0.9))]     # floats, not int or np types
# or the schedule alone, without LearningRateScheduler and ReduceLROnPlateau""",
        evidence="recalled",
        example="TypeError: This optimizer was created with a `LearningRateSchedule` object as its `learning_rate` constructor argument, hence its learning rate is not settable.",
    ),
    KnownError(
        id="P27",
        family="reset-states",
        phase=Phase.TRACING,
        patterns=(
            r"has no attribute 'reset_states'",
            r"has no attribute 'reset_metrics'",
        ),
        cause="reset_states was renamed: metrics have reset_state() in Keras 3, recurrent layers have reset_state() too, and a Sequential has none.",
        fix="""\
metric.reset_state()                                        # was metric.reset_states()
for layer in model.layers:
    if hasattr(layer, "reset_state"): layer.reset_state()      # was model.reset_states()
pip install "tf-keras~=2.15"          # or stay with Keras 2: the tf-keras of your TensorFlow's version (2.16: tf-keras~=2.16)
export TF_USE_LEGACY_KERAS=1           # before TensorFlow is imported""",
        evidence="recalled",
        example="AttributeError: 'Mean' object has no attribute 'reset_states'",
    ),
    KnownError(
        id="P28",
        family="removed-methods",
        phase=Phase.BUILDING,
        patterns=(
            r"has no attribute '(?P<name>predict_classes|predict_proba|predict_generator|fit_generator|evaluate_generator|add_metric|_make_train_function|_make_predict_function|make_predict_function|metrics_tensors|total_loss|get_input_at|get_output_at|_keras_shape|outbound_nodes|inbound_nodes|_layers|output_shape|input_shape)'",
        ),
        cause="The method or attribute is of an older Keras and gone in this one.",
        details=("The name is {name}.",),
        fix="""\
classes = model.predict(x).argmax(axis=-1)          # was predict_classes; predict_proba is predict
model.fit(generator)                                # was fit_generator; predict_generator is predict
layer.output.shape, layer.input.shape               # was output_shape, input_shape of a layer
# add_metric: a keras.metrics.Metric of the model, updated in train_step
pip install "tf-keras~=2.15"          # or stay with Keras 2: the tf-keras of your TensorFlow's version (2.16: tf-keras~=2.16)
export TF_USE_LEGACY_KERAS=1           # before TensorFlow is imported""",
        evidence="recalled",
        example="AttributeError: 'Sequential' object has no attribute 'predict_classes'",
    ),
    KnownError(
        id="P29",
        family="moved-modules",
        phase=Phase.INSTALLING,
        kind=Kind.BROAD,
        patterns=(
            r"cannot import name '(?P<name>\w{1,60})' from '(?:tensorflow\.(?:python\.)?)?keras[\w.]{0,60}'",
            r"No module named '(?P<name>(?:tensorflow\.)?(?:python\.)?keras\.[\w.]{1,60})'",
            r"No module named '(?P<name>keras_applications|keras_preprocessing|keras_contrib|keras_radam|keras\.\w{1,40}|tensorflow\.keras[\w.]{0,40}|tensorflow\.python\.keras[\w.]{0,40})'",
            r"module '(?:tensorflow\.)?keras[\w.]{0,60}' has no attribute '(?P<name>\w{1,40})'",
            r"module 'keras\.(?:api\.)?(?:_v2\.)?(?:keras\.)?backend' has no attribute '(?P<name>\w{1,40})'",
        ),
        cause="The name has moved or is gone in this Keras (keras.engine, keras.layers.merge, experimental.preprocessing, tensorflow.python.keras, functions of keras.backend, multi_gpu_model).",
        details=("The name is {name}.",),
        fix="""\
from tensorflow import keras                     # public names only: keras.layers.*, keras.ops.*, keras.utils.*
keras.layers.RandomFlip, keras.layers.Rescaling  # was layers.experimental.preprocessing.*
keras.utils.load_img, keras.utils.to_categorical # was keras.preprocessing.image.*, keras.utils.np_utils
keras.ops.mean(x)                                # was keras.backend.mean and the like; multi_gpu_model is a strategy
pip install "tf-keras~=2.15"          # or stay with Keras 2: the tf-keras of your TensorFlow's version (2.16: tf-keras~=2.16)
export TF_USE_LEGACY_KERAS=1           # before TensorFlow is imported""",
        evidence="recalled",
        example="ImportError: cannot import name 'multi_gpu_model' from 'keras.utils'",
    ),
    KnownError(
        id="P30",
        family="add-weight",
        phase=Phase.BUILDING,
        patterns=(
            r"add_weight\(\) (?:got multiple values for argument '(?P<argument>\w{1,20})'|takes from|missing)",
        ),
        cause="The order of add_weight's arguments changed: in Keras 3 the first one is shape, not name.",
        fix='self.w = self.add_weight(name="w", shape=(n, m), initializer="glorot_uniform", trainable=True)     # all by keyword',
        evidence="recalled",
        example="TypeError: Layer.add_weight() got multiple values for argument 'shape'",
    ),
    KnownError(
        id="P31",
        family="layer-arguments",
        phase=Phase.BUILDING,
        patterns=(
            r"Unrecognized keyword arguments passed to (?P<layer>\w{1,40}): \{'(?P<argument>\w{1,40})'",
            r"__init__\(\) got an unexpected keyword argument '(?P<argument>weights|input_length|batch_input_shape|implementation|fused|renorm|experimental_autocast|batch_shape|synchronized|name_scope)'",
            r"Only instances of `?keras\.Layer`? can be added to a Sequential model",
        ),
        cause="A layer of this Keras has no such argument (Keras 3 dropped weights, input_length, batch_input_shape, implementation and others), or layers of two Keras (keras and tf.keras, TF Hub's KerasLayer) are mixed.",
        details=("The argument is {argument}.",),
        fix="""\
model = keras.Sequential([keras.Input(shape=(28, 28)), keras.layers.Flatten()])     # in place of batch_input_shape
embedding = keras.layers.Embedding(vocabulary, width); embedding.build(None); embedding.set_weights([matrix])     # weights=
# hub.KerasLayer is a Keras 2 layer:
pip install "tf-keras~=2.15"          # or stay with Keras 2: the tf-keras of your TensorFlow's version (2.16: tf-keras~=2.16)
export TF_USE_LEGACY_KERAS=1           # before TensorFlow is imported""",
        evidence="recalled",
        example="ValueError: Unrecognized keyword arguments passed to Embedding: {'weights': [array([[0., 0.]])]}",
    ),
    KnownError(
        id="P32",
        family="bool-labels",
        phase=Phase.BUILDING,
        kind=Kind.BROAD,
        patterns=(
            r"has DataType bool not in list of allowed values",
            r"must have the same dtypes?.{0,40}?bool",
            r"Invalid dtype: bool",
        ),
        cause="Boolean labels or features reach arithmetic; Keras 3 does not cast them.",
        fix="dataset = dataset.map(lambda x, y: (x, tf.cast(y, tf.float32)))",
        evidence="recalled",
        example="TypeError: Value passed to parameter 'x' has DataType bool not in list of allowed values: bfloat16, float16, float32",
    ),
    KnownError(
        id="P33",
        family="keras-3-elsewhere",
        phase=Phase.INSTALLING,
        patterns=(
            r"installed version of Keras is Keras 3, but this is not yet supported",
            r"install the backwards-compatible tf-keras package",
            r"No module named 'tf_keras'",
            r"`?tf_keras`? package .{0,40}?(?:is required|not (?:found|installed))",
            r"requires? tf-?keras",
            r"Keras cannot be imported\. Check that it is installed",
        ),
        cause="A library (Transformers, TF Hub, Model Garden, TensorFlow Probability) needs Keras 2, and this environment has Keras 3 only.",
        fix="""\
pip install "tf-keras~=2.15"          # or stay with Keras 2: the tf-keras of your TensorFlow's version (2.16: tf-keras~=2.16)
export TF_USE_LEGACY_KERAS=1           # before TensorFlow is imported
# beside tensorflow-cpu or tensorflow-tpu: pip install --no-deps tf-keras (else it brings a second tensorflow)""",
        evidence="recalled",
        example="ValueError: Your currently installed version of Keras is Keras 3, but this is not yet supported in Transformers. Please install the backwards-compatible tf-keras package with `pip install tf-keras`.",
    ),
    KnownError(
        id="P34",
        family="addons",
        phase=Phase.INSTALLING,
        patterns=(
            r"No module named '(?P<name>tensorflow_addons)'",
            r"TensorFlow Addons .{0,80}?(?:end of life|ended|EOL)",
            r"tensorflow_addons[/\w.]{0,80}.{0,200}?(?:ImportError|AttributeError|ModuleNotFoundError)",
        ),
        cause="TensorFlow Addons has ended: it works with TensorFlow up to 2.15 and Keras 2 only.",
        fix="""\
keras.optimizers.AdamW, keras.optimizers.Lamb, keras.losses.CategoricalFocalCrossentropy, keras.layers.GroupNormalization
keras.metrics.F1Score, keras.layers.SpectralNormalization, tf.image.* (rotate: keras.layers.RandomRotation)
pip install "tensorflow==2.15.*" tensorflow-addons          # to run it as it is""",
        evidence="recalled",
        example="ModuleNotFoundError: No module named 'tensorflow_addons'",
    ),
    KnownError(
        id="P35",
        family="metrics-list",
        phase=Phase.BUILDING,
        patterns=(
            r"when providing the `?metrics`? argument as a list",
            r"should have as many entries as the model has outputs",
        ),
        cause="In Keras 3 a model of several outputs wants its metrics for each output.",
        fix='model.compile(optimizer, loss={"a": "mse", "b": "mae"}, metrics={"a": ["mae"], "b": ["mae"]})     # by the outputs\' names',
        evidence="recalled",
        example="ValueError: For a model with multiple outputs, when providing the `metrics` argument as a list, it should have as many entries as the model has outputs.",
    ),
)
