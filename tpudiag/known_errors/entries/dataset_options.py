# ruff: noqa: E501  (texts of other programs stay as they are)
"""What tf.data refuses: padding, batches, ranges, CSV files, its service."""

from __future__ import annotations

from tpudiag.known_errors.model import KnownError, Phase

ERRORS = (
    KnownError(
        id="E719",
        family="padded-batch",
        phase=Phase.READING,
        patterns=(
            r"Padding value tensor .{1,160}? does not match output type",
            r"Padding value should be a scalar",
            r"Padded batching of components of type",
            r"[Pp]added shape .{1,120}? must be a 1-D tensor",
            r"The padded shape .{1,80}? is not compatible with the (?:corresponding input component )?shape",
            r"padded_shapes?.{0,120}?(?:same structure|not compatible|must be)",
            r"Attempted to pad to a smaller size than the input element",
            r"All padded shapes must be vectors",
        ),
        cause="padded_batch is told to pad in a way that does not fit the elements: a padding value of another type than the component (0 for a float or a string), shapes of another structure or rank than the elements, or a length that is shorter than an element.",
        fix="""\
print(dataset.element_spec)                                                  # structure, ranks and types that shapes and values must have
dataset = dataset.map(lambda x, y: (x[:MAX_LENGTH], y))                       # cut first: no element longer than the padded shape
dataset = dataset.padded_batch(B, padded_shapes=([MAX_LENGTH], []), padding_values=(tf.constant(0, tf.int64), tf.constant(0.0)), drop_remainder=True)     # of each component's type""",
        evidence="recalled",
        example="TypeError: Padding value tensor (tf.Tensor(0, shape=(), dtype=int32)) does not match output type: <dtype: 'int64'>",
    ),
    KnownError(
        id="E720",
        family="unbatched-elements",
        phase=Phase.READING,
        patterns=(
            r"Cannot unbatch an input whose components have different batch sizes",
            r"Can't unbatch rank-0 tensor",
            r"Input shape should have at least one dimension\. Perhaps your input dataset is not batched",
            r"Cannot unbatch an input with scalar components",
            r"unbatch\(\).{0,80}?(?:scalar|rank)",
            r"Batch size must be greater than zero",
            r"Input of unbatch must have",
        ),
        cause="unbatch, rebatching or a batch is asked of elements that have none: scalars, components with different first dimensions, or a batch size that came out as 0 (a division of a small dataset, an empty flag).",
        fix="""\
print(dataset.element_spec)                                # every component needs the batch's dimension first, of one size
dataset = dataset.batch(global_batch, drop_remainder=True)   # global_batch >= number of replicas, never 0
dataset = dataset.map(lambda x, y, meta: (x, y))             # a scalar that belongs to the whole batch: left out""",
        evidence="recalled",
        example="ValueError: Cannot unbatch an input whose components have different batch sizes.",
    ),
    KnownError(
        id="E721",
        family="range-arguments",
        phase=Phase.EXECUTING,
        patterns=(
            r"Requires delta != 0",
            r"Requires start (?:<=|>=) limit when delta [<>] 0: ?(?P<start>[-\d.e]{1,20})/(?P<limit>[-\d.e]{1,20})",
            r"range\(\) step argument must not be zero",
            r"Requires (?:start|limit|delta) .{0,40}?(?:not be NaN|finite)",
        ),
        cause="tf.range, tf.linspace or a ragged range is given numbers that make no range: a step of 0, or a start beyond the limit. One of them was computed: an empty list, a length of 0, a division of small whole numbers, a file without rows.",
        details=("It goes from {start} to {limit}.",),
        fix="""\
tf.debugging.assert_greater(delta, 0, message="step of the range")           # where the numbers are made: which element of the data it is
limit = tf.maximum(limit, start); delta = tf.maximum(delta, 1)
dataset = dataset.filter(lambda x: tf.size(x) > 0)                             # no empty elements""",
        citations=("tensorflow/tensorflow#47750",),
        example="InvalidArgumentError: Requires delta != 0: 0\n\t [[{{node RaggedRange}}]]",
    ),
    KnownError(
        id="E722",
        family="csv-columns",
        phase=Phase.READING,
        patterns=(
            r"Cannot infer column names without a header line",
            r"No files match .{1,160}?\.(?:\s|$)",
            r"Files have different column names in the header row",
            r"specified in select_columns",
            r"Received StopIteration when reading the header line",
            r"`compression_type` .{1,20}? is not supported for probing columns",
            r"Cannot have duplicate column names",
        ),
        cause="tf.data.experimental.make_csv_dataset cannot make sense of its files: no file matches, a file is empty or has no header, the headers differ, or a column is asked for that is not there.",
        fix="""\
print(tf.io.gfile.glob(pattern))                                      # the files that match; gs:// for a TPU Node
dataset = tf.data.experimental.make_csv_dataset(pattern, batch_size=B, column_names=[...], header=False, label_name="y", num_epochs=1)
# honest way for a TPU: TFRecord files of numbers, written once""",
        evidence="recalled",
        example="ValueError: Cannot infer column names without a header line.",
    ),
    KnownError(
        id="E723",
        family="data-service-arguments",
        phase=Phase.READING,
        patterns=(
            r"[Ss]ervice string .{1,80}? does not begin with a protocol",
            r"[Mm]alformed `?service`? string has multiple",
            r"(?:is not a valid|tf\.data service) processing mode",
            r"`?(?:job_name|service)`? must not be empty",
            r"Cannot enable fault tolerant mode without configuring a work_dir",
            r"set both `?consumer_index`? and `?num_consumers`?",
            r"cross-trainer cache requires",
            r"The tf\.data service is running an earlier version of TensorFlow",
        ),
        cause="An argument of the tf.data service is not as it wants it: the address needs its protocol (grpc://host:port), the mode is a ShardingPolicy, coordinated reads need both numbers and a job name, and all parties one release of TensorFlow.",
        fix="""\
service = f"grpc://{dispatcher_host}:5050"                             # dispatcher.target gives it whole
dataset = dataset.apply(tf.data.experimental.service.distribute(processing_mode=tf.data.experimental.service.ShardingPolicy.OFF, service=service, job_name="train"))
tf.data.experimental.service.DispatcherConfig(port=5050, work_dir="gs://BUCKET/dispatcher", fault_tolerant_mode=True)""",
        evidence="recalled",
        example="ValueError: service string localhost:5050 does not begin with a protocol. The service should be in the format <protocol>://<address>, e.g. grpc://localhost:5000",
    ),
    KnownError(
        id="E724",
        family="structures-differ",
        phase=Phase.TRACING,
        patterns=(
            r"Could not pack sequence\. Structure had (?P<wanted>\d{1,5}) elements, but flat_sequence had (?P<given>\d{1,5})",
            r"If shallow structure is a sequence, input must also be a sequence",
            r"The two structures don't have the same keys",
            r"nest only supports dicts with sortable keys",
            r"Cannot map over no sequences",
            r"Received namedtuple .{1,120}? with fields .{1,160}? as input",
        ),
        cause="Two nested structures (elements of datasets, results of branches, arguments of a map, states of a loop) must be built alike, and are not: other keys, a list in place of a tuple, a named tuple where Keras cannot tell inputs from labels, keys of mixed types.",
        details=("{wanted} parts were wanted, and {given} came.",),
        fix="""\
print(dataset.element_spec)                                            # both structures, side by side
dataset = dataset.map(lambda element: (element["x"], element["y"]))     # a plain tuple (inputs, labels[, weights])
return {"loss": loss, "steps": steps}                                   # the same keys, types and order from every branch and pass of a loop""",
        evidence="recalled",
        example="ValueError: Could not pack sequence. Structure had 3 elements, but flat_sequence had 2 elements.",
    ),
)
