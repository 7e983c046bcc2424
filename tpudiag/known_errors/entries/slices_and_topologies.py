# ruff: noqa: E501  (texts of other programs stay as they are)
"""Slices that do not form, topologies, coordinators, and what the TPU's own operations check."""

from __future__ import annotations

from tpudiag.known_errors.model import KnownError, Phase, Rival

ERRORS = (
    KnownError(
        id="E758",
        family="estimator-batch-sizes",
        phase=Phase.BUILDING,
        patterns=(
            r"`?(?P<name>(?:train|eval|predict)_batch_size)`? cannot be `?None",
            r"(?P<name>(?:train|eval|predict)_batch_size) (?:is|was) not set",
        ),
        cause="TPUEstimator takes all its batch sizes when it is made: train_batch_size always (also where it only evaluates or predicts), eval_batch_size to evaluate on the TPU, predict_batch_size to predict; they are global sizes that the cores divide.",
        details=("What is missing: {name}.",),
        fix="""\
estimator = tf.compat.v1.estimator.tpu.TPUEstimator(model_fn=model_fn, config=config, use_tpu=True,
    train_batch_size=128, eval_batch_size=128, predict_batch_size=128)      # multiples of the number of cores; the same number where one is not used""",
        citations=("google-research/bert#376",),
        example="ValueError: `train_batch_size` cannot be `None`",
    ),
    KnownError(
        id="E760",
        family="coordination-lost",
        phase=Phase.CONNECTING,
        patterns=(r"CoordinationService/RegisterTask",),
        cause="This task could not register with the coordinator (task 0): it is not started, its address or port is wrong, or the port is closed between the hosts.",
        rivals=(
            Rival(
                cause="the coordinator's port is closed: jax 0.8.1 and later use 8482 on Cloud TPU, earlier ones 8476, and the firewall rule of the slice opens 8470 to 8476",
                look_for="it worked with jax 0.8.0; gcloud compute firewall-rules list",
                decide="nc -vz COORDINATOR_IP 8482  # from another host",
                fix='jax.distributed.initialize(coordinator_address="IP_OF_HOST_0:8476", num_processes=N, process_id=I)      # a port that is open\n'
                "gcloud compute firewall-rules create coordinator --network=NETWORK --allow=tcp:8482 --source-ranges=10.0.0.0/8",
            ),
            Rival(
                cause="not every host was started, or the coordinator died first",
                look_for="the log of task 0; processes on each host",
                decide='gcloud compute tpus tpu-vm ssh NAME --zone=ZONE --worker=all --command="pgrep -af python"',
            ),
        ),
        fix="""\
gcloud compute tpus tpu-vm ssh NAME --zone=ZONE --worker=all --command="python3 train.py"      # on all hosts at once
jax.distributed.initialize(coordinator_address="IP_OF_HOST_0:8476")                               # a port that is open between the hosts""",
        citations=("jax-ml/jax#35905",),
        example="DEADLINE_EXCEEDED: Deadline Exceeded\nRPC: /tensorflow.CoordinationService/RegisterTask",
    ),
    KnownError(
        id="E761",
        family="killed-in-notebook",
        phase=Phase.EXECUTING,
        patterns=(
            r"Starting Queues\. ?\^C",
            r"calling model_fn\. ?\^C",
            r"Graph was finalized\. ?\^C",
            r"local_init_op\. ?\^C",
            r"Saving checkpoints for .{1,160}?\^C",
            r"global_step/sec: [\d.]{1,12} ?\^C",
            r"Running (?:training|evaluation|prediction) ?\*{0,8} ?\^C",
            r"dso_loader\.cc.{1,160}?\^C",
        ),
        cause="A lone ^C that nobody typed: the notebook's host killed the program, mostly because its memory (RAM, 12 GB in Colab) ran out, else because the session's time was over.",
        fix="""\
!free -g; !dmesg -T | grep -iE "oom|killed" | tail -3          # while it runs, and after
--train_batch_size=8; smaller images, shuffle buffers and prefetch       # what lies in RAM; batch_queue_capacity and num_readers in the detection API
# a runtime with more RAM; checkpoints on Drive or in a bucket to go on from""",
        citations=("tensorflow/models#8085", "google-research/bert#900"),
        example="INFO:tensorflow:Starting Queues.\n^C",
    ),
    KnownError(
        id="E762",
        family="slice-does-not-form",
        phase=Phase.INITIALISING,
        patterns=(
            r"TopologyCoordinator: .{0,60}?(?:[Uu]nable|[Ff]ailed|[Tt]imed out)",
            r"Worker failed to join a slice within",
            r"Timeout waiting for slice failing transition",
            r"Mismatched number of TPU tasks",
            r"The number of devices found in the host does not match the topology",
            r"Number of vertices in expected topology is",
            r"Topology Coordinator is not ready",
            r"Failed to retrieve ICI networks' (?:discovered slice topology|chip coordinate map)",
            r"Topology intent .{0,120}?does not match the slice's chip-local ICI",
            r"SliceBuilder master is not configured",
        ),
        cause="The hosts of a slice, or the slices of a multi-slice job, did not all come together with the chips that the topology promises: one was not started, died, runs another libtpu, or is described wrongly by its environment.",
        fix="""\
gcloud compute tpus tpu-vm ssh NAME --zone=ZONE --worker=all --command="pgrep -af python; pip list | grep -iE 'libtpu|jax|tensorflow'"      # all alive, one release
env | grep -E "TPU_|MEGASCALE"          # on each host: TPU_TOPOLOGY, TPU_WORKER_HOSTNAMES, MEGASCALE_NUM_SLICES alike; MEGASCALE_SLICE_ID and TPU_WORKER_ID differ
ls /dev/accel* /dev/vfio/* | wc -l       # chips on each host as many as the others have; fewer: that host is faulty, recreate the slice""",
        evidence="recalled",
        example="INTERNAL: TopologyCoordinator: Unable to wait for all slices to connect. The missing hosts (num_slices=2): [slice 1 host 0]",
    ),
    KnownError(
        id="E763",
        family="topology-name",
        phase=Phase.INITIALISING,
        patterns=(
            r"Your TPU topology name (?P<name>\S{1,40}) is invalid",
            r"TPU topology must be rank",
            r"Incorrect number of elements specified for TPU wrap",
            r"subslice chip bounds .{1,30}? exceed the original chip bounds",
            r"Default device assignment is not supported when using a subslice",
            r"Invalid slice_id\. Should be in range",
            r"Execution on subslices not supported with megascale",
            r"Topology layout .{1,30}? is not divisible by the given \(or default\) chips_per_host_bounds",
            r"subslice .{0,120}?is not a supported slice topology",
            r"TPU_(?:CHIPS_PER_(?:PROCESS|HOST)|PROCESS|HOST)_BOUNDS.{0,80}?(?:invalid|must|not |exceed)",
        ),
        cause="The shape of the slice, or of the part of it that this process takes, is given in a form or size that does not exist: TPU_TOPOLOGY, TPU_CHIPS_PER_PROCESS_BOUNDS, TPU_PROCESS_BOUNDS, a slice's number, or a topology's name in the code.",
        details=("The name is {name}.",),
        fix="""\
unset TPU_TOPOLOGY TPU_TOPOLOGY_WRAP TPU_CHIPS_PER_PROCESS_BOUNDS TPU_PROCESS_BOUNDS TPU_VISIBLE_CHIPS     # on a TPU VM libtpu finds them itself
TPU_CHIPS_PER_PROCESS_BOUNDS=1,1,1 TPU_PROCESS_BOUNDS=1,1,1 TPU_VISIBLE_CHIPS=0 python train.py              # one chip: three numbers each
# topologies: v5e 2x4 (v5litepod-8), v4 2x2x4 (v4-32): two numbers for v5e and v6e, three for v4 and v5p""",
        evidence="recalled",
        example="INVALID_ARGUMENT: Your TPU topology name v5e-7 is invalid and does not match regex: v[0-9]",
    ),
    KnownError(
        id="E764",
        family="embedding-engine",
        phase=Phase.EXECUTING,
        patterns=(
            r"the number of embedding cores in the TPU slice (?P<cores>\d{1,6}) must be a multiple",
            r"Number of TPU tables on row: \d{1,6} exceeds what the BarnaCore",
            r"No TPU tables detected on row",
            r"TPU table id \d{1,6} was not found",
            r"Invalid EnqueueTPUEmbedding\w{3,40} inputs",
            r"Mismatch in config attributes for TPU embedding nodes",
            r"TPU embedding infeeds cannot be run in the middle of shutting down",
            r"(?:Recv|Send)TPUEmbedding\w{4,30}.{0,120}?(?:[Mm]ismatch|expected|must|not found)",
        ),
        cause="The TPU's embedding engine (BarnaCore of v2 and v3, SparseCore of later ones) was configured for other tables, cores or features than the step now uses, or the TPU system was shut down or initialised again in between.",
        details=("There are {cores} embedding cores.",),
        fix="""\
tf.tpu.experimental.initialize_tpu_system(resolver)          # once, before the strategy and the embedding layer; not again while it lives
embedding = tf.tpu.experimental.embedding.TPUEmbedding(feature_config, optimizer)     # one for the whole program, built once, inside the scope
# many small tables: joined into few larger ones; v2, v3 and v5p have the engine, v5e has none: tf.tpu.experimental.embedding.TPUEmbeddingForServing or keras.layers.Embedding""",
        evidence="recalled",
        example="FAILED_PRECONDITION: TPU embedding infeeds cannot be run in the middle of shutting down the TPU system. Ensure that the tpu.shutdown_system() operations have completed",
    ),
    KnownError(
        id="E765",
        family="static-shapes-wanted",
        phase=Phase.COMPILING,
        patterns=(
            r"op '(?P<op>(?:stablehlo|mhlo|chlo|tf)\.\w{1,40})' failed to satisfy constraint: '?.{0,20}?(?:statically shaped|static)",
            r"expected static slice_sizes",
        ),
        cause="The lowered program has a size that is not a number at a place where the compiler takes numbers only: an exported function with an unknown batch or length, or an operation whose result's size depends on data.",
        details=("The operation is {op}.",),
        fix="""\
fn = tf.function(step, input_signature=[tf.TensorSpec([128, 224, 224, 3], tf.float32)])      # no None: the batch of one replica
jax.export.export(jax.jit(f))(jax.ShapeDtypeStruct((128, 64), jnp.float32))                      # numbers; symbolic sizes only where the runtime refines them
dataset = dataset.batch(global_batch, drop_remainder=True)""",
        evidence="recalled",
        example="error: operand 0 of op 'stablehlo.slice' failed to satisfy constraint: 'statically shaped tensor of any type values'",
    ),
    KnownError(
        id="E766",
        family="host-and-tpu-cycle",
        phase=Phase.COMPILING,
        patterns=(
            r"contains a cycle with non-TPU operations",
            r"TF2XLA TPU bridge input check: mismatch",
            r"The same function is reachable from multiple TPU Clusters",
        ),
        cause="A part of the step that runs on the host (outside compilation, a summary, a Python function) takes from the TPU's part and gives back to it in a circle, or one function is used by the TPU and by the host: the step cannot be cut in two.",
        fix="""\
tf.config.set_soft_device_placement(False)                 # names the operation that would go to the host
# results out of the step and back in with the next one: return them from strategy.run; lookups and decoding in dataset.map
tf.tpu.outside_compilation(fn, x)                            # one way only: nothing of its result back into the step (TensorFlow 1)""",
        evidence="recalled",
        example="INVALID_ARGUMENT: Graph contains a cycle with non-TPU operations or has unsupported ops",
    ),
    KnownError(
        id="E767",
        family="no-hardware-for-libtpu",
        phase=Phase.INITIALISING,
        patterns=(
            r"No hardware is found\. Using default TPU version",
            r"Unable to detect the TPU version",
            r"TPU_LIBRARY_PATH.{0,80}?(?:does not exist|not found|cannot open)",
            r"TPU backend connection test failed",
        ),
        cause="libtpu was loaded and sees no TPU: this machine has none (a plain VM, a CPU runtime of Colab or Kaggle), the container is not given its devices, or the library is not where the path says.",
        fix="""\
ls /dev/accel* /dev/vfio/ 2>/dev/null; ls "$TPU_LIBRARY_PATH"     # no device: not a TPU VM; Colab and Kaggle: choose a TPU runtime
docker run --privileged --net=host ...                              # a container; GKE: resources.limits google.com/tpu: 4
export JAX_PLATFORMS=cpu                                            # or: no TPU is wanted here""",
        evidence="recalled",
        example="F0000 tpu_version_flag.cc:57] No hardware is found. Using default TPU version: jellyfish",
    ),
    KnownError(
        id="E768",
        family="serving-batch",
        phase=Phase.EXECUTING,
        patterns=(
            r"Input batch size (?P<given>\d{1,9}) must be a multiple of the fixed TPU batch strategy input sample count (?P<wanted>\d{1,9})",
            r"CPU infeed of \d{1,15} bytes exceeds maximum",
            r"Error in TPU batch infeed",
        ),
        cause="The batch that is fed to the TPU's program does not fit it: no multiple of the size that it was compiled for, or larger than one feed may be.",
        details=("{given} examples come, the program takes {wanted}.",),
        fix="""\
padded = tf.pad(x, [[0, -tf.shape(x)[0] % BATCH], [0, 0]])     # to a multiple of the compiled batch; cut the result
# serving: allowed_batch_sizes that are multiples of the number of cores; smaller feeds""",
        evidence="recalled",
        example="Input batch size 7 must be a multiple of the fixed TPU batch strategy input sample count 8",
    ),
)
