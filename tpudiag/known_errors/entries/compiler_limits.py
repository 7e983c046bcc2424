# ruff: noqa: E501  (texts of other programs stay as they are)
"""What the TPU compiler says that it cannot do: by operation, type, shape or generation."""

from __future__ import annotations

from tpudiag.known_errors.model import Kind, KnownError, Phase, Rival

ERRORS = (
    KnownError(
        id="E440",
        family="dynamic-dimension",
        phase=Phase.COMPILING,
        patterns=(
            r"doesn't support split for the dynamic dimension",
            r"must not have dynamic (?:dimensions|shapes?)",
            r"set invalid dynamic dimension",
            r"dynamic dimension of gather, which is not supported",
            r"dynamic dimension on the data input of gather",
            r"operand has dynamic shape",
            r"Dynamic input shapes are not supported with infeed",
            r"Dynamic (?:output|padding|spatial|prefix|update|bounded) .{0,60}?not (?:yet )?supported",
            r"must have (?:a )?static shapes?,? but got",
            r"requires? (?:a )?static shapes?",
            r"prove that a dynamic slice size along",
            r"broadcast input and output dynamism mismatch",
            r"Shape .{1,60}? must have a fixed size for dimension (?P<dimension>\d{1,2})",
            r"outputs? with dynamic shapes? are unsupported",
            r"Only support static input shape but got",
            r"Shape .{1,60}? must be a known shape",
            r"data-dependent (?:shape|dimension|output).{0,80}?(?:not supported|unsupported|XLA)",
            r"[Ss]ort with dynamic dimension",
            r"Reshape size is not divisible by",
            r"UNIMPLEMENTED: .{0,80}?\bdynamic (?:dimension|shape|size|bound)s?\b",
            r"inputs with dynamic shapes are unsupported",
        ),
        cause="The step has a size that is not fixed when it is compiled: a ragged last batch, sequences of various lengths, or an operation whose result depends on the data (boolean_mask, unique, where, NonMaxSuppression).",
        details=("It is dimension {dimension}.",),
        fix="""\
dataset = dataset.padded_batch(global_batch, padded_shapes=([MAX_LENGTH], []), drop_remainder=True)      # all sizes fixed
print(dataset.element_spec)                                # no None in it
x = tf.ensure_shape(x, [BATCH, LENGTH, WIDTH])             # say a size that is known to you
y = tf.where(mask[..., None], x, 0.0)                      # in place of tf.boolean_mask
ids, _ = tf.unique(x)                                      # in dataset.map, on the host; or tf.math.top_k with a fixed k""",
        evidence="recalled",
        example="UNIMPLEMENTED: Split op doesn't support split for the dynamic dimension",
        yields_to=("E85", "E13", "E12", "E14", "E15", "E16"),
    ),
    KnownError(
        id="E441",
        family="type-not-on-tpu",
        phase=Phase.COMPILING,
        patterns=(
            r"Element type (?P<type>[\w<>:]{1,20}) is not supported on TPU",
            r"Const op with type (?P<type>DT_\w{2,12}) is not supported by XLA",
            r"type (?P<type>\w{1,12}) (?:is )?not supported (?:on|by|for) (?:the )?(?:TPU|XLA)",
            r"type (?P<type>\w{1,12}) (?:is )?unsupported (?:on|by|for) (?:the )?(?:TPU|XLA)",
            r"which is not a supported TPU infeed type",
            r"Unsupported element type for .{1,60}?: ?(?P<type>[a-z]\d{1,3}\w{0,8})",
            r"decomposition of (?P<type>[fc]\d{2,3}) on TPU",
            r"is not a supported TPU infeed type",
            r"Infeed dtype mismatch",
            r"(?P<type>\w{1,12}) is not available on this generation of TPU",
            r"not available on this generation of TPU",
            r"(?:f8|float8|fp8|int4|s4|u4)\w{0,12}.{0,60}?not supported.{0,40}?(?:TPU|generation|before)",
            r"Conversion to \d{1,2}-bit not supported before TPU",
            r"not supported as (?:an )?(?:XLA|TPU) (?:argument|input|output|type)",
            r"decompositions are only implemented on TPU for float32",
        ),
        cause="The step holds a type that the TPU, or this generation of it, does not have: strings, uint8 or float64 as input, float8 or 4 bits on an older chip.",
        details=("It is {type}.",),
        fix="""\
dataset = dataset.map(lambda x, y: (tf.cast(x, tf.float32) / 255.0, tf.cast(y, tf.int32)))      # before the TPU: float32, bfloat16, int32, bool
features.pop("file_name")                          # strings stay on the host
keras.backend.set_floatx("float32")                # no float64
# float8: v6e or newer; int4: v5e or newer in some operations; else bfloat16 or int8""",
        evidence="recalled",
        example="TypeError: Operation 'IteratorGetNext' has type string which is not a supported TPU infeed type.",
        yields_to=("E132", "E184", "E94", "E17"),
    ),
    KnownError(
        id="E442",
        family="unsupported-op",
        phase=Phase.COMPILING,
        kind=Kind.BROAD,
        patterns=(
            r"not (?:yet )?implemented (?:natively )?(?:on|for|by|in|with) (?:the |a |Cloud )?(?:TPU|XLA)",
            r"not (?:yet )?supported (?:natively )?(?:on|for|by|in|with) (?:the |a |Cloud )?(?:TPU|XLA)",
            r"which is not implemented for TPU",
            r"[Oo]nly .{1,80}? supported (?:on|for|by) (?:the )?TPU",
            r"over subgroups of different sizes",
            r"does(?: not|n't) (?:currently )?support (?:running )?(?:on )?TPU",
            r"not supported by XLA",
            r"TPUs? (?:currently )?(?:does not|do not|doesn't|don't) (?:yet |currently )?support",
            r"unsupported .{0,60}?(?:on|for|by) (?:the )?TPU",
            r"XLA (?:currently )?(?:does not|doesn't|cannot) (?:yet |currently )?support",
            r"XLA can't (?:determine|infer|compile)",
            r"TPU.{0,40}?NotImplementedError",
            r"not (?:yet )?supported (?:on|by|with) (?:TPUStrategy|TPU strategy)",
            r"TPUStrategy (?:does not|doesn't|currently does not) support",
            r"No gradient defined for operation .{1,120}?Xla",
            r"Fall ?back to CPU.{0,40}?TPU",
            r"does not support Transfer(?:To|From)(?:Infeed|Outfeed)",
            r"(?:Infeed|Outfeed) is not supported on this TPU",
            r"does not support infeed, but the XLA computation",
            r"TPUPartitionedCallOp (?:is only supported|does not yet support)",
        ),
        cause="An operation, an option of it, or a feature of the library has no form for the TPU.",
        fix="""\
tpudiag check train.py --for v5e-8                  # lowers the step without a TPU: names the operations and your lines
dataset = dataset.map(the_part_with_it, num_parallel_calls=tf.data.AUTOTUNE)      # on the host, before the TPU
tf.config.set_soft_device_placement(True)           # left in the step, run on the host: costs time in each step
# an option: the plain form of the operation (no CTC greedy decoder, no cuDNN kernel, no dilations with strides, padding='same' or 'valid')""",
        rivals=(
            Rival(
                cause="strings, look-up tables, Python functions, printing, files",
                look_for="decode, table, string, print, py_function",
                decide='grep -nE "py_function|numpy_function|lookup|tf.strings|tf.print|decode_" train.py',
                families=("python-in-step", "host-op-in-condition"),
            ),
            Rival(
                cause="sizes that depend on the data",
                look_for="`dynamic`, unique, where, boolean_mask",
                decide="print(dataset.element_spec)",
                cues=(r"dynamic",),
                families=("dynamic-dimension", "constant-shape"),
            ),
            Rival(
                cause="a type that the TPU does not have",
                look_for="u8, f64, s64, c64, string",
                decide="the same step in float32 and int32",
                cues=(r"DT_STRING", r"DT_UINT8", r"X64 element types"),
                families=("type-not-on-tpu", "sixty-four-bit"),
            ),
        ),
        evidence="recalled",
        example="UNIMPLEMENTED: Encountered a Map with a non-scalar computation to apply, which is not implemented for TPU.",
        yields_to=("E539", "P150"),
    ),
    KnownError(
        id="E443",
        family="bridge-refused",
        phase=Phase.COMPILING,
        kind=Kind.BROAD,
        patterns=(
            r"TF2XLA MLIR [Bb]ridge",
            r"MLIR-based TPU bridge",
            r"TF/XLA TPU bridge input check",
            r"TF to XLA legalization failed",
            r"MLIR bridge.{0,80}?(?:fail|error|unsupported|invalid)",
            r"TPU bridge .{0,80}?(?:fail|error|unsupported|invalid)",
            r"v1 control flow op which is not supported",
            r"'(?P<op>tf\.\w{2,60})' op attribute",
            r"'(?P<op>tf\.\w{2,60})' op operand",
            r"function definition for (?:StatefulPartitionedCall op running on TPU|tpu_func)",
            r"Function body was not rewritten for TPU",
            r"distributed_tpu_rewrite_pass",
            r"tpu_cluster_formation",
            r"TPUReplicateMetadata.{0,120}?(?:error|invalid|must|mismatch|not )",
            r"input .{1,80}? has (?:multiple )?TPUReplicatedInput",
            r"Found multiple TPUReplicatedInput",
            r"Expected exactly 1 compilation op for TPU",
            r"Computation argument to TPUReplicate has wrong",
            r"Wrong number of outputs from TPUReplicate",
            r"TPU computation is missing InferredShape",
            r"error in fetching TPU",
        ),
        cause="The pass that turns TensorFlow's graph into a program for the TPU refused it: control flow of TF1, a variable without a value, an operation that has no counterpart, or a graph made for another device.",
        details=("It is {op}.",),
        fix="""\
tpudiag check train.py --for v5e-8                   # the same pass without a TPU: names operation and line
tf.compat.v1.enable_control_flow_v2(); tf.compat.v1.enable_resource_variables()      # TF1 graphs: control flow and variables of TF2
with strategy.scope(): model = build_model()         # variables made and initialised before the step, not in it
# a saved model: load it in the scope with tf.keras.models.load_model, not its graph""",
        rivals=(
            Rival(
                cause="TF1 control flow (while_loop, cond with tf.compat.v1)",
                look_for="`v1 control flow`, `tf.Switch`, `tf.Enter`",
                decide="grep -n 'compat.v1' train.py",
                cues=(r"v1 control flow", r"tf\.NextIteration"),
            ),
            Rival(
                cause="a variable or a summary writer that is not initialised when the step is compiled",
                look_for="`uninitialized resource`, `DT_INVALID`, `writer`",
                decide="grep -n summary train.py",
                cues=(r"uninitialized resource", r"DT_INVALID"),
                families=("summary-in-step", "variable-uninitialised"),
            ),
            Rival(
                cause="an operation without a TPU form",
                look_for="`failed to legalize`, the name of an op",
                decide="tpudiag check train.py --for v5e-8",
                cues=(r"failed to legalize",),
                families=("unsupported-op", "python-in-step"),
            ),
        ),
        evidence="recalled",
        example="INVALID_ARGUMENT: Node while/Enter is v1 control flow op which is not supported in TF2XLA MLIR Bridge.",
        yields_to=("E17", "E94", "E198"),
    ),
    KnownError(
        id="E444",
        family="infeed-shape",
        phase=Phase.EXECUTING,
        patterns=(
            r"Run-time shape mismatch for TPUReshardVariables argument",
            r"Infeed shape mismatch; expected",
            r"shape that was requested for (?:out|in)feed",
            r"Infeed with a nested tuple shape",
            r"Can't freeze an InfeedQueue without setting all",
            r"InfeedQueue with frozen configuration",
            r"generate two (?:en|de)queue Ops from the same queue",
            r"Failed to infeed buffer to device",
        ),
        cause="The data that reach the TPU have another shape or type than the step was compiled for: a smaller last batch, images or sequences of various sizes, or a dataset that changed between compiling and running.",
        fix="""\
dataset = dataset.batch(global_batch, drop_remainder=True)          # each batch of the same size
dataset = dataset.map(lambda x, y: (tf.ensure_shape(tf.image.resize(x, [224, 224]), [224, 224, 3]), y))
print(dataset.element_spec)                                         # shapes and types, no None""",
        evidence="recalled",
        example="INVALID_ARGUMENT: f32[96] did not match the shape that was requested for outfeed: f32[128]",
        yields_to=("E180",),
    ),
    KnownError(
        id="E449",
        family="rnn-kernel",
        phase=Phase.EXECUTING,
        patterns=(
            r"InstantiateOptions\.input_devices must",
            r"Invalid input_h shape: ?(?P<has>\[[\d,]{1,30}\]) ?(?P<wanted>\[[\d,]{1,30}\])",
            r"node CudnnRNN.{0,200}?(?:Invalid|error|fail|must)",
            r"(?:Invalid|error|fail|must).{0,200}?node CudnnRNN",
            r"cudnnSetRNN",
            r"mask .{0,40}?right.padded.{0,80}?cuDNN",
            r"To use CudnnRNN\w{0,2} in gradients, is_training must be",
        ),
        cause="A recurrent layer (LSTM, GRU) chose a kernel that does not fit where it runs: the GPU's kernel with a mask, an initial state of another batch size, or inside a loop over tensors, which TensorFlow instantiates wrongly.",
        details=("The state is {has}, wanted is {wanted}.",),
        fix="""\
layer = keras.layers.RNN(keras.layers.LSTMCell(128))       # the plain layer: no GPU kernel to choose; runs on a TPU as it is
layer = keras.layers.LSTM(128, use_cudnn=False)            # Keras 3
for batch in dataset: train_step(batch)                    # the loop over batches outside tf.function, or `for i in range(n)`
dataset = dataset.batch(global_batch, drop_remainder=True) # stateful layers: each batch of the same size
# masks: pad at the end (padding="post"), never an example that is empty""",
        citations=(
            "tensorflow/tensorflow#39827",
            "tensorflow/tensorflow#43101",
            "ageron/handson-ml2#196",
        ),
        example="InvalidArgumentError: 2 root error(s) found. (0) Invalid argument: InstantiateOptions.input_devices must have the same length as the number of arguments: input_devices length = 23 number of arguments = 24",
    ),
    KnownError(
        id="E446",
        family="kernel-refused",
        phase=Phase.COMPILING,
        kind=Kind.BROAD,
        patterns=(
            r"Not implemented: (?:Broadcast|Conversion|Multi-VREG|Layout|Output bitwidth|Slice does not|scalar (?:loads|stores)|unsupported layout|Expected? |expected |Indirect|dynamic slice)",
            r"Mosaic.{0,120}?not supported",
            r"Mosaic (?:kernel|lowering|compil\w{1,5}).{0,80}?(?:unsupported|fail|error|invalid|must)",
            r"Cannot lower a Mosaic kernel",
            r"scoped vmem",
            r"tpu_custom_call.{0,160}?(?:fail|error|not |invalid|mismatch)",
            r"The Pallas TPU lowering currently",
            r"Pallas.{0,80}?TPU.{0,80}?(?:not (?:supported|implemented)|unsupported|requires|must)",
            r"last two dimensions of your block shape",
            r"divisible by 8 and 128 respectively",
            r"inside a TPU region is not (?:allowed|supported)",
            r"Unable to build (?:a )?Mosaic",
        ),
        cause="A hand-written kernel (Pallas, Mosaic; also inside libraries, for attention) asks for a shape, type or operation that the TPU's kernel compiler does not have, or for more on-chip memory than there is.",
        fix="""\
# block shapes: the last two dimensions multiples of 8 and 128 (16 for bfloat16, 32 for int8), or equal to the array's
# head size a multiple of 128, sequence a multiple of the block; smaller blocks for `scoped vmem`
export LIBTPU_INIT_ARGS="--xla_tpu_scoped_vmem_limit_kib=65536"      # more scratch, where the chip has it
# or the library's plain attention in place of the kernel (flash_attention=False, attn_implementation="eager")""",
        evidence="recalled",
        example="ValueError: The Pallas TPU lowering currently requires that the last two dimensions of your block shape are divisible by 8 and 128 respectively",
        yields_to=("E98", "E268", "E20"),
    ),
)
