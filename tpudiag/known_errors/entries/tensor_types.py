# ruff: noqa: E501  (texts of other programs stay as they are)
"""Tensors of another type, rank or number than an operation takes."""

from __future__ import annotations

from tpudiag.known_errors.model import Kind, KnownError, Phase

ERRORS = (
    KnownError(
        id="E492",
        family="types-do-not-match",
        phase=Phase.TRACING,
        kind=Kind.BROAD,
        patterns=(
            r"Expected (?P<wanted>u?int\d{1,2}|float\d{2}|bool|string|bfloat16|complex\d{2,3})(?: passed to parameter.{0,120}?)?, (?:but )?got .{1,160}? of type '(?P<got>\w{1,40})' instead",
            r"Expected (?P<wanted>u?int\d{1,2}|float\d{2}|bool|string|bfloat16|complex\d{2,3}), (?:but )?got .{1,120}? of type",
            r"All tensors (?:passed to|being packed) .{0,120}? (?:must|should) have the same (?:d?type)",
            r"that don't all match",
            r"Tensor conversion (?:requested|dtype mismatch)",
            r"Incompatible tensor conversion requested",
            r"Cannot convert .{1,120}? to EagerTensor of dtype (?P<wanted>\w{1,12})",
            r"TypeError: Cannot convert .{0,60}? to (?P<wanted>\w{1,20})",
            r"(?:expected|wanted) dtype ?=? ?(?P<wanted>\w{1,12}),? (?:but )?(?:found|got|received) dtype",
            r"`?(?:x|y|a|b|labels|logits|y_true|y_pred)`? and `?(?:x|y|a|b|labels|logits|y_true|y_pred)`? must have the same dtype",
            r"Inputs? to .{1,60}? (?:must|should) (?:have|be of) the same (?:d?type)",
            r"input types? \(.{1,120}?\) are not compatible with expected types",
            r"pred(?:icate)? must not be a Python bool",
            r"Type mismatch .{0,120}?(?:float|int|bool|string)",
            r"Cannot (?:cast|copy) .{0,40}?(?:string|DT_STRING)",
            r"Can not cast",
            r"Unsupported numpy type",
            r"Value for attr '(?P<attr>\w{1,20})' of (?P<got>\w{1,12}) is not in the list of allowed values",
            r"Could not find .{0,40}?kernel.{0,80}?DT_(?P<got>\w{1,12})",
            r"Dimension value must be integer or None",
            r"int\(\) argument must be a string, a bytes-like object",
            r"Expected binary or unicode string, got",
            r"non-DMA-copy attempted of tensor type",
            r"cannot (?:be )?(?:cast|convert)(?:ed)? .{0,20}?string to",
            r"that does not match expected type of (?P<wanted>\w{1,12})",
            r"has type (?P<got>\w{1,12}) that does not match",
        ),
        cause="An operation gets a tensor of another type than it takes, or of two types: integer labels or steps beside floats, float64 from NumPy, float32 constants beside bfloat16 under a mixed policy, strings where numbers are wanted.",
        details=("{wanted} is wanted.", "It got {got}."),
        fix="""\
y = tf.cast(y, x.dtype)                                        # the same type on both sides
x = x.astype("float32"); labels = labels.astype("int32")       # NumPy: float64 and int64 by default
scale = tf.constant(2.0, dtype=x.dtype)                         # constants follow the tensor; under mixed_bfloat16 x is bfloat16
outputs = keras.layers.Dense(CLASSES, dtype="float32")(x)       # logits, losses and metrics in float32
print(dataset.element_spec)                                     # types as they come""",
        citations=("tensorflow/tensor2tensor#1249", "tensorflow/tensorflow#33077"),
        example="TypeError: Expected int32, got 1.0 of type 'float' instead.",
        yields_to=("E163", "E41", "E217", "P32", "E132", "E210", "E191", "P44"),
    ),
    KnownError(
        id="E493",
        family="numpy-conversion",
        phase=Phase.ANY,
        patterns=(
            r"only integer scalar arrays can be converted to a scalar index",
            r"only (?:size-1|length-1|0-dimensional) arrays can be converted to Python scalars",
            r"truth value of an array with more than one element is ambiguous",
            r"could not convert string to float",
            r"invalid literal for int\(\) with base 10",
            r"cannot reshape array of size (?P<size>\d{1,12}) into shape",
            r"all (?:the )?input array(?:s must have same number of| dimensions)",
            r"setting an array element with a sequence",
            r"arrays used as indices must be of integer",
            r"only integers, slices \(`?:`?\), ellipsis",
            r"index (?P<index>\d{1,9}) is out of bounds for axis (?P<axis>\d{1,2}) with size (?P<size>\d{1,9})",
            r"cannot convert float (?:NaN|infinity) to integer",
            r"x and y (?:must have same first dimension|should have the same)",
            r"could not broadcast input array from shape",
            r"operands could not be broadcast together",
        ),
        cause="A NumPy array or a table has another shape or type than the line takes: texts or blanks in a column of numbers, rows of different lengths, a scalar wanted where an array is.",
        details=("The size is {size}.",),
        fix="""\
print(x.shape, x.dtype, type(x)); print(x[:3])                       # before the line of yours that the traceback names
frame = frame.apply(pd.to_numeric, errors="coerce").fillna(0)         # texts and blanks in columns of numbers
x = np.stack([np.asarray(row, np.float32) for row in rows])           # fails at the row that differs
x = x.reshape(-1, 28, 28, 1)                                           # -1: the number of examples follows""",
        evidence="recalled",
        example="ValueError: could not convert string to float: 'abc'",
        yields_to=("E210", "E54", "E273", "E89", "E218"),
    ),
    KnownError(
        id="E494",
        family="rank-mismatch",
        phase=Phase.TRACING,
        kind=Kind.BROAD,
        patterns=(
            r"must be (?:at least )?(?:rank|\d-dimensional|a (?:scalar|vector|matrix)).{0,160}?(?:\[Op|got|shape|not|instead|received)",
            r"must be (?P<wanted>\d)-dimensional",
            r"must be (?:a )?(?:scalar|vector|matrix),? (?:got|but|instead|received|not)",
            r"Expected (?:multiples|begin|end|strides|perm|paddings?).{0,80}?(?:length|size|rank|vector)",
            r"multiples argument.{0,60}?length",
            r"expected (?:min_)?ndim=(?P<wanted>\d), found ndim=(?P<got>\d)",
            r"transpose expects a vector of size (?P<wanted>\d{1,2})\. ?But input\(1\) is a vector of size (?P<got>\d{1,2})",
            r"Number of ways to split should evenly divide",
            r"Can not squeeze dim\[\d{1,2}\], expected a dimension of 1",
            r"(?:axis|dim) ?=? ?-?\d{1,3} (?:is )?out of (?:bounds|range)",
            r"Expected (?:dimension|axis) in the range",
            r"Invalid reduction dimension",
            r"Axis .{1,10}? is greater than the maximum allowed value",
            r"input (?:tensor )?must have (?:at least )?\d dim",
            r"ConcatOp : (?:Ranks|Expected concatenating)",
            r"(?:Ranks?|shapes?) of all input tensors should match",
            r"ConcatOp : Ranks",
            r"In\[0\] (?:and In\[1\] )?(?:is not|has different|mismatch|must be)",
            r"Matrix size-incompatible",
            r"segment_?ids? (?:should be the same size|are not sorted|must be (?:>=|sorted))",
            r"Input shape axis \d must equal \d{1,6}, got shape",
            r"'?(?:image|images|contents|input)'? (?:tensor )?must be (?:\d-D|\d-dimensional|scalar|a scalar)",
            r"Received tensor of shape .{1,60}? instead",
            r"Tensor's shape .{1,60}? is not compatible with supplied shape",
            r"Cannot squeeze axis=",
            r"(?:operation|op|layer) .{0,60}?requires? (?:at least )?rank",
            r"Tried to squeeze dim index \d",
            r"reduction (?:axis|dimension) .{0,20}?out of (?:range|bounds)",
            r"must have compatible batch dimensions",
            r"must have at least (?:k|\d{1,6}) columns",
            r"segment ids are not increasing",
            r"[Ff]ill dims must be >= 0",
            r"indices\.shape\[-1\] must be <=",
            r"[Ii]nput must have at least (?:one|two|three|\d) dimension",
            r"Expected \w{1,40} to be (?:a scalar|a vector|a matrix|at least a vector)\b.{0,60}?shape",
        ),
        cause="A tensor has another number of dimensions, or another size in one, than the operation takes: a missing or doubled batch dimension (an example in place of a batch, batch called twice), channels that are missing, labels as one-hot where numbers are wanted.",
        details=("{wanted} dimensions are wanted.", "It has {got}."),
        fix="""\
print(dataset.element_spec)                                  # the batch dimension once: no batch() twice, none missing
x = x[tf.newaxis]                                             # one example as a batch of one
image = tf.io.decode_jpeg(bytes, channels=3)                  # grey images have one channel otherwise
labels = tf.argmax(labels, -1); x = tf.squeeze(x, axis=-1)     # one-hot to numbers; a trailing 1 away""",
        evidence="recalled",
        example="InvalidArgumentError: input must be 4-dimensional[224,224,3] [Op:Conv2D]",
        near_miss="the mesh must be built before the input pipeline",
        yields_to=("E88", "E89", "E202", "E194", "E91", "E90", "E110"),
    ),
    KnownError(
        id="E168",
        family="no-gradient-of-op",
        phase=Phase.TRACING,
        patterns=(
            r"No gradient defined for operation .{1,160}?\(op type: (?P<op>\w{1,60})\)",
            r"No gradient defined for operation",
            r"gradient registry has no entry for",
        ),
        cause="An operation on the way from the variables to the loss has no gradient.",
        details=("The operation is {op}.",),
        fix="""\
x = tf.stop_gradient(f(x))                  # where no gradient is wanted (masks, indices, sampling)
@tf.custom_gradient                          # or define it; or another op: tf.where on values, matmul, tf.image.resize
def f(x): ...""",
        evidence="recalled",
        example="LookupError: No gradient defined for operation 'IteratorGetNext' (op type: IteratorGetNext)",
    ),
)
