# ruff: noqa: E501  (texts of other programs stay as they are)
"""Workers that go away, hosts that lose one another, lines that only follow."""

from __future__ import annotations

from tpudiag.known_errors.model import Kind, KnownError, Phase, Rival

ERRORS = (
    KnownError(
        id="E28",
        family="worker-lost",
        phase=Phase.EXECUTING,
        kind=Kind.CONSEQUENCE,
        patterns=(
            r"(?:Unavailable|Status|RPC failed|Aborted|Cancelled).{0,80}?Socket closed",
            r"grpc_message\W{1,8}Socket closed",
            r"Socket closed.{0,200}?grpc_status",
            r"(?:Unavailable|RPC failed|grpc).{0,120}?Connection reset by peer",
            r"GOAWAY received",
            r"recvmsg:Connection reset by peer",
            r"Cancelled by TearDown",
            r"error was raised\. This may be due to a preemption in a connected worker",
            r"Endpoint read failed",
            r"Unavailable(?:Error)?:? OS Error",
            r"(?:Unavailable|grpc).{0,80}?Stream removed",
            r"(?:Unavailable|grpc).{0,80}?Transport closed",
            r"(?:Unavailable|grpc).{0,80}?Broken pipe",
            r"TPU worker .{0,30}?(?:terminated|disconnected|exited|crashed)",
            r"TPU driver .{0,10}?(?:terminated|disconnected|exited|crashed)",
            r"UnavailableError: .{0,60}?OS Error",
            r"(?:recorded from \w{1,20}|RuntimeError|exception):? ?Socket closed",
        ),
        cause="The TPU worker went away: the connection to it broke because its process died or was restarted. The reason stands in the worker's log or earlier in this one.",
        fix="""\
grep -nE "Killed|oom|Check failed|unsupported|RESOURCE_EXHAUSTED|preempt|maintenance" LOG | head    # the first is the reason
dataset = dataset.shuffle(1_000)                       # host memory: a smaller shuffle buffer, no cache() of a large set
dataset = dataset.batch(SMALLER_GLOBAL_BATCH, drop_remainder=True)
tf.config.experimental_connect_to_cluster(resolver)    # then connect again and go on from the last checkpoint
tf.tpu.experimental.initialize_tpu_system(resolver)""",
        useless="trying the same again without a look at the host's memory",
        rivals=(
            Rival(
                cause="the worker's host ran out of memory: shuffle buffer, cache(), large arrays, uncompressed images",
                look_for="memory that grows until it ends; `oom`, `Killed`",
                decide="dmesg -T | grep -i oom    # on the worker; else: does it live longer with shuffle(1_000) and without cache()?",
                fix="""\
dataset = dataset.shuffle(1_000)      # a smaller buffer, and no .cache() of what does not fit
checkpoint.restore(manager.latest_checkpoint)""",
                cues=(
                    r"oom-kill",
                    r"Killed process",
                    r"dataset\.cache\(",
                    r"\.cache\(\)",
                ),
            ),
            Rival(
                cause="the step or the data hold what the worker cannot stand (uint8 or strings to the TPU, an unsupported operation, labels out of range): it crashes at once",
                look_for="it dies in the first step, each time",
                decide="tpudiag check train.py --for v5e-8",
                fix="image = tf.cast(image, tf.float32); label = tf.cast(label, tf.int32)     # in dataset.map",
                cues=(
                    r"DT_UINT8",
                    r"tf\.uint8",
                    r"Check failed",
                ),
            ),
            Rival(
                cause="the TPU was preempted, or under maintenance",
                look_for="a spot or preemptible TPU; `PREEMPTED`, `maintenance`",
                decide="gcloud compute tpus tpu-vm describe NAME --zone=ZONE --format='value(state,health)'",
                fix="""\
# a preempted TPU must be created again; then go on from the last checkpoint
checkpoint.restore(manager.latest_checkpoint)""",
                cues=(
                    r"(?:was|been|is being) preempted(?!/|,)",
                    r"state:? ?.{0,3}preempted",
                    r"preemption notice",
                    r"maintenance event",
                ),
            ),
            Rival(
                cause="libtpu or the TPU itself crashed",
                look_for="`Core halted`, `libtpu`, SIGSEGV in the worker's log",
                decide="ls -t /tmp/tpu_logs/ | head",
                cues=(
                    r"Core halted",
                    r"libtpu\.so",
                ),
            ),
        ),
        citations=(
            "tensorflow/tensorflow#42228",
            "tensorflow/tensorflow#43362",
            "tensorflow/tensorflow#50583",
            "tensorflow/tpu#821",
            "yingkaisha/keras-unet-collection#57",
            "tensorflow/tensorflow#36996",
            "tensorflow/tensorflow#36136",
            "pytorch/xla#2361",
            "tensorflow/tensorflow#23609",
        ),
        example='RPC failed with status = "Unavailable: Socket closed" and grpc_error_string = "{"description":"Error received from peer ipv4:10.0.0.2:8470"}", maybe retrying the RPC',
        near_miss="ConnectionError: Socket closed while the notebook was reconnecting",
    ),
    KnownError(
        id="E111",
        family="python-in-pipeline",
        phase=Phase.READING,
        patterns=(
            r"failed to connect to all addresses.{0,120}?remote target /job:localhost",
            r"(?:inference_\w{1,40}|IteratorGetNext|GeneratorDataset|MapDataset).{0,400}?failed to connect to all addresses(?!.{0,120}?ipv4:(?!127\.))",
            r"failed to connect to all addresses.{0,80}?ipv4:127\.0\.0\.1",
            r"failed to connect to all addresses(?!.{0,120}?ipv4:(?!127\.)).{0,600}?(?:IteratorGetNext|GeneratorDataset|MultiDeviceIterator)",
        ),
        cause="The input pipeline needs the client's Python process (from_generator, py_function, a tokenizer in map, a keras Sequence or ImageDataGenerator), and the TPU worker cannot call back to it.",
        fix="""\
# write what Python makes to TFRecord files in a bucket once, and read them with tf ops
dataset = tf.data.TFRecordDataset(files, num_parallel_reads=tf.data.AUTOTUNE)
dataset = dataset.map(parse_with_tf_ops, num_parallel_calls=tf.data.AUTOTUNE).batch(global_batch, drop_remainder=True)
# what fits in memory: tf.data.Dataset.from_tensor_slices(arrays), or train on a TPU VM""",
        useless="a smaller batch does not help: Python itself is what the worker lacks",
        citations=(
            "tensorflow/tensorflow#43037",
            "tensorflow/tensorflow#39122",
            "tensorflow/tensorflow#60288",
            "googlecolab/colabtools#1886",
        ),
        example="""\
UnavailableError: failed to connect to all addresses
Additional GRPC error information from remote target /job:localhost/replica:0/task:0/device:CPU:0:""",
    ),
    KnownError(
        id="E29",
        family="context-lost",
        phase=Phase.CONNECTING,
        patterns=(
            r"Unable to find a context_id matching the specified one",
            r"Session \w{4,40} is not found",
            r"Remote EagerContext with id .{1,40}?does not seem to exist",
            r"Unable to find the relevant tensor remote_handle",
            r"this master has (?:since )?restarted",
            r"Resource input tensor contains an invalid device",
        ),
        cause="The worker does not know the client's session: it was restarted (preempted, out of memory), or the client connected to the host only, or their versions differ.",
        fix="""\
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)        # then build again inside its scope
checkpoint.restore(manager.latest_checkpoint)""",
        rivals=(
            Rival(
                cause="at the start: the client connected with experimental_connect_to_host, or its TensorFlow differs from the worker's",
                look_for="it fails before the first step",
                decide="grep -n experimental_connect train.py",
                fix="""\
tf.config.experimental_connect_to_cluster(resolver)     # not experimental_connect_to_host
tf.tpu.experimental.initialize_tpu_system(resolver)
# and the same TensorFlow version on both sides""",
                cues=(
                    r"experimental_connect_to_host",
                    r"_tpu_init_fn",
                ),
            ),
            Rival(
                cause="later: the worker was restarted (preempted, or its host ran out of memory)",
                look_for="it worked before; `Socket closed` beside it",
                decide="gcloud compute tpus tpu-vm describe NAME --zone=ZONE",
                cues=(
                    r"Socket closed",
                    r"(?:was|been|is being) preempted(?!/|,)",
                ),
            ),
        ),
        citations=(
            "tensorflow/tensorflow#47460",
            "tensorflow/tensorflow#32043",
            "huan/tensorflow-handbook-tpu#1",
        ),
        example="UnavailableError: Unable to find a context_id matching the specified one (12465293436922014039). Perhaps the worker was restarted, or the context was GC'd?",
        near_miss="Unable to find a run_id matching the specified one in the experiment tracker",
        yields_to=("N04",),
    ),
    KnownError(
        id="E112",
        family="coordination-lost",
        phase=Phase.EXECUTING,
        kind=Kind.BROAD,
        patterns=(
            r"(?P<task>/job:\w{1,30}/(?:replica:\d{1,4}/)?task:\d{1,5}) has been set to ERROR",
            r"Task (?P<task>/job:\w{1,30}/(?:replica:\d{1,4}/)?task:\d{1,5}) heartbeat timeout",
            r"/task:\d{1,5} heartbeat timeout",
            r"heartbeat timed out",
            r"(?<!\D0)missed \d{0,4} ?heartbeats?(?!s? ?[=:] ?0(?!\d))",
            r"(?:fail|UNAVAILABLE|unhealthy).{0,160}?heartbeat timeout",
            r"coordination[ _]service.{0,120}?(?:ERROR|error|unhealthy|UNAVAILABLE|DEADLINE|failed)",
            r"CoordinationService(?:Error|/RegisterTask)",
            r"unknown_target_for_coordination_leader",
            r"Barrier timed out",
            r"Failed to meet rendezvous",
            r"Task /job:.{0,60}? is (?:unhealthy|unreachable|disconnected)",
            r"remote task has failed, got preempted, or crashed",
            r"threads to join the rendezvous, but not all of them arrived",
            r"This thread has been waiting for .{0,200}? and may be stuck",
            r"Connect\w{0,4} to coordinat\w{1,4} .{0,60}?(?:failed|timed out|refused)",
            r"Timed out waiting for .{0,60}?(?:barrier|all tasks|other tasks)",
            r"[Mm]egascale.{0,120}?(?:hang|timed? ?out|deadline|failed|error|unreachable)",
            r"connect to (?:the )?megascale coordinator",
            r"DCN transfer.{0,60}?(?:deadline exceeded|timed out|failed)",
            r"unrecoverable error is reported from one or more workers",
            r"Please inspect the error log of these workers",
            r"suggests that the workers are out of sync",
            r"Proceeding with agent shutdown anyway",
            r"The tasks have crashed\. Check the task logs",
            r"(?:Aborting \(w/o? ?\w{0,10} ?restart\)|Terminating the process) due to failed heartbeat",
            r"Lost connection to the SliceBuilder controller task",
            r"Heartbeat: Incarnation ID mismatch",
            r"tried to connect with a different incarnation",
            r"Termination timeout for .{1,80}? exceeded\. Exiting to ensure a consistent program state",
        ),
        cause="One task (process, host) of several stopped answering, and the coordination service ends all of them. This is the consequence on the others; the reason is in the log of the task that is named.",
        details=("The task is {task}.",),
        fix="""\
# the log of the task that went first (the number in the message), its last lines: out of memory, exception, preempted?
gcloud compute tpus tpu-vm ssh NAME --zone=ZONE --worker=TASK --command="tail -100 train.log; sudo dmesg -T | grep -i oom"
# at the start: the same program must be started on every host, and reach the coordinator's address
gcloud compute tpus tpu-vm ssh NAME --zone=ZONE --worker=all --command="python3 train.py"
checkpoint.restore(manager.latest_checkpoint)""",
        rivals=(
            Rival(
                cause="a host was preempted or under maintenance",
                look_for="a spot TPU; PREEMPTED",
                decide="gcloud compute tpus tpu-vm describe NAME --zone=ZONE --format='value(state)'",
                cues=(
                    r"(?:was|been|is being) preempted(?!/|,)",
                    r"SIGTERM",
                ),
            ),
            Rival(
                cause="the process on that host died: out of host memory, an exception, a crash",
                look_for="an exception, `Segmentation fault` or `Killed` in that task's own log",
                decide="sudo dmesg -T | grep -i oom    # on that host",
                cues=(
                    r"oom-kill",
                    r"Killed process",
                    r"Traceback \(most recent call last\)",
                    r"Segmentation fault",
                    r"core dumped",
                    r"Fatal Python error",
                ),
            ),
            Rival(
                cause="not all hosts were started, or they cannot reach the coordinator",
                look_for="it fails before the first step; RegisterTask, DEADLINE_EXCEEDED",
                decide="pgrep -af train.py   # on every host",
                cues=(
                    r"RegisterTask",
                    r"DEADLINE_EXCEEDED",
                ),
            ),
            Rival(
                cause="the task lives, but did not answer for longer than the others wait: a long compilation, a save, a large allocation, a host without a free core",
                look_for="`heartbeat timeout`, and no error in that task's own log",
                decide="uptime; top -bn1 | head -15    # on that host, while it runs",
                fix="""\
jax.distributed.initialize(heartbeat_timeout_seconds=600)      # JAX 0.7 and later: 100 s unless set
tf.config.experimental_connect_to_cluster(resolver)             # TensorFlow: leave the service's settings as they are, free the host's cores""",
            ),
        ),
        citations=(
            "EleutherAI/architecture-objective#26",
            "google/paxml#77",
            "jax-ml/jax#23599",
            "jax-ml/jax#20055",
        ),
        example="E coordination_service.cc:954] /job:jax_worker/replica:0/task:37 has been set to ERROR in coordination service: UNAVAILABLE: Task /job:jax_worker/replica:0/task:37 heartbeat timeout. This indicates that the remote task has failed, got preempted, or crashed unexpectedly.",
        yields_to=("E816",),
    ),
)
