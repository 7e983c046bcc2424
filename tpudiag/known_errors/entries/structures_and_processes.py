# ruff: noqa: E501  (texts of other programs stay as they are)
"""Structures, flags and files that do not fit; processes that end or may not start more."""

from __future__ import annotations

from tpudiag.known_errors.model import Kind, KnownError, Phase, Rival

ERRORS = (
    KnownError(
        id="E284",
        family="no-kernel",
        phase=Phase.EXECUTING,
        kind=Kind.BROAD,
        patterns=(
            r"Could not find valid device for node\. ?Node: ?\{\{node (?P<op>[\w/.-]{1,80})",
            r"Could not find valid device for node",
            r"No registered '(?P<op>\w{1,60})' OpKernel for '?(?:CPU|GPU)'? devices",
            r"No OpKernel was registered to support Op '(?P<op>\w{1,60})'",
            r"No registered '(?P<op>\w{1,60})' OpKernel for XLA_\w{3,8} devices",
        ),
        cause="There is no kernel of that operation for this device and these types: mostly a tensor of a type the operation does not take (string, int32 where float is wanted, bfloat16 on a CPU), or an operation of another device's build.",
        details=("The operation is {op}.",),
        fix="""\
x = tf.cast(x, tf.float32)                                   # the types that have kernels stand in the message: T in [...]
keras.mixed_precision.set_global_policy("float32")           # bfloat16 or float16 on a CPU
<<tpu_install>>; an operation of TPUs in a CPU build""",
        evidence="recalled",
        example="NotFoundError: Could not find valid device for node. Node:{{node Sum}}",
        yields_to=("E618", "E02", "E27", "E132", "E17", "E92", "E93", "E94", "E95", "E96", "E41"),
    ),
    KnownError(
        id="E285",
        family="step-returns",
        phase=Phase.TRACING,
        patterns=(
            r"must either be Operations or convertible to Tensors",
            r"must return zero or more Tensor values followed by zero or more Operations",
            r"return values? (?:of|from) .{0,60}?(?:strategy\.run|TPU computation).{0,80}?(?:Tensor|tensor)",
            r"Unexpected result of `?(?:train|predict|test)_function`? \(Empty",
        ),
        cause="The step gives something back that is no tensor (a string, an object, a dataset), or nothing was run at all: an empty dataset, or a train_step without a return.",
        fix="""\
def train_step(self, data):
    ...
    return {"loss": loss}                                    # tensors, by name
# `Empty Logs`: the dataset gives no batch: drop_remainder=True with fewer examples than one batch, steps_per_epoch=0""",
        evidence="recalled",
        example="ValueError: Unexpected result of `train_function` (Empty Logs).",
    ),
    KnownError(
        id="E286",
        family="unknown-flag",
        phase=Phase.INITIALISING,
        patterns=(
            r"Unknown flags? in XLA_FLAGS: ?(?P<flag>[\w=-]{3,90})",
            r"Unknown (?:command line )?flag '?(?P<flag>(?:xla|megascale|tpu(?!_(?:name|zone|job|address|worker|gcp)))_\w{3,80})",
        ),
        cause="XLA_FLAGS or LIBTPU_INIT_ARGS holds a flag that this release does not know, and the process ends at once; flags of the TPU (xla_tpu_...) belong into LIBTPU_INIT_ARGS.",
        details=("The flag is {flag}.",),
        fix="""\
unset XLA_FLAGS LIBTPU_INIT_ARGS
export LIBTPU_INIT_ARGS="--xla_tpu_..."                       # flags of the TPU here, not in XLA_FLAGS""",
        evidence="recalled",
        example="F parse_flags_from_env.cc:226] Unknown flags in XLA_FLAGS: --xla_tpu_enable_data_parallel_all_reduce_opt=true",
    ),
    KnownError(
        id="P200",
        family="own-command-line",
        yields_to=("E286",),
        phase=Phase.INITIALISING,
        patterns=(
            r"Unknown command line flag '(?P<flag>(?!xla_|megascale_)[\w-]{1,60})'",
            r"FATAL Flags parsing error",
            r"absl\.flags\._exceptions\.(?:UnrecognizedFlag|IllegalFlagValue|CantOpenFlagFile)Error",
            r"Flag --?(?P<needed>\w{1,40}) must (?:be specified|have a value)",
            r"error: argument -{1,2}(?P<wrong>[\w-]{1,40})[/\w-]{0,60}: ",
            r"\.py: error: (?:unrecognized arguments|the following arguments are required): (?P<argument>[\w=./-]{1,60})",
        ),
        cause="The script's own command line (absl or argparse) does not take what it was given: an argument that this release of the script does not define, one that it needs and was not given, or a value that it refuses.",
        details=(
            "The flag is {flag}.",
            "It needs {needed}.",
            "The argument is {wrong}.",
            "The arguments are {argument}.",
        ),
        fix="""\
python train.py --helpfull | less                            # absl: every flag with its default; --help with argparse
tpudiag check train.py --for v5e-8 -- --batch_size=1024      # what follows -- goes to the script""",
        evidence="recalled",
        example="FATAL Flags parsing error: Unknown command line flag 'data'. Did you mean: data_dir ?",
    ),
    KnownError(
        id="E287",
        family="too-many-threads",
        phase=Phase.EXECUTING,
        patterns=(
            r"creation via pthread_create\(\) failed",
            r"can't start new thread",
            r"Resource temporarily unavailable.{0,60}?(?:fork|thread|pthread)",
            r"OpenBLAS blas_thread_init: pthread_create failed",
            r"BlockingIOError: \[Errno 11\](?! Unable to)",
        ),
        cause="The user or the container may not start more threads or processes: too many parallel calls, interleaves and workers, or a low limit.",
        fix="""\
ulimit -u; cat /sys/fs/cgroup/pids.max                        # the limits
dataset = dataset.interleave(read, cycle_length=16, num_parallel_calls=16)        # fewer, or tf.data.AUTOTUNE
options = tf.data.Options(); options.threading.private_threadpool_size = 64; dataset = dataset.with_options(options)""",
        evidence="recalled",
        example="Check failed: ret == 0 (11 vs. 0)Thread tf_data creation via pthread_create() failed.",
    ),
    KnownError(
        id="E288",
        family="not-serialisable",
        phase=Phase.SAVING,
        patterns=(
            r"Object of type (?P<type>\w{1,40}) is not JSON serializable",
            r"'Not JSON Serializable:'",
            r"not JSON Serializable",
            r"Unable to serialize .{1,60}? to JSON",
        ),
        cause="A configuration or log holds a value that JSON does not know (a tensor, a NumPy number, a function): in get_config, a callback's logs, a tuner's trial.",
        details=("The type is {type}.",),
        fix="""\
return {**super().get_config(), "rate": float(self.rate)}      # plain numbers, strings, lists
json.dumps(logs, default=float)""",
        evidence="recalled",
        example="TypeError: Object of type float32 is not JSON serializable",
    ),
    KnownError(
        id="E289",
        family="session-crashed",
        phase=Phase.ANY,
        kind=Kind.CONSEQUENCE,
        patterns=(
            r"session crashed for an unknown reason",
            r"[Yy]our session (?:is|has|was) crashed",
            r"[Ss]ession crash(?:ed|es).{0,40}?[Rr]estart",
            r"[Kk]ernel (?:appears to have )?died",
            r"[Kk]ernel .{0,40}?restarting",
            r"Notebook Exceeded \d{1,3} ?h(?:our|rs?)",
        ),
        cause="The notebook's process ended without a word: mostly out of host memory, or a crash in native code (libtpu, two frameworks in one process). The reason is in the runtime's log.",
        fix="""\
# Colab: Runtime, View runtime logs; Jupyter: the terminal in which it runs; then
tpudiag explain --log LOG
python notebook_as_script.py 2>&1 | tail -50                  # shows the native error that the notebook hides""",
        rivals=(
            Rival(
                cause="the host's memory ran out",
                look_for="memory that grows until it ends; `crashed after using all available RAM`",
                decide="free -g, while it runs",
                cues=(r"using all available", r"oom-kill"),
                families=("host-memory",),
            ),
            Rival(
                cause="a crash in native code: libtpu taken twice, versions that do not fit",
                look_for="it dies at the import or the first operation, each time",
                decide='python -c "import tensorflow as tf; print(tf.config.list_logical_devices())"',
                cues=(r"SIGABRT", r"SIGSEGV"),
                families=("crash-at-import", "libtpu-pair", "crash-in-native-code"),
            ),
        ),
        evidence="recalled",
        example="Your session crashed for an unknown reason.",
    ),
)
