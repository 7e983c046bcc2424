# ruff: noqa: E501  (texts of other programs stay as they are)
"""What goes wrong while a job runs or is fitted: workers, collectives, native checks, fit on a TPU, the service."""

from __future__ import annotations

from tpudiag.known_errors.model import Kind, KnownError, Phase, Rival

ERRORS = (
    KnownError(
        id="E427",
        family="gke-node-pool",
        phase=Phase.CREATING,
        patterns=(
            r"placement policy is not supported",
            r"Use workload policy instead",
            r"not a valid size of TPU pod slice",
            r"TPU topology can't be specified",
            r"(?:remove|specify|set) the tpu_topology",
            r"UnexpectedAdmissionError.{0,200}?google\.com/tpu",
            r"didn't match Pod's node affinity.{0,200}?tpu",
            r"gke-tpu-accelerator.{0,160}?(?:invalid|not (?:valid|supported|found)|mismatch)",
            r"Managed Instance Group in the gang mode",
            r"Should be equal to the gang size",
        ),
        cause="A GKE node pool for TPUs is asked for in a form that this machine type does not have: a topology for a single host, a number of nodes that is no whole slice, a placement policy where a workload policy belongs, or a pod that asks for chips that are taken.",
        fix="""\
# one host (v5e 1x1, 2x2, 2x4; v6e likewise): no --tpu-topology; --num-nodes for as many single hosts as wanted
gcloud container node-pools create POOL --cluster=C --location=REGION --node-locations=ZONE --machine-type=ct5lp-hightpu-8t --num-nodes=1
# several hosts: --tpu-topology=4x4, and --num-nodes = chips of the topology / chips of a machine (4x4 with -4t: 4); autoscaling from 0 to exactly that (max, not total-max)
# tpu7x: a workload policy with the topology in place of a compact placement policy
kubectl describe node NODE | grep -A3 google.com/tpu       # chips already given to another pod: delete it, or wait""",
        citations=(
            "vllm-project/ci-infra#547",
            "vllm-project/ci-infra#545",
            "AI-Hypercomputer/xpk#825",
        ),
        example="Maximum node count 0 is not a valid size of TPU pod slice with topology 2x2x2",
    ),
    KnownError(
        id="E428",
        family="collective-aborted",
        phase=Phase.EXECUTING,
        kind=Kind.BROAD,
        patterns=(
            r"Collective ops is aborted by:? ?(?P<why>.{1,120})",
            r"incarnation doesn't match with one in the group",
            r"is joining a group with size",
            r"CompleteGroup(?:Distributed)?.{0,120}?(?:fail|error|status)",
            r"collective leader (?:hasn't|has not|restarted|failed)",
            r"[Cc]ollective.{0,60}?(?:timed out|deadline exceeded|was cancelled)",
        ),
        yields_to=("E880",),
        cause="An operation over all workers was given up, because one of them failed, ran out of data before the others, was restarted, or was started with another cluster. The reason is in the log of that worker.",
        details=("TensorFlow says: {why}",),
        fix="""\
grep -nE "Error|Killed|SIGTERM" worker*.log | head      # the earliest line of all workers is the cause
# end all processes and start them together: a worker that was restarted alone belongs to no group any more
env | grep TF_CONFIG                                    # the same cluster on all, a different index on each
model.fit(dataset.repeat(), steps_per_epoch=N)          # as many steps on every worker: drop_remainder=True, no end of data in between
checkpoint.restore(manager.latest_checkpoint)           # keras.callbacks.BackupAndRestore(folder) does it by itself""",
        citations=("google/automl#964",),
        example="Bad status from CompleteGroupDistributed: Failed precondition: Device /job:worker/replica:0/task:1/device:GPU:0 current incarnation doesn't match with one in the group.",
    ),
    KnownError(
        id="E429",
        family="crash-in-native-code",
        phase=Phase.ANY,
        kind=Kind.CONSEQUENCE,
        patterns=(
            r"(?P<place>(?:external|third_party|tensorflow|torch_xla|platforms|learning|xla|tsl)/[\w/]{3,120}\.cc:\d{1,6})\] Check failed:",
            r"\.cc:\d{1,6}\] Check failed:",
            r"\] Check failed: .{0,80}?(?:xla|tpu|pjrt|hlo|shape)",
            r"\*\*\* SIG(?:SEGV|ABRT|BUS|ILL|FPE) \(@.{1,80}? received by PID",
            r"coredump_hook\.cc",
            r"symbolize\.stripped_domain",
            r"Non-OK-status: (?P<status>.{3,100}?) status:",
            r"Check failed: .{3,160}?\(-?[\w.]{1,24} vs\. ?-?[\w.]{1,24}\)",
            r"\.cc(?::\d{1,6}\])? Check failed:",
        ),
        cause="The process ended in native code (libtpu, XLA, TensorFlow's runtime): an assertion or a signal. What was asserted is in this line; the reason is mostly an earlier line, or releases that do not belong together.",
        details=("It was at {place}.",),
        fix="""\
grep -nE "^[FE][0-9]{4}|Check failed|RESOURCE_EXHAUSTED|status:" LOG | head      # the first of these
pip list | grep -iE "tensorflow|libtpu|jax|torch"      # one framework with the libtpu of its release; others out of this environment
ls -t /tmp/tpu_logs/ | head -3                          # libtpu's own log
tpudiag check train.py --for v5e-8                      # does the compiler alone crash on this step? then another libtpu, and report it""",
        rivals=(
            Rival(
                cause="libtpu and the framework are of releases that do not belong together",
                look_for="it fails at import or at the first operation; `PJRT_Api`, `not available in this library`",
                decide='pip list | grep -iE "tensorflow|libtpu|jax|torch"',
                cues=(r"not available in this library", r"PJRT_Api"),
                families=("libtpu-pair", "pjrt-pair", "jax-and-tensorflow"),
            ),
            Rival(
                cause="the compiler crashed on this program",
                look_for="hlo, fusion, layout, shape in the file's name; it fails while compiling",
                decide="tpudiag check train.py --for v5e-8",
                cues=(
                    r"fusion_",
                    r"hlo_instruction",
                    r"shape_util",
                    r"RunHloPasses",
                    r"xla::(?:jellyfish|HloPass|HloComputation|cpu|gpu)::",
                ),
                families=("compiler-bug",),
            ),
            Rival(
                cause="memory of the host or the TPU ran out",
                look_for="bad_alloc, oom, RESOURCE_EXHAUSTED before it",
                decide="sudo dmesg -T | grep -iE 'oom|killed' | tail",
                cues=(r"bad_alloc", r"RESOURCE_EXHAUSTED", r"oom-kill"),
                families=("host-memory", "memory-exhausted", "hbm-at-run-time"),
            ),
            Rival(
                cause="the TPU is held by another process, or was taken away",
                look_for="`already in use`, SIGTERM, preempted",
                decide="sudo lsof -w /dev/accel* /dev/vfio/*",
                cues=(r"already in use", r"(?:was|been|is being) preempted(?!/|,)"),
                families=("tpu-busy", "preempted"),
            ),
        ),
        yields_to=("E97", "E28", "E114", "E183", "E56"),
        citations=("EnzymeAD/Reactant.jl#2497", "pytorch/xla#3123", "pytorch/xla#7138"),
        example="F0224 20:36:56.981088 2922075 shape_util.cc:685] Check failed: TupleElementCount(shape) > index (2 vs. 2)",
    ),
    KnownError(
        id="E432",
        family="worker-lost",
        phase=Phase.EXECUTING,
        kind=Kind.CONSEQUENCE,
        patterns=(
            r"keepalive watchdog timeout",
            r"terminated by RST_STREAM",
            r"(?:UnknownError|UNKNOWN|Unknown).{0,120}?Stream removed",
            r"could not parse rpc response",
            r"trailing metadata size exceeds",
            r"Received RST_STREAM",
            r"Lost connection to (?:the )?(?:TPU|worker|remote)",
        ),
        cause="The call to the TPU worker broke off: the worker died or was restarted, is too busy to answer, or speaks another release. The reason is in the worker's log, or earlier in this one.",
        fix="""\
gcloud compute tpus tpu-vm describe NAME --zone=ZONE --format='value(state,health)'     # preempted, in maintenance?
grep -nE "Killed|oom|Check failed|RESOURCE_EXHAUSTED" LOG | head                         # the first is the reason
dataset = dataset.shuffle(1_000)                       # host memory: a smaller buffer, no cache() of what does not fit
checkpoint.restore(manager.latest_checkpoint)          # start again from the last checkpoint
# a TPU Node: the same TensorFlow on both sides; a TPU VM has no such connection""",
        yields_to=("E28", "E97"),
        citations=("tensorflow/tensorflow#39038",),
        example="UnavailableError: keepalive watchdog timeout",
    ),
    KnownError(
        id="E433",
        family="consequence",
        phase=Phase.ANY,
        patterns=(
            r"No registered '(?:Delete\w{3,24}|Destroy\w{3,24}|AnonymousIterator\w{0,4})' OpKernel",
            r"Exception ignored in: .{0,80}?(?:__del__|Deleter)",
            r"OwnedIterator.{0,40}?object has no attribute '_iterator_resource",
        ),
        cause="Python tidies up after a failure: an iterator or a resource is deleted whose TPU is gone. What failed stands before it.",
        fix="""\
grep -nE "Error|Check failed|Compilation failure" LOG | head -5      # the first line that is not about Delete... is the cause
tpudiag explain --log LOG""",
        citations=("tensorflow/tensorflow#32255",),
        example="NotFoundError: No registered 'DeleteIterator' OpKernel for TPU devices compatible with node {{node DeleteIterator}}",
    ),
    KnownError(
        id="E434",
        family="tpu-service",
        phase=Phase.CREATING,
        kind=Kind.BROAD,
        patterns=(
            r"Cloud TPU received (?:a bad request|an invalid argument)\.? ?(?P<why>.{3,140})",
            r"an internal error has occurred",
            r"runtime failed health check",
            r"gcloud\.(?:alpha\.|beta\.)?compute\.tpus\.[\w.-]{0,40}?(?:create|delete|start|stop|describe|update|list)\) (?P<why>.{3,140})",
            r"tpus\.queued-resources\.\w{4,12}\)",
            r"Error waiting (?:for|to) (?:create|creating) (?:TPU|Node|Vm)",
            r"tpu\.googleapis\.com/v\d\w{0,8}/projects.{0,120}?returned",
            r"gcloud\.container\.(?:node-pools|clusters)\.\w{3,10}\) (?P<why>.{3,140})",
            r"Internal error occurred for the current attempt",
        ),
        cause="The service that makes TPUs refused or could not carry out the request; its reason stands in the same line.",
        details=("It says: {why}",),
        fix="""\
gcloud compute tpus locations list                                           # zones; each type exists in few of them
gcloud compute tpus accelerator-types list --zone=ZONE; gcloud compute tpus tpu-vm versions list --zone=ZONE
gcloud compute tpus tpu-vm describe NAME --zone=ZONE --format='value(state,health,healthDescription)'
# `internal error`, `health check`: delete what is half made, and create it again; code 8: no capacity or quota; 7: rights; 3: a misspelt argument
gcloud compute tpus tpu-vm delete NAME --zone=ZONE --quiet""",
        evidence="recalled",
        example='ERROR: (gcloud.compute.tpus.tpu-vm.create) {"code": 13, "message": "an internal error has occurred"}',
        yields_to=(
            "E748",
            "E747",
            "E57",
            "E59",
            "E60",
            "E165",
            "E231",
            "E232",
            "E234",
            "E455",
            "E456",
            "E457",
            "E458",
        ),
    ),
    KnownError(
        id="E435",
        family="program-too-large",
        phase=Phase.COMPILING,
        patterns=(
            r"[Pp]rogram (?:is )?too large",
            r"instruction memory.{0,60}?(?:overflow|exceed|too)",
            r"(?:overflow|exceed\w{0,3}).{0,60}?instruction memory",
            r"TpuExecutableProto, is it too large",
            r"HLO (?:module|proto).{0,40}? too large",
        ),
        cause="The compiled step has too many instructions for the TPU: a Python loop that was unrolled, hundreds of layers written out, many steps in one function.",
        fix="""\
for i in tf.range(n): ...                        # a loop of the graph in place of `for i in range(n)`
model.compile(..., steps_per_execution=10)       # fewer steps in one program
# layers of one kind: one loop over stacked weights (tf.while_loop, tf.scan), unroll=False in RNNs""",
        evidence="recalled",
        example="INVALID_ARGUMENT: TpuCompiler: Program too large: instruction memory overflow",
    ),
    KnownError(
        id="E436",
        family="fit-on-tpu",
        phase=Phase.BUILDING,
        patterns=(
            r"`?steps_per_epoch`?(?:`? argument)? (?:must|should) be (?:specified|provided|set)",
            r"(?:specify|pass|provide|set) (?:the |a |an )?`?steps_per_epoch",
            r"(?:specify|pass|provide|set) (?:the |a |an )?`?validation_steps",
            r"`?steps_per_execution`?.{0,60}?(?:not (?:compatible|supported)|must|cannot|requires)",
            r"via experimental_distribute_dataset requires",
            r"[Uu]se experimental_distribute_dataset",
            r"must use a (?:repeated|batched|tf\.data) ?dataset",
            r"train_on_batch.{0,80}?(?:not supported|strategy)",
            r"(?:in|with|under) (?:a )?`?(?:tf\.distribute\.Strategy|TPUStrategy|distribution strategy)`?.{0,60}? (?:is|are) not (?:yet )?supported",
            r"not supported (?:when using|with|in|under|for models compiled with) (?:a )?`?(?:tf\.distribute|distribution strategy|TPU strateg)",
        ),
        cause="Keras' fit, evaluate or predict is used in a way that a distribution strategy does not take: a dataset without a known size and no number of steps, arrays or a generator where a batched tf.data.Dataset is wanted, or one batch at a time.",
        fix="""\
dataset = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(10_000).repeat().batch(global_batch, drop_remainder=True).prefetch(tf.data.AUTOTUNE)
model.compile(optimizer, loss, steps_per_execution=50)                       # run_eagerly off
model.fit(dataset, epochs=5, steps_per_epoch=len(x) // global_batch, validation_data=valid, validation_steps=VALID // global_batch)
# one batch at a time: strategy.run(step, args=(batch,)) inside a tf.function, not train_on_batch""",
        evidence="recalled",
        example="ValueError: When using TPUStrategy with a repeated dataset, the `steps_per_epoch` must be specified.",
        yields_to=("E32", "E39", "E162", "E138", "E17", "E689", "E876"),
    ),
)
