# ruff: noqa: E501  (texts of other programs stay as they are)
"""Sessions and graphs of TensorFlow 1 that do not reach the TPU; variables that lie on it; queues that close."""

from __future__ import annotations

from tpudiag.known_errors.model import Kind, KnownError, Phase, Rival

ERRORS = (
    KnownError(
        id="E936",
        family="estimator-names",
        phase=Phase.BUILDING,
        patterns=(
            r"module 'tensorflow_estimator[\w.]{0,80}' has no attribute '(?P<name>\w{1,40})'",
            r"module 'tensorflow_estimator.{0,60}?has no attribute",
        ),
        cause="Estimator is installed, but this module of it has no such name: it belongs to tf.compat.v1.estimator, to tf.compat.v1.tpu (what was in tf.contrib.tpu and is no Estimator), or to another release; a script that was converted to TensorFlow 2 by hand mostly looks in the wrong one of them.",
        details=("The name is {name}.",),
        fix="""\
optimizer = tf.compat.v1.tpu.CrossShardOptimizer(optimizer)      # of the TPU: tf.compat.v1.tpu; so bfloat16_scope, rewrite, cross_replica_sum
estimator = tf.compat.v1.estimator.tpu.TPUEstimator(...)          # of the Estimator: tf.compat.v1.estimator; so TPUConfig, RunConfig, inputs
python -c "import tensorflow as tf; print(tf.__version__, dir(tf.compat.v1.estimator.tpu), dir(tf.compat.v1.tpu))"      # up to 2.15""",
        evidence="recalled",
        example="AttributeError: module 'tensorflow_estimator.python.estimator.api._v2.estimator' has no attribute 'inputs'",
        near_miss="ModuleNotFoundError: No module named 'tensorflow_estimator'",
    ),
    KnownError(
        id="E937",
        family="session-cluster",
        phase=Phase.CONNECTING,
        patterns=(r"master \(current machine\) is not included in the provided cluster_def",),
        cause="A session is opened on one machine with the description of a cluster that this machine is no part of: the address (master, eval_master) is that of another TPU or of none, the cluster that of the TPU that trains.",
        fix="""\
# one resolver gives both, the address and the cluster:
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="NAME")
config = tf.compat.v1.estimator.tpu.RunConfig(cluster=resolver, model_dir="gs://BUCKET/run")      # no master=, no evaluation_master= beside it
# evaluation on a TPU of its own: a second process with its own resolver (--mode=eval --tpu=EVAL_NAME), not --eval_master in the one that trains""",
        useless="A larger or a second TPU: none of its machines is asked.",
        evidence="recalled",
        example="InvalidArgumentError: The master (current machine) is not included in the provided cluster_def. job { name: 'worker' }",
    ),
    KnownError(
        id="E938",
        family="graph-too-large",
        phase=Phase.BUILDING,
        patterns=(
            r"Cannot serialize protocol buffer of type [\w.]{0,20}GraphDef ?as the serialized size",
            r"GraphDef cannot be larger than 2 ?GB",
            r"GraphDef.{0,80}?exceed(?:s|ed) maximum protobuf size",
        ),
        cause="The graph is larger than 2 GB, which a protocol buffer cannot be: a large array (an embedding, the data set) is a constant in it; TensorFlow writes the graph with each checkpoint and sends it to the TPU worker.",
        fix="""\
table = tf.Variable(initial_value=lambda: array, trainable=False)       # TensorFlow 2, outside tf.function: a variable, not a constant
holder = tf.compat.v1.placeholder(tf.float32, array.shape)                # TensorFlow 1: fed once, then a variable
table = tf.compat.v1.get_variable("table", initializer=holder); session.run(table.initializer, {holder: array})
dataset = tf.data.TFRecordDataset(files)                                  # data from files, not from_tensor_slices(array)
saver.save(session, path, write_meta_graph=False)                         # where only the saving fails""",
        evidence="recalled",
        example="InvalidArgumentError: Cannot serialize protocol buffer of type tensorflow.GraphDef as the serialized size (2575910939bytes) would be larger than the limit (2147483647 bytes)",
        near_miss="INFO: GraphDef of 2 MB was written",
    ),
    KnownError(
        id="E939",
        family="queue-closed",
        phase=Phase.EXECUTING,
        kind=Kind.CONSEQUENCE,
        patterns=(
            r"Bad hardware status: (?P<why>[\w ]{1,60})",
            r"(?:In|Out)feed(?:Dequeue|Enqueue)\w{0,10}.{0,300}?Queue is closed",
            r"Queue is closed.{0,300}?(?:In|Out)feed(?:Dequeue|Enqueue)",
            r"Outfeed ?manager (?:is )?closed",
        ),
        cause="A queue between host and chip was closed while it was waited for: the program on the chip ended, or never began. That is a consequence; what ended it stands in an earlier line, or in the worker's own log.",
        rivals=(
            Rival(
                cause="the program does not fit into the memory of the cores (a larger model or batch than the one that runs)",
                look_for="`Ran out of memory in memory space hbm`, `Compilation failure`, `RESOURCE_EXHAUSTED` in earlier lines; a smaller model or batch works",
                decide="grep -nE 'memory|RESOURCE_EXHAUSTED|Compilation' LOG | head",
                fix="# a smaller batch a replica, shorter sequences, more model parallelism over more cores, a larger slice",
                cues=(
                    r"memory space hbm",
                    r"small(?:er)? (?:model|batch|one).{0,20}?(?:works|runs|trains|fits)",
                    r"RESOURCE_EXHAUSTED",
                ),
                families=("hbm-at-compile-time", "hbm-at-run-time", "hbm-for-the-program"),
            ),
            Rival(
                cause="the TPU was preempted, restarted or under maintenance, or a chip failed",
                look_for="the same program ran before, or fails at another step each time",
                decide="gcloud compute tpus tpu-vm describe NAME --zone=ZONE --format='value(state,health)'",
                fix="gcloud compute tpus tpu-vm stop NAME --zone=ZONE && gcloud compute tpus tpu-vm start NAME --zone=ZONE      # or made anew; restart from the last checkpoint",
                families=("preempted", "host-maintenance", "hardware-fault"),
            ),
            Rival(
                cause="the input pipeline or the client ended first",
                look_for="an error of the input function, `Closing session`, a signal",
                decide="tpudiag explain --log LOG",
            ),
        ),
        fix="""\
tpudiag explain --log LOG                                  # the whole log: the first error, not the last
# then the same job with a tenth of the batch: where it runs, the memory was short""",
        useless="More steps a loop or a longer queue.",
        citations=("google-research/text-to-text-transfer-transformer#767",),
        example="Bad hardware status: Queue is closed. [[node OutfeedDequeueTuple (defined at tpu_estimator.py:2220) ]]",
    ),
    KnownError(
        id="E940",
        family="variable-on-tpu",
        phase=Phase.EXECUTING,
        patterns=(
            r"packed_distributed_variable.{0,600}?Device (?P<device>[\w/:]{3,80}) is not found",
            r"ValueError: Device (?P<device>/job:[\w/:]{3,80}) is not found",
        ),
        cause="A variable of the strategy lies on the TPU's cores (one packed copy of each), and is read on the host's CPU, where there is none: the model is called outside strategy.run and tf.function (eagerly, in a callback, with run_eagerly=True), or by a Keras that does not know TPUStrategy (Keras 3: what of it works under TPUStrategy is little).",
        details=("It is read on {device}.",),
        fix="""\
@tf.function
def step(batch): return strategy.run(lambda x: model(x, training=False), args=(batch,))      # the model only inside
model.compile(..., run_eagerly=False)                                                          # and no predict or call of it in callbacks
export TF_USE_LEGACY_KERAS=1; pip install "tf-keras==$(python -c 'import tensorflow as tf; print(tf.__version__[:4])').*"      # Keras 2 under TPUStrategy; Keras 3 runs on TPUs with KERAS_BACKEND=jax
on_host = build_model(); on_host.set_weights(model.get_weights())                              # to call it on the host: a copy, outside strategy.scope()""",
        citations=("tensorflow/tensorflow#74926",),
        example="ValueError: Device /job:localhost/replica:0/task:0/device:CPU:0 is not found",
        near_miss="INFO: Device /job:localhost/replica:0/task:0/device:CPU:0 was found",
    ),
)
