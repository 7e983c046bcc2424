# ruff: noqa: E501  (texts of other programs stay as they are)
"""Creating a TPU, finding it, connecting to it."""

from __future__ import annotations

from tpudiag.known_errors.model import Kind, KnownError, Phase, Rival, VersionFix

ERRORS = (
    KnownError(
        id="E01",
        family="tpu-name",
        phase=Phase.RESOLVING,
        patterns=(
            r"Please provide a TPU Name to connect to",
            r"""(?<!['"]ERROR: )(?<!['"])Not connected to a TPU runtime""",
            r"KeyError:? .{0,3}COLAB_(?:TPU_ADDR|ADDR_TPU)",
            r"COLAB_TPU_ADDR.{0,40}? not (?:set|found|defined|exist|available)",
            r"Missing TPU; did you request a TPU",
            r"you must set the flag `?keras_distribute_strategy_tpu_addr",
            r"specify a TPU Name if you are running in the Google Cloud",
        ),
        cause="TPUClusterResolver was not told which TPU to use, and nothing in the environment says it.",
        fix="""\
# on a TPU VM, in Colab's and Kaggle's TPU runtimes of today
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
# on a TPU Node
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="NAME_OF_THE_TPU")""",
        citations=(
            "tensorflow/tensorflow#70827",
            "googlecolab/colabtools#4637",
            "googlecolab/colabtools#4699",
            "googlecolab/colabtools#5718",
        ),
        evidence="reproduced",
        example="ValueError: Please provide a TPU Name to connect to.",
        near_miss="ValueError: Please provide a name for the TPU profile.",
    ),
    KnownError(
        id="E02",
        family="no-tpu-build",
        phase=Phase.INITIALISING,
        patterns=(
            r"No OpKernel was registered to support Op 'ConfigureDistributedTPU'.{1,500}?Registered devices: \[(?P<devices>[\w, ]{1,80})\]",
            r"No OpKernel was registered to support Op 'ConfigureDistributedTPU'",
            r"TPUs not found in the cluster\. Failed in initialization",
            r"No OpKernel was registered to support Op '(?:InfeedEnqueue\w{0,9}|OutfeedDequeue\w{0,9}|TPUReplicate\w{0,20})'",
            r"This TensorFlow binary is not built with TPU support",
        ),
        cause="The installed TensorFlow is a CPU or GPU build: it cannot drive a TPU.",
        details=("It knows only these devices: {devices}.",),
        fix="""\
pip uninstall -y tensorflow tensorflow-cpu
pip install "tensorflow-tpu==2.20.0" "libtpu>=0.0.14,<=0.0.31"
# for an older tensorflow-tpu take libtpu from the vendor's libtpu release page""",
        fixes=(
            VersionFix(
                package="tensorflow",
                since="2.20",
                before="2.21",
                fix='pip install "tensorflow-tpu==2.20.0" "libtpu>=0.0.14,<=0.0.31"',
            ),
            VersionFix(
                package="tensorflow",
                since="2.19",
                before="2.20",
                fix='pip install "tensorflow-tpu==2.19.1" "libtpu==0.0.10"',
            ),
            VersionFix(
                package="tensorflow",
                since="2.17",
                before="2.19",
                fix="""\
# tensorflow-tpu 2.18 wants libtpu 2.18.0 from the vendor's libtpu release page; simpler:
pip install "tensorflow-tpu==2.19.1" "libtpu==0.0.10\"""",
            ),
            VersionFix(
                package="tensorflow",
                since="2.21",
                before="3",
                fix="""\
# there is no tensorflow-tpu 2.21
pip install "tensorflow-tpu==2.20.0" "libtpu>=0.0.14,<=0.0.31\"""",
            ),
        ),
        citations=(
            "googlecolab/colabtools#5203",
            "googlecolab/colabtools#5228",
            "googlecolab/colabtools#5419",
            "googlecolab/colabtools#335",
        ),
        evidence="reproduced",
        example="""\
NotFoundError: TPUs not found in the cluster. Failed in initialization: No OpKernel was registered to support Op 'ConfigureDistributedTPU' used by {{node ConfigureDistributedTPU}} with these attrs: [tpu_cancellation_closes_chips=2, compilation_failure_closes_chips=false, tpu_embedding_config="", is_global_init=false, embedding_config="", enable_whole_mesh_compilations=false]
Registered devices: [CPU]
Registered kernels:
  <no registered kernels>""",
        near_miss="InvalidArgumentError: No OpKernel was registered to support Op 'PyFunc' used by {{node PyFunc}} Registered devices: [CPU]",
        yields_to=("E618",),
    ),
    KnownError(
        id="E03",
        family="no-tpu-platform",
        phase=Phase.INITIALISING,
        patterns=(
            r"No TPU platform registered",
            r"TpuPlatform is not available",
            r"tpu_node_interfaces\.cc:\d{1,5}\) \*platform",
            r"Failed to get TPU platform",
            r"Unable to retrieve registered TPU platform",
            r"No TPU platform is registered",
            r"No TPU platform found",
        ),
        cause="libtpu offered TensorFlow no TPU: this TensorFlow or TPUEstimator cannot drive the generation (v5 and later), or there is no TPU on the machine.",
        fix="""\
# TensorFlow 2.15 or later with the PJRT runtime, and TPUStrategy instead of TPUEstimator
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
# and see whether there is a TPU and a libtpu at all:
#   ls /dev/accel* /dev/vfio/*; pip list | grep -iE "libtpu|tensorflow"; env | grep TPU_""",
        citations=(
            "tensorflow/tensorflow#90807",
            "pytorch/xla#4036",
        ),
        evidence="reproduced",
        example="2025-04-02 20:43:38.683: I tensorflow/core/tpu/tpu_api.cc:72] No TPU platform registered. Waiting 1 second and trying again... (1 of 4)",
        near_miss="XLA service initialized for platform TPU (this does not guarantee that XLA will be used).",
    ),
    KnownError(
        id="E54",
        family="no-tpu-devices",
        phase=Phase.INITIALISING,
        patterns=(
            r"Could not find any TPU devices",
            r"Cannot find any TPU cores in the system",
            r"No TPU found on given worker",
            r"No TPU devices? (?:were |was )?found",
            r"index 0 is out of bounds for axis 0 with size 0.{0,200}?(?:tpu_strategy|TPUStrategy|device_assignment)",
            r"(?:tpu_strategy|TPUStrategy|device_assignment).{0,600}?index 0 is out of bounds for axis 0 with size 0",
            r"Num TPU Cores: 0",
            r"Unable to find any TPUs?\b",
            r"TPU not found in the system",
            r"TPU devices? not found",
            r"Error: .{0,40}?TPUs? (?:runtime |accelerator )?(?:is |was |were )?not (?:found|detected)(?! in the cluster)",
            r"no TPU (?:is )?detected",
        ),
        cause="TensorFlow sees no TPU core: the TPU was not detected.",
        fix="""\
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")   # a TPU Node: its name
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)                         # before TPUStrategy
print(tf.config.list_logical_devices("TPU"))
# and tensorflow-tpu must be installed, not tensorflow or tensorflow-cpu""",
        rivals=(
            Rival(
                cause="the installed TensorFlow is a CPU or GPU build, which cannot drive a TPU",
                look_for="`Registered devices: [CPU]`; tensorflow without -tpu in the package list",
                decide='pip list | grep -iE "tensorflow|libtpu"',
                fix="""\
pip uninstall -y tensorflow tensorflow-cpu
pip install "tensorflow-tpu==2.20.0" "libtpu>=0.0.14,<=0.0.31\"""",
                cues=(
                    r"Registered devices: \[CPU\]",
                    r"tensorflow-cpu",
                ),
            ),
            Rival(
                cause="the TPU was not connected to and initialised before it was used",
                look_for="no `Initializing the TPU system` before the error",
                decide="grep -n initialize_tpu_system train.py",
            ),
            Rival(
                cause="a TPU VM is addressed as a TPU Node (grpc://IP:8470), or the address is wrong",
                look_for="`master address grpc://`",
                decide='ls /dev/accel* /dev/vfio/*   # there: use tpu="local"',
                fix='resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")   # on the TPU VM itself',
                cues=(
                    r"grpc://\d{1,3}\.\d{1,3}\.",
                    r"master address grpc",
                ),
            ),
            Rival(
                cause="another process holds the TPU, or the runtime has none",
                look_for="`already in use`; no /dev/accel*, /dev/vfio/*",
                decide="sudo lsof -w /dev/accel* /dev/vfio/*",
            ),
        ),
        citations=(
            "tensorflow/tensorflow#26513",
            "google-research/text-to-text-transfer-transformer#830",
        ),
        example="RuntimeError: Could not find any TPU devices",
    ),
    KnownError(
        id="E55",
        family="metadata-server",
        phase=Phase.RESOLVING,
        kind=Kind.BROAD,
        patterns=(
            # libcurl is what reads buckets; the TPU's resolver asks by another way.
            r"(?<!name=)(?<!resolve host: )metadata\.google\.internal",
            r"_request_compute_metadata",
            r"Failed to fetch URL on try [3-6] out of",
            r"cloud_tpu_init failed",
            r"(?:Error|Failed).{0,30}?(?:get|fetch|read|query)\w{0,4} .{0,20}?(?:TPU|instance|compute|GCE) .{0,20}?metadata",
            r"computeMetadata/v1",
        ),
        cause='The metadata server of Google Cloud was asked for the TPU and did not answer, or does not know it: this machine is no TPU VM or no VM of that project, or the TPU\'s name is given where "local" belongs.',
        fix="""\
# on the TPU VM itself: no name, no look-up
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
# from another machine only a TPU Node can be reached: with its name, zone and project
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="NAME", zone="ZONE", project="PROJECT")
# libtpu without a metadata server (container, other cloud): export TPU_SKIP_MDS_QUERY=1
# a slice: run the script on every host: gcloud compute tpus tpu-vm ssh NAME --worker=all --command="python3 train.py\"""",
        yields_to=("E30", "E124"),  # the file system asks that server for a token, too
        citations=(
            "tensorflow/tensorflow#84413",
            "jax-ml/jax#13257",
            "jax-ml/jax#17495",
        ),
        example="urllib.error.URLError: <urlopen error [Errno -2] Name or service not known> in _request_compute_metadata",
    ),
    KnownError(
        id="E56",
        family="tpu-unreachable",
        phase=Phase.CONNECTING,
        kind=Kind.BROAD,
        patterns=(
            r"Failed to connect to remote server at address:? grpc://(?P<address>[\d.:]{7,21})",
            r"Failed to open the gRPC driver",
            r"WaitForConnected\(",
            r"Deadline Exceeded.{0,120}?/job:(?:tpu_)?worker",
            r"Deadline ?Exceeded.{0,120}?ConfigureDistributedTPU",
            r"DEADLINE_EXCEEDED.{0,200}?grpc://",
            r"failed to connect to all addresses",
            r"DNS resolution failed for",
            r"connections to all backends failing",
            r"connection attempt timed out before receiving SETTINGS",
            r"TPU driver.{0,60}?Deadline Exceeded",
            r"Timed out waiting for .{0,40}?(?:worker|TPU|cluster)",
            r"Couldn't connect to TPU",
        ),
        cause="Nothing answers at the TPU's address: the worker is not running, or cannot be reached from here.",
        details=("The address is {address}.",),
        fix="""\
gcloud compute tpus tpu-vm list --zone=ZONE      # READY? HEALTHY? its address?
nc -vz ADDRESS 8470                              # is the port open from here?
# on a TPU VM no address is needed: TPUClusterResolver(tpu="local")
# and connect to the cluster, not to the host: tf.config.experimental_connect_to_cluster(resolver)""",
        rivals=(
            Rival(
                cause="the TPU is a TPU VM (nothing listens at port 8470), or Colab's and Kaggle's runtime of today: the grpc address is of the past",
                look_for="a TPU VM, /dev/accel* or /dev/vfio on this machine",
                decide="ls /dev/accel* /dev/vfio/*",
                fix='resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")',
                cues=(r"COLAB_TPU_ADDR",),
            ),
            Rival(
                cause="the input pipeline calls Python (from_generator, py_function, a keras Sequence), and the TPU worker cannot call back to the client",
                look_for="`IteratorGetNext`, `GeneratorDataset`, `PyFunc`, a generator or Sequence given to fit",
                decide='grep -nE "from_generator|py_function|numpy_function|Sequence|ImageDataGenerator" train.py',
                fix="dataset = tf.data.TFRecordDataset(files).map(parse_with_tf_ops, num_parallel_calls=tf.data.AUTOTUNE)",
                cues=(
                    r"GeneratorDataset",
                    r"from_generator",
                    r"ImageDataGenerator",
                    r"py_function",
                    r"numpy_function",
                    r"pyfunc_\d",
                    r"IteratorGetNext",
                ),
            ),
            Rival(
                cause="the worker died or is being restarted",
                look_for="it worked before; `Socket closed` earlier",
                decide="gcloud compute tpus tpu-vm describe NAME --zone=ZONE",
                cues=(
                    r"Socket closed",
                    r"Connection reset by peer",
                ),
            ),
            Rival(
                cause="another network: TPU and client are in different VPCs, zones or behind a firewall",
                look_for="it never worked",
                decide="nc -vz ADDRESS 8470",
            ),
        ),
        citations=(
            "jax-ml/jax#6157",
            "googlecolab/colabtools#3513",
            "KoboldAI/KoboldAI-Client#235",
            "tensorflow/tensorflow#60706",
        ),
        example="RuntimeError: Deadline exceeded: Failed to connect to remote server at address: grpc://10.59.106.169:8470. Error from gRPC: Deadline Exceeded. Details:",
        near_miss="ConnectionError: failed to connect to the database",
        yields_to=(
            "E44",
            "E260",
        ),
    ),
)
