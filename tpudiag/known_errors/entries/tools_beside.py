# ruff: noqa: E501  (texts of other programs stay as they are)
"""Tools beside the job: tuners, wrappers, launchers, converters, trackers, packages of the system."""

from __future__ import annotations

from tpudiag.known_errors.model import Kind, KnownError, Phase, Rival

ERRORS = (
    KnownError(
        id="E581",
        family="inference-tensor",
        phase=Phase.EXECUTING,
        patterns=(
            r"Cannot set version_counter for inference tensor",
            r"Inplace update to inference tensor outside InferenceMode",
            r"Inference tensors cannot be saved for backward",
        ),
        cause="torch.inference_mode makes tensors that nothing else may change or track; PyTorch/XLA and many libraries change them afterwards (lazily, in place).",
        fix="""\
with torch.no_grad(): outputs = model(inputs)        # in place of torch.inference_mode()
outputs = outputs.clone()                              # what is used outside of it
pip install -U torch torch_xla                          # one release; vLLM: the release that belongs to it""",
        citations=("cambrian-mllm/cambrian#76", "vllm-project/vllm#1968"),
        example="RuntimeError: Cannot set version_counter for inference tensor",
    ),
    KnownError(
        id="E582",
        family="xla-tensor-shape",
        phase=Phase.TRACING,
        kind=Kind.BROAD,
        patterns=(
            r"torch_xla/csrc/[\w/.]{1,60}:\d{1,5} ?: ?(?:Check failed: )?(?P<why>.{3,80})",
            r"Bad StatusOr access: (?P<why>.{3,120})",
            r"Error while lowering: ",
        ),
        cause="PyTorch/XLA cannot turn an operation into XLA: shapes or types that do not fit once the whole graph is known, or an operation that it does not have. The reason stands in the same line; the Python frame after it names the operation.",
        details=("It says: {why}",),
        fix="""\
XLA_IR_DEBUG=1 XLA_HLO_DEBUG=1 python train.py              # names the Python line of each operation
model.to("cpu")(batch.to("cpu"))                                # plain PyTorch says it in its own words, where it is a shape
torch_xla.sync()                                                  # after each suspect: the error comes where it is made
pip install -U torch torch_xla                                    # one release of both""",
        evidence="recalled",
        example="RuntimeError: torch_xla/csrc/helpers.cpp:97 : Check failed: min_shape_dim <= operand_dims.size()",
        yields_to=("E06", "E450", "E62", "E63", "E67", "E75", "E262", "E19", "E22", "E109"),
    ),
    KnownError(
        id="E584",
        family="keras-tuner",
        phase=Phase.BUILDING,
        patterns=(
            r"Expected the model-building function, or HyperModel\.build\(\)",
            r"Expected the return value of (?:HyperModel\.fit|Tuner\.run_trial)",
            r"Objective value missing in metrics reported to the Oracle",
            r"module 'keras_?tuner[\w.]{0,40}' has no attribute '(?P<name>\w{1,40})'",
            r"keras_?tuner[\w.]{0,40}\.errors\.",
        ),
        cause="KerasTuner does not know the model or the result that it gets: its keras is another one than the model's (Keras 3 beside tf_keras), an interface of another release, or a metric that fit does not report.",
        details=("The name is {name}.",),
        fix="""\
import keras                                        # the model from this one, not from tf_keras or tensorflow.python.keras
pip install -U keras-tuner keras                    # TF_USE_LEGACY_KERAS is not heeded by every release of keras-tuner
tuner = keras_tuner.RandomSearch(build, objective="val_loss", max_trials=8)    # BayesianOptimization is a tuner; its oracle has the suffix Oracle
model.fit(dataset, validation_data=valid)           # val_loss exists only with validation data""",
        citations=("keras-team/keras-tuner#1039", "keras-team/keras-tuner#963"),
        example="keras_tuner.src.errors.FatalTypeError: Expected the model-building function, or HyperModel.build() to return a valid Keras Model instance.",
    ),
    KnownError(
        id="E585",
        family="scikit-learn",
        phase=Phase.ANY,
        patterns=(
            r"Cannot clone object .{1,120}? as the constructor",
            r"has no attribute '__sklearn_tags__'",
            r"Invalid parameter '?(?P<name>\w{1,30})'? for estimator",
            r"Found array with (?:dim \d|\d (?:sample|feature))",
            r"Found input variables with inconsistent numbers of samples",
            r"Classification metrics can't handle a mix of",
            r"y_true and y_pred contain different number of classes",
            r"Expected 2D array, got \dD array instead",
            r"This .{1,40}? instance is not fitted yet",
        ),
        cause="scikit-learn gets something that it does not take: images or one-hot labels where it wants two dimensions or class numbers, arrays of different lengths (drop_remainder cut the predictions), or a Keras wrapper of another release.",
        details=("The parameter is {name}.",),
        fix="""\
y_pred = np.argmax(model.predict(dataset), axis=-1); y_true = np.concatenate([np.argmax(y, -1) for _, y in dataset])     # class numbers, from the same batches
x = x.reshape(len(x), -1)                              # two dimensions
pip install scikeras "scikit-learn<1.6"                # KerasClassifier is in scikeras now; parameters as model__units=, optimizer__learning_rate=""",
        evidence="recalled",
        example="ValueError: Classification metrics can't handle a mix of multilabel-indicator and multiclass targets",
    ),
    KnownError(
        id="E587",
        family="image-not-read",
        phase=Phase.READING,
        patterns=(
            r"error: \(-215:Assertion failed\) !_?\w{2,8}\.empty\(\)",
            r"cv2\.error: ",
            r"error: OpenCV\(",
            r"cannot identify image file (?P<file>.{1,80})",
            r"image file is truncated",
            r"broken data stream when reading image",
        ),
        cause="OpenCV or PIL has no image: the path is wrong (cv2.imread then gives None and says nothing), the file is cut off, or it is no image (a web page of an error, another format).",
        details=("It is {file}.",),
        fix="""\
image = cv2.imread(path); assert image is not None, path
PIL.Image.open(path).verify()                          # for each file, once: name those that are damaged and leave them out
# tf.io.decode_image in dataset.map in place of both: a TPU's pipeline needs no Python; dataset.ignore_errors() leaves bad ones out""",
        evidence="recalled",
        example="cv2.error: OpenCV(4.5.4) error: (-215:Assertion failed) !_src.empty() in function 'cvtColor'",
    ),
    KnownError(
        id="E588",
        family="experiment-tracker",
        phase=Phase.WATCHING,
        patterns=(
            r"wandb\.errors?\.\w{3,30}",
            r"wandb: ERROR",
            r"api_key not configured",
            r"mlflow\.exceptions\.\w{3,40}",
            r"wandb: Network error",
        ),
        cause="The service that logs experiments refuses or does not answer: no login on this machine (on a slice: on each host), another project's name, no way out to the network.",
        fix="""\
export WANDB_API_KEY=... WANDB_PROJECT=...               # on every host; or once: wandb login
export WANDB_MODE=offline                                  # goes on without it; wandb sync DIR afterwards
# a slice: one host logs: if jax.process_index() == 0, or TPU_WORKER_ID is 0""",
        evidence="recalled",
        example="wandb: ERROR api_key not configured (no-tty). call wandb.login(key=[your_api_key])",
    ),
    KnownError(
        id="E590",
        family="system-packages",
        phase=Phase.INSTALLING,
        patterns=(
            r"Could not get lock /var/lib/(?:dpkg|apt)",
            r"Unable to locate package (?P<package>[\w.+-]{2,40})",
            r"dpkg was interrupted",
        ),
        cause="The machine's package manager cannot install: another run of it (the unattended upgrade of a fresh VM) holds its lock, its lists are old, or the package is not in this release of the system.",
        details=("The package is {package}.",),
        fix="""\
sudo systemctl stop unattended-upgrades; sudo dpkg --configure -a       # a fresh TPU VM upgrades itself for some minutes: wait, then
sudo apt-get update && sudo apt-get install -y PACKAGE
lsb_release -d; python3 --version                                          # names carry the version: python3.10-venv on Ubuntu 22.04""",
        evidence="recalled",
        example="E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 1234 (unattended-upgr)",
    ),
    KnownError(
        id="E591",
        family="connection-broken",
        phase=Phase.EXECUTING,
        kind=Kind.CONSEQUENCE,
        patterns=(
            r"ConnectionResetError",
            r"Connection reset by peer",
            r"BrokenPipeError",
            r"ConnectionAbortedError",
            r"RemoteDisconnected",
            r"await connected: disconnected",
        ),
        cause="The other end of a connection went away: a process that died, a service that closed it, or a network in between.",
        fix="""\
dmesg -T | grep -i "killed process"                    # the other process was killed: memory
grep -nE "Traceback|Killed|Check failed|SIG" LOG | head   # the first error before this line
# of a download or bucket: try again; gcloud storage cp once to the host's disk, then read from there""",
        rivals=(
            Rival(
                cause="the process at the other end died: a worker of the data pipeline, a TPU worker, a notebook's kernel",
                look_for="multiprocessing, grpc, 8470, worker in the traceback",
                decide='dmesg -T | grep -iE "killed process|out of memory"',
                cues=(r"multiprocessing", r"job:worker"),
                families=("worker-lost", "host-memory"),
            ),
            Rival(
                cause="a service or the network closed it: a download, Cloud Storage, a model hub",
                look_for="requests, urllib3, http, storage in the traceback",
                decide="curl -sI of the address, from this machine",
                cues=(r"urllib3", r"requests[/.]", r"googleapis"),
                families=("dataset-download", "bucket-transport"),
            ),
        ),
        evidence="recalled",
        example="ConnectionResetError: [Errno 104] Connection reset by peer",
    ),
    KnownError(
        id="E599",
        family="host-unreached",
        phase=Phase.CONNECTING,
        kind=Kind.BROAD,
        patterns=(
            r"\[Errno (?:11[013]|101|-[235])\]",
            r"Temporary failure in name resolution",
            r"Name or service not known",
            r"ConnectionRefusedError",
            r"socket\.timeout: ",
            r"No route to host",
            r"Network is unreachable",
        ),
        cause="This machine does not get through to another one: nothing listens at that port (refused), no answer comes (timed out: a firewall, an address of another network, a machine that is off), or its name is unknown here.",
        fix="""\
getent hosts HOST; timeout 5 bash -c "</dev/tcp/HOST/PORT" && echo open      # name, then port; 8470 for a TPU node
gcloud storage ls gs://BUCKET                 # the outside: a VM without external address needs Cloud NAT or Private Google Access
gcloud compute tpus tpu-vm list --zone=ZONE --format="table(name,state)"   # is it there and READY?""",
        rivals=(
            Rival(
                cause="the TPU is not there, not ready, or in another network",
                look_for="8470, 8471, grpc, TPU or 10.x addresses near it",
                decide="gcloud compute tpus tpu-vm describe NAME --zone=ZONE --format='value(state,health)'",
                cues=(r"grpc://", r"TPUClusterResolver", r"tpu_cluster_resolver"),
                families=("tpu-unreachable",),
            ),
            Rival(
                cause="this machine has no way to the internet: no external address, a notebook without internet, a proxy",
                look_for="pip, urllib3, requests, a model hub or a download",
                decide='timeout 5 bash -c "</dev/tcp/8.8.8.8/53"; echo $?',
                cues=(r"urllib3", r"requests[/.]", r"huggingface", r"pip\._vendor"),
                families=("dataset-download",),
            ),
        ),
        evidence="recalled",
        example="TimeoutError: [Errno 110] Connection timed out",
        yields_to=("E290", "E124", "E591", "E56", "E55", "E234", "E183", "E97", "E113", "E28"),
    ),
    KnownError(
        id="E592",
        family="config-file",
        phase=Phase.READING,
        patterns=(
            r"JSONDecodeError: ",
            r"yaml\.(?:scanner\.Scanner|parser\.Parser|constructor\.Constructor)Error",
            r"tomllib\.TOMLDecodeError",
            r"Protocol message (?P<name>\w{2,60}) has no \"\w{2,60}\" field",
        ),
        cause="A configuration file cannot be read: it is empty, cut off or of another format (a web page of an error, a Git LFS pointer), indented with tabs, or it names something that this release does not have.",
        details=("It names {name}.",),
        fix="""\
head -c 300 FILE                                  # empty? a pointer of git-lfs (git lfs pull)? `<html`?
python -m json.tool FILE; python -c "import yaml, sys; yaml.safe_load(open(sys.argv[1]))" FILE      # the line
# on a slice: written by one host while another reads it: write to a temporary name, then rename""",
        evidence="recalled",
        example="json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)",
    ),
    KnownError(
        id="E593",
        family="launcher",
        phase=Phase.EXECUTING,
        kind=Kind.CONSEQUENCE,
        patterns=(
            r"ray\.exceptions\.(?P<name>\w{4,40})",
            r"has been marked dead because the detector has missed too many heartbeats",
            r"MPI_ABORT was invoked",
            r"HorovodInternalError",
            r"torch\.distributed\.elastic.{0,60}?ChildFailedError",
            r"multiprocessing\.pool\.RemoteTraceback",
            r"concurrent\.futures\.process\.(?:_RemoteTraceback|BrokenProcessPool)",
        ),
        cause="A launcher says that one of its processes failed; what failed stands in that process's own traceback, above this line or in its log.",
        details=("It is {name}.",),
        fix="""\
grep -nE "Error|Traceback|Killed|exit code" LOG | head -20         # the first, of any process
ray job logs ID; ls /tmp/ray/session_latest/logs                    # Ray: worker-*.err
dmesg -T | grep -i "killed process"                                   # killed from outside: memory
# one process alone: num_workers=0, nprocs=1, the function called directly: the error then comes with its own traceback""",
        evidence="recalled",
        example="MPI_ABORT was invoked on rank 0 in communicator MPI_COMM_WORLD",
    ),
    KnownError(
        id="E595",
        family="tflite",
        phase=Phase.SAVING,
        patterns=(
            r"not supported by the native TFLite runtime",
            r"unresolved custom op: ?(?P<op>\w{2,60})",
            r"tensorflow\.lite\.python\.convert\.ConverterError",
            r"None is only supported in the 1st dimension",
            r"needs? (?:custom|flex) implementations? ?(?:from|\()",
        ),
        cause="The model cannot be converted to TensorFlow Lite as it stands: an operation that Lite does not have, a dimension that is not known, or a training-only part (this has nothing to do with the TPU that trained it).",
        details=("The operation is {op}.",),
        fix="""\
converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS, tf.lite.OpsSet.SELECT_TF_OPS]
fixed = keras.Input(batch_shape=(1, 224, 224, 3))                 # fixed sizes: keras.Model(fixed, model(fixed))
# weights trained on a TPU: model.save_weights, then build the model outside the strategy, load and convert it there""",
        evidence="recalled",
        example="ConverterError: Some ops are not supported by the native TFLite runtime, you can enable TF kernels fallback using TF Select.",
    ),
)
