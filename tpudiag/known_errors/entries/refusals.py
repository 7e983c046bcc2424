# ruff: noqa: E501  (texts of other programs stay as they are)
"""Calls that are refused: an argument, an order, a type, a name, a combination (last resorts)."""

from __future__ import annotations

from tpudiag.known_errors.model import Kind, KnownError, Phase

ERRORS = (
    KnownError(
        id="E560",
        family="argument-refused",
        phase=Phase.ANY,
        kind=Kind.FORM,
        patterns=(
            r"(?:Value|Type)Error: .{0,60}?`(?P<argument>\w{1,40})` (?:argument )?(?:must|should|can only|needs to|cannot|has to|is expected to) ",
            r"(?:Value|Type)Error: (?:The )?Arguments? ['`\"]?(?P<argument>\w{1,40})['`\"]? .{0,80}?(?:must|should|can only|is not|cannot|invalid)",
            r"(?:Value|Type)Error: (?:Invalid|Unknown|Unrecognized|Unsupported|Illegal) (?:value for |`)?(?:argument|parameter|value|mode|option|configuration)",
            r"(?:Value|Type)Error: (?:Invalid|Unknown|Unrecognized|Unsupported|Illegal) `?(?P<argument>\w{1,40})`?(?: argument| value| configuration| mode| option)?[:=.`]",
            r"(?:Value|Type)Error: .{0,160}?(?:Expected one of|Supported (?:values|modes|types|options|methods) are|Allowed (?:values|formats) are|must be one of|Expected values are|Please use one of)",
            r"(?:Value|Type)Error: .{0,60}?[Oo]nly one of .{0,100}?(?:can|may|should|must) be",
            r"(?:Value|Type)Error: (?:You |Must |Please )?(?:cannot|must|may not|should not|can't|need to) (?:pass|specify|provide|set|supply|give) (?:both )?",
            r"(?:Value|Type)Error: Could not interpret (?P<argument>\w{3,20})",
            r"(?:Value|Type)Error: Unrecognized keyword arguments? ",
            r"(?:Value|Type)Error: .{3,300}?[Rr]eceived:? ?`?\w{1,40}`? ?=",
            r"(?:Value|Type)Error: .{3,300}?Received: ",
        ),
        cause="A function refuses the value of an argument: the message names the argument, what it takes, and mostly what it received. A name or a form of another release, a number out of its range (a size computed as zero), two arguments that exclude each other, or one that is missing.",
        details=("The argument is {argument}.",),
        fix="""\
# the last line of your own in the traceback makes the call: print what it passes there
import inspect; print(inspect.signature(FUNCTION))              # what this release takes
pip list | grep -iE "tensorflow|keras|jax|transformers"           # which release that is
# a list or string of numbers from the command line: int(...), tuple(...); a size: print(batch, steps) before the call""",
        evidence="recalled",
        example="ValueError: Only one of `rows` and `columns` can be given.",
        near_miss="WARNING: `lr` argument is deprecated",
    ),
    KnownError(
        id="E561",
        family="called-out-of-order",
        phase=Phase.ANY,
        kind=Kind.FORM,
        patterns=(
            r"(?:Value|Runtime|Attribute|Type|Assertion|FailedPrecondition)Error: .{0,160}?must (?:first )?be (?:called|built|compiled|created|initialized|set|registered|defined|configured|run) (?:before|prior|first|only once|after|inside|within|outside|at)",
            r"(?:Value|Runtime|Attribute|Type|FailedPrecondition)Error: .{0,160}?(?:has|have) not (?:yet )?been (?:yet )?(?:built|called|initialized|compiled|created|adapted|started|set|configured|defined|fitted|trained)",
            r"(?:Value|Runtime|Attribute|Type)Error: .{0,160}?can (?:only )?be (?:called|set|used|accessed|created) (?:only )?(?:once|before|after|inside|within|when|while|outside)",
            r"(?:Value|Runtime|AlreadyExists)Error: .{0,120}?already (?:been )?(?:built|called|initialized|compiled|created|adapted|registered|started|exists|finalized|running)",
            r"(?:Value|Runtime|Attribute)Error: (?:You must|Please|Must|Did you (?:call|forget)) .{0,60}?(?:build|compile|call|initialize|create|adapt|start|fit) .{0,80}?(?:before|first)",
        ),
        cause="Two calls are in the wrong order: something is used before it was built, compiled, adapted or initialised, is done a second time, or is called outside (or inside) the block in which it belongs. In a notebook mostly a cell that was run twice, or not at all.",
        fix="""\
# the order of a TPU script: resolver, connect, initialize_tpu_system, strategy; in its scope model, build or one call, compile; then restore, fit
with strategy.scope():
    model = build_model(); model.build((None, 224, 224, 3)); model.compile(optimizer="adam", loss="mse")
model.load_weights(path)                                          # after it has its variables
# a notebook: restart the kernel and run the cells from the top""",
        evidence="recalled",
        example="RuntimeError: `recorder.start()` must be called before `recorder.stop()`.",
        near_miss="the server must be started before the client",
    ),
    KnownError(
        id="E562",
        family="wrong-type",
        phase=Phase.ANY,
        kind=Kind.FORM,
        patterns=(
            r"(?:Value|Type)Error: .{0,200}?(?:must|should) be (?:of type|an? instance|an? (?:list|tuple|str|string|dict|callable|int|integer|float|bool|function|tensor|Tensor|Dataset|array))",
            r"(?:Value|Type)Error: .{0,80}?[Ee]xpected .{1,100}? (?:to be|but (?:got|received)|got|received|, not) ",
            r"(?:Value|Type)Error: .{0,120}?(?:is not (?:an instance|iterable|callable|hashable)|of type .{1,60}?is not)",
            r"TypeError: .{0,120}?(?:unsupported|Unsupported|invalid|Invalid|wrong) (?:operand )?type",
            r"(?:Value|Type)Error: .{3,240}?(?:but|instead|[,.;])(?: instead)?(?: was)? (?:got|received|found|given)",
        ),
        cause="A value of another kind is expected: the message names what it should be and what it is.",
        fix="""\
print(type(value), getattr(value, "shape", value))                # on the last line of your own in the traceback
tf.convert_to_tensor(value); np.asarray(value); int(value)          # made what is expected; {"name": value} or (value,) for a structure""",
        evidence="recalled",
        example="TypeError: things should be a list of strings, what came is Foo",
    ),
    KnownError(
        id="E613",
        family="operation-refuses",
        phase=Phase.EXECUTING,
        kind=Kind.FORM,
        patterns=(
            r"InvalidArgumentError: .{3,300}?(?:must|should|expect|cannot|not allowed|out of range|out of bounds|greater than|less than|larger than|invalid|mismatch|not match|differ|incompatible|but got)",
            r"INVALID_ARGUMENT: .{3,300}?(?:must|should|expect|cannot|not allowed|out of range|out of bounds|greater than|less than|larger than|mismatch|not match|differ|incompatible|but got)",
            r"Invalid argument: .{3,300}?(?:must|should|expect|cannot|not allowed|out of range|out of bounds|greater than|less than|larger than|mismatch|not match|differ|incompatible|but got)",
        ),
        cause="An operation refuses what it is given: the shape, a size, the type or a value of a tensor; the message says which condition does not hold, and in brackets the operation. Where it is about the data or the shapes, it fails on a CPU as well.",
        fix="""\
print(dataset.element_spec)                          # shapes and types as they reach the step: None, uint8 or a missing batch dimension?
tf.config.run_functions_eagerly(True)                # on a CPU, without the strategy: the traceback then names your own line
for batch in dataset.take(1): step(batch)
tf.debugging.enable_check_numerics()                 # where a value is NaN or out of its range""",
        evidence="recalled",
        example="InvalidArgumentError: frobnication size must be positive [Op:Frobnicate]",
        yields_to=("N01", "N04", "N07", "N08"),
    ),
    KnownError(
        id="E563",
        family="not-implemented",
        phase=Phase.ANY,
        kind=Kind.FORM,
        patterns=(
            r"(?:Value|Type|Runtime|Unimplemented)Error: .{0,200}?(?:is|are|does|do) (?:currently |yet )?not (?:currently |yet )?(?:supported|support|implemented|available|allowed|compatible)",
            r"(?:Value|Type|Runtime)Error: .{0,120}?only (?:supported|available|compatible|works|implemented) (?:with|for|in|when|on) ",
            r"(?:XlaRuntime|Internal|Unimplemented)Error: UNIMPLEMENTED: ",
            r"UnimplementedError: ",
        ),
        cause="What is asked for does not exist for this type, device, mode, backend or release; the message names the thing.",
        fix="""\
pip list | grep -iE "tensorflow|keras|jax|libtpu"                 # a newer release may have it: pip install -U
python -c "import keras; print(keras.backend.backend())"            # KERAS_BACKEND=tensorflow for TPUStrategy
# a type: tf.cast(x, tf.float32) or int32; a device: into the tf.data pipeline (dataset.map); a mode: inside tf.function, or eagerly""",
        evidence="recalled",
        example="RuntimeError: Frobnication is currently not supported.",
    ),
    KnownError(
        id="E564",
        family="name-unknown",
        phase=Phase.ANY,
        kind=Kind.FORM,
        patterns=(
            r"(?:Value|Key|Lookup|NotFound|Type)Error: .{0,120}?(?:not found in|was not found|does not exist|could not be found|[Cc]ould not find|[Nn]o such) ",
            r"(?:Value|Key|Lookup)Error: (?:Unknown|No) (?P<what>\w{3,30})(?: found| named)?[: '`]",
        ),
        cause="A name is looked up and is not there: of a layer, a metric, an output, a signature, a configuration, a data set.",
        fix="""\
print([layer.name for layer in model.layers], model.output_names)   # names as they are in this run: keras counts them up (dense_1)
print(list(config), list(features))                                   # the keys that are there""",
        evidence="recalled",
        example="ValueError: No frobnicator named 'x' was given",
    ),
    KnownError(
        id="E565",
        family="assertion",
        phase=Phase.ANY,
        kind=Kind.FORM,
        patterns=(r"AssertionError\b",),
        cause="An `assert` of the code failed: what it supposes is not so. The line above it in the traceback shows the condition; a library's assert is mostly about shapes, sizes or a configuration that it was given.",
        fix="""\
# the line with `assert` in the traceback, and the values that it compares: print them before the call
print(dataset.element_spec, strategy.num_replicas_in_sync, model.output_shape)
python -O train.py                    # leaves asserts out: to see what comes after, not to train""",
        evidence="recalled",
        example="AssertionError: batch does not match",
    ),
    KnownError(
        id="E566",
        family="generator-ended",
        phase=Phase.READING,
        kind=Kind.FORM,
        patterns=(r"StopIteration\b",),
        cause="An iterator or generator has no next element: it was read to its end, or gave none at all.",
        fix="""\
dataset = dataset.repeat()            # with steps_per_epoch; a generator: `while True:` around its loop
iterator = iter(dataset)              # anew for each epoch
print(len(files))                      # none? then the generator gives nothing""",
        evidence="recalled",
        example="StopIteration: in user code",
    ),
    KnownError(
        id="E567",
        family="attribute-missing",
        phase=Phase.ANY,
        kind=Kind.FORM,
        patterns=(r"AttributeError: (?P<name>_?\w{2,40})",),
        cause="An object has no such attribute: mostly a name that is gone or new in this release of its package (inner names that begin with _ change without notice), or an object that was not built, compiled or loaded yet.",
        details=("It is {name}.",),
        fix="""\
print(type(obj), type(obj).__module__, [name for name in dir(obj) if not name.startswith("__")])     # on the last line of your own in the traceback
pip list | grep -iE "tensorflow|keras|transformers|jax"                      # the release the code was written for?""",
        evidence="recalled",
        example="AttributeError: _ckpt_saved_epoch",
    ),
)
