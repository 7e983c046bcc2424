# ruff: noqa: E501  (texts of other programs stay as they are)
"""Layers of Keras that are called with what they do not take: texts, lists, states, images."""

from __future__ import annotations

from tpudiag.known_errors.model import KnownError, Phase, Rival

ERRORS = (
    KnownError(
        id="E570",
        family="vocabulary-layer",
        phase=Phase.BUILDING,
        patterns=(
            r"When using `?TextVectorization`?",
            r"Cannot `?adapt`? (?:a|layer|\w{3,20})",
            r"adapt\(\) (?:expects an iterable|is being called with)",
            r"vocabulary has at least one repeated term",
            r"Found reserved (?:OOV|mask) token",
            r"set a vocabulary larger than the maximum vocab",
            r"Cannot set a tensor vocabulary on",
            r"vocabulary size cannot be changed after",
            r"you must set the layer's vocabulary before call",
            r"You must (?:set|call|specify) .{0,40}?(?:vocabulary|adapt)",
            r"maximum supported output rank is \d",
            r"idf_weights.{0,20}? must be",
            r"TF-IDF data must be",
            r"`?HashedCrossing`? inputs should",
            r"'(?:StringLookup|TextVectorization|IntegerLookup)' object has no attribute '(?P<name>\w{1,30})'",
            r"dataset passed to `adapt\(\)` has an infinite number",
            r"num_tokens must be set to use this layer",
            r"call `\.?adapt\(dataset\)` (?:on|before)",
            r"Normalization only accepts a single input",
            r"Requested the loading of a vocabulary file outside",
            r"adapt\(\) received an empty",
            r"Preprocessing stage is not a complete model",
        ),
        cause="A preprocessing layer (TextVectorization, StringLookup, Normalization and the like) has no vocabulary yet, gets one that it does not take (repeated words, its own [UNK] among them, a tensor, larger than max_tokens), or data of another shape than it was adapted to.",
        details=("It was asked for {name}.",),
        fix="""\
layer = keras.layers.TextVectorization(max_tokens=20_000, output_sequence_length=128)
layer.adapt(train_texts.batch(256))                              # texts alone, before the model; outside strategy.scope()
layer.set_vocabulary(list(dict.fromkeys(words)))                  # a list of Python strings, each once, without "" and "[UNK]"
dataset = dataset.map(lambda text, y: (layer(text), y))           # in the pipeline: a TPU has no strings, in the model it fails there
layer(tf.constant([["one text"], ["another"]]))                    # shape (batch, 1) or (batch,)""",
        citations=("keras-team/keras#19770", "tensorflow/tensorflow#39735"),
        example="ValueError: Cannot adapt layer 'text_vectorization' after setting a static vocabulary via `vocabulary` argument",
    ),
    KnownError(
        id="E571",
        family="merge-inputs",
        phase=Phase.BUILDING,
        patterns=(
            r"(?:merge|`?(?:Concatenate|Dot|Add|Subtract|Multiply|Average|Maximum|Minimum)`?) layer should be called on (?:a list|exactly|at least)",
            r"Cannot merge tensors with different batch sizes",
            r"Inputs have incompatible shapes\. Received shapes (?P<left>\([\d, None]{0,40}\)) and (?P<right>\([\d, None]{0,40}\))",
            r"Cannot (?:do|perform) batch_dot",
            r"must be called on a list of inputs, namely \[query",
            r"accepts (?:inputs|mask) list of length 2 or 3",
            r"Incompatible input shapes: axis values (?P<left>\d{1,7}) .{0,20}?!= ?(?P<right>\d{1,7})",
            r"Incompatible input shapes: axis values",
        ),
        cause="A layer that joins tensors (Concatenate, Add, Dot, attention) gets one tensor where it wants a list, or tensors whose other dimensions differ: two branches that were pooled or strided differently, a batch size written into one of them.",
        details=("They are {left} and {right}.",),
        fix="""\
x = keras.layers.Concatenate()([a, b])              # one list, not (a, b) as two arguments
x = keras.layers.Attention()([query, value])
print(a.shape, b.shape)                              # equal but for the axis that is joined: padding="same", cropping, Resizing in one branch
b = keras.layers.Conv2D(a.shape[-1], 1)(b)           # other channels: a 1x1 convolution before Add""",
        evidence="recalled",
        example="ValueError: A merge layer should be called on a list of inputs. Received: inputs=<KerasTensor> (not a list of tensors)",
    ),
    KnownError(
        id="E572",
        family="stateful-rnn",
        phase=Phase.BUILDING,
        patterns=(
            r"If an? (?:RNN|layer) is stateful",
            r"Layer must be stateful",
            r"In a stateful network, you should only pass inputs",
            r"batch size of the input sequences must be the same",
            r"stateful RNN.{0,80}?batch",
        ),
        cause="A stateful recurrent layer keeps a state for each example of a batch: the batch size must be fixed and known, and every batch (the last one too) must have it. In a replica of a strategy it is the global batch divided by the replicas.",
        fix="""\
inputs = keras.Input(batch_shape=(per_replica_batch, steps, features))      # under a strategy: the replica's part
dataset = dataset.batch(global_batch, drop_remainder=True)
keras.layers.LSTM(128)                                                          # stateful=False, where the state need not pass from batch to batch""",
        evidence="recalled",
        example="ValueError: If a RNN is stateful, it needs to know its batch size. Specify the batch size of your input tensors",
    ),
    KnownError(
        id="E573",
        family="application-arguments",
        phase=Phase.BUILDING,
        patterns=(
            r"If `?include_top`? is True",
            r"as true, `?classes`? should be 1000",
            r"The input must have 3 channels",
            r"Only `?None`? and `?softmax`? activations are allowed",
            r"`?weights`? argument should be either",
            r"When setting `?include_top=True`?",
            r"`?input_shape`? must be a tuple of three integers",
            r"`?decode_predictions`? expects",
        ),
        cause="A model of keras.applications is asked for a form that its pretrained weights do not have: the top of ImageNet (1000 classes, one input size, three channels) with other classes, sizes or channels.",
        fix="""\
base = keras.applications.EfficientNetB0(include_top=False, weights="imagenet", input_shape=(256, 256, 3), pooling="avg")
outputs = keras.layers.Dense(NUM_CLASSES, activation="softmax", dtype="float32")(base(inputs))       # a top of your own
image = tf.image.grayscale_to_rgb(image)                                # one channel to three; or weights=None""",
        evidence="recalled",
        example='ValueError: If using `weights="imagenet"` with `include_top=True`, as true, `classes` should be 1000. Received: classes=10',
    ),
    KnownError(
        id="E574",
        family="loss-scale",
        phase=Phase.BUILDING,
        patterns=(
            r"LossScaleOptimizer cannot wrap",
            r"already wrapped by a LossScaleOptimizer",
            r"instance (?:of the new experimental optimizer.{0,60}?)?to LossScaleOptimizer",
            r"'LossScaleOptimizer\w{0,3}' object has no attribute '(?P<name>\w{1,40})'",
            r"LossScale of LossScaleOptimizer passed to compile",
            r"`?dynamic_growth_steps`?\"? must be",
            r"\"?initial_scale\"? must be specified",
        ),
        cause="An optimizer is wrapped for loss scaling in a way that this release does not take (twice, an optimizer of another Keras, an old interface). Loss scaling belongs to float16 on GPUs; bfloat16 on a TPU has float32's range and needs none.",
        details=("It was asked for {name}.",),
        fix="""\
keras.mixed_precision.set_global_policy("mixed_bfloat16")      # TPU: this, and no LossScaleOptimizer at all
model.compile(optimizer=keras.optimizers.Adam(1e-3), ...)         # the plain optimizer
# float16 on a GPU: the policy "mixed_float16"; compile wraps the optimizer by itself, once""",
        citations=("tensorflow/tensorflow#43273", "tensorflow/tensorflow#35528"),
        example="TypeError: LossScaleOptimizer cannot wrap another LossScaleOptimizer, but got: <LossScaleOptimizer>",
    ),
    KnownError(
        id="E575",
        family="directory-dataset",
        phase=Phase.READING,
        patterns=(
            r"No (?:training |validation )?(?:images|text files|audio files|videos) found in directory (?P<path>[\w./:-]{1,160})",
            r"lengths of `?labels`? to match the number of files",
            r"`?labels`? argument should be a list/tuple of integer labels, of the same size as the number of",
            r"`?class_names`? passed (?:did not|do not) match",
            r"If using `?validation_split`? and shuffling",
            r"If `?subset`? is set, `?validation_split`? must be set",
            r"Could not find directory (?P<path>[\w./:-]{1,160})",
            r"Found 0 (?:files|images|validated image filenames) belonging to",
            r"there must be exactly 2 class_names",
            r"different number of classes after the split",
            r"class_mode=.{1,20}? (?:there must be 2 classes|y_col=.{1,40}? column values must be)",
            r"All values in column x_col=",
        ),
        cause="The directory does not hold what image_dataset_from_directory (or its siblings for texts and audio) expects: one folder for each class with files of a known kind, on a path that this machine sees.",
        details=("It is {path}.",),
        fix="""\
print(tf.io.gfile.listdir(path), tf.io.gfile.glob(path + "/*/*")[:3])     # folders of classes, files in them (.jpg, .png, .bmp, .gif)
# an unzipped archive often has a folder more: path + "/train"; no hidden folders (.ipynb_checkpoints counts as a class)
dataset = keras.utils.image_dataset_from_directory(path, validation_split=0.2, subset="training", seed=1, image_size=(224, 224))
# gs:// on an older TensorFlow, a TPU Node or a slice: TFRecord files and tf.data.Dataset.list_files("gs://BUCKET/*/*.jpg")""",
        citations=("tensorflow/cloud#136",),
        example="ValueError: No images found in directory /data/train. Allowed formats: ('.bmp', '.gif', '.jpeg', '.jpg', '.png')",
    ),
    KnownError(
        id="E576",
        family="string-for-number",
        phase=Phase.EXECUTING,
        patterns=(
            r"Cast string to (?P<type>\w{3,10}) is not supported",
            r"Cast (?P<type>\w{3,10}) to string is not supported",
        ),
        cause="Text reaches an operation that wants numbers: the model's Input (or a Sequential model without one) has no dtype=string before a lookup layer, a column of names or labels was not encoded, or a number was read as text.",
        details=("The other type is {type}.",),
        fix="""\
model = keras.Sequential([keras.Input(shape=(1,), dtype="string"), lookup, keras.layers.Embedding(...)])
labels = keras.layers.StringLookup(vocabulary=classes, num_oov_indices=0)(names)     # names to class numbers, in dataset.map
x = tf.strings.to_number(column, tf.float32)                                            # numbers that were read as text""",
        citations=("keras-team/tf-keras#77",),
        example='UnimplementedError: Exception encountered when calling layer "sequential" (type Sequential). Cast string to int64 is not supported [Op:Cast]',
    ),
    KnownError(
        id="E577",
        family="generator-threads",
        phase=Phase.READING,
        patterns=(
            r"generator is NOT thread-safe",
            r"generator already executing",
        ),
        cause="Several threads take from one Python generator at once, which a generator does not allow.",
        fix="""\
class Batches(keras.utils.PyDataset): ...              # __len__ and __getitem__ in place of a generator (Keras 2: keras.utils.Sequence)
model.fit(dataset)                                       # best: tf.data, which a TPU wants anyway; workers=1, use_multiprocessing=False""",
        evidence="recalled",
        example="ValueError: generator already executing",
    ),
    KnownError(
        id="E578",
        family="optimisation-of-the-graph",
        phase=Phase.EXECUTING,
        patterns=(
            r"Missing (?P<number>\d{1,3})-th output from(?: node)?",
            r"Node '.{1,120}?': Connecting to invalid output \d{1,3} of source node .{1,120}? which has \d{1,3} outputs",
            r"(?:layout|remapper|constant_folding|loop) ?(?:optimizer)? (?:failed|pass).{0,60}?(?:INVALID_ARGUMENT|Invalid argument|Internal).{0,160}?Error",
            r"Retval\[\d{1,3}\] does not have value",
        ),
        cause="TensorFlow's optimisation of the graph (Grappler) rewrote a node that something else still uses: a fault of that release, mostly where dropout or batch norm is run by several replicas or a model of TensorFlow 1 is loaded.",
        fix="""\
tf.config.optimizer.set_experimental_options({"remapping": False, "layout_optimizer": False, "disable_meta_optimizer": True})     # one after the other: which one was it?
pip install -U tensorflow                                # such faults are mostly mended in the next release""",
        rivals=(
            Rival(
                cause="a fault of the optimiser of this release",
                look_for="it works with disable_meta_optimizer",
                decide='tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})',
            ),
            Rival(
                cause="a SavedModel or graph of another release, whose operation has other outputs now",
                look_for="it fails when a model is loaded, or in serving",
                decide="saved_model_cli show --dir PATH --all; the release that wrote it",
                families=("version-skew",),
            ),
        ),
        citations=("tensorflow/tensorflow#48439",),
        example="InternalError: Missing 1-th output from node replica_3/sequential/dropout/dropout/Dropout (defined at /threading.py:916)",
    ),
)
