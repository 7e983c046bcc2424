# ruff: noqa: E501  (texts of other programs stay as they are)
"""Tracebacks of JAX, PyTorch/XLA and Google's clients that were cut before their last line."""

from __future__ import annotations

from tpudiag.known_errors.model import Kind, KnownError, Phase, Rival

from .cut_tracebacks import CUT, WHOLE

ERRORS = (
    KnownError(
        id="E833",
        family="cut-in-the-step",
        phase=Phase.EXECUTING,
        kind=Kind.FORM,
        patterns=(
            r"(?:InvalidArgument|Unimplemented|Internal|FailedPrecondition|NotFound)Error Traceback \(most recent call.{0,3500}?(?:\.fit\(|fit_generator\(|train_on_batch\(|\.predict\(|\.evaluate\(|train_step|strategy\.run)",
            r"to_numpy_or_python_type\(",
            r"_to_single_numpy_or_python_type\(",
        ),
        cause=CUT
        + "in fit (evaluate, predict, a step). Keras asks for a step's results some frames later than where it runs, so the last frame (to_numpy, quick_execute) means nothing: the step itself could not be compiled for the TPU, or failed on it.",
        fix=WHOLE
        + """\
tpudiag check train.py --for v5e-8                                       # compiles the step with no TPU: operations, sizes and your lines
dataset = dataset.batch(global_batch, drop_remainder=True)                # the most frequent: a ragged last batch; validation as well
print(dataset.element_spec)                                               # None besides the batch, string, uint8? mend those in the dataset""",
        rivals=(
            Rival(
                cause="a size that changes from batch to batch (the last batch, lengths, images)",
                look_for="`dynamic`, `<=` in shapes, `compile-time constant`",
                decide="print(dataset.element_spec)",
                families=("dynamic-dimension", "constant-shape"),
            ),
            Rival(
                cause="an operation or type that the TPU has not (strings, py_function, augmentation layers)",
                look_for="`unsupported operations`, `No registered`",
                decide="tpudiag check train.py --for v5e-8",
                families=("unsupported-op", "type-not-on-tpu", "python-in-step"),
            ),
            Rival(
                cause="shapes, labels or indices that do not fit: it fails on a CPU as well",
                look_for="`Incompatible shapes`, `logits and labels`, `indices`",
                decide="the same without the strategy, on a CPU",
                families=("shape-conflict", "labels", "operation-refuses"),
            ),
            Rival(
                cause="the worker died, or reads what it cannot (local files, Python)",
                look_for="`Socket closed`, `'[local]' not implemented`, `PyFunc`",
                decide="grep -nE 'from_generator|py_function|/content|/kaggle' train.py",
                families=("worker-lost", "local-files", "python-in-pipeline"),
            ),
        ),
        citations=("tensorflow/tensorflow#43690", "tensorflow/tensorflow#48268"),
        example="InvalidArgumentError                      Traceback (most recent call last)\n<ipython-input-1-76b0dd665776> in <module>()\n     84 \n---> 85 shuffled = model.predict(data)",
    ),
    KnownError(
        id="E834",
        family="cut-in-jax-backend",
        phase=Phase.INITIALISING,
        kind=Kind.FORM,
        patterns=(
            r"xla_bridge\.py.{0,40}? in (?:backends|_init_backend|get_backend|_get_backend_uncached|default_backend|tpu_client_timer_callback|local_devices|device_count|devices)",
            r"client = xla_client\.make_(?:tpu|c_api)_client\(",
        ),
        cause=CUT + "where JAX opens its first device.",
        fix=WHOLE
        + """\
python -c "import jax; print(jax.devices())"                       # alone, in a fresh process: its last line says why
sudo lsof -w /dev/accel* /dev/vfio/*                                 # who holds the TPU?
pip install -U "jax[tpu]"; pip list | grep -iE "jax|libtpu"         # libtpu of the same release; no tensorflow-tpu beside it""",
        rivals=(
            Rival(
                cause="another process holds the TPU",
                look_for="`already in use`, `busy`, `Operation not permitted`",
                decide="sudo lsof -w /dev/accel* /dev/vfio/*",
                families=("tpu-busy", "initialisation-failed"),
            ),
            Rival(
                cause="libtpu is missing or of another release",
                look_for="`libtpu`, `PJRT`, `no attribute`",
                decide='pip list | grep -iE "jax|libtpu"',
                families=("libtpu-missing", "libtpu-pair", "no-libtpu", "jax-pair"),
            ),
            Rival(
                cause="a slice of several hosts, and the program does not run on all of them",
                look_for="`global TPU topology`, `more than 60.0 seconds`",
                decide='gcloud compute tpus tpu-vm ssh NAME --zone=ZONE --worker=all --command="pgrep -af python"',
                families=("hosts-missing",),
            ),
            Rival(
                cause="JAX_PLATFORMS (or jax_platforms) names a backend that is not there",
                look_for="`Unknown backend`, `set JAX_PLATFORMS=''`",
                decide="env | grep -E 'JAX|TPU|XLA'",
                families=("no-tpu-platform", "no-device"),
            ),
        ),
        citations=("erfanzar/EasyDeL#111",),
        example='  File "/home/neo/.venv/lib/python3.10/site-packages/jax/_src/xla_bridge.py", line 894, in default_backend\n    return get_backend(None).platform',
    ),
    KnownError(
        id="E835",
        family="cut-in-torch-xla-start",
        phase=Phase.INITIALISING,
        kind=Kind.FORM,
        patterns=(
            r"_xla_get_(?:default_)?devices?\(\)",
            r"torch_xla/_internal/pjrt\.py",
            r"torch_xla/core/xla_model\.py.{0,30}? in xla_device",
            r"torch_xla/.{0,40}?(?:in get_xla_supported_devices|in initialize_multiprocess|in _run_thread_per_device|in _setup_replication)",
            r"ComputationClient::(?:Create|Get)\(\)",
        ),
        cause=CUT + "where PyTorch/XLA opens the TPU.",
        fix=WHOLE
        + """\
sudo lsof -w /dev/accel* /dev/vfio/*                                       # who holds it: a notebook, an earlier run
PJRT_DEVICE=TPU python -c "import torch_xla; print(torch_xla.device())"     # alone, in a fresh process
unset TPU_PROCESS_ADDRESSES CLOUD_TPU_TASK_ID XRT_TPU_CONFIG               # Kaggle, and leftovers of XRT
pip list | grep -iE "torch|libtpu|tensorflow"                               # torch and torch_xla of one release, no tensorflow beside them""",
        rivals=(
            Rival(
                cause="another process holds the TPU (a notebook's kernel, an earlier run; the parent that opened it before spawn)",
                look_for="`busy`, `Operation not permitted`, `already in use`",
                decide="sudo lsof -w /dev/accel* /dev/vfio/*",
                families=("tpu-busy", "torch-xla-processes", "initialisation-failed"),
            ),
            Rival(
                cause="the environment describes another TPU: addresses of several hosts on one",
                look_for="`slice_builder_worker_addresses`, `Expected 4 worker addresses`",
                decide="env | grep -E 'TPU|XRT|PJRT'",
                families=("slice-environment", "topology-name"),
            ),
            Rival(
                cause="a slice of several hosts, and the program does not run on all of them",
                look_for="`global topology`, a timeout",
                decide='gcloud compute tpus tpu-vm ssh NAME --zone=ZONE --worker=all --command="pgrep -af python"',
                families=("hosts-missing",),
            ),
            Rival(
                cause="libtpu and torch_xla are of different releases",
                look_for="`PJRT API version`, `undefined symbol`",
                decide='pip list | grep -iE "torch|libtpu"',
                families=("libtpu-pair", "torch-xla-pair", "pjrt-pair"),
            ),
        ),
        citations=("pytorch/xla#7227", "huggingface/accelerate#2999"),
        example='  File "/home/u/.local/lib/python3.10/site-packages/torch_xla/core/xla_model.py", line 88, in get_xla_supported_devices\n    devices = torch_xla._XLAC._xla_get_devices()',
    ),
    KnownError(
        id="E836",
        family="cut-in-cloud-call",
        phase=Phase.CREATING,
        kind=Kind.FORM,
        patterns=(
            r"google/api_core/(?:grpc_helpers|retry|gapic)\w{0,20}(?:/\w{1,30})?\.py",
            r"googleapiclient/http\.py",
        ),
        cause=CUT + "in a call of Google Cloud's API, which was refused.",
        fix=WHOLE
        + """\
gcloud auth list; gcloud config get project                                                  # who asks, and where
gcloud services enable tpu.googleapis.com
gcloud projects add-iam-policy-binding PROJECT --member=MEMBER --role=roles/tpu.admin         # and roles/iam.serviceAccountUser to make VMs""",
        rivals=(
            Rival(
                cause="the account lacks a right, or the API is not switched on",
                look_for="PermissionDenied, 403, SERVICE_DISABLED",
                decide="gcloud projects get-iam-policy PROJECT",
                families=("account-rights",),
            ),
            Rival(
                cause="no quota, or no free TPU in the zone",
                look_for="ResourceExhausted, 429, `no more capacity`",
                decide="gcloud compute tpus queued-resources list --zone=ZONE",
                families=("quota", "no-capacity"),
            ),
            Rival(
                cause="the zone has no such type, or there is no TPU of that name",
                look_for="NotFound, InvalidArgument, 400, 404",
                decide="gcloud compute tpus accelerator-types list --zone=ZONE",
                families=("type-or-version-of-tpu", "tpu-lookup"),
            ),
        ),
        citations=("dstackai/dstack#1323",),
        example='  File "/venv/lib/python3.11/site-packages/google/api_core/grpc_helpers.py", line 75, in error_remapped_callable\n    return callable_(*args, **kwargs)',
    ),
    KnownError(
        id="E838",
        family="cut-in-jax-program",
        phase=Phase.COMPILING,
        kind=Kind.FORM,
        patterns=(
            r"/jax/.{0,80}? in backend_compile",
            r"/jax/.{0,80}? in _?compile_(?:or_get_cached|and_write_cache)",
            r"/jax/.{0,80}? in _cached_compilation",
            r"/jax/.{0,80}? in _python_pjit_helper",
            r"/jax/.{0,80}? in (?:_pjit_call_impl|pjit_call_impl)",
            r"/jax/_src/pjit\.py.{0,40}? in cache_miss",
            r"/jax/_src/traceback_util\.py",
        ),
        cause=CUT + "where JAX compiles a function for the device, or runs it.",
        fix=WHOLE
        + """\
export JAX_TRACEBACK_FILTERING=off                                  # the whole chain; the last line is the cause
compiled = jax.jit(step).lower(*args).compile(); print(compiled.memory_analysis())      # does it compile alone, and what does it need?""",
        rivals=(
            Rival(
                cause="the program or the arrays need more memory than the chip has",
                look_for="RESOURCE_EXHAUSTED, `hbm`",
                decide="compiled.memory_analysis()",
                families=(
                    "hbm-at-compile-time",
                    "hbm-at-run-time",
                    "hbm-for-the-program",
                    "memory-exhausted",
                ),
            ),
            Rival(
                cause="an operation or a kernel that this TPU or this release cannot compile",
                look_for="UNIMPLEMENTED, `Mosaic failed`",
                decide="pip install -U 'jax[tpu]'",
                families=("unsupported-op", "kernel-refused", "compilation-refused"),
            ),
            Rival(
                cause="arrays whose sharding or shape does not fit the mesh",
                look_for="`sharding`, `divisible`, INVALID_ARGUMENT",
                decide="print(jax.tree.map(lambda a: (a.shape, a.sharding), args))",
                families=("array-sharding", "array-of-all-hosts", "mesh-devices"),
            ),
        ),
        citations=("huggingface/diffusers#856", "Sea-Snell/JAXSeq#2"),
        example='  File "/usr/local/lib/python3.10/site-packages/jax/_src/compiler.py", line 266, in backend_compile\n    return backend.compile(built_c, compile_options=options)',
    ),
    KnownError(
        id="E902",
        family="cut-in-jax-distributed",
        phase=Phase.CONNECTING,
        kind=Kind.FORM,
        patterns=(
            r"jax/_src/clusters/\w{3,30}\.py",
            r"in auto_detect_unset_distributed_params",
            r"jax/_src/distributed\.py.{0,40}? in (?:initialize|shutdown)",
        ),
        cause=CUT
        + "in jax.distributed.initialize(), which first asks what cluster this is (on a TPU VM the metadata server, in Kubernetes the environment), then waits for all processes at the coordinator.",
        fix=WHOLE
        + """\
curl -s -H 'Metadata-Flavor: Google' metadata.google.internal/computeMetadata/v1/instance/attributes/tpu-env      # does it answer, with WORKER_ID?
jax.distributed.initialize(coordinator_address="IP_OF_WORKER_0:8476", num_processes=HOSTS, process_id=WORKER)             # nothing to find out then
gcloud compute tpus tpu-vm ssh NAME --zone=ZONE --worker=all --command="python3 train.py"                                 # on all hosts, within five minutes
pip install -U "jax[tpu]"                                                                                               # a release that knows this kind of TPU VM""",
        rivals=(
            Rival(
                cause="the metadata server does not answer, or lacks what is asked (a container, a new image, GKE)",
                look_for="frames of cloud_tpu_cluster.py, `metadata`, a KeyError or HTTP error",
                decide="curl -s -H 'Metadata-Flavor: Google' http://metadata.google.internal/computeMetadata/v1/instance/attributes/",
                cues=(r"cloud_tpu_cluster\.py", r"metadata\.google"),
                families=("metadata-server", "slice-environment"),
            ),
            Rival(
                cause="not all processes came, or the coordinator's port is not reached",
                look_for="DEADLINE_EXCEEDED, `Barrier timed out`, `RegisterTask`",
                decide="nc -vz IP_OF_WORKER_0 8476   # from another worker",
                cues=(r"client\.connect\(\)",),
                families=("hosts-missing", "coordination-lost", "host-unreached"),
            ),
            Rival(
                cause="the backend was used before: initialize() must be the first call of JAX",
                look_for="`must be called before any JAX computations`",
                decide="grep -n 'jax\\.' train.py | head",
                families=("initialised-late", "too-late-to-configure"),
            ),
        ),
        citations=("jax-ml/jax#24399",),
        example='  File "/root/miniconda3/lib/python3.11/site-packages/jax/_src/clusters/cluster.py", line 82, in auto_detect_unset_distributed_params\n    process_id = env.get_process_id()',
    ),
)
