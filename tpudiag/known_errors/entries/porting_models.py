# ruff: noqa: E501  (texts of other programs stay as they are)
"""Scripts for Keras 2 on Keras 3: layers, methods, modules."""

from __future__ import annotations

from tpudiag.known_errors.model import Kind, KnownError, Phase, Rival

ERRORS = (
    KnownError(
        id="P26",
        family="schedule-assigned",
        phase=Phase.BUILDING,
        patterns=(
            r"learning rate is not settable",
            r"This optimizer was created with a `?LearningRateSchedule`?",
            r"'(?:PolynomialDecay|ExponentialDecay|CosineDecay|PiecewiseConstantDecay|WarmUp|CustomSchedule|\w{0,30}(?:Schedule|Decay))' object has no attribute '(?P<name>\w{1,30})'",
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
        id="P44",
        family="integer-schedule",
        phase=Phase.TRACING,
        kind=Kind.BROAD,
        patterns=(r"Expected int(?:32|64), but got (?P<value>[\d.e-]{1,20}) of type 'float'",),
        cause="A whole number meets a fraction. In a learning-rate schedule that is the step: Keras 3 hands it over as int64, which Keras 2 cast before.",
        details=("The fraction is {value}.",),
        fix="""\
class Schedule(keras.optimizers.schedules.LearningRateSchedule):
    def __call__(self, step):
        step = tf.cast(step, tf.float32)            # first of all
        return self.initial * 0.95 ** (step / self.decay_steps)""",
        evidence="reproduced",
        example="TypeError: Expected int64, but got 0.95 of type 'float'.",
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
pip install --no-deps "<<keras2>>"          # or stay with Keras 2: the tf-keras of your TensorFlow (2.16 or later)
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
pip install --no-deps "<<keras2>>"          # or stay with Keras 2: the tf-keras of your TensorFlow (2.16 or later)
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
            r"cannot import name '(?P<name>\w{1,60})' from '(?:tensorflow\.(?:python\.)?)?keras(?:\.[\w.]{1,60})?'",
            r"No module named '(?P<name>(?:tensorflow\.)?(?:python\.)?keras\.[\w.]{1,60})'",
            r"No module named '(?P<name>keras_applications|keras_preprocessing|keras_contrib|keras_radam|keras\.\w{1,40}|tensorflow\.keras[\w.]{0,40}|tensorflow\.python\.keras[\w.]{0,40})'",
            r"module '(?:tensorflow\.)?keras(?:\.[\w.]{0,60})?' has no attribute '(?P<name>\w{1,40})'",
            r"module 'keras\.(?:api\.)?(?:_v2\.)?(?:keras\.)?backend' has no attribute '(?P<name>\w{1,40})'",
        ),
        cause="The name has moved or is gone in this Keras (keras.engine, keras.layers.merge, experimental.preprocessing, tensorflow.python.keras, functions of keras.backend, multi_gpu_model).",
        details=("The name is {name}.",),
        fix="""\
from tensorflow import keras                     # public names only: keras.layers.*, keras.ops.*, keras.utils.*
keras.layers.RandomFlip, keras.layers.Rescaling  # was layers.experimental.preprocessing.*
keras.utils.load_img, keras.utils.to_categorical # was keras.preprocessing.image.*, keras.utils.np_utils
keras.ops.mean(x)                                # was keras.backend.mean and the like; multi_gpu_model is a strategy
pip install --no-deps "<<keras2>>"          # or stay with Keras 2: the tf-keras of your TensorFlow (2.16 or later)
export TF_USE_LEGACY_KERAS=1           # before TensorFlow is imported""",
        evidence="recalled",
        example="ImportError: cannot import name 'multi_gpu_model' from 'keras.utils'",
        yields_to=("E615", "E617", "E610", "E611", "E607"),
    ),
    KnownError(
        id="P30",
        family="add-weight",
        phase=Phase.BUILDING,
        patterns=(
            r"add_weight\(\) (?:got multiple values for argument '(?P<argument>\w{1,20})'|takes from|missing)",
            r"add_variable\(\) (?:got multiple values for argument '(?P<argument>\w{1,20})'|takes from|missing)",
            r"Cannot convert '\('\w', ?'\w'.{3,120}?to a shape",
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
            r"[Kk]eyword argument not understood:?'?,? ?\(?'(?P<argument>\w{1,40})'",
        ),
        cause="A layer of this Keras has no such argument (Keras 3 dropped weights, input_length, batch_input_shape, implementation and others), or layers of two Keras (keras and tf.keras, TF Hub's KerasLayer) are mixed.",
        details=("The argument is {argument}.",),
        fix="""\
model = keras.Sequential([keras.Input(shape=(28, 28)), keras.layers.Flatten()])     # in place of batch_input_shape
embedding = keras.layers.Embedding(vocabulary, width); embedding.build(None); embedding.set_weights([matrix])     # weights=
# hub.KerasLayer is a Keras 2 layer:
pip install --no-deps "<<keras2>>"          # or stay with Keras 2: the tf-keras of your TensorFlow (2.16 or later)
export TF_USE_LEGACY_KERAS=1           # before TensorFlow is imported""",
        evidence="recalled",
        example="ValueError: Unrecognized keyword arguments passed to Embedding: {'weights': [array([[0., 0.]])]}",
        yields_to=("E490",),
    ),
    KnownError(
        id="P41",
        family="model-init-arguments",
        phase=Phase.BUILDING,
        patterns=(
            r"(?:Layer|Model|Functional|Sequential)\.__init__\(\) takes 1 positional argument but \d{1,2} were given",
        ),
        cause="The constructor of a Keras 3 layer or model takes keywords alone: super().__init__(self), or a name given without its keyword, is one argument too many.",
        fix="""\
class Wrapped(keras.Model):
    def __init__(self, model):
        super().__init__()             # not super().__init__(self); super().__init__(name=name)
        self.model = model
export TF_USE_LEGACY_KERAS=1           # or stay with Keras 2 (tf-keras), before TensorFlow is imported""",
        evidence="reproduced",
        example="TypeError: Layer.__init__() takes 1 positional argument but 2 were given",
    ),
    KnownError(
        id="P152",
        family="string-arrays",
        phase=Phase.READING,
        patterns=(r"Invalid dtype: (?P<type>str\d{1,8})",),
        cause="Keras 3 takes no NumPy array of strings: its predict, fit and layers take text as a TensorFlow tensor.",
        details=("The array's type is {type}.",),
        fix="model.predict(tf.constant([text]))      # was np.array([text])",
        evidence="reproduced",
        example="ValueError: Invalid dtype: str3328",
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
        cause="Boolean labels or features reach arithmetic that takes numbers only: class_weight rounds the labels (Keras 2.13 and later), and Keras 3 casts none for losses and metrics.",
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
            r"Data of type <class 'keras\.src\.[\w.]{1,60}KerasTensor'> is not allowed only",
        ),
        cause="A library (Transformers, TF Hub, Model Garden, TensorFlow Probability) needs Keras 2, and the program or its whole environment uses Keras 3.",
        fix="""\
pip install --no-deps "<<keras2>>"          # or stay with Keras 2: the tf-keras of your TensorFlow (2.16 or later)
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
            r"tensorflow_addons[/\w.]{0,80}.{0,200}?(?:ImportError|AttributeError|ModuleNotFoundError)",
            r"tensorflow_addons.{0,60}?(?:typeguard|is not compatible)",
            r"Invalid name: Addons>(?P<name>\w{1,60}) \(Did you use CamelCase",
        ),
        cause="The import of TensorFlow Addons fails: each of its releases is for two or three releases of TensorFlow, and it ended with 2.15 and Keras 2.",
        rivals=(
            Rival(
                cause="TensorFlow is older than this release of addons wants (pip takes the newest addons, whatever TensorFlow is there)",
                look_for="a public name of TensorFlow that is missing (tensorflow_core, random.Generator, register_keras_serializable); a warning `strictly below` above it",
                decide="pip list | grep -iE '^tensorflow'",
                fix="pip install -U tensorflow      # or addons of its age: 0.6 with TensorFlow 2.0, 0.9.1: 2.1, 0.11: 2.2 and 2.3, 0.12: 2.4, 0.13: 2.5, 0.16: 2.8, 0.19: 2.11, 0.21: 2.13, 0.23: 2.15",
                cues=(
                    r"tensorflow_addons.{0,900}?module 'tensorflow_core",
                    r"tensorflow_addons.{0,900}?has no attribute '(?:register_keras_serializable|Generator|experimental_functions_run_eagerly)'",
                    r"Invalid name: Addons>",
                ),
                families=("addons",),
            ),
            Rival(
                cause="TensorFlow is newer than addons can go (2.16 and later, Keras 3)",
                look_for="keras/src, keras.src or keras.api in the traceback, `No module named 'keras.engine'`, 'tensorflow.keras.*' without a name of Keras 2",
                decide='python -c "import tensorflow as tf, keras; print(tf.__version__, keras.__version__)"',
                cues=(
                    r"tensorflow_addons.{0,900}?No module named 'keras\.\w",
                    r"tensorflow_addons.{0,900}?keras[/.](?:src|api|_tf_keras)",
                    r"tensorflow_addons.{0,900}?has no attribute '(?:legacy|__internal__|experimental)'",
                ),
                families=("addons",),
            ),
            Rival(
                cause="tensorflow-addons, or keras beside it, is not installed in the Python that runs (pip of another Python, conda's TensorFlow without keras)",
                look_for="`No module named 'tensorflow_addons'` or `'keras'`",
                decide='python -c "import sys; print(sys.executable)"; python -m pip list | grep -iE "tensorflow|keras"',
                fix="python -m pip install --no-deps tensorflow-addons typeguard      # with the very Python that runs; TensorFlow up to 2.15\npython -m pip install \"keras==2.6.*\"                                # the number of your TensorFlow: `No module named 'keras'`: the keras of TensorFlow's own release",
                cues=(
                    r"No module named 'tensorflow_addons'",
                    r"tensorflow_addons.{0,900}?No module named 'keras'",
                ),
                families=("package-missing", "addons"),
            ),
        ),
        useless="An upgrade of addons for TensorFlow 2.16: there is none.",
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
            r"Expected `metrics` argument to be a list, tuple, or dict",
        ),
        cause="Keras 3 wants metrics as a list, tuple or dict, and for a model of several outputs some for each output.",
        fix='model.compile(optimizer, loss, metrics=[metric])     # not metrics=metric; of several outputs {"a": ["mae"], "b": ["mae"]}, by their names',
        evidence="recalled",
        example="ValueError: For a model with multiple outputs, when providing the `metrics` argument as a list, it should have as many entries as the model has outputs.",
    ),
    KnownError(
        id="P36",
        family="mismatched-keras",
        phase=Phase.INSTALLING,
        kind=Kind.BROAD,
        patterns=(
            r"cannot import name '(?P<name>\w{1,60})' from '(?:partially initialized module ')?tensorflow[\w.]{0,80}'",
            r"cannot import name '(?P<name>\w{1,60})' from 'tensorflow_core",
        ),
        cause="keras, tensorflow or a library on top of them are of releases that do not belong together: one asks the other for a name that it does not have (yet, or any more).",
        details=("The name is {name}.",),
        fix="""\
pip list | grep -iE "tensorflow|keras"                      # tensorflow 2.15 <-> keras 2.15; 2.16 and later <-> keras 3
pip install "tensorflow==2.15.*" "keras==2.15.*"            # up to 2.15 both have the same version
pip install -U tensorflow keras tensorflow-hub tensorflow-text      # or all of them new""",
        evidence="recalled",
        example="ImportError: cannot import name 'dtensor' from 'tensorflow.compat.v2.experimental'",
        yields_to=(
            "E610",
            "E615",
            "E617",
        ),
    ),
)
