# ruff: noqa: E501  (texts of other programs stay as they are)
"""Keras models that are built, compiled or fed in a way that Keras refuses."""

from __future__ import annotations

from tpudiag.known_errors.model import KnownError, Phase

ERRORS = (
    KnownError(
        id="E200",
        family="not-compiled",
        phase=Phase.BUILDING,
        patterns=(
            r"You must (?:first )?(?:call `?compile|compile your model)",
            r"model (?:has not been|is not|must be) compiled",
            r"'NoneType' object has no attribute '(?:update_state|_loss_tracker|compute_loss|reset_states?|minimize|apply_gradients)'",
            r"'(?:Model|Functional|Sequential)' object has no attribute '(?:_compile_metrics|_is_compiled|optimizer|loss|compiled_loss|compiled_metrics)'",
            r"has no attribute '_loss_tracker'",
        ),
        cause="fit, evaluate or a loss is asked of a model that was not compiled: a model that was loaded or cloned without its training configuration, or a subclass whose compile() was overridden without super().",
        fix="""\
with strategy.scope():
    model = build_model()
    model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
# after load_model(compile=False) or clone_model: compile again, in the scope""",
        evidence="recalled",
        example="RuntimeError: You must compile your model before training/testing. Use `model.compile(optimizer, loss)`.",
    ),
    KnownError(
        id="E201",
        family="not-built",
        phase=Phase.BUILDING,
        patterns=(
            r"model has not yet been built",
            r"Weights for model .{0,80}?have not yet been created",
            r"layer has never been called",
            r"Unable to (?:load|save) (?:weights|a subclassed Model).{0,200}?(?:not yet created|not been built|has not created)",
            r"You called `?set_weights.{0,120}?on .{0,80}? with a weight list of length",
            r"was never built",
            r"the layer isn't built",
            r"model must be built before you call",
            r"(?:your|the) model (?:must|has to|needs to) be built before (?:calling|you call|saving|restor)",
            r"Model is unbuilt",
            r"empty Model cannot be used as a Layer",
            r"You can only call `build\(\)` on a model if",
        ),
        cause="The model has no variables yet: a subclassed or Sequential model without an input shape creates them when it is called first.",
        fix="""\
model = keras.Sequential([keras.Input(shape=(224, 224, 3)), ...])      # or an Input first
model.build((None, 224, 224, 3))                                        # or one call on a batch, in strategy.scope()
model(tf.zeros([1, 224, 224, 3]))""",
        evidence="recalled",
        example="ValueError: This model has not yet been built. Build the model first by calling `build()` or by calling the model on a batch of data.",
    ),
    KnownError(
        id="E202",
        family="layer-input",
        phase=Phase.BUILDING,
        patterns=(
            r"Input \d{1,2}(?: with name .{1,60}?)? of layer .{0,60}?is incompatible with the layer: (?P<said>expected [^.;]{5,120})",
            r"is incompatible with the layer: its rank is undefined",
            r"Error when checking (?:model )?input.{0,20}?: ?(?P<said>expected .{1,60}? to have .{1,60}?but got array with shape \([\d,None ]{0,40}\))",
            r"Error when checking (?:model )?input.{0,20}?: ?expected .{1,60}? to have",
            r"Inputs? \d{1,2} is incompatible with layer .{1,60}?: (?P<said>expected (?:min_|max_)?ndim=\d, found ndim=\d)",
            r"Inputs? \d{1,2} is incompatible with layer",
            r"Negative dimension size caused by subtracting",
            r"One of the dimensions in the output is <= 0",
            r"Computed output size would be negative",
            r"depth of (?:the )?input must (?:be equal to|match) .{0,40}?filter",
            r"number of input channels does not match corresponding dimension of (?:the )?filter",
            r"input depth must be evenly divisible by filter depth",
            r"Exception encountered when calling layer .{0,200}?(?:expected|dimension|shape)",
            r"Unexpectedly found an instance of type",
            r"was called with an input that isn't a symbolic tensor",
        ),
        cause="A layer gets an input of another rank, size or number of channels than it was made for: a missing batch or channel dimension, images of another size, channels first for last, or an image too small for so many strides.",
        details=("It is {said}.",),
        fix="""\
print(dataset.element_spec, model.input_shape)              # compare
x = tf.expand_dims(x, -1)                                   # (batch, 28, 28) -> (batch, 28, 28, 1); x[None] adds the batch
image = tf.ensure_shape(tf.image.resize(image, [224, 224]), [224, 224, 3])
keras.layers.Conv2D(64, 3, padding="same")                  # where the image became smaller than the kernel""",
        evidence="recalled",
        example='ValueError: Input 0 of layer "dense" is incompatible with the layer: expected min_ndim=2, found ndim=1. Full shape received: (None,)',
        yields_to=("E89", "P24"),
    ),
    KnownError(
        id="E203",
        family="graph-disconnected",
        phase=Phase.BUILDING,
        patterns=(
            r"Graph disconnected: cannot obtain value for tensor",
            r"`?inputs`? not connected to `?outputs`?",
            r"Found input tensor that .{0,60}?(?:is not|was not) (?:a Keras|created)",
            r"Added layer must be an instance of class",
            r"Only instances of `?keras\.Layer`? can be added",
            r"object with the name .{0,60}? is not a KerasTensor",
            r"No such layer: (?P<name>[\w.-]{1,60})",
            r"name \"(?P<name>[\w.-]{1,60})\" is used \d{1,3} times in the model",
            r"Input tensors (?:to|of) a (?:Functional|Model) must (?:come from|be)",
            r"values must be KerasTensors\. Received",
            r"Found input tensor cannot be reached",
            r"Provide (?:either|only) a layer name",
            r"[Ff]ound unexpected instance while processing input tensors",
            r"Model inputs are already set",
            r"Output with path .{1,60}? is not connected to `inputs`",
            r"disconnected from the outputs",
        ),
        cause="The functional model does not hang together: an output does not come from the inputs that are named, two layers have one name, or layers of two Keras (keras, tensorflow.keras, tf_keras) are mixed.",
        details=("The name is {name}.",),
        fix="""\
model = keras.Model(inputs=base.input, outputs=x)            # the very input tensor that x was made from
grep -rnE "import.*keras|from.*keras" *.py                   # one Keras only: keras, or tensorflow.keras, or tf_keras
keras.layers.Dense(10, name="head_2")                        # names once in a model""",
        evidence="recalled",
        example="ValueError: Graph disconnected: cannot obtain value for tensor KerasTensor(name='input_1') at layer \"conv2d\".",
        yields_to=("E490", "E701"),
    ),
    KnownError(
        id="E204",
        family="two-keras",
        phase=Phase.BUILDING,
        patterns=(
            r"Could not interpret (?P<what>optimizer|loss|metric|activation|initializer|regularizer)(?: function)? identifier",
            r"Unknown (?P<what>loss|metric|activation|initializer|regularizer)(?: function)?: ",
            r"Unknown? (?P<what>loss|metric) function: ",
            r"Could not locate (?:function|class) ",
            r"must be an instance of .{0,40}?optimizer.{0,40}?not",
        ),
        cause="compile was given an optimizer, loss or metric that this Keras does not know: a misspelt name, an object of another Keras (keras beside tensorflow.keras or tf_keras; a Transformers model is Keras 2, its optimizer must be too), or an object of your own that was not registered.",
        details=("It is the {what}.",),
        fix="""\
grep -rnE "import.*keras|from.*keras" *.py                     # one Keras only
import tf_keras; optimizer = tf_keras.optimizers.Adam(3e-5)    # for models of Keras 2 (Transformers, TF Hub) beside Keras 3
export TF_USE_LEGACY_KERAS=1                                    # before TensorFlow is imported
@keras.saving.register_keras_serializable()                     # a loss or metric of your own, and custom_objects={"name": fn} when loading""",
        evidence="recalled",
        example="ValueError: Could not interpret optimizer identifier: <keras.src.optimizers.adam.Adam object at 0x7f35c4>",
        yields_to=("E474",),
    ),
    KnownError(
        id="E205",
        family="load-model",
        phase=Phase.SAVING,
        patterns=(
            r"deserialization of a `?Lambda`? layer",
            r"must override `?get_config",
            r"Unable to (?:synchronously )?(?:create|open) (?:group|dataset|link|object) \(?(?:name already exists|object .{0,60}?doesn't exist|file signature not found|bad object header)",
            r"file signature not found",
            r"SavedModel file does not exist at: ?(?P<path>\S{1,120})",
            r"There is no item named 'config\.json' in the archive",
            r"File not found: filepath=(?P<path>\S{1,120})",
            r"'str' object has no attribute 'decode'.{0,400}?(?:h5|hdf5|keras)",
            r"(?:h5|hdf5|keras).{0,1600}?'str' object has no attribute 'decode'",
            r"does not (?:seem|appear) to be a (?:valid )?(?:Keras|SavedModel|HDF5)",
            r"File format not supported: filepath=",
            r"No model found in config file",
            r"No model config found in the file",
        ),
        cause="The saved model cannot be read or written as it is: the file is missing, cut off, of another format than its name says, or holds weights alone (then build the model and load_weights); a Lambda or a layer of your own is not described (get_config); two weights have one name; h5py 3 beside an old Keras.",
        details=("The path is {path}.",),
        fix="""\
ls -l MODEL; file MODEL                                        # there, whole, and of that format? (.keras is a zip, .h5 is HDF5, a folder is a SavedModel)
model = keras.models.load_model(path, safe_mode=False)         # Lambda layers, from a source that you trust
layer = keras.layers.TFSMLayer(folder, call_endpoint="serving_default")     # a SavedModel in Keras 3
model.save_weights("w.weights.h5")                              # with layers of your own: build the model by code, then load_weights
pip install "h5py<3"                                            # TensorFlow 2.3 and older: 'str' object has no attribute 'decode'""",
        evidence="recalled",
        example="OSError: SavedModel file does not exist at: model.h5/{saved_model.pbtxt|saved_model.pb}",
        yields_to=("E478", "E788", "E789"),
    ),
    KnownError(
        id="E206",
        family="not-picklable",
        phase=Phase.BUILDING,
        patterns=(
            r"can(?:not|'t) pickle '?(?:_thread\.|_io\.|weakref|module|tensorflow|EagerTensor|.{0,40}?(?:RLock|lock|weakref))",
            r"__?deepcopy.{0,400}?(?:EagerTensor|weakref|RLock)",
            r"cannot serialize a bytes object larger than 4 ?GiB",
        ),
        cause="A model, layer, optimizer or strategy is pickled or deep-copied: by multiprocessing, joblib, copy.deepcopy, a tuner, or a get_config that holds objects instead of plain values.",
        fix="""\
model.get_weights(); model.to_json()                     # send weights and configuration, not the model
new = keras.models.clone_model(model)                    # not copy.deepcopy(model)
# get_config: numbers and strings only; fit(workers=0 or 1, use_multiprocessing=False)""",
        evidence="recalled",
        example="TypeError: cannot pickle 'weakref' object",
    ),
    KnownError(
        id="E207",
        family="variables-in-function",
        phase=Phase.TRACING,
        patterns=(
            r"[Cc]reat\w{2,3} variables on a non-first call",
            r"tried to create variables on (?:non-first|second) call",
        ),
        cause="A tf.function creates variables when it is called again: a layer, metric or optimizer made inside it, or one optimizer for two models.",
        fix="""\
with strategy.scope():
    model, optimizer, metric = build(), keras.optimizers.Adam(), keras.metrics.Mean()     # all before the step
    optimizer.build(model.trainable_variables)                                             # its variables too
# a second model: an optimizer and a tf.function of its own""",
        evidence="recalled",
        example="ValueError: Creating variables on a non-first call to a function decorated with tf.function.",
        yields_to=("E53",),
    ),
    KnownError(
        id="E208",
        family="mismatched-keras",
        phase=Phase.INSTALLING,
        patterns=(
            r"module 'keras\.\w{0,20}?_tf_keras\.keras' has no attribute '(?P<name>__internal__)'",
            r"module 'keras[\w.]{0,40}' has no attribute '(?P<name>__internal__|__version__)'",
            r"cannot import name '(?P<name>__version__|__internal__)' from 'keras'",
            r"has no attribute '(?P<name>register_load_context_function|register_call_context_function)'",
            r"module 'keras[\w.]{0,40}' has no attribute '(?P<name>unpack_x_y_sample_weight)'",
            r"'DeviceSpec\w{0,4}' object has no attribute",
            r"'Node' object has no attribute 'output_masks'",
            r"'Tensor' object has no attribute '_keras_(?:history|shape)'",
            r"'InputLayer' object has no attribute '_?outbound_nodes'",
            r"'tuple' object has no attribute '(?:layer|_keras_\w{1,20})'",
        ),
        cause="keras and tensorflow (or tf_keras, or a library on top of them) are of releases that do not belong together: pip brought a Keras 3 beside TensorFlow 2.15 or older, or a tf_keras newer than its TensorFlow.",
        details=("The name is {name}.",),
        fix="""\
pip list | grep -iE "tensorflow|keras"
pip install "tensorflow==2.15.*" "keras==2.15.*"               # up to 2.15 both have one version
pip install "tensorflow==2.19.*" "tf-keras==2.19.*" "keras>=3"  # from 2.16 on tf-keras has TensorFlow's version
export TF_USE_LEGACY_KERAS=1                                     # for libraries that need Keras 2; before TensorFlow is imported""",
        citations=(
            "tensorflow/probability#1774",
            "tensorflow/hub#901",
            "tensorflow/tensorflow#55921",
        ),
        example="AttributeError: module 'keras._tf_keras.keras' has no attribute '__internal__'",
    ),
    KnownError(
        id="E209",
        family="tensor-as-key",
        phase=Phase.BUILDING,
        patterns=(
            r"Tensor is unhashable",
            r"Variable is unhashable",
            r"Tensors are unhashable",
        ),
        cause="A tensor or variable is a key of a dict or a member of a set, or is compared with `in`: in TensorFlow 2 they compare by value.",
        fix="""\
names = {v.ref(): v.name for v in model.variables}           # .ref() in place of the variable
any(v is w for w in variables)                               # in place of `v in variables`""",
        evidence="recalled",
        example="TypeError: Tensor is unhashable. Instead, use tensor.ref() as the key.",
    ),
)
