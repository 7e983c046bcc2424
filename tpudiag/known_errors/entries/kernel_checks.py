# ruff: noqa: E501  (texts of other programs stay as they are)
"""What single operations check: sizes that must divide, scattered updates, empty lists."""

from __future__ import annotations

from tpudiag.known_errors.model import Kind, KnownError, Phase

ERRORS = (
    KnownError(
        id="E732",
        family="scatter-shapes",
        phase=Phase.EXECUTING,
        patterns=(
            r"Must have updates\.shape = indices\.shape\[:batch_dim\]",
            r"Outer dimensions of indices and update must match",
            r"[Dd]imensions \[\d{1,2},\d{1,2}\) of (?:indices|input)\[shape=(?P<indices>\[[\d,?]{0,40}\])\] (?:= \[[\d,?]{0,40}\] )?must match dimensions \[\d{1,2},\d{1,2}\) of updates\[shape=(?P<updates>\[[\d,?]{0,40}\])",
            r"Inner dimensions of output shape must match inner dimensions of updates",
            r"Indices and updates specified for empty (?:output|input)",
            r"updates\.shape .{1,60}? must (?:match|equal|be) .{0,40}?indices\.shape",
            r"index innermost dimension length must be <= (?:params|shape) rank",
            r"Scatter.{0,160}?(?:updates|indices).{0,60}?(?:does not match|must match|must have the same)",
        ),
        cause="tf.scatter_nd, tensor_scatter_nd_update or gather_nd: indices and updates must belong together (one update for each row of indices; the last axis of indices counts the axes it points into), and one of them has another number of rows or of axes, mostly because its size depends on the data (tf.where, tf.unique, a dynamic embedding).",
        details=("Indices have {indices}, updates {updates}.",),
        fix="""\
indices = tf.reshape(indices, [-1, 1]); updates = tf.reshape(updates, [-1, UNITS])     # one row of updates for each row of indices
tf.debugging.assert_equal(tf.shape(indices)[0], tf.shape(updates)[0])                    # on a CPU, before the operation
x = tf.where(mask[..., tf.newaxis], new, old)                                            # fixed sizes: what a TPU and XLA want, in place of a scatter
unset TF_XLA_FLAGS                                                                       # only under XLA's auto-clustering (cluster_6[]): without it, or jit_compile=False""",
        citations=("tensorflow/recommenders-addons#458",),
        example="INVALID_ARGUMENT: Must have updates.shape = indices.shape[:batch_dim] + buffer_shape[num_index_dims:], got updates.shape: [1,32], indices.shape: [2,1], buffer_shape: [1,32]",
    ),
    KnownError(
        id="E733",
        family="record-fields-differ",
        phase=Phase.READING,
        patterns=(
            r"indices\[[\d,]{1,24}\] = \[[-\d, ]{1,40}\] does not index into param shape \[[\d,]{1,40}\].{0,60}?(?:parser|parse|decoder|preprocess)",
            r"Requested more than 0 entries, but params is empty.{0,120}?(?:parser|parse|decoder|preprocess|IteratorGetNext)",
        ),
        cause="While a record is parsed, one of its fields is looked up by the positions of another, and is shorter: in that record boxes, labels, areas or is_crowd have different numbers of entries, or there is no box at all.",
        fix="""\
example = tf.train.Example.FromString(raw.numpy()); print({k: len(v.int64_list.value or v.float_list.value or v.bytes_list.value) for k, v in example.features.feature.items()})     # for each raw record: counts that should be equal
# write the records anew: one entry of every field (xmin, ymin, xmax, ymax, class, area, is_crowd) for each box
dataset = dataset.filter(lambda x: tf.size(x["groundtruth_classes"]) > 0)               # images without boxes: left out; skip_crowd_during_training=False""",
        citations=("google/automl#238", "google/automl#16"),
        example="Invalid argument: indices[25] = [25] does not index into param shape [17,1]\n\t [[{{node parser/GatherNd}}]]\n\t [[IteratorGetNext]]",
    ),
    KnownError(
        id="E734",
        family="run-config-of-another-release",
        phase=Phase.CREATING,
        patterns=(
            r"'(?P<type>RunConfig|TPUConfig|TPURunConfig|HParams|RunOptions|EstimatorSpec|TPUEstimatorSpec|TPUEstimator|Estimator|InternalTPUContext|TPUContext)' object has no attribute '(?P<name>\w{1,60})'",
        ),
        cause="Estimator code made for another release of its library: the config that one part makes lacks what another part reads. In Tensor2Tensor also: a run for the TPU needs the TPUEstimator's config (--use_tpu_estimator), and a T2T release of the same time as TensorFlow.",
        details=("{type} has no {name}.",),
        fix="""\
pip install -U tensor2tensor                                      # the library that makes the config and that which reads it: of one time as TensorFlow
t2t-trainer --use_tpu=True --use_tpu_estimator ...                 # T2T: the config of the TPU
config = tf.compat.v1.estimator.tpu.RunConfig(cluster=resolver, tpu_config=tf.compat.v1.estimator.tpu.TPUConfig(iterations_per_loop=100))     # tpu.RunConfig, not estimator.RunConfig
pip list | grep -iE "tensorflow|estimator|tensor2tensor"           # tensorflow-estimator as old as tensorflow""",
        citations=("tensorflow/tensor2tensor#1026",),
        example="AttributeError: 'RunConfig' object has no attribute 'data_parallelism'",
    ),
    KnownError(
        id="E735",
        family="torch-dimension",
        phase=Phase.TRACING,
        patterns=(
            r"(?:Value|Dimension) out of range \(expected to be in range of \[(?P<least>-?\d{1,3}), (?P<most>-?\d{1,3})\], but got (?P<given>-?\d{1,4})\)",
            r"min_shape_dim <= dim && dim <= max_shape_dim",
        ),
        cause="PyTorch: an operation is asked for an axis that the tensor does not have: it has fewer dimensions than the code supposes (a batch of one that was squeezed, a scalar where a matrix is, one output that was not stacked).",
        details=("Allowed are {least} to {most}, and {given} was asked for.",),
        fix="""\
print(x.shape)                                   # before the line that the Python frames name (t(), transpose, cat, softmax(dim=1), a metric)
x = x.squeeze(-1)                                 # squeeze() takes the batch too when it is one; loaders: drop_last=True
x = x.unsqueeze(0); torch.atleast_2d(x)""",
        citations=("Lightning-AI/pytorch-lightning#3185",),
        example="Value out of range (expected to be in range of [-1, 0], but got 1)Exception in device=TPU:5: torch_xla/csrc/helpers.cpp:97 : Check failed: min_shape_dim <= dim && dim <= max_shape_dim",
    ),
    KnownError(
        id="E736",
        family="size-does-not-divide",
        phase=Phase.EXECUTING,
        patterns=(
            r"input_shape\[\d\]=(?P<size>\d{1,9}) is not divisible by block_shape\[\d\]=(?P<parts>\d{1,6})",
            r"padded_shape\[\d\]=(?P<size>\d{1,9}) is not divisible by block_shape\[\d\]=(?P<parts>\d{1,6})",
            r"Dimension size must be evenly divisible by (?P<parts>\d{1,9}) but is (?P<size>\d{1,9})",
            r"Number of ways to split should evenly divide the split dimension, but got split_dim \d{1,2} \(size = (?P<size>\d{1,9})\) and num_split (?P<parts>\d{1,6})",
            r"(?:Image|Input) (?:width|height|depth) (?P<size>\d{1,9}) (?:and )?should be divisible by (?:block_size: )?(?P<parts>\d{1,6})",
            r"Dimension of size (?P<size>\d{1,9}) cannot be split",
        ),
        cause="A dimension is to be cut into equal parts (tf.split, space_to_depth, dilated convolutions through SpaceToBatch, pooling of groups, heads of attention), and its size is no multiple of their number.",
        details=("The size is {size}.", "The parts are {parts}."),
        fix="""\
size = -(-size // PARTS) * PARTS; image = tf.image.resize_with_pad(image, size, size)      # the next multiple: pad or resize the inputs
keras.layers.Conv2D(F, 3, dilation_rate=2, padding="same")                                  # dilated: sizes that the rate divides
assert units % heads == 0                                                                    # channels, heads and groups: one divides the other""",
        evidence="recalled",
        example="InvalidArgumentError: padded_shape[0]=65 is not divisible by block_shape[0]=2 [Op:SpaceToBatchND]",
    ),
    KnownError(
        id="E737",
        family="transposed-convolution-size",
        phase=Phase.EXECUTING,
        patterns=(
            r"Size of out_backprop doesn't match computed: actual = (?P<actual>\d{1,9}), computed = (?P<computed>\d{1,9})",
            r"Conv\dD\w{0,12}Backprop\w{1,12}: (?:Size of|Number of|input and out_backprop|filter)",
            r"out_backprop doesn't match computed",
        ),
        cause="A transposed convolution is told an output size that its stride and padding cannot give, or a convolution's gradient meets an input of another size than the forward pass had: an odd size halved and doubled again, output_shape with a batch size that is not that of this replica.",
        details=("{computed} was computed, {actual} is there.",),
        fix="""\
x = keras.layers.Conv2DTranspose(F, 3, strides=2, padding="same")(x)            # the layer works out its size; skip connections: crop or pad to equal
tf.nn.conv2d_transpose(x, w, output_shape=[tf.shape(x)[0], 2 * H, 2 * W, F], strides=2)     # the batch from the tensor, not written in
# inputs whose height and width 2**levels divides""",
        evidence="recalled",
        example="InvalidArgumentError: Conv2DCustomBackpropInput: Size of out_backprop doesn't match computed: actual = 14, computed = 15 spatial_dim: 1 input: 28 filter: 3",
    ),
    KnownError(
        id="E738",
        family="two-unknown-sizes",
        phase=Phase.TRACING,
        patterns=(
            r"Only one input size may be -1, not both",
            r"[Cc]an only specify one unknown dimension",
        ),
        cause="A reshape (or a Flatten layer) has two sizes of -1 or None: only one can be worked out from the others. In Flatten under XLA (jit_compile, which Keras 3 switches on by itself) it is data without a known shape: from_generator, py_function, windows of a dataset.",
        fix="""\
dataset = dataset.map(lambda x, y: (tf.ensure_shape(x, [BATCH, LENGTH, UNITS]), y))     # says the shape; print(dataset.element_spec): no None but the batch
shape = tf.shape(x); x = tf.reshape(x, [shape[0], shape[1], UNITS])                       # sizes of the data from the tensor
x = tf.reshape(x, [-1, LENGTH, UNITS])                                                      # or all but one as numbers: what a TPU wants
model.compile(..., jit_compile=False)                                                        # a CPU or GPU: without XLA""",
        evidence="recalled",
        example="InvalidArgumentError: Only one input size may be -1, not both 0 and 1 [Op:Reshape]",
    ),
    KnownError(
        id="E739",
        family="empty-reduction",
        phase=Phase.EXECUTING,
        patterns=(
            r"Reduction axis \d{1,2} is empty in shape",
            r"(?:Attempt to get|attempt to get) arg(?:max|min) of an empty sequence",
            r"zero-size array to reduction operation",
            r"(?:Length|Value) for attr 'N' of (?P<number>\d) must be at least minimum \d",
            r"List argument '\w{1,30}' to '\w{1,30}' Op with length 0 must have length",
            r"need at least one array to (?:concatenate|stack)",
        ),
        cause="An operation over many (stack, concat, add_n, argmax, a mean over a list) is given none, or fewer than it takes: an empty list of losses, outputs or files, a filter that left nothing, a loop that made no pass.",
        details=("{number} came.",),
        fix="""\
print(len(tensors))                                                       # the list on the line that the traceback names: why is it empty?
total = tf.add_n(losses) if losses else tf.constant(0.0)                   # regularisation losses that a model may not have
assert files, pattern                                                       # tf.io.gfile.glob(pattern) found nothing: gs:// path, spelling""",
        evidence="recalled",
        example="InvalidArgumentError: Length for attr 'N' of 0 must be at least minimum 1",
    ),
    KnownError(
        id="E740",
        family="sequence-lengths",
        phase=Phase.EXECUTING,
        patterns=(
            r"seq_lens\[\d{1,6}\] > input\.dims",
            r"seq_len\(\d{1,6}\) (?:>|<=)",
            r"[Ss]equence_length.{0,60}?(?:larger|greater|longer) than (?:the )?(?:input|max|time)",
            r"Labels length is zero in batch",
        ),
        cause="The lengths that go with a batch of sequences do not fit it: a length is larger than the padded axis (cut after it was counted, time and batch axes exchanged), or 0.",
        fix="""\
lengths = tf.minimum(lengths, tf.shape(x)[1])                              # counted after the cut
dataset = dataset.filter(lambda x, y: tf.size(y) > 0)                       # no empty ones
tf.reverse_sequence(x, lengths, seq_axis=1, batch_axis=0)                   # which axis is time""",
        evidence="recalled",
        example="InvalidArgumentError: seq_lens[0] > input.dims(1) [Op:ReverseSequence]",
    ),
    KnownError(
        id="E741",
        family="variable-of-another-form",
        phase=Phase.EXECUTING,
        patterns=(
            r"Trying to assign to variable with tensor with wrong shape\. Expected (?P<wanted>\[[\d,?]{0,40}\]) got (?P<given>\[[\d,?]{0,40}\])",
            r"Trying to (?:assign|read) variable with wrong dtype\. Expected (?P<wanted>\w{1,12}) got (?P<given>\w{1,12})",
            r"Trying to change shape to",
            r"Cannot update variable with shape",
            r"Cannot assign (?:a )?(?:value )?to variable .{1,120}?: ?(?:due to variable shape|Shape mismatch)",
            r"due to variable shape \((?P<wanted>[\d, ]{1,40})\) and value shape \((?P<given>[\d, ]{1,40})\) are incompatible",
        ),
        cause="A variable is read or written in another form than it has: another type (a checkpoint or SavedModel in float32 under bfloat16, an optimizer's slot), or another shape (weights of another model, a table that grew).",
        details=("It has {wanted}, and {given} came.",),
        fix="""\
print([(v.name, v.shape, v.dtype) for v in model.variables])                # against tf.train.list_variables(path)
variable.assign(tf.cast(tf.reshape(value, variable.shape), variable.dtype))
keras.mixed_precision.set_global_policy("mixed_bfloat16")                    # variables stay float32; the same policy when the model is loaded""",
        evidence="recalled",
        example="InvalidArgumentError: Trying to read variable with wrong dtype. Expected float got bfloat16",
    ),
    KnownError(
        id="E742",
        family="einsum-shapes",
        phase=Phase.EXECUTING,
        patterns=(
            r"Einsum: Expected (?:input \d|operand)",
            r"Expected input \d to have rank (?P<wanted>\d{1,2}) but got: (?P<given>\d{1,2})",
            r"Expected dimension (?P<wanted>\d{1,9}) at axis (?P<axis>\d{1,2}) of the input shaped \[[\d,]{1,60}\] but got dimension (?P<given>\d{1,9})",
            r"[Ee]insum.{0,100}?(?:[Dd]imension|rank|subscript|label).{0,60}?(?:mismatch|does not|must|inconsistent)",
        ),
        cause="An einsum (attention, EinsumDense, MultiHeadAttention) gets a tensor of another rank, or of another size in an axis that two operands share, than its letters say: queries and keys of different widths, a missing batch axis, weights of another model.",
        details=("{wanted} was wanted, and {given} came.",),
        fix="""\
print(query.shape, key.shape, value.shape)                                  # [batch, length, width] each; width = heads * key_dim
keras.layers.MultiHeadAttention(num_heads=H, key_dim=D)(query, value)         # built for these sizes: not reused for others
x = x[tf.newaxis]                                                             # the batch axis where it is missing""",
        evidence="recalled",
        example="InvalidArgumentError: Expected dimension 64 at axis 1 of the input shaped [32,10] but got dimension 10 [Op:Einsum]",
    ),
    KnownError(
        id="E743",
        family="audio-format",
        phase=Phase.READING,
        patterns=(
            r"Header mismatch: Expected RIFF but found",
            r"Bad audio format for WAV: Expected 1 \(PCM\), but got ?(?P<kind>\d{1,6})",
            r"Can only read 16-bit WAV files, but received (?P<bits>\d{1,3})",
        ),
        cause="tf.audio.decode_wav reads 16-bit PCM WAVE files only, and the file is another (MP3 or OGG under the name .wav, float or 24-bit samples), or damaged.",
        fix="""\
file *.wav | grep -v "16 bit"                                           # which files are others
ffmpeg -i in.mp3 -ac 1 -ar 16000 -c:a pcm_s16le out.wav                   # once, before training; then TFRecord files in the bucket""",
        evidence="recalled",
        example="InvalidArgumentError: Header mismatch: Expected RIFF but found ID3",
    ),
    KnownError(
        id="E744",
        family="sparse-indices",
        phase=Phase.READING,
        patterns=(
            r"indices\[\d{1,9}\] = \[[\d, ]{1,60}\] is (?:repeated|out of order|out of bounds: need)",
            r"indices\[\d{1,9}\] is (?:repeated|out of order)",
            r"Sparse tensor: index \d{1,9} out of order",
            r"[Ss]parse(?: tensor)? indices .{0,60}?(?:not sorted|out of order|out of bounds)",
        ),
        cause="The indices of a SparseTensor must be sorted, without repeats and within its dense_shape, and they are not: built by hand, joined from several, or from a table with repeated rows.",
        fix="""\
sparse = tf.sparse.reorder(sparse)                                        # sorted
dense = tf.scatter_nd(indices, values, shape)                              # repeats add up; dense is what a TPU takes
dataset = dataset.map(lambda x: tf.sparse.to_dense(x, validate_indices=False))""",
        evidence="recalled",
        example="InvalidArgumentError: indices[3] = [0,5] is out of order. Many sparse ops require sorted indices.",
    ),
    KnownError(
        id="E745",
        family="lowering-failed",
        phase=Phase.COMPILING,
        kind=Kind.CONSEQUENCE,
        patterns=(r"tf2xla conversion failed while converting (?P<cluster>\w{1,80})",),
        cause="TensorFlow could not turn the compiled function into XLA; the sentence before this one says which operation and why (it has no form in XLA, a shape that does not fit, a type, a size that is not known). Keras 3 compiles by itself wherever it can (jit_compile='auto'), so that a layer which ran before fails here on a GPU; many fail in the same way without XLA.",
        details=("The function is {cluster}.",),
        fix="""\
model.compile(..., jit_compile=False)                                     # on a CPU or GPU: without XLA
tf.config.run_functions_eagerly(True)                                   # on a CPU, one batch: the operation's own message and your line
tpudiag check train.py --for v5e-8                                       # lowers the step without a TPU and names your lines""",
        evidence="recalled",
        example="tf2xla conversion failed while converting __inference_train_step_123[]. Run with TF_DUMP_GRAPH_PREFIX=/path/to/dump/dir",
    ),
    KnownError(
        id="E746",
        family="top-k",
        phase=Phase.EXECUTING,
        patterns=(
            r"input must have at least k columns\. Had (?P<had>\d{1,9}), needed (?P<needed>\d{1,9})",
            r"k must be less than (?:or equal to )?(?P<had>\d{1,9})",
            r"First dimension of predictions \d{1,9} must match length of targets \d{1,9}",
            r"input must have last dimension >= k = (?P<needed>\d{1,9}) but is (?P<had>\d{1,9})",
        ),
        cause="tf.math.top_k (a top-5 metric, beam search, boxes before suppression) is asked for more than the last axis holds, or predictions and labels are of different batches.",
        details=("There are {had}.", "Asked for are {needed}."),
        fix="""\
keras.metrics.SparseTopKCategoricalAccuracy(k=min(5, CLASSES))            # fewer classes than k
values, where = tf.math.top_k(scores, k=tf.minimum(K, tf.shape(scores)[-1]))     # on a TPU: pad the scores to K instead""",
        evidence="recalled",
        example="InvalidArgumentError: input must have at least k columns. Had 3, needed 5 [Op:TopKV2]",
    ),
)
