# ruff: noqa: E501  (texts of other programs stay as they are)
"""Texts that leave several causes open, or were cut off before they named theirs."""

from __future__ import annotations

from tpudiag.known_errors.model import Kind, KnownError, Phase, Rival

ERRORS = (
    KnownError(
        id="E67",
        family="initialisation-failed",
        phase=Phase.INITIALISING,
        kind=Kind.BROAD,
        patterns=(
            r"TPU initialization failed",
            r"Failed to initialize (?:the )?TPU",
            r"Unable to initialize backend 'tpu'",
            r"Failed to create TPU (?:client|driver|system)",
            r"TPU-enabled jaxlib or libtpu is not installed",
            r"Backend 'tpu' failed to initialize",
            r"Unable to initialize TPU system",
            r"TPU platform is not initialized",
        ),
        cause="libtpu could not take the TPU: it is held, missing, or not for this process.",
        fix="""\
sudo lsof -w /dev/accel* /dev/vfio/*                # does another process hold it?
ls -l /dev/accel* /dev/vfio/*                       # are there chips, and may this user open them?
env | grep -E "TPU_|CLOUD_TPU|PJRT"                 # left-overs of another slice? unset them
pip list | grep -iE "libtpu|tensorflow|jax"         # one framework, with the libtpu that belongs to it""",
        rivals=(
            Rival(
                cause="another process holds the TPU",
                look_for="`already in use`, `busy`",
                decide="sudo lsof -w /dev/accel* /dev/vfio/*",
                cues=(
                    r"already in use",
                    r"resource busy",
                ),
                families=("tpu-busy",),
            ),
            Rival(
                cause="there is no TPU chip here, or no right to open it",
                look_for="`No such file`, `not permitted`",
                decide="ls -l /dev/accel* /dev/vfio/*",
                cues=(
                    r"device found",
                    r"not permitted",
                ),
                families=("no-device", "tpu-busy"),
            ),
            Rival(
                cause="this platform has no libtpu (Windows, macOS, a machine with a GPU only) or JAX was told to use a TPU that is not there",
                look_for="`not implemented on windows`, `libtpu.so`; JAX_PLATFORMS=tpu",
                decide="env | grep JAX_PLATFORMS",
                fix="export JAX_PLATFORMS=''      # libtpu exists for Linux on a TPU VM only",
                cues=(r"not implemented on windows",),
                families=("libtpu-missing", "no-tpu-noise"),
            ),
            Rival(
                cause="libtpu and the framework do not belong together",
                look_for="versions in the log",
                decide='pip list | grep -iE "libtpu|tensorflow|jax"',
                families=("libtpu-pair", "pjrt-pair", "jax-and-tensorflow"),
            ),
            Rival(
                cause="environment variables describe another slice",
                look_for="`worker_addresses`, `TPU_`",
                decide='env | grep -E "TPU_|CLOUD_TPU"',
                families=("slice-environment", "hosts-missing"),
            ),
        ),
        citations=("jax-ml/jax#21761",),
        example="RuntimeError: Unable to initialize backend 'tpu': UNKNOWN: TPU initialization failed: something new",
    ),
    KnownError(
        id="E198",
        family="unsupported-op",
        phase=Phase.COMPILING,
        kind=Kind.BROAD,
        patterns=(r"Detected unsupported operations when trying to compile",),
        cause="The compiled step holds an operation that the device cannot run; the text ends before it names the operation (it stands after `XLA_TPU_JIT:`).",
        fix="""\
tpudiag check train.py --for v5e-8            # lowers the step with no TPU: names the operations and your lines
dataset = dataset.map(on_the_host, num_parallel_calls=tf.data.AUTOTUNE)     # strings, tables, decoding, augmentation
tf.config.set_soft_device_placement(True)     # before the model is built: runs them on the host, slowly""",
        evidence="reproduced",
        example="InvalidArgumentError: Detected unsupported operations when trying to compile graph cluster_train",
        rivals=(
            Rival(
                cause="strings, look-up tables, tf.print, py_function",
                look_for="string columns or print in train_step, a tokenizer in the model",
                decide='grep -nE "tf.print|py_function|string|lookup" train.py',
                families=("python-in-step", "unsupported-op", "host-op-in-condition"),
            ),
            Rival(
                cause="image augmentation or decoding in the model",
                look_for="Random* layers, tf.image",
                decide='grep -nE "Random|tf.image|decode" train.py',
                cues=(r"Random(?:Rotation|Zoom|Translation|Contrast)",),
                families=("augmentation-in-step",),
            ),
            Rival(
                cause="a summary in the step",
                look_for="tf.summary, TensorBoard images",
                decide="grep -n summary train.py",
                cues=(r"summar(?:y|ies)",),
                families=("summary-in-step", "step-of-summary"),
            ),
            Rival(
                cause="a symbolic tensor of another graph (Placeholder), or a list that grows (TensorArray)",
                look_for="a Keras Input in a loss; a while loop that appends",
                decide="tpudiag check train.py --for v5e-8",
                cues=(
                    r"Placeholder",
                    r"TensorList",
                ),
                families=("placeholder-in-step", "tensor-list-size"),
            ),
        ),
    ),
    KnownError(
        id="E199",
        family="compiler-bug",
        phase=Phase.COMPILING,
        kind=Kind.BROAD,
        patterns=(
            r"(?:please )?file a bug (?:against|to|with) (?:the )?XLA",
            r"This is likely an XLA compiler bug",
            r"XLA:TPU compile permanent error",
            r"Invalid HLO for TPU",
        ),
        cause="The TPU compiler gave up on this program; its reason stands beside these words.",
        fix="""\
tpudiag check train.py --for v5e-8            # compiles the step with no TPU, and says how much memory it needs
pip install -U libtpu                         # a bug of this release: another one, within what TensorFlow allows
# shapes: drop_remainder=True; memory: a smaller batch, bfloat16; types: tf.cast to float32 or int32""",
        evidence="recalled",
        example="INTERNAL: something new. Please file a bug against XLA.",
        yields_to=("E98",),
        rivals=(
            Rival(
                cause="shapes or strides that this compiler cannot do",
                look_for="`dynamic`, `stride`, `dimension` before these words",
                decide="print(dataset.element_spec)",
                cues=(
                    r"dynamic",
                    r"stride yet",
                ),
                families=("dynamic-dimension", "shape-conflict"),
            ),
            Rival(
                cause="memory: HBM or on-chip",
                look_for="`hbm`, `vmem`, `RESOURCE_EXHAUSTED` beside these words",
                decide="tpudiag check train.py --for v5e-8",
                cues=(
                    r"space vmem",
                    r"RESOURCE_EXHAUSTED",
                    r"space hbm",
                ),
                families=("hbm-at-compile-time", "on-chip-scratch", "hbm-at-run-time"),
            ),
            Rival(
                cause="types that the TPU does not have",
                look_for="u8, s8, f64 beside these words",
                decide="the same step with the policy float32",
                families=("type-not-on-tpu", "sixty-four-bit"),
            ),
            Rival(
                cause="a bug of the compiler, or a core that halted",
                look_for="RET_CHECK, a file name of the compiler",
                decide="the same step with another libtpu",
                cues=(r"RET_CHECK",),
                families=("compiler-bug", "core-halted"),
            ),
        ),
    ),
    KnownError(
        id="E271",
        family="file-missing",
        phase=Phase.READING,
        kind=Kind.BROAD,
        patterns=(
            r"Failed to get matching files on (?P<file>(?:\w{1,5}://)?[\w./-]{1,160})",
            r"Unsuccessful TensorSliceReader constructor",
        ),
        cause="A checkpoint could not be opened where it is looked for.",
        details=("It is {file}.",),
        fix="""\
gcloud storage ls "PATH*"; ls "PATH"*           # the prefix before .index and .data-00000-of-00001, without an ending
gcloud storage cp -r /local/checkpoint gs://BUCKET/checkpoint       # a TPU Node reads gs:// only
gcloud storage buckets add-iam-policy-binding gs://BUCKET --member=serviceAccount:TPU_ACCOUNT --role=roles/storage.objectAdmin""",
        evidence="recalled",
        example="InvalidArgumentError: Unsuccessful TensorSliceReader constructor: Failed to get matching files on something new",
        yields_to=("E119",),
        rivals=(
            Rival(
                cause="there is no such file: the path is wrong, a folder in place of a prefix, or the download is not complete",
                look_for="it fails on a CPU too",
                decide="ls PATH*",
                cues=(r"No such file",),
                families=("file-missing", "object-missing"),
            ),
            Rival(
                cause="a path on the client's disk is read by a TPU Node's worker",
                look_for="a path that begins with / and `/job:worker`",
                decide="is the path gs://?",
                fix='save and restore by gs://BUCKET/..., or options=tf.train.CheckpointOptions(experimental_io_device="/job:localhost")',
                cues=(
                    r"/job:worker",
                    r"/job:tpu_worker",
                    r"\[local\]",
                ),
                families=("local-files",),
            ),
            Rival(
                cause="the account may not read the bucket",
                look_for="a path that begins with gs://; `403`",
                decide="gcloud storage ls PATH",
                cues=(r"storage\.objects",),
                families=("bucket-rights",),
            ),
        ),
    ),
    KnownError(
        id="E109",
        family="memory-exhausted",
        phase=Phase.EXECUTING,
        kind=Kind.BROAD,
        patterns=(
            r"OOM when allocating tensor with shape ?(?P<shape>\[[\d,]{1,60}\])",
            r"Out of memory (?:while trying to )?allocat(?:e|ing) (?P<asked>\d{1,18}) bytes",
            r"RESOURCE_EXHAUSTED.{0,160}?(?:memory|alloc|hbm|OOM|bytes)",
            r"ResourceExhaustedError.{0,240}?(?:memory|alloc|hbm|OOM|bytes)",
            r"Resource exhausted:.{0,160}?(?:memory|alloc|hbm|OOM|bytes)",
            r"list of allocated tensors when OOM happens",
        ),
        cause="Memory ran out: of the TPU where the message names HBM or a TPU device, else of the host.",
        details=(
            "The tensor's shape is {shape}.",
            "{asked} bytes were asked for.",
        ),
        fix="""\
global_batch = PER_REPLICA_BATCH // 2 * strategy.num_replicas_in_sync   # a smaller batch per replica
keras.mixed_precision.set_global_policy("mixed_bfloat16")
dataset = dataset.shuffle(1_000)            # host memory: smaller shuffle buffers, no cache() of what does not fit""",
        rivals=(
            Rival(
                cause="the TPU's memory (HBM): batch, activations, a second model",
                look_for="`hbm`, `device:TPU`, `device ordinal`",
                decide="tpudiag check train.py --for v5e-8   # what the program needs",
                cues=(
                    r"device:TPU",
                    r"memory space hbm",
                    r"XLA:TPU compile",
                    r"Attempting to (?:allocate|reserve)",
                    r"XRTExecute",
                    r"XRTCompile",
                    r"TPUReplicate",
                    r"TPUExecute",
                    r"x0_HBM\d",
                ),
                families=(
                    "hbm-at-run-time",
                    "hbm-at-compile-time",
                    "hbm-for-the-program",
                    "on-chip-scratch",
                ),
            ),
            Rival(
                cause="the host's memory: shuffle, cache, arrays in from_tensor_slices",
                look_for="`device:CPU`, `allocator cpu`",
                decide='free -g; grep -nE "cache\\(|shuffle\\(|from_tensor_slices" train.py',
                cues=(
                    r"device:CPU:0.{0,60}?allocator",
                    r"mklcpu",
                    r"allocator cpu",
                ),
                families=("host-memory",),
            ),
            Rival(
                cause="the memory of a GPU: the job runs on one, not on a TPU",
                look_for="`GPU_0_bfc`, `device:GPU`, `bfc_allocator`",
                decide="nvidia-smi",
                cues=(
                    r"device:GPU:",
                    r"pjrt_stream_executor_client",
                    r"BufferAssignment OOM Debugging",
                    r"GPU_0_bfc",
                ),
                families=("gpu-memory",),
            ),
        ),
        evidence="recalled",
        example="ResourceExhaustedError: OOM when allocating tensor with shape[64,1024,1024] and type float on /job:worker/replica:0/task:0/device:TPU:0",
    ),
)
