# ruff: noqa: E501  (texts of other programs stay as they are)
"""Limits of the host (shared memory, files, time), values that blow up, and remarks about both."""

from __future__ import annotations

from tpudiag.known_errors.model import Kind, KnownError, Phase, Rival

ERRORS = (
    KnownError(
        id="E827",
        family="loader-process-died",
        phase=Phase.READING,
        patterns=(
            r"DataLoader worker \(pids?(?:\(s\))? .{1,60}?\) (?:is killed by signal: (?P<signal>[A-Z][a-z ]{3,20})|exited unexpectedly)",
            r"DataLoader worker.{0,40}?(?:is killed by signal|exited unexpectedly)",
        ),
        cause="A process that loads data ended without an error of its own: it was killed, or crashed. With one training process for each core, each with loaders of its own, the host's memory is what runs out most.",
        details=("The signal is {signal}.",),
        fix="""\
sudo dmesg -T | grep -iE 'oom|killed process' | tail -3               # killed for memory?
loader = DataLoader(dataset, batch_size=B, num_workers=0)               # first: in the process itself, where its error is shown; then 1 or 2 for each core
# what every process holds counts times the processes: open files and arrays in __getitem__, not in the parent; xmp.MpModelWrapper, start_method="fork"
df -h /dev/shm; docker run --shm-size=16g ...                           # a container: its shared memory is 64 MB unless told otherwise""",
        useless="a smaller batch on the TPU alone: it is the number of loader processes times what each holds",
        rivals=(
            Rival(
                cause="the host's memory ran out and the kernel killed it",
                look_for="`killed by signal: Killed`, `oom` in dmesg, a notebook that restarts",
                decide="sudo dmesg -T | grep -iE 'oom|killed process' | tail -3; free -g",
                cues=(
                    r"killed by signal: (?:Killed|Terminated)",
                    r"[Oo]ut of memory: Killed",
                    r"oom-kill",
                    r"SIGKILL",
                ),
                families=("host-memory",),
            ),
            Rival(
                cause="shared memory (/dev/shm) is full",
                look_for="`Bus error`, `shared memory`, a container",
                decide="df -h /dev/shm",
                fix="docker run --shm-size=16g ...      # or --ipc=host",
                cues=(r"[Bb]us error", r"shared memory", r"/dev/shm"),
                families=("shared-memory",),
            ),
            Rival(
                cause="it crashed in native code (a decoder, OpenCV's threads, a library that does not outlive fork)",
                look_for="`Segmentation fault`, num_workers=0 crashes as well",
                decide="python -X faulthandler train.py   # with num_workers=0",
                cues=(r"[Ss]egmentation fault", r"SIGSEGV"),
                families=("crash-in-native-code",),
            ),
        ),
        citations=("pytorch/xla#2359", "ymoslem/OpenNMT-Tutorial#6"),
        example="Exception in device=TPU:6: DataLoader worker (pid(s) 1235) exited unexpectedly",
    ),
    KnownError(
        id="E502",
        family="shared-memory",
        phase=Phase.READING,
        patterns=(
            r"insufficient shared memory",
            r"[Uu]nexpected bus error",
            r"unable to (?:open|write|resize|mmap|allocate) (?:to )?(?:file|shared memory|/dev/shm).{0,80}?(?:torch_|shm|No space|Cannot allocate)",
            r"/dev/shm.{0,80}?(?:No space|full|too small|Cannot allocate)",
            r"(?:No space|Cannot allocate).{0,80}?/dev/shm",
            r"DataLoader worker \(pid .{1,12}?\) is killed by signal: Bus error",
            r"shm_open.{0,60}?(?:fail|error)",
            r"Fatal Python error: Bus error",
            r"Bus error \(core dumped\)",
        ),
        cause="Shared memory (/dev/shm) is full: loader processes of Python hand their batches over through it, and a container has 64 MB of it unless told otherwise.",
        fix="""\
df -h /dev/shm
docker run --shm-size=16g ...                        # or --ipc=host; Kubernetes: an emptyDir with medium: Memory at /dev/shm
sudo mount -o remount,size=64G /dev/shm                # on the VM itself
# fewer and smaller: num_workers, prefetch_factor; or tf.data, which has threads and needs no shared memory""",
        useless="a smaller batch on the TPU alone: it is the number of loader processes times what each holds",
        citations=("pytorch/xla#2690",),
        example="ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm).",
    ),
    KnownError(
        id="E503",
        family="xla-tensor-elsewhere",
        phase=Phase.SAVING,
        patterns=(
            r"Could not run '\w{1,40}::[\w.]{1,60}' with arguments from the '(?P<backend>\w{0,20}XLA\w{0,20})'",
            r"is only available for these backends.{0,400}?XLA",
            r"don't know how to restore data location of .{0,60}?xla",
            r"Expected all tensors to be on the same device.{0,200}?xla",
            r"Input tensor is not an XLA tensor",
            r"torch_xla.{0,400}?Check failed: (?:xtensor|IsXlaTensor)",
            r"Cannot access data pointer of Tensor that doesn't have storage",
            r"Expected XLA tensor",
            r"model and the optimizer parameters are not on the same device",
            r"Calculated loss must be on the original device",
        ),
        cause="PyTorch: a tensor that lives on the TPU (an XLA tensor) is used or loaded where there is no torch_xla, or meets one on the CPU.",
        fix="""\
xm.save(model.state_dict(), "model.pt")                  # torch_xla: moves tensors to the CPU first
state = torch.load("model.pt", map_location="cpu")
x = x.to(xm.xla_device())                                  # all inputs on one device""",
        citations=("Lightning-AI/pytorch-lightning#1363",),
        example="RuntimeError: Could not run 'aten::empty.memory_format' with arguments from the 'XLATensorId' backend.",
        yields_to=("E17",),
    ),
    KnownError(
        id="E504",
        family="no-gradients",
        phase=Phase.TRACING,
        level="warning",
        patterns=(
            r"Gradients do not exist for variables ?\[?[\"'(<\w].{0,300}? when minimizing",
            r"Gradients do not exist for variables",
            r"The calculated gradients? (?:is|are) None",
        ),
        cause="Some variables take no part in the loss: an unused head or pooler (usual with pretrained models, then harmless), a value taken out of TensorFlow (numpy, round, argmax, an integer cast), or a forward pass outside the GradientTape.",
        fix="""\
layer.trainable = False                                        # parts that are not meant to learn: freeze them, the warning goes
with tf.GradientTape() as tape: loss = loss_fn(y, model(x, training=True))      # all of it inside; no .numpy(), argmax, int cast on the way
print([v.name for v, g in zip(model.trainable_variables, grads) if g is None])   # which they are""",
        evidence="recalled",
        example="WARNING:tensorflow:Gradients do not exist for variables ['pooler/kernel:0'] when minimizing the loss.",
        yields_to=("E191", "E156"),
    ),
    KnownError(
        id="E505",
        family="nan",
        phase=Phase.EXECUTING,
        patterns=(
            r"NaN or Inf loss encountered",
            r"Terminating training immediately",
            r"Nan in summary histogram",
            r"(?:Found|Detected|contains?) (?:an? )?(?:inf|nan|NaNs?)(?: or (?:inf|nan))?.{0,40}?gradient",
            r"gradients? (?:is|are|was|became|had|has|contains?) (?:NaN|not finite|nan|inf)(?![a-z])",
            r"!!! Detected (?:Infinity|NaN|Inf)",
            r"(?<![a-z_])loss: nan(?![a-z])",
            r"[Ii]nput (?:[Xy] )?contains NaN",
            r"infinity or a value too large for dtype",
        ),
        cause="The loss or a gradient is no number any more: a learning rate too high, a division or logarithm of zero, a softmax or loss in bfloat16, or data that hold NaN already.",
        fix="""\
tf.debugging.enable_check_numerics()                              # on a CPU: names the operation and the line that makes the first one
assert not np.isnan(x).any() and np.isfinite(y).all()              # the data first
keras.layers.Dense(CLASSES, dtype="float32"); keras.losses.SparseCategoricalCrossentropy(from_logits=True)   # the end in float32
optimizer = keras.optimizers.Adam(1e-4, global_clipnorm=1.0)       # warm up, clip; epsilon=1e-7 is lost in bfloat16: 1e-3
loss = tf.math.divide_no_nan(total, weights); tf.math.log(x + 1e-6)""",
        evidence="recalled",
        example="RuntimeError: NaN or Inf loss encountered at batch 12. Loss value: nan. Terminating training immediately.",
        near_miss="epoch 3 val_loss: nano 1.2",
        yields_to=("E154",),
    ),
    KnownError(
        id="E506",
        family="seeds",
        phase=Phase.EXECUTING,
        patterns=(
            r"Random ops require a seed to be set when determinism is enabled",
            r"determinism.{0,60}?(?:not (?:yet )?(?:supported|implemented|available)|is disallowed)",
            r"when op[- ]determinism is enabled",
            r"seed must be (?:a|an) ",
            r"(?:tf\.random\.)?Generator.{0,80}?(?:cannot be created|must be created|created).{0,60}?(?:scope|function|strategy|replica)",
            r"seed must have shape \[2\]",
        ),
        cause="Determinism was switched on (tf.config.experimental.enable_op_determinism) without a seed, or with an operation that has no deterministic form; or a random generator is made in another place than it is used.",
        fix="""\
keras.utils.set_random_seed(7)                                   # Python, NumPy and TensorFlow, before any random operation
tf.config.experimental.enable_op_determinism()                    # only when it is needed: it costs speed
with strategy.scope(): generator = tf.random.Generator.from_seed(7)
tf.random.stateless_uniform(shape, seed=[7, step])                 # on a TPU: stateless operations, a seed of two numbers""",
        evidence="recalled",
        example="RuntimeError: Random ops require a seed to be set when determinism is enabled. Please set a seed before running the op, e.g. by calling tf.random.set_seed(1).",
    ),
    KnownError(
        id="E507",
        family="step-of-summary",
        phase=Phase.EXECUTING,
        patterns=(
            r"No step set\. Please specify one either through the `?step",
            r"SummaryWriter .{0,60}? is already closed",
            r"No default tf\.contrib\.summary\.SummaryWriter",
            r"Must enable trace before export",
            r"Invalid graph Tensor argument .{0,80}?create_file_writer",
            r"Argument `?logdir`? cannot be None",
            r"`?embeddings_(?:metadata|freq|data)`?.{0,160}?(?:Unrecognized|required|must|not)",
            r"If printing histograms, validation_data must be provided",
            r"To visualize .{0,40}?, validation_data must",
            r"Unrecognized `?Embedding`? layer names passed",
        ),
        cause="A summary or the TensorBoard callback lacks what it needs: the step's number, an open writer, or validation data for histograms (TensorFlow 1).",
        fix="""\
writer = tf.summary.create_file_writer("gs://BUCKET/logs")              # outside the tf.function
with writer.as_default(step=step): tf.summary.scalar("loss", loss)       # after the step, from its returned values
keras.callbacks.TensorBoard("gs://BUCKET/logs", histogram_freq=0)        # histograms cost a pass over the weights; 0 on a TPU""",
        citations=("tensorflow/tensorflow#30528",),
        example="ValueError: No step set. Please specify one either through the `step` argument or through tf.summary.experimental.set_step()",
    ),
    KnownError(
        id="E508",
        family="subprocess-failed",
        phase=Phase.ANY,
        kind=Kind.CONSEQUENCE,
        patterns=(
            r"CalledProcessError: Command",
            r"returned non-zero exit status (?P<status>-?\d{1,3})",
            r"exited with (?:exit )?(?:code|status):? ?(?P<status>-?[1-9]\d{0,2})",
            r"ProcessExitedException",
            r"ProcessRaisedException",
            r"A process in the process pool was terminated abruptly",
            r"BrokenProcessPool",
        ),
        cause="A child process ended with an error; what it wrote itself, before this line, is the cause.",
        details=("Its exit status is {status}.",),
        fix="""\
# its own output stands above; status -9 or 137: killed, mostly for memory (dmesg -T | grep -i oom); -11 or 139: a crash in native code
python train.py 2>&1 | tee log.txt; tpudiag explain --log log.txt""",
        evidence="recalled",
        example="subprocess.CalledProcessError: Command '['python', 'train.py']' returned non-zero exit status 1.",
    ),
    KnownError(
        id="E898",
        family="int-too-large",
        phase=Phase.READING,
        patterns=(r"Python int too large to convert to C (?P<type>long|ssize_t|int(?!\d))",),
        cause="A number does not fit the integer of the C code that takes it: on Windows NumPy before 2.0 makes 32-bit integers unless told otherwise (hashes, checksums, ids and times beyond 2,147,483,647), elsewhere the number is beyond 64 bits.",
        details=("It takes a {type}.",),
        fix="""\
x = np.array(values, dtype=np.int64)                    # say the width; np.uint32(value & 0xFFFFFFFF) for checksums
pip install -U "numpy>=2"                                # 64 bits on Windows too; or run it on Linux (WSL2), as the TPU's host does
tf.io.TFRecordWriter(path)                               # records: TensorFlow's own writer computes its checksums itself""",
        citations=("vahidk/tfrecord#36",),
        example="OverflowError: Python int too large to convert to C long",
        near_miss="OverflowError: Python int too large to convert to C int64",
    ),
)
