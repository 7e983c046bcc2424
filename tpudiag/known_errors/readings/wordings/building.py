# ruff: noqa: E501  (what is pasted stays in one piece)
"""Wordings of models that are built and compiled: their tensors, arguments and optimizers."""

from __future__ import annotations

from .wording import Wording, Wordings

BUILDING: Wordings = {
    "E471": (
        Wording(
            r"__array__\(\) takes 1 positional argument but 2 were given",
            "NumPy is called on a tensor of a graph, which has no value: np.asarray(tensor, dtype) in code that runs within a tf.function or with eager execution off (a metric's reset, K.set_value, batch_set_value). TensorFlow before 2.7 says it in these words.",
            "import tensorflow as tf; print(tf.executing_eagerly())      # False: who calls disable_eager_execution() or disable_v2_behavior()?\nx = tf.cast(tensor, tf.float32)                             # in place of np.asarray(tensor, np.float32) in a step or metric\nmetrics=[keras.metrics.F1Score()]                           # Keras's own (2.13 and later) in place of tensorflow_addons'",
            "TypeError: __array__() takes 1 positional argument but 2 were given",
        ),
        Wording(
            r"cannot be Keras symbolic tensors.{0,200}?keras_learning_phase",
            "Keras' symbolic learning phase reaches code that runs at once: a layer's output (model.get_layer(...).output, another model's) or K.function is used in a loss, metric or callback of a model that has dropout or batch normalisation.",
            "features = keras.Model(model.input, model.get_layer(name).output); y = features(x, training=False)      # a model, called on data, in place of the tensor itself\nmodel.add_loss(loss_of(layer_output))                            # a loss that needs inner tensors, in place of a closure in compile(loss=...)",
            "SymbolicException: Inputs to eager execution function cannot be Keras symbolic tensors, but found [<tf.Tensor 'keras_learning_phase:0' shape=() dtype=bool>]",
        ),
        Wording(
            r"symbolic KerasTensor cannot be used as a boolean|object of type 'KerasTensor' has no len|symbolic inputs/outputs do not implement `?__len__",
            "Python (`if`, `and`, len, assert) is used on a tensor of a functional model under construction, which stands for data that come later.",
            "class Branch(keras.layers.Layer):                        # what depends on values, in a layer of your own\n    def call(self, x): return keras.ops.where(x > 0, x, 0.0)\nif x.shape[-1] == 3: ...                                   # sizes that are known may be asked; use `is not None` in place of `if x`",
            "TypeError: A symbolic KerasTensor cannot be used as a boolean.",
        ),
    ),
    "P24": (
        Wording(
            r"placeholder for a shape an a dtype.{0,160}?cannot convert it to a NumPy array",
            "NumPy (np.*, len, a plot, print of values) is used on a tensor of a functional model under construction, which stands for data that come later; or a layer that is written for Keras 2 (hub.KerasLayer, a tokenizer, TensorFlow Probability's) is called on it in Keras 3.",
            "y = keras.ops.mean(x, axis=-1)                                   # keras.ops in place of np; or within a Layer's call\nfeatures = keras.Model(model.input, x).predict(data)            # the values of a layer: by a model, on data\n# hub.KerasLayer and other layers of Keras 2: tf_keras (below), or within a Layer's call",
            "ValueError: A KerasTensor is symbolic: it's a placeholder for a shape an a dtype. It doesn't have any actual numerical value. You cannot convert it to a NumPy array.",
        ),
    ),
    "P31": (
        Wording(
            r"(?:passed to (?:Functional|Model): \{|not understood:?'?,? ?\(?)'(?P<name>input|output|inputs|outputs)'",
            "keras.Model takes inputs= and outputs=, both of them: `<<name>>` alone, or by its old name (input=, output=), it does not know.",
            "model = keras.Model(inputs=x, outputs=y)",
            "ValueError: Unrecognized keyword arguments passed to Model: {'input': <KerasTensor shape=(None, 2), dtype=float32>}",
        ),
    ),
    "E204": (
        Wording(
            r"Could not interpret optimizer identifier: <class '(?P<name>[\w.]{1,80})'>",
            "compile was given an optimizer's class (<<name>>) where it wants an object of it.",
            'model.compile(optimizer=keras.optimizers.Adam(1e-3), loss=loss)      # with ( ); or by name: "adam"',
            "ValueError: Could not interpret optimizer identifier: <class 'keras.src.optimizers.adam.Adam'>",
        ),
    ),
    "E574": (
        Wording(
            r"'LossScaleOptimizer\w{0,3}' object has no attribute '(?P<name>get_scaled_loss|get_unscaled_gradients)'",
            "`<<name>>` is of Keras 2's loss scaling. In Keras 3 the LossScaleOptimizer has scale_loss alone, and apply_gradients takes the scale out of the gradients itself. On a TPU with mixed_bfloat16 there is nothing to scale.",
            'scaled_loss = optimizer.scale_loss(loss)                               # Keras 3, float16: inside the tape, in place of get_scaled_loss\ngradients = tape.gradient(scaled_loss, variables); optimizer.apply_gradients(zip(gradients, variables))      # no get_unscaled_gradients\nkeras.mixed_precision.set_global_policy("mixed_bfloat16")          # TPU: this, a plain optimizer and the plain loss',
            "AttributeError: 'LossScaleOptimizer' object has no attribute 'get_scaled_loss'",
        ),
    ),
    "E510": (
        Wording(
            r"_distributed_apply_gradients_fn.{0,600}?'Variable' object has no attribute 'device'|keras_core/.{0,900}?'Variable' object has no attribute 'device'",
            "The optimizer of keras-core (and of the first Keras 3 releases) does not know tf.distribute: under a strategy it hands its own variables to TensorFlow.",
            "pip uninstall -y keras-core; pip install -U keras      # Keras 3.1 and later train under a strategy; import keras in place of keras_core",
            "in _distributed_apply_gradients_fn(self, distribution, grads_and_vars)\n    distribution.extended.update(\nAttributeError: 'Variable' object has no attribute 'device'",
        ),
    ),
    "E462": (
        Wording(
            r"The model cannot be compiled because it has no loss",
            "This is a Keras of TensorFlow 2.1 or older: there compile wants a loss. A model with its own train_step (fit made to measure), or whose loss is added in call by add_loss, is known from TensorFlow 2.2 on.",
            "pip install -U tensorflow                               # 2.2 and later: compile(optimizer) alone, with a train_step of your own\nmodel.compile(optimizer, loss=keras.losses.MeanSquaredError())      # else a loss",
            "ValueError: The model cannot be compiled because it has no loss to optimize.",
        ),
    ),
    "E489": (
        Wording(
            r"keyword arguments are not supported by this model: \[['\"](?P<name>labels|next_sentence_label|start_positions)",
            "`<<name>>` was given to a model that has no head and so no loss: TFBertModel, TFAutoModel and the like give hidden states alone.",
            "model = TFAutoModelForSequenceClassification.from_pretrained(name, num_labels=CLASSES)      # a model with a head, which takes labels\nmodel(input_ids, attention_mask=mask)                                                       # or without labels, and a loss of your own",
            "ValueError: The following keyword arguments are not supported by this model: ['labels'].",
        ),
    ),
    "E498": (
        Wording(
            r"compile\(\) missing 1 required positional argument: '(?P<name>loss|optimizer)'",
            "compile is called without `<<name>>`. Keras before 2.2.3 (and before TensorFlow 2.2) wants it, also where the loss comes from add_loss; or the model has a compile() of its own that does.",
            "model.compile(optimizer=optimizer, loss=None)      # add_loss or a train_step of its own: loss=None\npip install -U tensorflow                             # in place of an old keras",
            "TypeError: compile() missing 1 required positional argument: 'loss'",
        ),
    ),
    "E194": (
        Wording(
            r"`?output`? must have rank \(ndim\) `?target\.ndim - 1|target\.ndim - 1",
            "sparse_categorical_crossentropy wants class numbers, and the labels have one column for each class (one-hot), or one axis too many.",
            'model.compile(loss="categorical_crossentropy")      # one-hot labels\nlabels = tf.argmax(labels, axis=-1)                  # or class numbers: shape (batch,) beside outputs of (batch, classes)',
            "ValueError: Argument `output` must have rank (ndim) `target.ndim - 1`. Received: target.shape=(None, 3), output.shape=(None, 3)",
        ),
    ),
    "E495": (
        Wording(
            r"Tensor' object has no attribute '__setitem__'",
            "Tensors cannot be written to in place: x[i] = value works on NumPy arrays and on slices of a tf.Variable (.assign).",
            "x = tf.tensor_scatter_nd_update(x, [[i]], [value])      # in place of x[i] = value\nx = tf.where(mask, value, x)                            # where a mask says which",
            "AttributeError: 'tensorflow.python.framework.ops.EagerTensor' object has no attribute '__setitem__'",
        ),
    ),
    "E150": (
        Wording(
            r"reading resource variable (?P<name>_AnonymousVar\d{1,9}).{0,500}?keras_scratch_graph",
            "A variable of eager TensorFlow 2 is used in a graph of Keras, and was deleted with the Python object that held it: a tf.Variable (or what K.variable makes) that no layer owns, used by raw operations between layers; or the stand-alone Keras 2.3 (`keras/backend/tensorflow_backend.py`) under TensorFlow 2, whose layers lose theirs so.",
            "class Scale(tf.keras.layers.Layer):                       # the variable belongs to a layer\n    def build(self, shape): self.w = self.add_weight(name='w', shape=shape[-1:], initializer='ones')\n    def call(self, x): return x * self.w\ngrep -rnE 'import.*keras|from.*keras' *.py                 # all from tensorflow.keras; or keras 2.3 with TensorFlow 1.15",
            "FailedPreconditionError: Error while reading resource variable _AnonymousVar555 from Container: localhost. This could mean that the variable was uninitialized. [Op:__inference_keras_scratch_graph_21594]",
        ),
        Wording(
            r"Container: ?localhost|Resource localhost/|Container localhost|not find resource: localhost",
            "The variable has no value in the session (or graph) that reads it: on this machine itself, so no TPU lost it. Mostly keras and tensorflow.keras are mixed, each with a session of its own; or a model is used in another session, graph or thread than the one that built it (a web server, a callback, clear_session).",
            "grep -rnE 'import.*keras|from.*keras' *.py      # all from tensorflow.keras, callbacks and helpers of others too\nwith graph.as_default(): tf.compat.v1.keras.backend.set_session(session); model.predict(x)      # TensorFlow 1, another thread: the graph and session that built it\nsession.run(tf.compat.v1.global_variables_initializer())                              # a session of one's own: before the first run",
            "FailedPreconditionError: Error while reading resource variable conv/kernel from Container: localhost. This could mean that the variable was uninitialized.",
        ),
    ),
    "E463": (
        Wording(
            r"must be a string and cannot contain character `?/`?\. Received: name=(?P<name>[\w/.-]{1,80})",
            "Keras 3 allows no `/` in the names of layers, and `<<name>>` holds one: names with paths are of code for Keras 2 (Transformers' and tfimm's models, hub).",
            'pip install --no-deps "<<keras2>>" && export TF_USE_LEGACY_KERAS=1      # a library that is written for Keras 2; before TensorFlow is imported\nname="<<name>>".replace("/", "_")                                      # layers of your own',
            "ValueError: Argument `name` must be a string and cannot contain character `/`. Received: name=blocks/0 (of type <class 'str'>)",
        ),
    ),
    "E463 E430": (
        Wording(
            r"Argument `?initializer`? must be a callable",
            "A TableConfig's initializer is to be an object that makes the table (called with shape and dtype); a class, a name or a number is none.",
            "tf.tpu.experimental.embedding.TableConfig(V, D, initializer=tf.initializers.TruncatedNormal(stddev=0.02))      # with ( )",
            "ValueError: Argument `initializer` must be a callable (or None). Received: 1",
        ),
    ),
    "E430": (
        Wording(
            r"is an unsupported optimizer class",
            "A TPUEmbedding takes an optimizer of its own kinds; names and Keras' own objects of other kinds it does not know.",
            "tf.tpu.experimental.embedding.Adam(1e-3)      # or .Adagrad, .SGD, .FTRL: of tf.tpu.experimental.embedding",
            "ValueError: <class 'str'> is an unsupported optimizer class. Please pass an instance of one of the optimizer classes under tf.tpu.experimental.embedding.",
        ),
    ),
    "E701": (
        Wording(
            r"keras_learning_phase",
            "The symbolic learning phase (K.learning_phase()) is handed to K.function or Model as an input: from TensorFlow 2.3 on it is none.",
            "get = keras.Model(model.input, model.layers[i].output); y = get(x, training=False)      # in place of K.function([model.input, K.learning_phase()], ...)",
            'ValueError: Input tensors to a Functional must come from `tf.keras.Input`. Received: Tensor("keras_learning_phase:0", shape=(), dtype=bool) (missing previous layer metadata).',
        ),
    ),
}
