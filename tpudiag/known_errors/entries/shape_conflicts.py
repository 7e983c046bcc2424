# ruff: noqa: E501  (texts of other programs stay as they are)
"""Shapes that do not fit one another."""

from __future__ import annotations

from tpudiag.known_errors.model import Kind, KnownError, Phase, Rival

ERRORS = (
    KnownError(
        id="E88",
        family="shape-conflict",
        phase=Phase.COMPILING,
        patterns=(
            r"Input to reshape is a tensor with (?P<has>\d{1,12}) values, but the requested shape (?:has|requires a multiple of) (?P<wanted>\d{1,12})",
            r"Input to reshape is a tensor with",
            r"Cannot reshape a tensor with (?P<has>\d{1,12}) elements to shape",
            r"total size of the tensor must be unchanged",
        ),
        cause="A reshape is given another number of values than its shape says. On a TPU this is mostly a batch size written into the model: each replica sees the global batch divided by the replicas, and the last batch may be smaller.",
        details=("It has {has} values and should have {wanted}.",),
        fix="""\
x = tf.reshape(x, [-1, height, width])             # -1 in place of a batch size
inputs = keras.Input(shape=(length,))              # no batch_size=, no batch_input_shape=
dataset = dataset.batch(global_batch, drop_remainder=True)     # global_batch = per_replica * strategy.num_replicas_in_sync""",
        citations=("tensorflow/tensorflow#43276",),
        example="Compilation failure: Input to reshape is a tensor with 100 values, but the requested shape has 50",
    ),
    KnownError(
        id="E89",
        family="shape-conflict",
        phase=Phase.TRACING,
        kind=Kind.BROAD,
        patterns=(
            r"Incompatible shapes: (?P<left>\[[\d,]{0,40}\]) vs\.? (?P<right>\[[\d,]{0,40}\])",
            r"Dimensions? .{0,40}? must be equal, but are (?P<left>\d{1,9}) and (?P<right>\d{1,9})",
            r"Shapes (?P<left>\([\d, None]{0,40}\)) and (?P<right>\([\d, None]{0,40}\)) (?:are incompatible|must have)",
            r"ConcatOp : Dimensions? .{0,20}?should match",
            r"logits and labels must have the same first dimension",
            r"Matrix size-incompatible",
            r"Binary op \w{1,30} with incompatible shapes",
            r"must be a multiple of the number of groups",
            r"is incompatible with the layer: expected shape",
            r"Dimension \d in both shapes must be equal",
            r"required broadcastable shapes",
            r"From merging shape \d{1,4} with other shapes",
            r"Shape must be rank \d{1,2} but is rank",
            r"cannot infer the missing input size for an empty tensor",
            r"axis \d{1,2} must equal \d{1,9}, got shape",
            r"Inputs to operation .{1,160}? must have the same size and shape",
            r"All dimensions except \d{1,2} must match",
            r"Inner dimensions? of output shape must match",
            r"Incompatible shapes? (?:at|between|for)",
            r"Einstein?sum.{0,80}?(?:dimension|shape).{0,60}?(?:mismatch|match)",
            r"Dimensions? must match",
            r"could not be broadcast together",
            r"cannot broadcast",
            r"Shapes \(.{1,60}?\) and \(.{1,60}?\) (?:are|is) not compatible",
            r"with matching (?:output )?shapes",
            r"should equal the shape of",
            r"must have (?:the )?same (?:shape|rank|size|dimension|length|number of|outer|first|batch|inner)",
            r"[Ss]hape mismatch",
            r"dimensions? (?:does|do) not match",
            r"[Ss]hapes? (?:does|do) not match",
            r"Input shapes must match",
            r"[Ss]izes? (?:does|do) not match",
            r"incompatible (?:with|batch|tensor) shapes?",
            r"Batch sizes of A and B are not compatible",
            r"requires (?:a )?`?\w{1,20}`? layer with matching",
            r"Shape \(.{0,60}?\) must have rank",
            r"Dimensions \d{1,9} and \d{1,9} are not compatible",
            r"Cannot feed value of shape .{1,60}? for Tensor",
            r"is not compatible with expected shape",
            r"to match target batch_size",
        ),
        cause="Two tensors that meet have shapes that do not fit.",
        details=("They are {left} and {right}.",),
        fix="""\
print(dataset.element_spec)          # what the pipeline gives: compare it with what the model expects
# a batch size written into the model (batch_size=, [32, ...]) is wrong in a replica: global_batch // replicas
# the last batch is smaller: dataset.batch(global_batch, drop_remainder=True)""",
        rivals=(
            Rival(
                cause="a batch size is written into the model or the loss, and each replica sees a part of the global batch",
                look_for="the two sizes differ by the number of replicas (8 times)",
                decide='grep -nE "batch_size|BATCH" train.py',
            ),
            Rival(
                cause="the last batch of the epoch is smaller",
                look_for="it fails at the end of an epoch",
                decide="grep -n drop_remainder train.py",
            ),
            Rival(
                cause="labels and logits, or data and model, simply differ (classes, channels, length)",
                look_for="it fails in the first step on a CPU too",
                decide='python -c "...; print(dataset.element_spec, model.output_shape)"',
            ),
        ),
        evidence="recalled",
        example="InvalidArgumentError: Incompatible shapes: [16,10] vs. [32,10]",
    ),
    KnownError(
        id="E90",
        family="indivisible-batch",
        phase=Phase.TRACING,
        patterns=(
            r"(?:must be|be evenly|is not|not) divisible by (?:the )?(?:total )?(?:number of |num_?)(?:replicas?|TPU cores|shards|workers|devices|cores)",
            r"(?P<batch>\d{1,7})\D{1,20}must be divisible by .{0,30}?replicas (?P<replicas>\d{1,5})",
            r"Batch size: \d{1,7} is not divisible",
            r"batch.size.{0,40}? must be divisible by",
            r"slice index 0 of dimension 0 out of bounds",
            r"batch.{0,60}?not (?:evenly )?divisible.{0,60}?(?:replica|shard|core|worker)",
            r"not divisible by (?:the )?mesh dimension",
            r"`?batch_size`? .{0,30}?(?:is )?not divisible",
            r"number of samples (?P<batch>\d{1,9}) is not divisible by batch size",
        ),
        cause="The global batch (or the last, smaller one) cannot be split evenly over the replicas: it must be a multiple of their number.",
        details=("The batch is {batch}, the replicas are {replicas}.",),
        fix="""\
global_batch = PER_REPLICA_BATCH * strategy.num_replicas_in_sync       # best: 128 for each replica
dataset = dataset.batch(global_batch, drop_remainder=True)             # evaluation and predict too: pad, or drop the rest""",
        citations=(
            "tensorflow/tensorflow#27313",
            "tensorflow/tensorflow#32077",
            "google-research/bert#67",
        ),
        example="ValueError: train batch size 6 must be divisible by number of replicas 8",
    ),
    KnownError(
        id="E91",
        family="unknown-shape",
        phase=Phase.TRACING,
        kind=Kind.BROAD,
        patterns=(
            r"must be statically known",
            r"(?:must|should) (?:be|have) (?:a )?fully[ -]defined",
            r"as_list\(\) is not defined on an unknown TensorShape",
            r"Cannot take the length of [Ss]hape with unknown rank",
            r"'images' contains no shape",
            r"dimension of the inputs to a? ?`?Dense`? (?:layer )?should be defined",
            r"unknown (?:batch|rank|shape).{0,100}?(?:TPU|XLA|infeed)",
            r"(?:TPU|XLA|infeed).{0,100}?unknown (?:batch|rank|shape)",
            r"All (?:Tensors|tensors) outfed from TPU should preserve batch size dimension",
            r"requires? (?:a )?(?:fully )?(?:static|defined|known) (?:batch|shape)",
            r"expected to be batched, but batch size could not be found",
            r"[Uu]nable to (?:find|infer|determine) (?:the )?(?:dataset's )?batch size",
            r"[Cc]annot rebatch",
            r"Cannot iterate over a shape with unknown rank",
            r"Shape \(.{0,60}?\) is not fully defined",
            r"maximum_shape.{0,160}?can't multiply sequence by non-int of type 'NoneType'",
            r"Can't find a batch dimension",
            r"must have a fixed size for dimension \d{1,3} that is known",
            r"The batch size of the input dataset is unknown",
            r"returned by input_fn must have static shape",
            r"'?(?:images?|resized|padded)'? contains no shape",
            r"must have a statically[- ]known rank",
        ),
        places=(r"tpu_strategy\.py tpu_function\n[^\0]{0,200}maximum_shape",),
        cause="A tensor that goes to or comes from the TPU has a dimension that is not known when the program is built.",
        fix="""\
# the whole batch, training and evaluation alike, with a fixed size
dataset = dataset.batch(global_batch, drop_remainder=True)
# every other dimension too: pad to a fixed length, fix the image's size
dataset = dataset.padded_batch(global_batch, padded_shapes=([MAX_LENGTH], []), drop_remainder=True)
print(dataset.element_spec)            # no None may be left""",
        evidence="recalled",
        example="ValueError: The shape of the infeed must be statically known",
    ),
    KnownError(
        id="E180",
        family="infeed-shape",
        phase=Phase.EXECUTING,
        patterns=(
            r"Infeed shape mismatch for tuple element (?P<element>\d{1,4}); expected (?P<wanted>\[[\d,]{0,40}\]), got (?P<got>\[[\d,]{0,40}\])",
            r"Infeed shape mismatch",
        ),
        cause="A batch of another shape than the compiled step takes came to the TPU: examples padded to different lengths, or a smaller last batch (the shape declared in the input pipeline is not the one it gives).",
        details=("Element {element} should be {wanted} and is {got}.",),
        fix="""\
dataset = dataset.padded_batch(global_batch, padded_shapes=([MAX_LENGTH], []), drop_remainder=True)   # one length, cut and padded
x = tf.pad(x[:MAX], [[0, MAX - tf.minimum(tf.shape(x)[0], MAX)], [0, 0]])       # boxes, labels: a fixed maximum
# not set_shape() on what is longer: it declares, it does not cut; evaluation data too""",
        citations=("tensorflow/tpu#516",),
        example="OP_REQUIRES failed at transfer_ops.cc:49 : Invalid argument: Infeed shape mismatch for tuple element 65; expected [4,200], got [4,10000]",
    ),
    KnownError(
        id="E181",
        family="input-structure",
        phase=Phase.TRACING,
        patterns=(
            r"expects (?P<wanted>\d{1,3}) input\(s\), but it received (?P<got>\d{1,3}) input tensors",
            r"Missing data for input \"(?P<name>\w{1,60})\"",
            r"The structure of `inputs` doesn't match the expected structure",
        ),
        cause="What the dataset yields is not built like the model's inputs: another number of tensors, another name, a list where a dict is expected.",
        details=(
            "{got} came where {wanted} are expected.",
            "It is {name}.",
        ),
        fix="""\
print(dataset.element_spec, model.inputs)            # compare: (inputs, labels), the inputs as one tensor, a tuple or a dict by name
dataset = dataset.map(lambda a, b, y: ({"first": a, "second": b}, y))     # the names of keras.Input(name=)""",
        evidence="recalled",
        example="ValueError: Layer model expects 1 input(s), but it received 2 input tensors.",
    ),
    KnownError(
        id="E159",
        family="unequal-shapes-in-batch",
        phase=Phase.READING,
        patterns=(
            r"Cannot batch tensors with different shapes in component (?P<component>\d{1,3})\. First element had shape (?P<first>\[[\d,]{0,40}\]) and element \d{1,9} had shape (?P<other>\[[\d,]{0,40}\])",
            r"Cannot batch tensors with different shapes",
            r"Cannot add tensor to the batch: number of elements does not match",
        ),
        cause="The examples of one batch have different shapes (images of different sizes, texts of different lengths), and batch() wants them equal.",
        details=("Component {component} has {first} and {other}.",),
        fix="""\
image = tf.ensure_shape(tf.image.resize(image, [224, 224]), [224, 224, 3])       # before batch(): one size for all
dataset = dataset.padded_batch(global_batch, padded_shapes=([MAX_LENGTH], []), drop_remainder=True)    # texts: one length""",
        evidence="recalled",
        example="InvalidArgumentError: Cannot batch tensors with different shapes in component 0. First element had shape [480,640,3] and element 1 had shape [512,512,3].",
    ),
    KnownError(
        id="E87",
        family="recompiled",
        phase=Phase.COMPILING,
        level="info",
        patterns=(r"New input shapes; \(re-\)compiling",),
        cause="The step is compiled anew because a batch of another shape came, mostly the smaller last batch.",
        fix="""\
dataset = dataset.batch(global_batch, drop_remainder=True)     # one shape, compiled once
# with arrays: a number of examples that is a multiple of the batch size""",
        citations=("tensorflow/tensorflow#29825",),
        example="INFO:tensorflow:New input shapes; (re-)compiling: mode=train (# of cores 8), [TensorSpec(shape=(110,), dtype=tf.int32, name='core_id0')]",
    ),
)
