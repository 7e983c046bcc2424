# ruff: noqa: E501  (texts of other programs stay as they are)
"""Python's own errors in training scripts, and structures, kernels, flags that do not fit."""

from __future__ import annotations

from tpudiag.known_errors.model import Kind, KnownError, Phase, Rival

ERRORS = (
    KnownError(
        id="E280",
        family="package-missing",
        phase=Phase.INSTALLING,
        kind=Kind.BROAD,
        patterns=(
            r"ModuleNotFoundError: No module named '(?P<module>(?P<name>\w{1,60})(?:\.[\w.]{1,80})?)'",
            r"ImportError: No module named '(?P<module>(?P<name>\w{1,60})(?:\.[\w.]{1,80})?)'",
            r"Missing runtime dependency on the Google API client",
        ),
        cause="The module is not installed in the Python that runs the script, or is no longer part of the release that is installed; a file or folder of the same name in the working directory hides it too.",
        details=("The module is {module}.",),
        fix="""\
python -m pip show <<name>>; python -c "import sys; print(sys.executable)"     # which Python runs, what it has
python -m pip install <<name>>                                                  # names differ: official is tf-models-official, cv2 is opencv-python, sklearn is scikit-learn
export PYTHONPATH=$PYTHONPATH:/path/to/models:/path/to/models/research       # a module of the repository itself (object_detection, official)""",
        rivals=(
            Rival(
                cause="the package is not in the Python that runs: it was installed into another one (a virtual environment, sudo's, the notebook's kernel, another worker of the slice)",
                look_for="the paths in the traceback; pip's own path (pip --version)",
                decide='python -c "import sys; print(sys.executable)"; python -m pip show <<name>>',
                fix="python -m pip install <<name>>      # with the Python that runs; %pip install in a notebook, then restart the kernel; every worker: gcloud ... ssh --worker=all",
            ),
            Rival(
                cause="the package is there, in a release that has not this part (moved, removed, or not there yet)",
                look_for="a dot in the name: the package itself is imported elsewhere in the same program",
                decide='python -c "import <<name>>; print(<<name>>.__version__, <<name>>.__file__)"',
                fix='pip install "<<name>>==RELEASE_OF_THE_CODE\'S_TIME"      # its requirements.txt, the date of the notebook; or the new place of the name',
            ),
            Rival(
                cause="it is a module of the script's own repository, which is not on Python's path",
                look_for="a folder or file of that name in the clone; a script started from another folder",
                decide="find . -name '<<name>>*' -not -path '*/site-packages/*' | head",
                fix="cd /path/to/the/clone && export PYTHONPATH=$PYTHONPATH:$PWD      # or pip install -e . ; git submodule update --init, where its folder is empty",
            ),
            Rival(
                cause="a file or folder of one's own with the package's name hides it, or the package is damaged",
                look_for="`is not a package` at the end; a path in the traceback that is not site-packages",
                decide='python -c "import <<name>>; print(<<name>>.__path__)"',
                fix="mv <<name>>.py my_<<name>>.py; rm -rf __pycache__; pip install --force-reinstall --no-deps <<name>>",
                cues=(r"No module named '[\w.]{1,80}'; '[\w.]{1,60}' is not a package",),
            ),
        ),
        evidence="recalled",
        example="ModuleNotFoundError: No module named 'object_detection'",
        yields_to=(
            "E624",
            "E615",
            "E617",
            "P29",
            "P33",
            "P34",
            "E208",
            "E250",
            "P36",
            "P05",
            "E910",
            "P190",
        ),
    ),
    KnownError(
        id="E281",
        family="other-release",
        phase=Phase.BUILDING,
        kind=Kind.BROAD,
        patterns=(
            r"ImportError: cannot import name '(?P<name>\w{1,60})' from '(?P<module>[\w.]{1,80})'",
            r"AttributeError: module '(?P<module>[\w.]{1,80})' has no attribute '(?P<name>\w{1,60})'",
            r"TypeError: .{0,80}?got an unexpected keyword argument '(?P<name>\w{1,60})'",
            r"AttributeError: \(.module '(?P<module>[\w.]{1,80})' has no attribute '(?P<name>\w{1,60})'",
            r"'module' object has no attribute '(?P<name>\w{1,60})'",
            r"checkpoint saved in future version of TensorFlow",
        ),
        cause="The code was written for another release of that package: the name or argument is gone, renamed or new, or two packages are of releases that do not belong together.",
        details=("It is {name}.",),
        fix="""\
pip list | grep -iE "tensorflow|keras|jax|transformers|numpy|protobuf"       # which releases are here
pip install "PACKAGE==RELEASE_THE_CODE_WAS_WRITTEN_FOR"                       # its requirements.txt, the date of the notebook
python -c "import PACKAGE; print(PACKAGE.__file__)"                           # a file of your own with that name hides the package""",
        rivals=(
            Rival(
                cause="the code is older or newer than the package: the name or argument is gone, renamed, or not there yet",
                look_for="the date of the script or notebook, its requirements.txt; the file of the traceback that asks is your own or another package's",
                decide="pip list | grep -iE 'tensorflow|keras|jax|transformers|numpy|protobuf'",
            ),
            Rival(
                cause="two packages are of releases that do not belong together: the one whose file asks was made for another release of the other",
                look_for="the last frame before the error lies in site-packages, in another package than the one that lacks the name",
                decide="pip check",
                fix="pip install -U PACKAGE_OF_THE_LAST_FRAME      # or the other one in the release of its time; then restart the kernel",
            ),
            Rival(
                cause="the package is damaged, or two releases of it lie over each other; in a notebook the old half is still loaded",
                look_for="the last frame lies in the very package that lacks the name (its own command or file); it was upgraded in this session",
                decide='python -c "import PACKAGE; print(PACKAGE.__version__, PACKAGE.__file__)"      # in a fresh process',
                fix="pip uninstall -y PACKAGE; pip install --no-cache-dir PACKAGE      # then restart the kernel",
            ),
            Rival(
                cause="a file or folder of one's own with the package's name hides it",
                look_for="a path that is not in site-packages behind the name, or (unknown location)",
                decide='python -c "import PACKAGE; print(PACKAGE.__path__)"',
                cues=(r"cannot import name '\w{1,60}' from '[\w.]{1,80}' \(unknown location\)",),
            ),
        ),
        evidence="recalled",
        example="ImportError: cannot import name 'linear_util' from 'jax'",
        yields_to=(
            "E914",
            "E631",
            "E624",
            "E615",
            "E617",
            "E610",
            "E611",
            "P30",
            "E607",
            "P120",
            "P03",
            "P29",
            "P36",
            "P25",
            "P31",
            "P20",
            "E71",
            "E73",
            "E204",
            "E72",
        ),
    ),
    KnownError(
        id="E282",
        family="none-object",
        phase=Phase.ANY,
        kind=Kind.BROAD,
        patterns=(
            r"'?NoneType'? object has no attribute '?(?P<name>\w{1,60})",
            r"'NoneType' object is not (?P<name>subscriptable|iterable|callable)",
            r"operand type\(s\) for .{1,12}?: .{0,12}?'NoneType'",
            r"best_weights\).{0,40}?NoneType",
            r"cannot unpack non-iterable NoneType",
            r"os\.PathLike object, not NoneType",
            r"argument must be .{0,80}?not 'NoneType'",
        ),
        cause="None stands where an object was expected: a function that returns nothing, an image or file that was not found (cv2.imread, a dict's get), a TPU that was not detected, an unknown dimension used as a number.",
        details=("It was asked for {name}.",),
        fix="""\
# the last line of your own in the traceback names the variable: where does it come from?
assert value is not None                                     # right after it is made
batch = tf.shape(x)[0]                                       # not x.shape[0], which is None for an unknown dimension""",
        evidence="recalled",
        example="AttributeError: 'NoneType' object has no attribute 'shape'",
        yields_to=("E142", "P08", "E90", "E91", "E191", "P06", "E200"),
    ),
    KnownError(
        id="E283",
        family="input-structure",
        phase=Phase.TRACING,
        patterns=(
            r"structures don't have the same (?:nested structure|sequence type|number of elements)",
            r"Structure is a scalar but len\(flat_sequence\)",
            r"None is only supported in the 1st dimension",
            r"Layer .{0,60}? expects? (?:a )?(?:list|tuple|dict)",
            r"could not find (?:input|feature) .{0,60}? in the (?:dict|dataset)",
            r"Could not find matching (?:concrete )?function to call loaded from the SavedModel",
            r"Number of elements must match",
            r"don't have the same sequence length",
        ),
        places=(
            r"saving/saved_model/utils\.py |function_deserialization\.py restored_function_body",
        ),
        cause="Two nested structures (tuple, list, dict of tensors) that should be built alike are not: what the dataset yields and the model takes, the two branches of a condition, the state of a loop before and after, or the arguments of a saved function.",
        fix="""\
print(dataset.element_spec, model.inputs)                     # tuple or list, names, number of tensors, types
dataset = dataset.map(lambda d: ({"ids": d["ids"], "mask": d["mask"]}, d["label"]))     # (inputs, labels)
print(loaded.signatures["serving_default"].structured_input_signature)                   # what a SavedModel takes""",
        evidence="recalled",
        example="TypeError: The two structures don't have the same sequence type. Input structure has type tuple, while shallow structure has type list.",
        yields_to=("E181",),
    ),
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
pip install tensorflow-tpu                                    # an operation of TPUs in a CPU build""",
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
