# ruff: noqa: E501  (texts of other programs stay as they are)
"""Tracebacks that were cut before their last line: what mostly fails where their frames stand."""

from __future__ import annotations

from tpudiag.known_errors.model import Kind, KnownError, Phase, Rival

CUT = "The text ends before it says what failed; its frames say where: "
WHOLE = "python -u train.py 2>&1 | tee train.log; tpudiag explain --log train.log      # the last line says which of these\n"

ERRORS = (
    KnownError(
        id="E828",
        family="cut-while-initialising",
        phase=Phase.INITIALISING,
        kind=Kind.FORM,
        patterns=(
            r"tpu_strategy_util\.py.{0,40}? in initialize_tpu_system",
            r"output = _tpu_init_fn\(\)",
            r"-> ?\d{1,5} .{0,12}?tf\.(?:compat\.v\d\.)?tpu\.experimental\.initialize_tpu_system\(",
        ),
        cause=CUT
        + "in initialize_tpu_system, which starts the TPU. It fails where TensorFlow has no TPU in it, where the TPU is another's or gone, or where the hosts of a slice do not come together.",
        fix=WHOLE
        + """\
python -c "import tensorflow as tf; print(tf.__version__, tf.config.list_logical_devices())"      # TPU_SYSTEM among them?
pip uninstall -y tensorflow tensorflow-cpu; <<tpu_install>>; on a TPU VM, then restart the kernel
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")                           # there; a name or grpc:// only for a TPU Node
tf.config.experimental_connect_to_cluster(resolver)                                                  # before initialize_tpu_system, and once""",
        rivals=(
            Rival(
                cause="TensorFlow is a build without the TPU (tensorflow, tensorflow-cpu in place of tensorflow-tpu), or was not connected: the call then runs on the CPU",
                look_for="InvalidArgumentError or NotFoundError with `ConfigureDistributedTPU`, `TPUs not found in the cluster`",
                decide='pip list | grep -iE "^tensorflow|^libtpu"',
                families=("no-tpu-build", "no-device", "no-tpu-devices"),
            ),
            Rival(
                cause="another process holds the TPU, or it has none",
                look_for="`already in use`, `Device or resource busy`, `open(/dev/accel0)`",
                decide="sudo lsof -w /dev/accel* /dev/vfio/*",
                families=("tpu-busy", "initialisation-failed"),
            ),
            Rival(
                cause="a TPU Node whose TensorFlow is of another version than yours, or that was restarted",
                look_for="NotFoundError `neither a type of a primitive operation`, `NodeDef expected inputs`, `context_id`",
                decide="gcloud compute tpus describe NAME --zone=ZONE --format='value(tensorflowVersion,state,health)'",
                families=("version-skew", "context-lost", "worker-lost"),
            ),
            Rival(
                cause="a slice of several hosts, and the program does not run on all of them",
                look_for="v4-16, v5litepod-16 or larger; it waits, then a timeout",
                decide='gcloud compute tpus tpu-vm ssh NAME --zone=ZONE --worker=all --command="pgrep -af train.py"',
                families=("hosts-missing", "slice-does-not-form"),
            ),
        ),
        citations=("tensorflow/tensorflow#89797",),
        example="/usr/local/lib/python3.11/dist-packages/tensorflow/python/tpu/tpu_strategy_util.py in initialize_tpu_system_impl(cluster_resolver, tpu_cluster_resolver_cls)\n--> 139         output = _tpu_init_fn()",
    ),
    KnownError(
        id="E829",
        family="cut-while-resolving",
        phase=Phase.RESOLVING,
        kind=Kind.FORM,
        patterns=(
            r"tpu_cluster_resolver\.py.{0,40}? in (?:__init__|connect|master|cluster_spec|_request_compute_metadata)",
            r"cloud_tpu_client/client\.py",
            r"-> ?\d{1,5} .{0,40}?TPUClusterResolver\(",
        ),
        cause=CUT
        + "in TPUClusterResolver, which looks for the TPU. It fails where it is not told which one, or where the one it is told cannot be asked.",
        fix=WHOLE
        + """\
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")                            # on a TPU VM, Colab and Kaggle of today
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="NAME", zone="ZONE", project="PROJECT")      # a TPU Node, from another machine""",
        rivals=(
            Rival(
                cause="no name is given, and the environment holds none (COLAB_TPU_ADDR is gone from Colab)",
                look_for="`Please provide a TPU Name to connect to`",
                decide="env | grep -i tpu",
                families=("tpu-name",),
            ),
            Rival(
                cause="the name is not known in that zone and project, or this account may not ask",
                look_for="HttpError 404 or 403, `tpu.nodes.get`",
                decide="gcloud compute tpus tpu-vm list --zone=ZONE",
                families=("tpu-lookup", "account-rights"),
            ),
            Rival(
                cause="the machine has no metadata server (no VM of Google Cloud, a container)",
                look_for="URLError, `metadata.google.internal`",
                decide="curl -s -H 'Metadata-Flavor: Google' http://metadata.google.internal/computeMetadata/v1/instance/zone",
                families=("metadata-server",),
            ),
        ),
        citations=("googlecolab/colabtools#4699",),
        example="[/usr/local/lib/python3.10/dist-packages/tensorflow/python/distribute/cluster_resolver/tpu/tpu_cluster_resolver.py](https://localhost:8080/#) in __init__(self, tpu, zone, project, job_name, coordinator_name, coordinator_address, credentials, service",
    ),
    KnownError(
        id="E830",
        family="cut-while-connecting",
        phase=Phase.CONNECTING,
        kind=Kind.FORM,
        patterns=(
            r"tensorflow\w{0,5}/python/eager/remote\.py",
            r"-> ?\d{1,5} .{0,12}?tf\.config\.experimental_connect_to_(?:cluster|host)\(",
            r"context\.set_server_def\(server_def",
        ),
        cause=CUT
        + "in experimental_connect_to_cluster (or _host), which connects to the TPU's workers. It fails where nobody answers at that address, or where this program is connected already.",
        fix=WHOLE
        + """\
print(resolver.master(), resolver.cluster_spec().as_dict())            # which address? "" or "local" on a TPU VM
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.config.experimental_connect_to_cluster(resolver)                     # the cluster, not its host; once, before any tensor; a notebook: restart the kernel""",
        rivals=(
            Rival(
                cause="nobody answers at that address: the TPU is not up, of another network, or was taken back",
                look_for="UnavailableError or DeadlineExceededError with `failed to connect to all addresses`",
                decide="gcloud compute tpus describe NAME --zone=ZONE --format='value(state,health,networkEndpoints)'; nc -vz TPU_IP 8470",
                families=("tpu-unreachable", "worker-not-up", "tpu-not-ready"),
            ),
            Rival(
                cause="the program connected before (a cell that was run twice, tensors made before), or the worker still has a context of an earlier one",
                look_for="`context_id`, `already initialized`, `Server def`",
                decide="restart the kernel, and the runtime where the TPU is a Node",
                families=("context-lost", "initialised-twice", "too-late-to-configure"),
            ),
        ),
        citations=("tensorflow/tensorflow#53296",),
        example='  File "/usr/local/lib/python3.8/dist-packages/tensorflow/python/eager/remote.py", line 205, in connect_to_cluster\n    context.set_server_def(server_def, keep_alive_secs)',
    ),
    KnownError(
        id="E831",
        family="cut-out-of-memory",
        phase=Phase.EXECUTING,
        kind=Kind.FORM,
        patterns=(r"Resource ?Exhausted(?:Error)? Traceback \(most recent call",),
        cause="The text ends before it says which memory ran out: a ResourceExhaustedError is the TPU's memory (HBM) or the host's. Each core has its own memory (8 GB on v2, 16 GB on v3 and v5e, 32 GB on v4), not the sum of all: variables, gradients and the optimizer's state are on every one, for Adam four times the weights.",
        fix=WHOLE
        + """\
tpudiag check train.py --for v5e-8                                       # what the step needs of the memory, with no TPU
global_batch = PER_REPLICA_BATCH // 2 * strategy.num_replicas_in_sync     # half, until it goes; fit's batch_size is the global one
keras.mixed_precision.set_global_policy("mixed_bfloat16")                  # half of the activations""",
        rivals=(
            Rival(
                cause="the TPU's memory (HBM)",
                look_for="`hbm`, `device:TPU`, `Attempting to reserve`",
                decide="tpudiag check train.py --for v5e-8",
                cues=(r"device:TPU", r"TPUStrategy", r"XRTExecute", r"XRTCompile"),
                families=(
                    "hbm-at-run-time",
                    "hbm-at-compile-time",
                    "hbm-for-the-program",
                    "memory-exhausted",
                ),
            ),
            Rival(
                cause="the host's memory: cache, shuffle, arrays",
                look_for="`device:CPU`, `allocator cpu`",
                decide="free -g",
                families=("host-memory",),
            ),
        ),
        citations=("tensorflow/tpu#875",),
        example="ResourceExhaustedError                    Traceback (most recent call last)\n\n<ipython-input-15-331b28c97632> in <module>()",
    ),
    KnownError(
        id="E832",
        family="cut-lost-connection",
        phase=Phase.EXECUTING,
        kind=Kind.FORM,
        patterns=(r"(?:Unavailable|Aborted|DeadlineExceeded)Error Traceback \(most recent call",),
        cause="The text ends before it says more than this: the TPU's worker did not answer (any more). Its process died (out of host memory, a crash), was restarted or taken back, or was never reached.",
        fix=WHOLE
        + """\
gcloud compute tpus tpu-vm describe NAME --zone=ZONE --format='value(state,health)'      # PREEMPTED? UNHEALTHY? Colab: Runtime, Disconnect and delete
dataset = dataset.shuffle(1_000)                                                          # the worker's memory: a smaller shuffle buffer, no cache() of a large set
checkpoint.restore(manager.latest_checkpoint)                                             # start again from the last checkpoint, after a fresh initialize_tpu_system""",
        rivals=(
            Rival(
                cause="the worker died in the midst of the work",
                look_for="`Socket closed`, `Connection reset`; steps were run before",
                decide="sudo dmesg -T | grep -iE 'oom|killed' | tail",
                families=("worker-lost", "connection-broken", "host-memory"),
            ),
            Rival(
                cause="the worker was never reached",
                look_for="`failed to connect to all addresses`, in the first cell",
                decide="nc -vz TPU_IP 8470",
                families=("tpu-unreachable", "worker-not-up"),
            ),
            Rival(
                cause="the worker was restarted, and does not know this program's context",
                look_for="`context_id`, `Session ... is not found`",
                decide="restart the kernel",
                families=("context-lost",),
            ),
        ),
        citations=("tensorflow/tensorflow#42228",),
        example="UnavailableError                          Traceback (most recent call last)\n<ipython-input-20-cf653c7d94da> in <module>()",
    ),
    KnownError(
        id="E839",
        family="cut-list-of-kernels",
        phase=Phase.COMPILING,
        kind=Kind.FORM,
        patterns=(
            r"device='(?:CPU|GPU|XLA_\w{3,12}|DEFAULT)'; ?\w{1,20} in \[DT_\w{3,12}\].{0,400}?device='",
        ),
        cause="A list of kernels: TensorFlow shows it where it has none of an operation for the device or the types that were asked for. The operation and the device stand in the lines before the list, `No registered '...' OpKernel for XLA_TPU_JIT devices` for the TPU's compiler.",
        fix=WHOLE
        + """\
tpudiag check train.py --for v5e-8                                        # names the operations of the step that the TPU has not
dataset = dataset.map(the_part_with_it, num_parallel_calls=tf.data.AUTOTUNE)      # on the host: unique, where, strings, tables
x = tf.cast(x, tf.float32)                                                  # or a type that is in the list: T in [...]
tf.config.set_soft_device_placement(True)                                   # left in the step and run on the host; costs time""",
        rivals=(
            Rival(
                cause="the TPU's compiler has no kernel of it (its size depends on data, strings)",
                look_for="`XLA_TPU_JIT`, `XLA_CPU_JIT`",
                decide="tpudiag check train.py --for v5e-8",
                families=("unsupported-op", "no-kernel"),
            ),
            Rival(
                cause="the type: not in `T in [...]`",
                look_for="DT_STRING, DT_BFLOAT16, DT_INT64 in the node that is named",
                decide="print(x.dtype)",
                families=("no-kernel", "type-not-on-tpu", "bfloat16-op"),
            ),
        ),
        citations=("tensorflow/tensorflow#30580",),
        example=" device='CPU'; T in [DT_BOOL]; out_idx in [DT_INT32]\n  device='CPU'; T in [DT_STRING]; out_idx in [DT_INT64]",
    ),
)
