# ruff: noqa: E501  (what is pasted stays in one piece)
"""Wordings of what compile, fit and layers are given, that one family of causes holds together with others."""

from __future__ import annotations

from .wording import Wording, Wordings

COMPILED: Wordings = {
    "E440": (
        Wording(
            r"Dynamic Spatial (?:reduce|convolution|reduce window)",
            "A pooling or convolution gets pictures whose height and width are not known when the step is compiled: decode_jpeg (or a crop of changing size) leaves them open.",
            "image = tf.image.resize(tf.io.decode_jpeg(x, channels=3), (H, W)); image = tf.ensure_shape(image, (H, W, 3))      # in dataset.map\nkeras.Input(shape=(H, W, 3))                     # no None for height and width",
            "INVALID_ARGUMENT: Compilation failure: Dynamic Spatial reduce window is not supported: s32[] dynamic",
        ),
    ),
    "P26": (
        Wording(
            r"output of the [\"`]?schedule[\"`]? function should be (?:a )?float\. Got: (?P<got>[\w.]{1,30})",
            "The function of LearningRateScheduler gives <<got>> where a float is wanted: a `return` is missing on one of its ways, or it gives an integer, a tensor or a NumPy number.",
            "def schedule(epoch, rate): return float(rate * 0.9)      # a Python float, on every way\ncallbacks=[keras.callbacks.LearningRateScheduler(schedule)]",
            "ValueError: The output of the `schedule` function should be a float. Got: None",
        ),
        Wording(
            r"output of the .{0,3}schedule.{0,3} function should be",
            "The function that LearningRateScheduler was given returns no float: nothing (a branch without return), a whole number, a tensor, or a schedule object (which belongs in the optimizer).",
            "def schedule(epoch, lr): return float(lr if epoch < 10 else lr * 0.9)      # a float in every branch\noptimizer = keras.optimizers.Adam(keras.optimizers.schedules.ExponentialDecay(1e-3, 1000, 0.9))      # a schedule object: here, without the callback",
            'ValueError: The output of the "schedule" function should be float.',
        ),
    ),
    "E203": (
        Wording(
            r"No such layer: (?P<name>[\w./-]{1,60}?)\.? Existing layers are",
            "get_layer (or the feature extraction) asks for a layer `<<name>>`, which this model has not: names count up in a process (conv2d_1, conv2d_2), differ between releases, and those of an application inside a model belong to the inner model.",
            'print([layer.name for layer in model.layers])              # the names that there are\nmodel.get_layer("resnet50").get_layer("<<name>>")          # a layer of an inner model\nkeras.layers.Conv2D(64, 3, name="<<name>>")                # a name of its own, where the layer is made',
            "ValueError: No such layer: abc. Existing layers are: ['dense_1'].",
        ),
        Wording(
            r"(?:Only instances of `?keras\.Layer`? can be added|must be an instance of class Layer)\D{0,60}?(?:Received: |layer=)<?KerasTensor",
            "What is added to the Sequential model is the output of a layer (it was called on a tensor), not the layer.",
            "model.add(keras.layers.Dense(10))                           # the layer itself, not Dense(10)(x)\nmodel = keras.Model(inputs, keras.layers.Dense(10)(x))      # or the functional way, without Sequential",
            "ValueError: Only instances of `keras.Layer` can be added to a Sequential model. Received: <KerasTensor shape=(None, 3)> (of type <class 'KerasTensor'>)",
        ),
        Wording(
            r"(?:Only instances of `?keras\.Layer`? can be added|must be an instance of class Layer)\D{0,60}?(?:Received: |layer=)<class '(?P<name>[\w.]{1,80})'>",
            "A class (<<name>>) is added to the Sequential model where a layer is wanted: the brackets that make an object of it are missing.",
            "model.add(Flatten())      # with ( )",
            "ValueError: Only instances of `keras.Layer` can be added to a Sequential model. Received: <class 'keras.src.layers.reshaping.flatten.Flatten'> (of type <class 'type'>)",
        ),
    ),
    "E470": (
        Wording(
            r"should have unique names\. Name [\"'](?P<name>[\w./-]{1,60})[\"']",
            "Two layers of the Sequential model have the name `<<name>>`: one object is added twice, or names were given by hand.",
            'keras.layers.Dense(10, name="<<name>>_2")      # another name, or none; a new object for each layer, not one that is added twice',
            "ValueError: All layers added to a Sequential model should have unique names. Name 'a' is already the name of a layer in this model.",
        ),
    ),
    "E201": (
        Wording(
            r"weight list of length (?P<given>\d{1,5}), but the layer was expecting (?P<wanted>[1-9]\d{0,4}) weights",
            "set_weights was given <<given>> arrays, and the model has <<wanted>>: they are of another model (another number of layers, with or without batch normalisation, biases or an optimizer's state).",
            "print([w.shape for w in weights]); print([w.shape for w in model.get_weights()])      # where they part\nmodel.set_weights(same_model.get_weights())                                            # built by the same code; single layers: model.get_layer(name).set_weights",
            "ValueError: You called `set_weights(weights)` on layer 'sequential' with a weight list of length 1, but the layer was expecting 2 weights.",
        ),
    ),
    "E91": (
        Wording(
            r"last dimension of the inputs to a `?Dense`? layer should be defined|initialize variables must be fully-defined",
            "A layer cannot make its weights: the number of features that reaches it is not known. The Input has a None there, or Flatten stands behind sizes that are not known (images of any size, sequences of any length).",
            "inputs = keras.Input((224, 224, 3))                             # sizes as numbers: needed before Flatten and Dense\nx = keras.layers.GlobalAveragePooling2D()(x)                    # in place of Flatten: its size does not depend on the image's",
            "ValueError: The last dimension of the inputs to a Dense layer should be defined. Found None. Full input shape received: (None, None)",
        ),
    ),
    "E88": (
        Wording(
            r"must be unchanged.{0,20}?input_shape ?= ?(?P<has>[\[(][\d, ]{1,40}[\])]),? ?(?:output_shape|target_shape) ?= ?(?P<wanted>[\[(][\d, -]{1,40}[\])])",
            "A Reshape layer is to make <<wanted>> of <<has>> (without the batch), which hold another number of values: the layer before it gives another size than the model supposes (an image of another size, other strides, another number of units).",
            "model.summary()                                        # what comes before the Reshape\nx = keras.layers.Dense(7 * 7 * 64)(x); x = keras.layers.Reshape((7, 7, 64))(x)      # as many values on both sides; or -1 for one of the sizes",
            "ValueError: The total size of the tensor must be unchanged. Received: input_shape=(8,), target_shape=(3, 5)",
        ),
    ),
    "E570": (
        Wording(
            r"vocabulary has at least one repeated term",
            "The vocabulary that the layer is given holds a term twice.",
            "vocabulary = list(dict.fromkeys(words))      # each once, in their order; without '' and '[UNK]', which the layer adds itself",
            "ValueError: The passed vocabulary has at least one repeated term. Please uniquify your dataset. The repeated terms are: [1]",
        ),
    ),
    "E461": (
        Wording(
            r"Invalid `?metrics`?.{0,60}?should contain metrics objects",
            "A model with several outputs is given a plain list of metrics: Keras 3 wants them by output.",
            'model.compile(optimizer, loss={"a": "mse", "b": "mse"}, metrics={"a": ["mae"], "b": ["mae"]})      # by the names of the outputs: print(model.output_names)\nmodel.compile(optimizer, loss=["mse", "mse"], metrics=[["mae"], ["mae"]])                            # or one list for each output',
            "ValueError: tuple arity mismatch; expected: 2, got: 1. Invalid `metrics`. `metrics` should contain metrics objects and either be a dict or a list matching the output names of the functional model",
        ),
    ),
    "E460": (
        Wording(
            r"Python generator to a Keras model, the generator must return a tuple",
            "The generator yields something else than a tuple: a list [x, y] (which Keras 3 takes for several inputs), or an array alone.",
            "yield x, y      # a tuple (inputs, labels), or (inputs, labels, weights); inputs alone for predict: yield (x,)",
            "ValueError: When passing a Python generator to a Keras model, the generator must return a tuple, either (input,) or (inputs, targets) or (inputs, targets, sample_weights). Received: [array([[1.]])]",
        ),
    ),
    "E204": (
        Wording(
            r"Could not interpret (?P<what>optimizer|loss|metric|activation|initializer|regularizer)(?: function)? identifier: ?'?(?P<name>\w{2,40})(?![\w.])",
            "`<<name>>` is no name of Keras for the <<what>>: it is misspelt, of another release, or one of your own (or of a package), which is passed as an object.",
            "keras.optimizers, keras.losses, keras.metrics, keras.activations      # the names that there are: dir(keras.metrics)\nmodel.compile(optimizer=keras.optimizers.Adam(), loss=my_loss, metrics=[my_metric])      # your own: the object or function, not its name",
            "ValueError: Could not interpret metric identifier: acuracy",
        ),
    ),
    "P23": (
        Wording(
            r"Unknown layer: ?(?P<name>Mean|Sum|MeanMetricWrapper|(?:\w{1,20})?Accuracy|AUC|Precision|Recall|MeanSquaredError)\b",
            "`<<name>>` is a metric: a subclassed model holds metrics as attributes, and an .h5 file takes them for its layers. With custom_objects alone the weights do not fit then.",
            "model.save_weights('model.weights.h5')                # and the model by its own code: Model(); model(x); model.load_weights(path)\nmodel.save('folder')                                  # a SavedModel (TensorFlow up to 2.15) or model.keras in place of .h5",
            "ValueError: Unknown layer: Mean",
        ),
        Wording(
            r"Unknown layer: ?(?P<name>AddMetric|AddLoss|TensorFlowOpLayer|TFOpLambda|SlicingOpLambda|ClassMethod)\b",
            "`<<name>>` is an inner layer of tf.keras, which it puts in for add_loss, add_metric or an operation of TensorFlow on a symbolic tensor: the file was written by another release of TensorFlow, or by tf.keras and is read by keras.",
            "from tensorflow.keras.models import load_model        # not from keras.models; the TensorFlow that saved it\nmodel = build_model(); model.load_weights(path)       # by its own code: independent of such layers",
            "ValueError: Unknown layer: AddMetric",
        ),
        Wording(
            r"Unknown optimizer: '(?P<name>\w{1,40})'",
            "`<<name>>` is no name of an optimizer in this release of Keras: misspelt in compile, of another release (AdamW came with 2.11), or, where a file is loaded, an optimizer of your own or of TensorFlow Addons.",
            'model.compile(optimizer=keras.optimizers.Adam(1e-3), loss=loss)      # an object, or "adam"\nmodel = keras.models.load_model(path, compile=False)                 # a file: the model without its optimizer, then compile',
            "ValueError: Unknown optimizer: 'adamm'. Please ensure you are using a `keras.utils.custom_object_scope` and that this object is included in the scope.",
        ),
    ),
    "E211": (
        Wording(
            r"'?sample_weight'? sizes: (?P<weights>\d{1,12})",
            "There are <<weights>> weights for another number of examples: sample_weight wants one for each example.",
            "weights = np.ones(len(x), np.float32)      # as many as examples; weights of classes: class_weight={0: 1.0, 1: 5.0}",
            "ValueError: Data cardinality is ambiguous. Make sure all arrays contain the same number of samples.'x' sizes: 4 'y' sizes: 4 'sample_weight' sizes: 3",
        ),
    ),
    "E160": (
        Wording(
            r"(?:label value of|=) ?-(?:2147483648|9223372036854775808)",
            "The smallest whole number is what a NaN (or infinity) becomes when it is cast to an integer: the values were no numbers before they became labels or indices (log or division of zero, a column with gaps, an empty file).",
            "assert np.isfinite(x).all()                       # before astype(int) or tf.cast(x, tf.int32)\nx = np.log1p(np.maximum(x, 0))                    # logarithms of what is not negative",
            "InvalidArgumentError: Received a label value of -2147483648 which is outside the valid range of [0, 256).",
        ),
        Wording(
            r"passed to (?:Parallel)?Map\w{0,20}Dataset.{0,160}?indices\[[\d,]{1,20}\] ?= ?(?P<index>-?\d{1,9}) is not in \[0, ?(?P<size>\d{1,9})\)",
            "A function of the dataset looks <<index>> up in a table of <<size>>. Where fit has a class_weight, that is it (Keras applies it in dataset.map): its dict has <<size>> entries, and a label is <<index>>. Else a tf.gather in a map of your own.",
            "class_weight = {label: 1.0 for label in range(CLASSES)}      # an entry for each class, from 0 on\nprint(max(int(tf.reduce_max(y)) for _, y in dataset))         # the largest label",
            "InvalidArgumentError: Error in user-defined function passed to MapDataset:256 transformation with iterator: Iterator::Root::Map: indices[0] = 1 is not in [0, 1) [[{{node GatherV2}}]]",
        ),
        Wording(
            r"to_categorical.{0,300}?index (?P<index>\d{1,7}) is out of bounds for axis \d with size (?P<size>\d{1,7})",
            "to_categorical (one-hot) was told <<size>> classes and meets the label <<index>>: labels run from 0 to the number of classes minus one.",
            "y = keras.utils.to_categorical(y, num_classes=int(y.max()) + 1)      # or labels that begin at 0: y - y.min()\nmodel.compile(loss='sparse_categorical_crossentropy')                # or no one-hot at all",
            "in to_categorical: categorical[np.arange(n), y] = 1\nIndexError: index 5 is out of bounds for axis 1 with size 3",
        ),
    ),
}
