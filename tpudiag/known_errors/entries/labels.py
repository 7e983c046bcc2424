# ruff: noqa: E501  (texts of other programs stay as they are)
"""Labels, class weights, metrics by name, and values that are missing."""

from __future__ import annotations

from tpudiag.known_errors.model import Kind, KnownError, Phase, Rival

ERRORS = (
    KnownError(
        id="E197",
        family="class-weight",
        phase=Phase.BUILDING,
        patterns=(
            r"_make_class_weight_map_fn",
            r"class_weight`? is only supported for Models with a single output",
            r"Expected `?class_weight`? to be a dict",
            r"class_weight`? (?:argument )?(?:is )?not supported",
            r"class_weights?_map_fn",
            r"`?class_weight`? must contain all classes",
            r"standardize_weights.{0,500}?(?:AxisError|is out of bounds for array|not supported for)",
            r"class_weight.{0,300}?AxisError",
            r"class_weight.{0,300}?'list' object has no attribute '(?:get|keys|items)'",
        ),
        cause="fit(class_weight=) takes one dict from 0 to the number of classes minus one, for a model with one output and sparse or one-hot labels, and a plain (not yet distributed) dataset; anything else fails, or fails later as an index out of range.",
        fix="""\
class_weight = {0: 1.0, 1: 5.0}                       # a dict that names every class from 0 on, no list, no array
# several outputs, labels that are not classes, an older TensorFlow on a TPU: weights as the dataset's third part
weights = tf.constant([1.0, 5.0])
dataset = dataset.map(lambda x, y: (x, y, tf.gather(weights, tf.cast(y, tf.int32))))
model.fit(dataset)                                     # without class_weight=""",
        citations=(
            "tensorflow/tensorflow#40070",
            "tensorflow/tensorflow#40457",
            "tensorflow/tensorflow#41290",
        ),
        example="ValueError: `class_weight` is only supported for Models with a single output.",
        near_miss="class_weight is computed from the data",
    ),
    KnownError(
        id="E191",
        family="none-value",
        phase=Phase.TRACING,
        kind=Kind.BROAD,
        patterns=(
            r"None values not supported",
            r"Attempt to convert a value \(None\) with an unsupported type",
            r"Expected \w{3,10}, got None of type 'NoneType'",
            r"Cannot convert (?:a )?None (?:value )?to (?:a )?[Tt]ensor",
            r"Failed to convert elements of .{0,80}?None.{0,80}? to Tensor",
            r"Gradients do not exist for variables.{0,1600}?ValueError: ?None",
        ),
        cause="A tensor was expected and None came: a gradient of a variable that takes no part in the loss, a function or input_fn that returns nothing, an argument or flag that was never set, or the static size of an unknown dimension used as a number.",
        fix="""\
gradients = [(g, v) for g, v in zip(gradients, variables) if g is not None]      # variables that take no part
batch = tf.shape(x)[0]                       # not x.shape[0]: it is None for a dimension that is not known
dataset = dataset.batch(global_batch, drop_remainder=True)                       # and known it should be on a TPU
# the last line of your own in the traceback names what was None: print it there""",
        rivals=(
            Rival(
                cause="a gradient is None: the variable takes no part in the loss",
                look_for="apply_gradients, get_updates or an optimizer in the traceback",
                decide="print([v.name for g, v in zip(gradients, variables) if g is None])",
                fix="""\
gradients = [(g, v) for g, v in zip(tape.gradient(loss, variables), variables) if g is not None]
optimizer.apply_gradients(gradients)""",
                cues=(
                    r"apply_gradients",
                    r"get_updates",
                    r"in minimize",
                    r"optimizer_v2\.py",
                ),
            ),
            Rival(
                cause="the size of an unknown dimension (x.shape[0] is None) is used as a number",
                look_for="a reshape, tile, zeros or range in the traceback",
                decide='grep -nE "shape\\[|get_shape|as_list" train.py',
                fix="batch = tf.shape(x)[0]                 # the size as a tensor, or a fixed one by drop_remainder=True",
                cues=(
                    r"in reshape",
                    r"array_ops\.py",
                    r"get_shape\(",
                    r"as_list\(",
                ),
            ),
            Rival(
                cause="a flag, an argument or a returned value is None",
                look_for="the last frame of your own code",
                decide="print the arguments of that line",
                cues=(
                    r"num_parallel_",
                    r"input_fn",
                ),
            ),
        ),
        citations=(
            "keras-team/keras-tuner#1038",
            "lxf8519/DL-hybrid-precoder#2",
            "tensorflow/models#5858",
            "tensorflow/tensorflow#49728",
        ),
        example="ValueError: None values not supported.",
        near_miss="None of the values were supported by the backend",
        yields_to=("E156", "E91"),
    ),
    KnownError(
        id="E192",
        family="metric-name",
        phase=Phase.SAVING,
        patterns=(
            r"KeyError: ?['\"](?P<name>val_\w{1,40}|accuracy|acc|loss|lr|learning_rate)['\"]",
            r"Failed to format this callback filepath.{0,120}?Reason: ?['\"](?P<name>\w{1,40})",
            r"Failed to format this callback filepath",
            r"filepath\.format\(.{0,160}?KeyError: ?['\"](?P<name>\w{1,40})",
        ),
        places=(r"callbacks\w{0,9}\.py _get_file_path|self\.filepath\.format\(",),
        cause="A callback (ModelCheckpoint, EarlyStopping) or your code asks the logs of an epoch for a name that is not in them: no validation ran (no validation_data, or it gave no batch), or the metric has another name in this Keras (acc and accuracy, a name of your own).",
        details=("The name is {name}.",),
        fix="""\
history = model.fit(train, validation_data=valid, validation_steps=VALID // global_batch)   # a batch at least
print(history.history.keys())                        # the names that there are
keras.callbacks.ModelCheckpoint("best-{epoch:02d}-{val_loss:.3f}.keras", monitor="val_loss")
# drop_remainder=True with fewer validation examples than one global batch: nothing is validated""",
        citations=(
            "qjadud1994/CRNN-Keras#55",
            "pierluigiferrari/ssd_keras#278",
            "keras-team/keras#15865",
        ),
        example="""\
    filepath = self.filepath.format(epoch=epoch + 1, **logs)
KeyError: 'val_loss'""",
        near_miss="val_loss improved from 0.4 to 0.3",
    ),
    KnownError(
        id="E193",
        family="metric-name",
        phase=Phase.SAVING,
        level="warning",
        patterns=(
            r"conditioned on metric `?(?P<name>\w{1,40})`? which is not available",
            r"Can save best model only with (?P<name>\w{1,40}) available, skipping",
        ),
        cause="A callback waits for a metric that no epoch gives, so it does nothing: no validation ran, or the metric has another name. No best model is saved, training never stops early.",
        details=("The name is {name}.",),
        fix="""\
model.fit(train, validation_data=valid, callbacks=callbacks)      # validation with one whole global batch at least
print(model.fit(train, epochs=1).history.keys())                  # the names that monitor= may have""",
        citations=("nayash/stock_cnn_blog_pub#3",),
        example="WARNING:tensorflow:Early stopping conditioned on metric `val_loss` which is not available. Available metrics are: loss",
        yields_to=("E192",),
    ),
    KnownError(
        id="E194",
        family="shape-conflict",
        phase=Phase.TRACING,
        patterns=(
            r"logits and labels must be (?:broadcastable|the same size): logits_size=(?P<left>\[[\d,]{0,40}\]) labels_size=(?P<right>\[[\d,]{0,40}\])",
            r"logits and labels must (?:be broadcastable|be the same size|have the same)",
            r"`?logits`? and `?labels`? must have the same shape, (?:received|but got) .{0,3}(?P<left>\([\d, None]{0,40}\)) (?:vs|and) (?P<right>\([\d, None]{0,40}\))",
            r"`?logits`? and `?labels`? must have the same shape",
            r"Arguments `?target`? and `?output`? must have the same (?:rank|shape)",
            r"You are passing a target array of shape (?P<right>\([\d, None]{0,40}\)) while using as loss",
            r"A target array with shape (?P<right>\([\d, None]{0,40}\)) was passed for an output of shape (?P<left>\([\d, None]{0,40}\))",
            r"expected to have (?:\d{1,2} dimensions|shape).{0,80}?but got array with shape",
            r"Error when checking (?:model )?target.{0,20}?: ?expected .{1,60}? to have",
            r"The shape of labels \(received",
            r"expects targets to (?:be|have)",
            r"labels .{0,60}? (?:should|must) (?:be|have) .{0,40}?(?:shape|rank|one-hot|integers)",
            r"logits and labels must be (?:the )?same size",
            r"`?labels\.shape`? must equal `?logits\.shape`? except",
            r"Argument `?output`? must have rank \(ndim\) `?target\.ndim",
        ),
        cause="Labels and the model's outputs have different shapes: another number of classes than the last layer has units, class numbers where one-hot vectors are wanted (or the reverse), or a missing last dimension.",
        details=("The outputs are {left}, the labels {right}.",),
        fix="""\
print(dataset.element_spec[1], model.output_shape)            # compare: both (batch, classes), or labels (batch,)
model.compile(loss="sparse_categorical_crossentropy")         # labels are class numbers: (batch,) int
model.compile(loss="categorical_crossentropy")                # labels are one-hot: (batch, classes); tf.one_hot(y, CLASSES)
outputs = keras.layers.Dense(CLASSES)(x)                      # as many units as classes; 1 for binary_crossentropy""",
        citations=("keras-team/keras#16522",),
        example="logits and labels must be broadcastable: logits_size=[16,2] labels_size=[16,4]",
    ),
    KnownError(
        id="E195",
        family="assertion",
        phase=Phase.EXECUTING,
        kind=Kind.BROAD,
        patterns=(
            r"assertion failed: \[(?P<said>[^\]]{3,120})\]",
            r"Condition x (?:>=|<=|>|<|==) y did not hold",
            r"Expected 'tf\.Tensor\(False, shape=\(\), dtype=bool\)' to be true",
        ),
        cause="A check of values failed in the step: of a metric (predictions outside 0 to 1, labels outside the classes), of a loss, or tf.debugging in your own code. What it says in brackets is its reason.",
        details=("It says: {said}.",),
        fix="""\
# predictions must be >= 0 / <= 1: the metric wants probabilities: softmax or sigmoid in the last layer,
# or keras.metrics.AUC(from_logits=True), thresholds for logits
# labels out of range: MeanIoU(num_classes=), one_hot(depth=) of all classes; look at tf.reduce_max(labels)
# it comes after some steps only: NaN in the predictions""",
        rivals=(
            Rival(
                cause="a check of the data: records, boxes or sizes that a parser or decoder refuses (a box with ymin > ymax, a file that is no image, more objects than the limit)",
                look_for="`IteratorGetNext`, `parser/Assert` beside it",
                decide="for number, element in enumerate(dataset): pass      # on a CPU: which record",
                fix="""\
for number, element in enumerate(dataset): pass            # on a CPU: the number of the record that fails
dataset = dataset.filter(lambda x: tf.reduce_all(x["ymin"] <= x["ymax"]))      # or make the records anew: boxes in 0 to 1, ymin <= ymax, xmin <= xmax
# more objects than the parser's limit: max_number_of_boxes (max_instances_per_image) above the number in brackets
dataset = dataset.apply(tf.data.experimental.ignore_errors())                  # leaves the bad ones out""",
                cues=(
                    r"IteratorGetNext",
                    r"parser/Assert",
                    r"Unable to decode bytes",
                    r"maximum box coordinate value",
                ),
            ),
            Rival(
                cause="a metric or loss that wants probabilities, or labels below the number of classes",
                look_for="`predictions must be`, `labels`, `Condition x`",
                decide="print(tf.reduce_min(y_pred), tf.reduce_max(y_pred), tf.reduce_max(y))",
                cues=(r"predictions must be", r"labels? (?:value )?(?:must|out of)"),
            ),
            Rival(
                cause="tf.debugging or an assert of your own code",
                look_for="your own words in the brackets",
                decide='grep -n "tf.debugging\\|Assert" *.py',
            ),
        ),
        evidence="recalled",
        example="InvalidArgumentError: assertion failed: [predictions must be >= 0] [Condition x >= y did not hold element-wise:]",
        yields_to=("E154",),
    ),
    KnownError(
        id="E196",
        family="run-arguments",
        phase=Phase.TRACING,
        patterns=(
            r"argument after \*\* must be a mapping, not \w{0,24}Tensor",
            r"strategy\.run\(.{0,200}?TypeError: .{0,80}?(?:missing|takes|positional argument)",
            r"TypeError: run\(\) takes",
        ),
        cause="strategy.run was given its arguments as the function would be: it takes one tuple (args=) and one dict (kwargs=). In TensorFlow 2.4 and older an input_signature on the step beside strategy.run has the same effect.",
        fix="""\
def train_step(images, labels): ...                        # plain, without its own @tf.function(input_signature=...)
@tf.function
def distributed_step(batch):
    return strategy.run(train_step, args=batch)             # args: a tuple; one argument: args=(batch,)""",
        citations=("tensorflow/tensorflow#46744",),
        example="TypeError: train_step() argument after ** must be a mapping, not Tensor",
    ),
)
