# ruff: noqa: E501  (texts of other programs stay as they are)
"""The devices of a TPU VM, its slice and its initialisation."""

from __future__ import annotations

from tpudiag.known_errors.model import KnownError, Phase, Rival

ERRORS = (
    KnownError(
        id="E06",
        family="tpu-busy",
        phase=Phase.INITIALISING,
        patterns=(
            r"The TPU is already in use by (?:another )?process with pid (?P<pid>\d{1,10})",
            r"The TPU is already in use by (?:another )?process",
            r"libtpu\.so already in use",
            r"Couldn't open (?:device|iommu group):? (?P<device>/dev/\w{1,10}(?:/\d{1,3}|\d{0,3}))",
            r"(?P<device>/dev/accel[/\w]{0,6}).{0,40}?Operation not permitted",
            r"(?P<device>/dev/accel[/\w]{0,6}).{0,40}?Device or resource busy",
            r"(?P<device>/dev/accel[/\w]{0,6}).{0,40}?Permission denied",
            r"(?P<device>/dev/vfio[/\w]{0,6}).{0,40}?Operation not permitted",
            r"(?P<device>/dev/vfio[/\w]{0,6}).{0,40}?Device or resource busy",
            r"(?P<device>/dev/vfio[/\w]{0,6}).{0,40}?Permission denied",
            r"TpuHalFactory::Register",
            r"libtpu.{0,20}?(?:multi-process )?lock_?file",
            r"TPU.{0,40}?(?:in use|being used) by another",
            r"TPU is already in use by process",
            r"Not attempting to load libtpu\.so in this process",
            r"did not find which pid uses the libtpu",
            r"take ownership of a device that is already owned",
        ),
        cause="Another process holds the TPU, or one that died has left its lock file behind.",
        details=(
            "The process is said to be {pid}.",
            "The device is {device}.",
        ),
        fix="""\
sudo lsof -w /dev/accel* /dev/vfio/*      # who holds the TPU: stop that process
rm -f /tmp/libtpu_lockfile                # only if nobody holds it""",
        useless="a smaller batch or another TensorFlow does not help while the device is held",
        rivals=(
            Rival(
                cause="a process still holds the TPU: a notebook kernel, an earlier run, a second script",
                look_for="a pid in the message; `Device or resource busy`; `Operation not permitted` of /dev/accel (its driver says so while another process holds the chip)",
                decide="sudo lsof -w /dev/accel* /dev/vfio/*",
                fix="""\
sudo lsof -w /dev/accel* /dev/vfio/*      # who holds the TPU: stop that process (kill PID)
rm -f /tmp/libtpu_lockfile                # only if nobody holds it""",
                cues=(
                    r"already in use by process with pid \d",
                    r"Device or resource busy",
                    r"/dev/accel[/\w]{0,6}.{0,40}?Operation not permitted",
                ),
            ),
            Rival(
                cause="this user may not open the device (it works with sudo), or the container lacks it",
                look_for="`Permission denied`, or `Operation not permitted` of /dev/vfio; lsof shows nobody",
                decide="ls -l /dev/accel* /dev/vfio/*; id",
                fix="""\
sudo lsof -w /dev/accel* /dev/vfio/*      # first: does a process of another user hold it?
sudo chmod a+rw /dev/accel* /dev/vfio/*   # nobody holds it: the rights
docker run --privileged --net=host ...    # in a container""",
                cues=(
                    r"/dev/vfio[/\w]{0,6}.{0,40}?Operation not permitted",
                    r"Permission denied",
                ),
            ),
            Rival(
                cause="a lock file that a dead process left behind",
                look_for="nobody holds the device",
                decide="ls -l /tmp/libtpu_lockfile",
                fix="rm -f /tmp/libtpu_lockfile                # only if lsof shows no process",
                cues=(r"lockfile",),
            ),
        ),
        citations=(
            "jax-ml/jax#10192",
            "jax-ml/jax#13260",
            "pytorch/xla#3214",
            "huggingface/diffusers#2745",
            "pytorch/xla#3883",
            "pytorch/xla#9604",
            "pytorch/xla#3947",
            "jax-ml/jax#22070",
        ),
        example="ABORTED: The TPU is already in use by process with pid 2718466. Not attempting to load libtpu.so in this process.",
        near_miss="OSError: [Errno 98] Address already in use by process with pid 2718466",
        yields_to=("E913",),
    ),
    KnownError(
        id="E62",
        family="no-device",
        phase=Phase.INITIALISING,
        patterns=(
            r"No ba16c7433 device found",
            r"No accelerator found",
            r"No matching devices found for '/device:TPU_SYSTEM",
            r"Failed to open /dev/(?:vfio|accel)",
            r"/dev/accel[/\w*]{0,6}.{0,60}?(?:No such file|not found|does not exist)",
            r"/dev/vfio[/\w*]{0,6}.{0,60}?(?:No such file|not found|does not exist)",
            r"No such file.{0,40}?/dev/accel",
            r"No such file.{0,40}?/dev/vfio",
            r"Failed to find .{0,20}?TPU chips?",
            r"TPU chips?.{0,20}? not found",
            r"vfio:? .{0,40}?No such device",
        ),
        cause="libtpu finds no TPU chip on this machine: it is no TPU VM (or a TPU Node's client, a notebook runtime without TPU, a container without the devices), or the VM lost its chips after a stop and start.",
        fix="""\
ls /dev/accel* /dev/vfio/*           # no device here: create the TPU VM again, or choose a TPU runtime
docker run --privileged --net=host ...   # in a container
# an old Colab runtime (TPU Node, deprecated) has no device: choose the runtime "v5e-1 TPU\"""",
        citations=(
            "jax-ml/jax#13260",
            "jax-ml/jax#18780",
        ),
        example="jaxlib.xla_extension.XlaRuntimeError: NOT_FOUND: No ba16c7433 device found.",
    ),
    KnownError(
        id="E63",
        family="slice-environment",
        phase=Phase.INITIALISING,
        patterns=(
            r"slice_builder_worker_addresses",
            r"Failed to (?:establish SliceBuilder|discover ICI network topology)",
            r"Expected (?P<expected>\d{1,5}) worker addresses, got (?P<got>\d{1,5})",
            r"provided (?P<got>\d{1,5}) worker addresses, expected (?P<expected>\d{1,5})",
            r"worker addresses cannot be empty",
            r"TPU_PROCESS_ADDRESSES",
            r"TPU_PROCESS_BOUNDS.{0,80}?(?:invalid|mismatch|expected)",
            r"TPU_CHIPS_PER_PROCESS_BOUNDS.{0,80}?(?:invalid|mismatch|expected)",
            r"TPU_WORKER_HOSTNAMES.{0,80}?(?:invalid|mismatch|expected|not set)",
            r"unexpected worker hostname",
            r"2a886c8_\w{3,60}.{0,80}?(?:specified|[Ii]nvalid|mismatch)",
            r"(?:Invalid|requires?|Expected|[Mm]issing|unset|[Uu]nknown|[Uu]nsupported) .{0,40}?TPU_PROCESS_",
            r"(?:Invalid|requires?|Expected|[Mm]issing|unset|[Uu]nknown|[Uu]nsupported) .{0,40}?TPU_ACCELERATOR_TYPE",
            r"(?:Invalid|requires?|Expected|[Mm]issing|unset|[Uu]nknown|[Uu]nsupported) .{0,40}?TPU_CHIPS_",
            r"'CLOUD_TPU_TASK_ID' not specified",
            r"Failed to find host bounds for accelerator type",
            r"not consistent with the value discovered from the topology",
            r"(?:Number parsing error|Incorrect number of elements specified) for TPU dimensions",
            r"chips_per_host_bounds .{1,24}? exceed the original",
            r"Invalid subslice (?:chips_per_)?host_bounds",
            r"Only true/false allowed for TPU wrap",
        ),
        cause="Environment variables describe a slice that is not this one: TPU_PROCESS_ADDRESSES (Kaggle's image sets it), TPU_PROCESS_BOUNDS or TPU_WORKER_HOSTNAMES hold what does not fit the number of processes, or no address at all.",
        details=("{expected} addresses were expected and {got} given.",),
        fix="""\
import os
os.environ.pop("TPU_PROCESS_ADDRESSES", None)    # first lines of the script, before TensorFlow is imported
os.environ.pop("CLOUD_TPU_TASK_ID", None)
os.environ["TPU_WORKER_HOSTNAMES"] = "localhost"   # one host; a slice: the hosts' addresses, with commas
# what is set: env | grep -E "TPU_|CLOUD_TPU\"""",
        useless="creating the TPU again or reinstalling libtpu does not help: the variables come with the image",
        citations=(
            "huggingface/transformers#28204",
            "huggingface/transformers#35774",
        ),
        example="RuntimeError: Bad StatusOr access: UNKNOWN: TPU initialization failed: Invalid --2a886c8_slice_builder_worker_addresses specified. Expected 4 worker addresses, got 1.",
    ),
    KnownError(
        id="E64",
        family="slice-as-local",
        phase=Phase.INITIALISING,
        patterns=(
            r"TPU cores on each host is not same",
            r"Expected .{0,40}?hosts?, (?:but )?(?:got|found) .{0,30}?(?:TPU|slice)",
            r"num_tpus_per_task.{0,80}?(?:mismatch|differ)",
            r"expected the number of TPU devices per host to be",
            r"number of TPU devices available per task must be",
            r"number of tasks from available TPU devices must be",
            r"Mismatched number of TPU(?: devices in cluster|s per task)",
        ),
        cause='TensorFlow counts different numbers of TPU cores on the hosts of a slice: a slice is used with tpu="local", or the hosts run a runtime or libtpu that is not made for a slice (pod).',
        fix="""\
# a slice of several hosts: its name, from one host; the runtime version must be a -pod one
export TPU_NAME=NAME_OF_THE_TPU TPU_LOAD_LIBRARY=0
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="NAME_OF_THE_TPU")
# gcloud compute tpus tpu-vm create ... --version=tpu-vm-tf-X.Y.Z-pod-pjrt   (v4 before TF 2.11: -pod-v4)""",
        citations=(
            "tensorflow/tensorflow#56760",
            "tensorflow/tensorflow#53296",
        ),
        example="RuntimeError: TPU cores on each host is not same. This should not happen!. devices: []",
    ),
    KnownError(
        id="E65",
        family="not-initialised",
        phase=Phase.INITIALISING,
        patterns=(
            r"TPU system has not been initialized",
            r"TPU system (?:is|was) not initialized",
            r"TPU (?:system|device).{0,40}? must be initialized",
            r"Failed precondition.{0,60}?TPU.{0,40}?initializ",
            r"Driver must be Open to DMA map",
            r"TPU (?:system )?has been shut ?down",
            r"tpu_mesh_common_state.{0,100}?(?:does not exist|not found)",
        ),
        cause="The TPU system is not initialised (any more): initialize_tpu_system was not called, or the worker was restarted or re-initialised by another client while the job ran.",
        fix="""\
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)     # once, before the strategy and any variable
strategy = tf.distribute.TPUStrategy(resolver)
# in the middle of a run: the worker restarted (preemption, maintenance, another client): connect again,
# build again inside the scope and restore the last checkpoint""",
        rivals=(
            Rival(
                cause="the call is missing, or comes after variables or the strategy were made",
                look_for="the error comes before the first step",
                decide="grep -n initialize_tpu_system train.py",
            ),
            Rival(
                cause="the worker was restarted (preemption, maintenance, out of host memory), or a second client initialised it",
                look_for="the error comes after steps; `Socket closed` or a second process",
                decide="gcloud compute tpus tpu-vm describe NAME --zone=ZONE",
                cues=(
                    r"Socket closed",
                    r"(?:was|been|is being) preempted(?!/|,)",
                    r"Error recorded from training_loop",
                ),
            ),
        ),
        citations=("tensorflow/tensorflow#43707",),
        example="FailedPreconditionError: The TPU system has not been initialized.",
    ),
    KnownError(
        id="E66",
        family="initialised-twice",
        phase=Phase.INITIALISING,
        level="warning",
        patterns=(
            r"TPU system .{1,60}? has already been initialized\.? Reinitializing the TPU can cause",
        ),
        cause="The TPU is initialised a second time in one process: variables that were created before are lost.",
        fix="""\
tf.tpu.experimental.initialize_tpu_system(resolver)     # once for each process: in a notebook, keep it in a cell of its own
# after it was done again: build model, optimizer and datasets again""",
        citations=("tensorflow/tensorflow#36996",),
        example="WARNING:tensorflow:TPU system 10.77.68.2:8470 has already been initialized. Reinitializing the TPU can cause previously created variables on TPU to be lost.",
    ),
    KnownError(
        id="E10",
        family="core-halted",
        phase=Phase.EXECUTING,
        patterns=(
            r"(?:Core halted unexpectedly|Accelerator device halted prematurely).{0,600}?observed errors are: \[(?P<observed>[\w/, ]{1,60})\]",
            r"Core halted unexpectedly",
            r"Accelerator device halted prematurely",
            r"RuntimeUnexpectedCoreHalt",
            r"Halt is unexpected, all pending programs will fail",
            r"unexpected leader shows up",
            r"real_program_continuator\.cc",
            r"program continuator has halted",
            r"unexpected peer shows up",
            r"Halted cores:",
            r"(?:Accelerator|TPU) is in (?:an? )?(?:error|inconsistent|bad) state",
            r"TPU system was halted",
            r"schecklt: ?Invalid logical",
        ),
        cause="A TPU core stopped: a hardware fault, hosts that run different programs (launch group mismatch), or an access out of bounds.",
        details=("The runtime observed: {observed}.",),
        fix="""\
grep -n "observed errors are\\|unexpected leader shows up\\|BoundsCheck" LOG
# Hardware, Network or Power: run again; if the same host fails, drain it
# unexpected leader: same code, same libtpu and same XLA_FLAGS on every host""",
        citations=(
            "openxla/xla E0200",
            "tensorflow/tpu#785",
            "jax-ml/jax#19118",
        ),
        example="INTERNAL: Core halted unexpectedly: INTERNAL: Accelerator device halted prematurely, perhaps due to an on-device check-failure. Node 0 halted unexpectedly at tag:pc TensorCoreSequencer:887:0x6f1 (from TensorCoreSequencer:887:0x3b91): no debugging message found for this tag:pc. HLO: fusion.1",
        near_miss="The data loader halted unexpectedly; the accelerator device is idle.",
    ),
    KnownError(
        id="E276",
        family="hardware-fault",
        phase=Phase.EXECUTING,
        patterns=(
            r"uncorrectable[_ ]?(?:ECC|memory|HBM)",
            r"ECC uncorrectable",
            r"ICI link.{0,40}?(?:down|error|fail|fault|unhealthy)",
            r"(?:TPU|chip|accelerator).{0,40}?hardware (?:error|fault|failure)",
            r"ICI link .{0,20}?corrupt",
            r"TPU device unreachable via PCIe",
            r"PCIe link may be down or chip is wedged",
        ),
        cause="The TPU's hardware reports a fault: memory that cannot be corrected, or a broken link between chips. No change of the program helps.",
        fix="""\
gcloud compute tpus tpu-vm describe NAME --zone=ZONE --format='value(state,health,healthDescription)'
gcloud compute tpus tpu-vm delete NAME --zone=ZONE && gcloud compute tpus tpu-vm create NAME --zone=ZONE ...     # other hardware
# GKE: kubectl drain NODE; then report the chip, and go on from the last checkpoint""",
        evidence="recalled",
        example="TPU driver: uncorrectable ECC error of HBM on chip 2",
        near_miss="HBM capacity 16.0G, 12.1G in use",
    ),
)
