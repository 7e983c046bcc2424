# ruff: noqa: E501  (texts of other programs stay as they are)
"""Shapes that the compiler does not know, or that do not fit."""

from __future__ import annotations

from tpudiag.known_errors.model import Kind, KnownError, Phase

ERRORS = (
    KnownError(
        id="E85",
        family="dynamic-dimension",
        phase=Phase.COMPILING,
        patterns=(
            r"Asked to propagate a dynamic dimension from .{1,900}?metadata=\{op_type=\"(?P<op>\w{1,60})\"",
            r"Asked to propagate a dynamic dimension",
            r"not supported to have a dynamic dimension",
            r"Dynamic shape is not supported",
            r"Dynamic input dimension to reshape",
            r"both splitted and combined is not supported",
            r"(?P<op>\w{2,30}) op does not support bounded dynamic dimensions",
            r"does not support (?:bounded )?dynamic (?:dimension|shape|size)",
            r"dynamic sized slice with non-trivial stride",
            r"dynamic sized slice with non-trival stride",
            r"Fail to proof the equality of two dimensions at compile time",
            r"Buffers have different size at runtime",
            r"Dynamic (?:gather|scatter|transpose|broadcast|reduce\w{0,8}|pad\w{0,4}|window) .{0,20}?not supported",
            r"dynamic dimension.{0,200}?(?:not (?:yet )?(?:implemented|supported)|unsupported)",
            r"not (?:yet )?(?:implemented|supported).{0,40}?dynamic (?:dimension|shape)",
            r"PadToStatic.{0,80}?(?:failed|not supported)",
            r"Dynamic result type",
        ),
        cause="The compiler meets a dimension of which it knows only an upper bound: mostly the ragged last batch of an epoch (no drop_remainder), or a sequence or image whose size changes.",
        details=("It happened at {op}.",),
        fix="""\
# the whole batch, training and evaluation alike, with a fixed size
dataset = dataset.batch(global_batch, drop_remainder=True)
# every other dimension too: pad to a fixed length, fix the image's size
dataset = dataset.padded_batch(global_batch, padded_shapes=([MAX_LENGTH], []), drop_remainder=True)
print(dataset.element_spec)            # no None may be left""",
        useless="a smaller model or batch does not help; it fails whenever a shape is unknown",
        citations=(
            "tensorflow/tensorflow#31867",
            "tensorflow/tensorflow#35708",
            "tensorflow/tensorflow#33890",
            "tensorflow/tensorflow#41899",
            "tensorflow/tensorflow#42401",
            "tensorflow/tensorflow#68210",
            "googlecolab/colabtools#1491",
            "leondgarse/keras_cv_attention_models#54",
            "yingkaisha/keras-unet-collection#49",
        ),
        example="UnimplementedError: {{function_node __inference_train_function_66860}} Compilation failure: CustomCall is not supported to have a dynamic dimension",
    ),
    KnownError(
        id="E12",
        family="dynamic-dimension",
        phase=Phase.COMPILING,
        patterns=(
            r"dynamic dimension is decomposed into multiple output dynamic dimensions",
            r"XLA can't infer the output dimension",
        ),
        cause="A reshape splits a batch whose size the compiler does not know.",
        fix="""\
# the whole batch, training and evaluation alike, with a fixed size
dataset = dataset.batch(global_batch, drop_remainder=True)
# every other dimension too: pad to a fixed length, fix the image's size
dataset = dataset.padded_batch(global_batch, padded_shapes=([MAX_LENGTH], []), drop_remainder=True)
print(dataset.element_spec)            # no None may be left
model.compile(optimizer, loss)          # no jit_compile=True on TPU: XLA compiles there anyway
# a dilated convolution splits the batch (BatchToSpaceND): it needs a known batch above all""",
        citations=(
            "keras-team/keras-hub#443",
            "tensorflow/tensorflow#48602",
            "tensorflow/models#9590",
        ),
        example="""\
InvalidArgumentError: 9 root error(s) found.
  (0) INVALID_ARGUMENT: {{function_node __inference_train_function_16010}} Reshape's input dynamic dimension is decomposed into multiple output dynamic dimensions, but the constraint is ambiguous and XLA can't infer the output dimension %reshape.21 = f32[16,128,512]{2,1,0} reshape(f32[2048,512]{1,0} %transpose.6), metadata={op_type="Reshape"}.""",
        near_miss="InvalidArgumentError: Input to reshape is a tensor with 100 values, but the requested shape has 50",
    ),
    KnownError(
        id="E14",
        family="dynamic-dimension",
        phase=Phase.COMPILING,
        patterns=(r"Dynamic Spatial Convolution is not supported",),
        cause="A convolution gets a batch whose size the compiler does not know.",
        fix="""\
# the whole batch, training and evaluation alike, with a fixed size
dataset = dataset.batch(global_batch, drop_remainder=True)
# every other dimension too: pad to a fixed length, fix the image's size
dataset = dataset.padded_batch(global_batch, padded_shapes=([MAX_LENGTH], []), drop_remainder=True)
print(dataset.element_spec)            # no None may be left""",
        citations=(
            "tensorflow/tensorflow#45175",
            "tensorflow/tensorflow#48602",
        ),
        example="UnimplementedError: {{function_node __inference_train_function_38440}} Compilation failure: Dynamic Spatial Convolution is not supported: %convolution.2081 = f32[7,7,3,64]{3,2,1,0} convolution(f32[<=16,230,230,3]{3,2,1,0} %pad.5)",
        near_miss="Dynamic shape is not supported for now, for input: StatefulPartitionedCall/model/conv2d_3/BiasAdd:0",
    ),
    KnownError(
        id="E15",
        family="dynamic-dimension",
        phase=Phase.COMPILING,
        patterns=(r"Dynamic concatenation is not supported yet",),
        cause="A concatenation gets tensors whose size the compiler does not know (TensorFlow 2.1).",
        fix="""\
# the whole batch, training and evaluation alike, with a fixed size
dataset = dataset.batch(global_batch, drop_remainder=True)
# every other dimension too: pad to a fixed length, fix the image's size
dataset = dataset.padded_batch(global_batch, padded_shapes=([MAX_LENGTH], []), drop_remainder=True)
print(dataset.element_spec)            # no None may be left
# and a TensorFlow later than 2.1""",
        citations=("tensorflow/tensorflow#36194",),
        example='UnimplementedError: {{function_node __inference_distributed_function_299068}} Compilation failure: Dynamic concatenation is not supported yet: %reshape.3993 = s32[832]{0} reshape(s32[2,416]{1,0} %reshape.621), metadata={op_type="Reshape" op_name="Reshape_1636"}',
        near_miss="Concatenation of dynamic tensors is supported since this version.",
    ),
    KnownError(
        id="E16",
        family="dynamic-dimension",
        phase=Phase.COMPILING,
        patterns=(
            r"Invalid shape broadcast from (?P<source>\w{1,8}\[[\d,<=]{0,60}<=\d{1,12}[\d,<=]{0,60}\])(?: to (?P<target>\[[\d,<=]{0,60}\]))?",
        ),
        cause="A dimension of which only the upper bound is known (<=N) meets a fixed one.",
        details=("XLA was asked to make {target} of {source}.",),
        fix="""\
# give the tensor its full, fixed size before it meets the other one
padded = tf.pad(values, [[0, MAX_LENGTH - tf.shape(values)[0]]])
padded = tf.ensure_shape(padded, [MAX_LENGTH])""",
        citations=("tensorflow/tensorflow#122055",),
        example="InvalidArgumentError: Invalid shape broadcast from f64[<=96] to [44]",
        near_miss="ValueError: Invalid shape broadcast from f64[96] to [44]",
    ),
    KnownError(
        id="P151",
        family="dynamic-dimension",
        phase=Phase.COMPILING,
        level="warning",
        patterns=(r"TPU has inputs with dynamic shapes",),
        cause="A remark of TPUStrategy, no failure: the listed inputs have sizes that are not known beforehand (None), so the step is compiled for a largest size and again for new ones; a scalar among them (`shape=()`) means nothing.",
        fix="""\
dataset = dataset.batch(global_batch, drop_remainder=True)      # the first None: the batch
dataset = dataset.padded_batch(global_batch, padded_shapes=([MAX_LENGTH], []), drop_remainder=True)      # other ones: one length, one image size
print(dataset.element_spec)                                     # no None left: the remark goes, and steps get faster""",
        evidence="recalled",
        example="WARNING:tensorflow:TPU has inputs with dynamic shapes: [<tf.Tensor 'Const:0' shape=() dtype=int32>, <tf.Tensor 'cond/Identity:0' shape=(None, 128) dtype=int64>]",
        near_miss="the TPU has inputs of fixed shapes",
    ),
    KnownError(
        id="E84",
        family="dynamic-dimension",
        phase=Phase.COMPILING,
        kind=Kind.BROAD,
        patterns=(
            r"(?:error|fail|invalid|cannot|refus).{0,160}?dynamic dimension",
            r"(?:error|fail|invalid|cannot|refus).{0,160}?bounded dynamic",
            r"(?:error|fail|invalid|cannot|refus).{0,160}?dynamic shape",
            r"(?:error|fail|invalid|cannot|refus).{0,160}?dynamic-reshape",
            r"dimensions? must not be dynamic",
            r"dynamic (?:shape|size|dimension)s? (?:is|are) not (?:yet )?(?:supported|implemented)",
        ),
        cause="A shape that is not known before the step runs is in play, and TPU programs need fixed shapes.",
        fix="""\
# the whole batch, training and evaluation alike, with a fixed size
dataset = dataset.batch(global_batch, drop_remainder=True)
# every other dimension too: pad to a fixed length, fix the image's size
dataset = dataset.padded_batch(global_batch, padded_shapes=([MAX_LENGTH], []), drop_remainder=True)
print(dataset.element_spec)            # no None may be left""",
        evidence="recalled",
        example="InternalError: some pass failed on a dynamic dimension",
        near_miss="the profiler supports dynamic shape analysis",
        yields_to=("E68", "P151"),
    ),
    KnownError(
        id="E13",
        family="constant-shape",
        phase=Phase.COMPILING,
        patterns=(
            r"with op (?P<op>\w{1,60}?) must be a compile-time constant",
            r"XLA compilation requires that operator arguments that represent shapes",
            r"must be a compile-time constant",
            r"must be compile-time constant",
            r"must be (?:a )?compile time constant",
            r"could not be evaluated at compile time",
            r"is not a compile-time constant",
            r"XLA.{0,80}?requires? .{0,40}?constant (?:shape|size|argument)",
            r"TensorArray must have (?:a )?constant size",
            r"XLA can't (?:deduce compile time constant|use dynamic begin values)",
            r"(?:concat/split|Split/Concat) ops are supported only for [Rr]anked",
        ),
        cause="A size or shape inside the compiled step depends on data, and XLA needs it when it compiles.",
        details=("The operation is {op}.",),
        fix="""\
mask = tf.sequence_mask(lengths, maxlen=128)     # a Python number, not a tensor
images = tf.image.resize(images, [224, 224])     # the same for sizes; pad to them in tf.data
# ragged or masked (boolean_mask, RaggedTensor) in a loss: as long as before, and weighed
loss = tf.reduce_sum(loss_of_each * mask) / tf.reduce_sum(mask)""",
        citations=(
            "tensorflow/tensorflow#122057",
            "tensorflow/tensorflow#51693",
            "tensorflow/tensorflow#39904",
            "tensorflow/tensorflow#55973",
            "huggingface/transformers#14058",
            "huggingface/transformers#11601",
        ),
        evidence="reproduced",
        example="""\
InvalidArgumentError: Input 1 to node `SequenceMask/Range` with op Range must be a compile-time constant.

XLA compilation requires that operator arguments that represent shapes or dimensions be evaluated to concrete values at compile time. This error means that a shape or dimension argument could not be evaluated at compile time.""",
        near_miss="dimension: The dimension along which to sort, known when it compiles.",
    ),
    KnownError(
        id="E86",
        family="tensor-list-size",
        phase=Phase.COMPILING,
        patterns=(
            r"XLA compilation requires a fixed tensor list size",
            r"Set the max number of elements",
            r"Cannot create a gradient accumulator for tensor .{1,200}? inside XLA while_loop",
            r"because maximum_iterations was not (?:passed|statically known)",
            r"GetMaxSizeFromNestedMaximumIterations",
            r"TensorList.{0,200}?(?:must be|requires?|unknown) .{0,30}?(?:static|fixed|constant|shape)",
        ),
        cause="A TensorArray or a loop grows without a fixed bound; the compiled step needs its largest size beforehand.",
        fix="""\
values = tf.TensorArray(tf.float32, size=MAX_STEPS, dynamic_size=False, element_shape=[batch, width])
tf.while_loop(cond, body, loop_vars, maximum_iterations=MAX_STEPS)    # a Python number: the fixed bound
keras.layers.LSTM(units, unroll=True)                                # or a fixed sequence length""",
        citations=(
            "tensorflow/tensorflow#108087",
            "tensorflow/tensorflow#18102",
        ),
        example="InvalidArgumentError: XLA compilation requires a fixed tensor list size. Set the max number of elements. This could also happen if you're using a TensorArray in a while loop that does not have its maximum_iteration set",
    ),
)
