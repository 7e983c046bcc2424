# ruff: noqa: E501  (texts of other programs stay as they are)
"""What surrounds a job: its file, its pod, its storage, the services it asks, and its end."""

from __future__ import annotations

from tpudiag.known_errors.model import Kind, KnownError, Phase, Rival

ERRORS = (
    KnownError(
        id="E546",
        family="syntax-error",
        phase=Phase.ANY,
        patterns=(
            r"SyntaxError: (?P<why>[\w ,'-]{4,60})",
            r"IndentationError: (?P<why>[\w ,'-]{4,60})",
            r"TabError: ",
            r"SyntaxError\b",
        ),
        cause="Python cannot read the file: a bracket or quote that is not closed in the line before, mixed indentation, a print of Python 2, syntax of a newer Python, or a shell command where Python is expected (in a notebook it begins with `!`, in one line: after a `\\` nothing may follow).",
        details=("It says: {why}.",),
        fix="""\
python -m py_compile train.py           # the line; look at the one before it too
python --version                        # match, :=, f"{x=}" want a newer one; `print x` is Python 2: 2to3 -w train.py
!python train.py --epochs 20 --batch-size 128      # a notebook: one line, a ! before it""",
        evidence="recalled",
        example="IndentationError: unexpected indent",
        near_miss="syntax error count: 0",
        yields_to=("P70",),
    ),
    KnownError(
        id="E547",
        family="storage-mount",
        phase=Phase.CREATING,
        patterns=(
            r"unbound immediate PersistentVolumeClaims",
            r"MountVolume\.(?:SetUp|MountDevice|WaitForAttach) failed for volume",
            r"gcsfuse.{0,160}?(?:fail|error|denied|not mounted)",
            r"gcs-fuse.{0,160}?(?:fail|error|denied|not mounted)",
            r"Transport endpoint is not connected",
            r"FailedAttachVolume",
            r"mount(?:ing)? .{0,60}?(?:bucket|gs://).{0,60}?(?:fail|denied|error)",
            r"volume node affinity conflict",
        ),
        cause="The pod or host does not get its storage: the bucket's mount (Cloud Storage FUSE) has no right or no annotation, the claim has no volume in this zone, or a disk is attached to another node for writing.",
        fix="""\
kubectl describe pod POD | tail -20; kubectl get pvc                      # which volume, and why
# the bucket as a volume: annotation gke-gcsfuse/volumes: "true", a service account with Workload Identity and storage.objectUser on the bucket
gcloud storage buckets add-iam-policy-binding gs://BUCKET --member="serviceAccount:ACCOUNT" --role=roles/storage.objectUser
# without a mount: TensorFlow reads gs:// itself; a disk for several hosts: ReadOnlyMany, or a copy on each""",
        evidence="recalled",
        example='MountVolume.SetUp failed for volume "gcs-fuse-csi-ephemeral" : rpc error: code = PermissionDenied',
    ),
    KnownError(
        id="E548",
        family="pod-image",
        phase=Phase.CREATING,
        patterns=(
            r"(?:Err)?ImagePull(?:BackOff)?\b",
            r"Failed to pull image \"(?P<image>[^\"\s]{3,120})",
            r"manifest for .{3,120}? not found",
            r"CreateContainer(?:Config)?Error",
            r"pull access denied for (?P<image>[\w./-]{3,80})",
            r"Error response from daemon: .{0,160}?(?:pull|manifest|repository|unauthorized|denied|not found: manifest)",
        ),
        cause="The container's image cannot be pulled or started: its name or tag does not exist, the node's service account may not read the repository, or it was built for another processor (arm64 of a laptop).",
        details=("The image is {image}.",),
        fix="""\
gcloud artifacts docker images list REGION-docker.pkg.dev/PROJECT/REPOSITORY --include-tags
gcloud projects add-iam-policy-binding PROJECT --member="serviceAccount:ACCOUNT_OF_THE_NODES" --role=roles/artifactregistry.reader
docker build --platform=linux/amd64 -t IMAGE . && docker push IMAGE""",
        evidence="recalled",
        example='Failed to pull image "us-docker.pkg.dev/p/r/train:latest": manifest for us-docker.pkg.dev/p/r/train:latest not found',
    ),
    KnownError(
        id="E549",
        family="api-refused",
        phase=Phase.CREATING,
        kind=Kind.BROAD,
        patterns=(
            r"HttpError(?:Status)?(?:Code|Message)?:? ?\"?(?P<code>4\d\d)",
            r"HttpErrorMessage",
            r"<HttpError (?P<code>\d{3}) when requesting",
            r"googleapi: Error (?P<code>\d{3}): (?P<why>.{3,120})",
            r"google\.api_core\.exceptions\.(?P<code>\w{4,40}): \d{3} (?P<why>.{3,120})",
        ),
        cause="A Google Cloud service refused the request; the code says how: 400 an argument that it does not take, 401 no login, 403 no right, a disabled service or no billing, 404 another project or zone, 409 it exists already, 429 too many requests or quota.",
        details=("The code is {code}.", "It says: {why}."),
        fix="""\
gcloud auth list; gcloud config list                                              # which account, project, zone
gcloud services enable tpu.googleapis.com compute.googleapis.com --project=PROJECT
gcloud projects get-iam-policy PROJECT --flatten=bindings --filter="bindings.members:ACCOUNT" --format="value(bindings.role)"
gcloud iam service-accounts list                                                   # the default Compute Engine account must exist, and not be disabled""",
        citations=("tensorflow/tpu#624",),
        example='error retrieving Compute Engine zone operation: HttpErrorMessage:"BAD REQUEST" HttpErrorStatusCode:400',
        yields_to=(
            "E57",
            "E60",
            "E230",
            "E231",
            "E232",
            "E434",
            "E26",
            "E118",
            "E455",
            "E253",
            "E50",
            "E124",
        ),
    ),
    KnownError(
        id="E555",
        family="ended-too-early",
        phase=Phase.EXECUTING,
        level="warning",
        patterns=(
            r"cannot schedule new futures after (?:interpreter )?shutdown",
            r"Python interpreter state is not initialized",
            r"Event loop is closed",
            r"can't start new thread at interpreter shutdown",
        ),
        cause="The program ends while something of it still runs: a checkpoint that is written in the background, a generator's or prefetching thread, an iterator that was not read to its end. What it was about to write may be missing.",
        fix="""\
checkpoint_manager.wait_until_finished(); manager.close()         # Orbax; tf.train.Checkpoint: CheckpointOptions(enable_async=False), or checkpoint.sync()
del iterator, dataset                                               # before the end of the program
if __name__ == "__main__": main()                                   # nothing of the training at the module's end""",
        evidence="recalled",
        example="RuntimeError: cannot schedule new futures after interpreter shutdown",
    ),
    KnownError(
        id="E556",
        family="no-answer-in-time",
        phase=Phase.CONNECTING,
        kind=Kind.CONSEQUENCE,
        patterns=(
            r"Deadline ?Exceeded(?:Error)?: ",
            r"DEADLINE_EXCEEDED: ",
        ),
        cause="Another process did not answer in time: it was not started, is gone, is too busy, or cannot be reached.",
        fix="""\
gcloud compute tpus tpu-vm list --zone=ZONE                            # READY, HEALTHY?
gcloud compute tpus tpu-vm ssh NAME --zone=ZONE --worker=all --command="pgrep -af python; free -g | head -2; uptime"    # on every host: is it running, is there memory
nc -vz ADDRESS 8470""",
        rivals=(
            Rival(
                cause="a host of the slice was not started, or ended",
                look_for="`barrier`, `coordination`, `RegisterTask`, another worker's error",
                decide="the logs of all workers: the first that ended is the cause",
                cues=(r"barrier", r"coordination", r"RegisterTask", r"PollForError"),
                families=("hosts-missing", "coordination-lost"),
            ),
            Rival(
                cause="the TPU's address cannot be reached from here",
                look_for="`grpc://`, `connect`, an address",
                decide="nc -vz ADDRESS 8470",
                cues=(r"grpc://", r"failed to connect", r"_tpu_init_fn"),
                families=("tpu-unreachable",),
            ),
            Rival(
                cause="Cloud Storage or the network is slow or overloaded",
                look_for="`gs://`, `HTTP`, `storage`",
                decide="time gcloud storage cp gs://BUCKET/FILE /dev/null",
                cues=(r"gs://", r"HTTP request", r"libcurl"),
                families=("bucket-transport",),
            ),
        ),
        evidence="recalled",
        example="tensorflow.python.framework.errors_impl.DeadlineExceededError: Deadline Exceeded",
    ),
    KnownError(
        id="E557",
        family="no-tpu-devices",
        phase=Phase.INITIALISING,
        level="warning",
        patterns=(
            r"No GPU/TPU found, falling back to CPU",
            r"no supported devices found for platform TPU",
            r"falling back to cpu.{0,40}?TPU",
            r"'[\w.]{0,30}Device' object has no attribute '(?:coords|core_on_chip|slice_index)",
        ),
        cause="JAX sees no TPU and goes on with the CPU: jax without its TPU part, another process that holds the chips, a container without the devices, or a machine that has none.",
        fix="""\
pip install -U 'jax[tpu]'; python -c "import jax; print(jax.devices())"
ls /dev/accel* /dev/vfio/* && sudo lsof -w /dev/accel* /dev/vfio/*        # are the chips there, and free
JAX_PLATFORMS=tpu python train.py                                            # says why it does not get the TPU, in place of going on without""",
        evidence="recalled",
        example="WARNING:jax._src.xla_bridge:No GPU/TPU found, falling back to CPU. (Set TF_CPP_MIN_LOG_LEVEL=0 and rerun for more info.)",
    ),
    KnownError(
        id="E559",
        family="made-twice",
        phase=Phase.EXECUTING,
        kind=Kind.BROAD,
        patterns=(
            r"AlreadyExistsError: .{0,60}?Resource (?P<name>[\w./:-]{1,80})",
            r"Resource .{1,120}? already exists",
            r"AlreadyExists(?:Error)?: ",
        ),
        cause="A resource of that name was made before in this process or on this worker: a table, summary writer, iterator or variable of an earlier run, or the same one made in each step.",
        details=("It is {name}.",),
        fix="""\
# a notebook: restart the runtime; a TPU Node keeps resources of a run that died: initialise it again
tf.tpu.experimental.initialize_tpu_system(resolver)
writer = tf.summary.create_file_writer(path)          # once, outside the step; not under the same name twice
tf.keras.backend.clear_session()""",
        evidence="recalled",
        example="tensorflow.python.framework.errors_impl.AlreadyExistsError: Resource worker/writer/N10tensorflow22SummaryWriterInterfaceE",
        yields_to=("E540", "E426", "E158"),
    ),
)
