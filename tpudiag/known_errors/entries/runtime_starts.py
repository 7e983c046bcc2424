# ruff: noqa: E501  (texts of other programs stay as they are)
"""How a TPU's runtime comes up: in containers, beside another framework, on several hosts."""

from __future__ import annotations

from tpudiag.known_errors.model import Kind, KnownError, Phase, Rival

ERRORS = (
    KnownError(
        id="E813",
        family="container-network",
        phase=Phase.INITIALISING,
        patterns=(
            r"TPU initialization failed:? ?Failed to connect to (?P<address>(?:\[::\]|localhost|127\.0\.0\.1|0\.0\.0\.0):\d{2,5})",
            r"Failed to connect to (?P<address>\[::\]:835\d)",
        ),
        cause="The program runs in a container that does not share the host's network: libtpu asks a service of the TPU VM (v6e and later) at this machine's own address, and in the container's network nothing listens there.",
        details=("The address is {address}.",),
        fix="""\
docker run --privileged --net=host --shm-size=16g IMAGE python train.py      # both: the devices and the host's network
# docker build that touches the TPU: docker build --network=host ...; compose: network_mode: host, privileged: true; GKE: hostNetwork: true""",
        useless="reinstalling libtpu does not help, nor another release of the framework",
        citations=("pytorch/xla#8735", "pytorch/xla#8371"),
        example="RuntimeError: Bad StatusOr access: UNKNOWN: TPU initialization failed: Failed to connect to [::]:8353",
        near_miss="Failed to connect to the TPU node at 10.0.0.2:8470",
    ),
    KnownError(
        id="E814",
        family="tpu-busy",
        phase=Phase.INITIALISING,
        patterns=(r"Unauthenticated(?:Error)?: ?ioctl failed",),
        cause="Two frameworks take the TPU in one program: JAX (or PyTorch/XLA) has the chips, and a TensorFlow that was built for TPU opens them too, when it makes its first tensor or dataset.",
        fix="""\
pip uninstall -y tensorflow tensorflow-tpu tf-nightly && pip install tensorflow-cpu      # TensorFlow only reads the data
export TPU_LOAD_LIBRARY=0                                                                  # or: keeps the preinstalled TensorFlow off libtpu
python -c "import tensorflow as tf; print(tf.__version__, tf.__file__)"                    # which one is imported: with sudo and without""",
        useless="starting TensorFlow first only turns it round: then JAX finds the TPU taken",
        citations=("tensorflow/tensorflow#51476",),
        example="tensorflow.python.framework.errors_impl.UnauthenticatedError: ioctl failed",
    ),
    KnownError(
        id="E815",
        family="libtpu-pair",
        phase=Phase.INITIALISING,
        patterns=(
            r"TPU v2 and v3 are deprecated as of libtpu",
            r"downgrade to a version of libtpu <",
        ),
        cause="This libtpu has given up the TPU's generation: v2 and v3 are served by libtpu before 1.0 only.",
        fix="""\
<<tpu_install>>
pip install "jax[tpu]==RELEASE"                                # JAX, PyTorch/XLA: the framework's release that came with a libtpu before 1.0
gcloud compute tpus tpu-vm create NAME --zone=ZONE --accelerator-type=v5litepod-8 --version=v2-alpha-tpuv5-lite      # or a newer TPU""",
        evidence="recalled",
        example="TPU v2 and v3 are deprecated as of libtpu 1.0.0 and are no longer being supported. Please consider using a newer generation of TPU.",
    ),
    KnownError(
        id="E816",
        family="coordination-lost",
        phase=Phase.CONNECTING,
        kind=Kind.BROAD,
        patterns=(
            r"Stopping coordination service as cluster registration failed",
            r"Coordination service agent failed to register with the leader",
            r"GetKeyValue\(\) timed out with key: (?P<key>[\w:/.-]{1,60}?) and duration",
            r"GetKeyValue\(\) timed out with key",
            r"Barrier timed out\. Id: PjRT_Client_Connect.{0,200}?reached the barrier: (?P<there>\d{1,5})/(?P<all>\d{1,5})",
            r"PjRT_Client_Connect.{0,60}?(?:timed out|fail|error|DEADLINE)",
            r"Coordination Service agent connect failed",
        ),
        cause="The processes of the job did not all meet at the start: one or more never registered with process 0, or did not come as far as the TPU's initialisation within the time that the others wait.",
        details=("Of {all} processes {there} came.", "It waited for {key}."),
        fix="""\
gcloud compute tpus tpu-vm ssh NAME --zone=ZONE --worker=all --command="pgrep -af python; tail -3 train.log"      # which host is missing, and what it says last
gcloud compute tpus tpu-vm ssh NAME --zone=ZONE --worker=all --command="pkill -f train.py; python3 train.py"      # on all hosts at once
jax.distributed.initialize(initialization_timeout=900)             # JAX, where hosts come up slowly; 300 s unless set""",
        rivals=(
            Rival(
                cause="not every host was started, or with another number of processes",
                look_for="hosts on which no process runs; num_processes, process_id",
                decide='gcloud compute tpus tpu-vm ssh NAME --zone=ZONE --worker=all --command="pgrep -af python"',
                families=("hosts-missing",),
            ),
            Rival(
                cause="one process ended with an error of its own before it met the others (the TPU held by an old process, a missing package or file)",
                look_for="the log of the host that is missing: its last lines",
                decide='gcloud compute tpus tpu-vm ssh NAME --zone=ZONE --worker=all --command="tail -5 train.log"',
                cues=(r"already in use", r"ModuleNotFoundError", r"oom-kill", r"Killed process"),
                families=("tpu-busy", "package-missing"),
            ),
            Rival(
                cause="the coordinator's port is closed between the hosts, or its address is another machine's",
                look_for="UNAVAILABLE, failed to connect; a firewall rule",
                decide="nc -vz COORDINATOR_IP 8476      # from each other host",
                cues=(
                    r"failed to connect to all addresses",
                    r"Connection refused",
                    r"RegisterTask",
                ),
                fix='jax.distributed.initialize(coordinator_address="IP_OF_HOST_0:8476", num_processes=N, process_id=I)',
            ),
            Rival(
                cause="hosts that come up minutes apart: images pulled, data copied, a first compilation",
                look_for="all processes alive, the last one started late",
                decide='gcloud compute tpus tpu-vm ssh NAME --zone=ZONE --worker=all --command="ps -o lstart,cmd -C python3"',
                fix="jax.distributed.initialize(initialization_timeout=900)",
            ),
        ),
        citations=("jax-ml/jax#35905", "GoogleCloudPlatform/ml-auto-solutions#1166"),
        example="XlaRuntimeError: DEADLINE_EXCEEDED: Barrier timed out. Id: PjRT_Client_Connect::0. # of tasks that reached the barrier: 1/4.",
        near_miss="barrier synchronisation of threads took 4 ms",
    ),
    KnownError(
        id="E817",
        family="torch-xla-processes",
        phase=Phase.CONNECTING,
        patterns=(
            r"Waiting to connect to client mesh master \((?P<seconds>\d{1,5}) seconds\) (?P<address>[\w.-]{1,60}:\d{2,5})",
            r"Waiting to connect to client mesh master",
            r"Failed to connect to client mesh master",
        ),
        cause="PyTorch/XLA's old runtime (XRT) waits for the first process of the job, which leads the mesh, and that does not answer at its address.",
        details=("The address is {address}.",),
        fix="""\
# is the first host's process alive, and what does its log say last? A failure there is the cause
nc -vz ADDRESS_OF_THE_FIRST_HOST 8477                              # open between the hosts? else a firewall rule
gcloud compute firewall-rules create xla-mesh --network=NETWORK --allow=tcp:8470-8480 --source-ranges=10.0.0.0/8
pip list | grep torch                                                # TPU Node: its software version is the torch_xla release
pip install "torch~=2.6.0" "torch_xla[tpu]~=2.6.0"; export PJRT_DEVICE=TPU      # today's runtime (TPU VM) has no mesh master""",
        rivals=(
            Rival(
                cause="the first process ended, or was never started",
                look_for="an exception in the log of the first host",
                decide="pgrep -af python      # on the first host",
                cues=(
                    r"Traceback \(most recent call last\)",
                    r"Killed process",
                    r"Exception in device=",
                ),
            ),
            Rival(
                cause="all in one machine (localhost): the process of the first core died, or the device was touched before the processes were started",
                look_for="localhost in the address; xm.xla_device() before xmp.spawn",
                decide="grep -nE 'xla_device|xmp.spawn' train.py",
                fix="# a notebook: restart the kernel; nothing of torch_xla before\nxmp.spawn(_mp_fn, nprocs=8, start_method='fork')",
                cues=(r"client mesh master \(\d{1,5} seconds\) localhost",),
            ),
            Rival(
                cause="the port of the mesh is closed between the hosts",
                look_for="the first process is alive and waits, too",
                decide="nc -vz ADDRESS_OF_THE_FIRST_HOST 8477",
            ),
            Rival(
                cause="the TPU Node's software is another release than torch_xla",
                look_for="single-process programs work, those with a process for each core do not",
                decide="gcloud compute tpus describe NAME --zone=ZONE --format='value(tensorflowVersion)'",
            ),
        ),
        citations=("pytorch/xla#2137", "Lightning-AI/pytorch-lightning#1538"),
        example="I 7449 tensorflow/compiler/xla/xla_client/mesh_service.cc:208] Waiting to connect to client mesh master (300 seconds) 10.164.15.199:8477",
    ),
    KnownError(
        id="E818",
        family="slice-environment",
        phase=Phase.INITIALISING,
        level="warning",
        patterns=(
            r"could not determine (?P<what>TPU [\w ]{3,30})\. Set env var (?P<name>\w{3,40})",
            r"could not determine (?P<what>[\w ]{3,40}), please set env var `?(?P<name>[A-Z_]{3,40})",
        ),
        cause="libtpu asked the metadata server what this machine's TPU is and got no answer to it; it goes on without. On a TPU VM of one host that mostly works; in a container or pod on a slice it does not.",
        details=("It misses the {what}: {name}.",),
        fix="""\
docker run --privileged --net=host ...                          # a container: the host's network, then the metadata is there
export TPU_ACCELERATOR_TYPE=v5litepod-8 TPU_WORKER_ID=0 TPU_WORKER_HOSTNAMES=localhost TPU_SKIP_MDS_QUERY=1      # or say it: one host of v5e""",
        citations=("jax-ml/jax#17495",),
        example="WARNING: could not determine TPU accelerator type. Set env var TPU_ACCELERATOR_TYPE to set manually. TPU runtime may not be properly initialized.",
    ),
    KnownError(
        id="E819",
        family="tpu-busy",
        phase=Phase.INITIALISING,
        patterns=(r"PJRT_Api already exists for device type tpu",),
        cause="libtpu is loaded twice into one process: two frameworks that drive the TPU (JAX, PyTorch/XLA, TensorFlow for TPU) were imported into it, or a plugin was registered a second time.",
        fix="""\
pip uninstall -y tensorflow tensorflow-tpu && pip install tensorflow-cpu      # one framework for the TPU; the others in their CPU build
pip list | grep -iE "libtpu|jax|torch_xla|tensorflow"                          # one libtpu, and one that uses it
# a notebook: restart the kernel""",
        evidence="recalled",
        example="RuntimeError: Unable to initialize backend 'tpu': ALREADY_EXISTS: PJRT_Api already exists for device type tpu",
    ),
    KnownError(
        id="E820",
        family="device-count",
        phase=Phase.INITIALISING,
        patterns=(
            r"Actual list of devices does not match cluster configuration: Expected (?P<each>\d{1,4}) \w{3,4} devices in (?P<asked>\d{1,5}) replicas",
            r"Actual list of devices does not match cluster configuration",
        ),
        cause="The job is set up for another number of hosts or cores than the TPU has: the flags or the configuration were written for a slice of another size.",
        details=("It is set up for {asked} hosts with {each} device each.",),
        fix="""\
gcloud compute tpus describe NAME --zone=ZONE --format="value(acceleratorType,networkEndpoints[].ipAddress)"      # so many hosts it has; v3-128: 16, 8 cores each
--worker_replicas=16 --worker_tpus=128                              # lingvo: hosts and cores of that TPU; the model's mesh and splits as well
gcloud compute tpus create NAME --accelerator-type=v3-64 ...        # or the size that the configuration is for""",
        citations=("tensorflow/lingvo#266",),
        example="RuntimeError: Actual list of devices does not match cluster configuration: Expected 1 CPU devices in 8 replicas but got ['/job:executor_tpu/replica:0/task:0/device:CPU:0'",
    ),
    KnownError(
        id="E821",
        family="gke-scheduling",
        phase=Phase.CREATING,
        patterns=(
            r"[Pp]ods? using TPUs? requires? .{0,60}?gke-tpu-topology",
            r"gke-tpu-(?:topology|accelerator).{0,80}?(?:node ?selectors?.{0,20}?(?:required|missing)|KeyError)",
            r"KeyError: '?cloud\.google\.com/gke-tpu-(?P<label>topology|accelerator)",
        ),
        cause="The pod asks for a TPU and does not say which: on GKE both labels of the node pool, its kind of TPU and its topology, must stand in the pod's nodeSelector, beside the number of chips of one host.",
        fix="""\
# in the pod's (or worker group's) spec: as the node pool has them; v5e, one host of four chips:
nodeSelector: {cloud.google.com/gke-tpu-accelerator: tpu-v5-lite-podslice, cloud.google.com/gke-tpu-topology: 2x2}
resources: {requests: {google.com/tpu: 4}, limits: {google.com/tpu: 4}}
kubectl get nodes -L cloud.google.com/gke-tpu-accelerator,cloud.google.com/gke-tpu-topology      # what there is""",
        citations=("ray-project/ray#53914",),
        example="ValueError: Pods using TPUs require both `cloud.google.com/gke-tpu-topology` and `cloud.google.com/gke-tpu-accelerator` node selectors.",
    ),
    KnownError(
        id="E822",
        family="library-for-gpus",
        phase=Phase.INITIALISING,
        patterns=(r"There are currently no available devices found, must be one of .{0,6}XPU",),
        cause="A release of a library takes it for granted that there is a GPU and does not look for a TPU: transformers 4.45.0 to 4.45.2 do so with PyTorch/XLA, 4.44.2 does not.",
        fix="""\
pip install "transformers==4.44.2"                      # the last one before it; or the newest, with its accelerate: pip install -U transformers accelerate
export PJRT_DEVICE=TPU""",
        citations=("huggingface/transformers#34176",),
        example="RuntimeError: There are currently no available devices found, must be one of 'XPU', 'CUDA', or 'NPU'.",
    ),
    KnownError(
        id="E823",
        family="array-of-all-hosts",
        phase=Phase.COMPILING,
        patterns=(r"Device assignment .{0,60}?does not have any local devices",),
        cause="This process is to run a program none of whose chips are its own: the mesh (or list of devices) holds chips of other hosts only, as jax.devices()[:4] does on a slice.",
        fix="""\
mesh = jax.make_mesh((jax.device_count(),), ("data",))       # all chips of the slice, the same program on each host
mesh = jax.sharding.Mesh(jax.local_devices(), ("data",))      # or this host's chips alone, each host by itself""",
        evidence="recalled",
        example="XlaRuntimeError: INVALID_ARGUMENT: Device assignment (2 Computations 1 Replicas) does not have any local devices.",
    ),
    KnownError(
        id="E824",
        family="queued-resource-state",
        phase=Phase.CREATING,
        level="warning",
        patterns=(
            r"WAITING_FOR_RESOURCES",
            r"SUSPENDED.{0,80}?(?:stateInitiator|suspendedData)",
            r"(?:stateInitiator|suspendedData).{0,80}?SUSPENDED",
        ),
        cause="A queued resource is not at work: WAITING_FOR_RESOURCES waits for free TPUs of that kind in the zone (nothing is wrong, nor does it end by itself); SUSPENDED had its TPU and lost it (a spot TPU that was taken back, or a TPU that was deleted), and does not come back.",
        fix="""\
gcloud compute tpus queued-resources describe REQUEST --zone=ZONE                       # state, and who set it
gcloud compute tpus queued-resources delete REQUEST --zone=ZONE --force --quiet         # SUSPENDED: it holds quota; then the same again
gcloud compute tpus queued-resources create REQUEST-2 --node-id=NAME --zone=OTHER_ZONE --accelerator-type=TYPE --runtime-version=VERSION --spot      # WAITING: another zone, or spot""",
        citations=("marin-community/marin#87",),
        example="state:\n  state: SUSPENDED\n  stateInitiator: SERVICE\n  suspendedData: {}",
        near_miss="the account was suspended by its owner",
    ),
    KnownError(
        id="E825",
        family="worker-lost",
        phase=Phase.EXECUTING,
        patterns=(
            r"TPUPollingThread found TPU .{1,80}? in state READY, and health (?:UNKNOWN|TIMEOUT|UNHEALTHY_TENSORFLOW)",
            r"preempted_hook\.py.{0,80}?TPU .{1,80}? in state READY, and health (?:UNKNOWN|TIMEOUT|UNHEALTHY_TENSORFLOW)",
        ),
        cause="The TPU Node's machine is there and TensorFlow on it does not answer any more: mostly its memory ran out (the input pipeline runs there). The trainer only waits on: no error reaches it.",
        fix="""\
dataset = dataset.shuffle(1_000).batch(global_batch, drop_remainder=True)      # no .cache(), smaller shuffle and prefetch: that is the worker's memory
gcloud compute tpus stop NAME --zone=ZONE && gcloud compute tpus start NAME --zone=ZONE      # then start again from the last checkpoint
# it comes again after the same time each time: memory; at any time: maintenance, preemption""",
        citations=("tensorflow/tpu#609",),
        example="W1119 preempted_hook.py:91] TPUPollingThread found TPU b'my-tpu' in state READY, and health UNKNOWN.",
        near_miss="W1119 preempted_hook.py:91] TPUPollingThread found TPU b'my-tpu' in state READY, and health HEALTHY.",
    ),
    KnownError(
        id="E826",
        family="tf-config",
        phase=Phase.CONNECTING,
        kind=Kind.BROAD,
        patterns=(
            r"Waiting for (?P<there>\d{1,5})/(?P<all>\d{1,5}) tasks to connect\..{0,120}?stragglers: ?(?P<task>/job:\w{1,40}/replica:\d{1,5}/task:\d{1,5})(?!.{0,3000}?(?:has connected to coord|Cluster is ready))",
            r"Waiting for the cluster, timeout = \w{1,9}(?!.{0,3000}?Cluster is ready)",
        ),
        cause="No error: the program waits for the other workers, without an end. One of them was not started, stopped before, has another list of workers, or is not reached at its address and port (firewall; localhost in the list; a port that the container does not pass on).",
        details=("{there} of {all} are there.", "Missing: {task}."),
        fix="""\
echo "$TF_CONFIG"; nc -vz HOST1 2222                        # on each machine: the same cluster, its own index; each reaches each, by names that all know
# start all workers; end those left from an earlier run: one waits for a group that is gone
unset TF_CONFIG                                             # one machine, or a TPU: no cluster needed""",
        citations=("tensorflow/tensorflow#59573", "tensorflow/tensorflow#46931"),
        evidence="reproduced",
        example="coordination_service.cc:502] Waiting for 1/2 tasks to connect.\ncoordination_service.cc:505] Example stragglers:\n/job:worker/replica:0/task:1",
        near_miss="INFO:tensorflow:Waiting for the cluster, timeout = inf\nINFO:tensorflow:Cluster is ready.",
    ),
)
