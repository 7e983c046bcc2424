# ruff: noqa: E501  (texts of other programs stay as they are)
"""Records, their types, and where the data ends."""

from __future__ import annotations

from tpudiag.known_errors.model import Kind, KnownError, Phase, Rival

ERRORS = (
    KnownError(
        id="E129",
        family="corrupted-data",
        phase=Phase.READING,
        patterns=(
            r"corrupted record at (?P<offset>\d{1,18})",
            r"truncated record at (?P<offset>\d{1,18})",
            r"ValueError: buffer size must be a multiple of element size",
            r"DataLossError",
            r"Checksum does not match",
            r"inflate\(\) failed with error",
            r"Could not parse .{0,20}?proto",
            r"UnicodeDecodeError.{0,120}?(?:tfrecord|Example|parse)",
            r"Not a valid TFRecord",
            r"tarfile\.ReadError",
            r"LZMAError",
            r"Compressed file ended before",
            r"Not a gzipped file",
        ),
        cause="A data file is damaged, cut off, or no TFRecord file of that compression: it was not downloaded or written to its end, or is read as what it is not.",
        details=("It was found at byte {offset}.",),
        fix="""\
for path in tf.io.gfile.glob(pattern):                     # which file
    try: n = sum(1 for _ in tf.data.TFRecordDataset(path))
    except tf.errors.DataLossError as error: print(path, error)
# write it again (close the writer), fetch it again; compression_type="GZIP" where it is compressed
dataset = dataset.ignore_errors()                          # only once the number of bad records is known""",
        citations=(
            "tensorflow/tensorflow#13463",
            "tensorflow/tensorflow#21772",
            "AdaCompNUS/pfnet#1",
            "google/automl#495",
        ),
        yields_to=("E719", "E478"),
        example="DataLossError: corrupted record at 12",
    ),
    KnownError(
        id="E130",
        family="parse-spec",
        phase=Phase.READING,
        patterns=(
            r"Could not parse example input",
            r"Number of \w{1,8} values != expected",
            r"Name: .{0,60}?Feature: (?P<feature>[\w/]{1,60}) ",
            r"Can't parse serialized Example",
            r"Feature: (?P<feature>[\w/]{1,60}) \(data type: (?P<type>\w{1,12})\) is required but could not be found",
            r"Key: (?P<feature>[\w/]{1,60})\. .{0,30}?Data types don't match",
            r"Input to Decode\w{0,10}Raw has length (?P<length>\d{1,12}) that is not a multiple of",
            r"Input size .{0,20}? is not a multiple of",
            r"Type mismatch between parsed tensor \((?P<type>\w{1,12})\) and dtype",
            r"Could not parse (?:SequenceExample|serialized|example)",
            r"Expected .{0,20}? features? of type .{0,40}?but",
            r"(?:Required|Missing) (?:feature|key)s? .{0,60}?(?:not found|missing) in .{0,20}?[Ee]xample",
            r"Cannot parse (?:serialized )?(?:tensor|example|proto)",
            r"Feature list '(?P<feature>[\w/]{1,60})' is required but could not be found",
            r"is required but could not be found\. .{0,20}?Did you mean to include it",
            r"FixedLenSequenceFeature requires allow_missing",
            r"Unsupported \w{4,30}Feature .{0,80}? for key",
            r"(?:Dense|Ragged) and (?:sparse|ragged) keys must not intersect",
            r"Missing (?:index|value)_key for SparseFeature",
            r"decode_raw_v1\(\) missing",
        ),
        cause="The records do not hold what the parse function asks for: another name, type or length of a feature.",
        details=("The feature is {feature}.",),
        fix="""\
raw = next(iter(tf.data.TFRecordDataset(path))); print(tf.train.Example.FromString(raw.numpy()))     # what they hold
features = {"image": tf.io.FixedLenFeature([], tf.string), "label": tf.io.FixedLenFeature([], tf.int64)}
# a list of changing length: tf.io.VarLenFeature, or FixedLenSequenceFeature(allow_missing=True)""",
        evidence="recalled",
        example="InvalidArgumentError: Feature: image (data type: string) is required but could not be found.",
    ),
    KnownError(
        id="E131",
        family="end-of-data",
        phase=Phase.READING,
        patterns=(
            r"Your input ran out of data",
            r"(?:Your|The) dataset.{0,60}?ran out of data",
            r"(?:OutOfRangeError|Out of range|OUT_OF_RANGE).{0,160}?(?:function_node|root error).{0,200}?End of sequence",
            r"OutOfRangeError.{0,200}?End of sequence",
            r"root error\(s\) found.{0,400}?Out of range: {0,2}End of sequence",
            r"End of sequence.{0,120}?input_pipeline_task",
            r"infeed.{0,300}?End of sequence",
            r"You may need to use the repeat\(\) function",
            r"When passing an infinitely repeating dataset",
            r"you must specify the number of steps",
            r"Asked to retrieve element \d{1,9}, but the Sequence has length [1-9]",
            r"Please specify the number of steps via the",
            r"When using a `?tf\.keras\.utils\.experimental\.DatasetCreator",
            r"the dataset must be finite\. Make sure not to call `?repeat",
            r"Number of samples .{0,12}? is less than samples required",
            r"`validation_steps` must be specified",
            r"dataset you passed contains \d{1,9} batches, but you passed `epochs=",
        ),
        cause="The dataset ended before the steps that were asked for: steps_per_epoch (or validation_steps, max_steps) times epochs is more than it holds, or it is not repeated. Keras 3 says `Your input ran out of data` also of a dataset of unknown length that fit goes through without steps_per_epoch, once, when it has counted the batches: nothing is lost then.",
        fix="""\
dataset = dataset.repeat()                                          # with steps_per_epoch; without it no repeat()
steps_per_epoch = examples // global_batch                          # with drop_remainder=True, rounded down
model.fit(dataset, steps_per_epoch=steps_per_epoch, validation_steps=validation_examples // global_batch)""",
        rivals=(
            Rival(
                cause="more steps are asked for than it holds: steps_per_epoch or validation_steps times epochs, or no repeat()",
                look_for="it fails after some steps; `ran out of data`",
                decide='python -c "...; print(dataset.cardinality(), STEPS_PER_EPOCH * EPOCHS)"',
                cues=(r"ran out of data", r"steps_per_epoch", r"validation_steps", r"model\.fit\("),
            ),
            Rival(
                cause="several workers, and one of them got no file: a strategy of several workers shards by file where it can",
                look_for="MultiWorkerMirroredStrategy, TF_CONFIG, several hosts; it fails at the first batch, on some workers only",
                decide="ls FILES | wc -l      # at least as many as workers?",
                fix="""\
options = tf.data.Options()
options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.DATA      # or OFF, and shard by hand
dataset = dataset.with_options(options)""",
                cues=(r"MultiWorkerMirrored", r"AutoShard", r"CollectiveAllReduce"),
                families=("too-few-files",),
            ),
            Rival(
                cause="it is empty from the start: no file matches the pattern, a filter leaves nothing, or there are fewer examples than a batch with drop_remainder=True",
                look_for="it fails at the first batch",
                decide='python -c "...; print(sum(1 for _ in dataset.take(3)))"',
            ),
        ),
        citations=(
            "tensorflow/tensorflow#44506",
            "williamfzc/stagesepx#145",
            "tensorflow/tensorflow#64476",
            "tensorflow/tpu#132",
            "captain-pool/GSOC#12",
            "kr-colab/ReLERNN#16",
        ),
        example="""\
OutOfRangeError: 9 root error(s) found.
  (0) Out of range: {{function_node __inference_train_function_22346}} End of sequence""",
    ),
    KnownError(
        id="E184",
        family="sixty-four-bit",
        phase=Phase.COMPILING,
        patterns=(
            r"rewriting computation to not contain X64 element types",
            r"X64 element types.{0,160}?not (?:implemented|supported)",
            r"Python int(?:eger)? .{0,24}?too large to convert(?! to C (?:long|ssize_t|int)(?!64))",
            r"overflow was encountered while parsing an argument to a jitted",
        ),
        cause="An operation on 64-bit numbers (int64, uint64, float64) is in the step, and the TPU has no such form of it (bitcast, hashing, random bits, some reductions).",
        fix="""\
x = tf.cast(x, tf.float32); ids = tf.cast(ids, tf.int32)       # before the operation that the message names; best in dataset.map
tf.keras.backend.set_floatx("float32")                         # and no np.float64 arrays, no tf.bitcast of 64-bit values""",
        evidence="recalled",
        example="UNIMPLEMENTED: While rewriting computation to not contain X64 element types, XLA encountered an HLO for which this rewriting is not implemented: %bitcast-convert = u64[] bitcast-convert",
        yields_to=("E755",),
    ),
    KnownError(
        id="E132",
        family="type-not-on-tpu",
        phase=Phase.EXECUTING,
        patterns=(
            r"Unsupported data type for TPU: (?P<type>\w{1,12})",
            r"<dtype: '(?P<type>\w{1,12})'> is not a supported TPU infeed type",
            r"(?P<type>U8 and S8) types are not supported",
            r"OpKernel for '?TPU'? devices compatible.{0,300}?T\w{0,6}=DT_(?P<type>\w{1,12})",
            r"OpKernel for '?TPU'? devices",
            r"(?:type|dtype) (?P<type>\w{1,12}) (?:is )?not supported (?:on|by) TPU",
            r"accelerator='tpu', precision=(?:64|'64)",
            r"Can't copy Tensor with type (?P<type>\w{1,12}) to device",
            r"TPU:\d{1,4}'? does not have registered OpKernel support for (?P<op>(?!_Arg)\w{1,40})",
            r"TPU.{0,60}?(?:does not|doesn't|cannot) support .{0,30}?(?:type|dtype) (?P<type>\w{1,12})",
        ),
        cause="A tensor of a type that a TPU does not have (string, uint8, int8, float64 and the like) reaches the TPU.",
        details=("The type is {type}.",),
        fix="""\
dataset = dataset.map(lambda image, label: (tf.cast(image, tf.float32), tf.cast(label, tf.int32)))   # cast on the host
# strings: encode them (tokenize, look up) in dataset.map, and drop what the model does not need
dataset = dataset.map(lambda x: {k: v for k, v in x.items() if v.dtype != tf.string})""",
        citations=(
            "tensorflow/tensorflow#60092",
            "tensorflow/tensorflow#37426",
            "tensorflow/datasets#832",
            "google/uncertainty-baselines#579",
            "google-research/text-to-text-transfer-transformer#291",
            "pytorch/xla#567",
        ),
        example="InvalidArgumentError: Unsupported data type for TPU: string, caused by output Pad_1:0",
        yields_to=(
            "E753",
            "E433",
        ),
    ),
    KnownError(
        id="E41",
        family="bfloat16-op",
        phase=Phase.BUILDING,
        patterns=(
            r"Value for attr '(?P<attr>\w{1,20})' of bfloat16 is not in the list of allowed values",
            r"bfloat16.{0,60}?(?:is not in|not in) (?:the )?list of allowed values",
            r"No (?:OpKernel|registered kernel).{0,200}?DT_BFLOAT16",
        ),
        cause="A layer (often image augmentation) uses an operation that has no bfloat16 version, under a mixed_bfloat16 policy.",
        fix='layer = keras.layers.RandomRotation(0.1, dtype="float32")     # for the layer in the traceback',
        citations=("keras-team/keras#17508",),
        example="InvalidArgumentError: Value for attr 'dtype' of bfloat16 is not in the list of allowed values: uint8, int32, int64, half, float, double",
        near_miss="TypeError: Value passed to parameter 'images' has DataType string not in list of allowed values: uint8, float32",
    ),
    KnownError(
        id="E138",
        family="ragged-or-sparse",
        phase=Phase.READING,
        patterns=(
            r"RaggedTensors?.{0,100}?(?:not|isn't|cannot be) (?:yet )?(?:supported|used).{0,80}?(?:TPU|XLA|Strategy)",
            r"SparseTensors?.{0,100}?(?:not|isn't|cannot be) (?:yet )?(?:supported|used).{0,80}?(?:TPU|XLA|Strategy)",
            r"(?:TPU|XLA|Strategy).{0,100}?(?:not|doesn't|cannot) .{0,20}?support .{0,40}?RaggedTensor",
            r"(?:TPU|XLA|Strategy).{0,100}?(?:not|doesn't|cannot) .{0,20}?support .{0,40}?SparseTensor",
            r"composite tensors? .{0,60}?not supported.{0,60}?(?:TPU|Strategy)",
        ),
        cause="Ragged or sparse tensors reach the TPU, which knows dense ones of fixed shape only.",
        fix="""\
dataset = dataset.map(lambda x: x.to_tensor(shape=[None, MAX_LENGTH]))       # RaggedTensor: padded to a fixed length
dataset = dataset.map(lambda x: tf.sparse.to_dense(x))                       # SparseTensor""",
        evidence="recalled",
        example="NotImplementedError: RaggedTensor inputs are not supported with TPUStrategy",
    ),
    KnownError(
        id="E135",
        family="embedding-initializer",
        phase=Phase.BUILDING,
        patterns=(
            r"Function does not have \*\*kwargs parameter, but contains an unknown partial keyword",
        ),
        cause="An initializer class was given where an instance is meant (TableConfig of TPUEmbedding).",
        fix="""\
table = tf.tpu.experimental.embedding.TableConfig(
    vocabulary_size=1000, dim=64, initializer=tf.initializers.TruncatedNormal(mean=0.0, stddev=0.1))   # an instance: with ()
dataset = dataset.batch(global_batch, drop_remainder=True)""",
        citations=("tensorflow/recommenders#240",),
        example="ValueError: Function does not have **kwargs parameter, but contains an unknown partial keyword.",
    ),
    KnownError(
        id="E136",
        family="embedding-on-tpu",
        phase=Phase.BUILDING,
        kind=Kind.BROAD,
        patterns=(
            r"TPUEmbedding.{0,200}?(?:Error|not supported|must be|outside|only (?:be )?used|requires?)",
            r"(?:Error|not supported|must be|outside|only).{0,160}?TPUEmbedding",
            r"SparseCore.{0,120}?(?:not (?:supported|available|found)|Error|fail)",
            r"embedding_device.{0,80}?(?:not supported|unsupported)",
        ),
        cause="The TPU's embedding hardware is used where it cannot be: outside the strategy's scope, with a batch whose size is unknown, with an optimizer or feature it does not take, or on a generation that lacks it.",
        fix="""\
with strategy.scope():
    embedding = tfrs.layers.embedding.TPUEmbedding(feature_config, optimizer=tf.tpu.experimental.embedding.Adagrad(0.1))
dataset = dataset.batch(global_batch, drop_remainder=True)       # inputs of rank 1, ragged or sparse; no batch_size= in the layer""",
        evidence="recalled",
        example="ValueError: TPUEmbedding layer must be created under a TPUStrategy",
        yields_to=("E79",),
    ),
)
