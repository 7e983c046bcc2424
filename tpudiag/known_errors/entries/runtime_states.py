# ruff: noqa: E501  (texts of other programs stay as they are)
"""States in which an earlier program left a TPU, and programs that take long on it."""

from __future__ import annotations

from tpudiag.known_errors.model import Kind, KnownError, Phase, Rival

ERRORS = (
    KnownError(
        id="E899",
        family="left-by-earlier-program",
        phase=Phase.INITIALISING,
        patterns=(
            r"Global core array does not contain host cores",
            r"(?:TPU|tpu) system .{0,40}?already (?:configured|initialized) with a different (?:topology|configuration)",
        ),
        cause="The TPU's runtime still has the configuration of an earlier program, which ended in its midst (Ctrl-C, a kill, a cell that was stopped): the cores that it knows are not those that this program asks for.",
        fix="""\
gcloud compute tpus stop NAME --zone=ZONE && gcloud compute tpus start NAME --zone=ZONE      # a TPU Node: its runtime anew
sudo lsof -w /dev/accel* /dev/vfio/*; kill PID_OF_THE_OLD_RUN                                  # a TPU VM: what is left of it holds the chips
# Colab, Kaggle: end the session (Manage sessions, Terminate); restarting the kernel leaves the TPU as it is
# end a run by itself, or once with Ctrl-C, and wait for all of its processes: pgrep -af train.py""",
        useless="running the script again",
        citations=("pytorch/xla#1731",),
        example="(Internal: From /job:tpu_worker/replica:0/task:0: Global core array does not contain host cores [0x0x0_TC0,0x0x0_TC1] [[{{node configure_distributed_tpu/_0}}]] vs. OK)",
    ),
    KnownError(
        id="E900",
        family="slow-execute",
        phase=Phase.EXECUTING,
        level="warning",
        kind=Kind.BROAD,
        patterns=(
            r"TPU Execute is taking a long time",
            r"deadlock between multiple TPU cores",
        ),
        cause="A warning: a program has run on the TPU for long. It is slow (long first steps, a large loop in one call), or the cores wait for each other: one of them runs another program, or a host did not call it.",
        fix="""\
# wait some minutes first: the message does not stop anything; what fails after it stands below it
jax.block_until_ready(outputs); print(jax.process_index())            # each host the same calls in the same order
# pmap: one call with a leading axis of jax.local_device_count(), not one thread a core""",
        rivals=(
            Rival(
                cause="the program is slow, or is waited for on its first run",
                look_for="it goes on after a while",
                decide="the same with a tenth of the batch or of the loop",
                families=("slow-compile",),
            ),
            Rival(
                cause="cores or hosts wait for each other in a collective",
                look_for="it never goes on; `if process_index == 0` around a call of the device",
                decide="py-spy dump --pid PID   # on each host",
                families=("hosts-missing", "replica-results-differ"),
            ),
            Rival(
                cause="memory: the program behind it does not fit, and fails next",
                look_for="RESOURCE_EXHAUSTED, `hbm` below",
                decide="jax.jit(step).lower(*args).compile().memory_analysis()",
                cues=(r"memory space hbm", r"RESOURCE_EXHAUSTED"),
                families=("hbm-at-compile-time", "hbm-at-run-time"),
            ),
        ),
        citations=("huggingface/diffusers#856",),
        example="W external/org_tensorflow/tensorflow/compiler/xla/python/tpu_driver/client/tpu_client.cc:617] TPU Execute is taking a long time. This might be due to a deadlock between multiple TPU cores or a very slow program.",
    ),
    KnownError(
        id="E905",
        family="start-not-ended",
        phase=Phase.INITIALISING,
        level="info",
        kind=Kind.FORM,
        patterns=(
            r"Init TPU system(?!.{0,400}?\w)",
            r"Initializing the TPU system: ?(?:local|grpc://[\d.]{7,15}:\d{2,5})?(?:.{0,60}?Clearing out eager caches)?(?!.{0,400}?\w)",
            r"Configuring worker heartbeat: shutdown_mode: ?(?:WAIT_FOR_COORDINATOR|NOT_CONFIGURED|SHUTDOWN_\w{1,20})(?!.{0,400}?\w)",
            r"Querying Tensorflow master .{0,80}? for TPU system metadata(?!.{0,400}?\w)",
        ),
        cause="No error stands here: the log ends while the TPU is asked to start, which takes seconds to a minute. Where it stays there, the TPU does not answer: not ready or not reached, held by another program, left in disorder by an earlier one, or some hosts of a slice did not start the program.",
        fix="""\
gcloud compute tpus describe NAME --zone=ZONE --format="value(state,health,ipAddress)"      # a TPU Node: READY, HEALTHY; then: nc -vz IP 8470
sudo lsof -w /dev/accel* /dev/vfio/*; kill PID_OF_THE_OLD_RUN                                 # a TPU VM: who holds the chips?
gcloud compute tpus tpu-vm ssh NAME --zone=ZONE --worker=all --command="python train.py"     # a slice: every host, at the same time
py-spy dump --pid PID                                                                         # where it stands; Colab: end the session, a new one""",
        rivals=(
            Rival(
                cause="the TPU is not reached, or is not ready",
                look_for="an address (grpc://) in the line; a TPU that was just created or preempted",
                decide="nc -vz IP 8470",
                cues=(r"grpc://",),
                families=("tpu-unreachable", "tpu-not-ready", "connection-broken"),
            ),
            Rival(
                cause="another program holds the TPU, or left it in disorder",
                look_for="an earlier run that was interrupted; a second notebook",
                decide="sudo lsof -w /dev/accel* /dev/vfio/*",
                families=("tpu-busy", "left-by-earlier-program"),
            ),
            Rival(
                cause="hosts of a slice are waited for",
                look_for="a slice of several hosts, the program started on one",
                decide="gcloud compute tpus tpu-vm ssh NAME --worker=all --command='pgrep -af python'",
                families=("hosts-missing",),
            ),
            Rival(
                cause="nothing is wrong: it was read too early",
                look_for="less than two minutes",
                decide="tail -f train.log",
            ),
        ),
        citations=("tensorflow/tensorflow#29156",),
        example="INFO:tensorflow:Creating heartbeat manager for ['/job:worker/replica:0/task:0/device:CPU:0']\nINFO:tensorflow:Configuring worker heartbeat: shutdown_mode: WAIT_FOR_COORDINATOR\n",
        near_miss="INFO:tensorflow:Init TPU system\nINFO:tensorflow:Initialized TPU in 4 seconds",
    ),
)
