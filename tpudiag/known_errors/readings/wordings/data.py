# ruff: noqa: E501  (sentences and what is pasted stay in one piece)
"""Wordings of input pipelines, records and what they hold."""

from __future__ import annotations

from .wording import Wording, Wordings

_LOOK = "raw = next(iter(tf.data.TFRecordDataset(path))); print(tf.train.Example.FromString(raw.numpy()))      # what the file holds"

DATA: Wordings = {
    "E130": (
        Wording(
            r"Key: (?P<feature>image/\w{1,30}(?:/\w{1,30})?)\. {0,2}Can't parse serialized Example",
            "`<<feature>>` does not hold one value an example, as FixedLenFeature([]) asks: the record has none of it, or several (boxes, labels of several objects).",
            'features = {"<<feature>>": tf.io.VarLenFeature(tf.int64)}      # a list of any length; tf.sparse.to_dense after it\n'
            + _LOOK,
            "Key: image/class.  Can't parse serialized Example.",
        ),
        Wording(
            r"Key: (?P<feature>[\w/.-]{0,59}[\w/-])(?:, Index: \d{1,7})?\. {0,2}(?:Can't parse serialized Example|Number of \w{1,8} values != expected)",
            "`<<feature>>` has another number of values in a record than its FixedLenFeature says: it was written with another length, or its length changes from example to example.",
            _LOOK
            + '\nfeatures = {"<<feature>>": tf.io.FixedLenFeature([LENGTH_IN_THE_FILE], tf.int64)}      # the length that it has; VarLenFeature where it changes',
            "Key: ids.  Can't parse serialized Example.",
        ),
        Wording(
            r"Feature: (?P<feature>[\w/]{1,60}) \(data type: (?P<type>\w{1,12})\) is required but could not be found",
            "The records hold no `<<feature>>`: its name is another in the file, or these are records of another task (a test set without labels).",
            _LOOK
            + '\nfeatures = {"<<feature>>": tf.io.FixedLenFeature([], tf.<<type>>, default_value=...)}      # a default where it may lack',
            "Name: <unknown>, Feature: label (data type: int64) is required but could not be found.",
        ),
        Wording(
            r"Key: (?P<feature>[\w/.-]{1,60})\. .{0,30}?Data types don't match",
            "`<<feature>>` is of another type in the records than the parser asks for: a record holds int64, float32 or bytes (tf.string) only.",
            _LOOK
            + '\nfeatures = {"<<feature>>": tf.io.FixedLenFeature([], tf.int64)}      # the type of the file; tf.cast after parsing',
            "Key: image.  Data types don't match. Expected type: float but got type: string",
        ),
        Wording(
            r"Input to Decode\w{0,10}Raw has length (?P<length>\d{1,12}) that is not a multiple of",
            "decode_raw is given <<length>> bytes that are no whole number of values: the bytes are of another type than it is told, or are no raw values at all (a JPEG or PNG).",
            "image = tf.io.decode_raw(data, tf.uint8)               # the type with which tobytes() was called\nimage = tf.io.decode_jpeg(data, channels=3)            # where the record holds the file of an image",
            "InvalidArgumentError: Input to DecodeRaw has length 3 that is not a multiple of 4, the size of float",
        ),
    ),
    "E159": (
        Wording(
            r"First element had shape \[[\d,]{3,12},(?:3\] and element \d{1,9} had shape \[[\d,]{3,12},[14]|[14]\] and element \d{1,9} had shape \[[\d,]{3,12},3)\]",
            "Images with different numbers of channels (the last number) are in one batch: some files are grayscale, colour or with transparency, and the decoder gives each as it is (channels=0). Where the first numbers differ too, they are not resized either.",
            "image = tf.io.decode_image(data, channels=3, expand_animations=False)      # a fixed number for all; masks: channels=1\nimage = tf.image.grayscale_to_rgb(image) if image.shape[-1] == 1 else image[..., :3]      # arrays that were read before",
            "Cannot batch tensors with different shapes in component 0. First element had shape [512,512,3] and element 3 had shape [512,512,1].",
        ),
    ),
    "E494": (
        Wording(
            r"'size' must be a 1-D (?:int32 )?Tensor",
            "tf.image.resize takes the size as one list of two numbers, [height, width]: here it got one number, or height and width as two arguments (TensorFlow before 1.0).",
            "image = tf.image.resize(image, [HEIGHT, WIDTH])      # one list",
            "ValueError: 'size' must be a 1-D Tensor of 2 elements: new_height, new_width",
        ),
    ),
    "E91": (
        Wording(
            r"outfed from TPU should preserve batch size dimension, but got scalar",
            "What model_fn returns for predict (or to host_call and eval_metrics) holds a scalar, such as a loss: the outputs of the eight cores are joined along the first axis, and each must have the batch there.",
            'predictions = {"probabilities": probabilities}      # [batch, ...] each: no loss, no scalar in TPUEstimatorSpec(predictions=...)\nmetrics = (metric_fn, [per_example_loss, labels])      # eval_metrics: the loss of each example, not its mean\nhost_call = (host_fn, [tf.reshape(loss, [1])])         # host_call: a scalar as a vector of one',
            'RuntimeError: All tensors outfed from TPU should preserve batch size dimension, but got scalar Tensor("total_loss:0", shape=(), dtype=float32)',
        ),
        Wording(
            r"'?(?:images?|resized)'? contains no shape",
            "The image (or feature) lost its shape in dataset.map: tf.image.decode_image, tf.py_function, numpy_function and sparse features give tensors of unknown rank, and resize wants a rank.",
            "image = tf.io.decode_jpeg(data, channels=3)                                       # or decode_image(data, channels=3, expand_animations=False)\nimage.set_shape([None, None, 3])                                                  # after py_function or numpy_function; then resize",
            "ValueError: 'images' contains no shape.",
        ),
        Wording(
            r"as_list\(\) is not defined on an unknown TensorShape|length of [Ss]hape with unknown rank",
            "A tensor has no known shape at all, not even a number of dimensions. It is one of these: what tf.py_function or numpy_function gave in dataset.map, tf.io.parse_tensor of a record, decode_image without expand_animations=False, a sparse feature, a placeholder made without a shape (TensorFlow 1), or from_generator without output_signature. print(dataset.element_spec) shows `<unknown>` where it is lost.",
            "x.set_shape([224, 224, 3]); y.set_shape([])      # in the function of dataset.map, right after py_function, numpy_function or parse_tensor; before batch()\nx = tf.compat.v1.placeholder(tf.float32, [None, 784])      # TensorFlow 1: a shape for each placeholder\ndataset = tf.data.Dataset.from_generator(gen, output_signature=(tf.TensorSpec([224, 224, 3], tf.float32), tf.TensorSpec([], tf.int32)))",
            "ValueError: as_list() is not defined on an unknown TensorShape.",
        ),
        Wording(
            r"maximum_shape.{0,160}?can't multiply sequence by non-int of type 'NoneType'",
            "An input of the step has no known rank: it comes from tf.py_function, numpy_function, decode_image or from_generator without shapes, and the TPU strategy wants the rank of each.",
            "dataset = dataset.map(lambda x, y: (tf.ensure_shape(x, [HEIGHT, WIDTH, 3]), tf.ensure_shape(y, [])))      # before batch\nprint(dataset.element_spec)      # no <unknown> left",
            "maximum_shape = tensor_shape.TensorShape([None] * rank) TypeError: can't multiply sequence by non-int of type 'NoneType'",
        ),
    ),
    "E131": (
        Wording(
            r"Exception has occurred: OutOfRangeError|End of sequence \[Op:IteratorGetNext(?:Sync)?\]",
            "An eager loop came to the end of its dataset: TensorFlow turns this error into the end of the `for` loop, so nothing is wrong where the loop just ends. It is seen where a debugger stops at errors that are raised and caught, or where iterator.get_next() is called once more than there are elements.",
            "for element in dataset: ...                  # ends by itself; debugger: stop at uncaught exceptions only\nwhile (o := iterator.get_next_as_optional()).has_value(): use(o.get_value())      # in place of get_next() without an end\niterator = iter(dataset.repeat())                # where it shall never end",
            "Exception has occurred: OutOfRangeError End of sequence [Op:IteratorGetNextSync]",
        ),
        Wording(
            r"you must specify the number of steps|Please specify the number of steps via the|When passing an infinitely repeating dataset|`validation_steps` must be specified",
            "The dataset has no end that Keras knows (repeat(), a distributed dataset, a generator): it wants the number of steps.",
            "model.fit(dataset, steps_per_epoch=EXAMPLES // global_batch, validation_data=valid, validation_steps=VALIDATION // global_batch)",
            "ValueError: When providing a distributed dataset, you must specify the number of steps to run.",
        ),
        Wording(
            r"infeed.{0,300}?End of sequence|End of sequence.{0,120}?input_pipeline_task|Error recorded from (?:infeed|evaluation_loop).{0,300}?End of sequence",
            "The data ended before the steps that the Estimator was asked for: the training set is not repeated, or eval_steps x batch is more than the evaluation set holds (drop_remainder leaves out the last, smaller batch).",
            "dataset = dataset.repeat().batch(params['batch_size'], drop_remainder=True)      # training\nestimator.evaluate(input_fn, steps=EVAL_EXAMPLES // eval_batch_size)            # rounded down; at least one batch: eval_batch_size no larger than the set",
            "ERROR:tensorflow:Error recorded from infeed: End of sequence",
        ),
    ),
    "E161": (
        Wording(
            r"Function __inference_[\w<>]{1,80} is not (?:defined|found)",
            "The worker does not know a function of the dataset: the dataset was made before the TPU was connected to (or connected to again), or the client's TensorFlow is another than the worker's.",
            "resolver = tf.distribute.cluster_resolver.TPUClusterResolver(...); tf.config.experimental_connect_to_cluster(resolver); tf.tpu.experimental.initialize_tpu_system(resolver)\ndataset = make_dataset()      # made after it; a cell that connects again makes the datasets again too",
            "NotFoundError: Function __inference_Dataset_map_parse_12 is not defined.",
        ),
    ),
    "E195 E464": (
        Wording(
            r"predictions must be (?:>=|<=) ?[01]",
            "A metric (AUC, Precision, Recall, F1) wants probabilities from 0 to 1 and gets logits.",
            'outputs = keras.layers.Dense(1, activation="sigmoid", dtype="float32")(x)      # the model ends in probabilities\nkeras.metrics.AUC(from_logits=True)                                            # or the metric is told; Precision(thresholds=0.0) for logits',
            "InvalidArgumentError: assertion failed: [predictions must be >= 0] [Condition x >= y did not hold element-wise:]",
        ),
        Wording(
            r"labels?`? out of (?:bound|range)",
            "A label is not below the number of classes that the metric or loss was made for.",
            "print(np.unique(labels), NUM_CLASSES)      # from 0 to NUM_CLASSES - 1; a void label (255) must go: tf.where(y == 255, 0, y) and weight 0",
            "InvalidArgumentError: assertion failed: [`labels` out of bound] [Condition x < y did not hold element-wise:]",
        ),
    ),
    "E152": (
        Wording(
            r"(?:lstm|gru|rnn|zeros_like|strided_slice|angles_to_projective|recurrent)[\w/]{0,80}(?::0)?\) to a numpy array",
            "TensorFlow 2.4 or older with NumPy 1.20 or later: its own LSTM, GRU, RNN and image functions fail with this text, none of your code calls NumPy.",
            'pip install "numpy<1.20"      # for TensorFlow 2.4 and older; then restart the notebook\npip install -U tensorflow      # or 2.5 and later',
            "NotImplementedError: Cannot convert a symbolic Tensor (lstm/strided_slice:0) to a numpy array.",
        ),
    ),
}
