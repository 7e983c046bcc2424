# ruff: noqa: E501  (texts of other programs stay as they are)
"""Loops, conditions and functions of a traced step: what AutoGraph and XLA refuse in them."""

from __future__ import annotations

from tpudiag.known_errors.model import Kind, KnownError, Phase, Rival

ERRORS = (
    KnownError(
        id="E400",
        family="loop-variable-changes",
        phase=Phase.TRACING,
        patterns=(
            r"'?(?P<name>[\w:/.-]{1,80}?)'? enters the loop with (?:shape|type) (?P<before>.{1,60}?), but has (?:shape|type) (?P<after>.{1,60}?) after (?:one|1) iteration",
            r"enters the loop with (?:shape|type|structure)",
            r"'(?P<name>[\w.]{1,60})' has (?:shape|dtype) (?P<before>.{1,60}?) before the loop, but (?:shape|dtype) (?P<after>.{1,60}?) after one iteration",
            r"before the loop, (?:but|which)",
            r"shape invariant specified for (?P<name>[\w:/.-]{1,80}?) is not compatible",
            r"conform with the shape invariant",
            r"same nested structure (?:after one iteration|as its corresponding shape invariant)",
            r"is None at the end of the iteration",
            r"shapes of (?:the )?loop body (?:and condition )?do not match",
            r"Mismatch between input types and output types for training loop body",
            r"Resource tensors must be loop invariants",
            r"[Bb]ody[- ]function.{0,60}?(?:carry|loop).{0,80}?(?:type|shape|structure)",
            r"body_fun output and input must have identical types",
            r"The parameter of condition and body, the result of the body, and init must all have the same shape",
            r"loop variable.{0,60}?(?:chang|differ|mismatch|not match)",
        ),
        cause="A variable of a loop in the step has another shape, type or structure after an iteration than before: a list that grows, a concatenation, None or a Python number that becomes a tensor, float32 that becomes bfloat16. A compiled loop has one shape for all iterations.",
        details=("The variable is {name}.", "It is {before} before, {after} after an iteration."),
        fix="""\
# on a TPU a loop cannot grow a tensor: give it its final size before, and write into it
rows = tf.TensorArray(tf.float32, size=STEPS, element_shape=[BATCH, WIDTH])
for i in tf.range(STEPS):
    rows = rows.write(i, tf.cast(step(i), tf.float32))      # same dtype each time
result = rows.stack()
# start values as tensors of the shape and dtype that the body gives: x = tf.zeros([BATCH, WIDTH], tf.float32), not 0 or None""",
        useless="shape_invariants with None let it trace, but the TPU compiler then refuses the dynamic shape",
        citations=(
            "tensorflow/tensorflow#32099",
            "tensorflow/tensorflow#7700",
            "tensorflow/tensorflow#56296",
            "tensorflow/tensorflow#117883",
        ),
        example="ValueError: Input tensor 'Const_1:0' enters the loop with shape (), but has shape (None, 110, 110, 1) after one iteration. To allow the shape to vary across iterations, use the `shape_invariants` argument of tf.while_loop to specify a less-specific shape.",
    ),
    KnownError(
        id="E401",
        family="branches-differ",
        phase=Phase.TRACING,
        patterns=(
            r"shapes of then and else branches do not match: (?P<shapes>.{1,120})",
            r"(?:then|true|main) and else branch",
            r"'?(?P<name>[\w.]{1,60})'? must also be initialized in the",
            r"is None at the end of the (?:main|else) branch",
            r"branch must also have a return statement",
            r"in the main branch, but (?:dtype|shape)",
            r"Incompatible return (?:types|values) of 'true_fn' and 'false_fn'",
            r"Outputs of 'true_fn' and 'false_fn' must have the same",
            r"'(?:true|false)_fn' must (?:have a return|return at least)",
            r"true_fn.{0,40}?false_fn.{0,80}?(?:same|structure|match)",
            r"must have the same number, type, and overall structure of return values",
            r"Cannot reconcile .{1,80}? outputs",
            r"true_fun and false_fun output must have (?:identical|same) ",
            r"branches do not match:",
            r"branch computations? .{0,60}?(?:must|shape|mismatch)",
            r"'(?P<name>[\w.]{1,60})' is used before assignment",
            r"may be undefined.{0,80}?(?:branch|conditional)",
            r"'(?P<name>[\w.]{1,60})' must be defined before the loop",
            r"'(?P<name>[\w.]{1,60})' must also be defined",
        ),
        cause="The two branches of a condition in the step do not give the same: other shapes, types or structures, or a variable that only one of them sets or returns. Both are compiled, so both must give tensors of the same shape and type.",
        details=("The shapes are {shapes}.", "The variable is {name}."),
        fix="""\
x = tf.zeros([BATCH, WIDTH], tf.float32)            # before the condition: the value of the other branch, same shape and dtype
if condition:
    x = tf.cast(compute(), tf.float32)              # `if` on a tensor: set the same names in both branches
result = tf.where(condition, a, b)                  # or no branch at all: compute both, and select
# what is None or known when tracing (training, a hyperparameter): a plain Python bool, no tensor""",
        citations=("TensorSpeech/TensorFlowTTS#630",),
        example="InvalidArgumentError: {{function_node __inference__one_step_forward_179257}} Output shapes of then and else branches do not match: (f32[64,<=8192], f32[64,<=8192]) vs. (f32[64,<=8192], f32[0])",
    ),
    KnownError(
        id="E402",
        family="return-in-loop",
        phase=Phase.TRACING,
        patterns=(
            r"break and return statements",
            r"return statement cannot be placed inside this TensorFlow loop",
            r"return value from a TensorFlow loop may only be",
            r"started as non-Tensor, then changed to Tensor",
            r"(?:for|while)/else statement not yet supported",
            r"UnsupportedLanguageElementError",
            r"generators are not supported",
        ),
        cause="AutoGraph cannot turn this Python into a loop of the graph: break, return, yield or else inside a loop over tensors or over a distributed dataset.",
        fix="""\
done = tf.constant(False)
for i in tf.range(MAX_STEPS):                # a fixed number of iterations on a TPU; no break or return inside
    x = tf.where(done, x, step(x))
    done = done | finished(x)
for batch in distributed_dataset:            # break and return: in plain Python, outside tf.function
    train_step(batch)
    if enough: break""",
        evidence="recalled",
        example="NotImplementedError: break and return statements are not yet supported in for ... in distributed input loops.",
    ),
    KnownError(
        id="E403",
        family="condition-not-boolean",
        phase=Phase.TRACING,
        patterns=(
            r"Condition argument must be a (?:boolean|scalar) for XLA",
            r"expected to be `?tf\.bool`? scalar",
            r"pred'? must not be a Python bool",
            r"pred must be (?:a )?(?:Tensor|bool)",
            r"Argument to (?:predicated|indexed)-Conditional is not a scalar",
            r"does(?: not|n't) lead to a scalar predicate",
            r"Branch index on a conditional must be scalar",
            r"condition must be a scalar.{0,40}?(?:bool|pred)",
            r"Pred must be a scalar",
        ),
        cause="The condition of an if, while, tf.cond or tf.while_loop in the step is no single boolean: a number, a whole vector of booleans, or a Python bool where a tensor is wanted.",
        fix="""\
if tf.reduce_any(mask): ...                      # of many booleans make one: reduce_any, reduce_all
while tf.less(i, limit): ...                     # a comparison gives a bool; tf.cast(x, tf.bool) makes one of a number
x = tf.where(mask, a, b)                         # element by element: no branch, a selection""",
        citations=("tensorflow/tpu#732",),
        example="InvalidArgumentError: {{function_node __inference_tpu_function_81049}} Compilation failure: Condition argument must be a boolean for XLA compilation [[{{node cond}}]] [[StatefulPartitionedCall/while]] TPU compilation failed",
    ),
    KnownError(
        id="E404",
        family="autograph-source",
        phase=Phase.TRACING,
        level="warning",
        patterns=(
            r"AutoGraph could not (?:transform|convert) (?P<what>.{1,120}?) and will run it as-is",
            r"Entity (?P<what>.{1,200}?) could not be transformed and will be (?:executed as-is|staged without change)",
            r"Unable to locate the source code of",
            r"could not parse the source code of",
            r"expose a __code__ object",
            r"source code may not be visible to AutoGraph",
            r"could not get source code",
            r"module, class, method, function, traceback, frame, or code object was expected, got",
        ),
        cause="AutoGraph could not read the source of a function and runs it as it is: harmless unless the function has `if`, `for` or `while` over tensors, which then fail or are unrolled. It is code without a file (exec, a lambda over several lines, a compiled module, a shell) or a release of gast or Python that does not fit.",
        details=("It is {what}.",),
        fix="""\
@tf.autograph.experimental.do_not_convert        # says so, where the function needs no conversion
def helper(x): ...
# functions with `if` or `for` over tensors: in a .py file or one cell, as def, not as a lambda over several lines
pip install "gast==0.3.3"                        # TensorFlow 2.2 to 2.4 (`posonlyargs`, many such warnings); later ones: -U gast tensorflow""",
        citations=("huggingface/transformers#11601",),
        example="WARNING:tensorflow:AutoGraph could not transform <bound method Socket.send of <zmq.sugar.socket.Socket object at 0x7fa6913fd640>> and will run it as-is.",
        yields_to=("E153",),
    ),
    KnownError(
        id="E405",
        family="function-arguments",
        phase=Phase.TRACING,
        patterns=(
            r"Python functions must return zero or more Tensors",
            r"should not modify its Python input arguments",
            r"Binding inputs to tf\.function failed due to .?(?P<why>.{1,100}?).?\. Received",
            r"Binding inputs to tf\.function",
            r"input_signature must be",
            r"is not compatible with the shape this function was traced with",
            r"Could not find matching concrete function to call",
            r"Python inputs incompatible with input_signature",
            r"Signature specifies \d{1,4} arguments, got",
            r"Functions cannot be decorated after they have been traced",
            r"Structure of Python function inputs does not match input_signature",
            r"When input_signature is provided, (?:all inputs|only pass)",
            r"Name collision after sanitization\. Please rename",
            r"Compiler IR can only be returned for functions marked",
            r"input_signature missing type constraint for",
        ),
        cause="A tf.function is called with, or returns, what its signature does not allow: other shapes, types or a number of arguments than it was traced or saved for, an object that is no tensor, or a list that it changes in place.",
        details=("TensorFlow says: {why}.",),
        fix="""\
@tf.function(input_signature=[tf.TensorSpec([GLOBAL_BATCH // REPLICAS, 224, 224, 3], tf.float32)])
def step(images): ...
print(step.pretty_printed_concrete_signatures(), batch.shape, batch.dtype)      # what it was made for, and what it gets
return {"loss": loss}               # tensors, or dicts and tuples of tensors: no objects, no strings of Python, no datasets""",
        evidence="recalled",
        example="TypeError: Binding inputs to tf.function failed due to `missing a required argument: 'labels'`. Received args: (<tf.Tensor>,) and kwargs: {} for signature: (images, labels).",
    ),
    KnownError(
        id="E407",
        family="python-control-flow",
        phase=Phase.TRACING,
        patterns=(
            r"len is not well defined for (?:a )?symbolic",
            r"Cannot iterate over a (?:scalar tensor|tensor with unknown)",
            r"Scalar tensor has no `?len",
            r"len requires a non-scalar tensor",
            r"Iterating over a symbolic",
            r"The truth value of a.{0,60}?(?:symbolic|Tensor)",
            r"'SymbolicTensor' object (?:is not iterable|cannot be interpreted)",
            r"'Tensor' object cannot be interpreted as an integer",
            r"Cannot interpret .{1,60}?tensor.{0,40}? as (?:an int|a Python|a bool)",
            r"slice indices must be integers or None or have an __index__",
        ),
        cause="Python (len, for, range, int, a slice) works on a tensor whose value or size is not known while the step is traced.",
        fix="""\
size = x.shape[0]                  # the static size: needs batch(..., drop_remainder=True) or Input(batch_size=...)
for i in tf.range(size): ...       # a loop of the graph in place of range(tensor) or `for row in tensor`
rows = tf.unstack(x, num=8)        # a Python list of a known number of tensors
total = tf.shape(x)[0]             # the size as a tensor, where a tensor will do (not as a shape, on a TPU)""",
        evidence="recalled",
        example="TypeError: len is not well defined for a symbolic Tensor (model/dense/BiasAdd:0). Please call `x.shape` rather than `len(x)` for shape information.",
        yields_to=("E153",),
    ),
    KnownError(
        id="E409",
        family="python-function-output",
        phase=Phase.READING,
        patterns=(
            r"pyfunc_\d{1,6} returns (?P<returns>\d{1,4}) values?, but expects to see (?P<wanted>\d{1,4})",
            r"values?, but expects to see",
            r"py_func returned argument .{1,60}? with value type .{1,60}? while expecting",
            r"Tout.{0,60}?(?:does not match|must match).{0,60}?py_func",
            r"-th value returned by pyfunc_\d",
            r"which did not match Tout=",
            r"Missing required argument: 'Tout'",
            r"return a variable from an eagerly executed py_func",
        ),
        cause="A Python function in the pipeline (py_function, numpy_function) returns another number or other types of values than its Tout says.",
        details=("It returns {returns}, expected are {wanted}.",),
        fix="""\
image, label = tf.py_function(load, [path], Tout=[tf.float32, tf.int32])      # one type for each value that is returned
image.set_shape([224, 224, 3]); label.set_shape([])                            # shapes are lost: say them, a TPU needs them
return image.astype(np.float32), np.int32(label)                               # exactly these types, as many as Tout
# for a TPU better tf operations in dataset.map: Python in the pipeline starves it""",
        citations=("tensorflow/models#5661",),
        example="InvalidArgumentError: pyfunc_1 returns 3 values, but expects to see 1 values.",
    ),
    KnownError(
        id="E408",
        family="host-compiled",
        phase=Phase.COMPILING,
        kind=Kind.TELLING,
        patterns=(
            r"could not find registered platform with (?:name|id)",
            r"Available platform names are: .{0,40}?TPU",
            r"could not find registered (?:computation placer|compiler|transfer manager) for platform",
            r"No registered (?:computation placer|transfer manager) for platform",
            r"GetMetadata must only be called on (?:a device derived|an XLA device)",
            r"Cannot get XLA metadata from non-XLA device",
        ),
        cause="A function is to be compiled by XLA for a device that this build has no compiler for: it runs outside strategy.run (on the host, or for a GPU that is not there) with jit_compile on, as Keras 3 sets it by itself.",
        fix="""\
with strategy.scope():
    model = build_model()
    model.compile(optimizer, loss, jit_compile=False)      # TPUStrategy compiles the step anyway
# tf.function(jit_compile=True) around host code: take jit_compile out
# a saved model for GPUs: tf.device('/GPU:0') and jit_compile out before it is exported""",
        citations=(
            "keras-team/keras#19448",
            "tensorflow/serving#2217",
            "Kaggle/docker-python#1370",
        ),
        rivals=(
            Rival(
                cause="model.compile of Keras 3 outside the scope, or with jit_compile left on 'auto'",
                look_for="model.fit, `one_step_on_iterator`, `keras/src`",
                decide="grep -n jit_compile train.py; python -c 'import keras; print(keras.__version__)'",
                cues=(r"keras/src",),
                families=("no-xla-compiler", "jit-compile-refused"),
            ),
            Rival(
                cause="the code is made for a GPU (device scopes, a saved model with jit_compile)",
                look_for="`cuda`, `CUDA` in the message",
                decide='grep -nE "jit_compile|tf.device|cuda" train.py',
                cues=(r"platform CUDA", r'platform with name: ?"?cuda'),
                families=("no-xla-compiler", "gpu-libraries"),
            ),
        ),
        example='NotFoundError: Graph execution error: could not find registered platform with name: "cuda". Available platform names are: TPU Host',
        yields_to=("E11", "E269", "N10"),
    ),
)
