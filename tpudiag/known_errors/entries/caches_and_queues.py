# ruff: noqa: E501  (texts of other programs stay as they are)
"""Caches, queues, states and numbers that a step or a pipeline cannot go on with."""

from __future__ import annotations

from tpudiag.known_errors.model import KnownError, Phase, Rival

ERRORS = (
    KnownError(
        id="E579",
        family="cached-pipeline",
        phase=Phase.READING,
        patterns=(
            r"Cache iterator is in an invalid state",
            r"concurrent caching iterator",
            r"returned OutOfRange without setting `?\*?end_of_sequence",
            r"cache lockfile already exists",
            r"get_next after iteration should have finished",
            r"Failed to load tf\.data snapshot at",
            r"tf\.data snapshot.{0,80}?(?:not finished|failed to write)",
            r"Cache should only be read after it has been completed",
        ),
        cause="dataset.cache(FILE) does not get through: a cache file or lock of a run that died, two datasets or processes (hosts, evaluation) with one cache file, or an iterator that is read on after its end (a fault of older releases where interleave or map follows a cache).",
        fix="""\
rm -f CACHE_FILE*                                        # .lockfile, .index, .data-*: of the run that died
dataset = dataset.cache(f"/tmp/cache_{split}_{host}")    # one file for each dataset and host; or cache() in memory, where it fits
for _ in dataset: pass                                    # read to its end once: only then is the cache complete
pip install -U tensorflow""",
        citations=("tensorflow/tensorflow#29060", "tensorflow/tensorflow#30141"),
        example="InternalError: Cache iterator is in an invalid state. (Perhaps GetNext called after end_of_sequence?)",
    ),
    KnownError(
        id="E580",
        family="queue-closed",
        phase=Phase.READING,
        patterns=(
            r"(?P<queue>\w{0,20}Queue) .{1,80}? is closed and has insufficient elements \(requested (?P<wanted>\d{1,6}), current size (?P<there>\d{1,6})\)",
            r"is closed and has insufficient elements",
            r"Queue .{1,60}? is (?:already )?closed",
        ),
        cause="An input queue of TensorFlow 1 was closed before it gave a batch: the reader failed (no such file, a record that cannot be decoded; size 0 means that nothing was ever read), the data ended (num_epochs), or its local variables were not initialised.",
        details=("{wanted} were asked for, {there} are there.",),
        fix="""\
print(len(glob.glob(PATTERN)))                            # size 0: is there any file? the earlier lines of the log say what the reader met
sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])      # num_epochs is a local variable
dataset = tf.data.TFRecordDataset(files).map(parse).shuffle(10_000).batch(64, drop_remainder=True)     # in place of queues""",
        rivals=(
            Rival(
                cause="nothing was read: no file, or the first record fails",
                look_for="`current size 0`",
                decide="one record by hand: next(iter(tf.data.TFRecordDataset(files)))",
                cues=(r"current size 0",),
                families=("no-files", "file-missing", "parse-spec"),
            ),
            Rival(
                cause="the data ended: fewer records than steps times batch",
                look_for="a size above 0, after many steps",
                decide="count the records",
                families=("end-of-data",),
            ),
        ),
        citations=("yscacaca/DeepSense#2",),
        example="OutOfRangeError: RandomShuffleQueue '_2_shuffle_batch/random_shuffle_queue' is closed and has insufficient elements (requested 64, current size 10)",
    ),
    KnownError(
        id="E586",
        family="initial-state",
        phase=Phase.BUILDING,
        patterns=(
            r"`?initial_state`? was passed that is not compatible with",
            r"`?initial_state`? .{0,60}?(?:must|should|expected|has \d)",
            r"(?:Layer|RNN) (?:has|expects|was passed) \d{1,2} (?:initial )?states",
            r"The initial state of a Bidirectional layer cannot be specified with a mix",
        ),
        cause="The state handed to a recurrent layer is not its state: the sequence of outputs in its place, one state for an LSTM (which has two), another width than units, or the states of a Bidirectional layer (twice as many).",
        fix="""\
outputs, state_h, state_c = keras.layers.LSTM(128, return_sequences=True, return_state=True)(x)       # GRU: outputs, state
decoder = keras.layers.LSTM(128)(y, initial_state=[state_h, state_c])                                   # the states, (batch, units) each; not outputs
state_h = keras.layers.Concatenate()([forward_h, backward_h])                                            # Bidirectional: then units=256 in the decoder""",
        citations=("tensorflow/tensorflow#58460",),
        example="ValueError: An `initial_state` was passed that is not compatible with `cell.state_size`.",
    ),
    KnownError(
        id="E596",
        family="not-invertible",
        phase=Phase.EXECUTING,
        patterns=(
            r"(?:Input|matrix) (?:matrix )?is not invertible",
            r"Cholesky decomposition was not successful",
            r"Self-adjoint eigen decomposition was not successful",
            r"Singular matrix",
        ),
        cause="A matrix cannot be inverted or decomposed: it is singular or, by rounding, no longer positive (float32, and more so bfloat16), or holds NaN.",
        fix="""\
with_jitter = matrix + 1e-4 * tf.eye(tf.shape(matrix)[-1])        # a little on the diagonal
tf.linalg.cholesky(tf.cast(matrix, tf.float32))                     # never in bfloat16: dtype="float32" for that layer
tf.debugging.check_numerics(matrix, "matrix")                        # NaN before it? then that is the error""",
        evidence="recalled",
        example="InvalidArgumentError: Cholesky decomposition was not successful. The input might not be valid.",
    ),
    KnownError(
        id="E597",
        family="ctc-labels",
        phase=Phase.EXECUTING,
        patterns=(
            r"Saw a non-null label \(index >= num_classes - 1\)",
            r"Not enough time for target transition sequence",
            r"sequence_length\(\d{1,5}\) ?<= ?\d{1,6}",
            r"No valid path found",
            r"label_length.{0,60}?(?:must|exceed|greater|longer)",
        ),
        cause="CTC gets labels that its outputs cannot spell: a label number that is the blank's (the last class) or larger, more characters than time steps are left after the poolings, or lengths that do not belong to the sequence.",
        fix="""\
layer = keras.layers.Dense(NUM_CHARACTERS + 1)                       # one more: the blank, the last one (keras' ctc_batch_cost)
input_length = logits.shape[1]                                        # after all strides and poolings; must be >= label_length, doubled letters count twice
assert int(tf.reduce_max(label_length)) <= input_length and int(tf.reduce_max(labels)) < NUM_CHARACTERS
tf.nn.ctc_loss(labels=dense, logits=logits, label_length=n, logit_length=m, logits_time_major=False, blank_index=-1)      # dense labels: runs on a TPU""",
        evidence="recalled",
        example="InvalidArgumentError: Saw a non-null label (index >= num_classes - 1) following a null label, batch: 0 num_classes: 80",
    ),
    KnownError(
        id="E445",
        family="program-cache",
        phase=Phase.LOADING,
        patterns=(
            r"Found TPUCompilationKey op but",
            r"Invalid TPU compilation cache key",
            r"persistent TPU compilation cache",
            r"to fetch the compilation cache entry",
            r"Failed to (?:de)?serialize (?:the )?T(?:PU|pu) ?(?:program|executable)",
            r"Failed to serialize TpuExecutableProto",
            r"Failed to write a TPU compilation cache",
            r"deserialize TPU executable because",
            r"(?:TPU )?program .{0,60}?not found in (?:the )?(?:compilation )?cache",
            r"compilation cache.{0,100}?(?:corrupt|mismatch|failed|incompatible)",
            r"No (?:subgraph|program) found for key",
        ),
        cause="A compiled program could not be stored, found or loaded: the compilation cache is damaged, of another libtpu or another topology, too large, or the worker that held the program was restarted.",
        fix="""\
gcloud storage rm -r gs://BUCKET/compilation_cache/**          # or rm -rf the local cache folder: it is made again
env | grep -iE "compilation_cache|TPU_.*CACHE"                 # a cache for each release of libtpu and each topology
# in the middle of a run: the worker was restarted; initialise again, and go on from the last checkpoint""",
        evidence="recalled",
        example="NOT_FOUND: Cannot access the coordination service or persistent cache to fetch the compilation cache entry.",
    ),
)
