# ruff: noqa: E501  (texts of other programs stay as they are)
"""Docker on a TPU VM, pods on GKE: what ends before the program speaks."""

from __future__ import annotations

from tpudiag.known_errors.model import Kind, KnownError, Phase, Rival

ERRORS = (
    KnownError(
        id="E602",
        family="docker-rights",
        phase=Phase.CONNECTING,
        patterns=(
            r"connect to the [Dd]ocker (?:daemon socket|API)",
            r"Cannot connect to the Docker daemon",
            r"docker\.sock",
            r"docker: (?:command )?not found",
        ),
        cause="Docker cannot be used by this account on the machine: its daemon does not run, or the user is not in its group.",
        fix="""\
sudo usermod -aG docker "$USER"; newgrp docker                 # once, on every host of a slice
sudo systemctl enable --now docker
sudo docker run --privileged --net=host -v /dev:/dev IMAGE     # or with sudo; the TPU wants --privileged and the host's network""",
        evidence="recalled",
        example="docker: permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock",
    ),
    KnownError(
        id="E612",
        family="container-command",
        phase=Phase.CONNECTING,
        patterns=(
            r"executable file not found in \$PATH",
            r"OCI runtime (?:create|exec) failed",
            r"failed to create (?:containerd|shim) task",
            r"exec format error",
            r"standard_init_linux\.go.{0,80}?(?:exec|no such file)",
            r"no command specified",
        ),
        cause="The container was made, but its command cannot be started: what is named is no program of the image (a Python module without `python -m`, a path that is not there, a script without its right to be executed or with Windows line ends), or the image is for another processor.",
        fix="""\
docker run --rm --entrypoint sh IMAGE -c 'which python3; ls -l /app'          # what the image has
command: ["python3", "-m", "trainer.task"]                                     # a module is started by python, it is no program
chmod +x run.sh; sed -i 's/\\r$//' run.sh                                       # the right to run, and line ends
docker build --platform=linux/amd64 ...                                        # an image made on a Mac is for arm64""",
        citations=("GoogleCloudPlatform/vertex-ai-samples#1898",),
        example='failed to create containerd task: OCI runtime create failed: exec: "trainer.task": executable file not found in $PATH',
    ),
    KnownError(
        id="E603",
        family="pod-restarts",
        phase=Phase.EXECUTING,
        kind=Kind.CONSEQUENCE,
        patterns=(
            r"Back-off restarting failed container",
            r"CrashLoopBackOff",
            r"jobs? exceed(?:ed)? max restarts",
            r"BackoffLimitExceeded",
            r"Job has reached the specified backoff limit",
            r"reason: (?:Error|FailedJobs)\b.{0,80}?exit ?[Cc]ode: ?(?P<code>\d{1,3})",
            r"replica workerpool\d-\d exited with a non-zero status of (?P<code>\d{1,3})",
            r"The replica \w{1,12} \d{1,4} exited with a non-zero status of (?P<code>\d{1,3})",
            r"Command execution on worker \d{1,4} failed with exit status (?P<code>\d{1,3})",
        ),
        cause="The container or the program on a host ended, and was started again or given up: this line only follows. What ended it stands in the log of that container, before its end.",
        details=(
            "It ended with status {code} (137: killed, mostly out of memory; 143: told to end; 134, 139: a crash in native code; 1: an exception).",
        ),
        fix="""\
kubectl logs POD --previous --tail=100                          # the container that ended, not the one that runs now
kubectl describe pod POD | grep -A6 "Last State"                # exit code, OOMKilled
gcloud compute tpus tpu-vm ssh NAME --zone=ZONE --worker=N --command="tail -100 train.log; sudo dmesg -T | grep -i oom"
tpudiag explain --log LOG                                        # the first error in it""",
        rivals=(
            Rival(
                cause="the host's memory ran out",
                look_for="OOMKilled, status 137",
                decide="kubectl describe pod POD | grep -A6 'Last State'",
                cues=(r"OOMKilled", r"exit ?code:? ?137", r"status of 137"),
                families=("host-memory",),
            ),
            Rival(
                cause="an exception of the program: a missing package, a wrong path or argument",
                look_for="status 1; a traceback in the log of the container before",
                decide="kubectl logs POD --previous --tail=100",
                cues=(r"Traceback \(most", r"non-zero status of 1\b"),
                families=("package-missing", "file-missing"),
            ),
            Rival(
                cause="the machine was taken back or maintained",
                look_for="status 143, SIGTERM, a spot node pool",
                decide="kubectl get events --sort-by=.lastTimestamp | tail -20",
                cues=(r"SIGTERM", r"exit ?code:? ?143", r"[Pp]reempt"),
                families=("preempted",),
            ),
        ),
        citations=("entrpn/serving-model-cards#8",),
        example="Warning  BackOff  Back-off restarting failed container tpu-job in pod train-0-abcde",
    ),
    KnownError(
        id="E604",
        family="gke-cluster-version",
        phase=Phase.CREATING,
        patterns=(
            r"Cloud TPU is only supported starting from version (?P<version>[\w.-]{3,24})",
            r"TPU.{0,60}?(?:requires?|supported (?:only )?(?:from|in|on|starting)).{0,30}?(?:GKE|cluster|node|control plane|master) version",
            r"enable-tpu.{0,80}?(?:not supported|deprecated|invalid|requires)",
            r"Cloud TPU (?:requires|is only supported).{0,60}?(?:alias|VPC-native)",
        ),
        cause="The GKE cluster is too old for this TPU, or is not made as TPUs need it (VPC-native, in a zone that has the type): each generation wants a least version of control plane and nodes.",
        details=("It wants {version} or newer.",),
        fix="""\
gcloud container get-server-config --zone=ZONE --format='yaml(channels)'      # versions that there are
gcloud container clusters upgrade CLUSTER --zone=ZONE --master --cluster-version=VERSION
gcloud container node-pools create tpu --cluster=CLUSTER --zone=ZONE --machine-type=ct5lp-hightpu-4t --tpu-topology=2x4     # v5e; no --enable-tpu any more""",
        citations=("kubeflow/kubeflow#5137",),
        example='"message":"Cloud TPU is only supported starting from version 1.9.3.","status":"INVALID_ARGUMENT"',
    ),
    KnownError(
        id="E645",
        family="cluster-access",
        phase=Phase.CREATING,
        patterns=(
            r"\w{3,30} is forbidden: User \"?(?P<user>[\w@.:-]{1,80})\"? cannot (?:list|get|create|delete|patch|watch|update) resource",
            r"The connection to the server .{1,60}? was refused - did you specify the right host or port",
            r"You must be logged in to the server",
            r"gke-gcloud-auth-plugin",
            r"Unable to connect to the server: (?:dial|net/http|x509|getting credentials|EOF)",
            r"no configuration has been provided, try setting KUBERNETES_MASTER",
            r"current-context is not set",
            r"error: context \"?[\w.-]{1,80}\"? does not exist",
        ),
        cause="kubectl does not get to the cluster or may not do that there: no credentials for this cluster yet (then it asks localhost:8080), the login plugin is missing or the login has run out, the control plane is private, or the account has no role in the cluster.",
        details=("The user is {user}.",),
        fix="""\
gcloud components install gke-gcloud-auth-plugin                        # or: sudo apt-get install google-cloud-cli-gke-gcloud-auth-plugin
gcloud auth login; gcloud container clusters get-credentials CLUSTER --location=LOCATION --project=PROJECT
kubectl config current-context; kubectl auth can-i create pods
# i/o timeout: a private control plane; add this address: gcloud container clusters update CLUSTER --enable-master-authorized-networks --master-authorized-networks=ADDRESS/32
gcloud projects add-iam-policy-binding PROJECT --member=user:YOU --role=roles/container.developer      # forbidden""",
        evidence="recalled",
        example="The connection to the server localhost:8080 was refused - did you specify the right host or port?",
    ),
    KnownError(
        id="E646",
        family="image-rights",
        phase=Phase.CREATING,
        patterns=(
            r"Permission \"?artifactregistry\.\w{1,40}\.\w{1,40}\"? denied",
            r"You don't have the needed permissions to perform this operation, and you may have invalid credentials",
            r"(?:pull|push) access denied for [\w./:-]{1,120}",
            r"denied: (?:Token exchange failed|Unauthenticated request|requested access to the resource is denied)",
            r"no basic auth credentials",
        ),
        cause="The registry does not give or take the container's image: docker has no login for it, the account of the TPU VM (or of the nodes) may not read it, or the repository or image does not exist.",
        fix="""\
gcloud auth configure-docker REGISTRY                                   # the first part of the image's name; once on each machine, with sudo where docker runs with it
gcloud artifacts docker images list REGISTRY/PROJECT/REPOSITORY
gcloud artifacts repositories add-iam-policy-binding REPOSITORY --location=LOCATION --member=serviceAccount:ACCOUNT --role=roles/artifactregistry.reader
# the TPU VM needs the scope too: create it with --scopes=cloud-platform""",
        evidence="recalled",
        example='denied: Permission "artifactregistry.repositories.downloadArtifacts" denied on resource (or it may not exist)',
    ),
    KnownError(
        id="E647",
        family="gcloud-release",
        phase=Phase.CREATING,
        patterns=(
            r"\(gcloud[\w.-]{0,60}\) Invalid choice: '(?P<name>[\w-]{1,40})'",
            r"\(gcloud[\w.-]{0,60}\) unrecognized arguments?: (?P<name>--[\w-]{1,40})",
            r"argument --worker: worker-id must be",
            r"user: Current not implemented on",
            r"ctpu: command not found",
            r"execution-groups.{0,60}?(?:deprecated|no longer|Invalid choice)",
        ),
        cause="This gcloud (or the old tool ctpu) does not know the command or option: it is older than it, it stands in the alpha or beta group, it is mistyped, or it was for TPU Nodes, which are gone.",
        details=("It is {name}.",),
        fix="""\
gcloud version; gcloud components update                               # or: sudo apt-get update && sudo apt-get install google-cloud-cli
gcloud compute tpus tpu-vm create NAME --zone=ZONE --accelerator-type=v5litepod-8 --version=v2-alpha-tpuv5-lite
gcloud alpha compute tpus queued-resources create --help               # where the plain group has no such command
gcloud compute tpus tpu-vm ssh NAME --zone=ZONE --worker=all --command="hostname"      # a number, or all""",
        citations=("tensorflow/tpu#170",),
        example="ERROR: (gcloud.compute.tpus) Invalid choice: 'queued-resources'.",
    ),
    KnownError(
        id="E893",
        family="container-start",
        phase=Phase.CREATING,
        patterns=(
            r"could not select device driver \W{0,4} with capabilities: \[\[gpu",
            r"nvidia-container-cli: ",
            r"error gathering device information while adding custom device \W{0,2}(?P<device>/dev/\w{1,30})",
            r"Conflict\. The container name .{1,80}? is already in use",
            r"[Pp]ort is already allocated",
            r"unknown or invalid runtime name: nvidia",
        ),
        cause="The container could not be started with these options on this machine: --gpus (or the nvidia runtime) where there is no GPU, as on a TPU VM; a device that this machine does not have (/dev/accel0 is of v2 to v4, /dev/vfio of v5 and later); a name or port that another container holds.",
        details=("There is no {device}.",),
        fix="""\
docker run --rm --privileged --net=host -v /dev/shm:/dev/shm IMAGE      # a TPU VM: no --gpus, no --runtime=nvidia
ls /dev/accel* /dev/vfio 2>/dev/null                                       # what this TPU has; --privileged gives all of them
docker ps -a; docker rm -f NAME                                            # the container that holds the name or the port""",
        evidence="recalled",
        example='docker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].',
    ),
    KnownError(
        id="E894",
        family="bucket-mount",
        phase=Phase.READING,
        patterns=(
            r"fuse: device not found, try",
            r"fusermount3?: .{0,80}?(?:not permitted|not found|No such file)",
            r"mountWithArgs: ?(?P<why>.{1,120}?)(?:: |$)",
            r"getConnWithRetry: get token source",
        ),
        cause="gcsfuse could not mount the bucket: the container may not use FUSE, gcsfuse has no credentials, or the bucket's name is given with gs://.",
        fix="""\
docker run --privileged ...                        # or --device /dev/fuse --cap-add SYS_ADMIN
gcloud auth application-default login               # or --key-file=key.json; a VM: scope cloud-platform
gcsfuse --implicit-dirs BUCKET /mnt/bucket          # the name alone, without gs://
files = tf.io.gfile.glob("gs://BUCKET/train-*.tfrecord")      # TensorFlow needs no mount, and is faster without""",
        evidence="recalled",
        example="fuse: device not found, try 'modprobe fuse' first",
    ),
)
