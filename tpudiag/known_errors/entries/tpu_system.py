# ruff: noqa: E501  (texts of other programs stay as they are)
"""What libtpu, the slice of several hosts and the service that lends TPUs report."""

from __future__ import annotations

from tpudiag.known_errors.model import Kind, KnownError, Phase, Rival

ERRORS = (
    KnownError(
        id="E450",
        family="initialisation-failed",
        phase=Phase.INITIALISING,
        patterns=(
            r"Couldn't mmap:? (?P<why>[\w ]{4,40})",
            r"Unable to create Node RegisterInterface",
            r"could not create driver instance",
            r"(?:open|wrap fd for) vfio container",
            r"Could not find vfio device path",
            r"Cannot read VFIO",
            r"IOMMU \d{1,4} is not supported by VFIO",
            r"Failed to get (?:global|local|slice) (?:TPU )?topology",
            r"No TPU Platform available",
            r"Firmware cannot be reached",
            r"Failed to mmap HBM",
            r"TPU.{0,60}? no kernel driver",
            r"failures while refreshing .{1,40}? device info",
            r"Cannot read device owner",
            r"Failed to (?:open|map|read) .{0,60}?(?:accel|vfio)[\d/]{0,4}",
            r"Backend 'tpu' is not in the list of known backends",
            r"no platforms that are instances of tpu are present",
            r"Could not stat device node",
            r"Could(?:n't| not) get device (?:info|fd)",
            r"Cannot communicate with device",
            r"Cannot read gasket",
            r"Cancel TPU slice due to HAL init",
            r"Cannot find Driver factory for",
        ),
        cause="libtpu finds the chips but cannot use them: this process may not map them, another one holds them, the machine image has no driver for this generation, or a container does not pass the devices on.",
        details=("The system says: {why}.",),
        fix="""\
ls -l /dev/accel* /dev/vfio/*; sudo lsof -w /dev/accel* /dev/vfio/*         # are they there, who holds them?
lspci -nnk -d 1ae0:                                                       # `Kernel driver in use`: gasket/accel or vfio-pci
docker run --privileged --net=host -v /dev:/dev ...                       # a container: the devices, and ulimit -l unlimited for vfio
gcloud compute tpus tpu-vm create NAME --version=v2-alpha-tpuv6e ...      # an image of this generation (v5e: v2-alpha-tpuv5-lite)
# a fresh VM that still fails: delete it and create another one""",
        rivals=(
            Rival(
                cause="another process holds the chips, or held them and is not gone",
                look_for="`busy`, `Operation not permitted` on a VM that worked before",
                decide="sudo lsof -w /dev/accel* /dev/vfio/*",
                cues=(r"resource busy", r"in use by"),
                families=("tpu-busy",),
            ),
            Rival(
                cause="a slice of several hosts, and the program was not started on all of them",
                look_for="`global topology`, `TPU_WORKER_HOSTNAMES`, a v4-16 or larger; it waits, then fails, on one host",
                decide="gcloud compute tpus tpu-vm describe NAME --zone=ZONE --format='value(acceleratorType,networkEndpoints)'",
                fix='gcloud compute tpus tpu-vm ssh NAME --zone=ZONE --worker=all --command="python3 train.py"',
                families=("hosts-missing",),
            ),
            Rival(
                cause="a container or a user without the right to the devices",
                look_for="docker, Kubernetes, `Operation not permitted`, `memlock`",
                decide="id; ls -l /dev/accel* /dev/vfio/*; ulimit -l",
                cues=(r"Operation not permitted", r"Permission denied", r"memlock"),
                families=("tpu-busy",),
            ),
            Rival(
                cause="the machine image does not fit the generation: no driver bound",
                look_for="a VM that never worked; `no kernel driver`, `topology`",
                decide="lspci -nnk -d 1ae0:",
                families=("initialisation-failed",),
            ),
        ),
        citations=("jax-ml/jax#30834", "pytorch/xla#9753", "jax-ml/jax#13260"),
        example="RuntimeError: Failed to get global TPU topology.",
        yields_to=("E06", "E62", "E63"),
    ),
    KnownError(
        id="E451",
        family="hardware-fault",
        phase=Phase.EXECUTING,
        patterns=(
            r"Failed to (?:bring (?:up|down)|enable|turn down|unmask) (?:an? )?(?:ICI|data) (?:data )?(?:link|error)",
            r"fatal chip error",
            r"Detected failure (?P<what>SLICE_FAILURE_\w{3,40})",
            r"fatal TPU error occurred",
            r"A program or fatal TPU error occurred",
            r"(?:open|start) destructively halted core",
            r"halted destructively",
            r"ICI links? .{0,40}?(?:down|unhealthy|lost|failed|error)",
            r"ICI networks? .{0,40}?(?:down|unhealthy|lost|failed|error)",
            r"inter-chip (?:link|network|interconnect).{0,40}?(?:down|unhealthy|lost|failed|error)",
            r"All enabled links .{0,80}?(?:not|fail)",
            r"hang detected error from worker",
            r"TPU.{0,40}?(?:is )?unhealthy",
            r"UNHEALTHY_TPU\w{0,20}",
            r"chip.{0,40}?overheat",
            r"slice health check failed",
            r"health ?check .{0,40}?(?:slice|TPU|chip).{0,20}?fail",
            r"Core has already been destructively halted",
            r"from TPU, but it has a non-OK error state",
            r"chips disconnected from the rest of the slice",
            r"Failed to take down links and reset ICI",
            r"Detected slice failure, core dump",
            r"Failed to (?:setup internal|find any|generate) ICI (?:table|configuration|routing)",
        ),
        cause="A chip or a link between chips failed, or the program brought a core down so that it must be reset. The first such line, on the host that is named, is the cause; all others follow.",
        fix="""\
gcloud compute tpus tpu-vm describe NAME --zone=ZONE --format='value(state,health,healthDescription)'
sudo reboot                                     # once; or: gcloud compute tpus tpu-vm stop/start NAME --zone=ZONE (one host)
gcloud compute tpus tpu-vm delete NAME --zone=ZONE      # again on fresh hardware, then from the last checkpoint
# it fails at the same step each time and on other hardware too: the program; look for an index out of range, report it with libtpu's version""",
        evidence="recalled",
        example="INTERNAL: A program or fatal TPU error occurred. See the log of the host for the chip.",
        yields_to=(
            "E757",
            "E58",
            "E10",
        ),
    ),
    KnownError(
        id="E452",
        family="hosts-missing",
        phase=Phase.INITIALISING,
        patterns=(
            r"no server name supplied in dns URI",
            r"target uri is not valid: dns:",
            r"BarrierCoordinator: Unable to wait for all slices",
            r"Slice building cannot continue",
            r"Cannot find (?:address for worker of|topology for|host .{1,60}? of) slice",
            r"slice_builder\w{0,30}(?:\.cc:\d{1,5}\])?[^\]]{0,120}?(?:timed? ?out|fail|unavailable|error|refused)",
            r"Slice ?Builder[^\]]{0,120}?(?:timed? ?out|fail|unavailable|error|refused)",
            r"Waiting for .{0,40}?(?:workers|hosts|slices|tasks) to (?:connect|join)(?!.{0,400}?/job:(?:worker|chief|ps)/)(?!.{0,3000}?has connected to coord)",
            r"Initialization of slice failed",
            r"TPU_WORKER_(?:HOSTNAMES|ID).{0,120}?(?:not set|invalid|mismatch|must|missing|does not|unexpected)",
            r"TPU_PROCESS_(?:ADDRESSES|BOUNDS).{0,120}?(?:not set|invalid|mismatch|must|missing|does not|unexpected)",
            r"_CHIPS_PER_PROCESS_BOUNDS.{0,120}?(?:not set|invalid|mismatch|must|missing|does not)",
            r"Invalid task id specified by 'CLOUD_TPU_TASK_ID'",
            r"unexpected worker hostname",
            r"Multislice tpu topology mismatch",
            r"chips_per_host_bounds must be",
            r"Expected \d{1,5} worker addresses, got \d{1,5}",
            r"does not match TPU_WORKER_HOSTNAMES",
            r"TPU topology mismatch",
            r"only available when slice is HEALTHY",
            r"Topology Discovery in progress\. Missing hosts",
            r"Cannot (?:find slice .{1,12}? from topologies|add slice to multi-slice topology)",
            r"Failed to get TPU topology:",
        ),
        cause="The hosts of the slice do not find each other: not all were started, an address or the worker's number is missing or left over from another slice, or their libtpu differ.",
        fix="""\
gcloud compute tpus tpu-vm ssh NAME --zone=ZONE --worker=all --command="python3 train.py"      # the same program on all hosts at once
env | grep -E "TPU_|CLOUD_TPU|MEGASCALE"               # on each: TPU_WORKER_ID differs, TPU_WORKER_HOSTNAMES is the same list of all hosts
pip show libtpu libtpu-nightly jaxlib tensorflow       # the same on all hosts
pip install -U "jax[tpu]"                              # on all hosts: `no server name supplied` was a bug of jax 0.3.5's libtpu, mended in 0.3.6
unset TPU_PROCESS_ADDRESSES TPU_WORKER_HOSTNAMES CLOUD_TPU_TASK_ID      # one host alone (Kaggle, a notebook): os.environ.pop(...)
# GKE: a JobSet with one pod for each host, a headless service, completions = parallelism = number of hosts""",
        citations=("jax-ml/jax#10218", "jax-ml/jax#12456"),
        example="E0410 21:04:57.403257842 30715 f758.cc:310] no server name supplied in dns URI",
        yields_to=("E63", "E31"),
    ),
    KnownError(
        id="E453",
        family="coordination-lost",
        phase=Phase.EXECUTING,
        kind=Kind.BROAD,
        patterns=(
            r"earlier error that caused coordination service to shut down",
            r"registered before sending heartbeat",
            r"The task has restarted and likely crashed earlier",
            r"Leader incarnation ID mismatch",
            r"tasks were set to error because coordination service",
            r"Shutdown barrier.{0,40}?has failed",
            r"coordination agent is in error state",
            r"Terminating process because the (?:JAX )?(?:distributed service|coordinator)",
            r"missing from the barrier",
            r"barrier.{0,80}? timed out",
            r"worker heartbeat (?:lost|missed|timed)",
            r"coordinat\w{2,5} (?:task )?(?:died|was (?:preempted|restarted)|unreachable)",
            r"polled an error from coordination service",
            r"Failed to send RPC to coordination service",
            r"distributed runtime.{0,60}?(?:shut ?down|error|timed out)",
            r"megascale.{0,120}?(?:failed|failure|timed out|unreachable|error)",
            r"Session master detected TPU session error from worker",
        ),
        cause="One task of several failed or was restarted, and the others end with it. The reason is in the log of the task that went first (the one that is named, else the leader, task 0).",
        fix="""\
gcloud compute tpus tpu-vm ssh NAME --zone=ZONE --worker=all --command="grep -nE 'Error|Killed|SIGTERM|OOM' train.log | head -3; sudo dmesg -T | grep -iE 'oom|kill' | tail -3"
# the earliest of these is the cause: out of host memory, an exception, a preemption
# all processes must end and start together: after a restart of one, start all again from the last checkpoint""",
        evidence="recalled",
        example="INTERNAL: Shutdown barrier in coordination service has failed: DEADLINE_EXCEEDED. This usually implies an earlier error that caused coordination service to shut down before the workers disconnect gracefully.",
        yields_to=("E112", "E113", "E10"),
    ),
    KnownError(
        id="E454",
        family="context-lost",
        phase=Phase.EXECUTING,
        patterns=(
            r"expects a different device incarnation",
            r"worker job .{0,80}?was probably restarted",
            r"(?:Unavailable|UNAVAILABLE|worker).{0,120}?Driver not open",
            r"Possibly(?: the worker was| this (?:master|worker) has) restarted",
        ),
        cause="The worker that held the program and its variables was restarted while the client went on: preempted, out of host memory, or taken by another process (a second notebook, a run that was not ended).",
        fix="""\
gcloud compute tpus tpu-vm describe NAME --zone=ZONE --format='value(state,health)'      # PREEMPTED, or restarted for maintenance
tf.config.experimental_connect_to_cluster(resolver)      # start the program again; what lay on the TPU is gone
tf.tpu.experimental.initialize_tpu_system(resolver)
checkpoint.restore(manager.latest_checkpoint)
# each time after minutes: host memory (shuffle, cache, arrays), or two programs on one TPU""",
        citations=("tensorflow/tensorflow#38257", "pytorch/xla#1016"),
        example='AbortedError: RecvTensor expects a different device incarnation: 15132506705170928619 vs. 17767066468299283119. Your worker job ("/job:worker/replica:0/task:0") was probably restarted.',
    ),
    KnownError(
        id="E455",
        family="tpu-node-gone",
        phase=Phase.CREATING,
        patterns=(
            r"provision TPU Node has been denied",
            r"migrate to (?:the )?TPU VM",
            r"TPU Node(?:s| architecture)? (?:is|are|has been|have been) (?:deprecated|no longer|removed|not supported)",
            r"gcloud\.compute\.tpus\.(?:create|execution-groups\.create)\).{0,160}?(?:denied|not supported|deprecated|invalid)",
            r"compute tpus create.{0,80}?(?:deprecated|removed)",
        ),
        cause="TPU Nodes are no longer given out: the program has to run on the TPU's own machine (a TPU VM).",
        fix="""\
gcloud compute tpus tpu-vm create NAME --zone=ZONE --accelerator-type=v3-8 --version=tpu-vm-tf-2.18.0-pjrt
gcloud compute tpus tpu-vm ssh NAME --zone=ZONE
# in the program: TPUClusterResolver(tpu="local"); files may be local now, Python in the pipeline works""",
        citations=("skypilot-org/skypilot#5593",),
        example="ERROR: (gcloud.compute.tpus.create) FAILED_PRECONDITION: Your request to provision TPU Node has been denied. Please migrate to TPU VM Architecture or contact Cloud TPU team to gain TPU Node access.",
    ),
)
