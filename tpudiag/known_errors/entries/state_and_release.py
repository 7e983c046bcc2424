# ruff: noqa: E501  (texts of other programs stay as they are)
"""Compilers older than the front end, extensions of another release, a host in maintenance."""

from __future__ import annotations

from tpudiag.known_errors.model import Kind, KnownError, Phase

ERRORS = (
    KnownError(
        id="E755",
        family="compiler-older-than-jax",
        phase=Phase.COMPILING,
        patterns=(
            r"not contain X64 element types.{0,400}?(?P<op>rng_bit_generator|threefry\w{0,12}|random_bits|shift_right_logical|bitcast_convert_type)",
            r"(?P<op>rng_bit_generator|threefry\w{0,12}).{0,400}?not contain X64 element types",
        ),
        cause="The random numbers of this jax are lowered in a form that the TPU's compiler does not have yet: libtpu is older than jax (or was left from another installation); the program itself uses no 64-bit numbers.",
        details=("The operation is {op}.",),
        fix="""\
pip install -U "jax[tpu]"                                  # jax, jaxlib and libtpu of one time
pip list | grep -iE "jax|libtpu"                            # libtpu-nightly beside libtpu: uninstall it
jax.config.update("jax_default_prng_impl", "threefry2x32")   # or JAX_THREEFRY_PARTITIONABLE=0: another form of the generator, until then""",
        citations=("google-research/t5x#79",),
        example='UNIMPLEMENTED: While rewriting computation to not contain X64 element types, XLA encountered an HLO for which this rewriting is not implemented: %bitcast-convert.4 = u64[2]{0} bitcast-convert(u32[2,2]{1,0} %reshape.3), metadata={op_type="rng_bit_generator"}',
    ),
    KnownError(
        id="E756",
        family="addons",
        phase=Phase.INSTALLING,
        level="warning",
        patterns=(
            r"above or equal to (?P<least>[\d.]{3,8}) and strictly below (?P<below>[\d.]{3,8}).{0,120}?currently using is (?P<version>[\d.]{3,12})\S{0,12} and is not supported",
            r"TensorFlow Addons (?:has compiled its custom ops against|was compiled (?:against|for)) TensorFlow (?P<least>[\d.]{3,12})",
        ),
        cause="tensorflow-addons is of another release than this TensorFlow: what is written in Python works mostly, its compiled operations fail to load (undefined symbol) or are not found.",
        details=("It is for {least} up to below {below}, and this TensorFlow is {version}.",),
        fix="""\
# releases that belong together: addons 0.12 with TensorFlow 2.4, 0.13: 2.5, 0.14: 2.6, 0.15: 2.7, 0.16: 2.8, 0.17: 2.9, 0.18: 2.10, 0.19: 2.11, 0.20: 2.12, 0.21: 2.13, 0.22: 2.14, 0.23: 2.15
pip install "tensorflow-addons==THE_ONE_OF_YOUR_TENSORFLOW"
# TensorFlow 2.16 and later: none; keras.optimizers.AdamW, keras.metrics.F1Score, keras.layers.GroupNormalization are Keras' own""",
        citations=("Planet-AI-GmbH/tfaip#9",),
        example="Tensorflow Addons supports using Python ops for all Tensorflow versions above or equal to 2.6.0 and strictly below 2.9.0 (nightly versions are not supported). \n The versions of TensorFlow you are currently using is 2.4.1 and is not supported.",
    ),
    KnownError(
        id="E757",
        family="host-maintenance",
        phase=Phase.EXECUTING,
        patterns=(
            r"UNHEALTHY_MAINTENANCE",
            r"health:? ?'?\"?UNHEALTHY_MAINTENANCE",
        ),
        cause="The TPU's host is in maintenance: the service takes it away for some minutes, and what ran on it ends or hangs. The program did nothing wrong.",
        fix="""\
gcloud compute tpus describe NAME --zone=ZONE --format='value(state,health)'       # again in 10 minutes: READY, HEALTHY
checkpoint.restore(manager.latest_checkpoint)                                        # then start again; keras.callbacks.BackupAndRestore("gs://BUCKET/backup")
# it stays so: delete the TPU and create it again, in another zone""",
        citations=("google-research/google-research#146",),
        example="WARNING:tensorflow:TPUPollingThread found TPU b'my-tpu' in state READY, and health UNHEALTHY_MAINTENANCE.",
        yields_to=("E113",),
    ),
    KnownError(
        id="E113",
        family="preempted",
        phase=Phase.EXECUTING,
        kind=Kind.BROAD,
        patterns=(
            r"(?:node|TPU|instance|VM|worker|host|job|task).{0,60}?(?:was|been) preempted(?!/|,)",
            r"(?:UNAVAILABLE|Unavailable|Aborted|ABORTED)\w{0,5}: .{0,40}?preempted",
            r"state:? ?.{0,3}PREEMPTED",
            r"(?:due to|through) (?:a )?(?:host )?maintenance event",
            r"terminated due to host maintenance",
            r"(?<!no )Preemption notice",
            r"TERMINATE_ON_HOST_MAINTENANCE",
            r"instance was (?:preempted|terminated)",
            r"Received (?:signal )?SIGTERM",
            r"SIGTERM (?:caught|received)",
            r"compute\.instances\.preempted",
            r"ShutdownHook: lame workers found",
            r"preempted_hook\.py.{0,160}?in state (?:PREEMPTED|TERMINATED|STOPPED|DELETING)",
            r"TPUPollingThread found TPU .{1,80}?in state (?:PREEMPTED|TERMINATED|STOPPED|DELETING)",
            r"TPU had a maintenance event",
        ),
        cause="The TPU was taken back: a spot or preemptible TPU was preempted, or its host went into maintenance.",
        fix="""\
checkpoint.restore(manager.latest_checkpoint)      # save often: keras.callbacks.BackupAndRestore("gs://BUCKET/backup")
# a preempted TPU must be deleted and created again; a queued resource does it:
gcloud compute tpus queued-resources create REQUEST --node-id=NAME --zone=ZONE --spot ...""",
        evidence="recalled",
        example="The TPU node my-tpu was preempted.",
        near_miss="jobs of higher priority may preempt this one",
    ),
)
