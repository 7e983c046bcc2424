# ruff: noqa: E501  (what is pasted stays in one piece)
"""An operation that a compiled step cannot have as it is: what is written in its place."""

from __future__ import annotations

import re

from .meaning import Reading

_Row = tuple[str, str, str]
_BY_DATA: _Row = (
    r"Where|Unique\w*|SetDiff1D|ListDiff|\w*BooleanMask\w*|boolean_mask|DynamicPartition|\w+SetOperation|SetSize",
    "gives as many values as the data decides, which no compiled step can hold",
    "x = tf.where(mask, x, 0.0)      # three arguments: the shape stays; tf.where(mask), tf.boolean_mask and tf.unique belong into dataset.map\n"
    "loss = tf.reduce_sum(loss * mask) / tf.reduce_sum(mask)      # a masked mean in place of boolean_mask",
)
_CONSTANT: tuple[_Row, ...] = (
    (
        r"Range|LinSpace",
        "counts up to a number that the data decides (mostly tf.shape(x)[i], a length, a step; also `for i in range(n)` over a tensor n)",
        "positions = tf.range(x.shape[1])      # x.shape (numbers), not tf.shape(x) (a tensor); padded_batch gives it one length\n"
        "mask = tf.range(MAX_LENGTH)[tf.newaxis] < lengths[:, tf.newaxis]      # lengths of the data: a fixed range, and a mask\n"
        "i = 0\nwhile i < n: ...; i += 1      # a loop of n turns, n a tensor: while compiles where range(n) does not",
    ),
    (
        r"Fill|ZerosLike|Empty|BroadcastTo|(?:Stateless)?(?:Random|Truncated|Parameterized)\w+|Multinomial",
        "makes a tensor of a shape that the data decides",
        "noise = tf.random.normal(x.shape)      # x.shape (numbers), not tf.shape(x); zeros, fill and broadcast_to likewise\n"
        "dataset = dataset.batch(global_batch, drop_remainder=True)      # then x.shape[0] is a number too",
    ),
    (
        r"Reshape",
        "is given a new shape that the data decides",
        "x = tf.reshape(x, [x.shape[0], -1])      # x.shape (numbers) and one -1, not tf.shape(x) or a computed tensor",
    ),
    (
        r"Tile|Repeat",
        "is told by a tensor how often to repeat",
        "x = tf.tile(x, [1, N, 1])      # Python numbers (x.shape[1], a configuration), not tf.shape(x)[1]; broadcasting needs no tile at all",
    ),
    (
        r"StridedSlice|Slice|DynamicSlice",
        "cuts a piece whose size the data decides (its start may be a tensor, its size may not)",
        "x = tf.slice(x, [start, 0], [LENGTH, x.shape[1]])      # a size of fixed numbers at any start\n"
        "x = tf.where(tf.range(x.shape[0])[:, None] < n, x, 0.0)      # or the whole, masked, in place of x[:n]",
    ),
    (
        r"TensorStridedSliceUpdate|(?:Resource)?StridedSliceAssign|DynamicUpdateSlice",
        "writes a piece at a place that the data decides (a cache of keys and values, a step of decoding)",
        "x = tf.tensor_scatter_nd_update(x, [[index]], [row])      # a whole row at any place; keras.ops.slice_update, jax.lax.dynamic_update_slice likewise\n"
        "x = tf.where(tf.range(x.shape[0])[:, None] == index, row, x)      # or by a mask, in place of x[index:index + 1].assign(row)",
    ),
    (
        r"Pad(?:V2)?|MirrorPad",
        "pads by as much as the data decides",
        "dataset = dataset.padded_batch(global_batch, padded_shapes=([MAX_LENGTH], []), drop_remainder=True)      # pad on the host, before the step",
    ),
    (
        r"Resize\w+|CropAndResize|ScaleAndTranslate\w*",
        "resizes to a size that the data decides",
        "x = tf.image.resize(x, [224, 224])      # numbers: x.shape[1:3] of another layer, not tf.shape(x)[1:3]",
    ),
    (
        r"OneHot|TopK(?:V2)?|\w*SegmentSum\w*|\w*SegmentM\w+|\w*Bincount|Split(?:V)?|LeftShift",
        "needs its size (depth, k, num_segments, parts) as a number",
        "tf.one_hot(labels, depth=10); tf.math.top_k(x, k=5); tf.math.unsorted_segment_sum(x, ids, num_segments=100)      # Python numbers",
    ),
    (
        r"TensorList\w*|TensorArray\w*|EmptyTensorList",
        "is a list whose length the data decides",
        "rows = tf.TensorArray(tf.float32, size=STEPS, element_shape=[BATCH, WIDTH])      # a Python number, no dynamic_size=True\n"
        "keras.layers.RNN(cell, unroll=False); dataset with sequences of one length      # padded_batch to MAX_LENGTH",
    ),
    (
        r"Transpose|ExpandDims|Concat(?:V2)?|Cumsum|ArgM\w+|Mean|Sum|Max|Min|Prod|All|Any|Reverse(?:V2)?|Roll|GatherV2|Squeeze",
        "needs its axis (permutation) as a number",
        "tf.reduce_mean(x, axis=-1); tf.transpose(x, [0, 2, 1])      # Python numbers: tf.rank(x) - 1 is a tensor, -1 or len(x.shape) - 1 is none",
    ),
)
_UNSUPPORTED: tuple[_Row, ...] = (
    (
        r"ImageProjectiveTransform\w*|Adjust(?:Hue|Contrast|Saturation)\w*|RGBToHSV|HSVToRGB|SampleDistortedBoundingBox\w*|RandomCrop|StatelessRandom(?:GetKeyCounter\w*|UniformV2|UniformFullInt\w*|UniformIntV2|NormalV2)|RngReadAndSkip|StatefulUniform\w*|ExtractGlimpse\w*|DrawBoundingBoxes\w*",
        "comes from image augmentation (a Random* layer, tf.image)",
        "augment = keras.Sequential([keras.layers.RandomFlip(), keras.layers.RandomRotation(0.1)])\n"
        "dataset = dataset.map(lambda x, y: (augment(x, training=True), y), num_parallel_calls=tf.data.AUTOTUNE)      # and take them out of the model",
    ),
    (
        r"Decode\w+|Encode\w+|ReadFile|WriteFile|MatchingFiles|Parse\w+|String\w+|Regex\w+|AsString|ReduceJoin\w*|Substr|UnicodeD?\w*|StaticRegex\w+|LookupTable\w+|\w*HashTable\w*|MutableHashTable\w*|Bucketize|EditDistance|Sentencepiece\w*|WordpieceTokenize\w*|\w*Iterator\w*|\w+Dataset\w*",
        "works on text, files, tables or records, which only the host has",
        "dataset = dataset.map(lambda x, y: (preprocess(x), y), num_parallel_calls=tf.data.AUTOTUNE)      # lookup, decoding, tokenizing: on the host\n"
        "dataset = dataset.map(lambda x: {k: v for k, v in x.items() if v.dtype != tf.string})            # and no strings into the step",
    ),
    (
        r"(?:Eager)?PyFunc\w*|NumpyFunc\w*",
        "runs your Python function (tf.py_function, tf.numpy_function, a metric or loss written in NumPy or scikit-learn)",
        "# written in tf operations (tf.reduce_sum, tf.math...) it compiles; what must stay Python works on the results, outside the step:\n"
        "predictions = model.predict(dataset); score = sklearn.metrics.roc_auc_score(labels, predictions)\n"
        "keras.metrics.AUC()                                     # a metric of Keras in place of one of your own",
    ),
    (
        r"Print(?:V2)?|Assert\w*|CheckNumerics\w*|DebugNumericSummary\w*|\w*Summary\w*|TensorSummary\w*",
        "writes (a print, an assertion, a summary) from within the step",
        "loss = train_step(batch); print(float(loss))      # return what is to be seen; tf.print, tf.summary, tf.debugging outside of strategy.run",
    ),
    (
        r"Ragged\w+",
        "is of ragged tensors",
        "dataset = dataset.map(lambda x, y: (x.to_tensor(shape=[None, MAX_LENGTH]), y))      # dense and of one length before the step",
    ),
    (
        r"Sparse(?!Softmax|Segment|ApplyA|ApplyM|ApplyR|ApplyF)\w+|DeserializeSparse\w*|SerializeSparse\w*",
        "is of sparse tensors",
        "dataset = dataset.map(lambda x, y: (tf.sparse.to_dense(x), y))      # dense before the step; tf.nn.embedding_lookup in place of embedding_lookup_sparse",
    ),
    (
        r"\w*Bincount|HistogramFixedWidth|UniqueWithCounts\w*|ConfusionMatrix\w*",
        "counts values",
        "counts = tf.reduce_sum(tf.one_hot(tf.reshape(x, [-1]), N), axis=0)      # in place of tf.math.bincount",
    ),
    (
        r"NonMaxSuppression\w*|CombinedNonMaxSuppression|GenerateBoundingBoxProposals|CropAndResize\w*",
        "picks boxes, as many as the data decides",
        "keep, valid = tf.image.non_max_suppression_padded(boxes, scores, max_output_size=100, pad_to_max_output_size=True)      # a fixed number\n"
        "# or outside the step, on what it returned",
    ),
    (
        r"CTC\w+",
        "computes or decodes CTC from sparse labels",
        "loss = tf.nn.ctc_loss(labels, logits, label_length, logit_length, logits_time_major=False, blank_index=CLASSES - 1)      # dense labels compile\n"
        "# decoding (ctc_greedy_decoder, ctc_beam_search_decoder): outside the step, on the CPU",
    ),
    (
        r"CudnnRNN\w*|NcclAllReduce|_?Cudnn\w+|_?MklNative\w+|\w*Cuda\w*",
        "exists on GPUs only",
        "keras.layers.LSTM(64, use_cudnn=False)      # the plain layer (Keras 3 takes cuDNN's where there is a GPU), no CuDNNLSTM; tf.distribute.TPUStrategy in place of a strategy with NCCL\n"
        "model.compile(optimizer, loss, jit_compile=False)      # on a GPU: XLA has no cuDNN kernels",
    ),
    (
        r"(?:Resource)?(?:Sparse)?Apply\w+",
        "is an optimizer's update in one piece that the TPU has no kernel for (Adam with amsgrad, a centred RMSprop, Proximal, a rare optimizer)",
        "optimizer = tf.keras.optimizers.Adam(1e-3, amsgrad=False)      # or another optimizer: SGD, Adam, RMSprop, Adagrad, Ftrl have kernels\n"
        'pip install "tensorflow>=2.11"                                 # its Keras optimizers (and Keras 3) compute updates by plain operations, amsgrad too',
    ),
    (
        r"MaxPoolWithArgmax|FractionalMaxPool\w*|FractionalAvgPool\w*|Dilation2D\w*",
        "pools in a way that the TPU's compiler lacks",
        'x = tf.nn.max_pool2d(x, 2, 2, "SAME")      # without the argmax; unpooling: keras.layers.UpSampling2D or Conv2DTranspose',
    ),
    (
        r"(?:Batch)?(?:Matrix\w+|LogMatrix\w+|Lu|Eig|SelfAdjointEig\w*|MatrixExponential)|Igamma\w*|RandomGamma\w*|RandomPoisson\w*|RandomBinomial\w*|Polygamma|Zeta",
        "is linear algebra or a distribution that this release does not compile for a TPU",
        "tf.config.set_soft_device_placement(True)      # this operation alone on the host; or before the step, in dataset.map; a newer TensorFlow compiles more of them",
    ),
    (
        r"\w+CandidateSampler|ComputeAccidentalHits",
        "draws the classes of a sampled loss (tf.nn.sampled_softmax_loss, nce_loss)",
        "loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)      # all classes: one matrix product, which the TPU is made for\n"
        "sampled = tf.random.log_uniform_candidate_sampler(labels, 1, NUM_SAMPLED, True, CLASSES)      # or drawn in dataset.map, and given as\n"
        "tf.nn.sampled_softmax_loss(..., sampled_values=sampled, remove_accidental_hits=False)",
    ),
    (
        r"Resize(?:Area|Bicubic|BicubicGrad|NearestNeighborGrad)|ScaleAndTranslate\w*",
        "resizes in a way that has no compiled kernel (area, bicubic, lanczos; in older releases the gradient of nearest)",
        'x = keras.layers.UpSampling2D(2, interpolation="bilinear")(x)      # or Conv2DTranspose; tf.image.resize(x, SIZE, method="bilinear")\n'
        "x = tf.repeat(tf.repeat(x, 2, axis=1), 2, axis=2)                   # nearest, by a whole number; data: resize in dataset.map",
    ),
    (
        r"MirrorPad(?:Grad)?",
        "pads by reflection, which not every release compiles with its gradient",
        "x = tf.concat([tf.reverse(x[:, 1 : P + 1], [1]), x, tf.reverse(x[:, -P - 1 : -1], [1])], axis=1)      # the same from slices; once more for axis 2\n"
        "x = tf.pad(x, [[0, 0], [P, P], [P, P], [0, 0]])                     # or zeros; a newer TensorFlow compiles MirrorPadGrad",
    ),
    (
        r"SparseSegment\w*|SparseSoftmax",
        "works on as many ids or entries as the data holds (embedding_lookup_sparse, a sparse softmax)",
        "rows = tf.gather(table, ids); x = tf.reduce_sum(rows * mask[..., None], axis=1)      # ids padded to one length, and a mask\n"
        "weights = tf.nn.softmax(tf.where(mask, logits, -1e9))                                   # dense and masked in place of sparse",
    ),
    (
        r"RandomShuffle|StatelessShuffle|RandomIndexShuffle",
        "shuffles",
        "x = tf.gather(x, tf.argsort(tf.random.uniform([x.shape[0]])))      # the same by sorting; data: dataset.shuffle before the step",
    ),
    (
        r"AudioSpectrogram|Mfcc|AudioMicrofrontend",
        "computes features of sound, which belong before the step",
        "dataset = dataset.map(lambda wave, y: (features(wave), y), num_parallel_calls=tf.data.AUTOTUNE)      # before the step; tf.signal.stft compiles",
    ),
    (
        r"(?:Block)?LSTM(?:Block)?\w*|GRUBlockCell\w*",
        "is a fused recurrent cell for the CPU (LSTMBlockCell, LSTMBlockFusedCell, GRUBlockCell)",
        "x = keras.layers.LSTM(WIDTH, return_sequences=True)(x)      # or tf.compat.v1.nn.rnn_cell.LSTMCell",
    ),
    (
        r"\w*Queue(?:V2)?|Queue\w+|Barrier\w*|\w*MapStage|\w*MapUnstage\w*|Stage|Unstage|\w*Reader(?:V2)?|Reader\w+|RecordInput|\w*Accumulator\w*|Batch|Unbatch|Timestamp",
        "is a queue, reader or clock of the host",
        "dataset = tf.data.TFRecordDataset(files).map(parse).batch(global_batch, drop_remainder=True)      # data come through tf.data, not from within the step",
    ),
    (
        r"Quantized\w+|UniformQuantize\w*|UniformDequantize|Requantiz\w+|FakeQuantWithMinMaxVarsPerChannel\w*",
        "is of a quantised model",
        "model = build_model()      # trained in float32 or bfloat16 on the TPU; quantised afterwards, on the CPU (tf.lite.TFLiteConverter)",
    ),
    (
        r"UnravelIndex|NthElement|IsotonicRegression|KMC2\w+|Kmeans\w+|NearestNeighbors|Skipgram|Sdca\w+|Bessel\w+|Betainc|Spence|Dawsn|Expint|Fresnel\w+|Stat\w+Random(?:Binomial|Gamma\w*|Poisson)|RandomGammaGrad|SobolSample|NonDeterministicInts",
        "is one that the compiler of this release has no kernel for",
        "row, column = index // WIDTH, index % WIDTH; nth = tf.sort(x)[..., n]      # in place of unravel_index and nth_element\n"
        "dataset = dataset.map(lambda x, y: (with_it(x), y))                          # what does not depend on weights: before the step",
    ),
)
_WEIGHTS = Reading(
    "A loss or metric with weights checks while the step runs whether their shape fits that of the values, because it is not known before.",
    "weights = tf.ensure_shape(weights, values.shape)      # both with sizes as numbers: drop_remainder=True, tf.ensure_shape or reshape in dataset.map\n"
    "loss = tf.reduce_sum(values * weights) / tf.reduce_sum(weights)      # or weighted by hand, in place of tf.compat.v1.losses and metrics",
)
_TYPES: tuple[tuple[str, str, str], ...] = (
    (
        r"STRING|STR|string",
        "Text never goes to a TPU",
        "dataset = dataset.map(lambda x, y: (tokenize(x), y)); dataset = dataset.map(lambda x: {k: v for k, v in x.items() if v.dtype != tf.string})      # numbers only: no file names, ids as text",
    ),
    (
        r"U?INT8|U?INT16|uint8|int8|uint16|int16|U8andS8|U8|S8|half|HALF|float16",
        "This type does not go to a TPU",
        "dataset = dataset.map(lambda image, label: (tf.cast(image, tf.float32) / 255.0, tf.cast(label, tf.int32)))      # images float32 (or bfloat16), labels int32",
    ),
    (
        r"DOUBLE|float64|FLOAT64|double|F64",
        "A TPU computes no float64",
        "x = np.asarray(x, np.float32); dataset = dataset.map(lambda x, y: (tf.cast(x, tf.float32), y))      # NumPy's numbers are float64",
    ),
    (
        r"RESOURCE|VARIANT|resource|variant",
        "A handle (of a table, an iterator, a dataset, a TensorArray, a ragged tensor) cannot go to a TPU",
        "# what it is a handle of stays on the host: lookups and ragged tensors in dataset.map; the step gets plain tensors",
    ),
)


_OF_GPU = Reading(
    "This is a GPU's, not a TPU's: jit_compile=True compiles the whole step there, and what joins the GPUs (an Embedding's sparse gradients"
    " under MirroredStrategy) or calls cuDNN has no compiled form.",
    "model.compile(..., jit_compile=False)      # or no @tf.function(jit_compile=True) around it; a TPU compiles by itself\n"
    "x = keras.layers.Dense(WIDTH)(keras.layers.CategoryEncoding(SIZE, output_mode='one_hot')(ids))      # in place of an Embedding: dense gradients",
)


def read(family: str, values: dict[str, str], text: str) -> Reading | None:
    """What is written in place of an operation or type, for the families that name one."""
    operation = values.get("op", "")
    if family == "type-not-on-tpu":
        return _of_type(values.get("type", ""))
    if family == "dynamic-dimension":
        return _of_dynamic(operation, text)
    if values.get("device") == "GPU" and re.match(
        r"Collective|Cudnn|Nccl", operation, re.IGNORECASE
    ):
        return _OF_GPU
    if "broadcast_weights" in text and "SetOperation" in operation:
        return _WEIGHTS
    rows = (_BY_DATA, *(_CONSTANT if family == "constant-shape" else _UNSUPPORTED))
    for kinds, what, fix in rows:
        if re.fullmatch(kinds, operation):
            return Reading(f"`{operation}` {what}.", fix)
    if (refused := values.get("type")) and family == "unsupported-op":
        return _of_type(refused.removeprefix("DT_"))
    return None


def _of_type(kind: str) -> Reading | None:
    """A type that a TPU does not have."""
    for kinds, what, fix in _TYPES:
        if re.fullmatch(kinds, kind):
            return Reading(f"{what}: it is {kind.lower()}.", fix)
    return None


_BOUNDED = re.compile(r"[\[(]((?:(?:<=)?\d{1,9},){0,7}(?:<=)?\d{1,9})[\])]")


def _of_dynamic(operation: str, text: str) -> Reading | None:
    """Which dimension is known by its bound alone: the batch, or a length."""
    if re.fullmatch(_BY_DATA[0], operation):
        return Reading(f"`{operation}` {_BY_DATA[1]}.", _BY_DATA[2])
    for shape in _BOUNDED.finditer(text):
        sizes = shape[1].split(",")
        bounded = [at for at, size in enumerate(sizes) if size.startswith("<=")]
        if not bounded:
            continue
        most = sizes[bounded[0]].removeprefix("<=")
        if re.search(r"all-?reduce|CrossReplicaSum", text):
            return Reading(
                f"[{shape[1]}] is summed over the replicas (all-reduce): a gradient or a metric, of which dimension {bounded[0]} has at most {most} entries. It is cut by a length that differs from batch to batch (positions up to the sequence's end, rows of a table), or grows with the data.",
                f"positions = tf.range({most})                          # all of them, and a mask, in place of tf.range(tf.shape(x)[1]) or weights[:length]\n"
                f"dataset = dataset.padded_batch(global_batch, padded_shapes=([{most}], []), drop_remainder=True)",
            )
        if bounded == [0]:
            return Reading(
                f"In [{shape[1]}] dimension 0, the batch, has at most {most}: the last batch of the data (or of predict and evaluate) is smaller.",
                "dataset = dataset.batch(global_batch, drop_remainder=True)      # also for validation_data, evaluate and predict\n"
                "keras.Input(shape=SHAPE_OF_ONE_EXAMPLE, batch_size=None)         # and no batch size written into the model",
            )
        return Reading(
            f"In [{shape[1]}] dimension {bounded[0]} has at most {most}: a length or size that differs from batch to batch (sequences, images, boxes, or tf.where, boolean_mask and unique in the step).",
            f"dataset = dataset.padded_batch(global_batch, padded_shapes=([{most}], []), drop_remainder=True)      # one length for all; tf.image.resize for images",
        )
    return None
