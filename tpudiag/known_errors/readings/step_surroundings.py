# ruff: noqa: E501  (what is pasted stays in one piece)
"""What the traceback of a training step tells beside its error's sentence."""

from __future__ import annotations

from .meaning import Rule

RULES = (
    Rule(
        "legacy-optimizers moved-modules removed-name other-release",
        r"(?:^|[/\\])(?:official|object_detection|deeplab2|orbit)/[\w/]{1,120}\.py.{0,900}?has ?no ?attribute",
        "It is the Model Garden (official/, object_detection/) that asks for the name: its code is newer, or older, than the TensorFlow that is installed. Its master follows the newest TensorFlow.",
        "pip install \"tf-models-official==$(python -c 'import tensorflow as tf; print(tf.__version__[:-2])').*\"      # the release with TensorFlow's own number, in place of a checkout of master\n"
        "git -C models checkout v2.13.0                             # or the checkout of that release; or pip install -U tensorflow",
    ),
    Rule(
        "python-control-flow symbolic-tensor",
        r"\d{0,6}(?:\w{1,30},){1,5}\w{1,30}=[\w.]{0,40}?(?:Attention|Bidirectional|LSTM|GRU|Layer|Encoder|Decoder|MultiHead\w{0,12})\w{0,20}\(.{0,400}(?:teratingover|iterateoveratensor|notiterable)",
        "The result of a layer is taken apart into several names, and this layer (called in this way) gives one tensor.",
        "y = keras.layers.Attention()([query, value])                                        # one tensor\n"
        "y, scores = keras.layers.Attention()([query, value], return_attention_scores=True)     # two, only where they are asked for\n"
        "y, h, c = keras.layers.LSTM(UNITS, return_state=True)(x)                                # likewise the states",
    ),
    Rule(
        "assertion",
        r"assertisinstance\(\w{1,20},dataset_ops\.DatasetV2|_distribution_standardize_user_data",
        "Keras' fit under a strategy wants a dataset of TensorFlow 2, and eager execution (or all of TensorFlow 2's behaviour) is switched off, so that datasets are those of TensorFlow 1.",
        "# delete tf.compat.v1.disable_eager_execution(), tf.disable_v2_behavior(), tf.compat.v1.disable_v2_behavior()\n"
        "import tensorflow as tf; assert tf.executing_eagerly()      # TPUStrategy and Keras want it on",
    ),
    Rule(
        "dataset-misused",
        r"keras/engine/(?:training_distributed|training_arrays|distributed_training_utils|training_utils)\.py",
        "It is Keras itself that takes the dataset for an array, in a fit under a strategy: that is Keras of TensorFlow 1.12 to 2.0, before all of fit took datasets (validation_data first of all).",
        "pip install -U tensorflow                                                              # 2.2 and later: datasets everywhere in fit\n"
        "model.fit(train, steps_per_epoch=STEPS, validation_data=valid, validation_steps=STEPS)      # older: both numbers of steps",
    ),
    Rule(
        "tensor-as-key",
        r"tensorflow_probability/",
        "It is TensorFlow Probability that uses a tensor as a key: its release is older than this TensorFlow (0.7 and older beside TensorFlow 2).",
        'pip install -U "tensorflow-probability[tf]"      # 0.8 for TensorFlow 2.0, 0.9 for 2.1, ... 0.23 for 2.15, 0.24 for 2.16',
    ),
    Rule(
        "nested-function",
        r"keras/src/.{0,2500}(?:Exceptionencounteredwhencalling(?:\x1b\[\d{1,2}m)?Cond\.call|_overwrite_model_variables_with_average_value|_backend_apply_gradients)|gradient_accumulation_steps=|use_ema=True",
        "The optimizer of Keras 3 itself holds the condition: gradient_accumulation_steps (and use_ema, or loss scaling for float16) apply the gradients within a cond, which a strategy of several replicas cannot do.",
        "optimizer = keras.optimizers.Adam(1e-3)                     # without gradient_accumulation_steps and use_ema, no LossScaleOptimizer\n"
        'keras.mixed_precision.set_global_policy("mixed_bfloat16")   # on a TPU: float32\'s range, so no loss scaling; a larger batch fits\n'
        "# accumulation by hand: sum the gradients over a Python loop of small batches within the step, then apply_gradients once",
    ),
    Rule(
        "nested-function",
        r"tf\.cond\(|ops/cond(?:_v2)?\.py|control_flow_ops\.py.{0,20}in(?:cond|while_loop)\b|while_loop\(|smart_cond|fortf\.range|intf\.range\(|iftf\.(?:reduce|equal|math|logical)\w{0,20}\(",
        "apply_gradients (or what else joins the replicas: a metric, all_reduce) stands inside a condition or loop on tensors: tf.cond, tf.while_loop, or an `if`, `for` or `while` on a tensor that AutoGraph compiles into one. Replicas cannot meet there.",
        "for _ in range(STEPS): ...                                 # a Python loop (or count) around strategy.run, in place of tf.range, tf.cond within it\n"
        "apply = tf.cast(step % ACCUMULATE == 0, tf.float32)         # or always apply, what shall not count times 0:\n"
        "optimizer.apply_gradients([(g * apply, v) for g, v in zip(gradients, variables)])      # plain SGD; with Adam: two step functions, chosen in Python",
    ),
    Rule(
        "variables-in-function",
        r"optimizers?(?:_v2|_experimental)?/[\w/]{1,40}\.py\W{1,3}line\d{1,6},in__init__|optimizers?(?:_v2)?/[\w/]{1,40}\.pyin__init__|optimizers\.(?:legacy\.)?(?:Adam|SGD|RMSprop|AdamW|Adagrad|Nadam|Ftrl)\(.{0,40}\.(?:minimize|apply_gradients)\(",
        "An optimizer is made inside the function: each call (each trace) would make it, and its variables, anew.",
        "with strategy.scope(): optimizer = keras.optimizers.Adam(1e-3)      # once, outside; the step only uses it\n"
        "optimizer.build(model.trainable_variables)                          # its variables too, before the first step",
    ),
    Rule(
        "checkpoint-mismatch",
        r"^(?=.*File\"|.*\.pyin)(?!.*(?:load|restor|checkpoint|ckpt|from_pretrained|set_weights|saving|\.h5|save(?:_\d)?/Assign))",
        "A variable is assigned a value of another shape than it has. Nothing around it says that a file was loaded: it is an assign of one's own (a state, a queue, a metric, weights that are copied from another model).",
        "print(variable.shape, value.shape)                                     # before the line of your own that the traceback names\n"
        "state = tf.Variable(value, shape=tf.TensorShape([None, WIDTH]))         # a size that changes (not on a TPU); else one fixed size, padded",
    ),
    Rule(
        "none-value",
        r"compute_loss|compile_utils|compile_loss|losses/loss\.py|loss_wrapper",
        "None reaches the loss: the dataset (or fit) gives no labels for a model that was compiled with a loss, or the model's call() returns nothing.",
        "model.fit(x, y)                                              # labels; a dataset yields (inputs, labels)\n"
        "def call(self, x): return self.head(x)                      # a return in call",
    ),
    Rule(
        "none-object",
        r"(?:compute_loss|compile_utils|losses\.py|losses_utils).{0,2500}'NoneType'objecthasnoattribute'(?:dtype|shape|ndim|rank)'",
        "None reaches the loss: the model's call() returns nothing, or there are no labels for one of the outputs.",
        "def call(self, x): return self.head(x)                      # a return in call\n"
        "print(dataset.element_spec)                                  # (inputs, labels): one label for each output that has a loss",
    ),
    Rule(
        "variables-in-function",
        r"(?:K\.variable|backend\.variable|tf\.Variable)\(|in(?:variable|weighted_\w{1,30})\*{0,2}weights?=|keras/backend\.py\W{1,3}line\d{1,6},invariable",
        "A loss, metric or step makes a variable each time it is traced (K.variable, tf.Variable in its body): where the values never change it wants a constant, else a variable that is made once, outside.",
        "weights = tf.constant(weights, tf.float32)      # in place of K.variable(weights): class weights, masks\n"
        "class WeightedLoss(keras.losses.Loss):           # or made once, in __init__\n"
        "    def __init__(self, weights): super().__init__(); self.weights = tf.constant(weights, tf.float32)",
    ),
    Rule(
        "python-control-flow symbolic-tensor",
        r"ops/(?:check_ops|nn_ops|math_ops|array_ops|linalg/\w{1,40})\.py\"?,line[^/]{1,200}File\"[^\"]{1,200}/framework/ops\.py\",line\d{1,6},in__bool__",
        "TensorFlow's own check in an operation asks for a tensor's value: the operation is called on keras.Input or a layer's output outside any layer (or in graph code), and this old release (2.0, 2.1) does not wrap it.",
        "y = keras.layers.Lambda(lambda t: tf.nn.softmax(t))(x)      # the raw operation within a layer of the functional model\n"
        "class Loss(keras.layers.Layer):                              # several inputs: in a layer's call\n"
        "    def call(self, labels, logits): return tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)\n"
        "pip install -U tensorflow                                    # from 2.4 on operations on Keras inputs become layers by themselves",
    ),
    Rule(
        "wrong-type wrong-object",
        r"keras/engine/training\w{0,30}\.py.{0,600}'(?:generator|Sequence|\w{0,30}Generator)'objecthasnoattribute'(?:ndim|shape)'",
        "This Keras (before 2.3, TensorFlow before 2.0) takes arrays alone in fit, evaluate and predict; generators have methods of their own there.",
        "model.fit_generator(generator, steps_per_epoch=STEPS, epochs=EPOCHS)      # Keras 2.2 and older; evaluate_generator, predict_generator likewise\n"
        "pip install -U tensorflow                                                   # or newer: model.fit takes generators from Keras 2.3, TensorFlow 2.0 on",
    ),
    Rule(
        "wrong-type wrong-object",
        r"keras/engine/training\w{0,30}\.py.{0,600}'tuple'objecthasnoattribute'(?:ndim|shape)'",
        "A tuple of inputs was given to fit, where this Keras (TensorFlow before 2.2) takes several inputs as a list.",
        "model.fit([x_a, x_b], y, validation_data=([v_a, v_b], v_y))      # lists in place of tuples, in evaluate and predict as well\n"
        "pip install -U tensorflow                                         # 2.2 and later take both",
    ),
    Rule(
        "symbolic-tensor wrong-object",
        r"(?:batch_set_value|in(?:build|set_weights)).{0,600}'(?:Tensor|EagerTensor|SymbolicTensor)'objecthasnoattribute'assign'",
        "A weight of the layer is a tensor, not a variable: its build makes it with an initializer's result, and what is assigned to (set_weights, loading) must be a variable.",
        'self.gamma = self.add_weight(name="gamma", shape=(channels,), initializer="ones")      # in build, in place of self.init(shape)\n'
        'self.gamma = K.variable(self.init(shape), name="gamma")                                    # an old Keras\' way',
    ),
)
