# ruff: noqa: E501  (what is pasted stays in one piece)
"""Wordings of saved models: what of the file fails, and what still can be had of it."""

from __future__ import annotations

from .wording import Wording, Wordings

SAVED: Wordings = {
    "E474 P23 E204": (
        Wording(
            r"(?:Could not (?:locate|deserialize|find) (?:function|class)|Unknown (?:loss|metric)(?: function)?:?) ?'?(?P<name>mse|mae|mape|msle|mean_squared_error|mean_absolute_error|accuracy|acc|kld)\b",
            "The file (.h5, of Keras 2) names its loss or metric `<<name>>` in Keras 2's way, which load_model of Keras 3 does not resolve: only compile's part of the file fails, not the model.",
            'model = keras.models.load_model(path, compile=False)      # then compile again\nmodel.compile(optimizer, loss=keras.losses.MeanSquaredError())\nmodel = keras.models.load_model(path, custom_objects={"<<name>>": keras.losses.MeanSquaredError()})      # or named',
            "TypeError: Could not locate function 'mse'. Make sure custom classes are decorated with `@keras.saving.register_keras_serializable()`.",
        ),
        Wording(
            r"Unknown (?P<what>activation function|initializer|regularizer|constraint): ?'?function",
            "A .h5 file of Keras 2.13 to 2.15 holds a function of your own (<<what>>) in a form that loading .h5 does not read: the same release cannot read it back.",
            'model.save("model.keras")                                              # where it can still be saved: the other format reads it\nmodel = build_model(); model.load_weights("model.h5")                # the model from its code, the weights from the file\nkeras.models.load_model("model.h5", custom_objects={"function": my_function})      # where the file has one such function',
            "TypeError: Error when deserializing class 'Dense' using config={'name': 'dense'}. Exception encountered: Unknown activation function: 'function'. Please ensure you are using a `keras.utils.custom_object_scope`",
        ),
    ),
    "E283 E405 E572": (
        Wording(
            r"loaded from the SavedModel\. Got:.{0,400}?dtype=(?P<came>b?float16).{0,900}?dtype=tf\.float32",
            "A SavedModel (a TensorFlow Hub layer) takes float32 and is given <<came>>: the policy of mixed precision casts the inputs of every layer, this one's too.",
            "layer = hub.KerasLayer(HANDLE, dtype=tf.float32)      # this layer alone stays in float32\nmodule = tf.saved_model.load(path); y = module(tf.cast(x, tf.float32))",
            "ValueError: Could not find matching concrete function to call loaded from the SavedModel. Got: Positional arguments (1 total): * Tensor('inputs:0', shape=(None, 224), dtype=float16) Expected these arguments to match one of the following 1 option(s): TensorSpec(shape=(None, 224), dtype=tf.float32)",
        ),
        Wording(
            r"matching (?:concrete )?function to call(?: loaded from the SavedModel)?\. Got:",
            "A function of a SavedModel is called with something else than it was saved for: `Got` lists what comes, each `Option` what it takes. Compare shape, type, and the number of arguments (training is one of them).",
            "print(loaded.signatures['serving_default'].structured_input_signature)      # what it takes\ny = loaded(tf.cast(x, tf.float32), training=False)                           # the type and arguments of an option; shapes: None where any size fits",
            "ValueError: Could not find matching function to call loaded from the SavedModel. Got: Positional arguments (2 total): * Tensor('x:0') Expected these arguments to match one of the following 4 option(s)",
        ),
    ),
    "P22": (
        Wording(
            r"Saving the model to HDF5 format requires|save`? requires model to be a graph network",
            "A subclassed model (class Model(keras.Model) with a call of its own) is saved whole in HDF5: only Sequential and functional models can be, since a call is Python code and not in the file. The ending .h5 (or TensorFlow 1.x, which knows no other format) chooses HDF5.",
            'keras.callbacks.ModelCheckpoint("best.weights.h5", save_weights_only=True)      # the weights; then model = make_model(); model(x); model.load_weights(...)\nmodel.save("model.keras")                                                       # Keras 2.12 and later: with get_config in the class\nmodel.save("gs://BUCKET/model", save_format="tf")                               # Keras 2: a SavedModel',
            "NotImplementedError: Saving the model to HDF5 format requires the model to be a Functional model or a Sequential model. It does not work for subclassed models",
        ),
        Wording(
            r"in get_config.{0,300}?NotImplementedError",
            "Saving asks the model (or a layer of it) for its configuration, and it has none: a class of one's own without get_config, or a model that was loaded from a SavedModel, which is a stand-in without its Python class.",
            'class MyModel(keras.Model):\n    def get_config(self): return {"units": self.units}      # what __init__ takes\nmodel.save_weights("model.weights.h5")                        # or the weights alone; a loaded stand-in: build the model from its code first\nmodel.save(path, save_format="tf")                           # a SavedModel again, in Keras 2',
            "raw_model.save('/tmp/saved_model.h5', save_format='h5')\n  File 'network.py', line 1205, in get_config\n    raise NotImplementedError\nNotImplementedError",
        ),
    ),
}
