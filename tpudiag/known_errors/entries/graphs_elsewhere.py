# ruff: noqa: E501  (texts of other programs stay as they are)
"""Graphs and files of a TPU that are used where there is none; storage that answers late; commands that are not there."""

from __future__ import annotations

from tpudiag.known_errors.model import KnownError, Phase, Rival

ERRORS = (
    KnownError(
        id="E618",
        family="tpu-graph-elsewhere",
        phase=Phase.BUILDING,
        patterns=(
            r"support Op '(?P<op>TPUReplicated\w{2,10}|TPUReplicateMetadata|CrossReplicaSum|TPUPartitioned\w{2,10}|TPUOrdinalSelector|TPUEmbedding\w{2,30}|TPUCompilationResult|TPUExecute\w{0,20}|Infeed\w{3,12}|Outfeed\w{3,12})' used by",
            r"KeyError: u?'(?P<op>InfeedEnqueueTuple|OutfeedDequeueTuple|TPUReplicat\w{2,10}|CrossReplicaSum|ConfigureDistributedTPU)'",
            r"No registered '(?P<op>TPUReplicated\w{2,10}|TPUReplicateMetadata|CrossReplicaSum|TPUPartitioned\w{2,10}|TPUOrdinalSelector|TPUExecute\w{0,20}|Infeed\w{3,12}|Outfeed\w{3,12})' OpKernel",
        ),
        cause="A graph that was made for a TPU runs where there is none: a model exported or saved from the TPU's step is served or loaded on a CPU or GPU, or the program never reached the TPU (no connection, a session without the TPU's address, the CPU build of TensorFlow), so that the TPU's own operations fall to the CPU.",
        details=("The operation is {op}.",),
        fix="""\
# a model to be used elsewhere: the weights from the TPU, the graph from a CPU
model.save_weights("gs://BUCKET/w.weights.h5")                       # where it was trained
serving = build_model(); serving.load_weights("w.weights.h5"); serving.export("export")      # outside strategy.scope()
# TPUEstimator: export_to_tpu=False, use_tpu=False for export_saved_model and predict on a CPU; restore the checkpoint into a model that is built anew, not its .meta graph
# a job that should be on the TPU:
tf.config.experimental_connect_to_cluster(resolver); tf.tpu.experimental.initialize_tpu_system(resolver); print(tf.config.list_logical_devices("TPU"))
tf.compat.v1.Session(resolver.master())                               # TensorFlow 1: a session with the TPU's address""",
        rivals=(
            Rival(
                cause="a graph exported from the TPU is loaded elsewhere",
                look_for="a SavedModel, a .meta file, serving, conversion; GPU among the registered devices",
                decide="saved_model_cli show --dir EXPORT --all | head      # tags `serve, tpu`?",
                cues=(r"saved_model", r"import_meta_graph", r"XLA_GPU"),
                families=("export",),
            ),
            Rival(
                cause="the program is not connected to the TPU",
                look_for="a notebook, Session() without an address",
                decide='print(tf.config.list_logical_devices("TPU"))',
                families=("not-initialised", "no-tpu-devices"),
            ),
            Rival(
                cause="the CPU or GPU build of TensorFlow on a TPU VM",
                look_for="`Registered devices: [CPU]` on the TPU's own machine",
                decide="pip list | grep -i tensorflow",
                fix="pip uninstall -y tensorflow tensorflow-cpu; <<tpu_install>>",
                families=("no-tpu-build",),
            ),
        ),
        citations=(
            "tensorflow/tensor2tensor#986",
            "tensorflow/tensorflow#25488",
            "google-research/tapas#95",
            "tensorflow/tensorflow#33307",
        ),
        example="InvalidArgumentError: No OpKernel was registered to support Op 'TPUReplicatedInput' used by {{node input0}} with these attrs: [N=32]\nRegistered devices: [CPU, GPU]",
        yields_to=("E12",),
    ),
    KnownError(
        id="E619",
        family="bucket-retries",
        phase=Phase.READING,
        level="warning",
        patterns=(
            r"operation failed and will be automatically retried in .{1,60}?caused by: ?(?P<why>.{3,80})",
            r"operation failed and will be automatically retried",
            r"retrying_utils\.cc:\d{1,4}\].{0,60}?(?:failed|retried)",
        ),
        cause="Storage answers late or not at all, and TensorFlow tries again by itself (ten times): now and then that is harmless; again and again it slows or ends the job. The bucket is in another region, is asked too often or for too many small files, uploads are cut off, or the network of the host is full.",
        details=("It says: {why}",),
        fix="""\
gcloud storage buckets describe gs://BUCKET --format='value(location)'      # the region of the TPU?
export GCS_READ_CACHE_BLOCK_SIZE_MB=64 GCS_REQUEST_IDLE_TIMEOUT_SECS=120     # fewer and larger reads, more patience
dataset = files.interleave(tf.data.TFRecordDataset, cycle_length=16, num_parallel_calls=16)      # fewer at once; files of 100 MB and more
# a dataset to be prepared: on a local disk first, then gcloud storage cp -r ~/tensorflow_datasets gs://BUCKET/""",
        citations=("tensorflow/datasets#740",),
        example="I tensorflow/core/platform/cloud/retrying_utils.cc:73] The operation failed and will be automatically retried in 0.35809 seconds (attempt 1 out of 10), caused by: Unavailable: Upload to gs://bucket/file",
        yields_to=("E124", "E26", "E118"),
    ),
    KnownError(
        id="E620",
        family="command-missing",
        phase=Phase.INSTALLING,
        patterns=(
            r"(?:bash|zsh|sh|/bin/sh|/bin/bash): .{0,30}?(?P<command>[\w./-]{2,40}): (?:command )?not found",
            r"(?P<command>[\w./-]{2,40}): command not found",
            r"command not found: ?(?P<command>[\w./-]{2,40})",
        ),
        cause="The shell knows no such program: the package that brings it is not installed for this user or Python, or its folder (~/.local/bin, the environment's bin, the Cloud SDK's) is not in PATH; a command that ssh runs on the workers has a shorter PATH than your own shell.",
        details=("The program is {command}.",),
        fix="""\
python3 -m pip show -f PACKAGE | grep bin; export PATH="$HOME/.local/bin:$PATH"       # also in ~/.bashrc, above `case $- in`
source ~/tpu/bin/activate && python train.py                                            # the environment, in the same command on every worker
gcloud components install alpha beta; gcloud --version                                   # gcloud: newer, with these components""",
        evidence="recalled",
        example="bash: t5_mesh_transformer: command not found",
        yields_to=("E602",),
    ),
    KnownError(
        id="E621",
        family="tflite-call",
        phase=Phase.SAVING,
        patterns=(
            r"converter can only convert a single ConcreteFunction",
            r"not 'TFLite\w{1,30}'",
            r"'TFLite\w{1,30}' object has no attribute '(?P<name>\w{1,40})'",
            r"type object 'TFLiteConverter\w{0,4}' has no attribute '(?P<name>\w{1,40})'",
            r"TFLiteConverter.{0,80}?(?:missing|unexpected|takes)",
        ),
        cause="The converter to TensorFlow Lite is called in a way that this release does not have: what convert() returns is the model (the converter itself is not), older releases take exactly one function, and the ways in differ between TensorFlow 1 and 2.",
        details=("It is {name}.",),
        fix="""\
converter = tf.lite.TFLiteConverter.from_saved_model("export")        # or from_keras_model(model); from_concrete_functions([f], model)
tflite = converter.convert()                                            # the bytes
open("model.tflite", "wb").write(tflite)""",
        citations=("tensorflow/tensorflow#34350", "tensorflow/tensorflow#56492"),
        example="ValueError: This converter can only convert a single ConcreteFunction. Converting multiple functions is under development.",
    ),
    KnownError(
        id="E622",
        family="variable-without-value",
        phase=Phase.BUILDING,
        patterns=(
            r"`?initial_value`? must be specified",
            r"initial value .{0,40}?(?:must be|is not|not) specified",
            r"Variable is not properly initialized",
            r"`initial_value` arg to `tf\.Variable` must be specified",
        ),
        cause="A variable is made without a value: its initialiser gave None, or a library was written for another TensorFlow, whose tf.Variable took a shape alone or other arguments.",
        fix="""\
self.w = tf.Variable(tf.zeros([10, 4]), name="w")                          # a value, or a callable that gives one
self.w = self.add_weight(name="w", shape=(10, 4), initializer="zeros")
python -c "import tensorflow, transformers; print(tensorflow.__version__, transformers.__version__)"      # Transformers 4.x wants TensorFlow 2.4 and later""",
        citations=("huggingface/transformers#18109",),
        example="ValueError: initial_value must be specified.",
    ),
    KnownError(
        id="E687",
        family="device-placement",
        phase=Phase.EXECUTING,
        patterns=(
            r"Dst node should be assigned to an allowed device",
            r"Found an edge from node (?P<left>[\w./-]{1,120}) to node (?P<right>[\w./-]{1,120}) assigned to",
        ),
        cause="In one function a value of one device meets an operation of another: a variable of the strategy (one copy on each TPU core) is read under a condition, by a summary or in a function that runs on the host.",
        details=("The value is {left}, and {right} wants it.",),
        fix="""\
variable = tf.Variable(0, aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA)      # counters and switches: made outside `with strategy.scope()`, on the host
with tf.device("/cpu:0"): counter = tf.Variable(0)
losses = strategy.run(step_fn, args=(batch,)); mean = strategy.reduce("MEAN", losses, axis=None)      # then write it, outside of the step
# in the step: tf.where or tf.cond on a tensor that is passed in, in place of a variable that is read""",
        citations=("tensorflow/tensorflow#59511",),
        example="InvalidArgumentError: Dst node should be assigned to an allowed device. Found an edge from node cond_1/Merge to node StatefulPartitionedCall assigned to /job:worker/replica:0/task:0/device:TPU:1",
    ),
)
