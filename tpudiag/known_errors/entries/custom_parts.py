# ruff: noqa: E501  (texts of other programs stay as they are)
"""Parts of one's own: losses, lists of layers, sizes; and meshes of Mesh TensorFlow."""

from __future__ import annotations

from tpudiag.known_errors.model import KnownError, Phase

ERRORS = (
    KnownError(
        id="E550",
        family="export-object",
        phase=Phase.SAVING,
        patterns=(
            r"Unable to save the object (?P<kind>\w{3,30})",
            r"(?:list|dict) wrapper constructed to track (?:trackable )?TensorFlow objects",
            r"A list element was replaced",
            r"The wrapped (?:list|dictionary) was modified outside the wrapper",
            r"contains a non-string key which maps to a trackable",
        ),
        cause="A list or dict of layers or variables that the model keeps was changed in a way that TensorFlow cannot follow (sort, pop, replacing or deleting an element, a key that is no string), so the model cannot be saved.",
        details=("It is a {kind}.",),
        fix="""\
self.blocks = [Block() for _ in range(n)]           # built once, whole; append() is fine, pop(), sort(), del, x[i] = ... are not
self.by_name = {"0": first, "1": second}            # keys are strings
model.save_weights(path)                              # weights alone, where the structure need not be saved""",
        evidence="recalled",
        example="ValueError: Unable to save the object ListWrapper([1]) (a list wrapper constructed to track trackable TensorFlow objects). A list element was replaced",
    ),
    KnownError(
        id="E553",
        family="mesh-tensorflow",
        phase=Phase.BUILDING,
        patterns=(
            r"to 'tpu_replicated_input' Op, not",
            r"mesh_impl.{0,120}?(?:different sizes|mismatch|Error)",
            r"(?:logical|physical)_shape.{0,120}?(?:different sizes|mismatch|must|not divisible|Error)",
            r"auto_logical_to_physical.{0,400}?Error",
            r"mesh_tensorflow/[\w/]{1,60}\.py.{0,900}?Error: ",
        ),
        cause="Mesh TensorFlow (T5, GPT-Neo) does not fit its TPU or its TensorFlow: a mesh whose product is not the number of cores, a batch that its rows do not divide, a topology that is not that of this TPU, or a release of mesh-tensorflow that is older than the TensorFlow beside it.",
        fix="""\
pip install -U mesh-tensorflow t5                              # or the TensorFlow of their time: tensorflow==2.5, on the TPU the same
# mesh_shape: its product = number of cores: "x:4,y:2" for v3-8; batch a multiple of the batch's mesh dimension
--gin_param="utils.tpu_mesh_shape.tpu_topology='v3-8'" --gin_param="utils.tpu_mesh_shape.model_parallelism=1"      # the TPU that is really there
# both projects have ended: T5X (JAX) or transformers' TFT5 under TPUStrategy""",
        citations=(
            "google-research/text-to-text-transfer-transformer#1020",
            "EleutherAI/gpt-neo#119",
        ),
        example="TypeError: Expected list for 'inputs' argument to 'tpu_replicated_input' Op, not 'shared/embedding'.",
    ),
    KnownError(
        id="E554",
        family="custom-loss",
        phase=Phase.BUILDING,
        patterns=(
            r"Metric should be a callable, found",
            r"(?:[Ll]oss|[Mm]etric) (?:function )?(?:must|should) be (?:a )?callable",
            r"(?:Loss|Metric) .{0,60}?must implement (?:`|the )?(?:call|update_state|result)",
            r"compute_loss\(\).{0,80}?(?:unexpected|missing|must)",
            r"(?:loss|metric) .{0,40}?(?:should|must) return (?:a )?(?:scalar|tensor|one value)",
            r"Received uninstantiated Loss class",
        ),
        cause="A loss or metric of your own does not have the form that Keras calls: a loss is a function (y_true, y_pred) -> one value for each example, or a keras.losses.Loss with call(); a metric has update_state() and result(); an instance is passed, not a class, not the value of a call.",
        fix="""\
class MyLoss(keras.losses.Loss):
    def call(self, y_true, y_pred): return tf.reduce_mean(tf.square(y_true - y_pred), axis=-1)      # call, not __call__
model.compile(loss=MyLoss(), metrics=[keras.metrics.MeanSquaredError()])      # instances
def my_loss(y_true, y_pred): ...
model.compile(loss=my_loss)                                                      # the function, not my_loss(...)""",
        citations=("tensorflow/tensorflow#50749",),
        example="ValueError: Metric should be a callable, found: <__main__.MyLoss object at 0x7f>",
    ),
    KnownError(
        id="E558",
        family="negative-size",
        phase=Phase.EXECUTING,
        patterns=(
            r"Trying to create (?:a )?tensor with negative shape",
            r"has negative dimensions",
            r"negative dimensions? (?:are|is) not allowed",
            r"Computed output size would be negative",
            r"Expected size\[\d{1,2}\] (?:in \[0, \d{1,12}\], but got|== .{1,20}? if begin)",
            r"Computed output size would be (?:zero or )?negative",
            r"One of the dimensions in the output is <= 0",
            r"Input size must be at least \d{1,4}x\d{1,4}",
        ),
        cause="A size comes out negative: a kernel or pool larger than what is left of the image, a shape that was never fed (TensorFlow 1), one number subtracted from a smaller one.",
        fix="""\
# an image that is too small for the model's poolings: a larger input, padding="same", fewer pools
keras.layers.Conv2D(64, 3, padding="same"); keras.layers.MaxPooling2D(2, padding="same")
keras.Input(shape=(224, 224, 3))                      # channels last: (3, 224, 224) leaves nothing after one pool
tf.maximum(0, MAX - tf.shape(x)[0])                    # a difference as a size""",
        evidence="recalled",
        example="InvalidArgumentError: Shape [-1,28,28,1] has negative dimensions",
    ),
    KnownError(
        id="E901",
        family="base-not-a-class",
        phase=Phase.BUILDING,
        patterns=(
            r"TypeError: (?:function\(\)|FunctionType\.__new__\(\)) argument (?:1|'code').{0,12}? must be code, not (?:str|'?str)",
            r"TypeError: module(?:\.__init__)?\(\) takes at most 2 (?:positional )?arguments \(3 given\)",
            r"metaclass conflict: the metaclass of a derived class must be",
        ),
        cause="`class X(Base)` is written with a Base that is no class: a function (in another release of the library the name is a function, or a dummy for a package that is missing), a module (the class stands in it under the same name), or two bases that do not go together.",
        fix="""\
print(type(Base), getattr(Base, "__module__", ""))       # on the line of the `class` statement that the traceback names
from package.module import Base                           # the class out of its module, not the module
pip list | grep -iE "transformers|keras|tensorflow|torch"   # the release that the script is written for: there the name is a class""",
        citations=("patil-suraj/exploring-T5#5",),
        example="TypeError: function() argument 1 must be code, not str",
    ),
    KnownError(
        id="E406",
        family="gradient-tape",
        phase=Phase.TRACING,
        patterns=(
            r"non-persistent GradientTape can only be used to",
            r"GradientTape\.gradient is not supported",
            r"Tape is (?:still|not) recording",
            r"recording a tape which is not recording",
            r"GradientTape must be created with persistent",
            r"Argument `?target`? should be a list or nested structure of Tensors, Variables",
            r"Cannot differentiate a function that returns None",
            r"GradientTape\.gradients?\(\) does not support graph control flow",
            r"exception while vectorizing the (?:batch_)?jacobian",
            r"Functions to be differentiated cannot receive keyword arguments",
            r"Called jvp\(\) without first tracing",
            r"Need first dimension of target shape",
            r"tape\.gradient.{0,900}?'(?:numpy\.\w{1,12}|float|int|ndarray|list)' object has no attribute '_id'",
            r"gradient\(.{0,900}?'(?:numpy\.\w{1,12}|ndarray)' object has no attribute '_id'",
        ),
        cause="A gradient tape is used twice, outside its `with`, or asked for the gradient of nothing (a loss that is None).",
        fix="""\
with tf.GradientTape(persistent=True) as tape:       # two models, two losses: a persistent tape, or one tape each
    loss_a, loss_b = losses(batch)                   # computed inside the `with`, as tensors
gradients_a = tape.gradient(loss_a, model_a.trainable_variables)      # after it
gradients_b = tape.gradient(loss_b, model_b.trainable_variables)
del tape""",
        evidence="recalled",
        example="RuntimeError: A non-persistent GradientTape can only be used to compute one set of gradients (or jacobians)",
    ),
)
