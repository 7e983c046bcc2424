# ruff: noqa: E501  (what is pasted stays in one piece)
"""What an operation that an error names mostly refuses."""

from __future__ import annotations

import re

from .meaning import Reading

_NAMED = (
    re.compile(r"\[Op:(\w{2,60})\]"),
    re.compile(r"=([A-Z]\w{2,40})\[\w{1,20}="),
    re.compile(r"\(op:'(\w{2,60})'\)"),
    re.compile(r"op_type=\"(\w{2,40})\""),
    re.compile(r"withop(\w{2,60})must"),
    re.compile(r"\{\{node(?:[\w.^-]{1,60}/){0,12}([A-Z]\w{2,60}?)(?:_\d{1,4})?\}\}"),
    re.compile(r"OP_REQUIRESfailedat(\w{3,40})_ops?\.cc"),
)
_REFUSALS: tuple[tuple[str, str, str], ...] = (
    (
        r"ParseExample\w*|ParseSingleExample|ParseSequenceExample\w*|example_parsing",
        "parses records: the feature's name, type or length in the specification is not that of the records",
        "example = tf.train.Example.FromString(next(iter(tf.data.TFRecordDataset(path))).numpy()); print(example)      # what the records hold",
    ),
    (
        r"Decode(?:Jpeg|Png|Image|Bmp|Gif|AndCropJpeg)|ExtractJpegShape|decode_image",
        "decodes an image: the bytes are none (a path in place of its content, base64, raw pixels, a damaged or empty file)",
        "data = tf.io.read_file(path); image = tf.io.decode_image(data, channels=3, expand_animations=False)",
    ),
    (
        r"DecodeRaw|decode_raw",
        "reads bytes as numbers: their length is no multiple of the type's size, so they were written as another type",
        "tf.io.decode_raw(data, tf.uint8)      # the type that tobytes() had",
    ),
    (
        r"DecodeCSV|decode_csv|StringToNumber",
        "reads text as numbers: a field is empty, quoted, a header, or of another type or number than record_defaults",
        "dataset = dataset.skip(1)      # the header; record_defaults=[[0.0]] * COLUMNS for empty fields",
    ),
    (
        r"DecodeWav|decode_wav|AudioSpectrogram",
        "decodes audio: no 16-bit PCM wave file, or another number of channels or samples",
        "audio, rate = tf.audio.decode_wav(data, desired_channels=1, desired_samples=SAMPLES)",
    ),
    (
        r"IteratorGetNext\w*|MultiDeviceIteratorGetNextFromShard|IteratorGetNextSync|OneShotIterator|MakeIterator",
        "gets the next element: what failed is in the data pipeline, not in the model",
        "for number, element in enumerate(dataset): pass      # on a CPU: which element fails",
    ),
    (
        r"(?:Eager)?PyFunc\w*|PyFuncStateless|py_func",
        "runs your Python function: it raised, or returned another type or shape than Tout says",
        "print(fn(*next(iter(dataset_before_the_map))))      # the function itself, with one element",
    ),
    (
        r"(?:Tensor(?:Slice)?|Generator|Parallel\w{0,12}|Map|Batch|PaddedBatch\w*|Shuffle|Zip|Interleave|Prefetch|Model|Options|Rebatch|AutoShard)Dataset\w*",
        "is a part of the data pipeline: what its function gives does not fit its specification, or elements differ",
        "print(dataset.element_spec); next(iter(dataset))      # part by part, on a CPU",
    ),
    (
        r"\w*Gather\w*|ResourceGather\w*|EmbeddingLookup\w*|gather",
        "looks up rows by index: an index is negative or not below the number of rows (a vocabulary smaller than the largest token or class id)",
        "print(tf.reduce_max(ids), embedding.input_dim)      # input_dim = largest id + 1; tf.clip_by_value(ids, 0, SIZE - 1)",
    ),
    (
        r"Scatter\w*|TensorScatter\w*|ResourceScatter\w*|scatter\w*",
        "writes rows by index: an index is out of range, or updates have another shape than the rows",
        "print(tf.reduce_max(indices), tensor.shape, updates.shape)",
    ),
    (
        r"SparseSoftmaxCrossEntropy\w*|sparse_xent",
        "takes class numbers: a label is negative or not below the number of classes (last layer), or labels have columns",
        "print(tf.reduce_min(labels), tf.reduce_max(labels), model.output_shape)      # Dense(largest label + 1); labels from 0",
    ),
    (
        r"SoftmaxCrossEntropyWithLogits|xent",
        "takes labels with one column for each class, of the logits' shape and type",
        "labels = tf.one_hot(labels, CLASSES)      # or a sparse_ loss for class numbers",
    ),
    (
        r"OneHot|one_hot",
        "takes indices of an integer type, and a depth that is known when the step is compiled",
        "tf.one_hot(tf.cast(labels, tf.int32), depth=CLASSES)",
    ),
    (
        r"Conv[123]D\w*|DepthwiseConv2d\w*|conv",
        "convolves: the input's channels do not fit the kernel's, the layout is NCHW, or the image is smaller than the kernel",
        "x = tf.transpose(x, [0, 2, 3, 1])      # channels last; image.shape[-1] == what the model was built for",
    ),
    (
        r"(?:Max|Avg)Pool\w*|pooling",
        "pools: the map became smaller than the window, so the images are too small for so many stages",
        'keras.layers.MaxPooling2D(2, padding="same")      # or larger images, fewer stages',
    ),
    (
        r"MatMul|BatchMatMul\w*|Einsum|XlaDot\w*|Tensordot|matmul|batch_matmul\w*|einsum",
        "multiplies matrices: inner sizes or types differ",
        "print(a.shape, b.shape, a.dtype, b.dtype)      # columns of a = rows of b; tf.cast to one type",
    ),
    (
        r"Concat(?:V2)?|concat",
        "joins tensors: all other axes have to be equal, and the types one",
        "print([x.shape for x in parts])      # resize or pad the others; tf.cast to one type",
    ),
    (
        r"Pack|Unpack|Stack|pack|unpack",
        "stacks tensors of one shape: one of them differs",
        "print([x.shape for x in parts])      # pad or resize to one shape first",
    ),
    (
        r"Split\w*|split",
        "splits an axis: its size is no multiple of the number of parts",
        "x = x[:, : size // parts * parts]      # or another number of parts",
    ),
    (
        r"StridedSlice\w*|Slice|slice|strided_slice",
        "takes a slice: the index or size is past the end of an axis, or the tensor has fewer axes",
        "print(x.shape)      # before the slice; tf.pad to the size that is taken",
    ),
    (
        r"Reshape|reshape",
        "keeps the number of values: the new shape holds another number",
        "x = tf.reshape(x, [-1, *SHAPE_OF_ONE_EXAMPLE])",
    ),
    (
        r"Transpose|transpose",
        "permutes all axes: the permutation has another length than the tensor has axes",
        "print(len(x.shape))      # as many numbers in perm",
    ),
    (
        r"Squeeze|ExpandDims|squeeze|expand_dims",
        "removes or adds an axis of size 1: that axis is not there or not 1",
        "print(x.shape)      # the axis by number: tf.squeeze(x, axis=-1)",
    ),
    (
        r"Resize\w+|CropAndResize\w*|resize\w*|crop_and_resize",
        "resizes images: it wants 4 axes (or 3 through tf.image.resize), a static size, and boxes in 0 to 1",
        "image.set_shape([None, None, 3]); image = tf.image.resize(image, [HEIGHT, WIDTH])",
    ),
    (
        r"Pad(?:V2)?|MirrorPad|pad",
        "pads: paddings need one row for each axis, and no negative number (an example longer than the target)",
        "x = x[:LENGTH]; x = tf.pad(x, [[0, LENGTH - tf.shape(x)[0]], [0, 0]])",
    ),
    (
        r"TopK\w*|InTopK\w*|topk|in_topk",
        "takes the k largest: the last axis holds fewer than k",
        "k = min(k, CLASSES)      # top-5 of fewer than five classes",
    ),
    (
        r"NonMaxSuppression\w*|CombinedNonMaxSuppression|non_max_suppression",
        "wants boxes [N, 4] and scores [N] of one N; on a TPU a padded form of fixed size",
        "tf.image.non_max_suppression_padded(boxes, scores, max_output_size=N, pad_to_max_output_size=True)",
    ),
    (
        r"CTCLoss\w*|ctc\w*",
        "wants labels below the number of classes, label lengths not above those of the logits, and no empty label",
        "tf.nn.ctc_loss(dense_labels, logits, label_length, logit_length, blank_index=CLASSES - 1)      # dense labels compile for a TPU",
    ),
    (
        r"LookupTable\w*|HashTable\w*|MutableHashTable\w*|lookup_table\w*",
        "uses a table, which lives on the host: not initialised, made in another graph, or used in the step",
        "dataset = dataset.map(lambda x, y: (table.lookup(x), y))      # on the host, before the step",
    ),
    (
        r"RestoreV2|SaveV2|MergeV2Checkpoints|save_restore\w*",
        "reads or writes a checkpoint: a name, shape or type is not in it, or the path cannot be reached from where the operation runs",
        "for name, shape in tf.train.list_variables(path): print(name, shape)",
    ),
    (
        r"(?:Assign|Read)\w*VariableOp|VarHandleOp|ResourceApply\w*|AssignSubVariableOp|resource_variable",
        "uses a variable: not initialised, of another shape, or made on another device or outside the strategy's scope",
        "with strategy.scope(): model = make_model(); optimizer = make_optimizer()",
    ),
    (
        r"CollectiveReduce\w*|CollectiveGather\w*|CrossReplicaSum|AllReduce|NcclAllReduce|XlaAllReduce|collective",
        "adds up over replicas: shapes or types differ between replicas, or one of them does not take part",
        "dataset = dataset.batch(global_batch, drop_remainder=True)      # the same in every replica, no reduction under an `if`",
    ),
    (
        r"TensorList\w*|TensorArray\w*|list_kernels",
        "is a list of tensors of a loop: elements differ in shape, or its size is not known when the step is compiled",
        "array = tf.TensorArray(tf.float32, size=STEPS, element_shape=SHAPE)",
    ),
    (
        r"(?:Stateless)?While|If|StatelessIf|Case|while",
        "is a loop or branch: what comes out has another shape or type than what goes in",
        "x.set_shape(SHAPE); tf.cast in both branches      # the same shapes and types after each turn",
    ),
    (
        r"Range|Fill|LinSpace|BroadcastTo|sequence",
        "makes a tensor of a size that is negative, not known when the step is compiled, or not of one type",
        "tf.range(MAX)      # a Python number; mask the rest",
    ),
    (
        r"Where|Unique\w*|SetDiff\w*|boolean_mask|DynamicPartition|where",
        "gives as many values as the data decides, which a compiled step cannot have",
        "x = tf.where(mask, x, 0.0)      # three arguments: the shape stays; tf.where(mask) alone belongs into dataset.map",
    ),
    (
        r"BiasAdd\w*|bias",
        "adds a bias: its length is not the last axis (channels first, or weights of another width)",
        "print(x.shape, layer.bias.shape)",
    ),
    (
        r"FusedBatchNorm\w*|BatchNorm\w*|fused_batch_norm",
        "normalises channels: their number is not that of the layer, or the batch of a replica is empty",
        "print(x.shape, layer.gamma.shape)",
    ),
    (
        r"Cast|cast",
        "changes the type: from a string, or a type that the device does not have",
        "x = tf.strings.to_number(x, tf.float32)      # text to numbers, in dataset.map",
    ),
    (
        r"(?:Add|Sub|Mul|RealDiv|Maximum|Minimum|SquaredDifference|Equal|Less|Greater)(?:V2|Equal)?|cwise",
        "combines two tensors element by element: their shapes or types do not fit",
        "print(a.shape, b.shape, a.dtype, b.dtype)      # tf.cast to one type, tf.expand_dims for the missing axis",
    ),
    (
        r"CheckNumerics\w*",
        "found NaN or an infinite value",
        "keras.optimizers.Adam(1e-4, clipnorm=1.0)      # a smaller rate; log(x + 1e-7); no division by 0",
    ),
    (
        r"Assert|assert|logging",
        "checked a value: your own check, a metric's (predictions in 0 to 1, labels below the classes), or a parser's of the records",
        "tf.config.run_functions_eagerly(True)      # on a CPU, without the strategy: names the line and prints the values",
    ),
    (
        r"TPU(?:Compile\w*|Execute\w*|Replicate\w*|PartitionedCall|Ordinal\w*)|_TPU\w+|TPUReplicateMetadata",
        "compiles or runs the step on the TPU: the reason is the sentence before it",
        "tpudiag check train.py --for v5e-8      # compiles the step with no TPU, and names the line",
    ),
    (
        r"(?:Xla)?(?:Host)?(?:Send|Recv)\w*|_Send|_Recv|XlaHostCompute",
        "moves a tensor between host and TPU inside the step: something in it runs on the host (a summary, print, a string)",
        'grep -nE "tf.print|tf.summary|py_function|numpy_function|string" train.py',
    ),
)


def read(text: str, begin: int) -> Reading | None:
    """What the operation that an error names mostly refuses; only operations that are known."""
    for form in _NAMED:
        for told in form.finditer(text, begin):
            if refused := _refused(told[1]):
                cause, fix = refused
                return Reading(f"The operation {told[1]} {cause}.", fix, guess=True)
    return None


def refusal_of(operation: str) -> str:
    """What an operation, or the last part of a node's name, mostly refuses; empty if not known."""
    kind = re.sub(r"_\d{1,4}$", "", operation.rsplit("/", 1)[-1])
    refused = _refused(kind)
    return f"The operation {kind} {refused[0]}." if refused else ""


def _refused(operation: str) -> tuple[str, str] | None:
    """What is known of an operation: what it does and refuses, and what can be pasted."""
    known = ((cause, fix) for kinds, cause, fix in _REFUSALS if re.fullmatch(kinds, operation))
    return next(known, None)
