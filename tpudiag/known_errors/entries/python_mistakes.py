# ruff: noqa: E501  (texts of other programs stay as they are)
"""Errors of Python itself: what they mean in a training script; all others stand before them."""

from __future__ import annotations

from tpudiag.known_errors.model import Kind, KnownError, Phase, Rival

ERRORS = (
    KnownError(
        id="E495",
        family="wrong-object",
        phase=Phase.ANY,
        kind=Kind.BROAD,
        patterns=(
            r"'(?P<type>(?!None)[\w.]{1,60})' object has no attribute '(?P<name>(?!_from_compatible)\w{1,80})'?",
            r"type object '(?P<type>\w{1,60})' has no attribute '(?P<name>\w{1,80})'",
            r"AttributeError: can't (?:set|delete) attribute",
            r"property '(?P<name>\w{1,60})' of '(?P<type>\w{1,60})' object has no setter",
            r"'(?P<type>(?!None|dict_)\w{1,60})' object is not (?:callable|iterable|subscriptable|an iterator)",
            r"object of type '(?P<type>\w{1,60})' has no len\(\)",
            r"isinstance\(\) arg 2 must be a type",
        ),
        cause="The object is not what the code expects: of another release of its library, of another library of the same name, or simply another type.",
        details=("It is a {type}.", "It has no {name}."),
        fix="""\
print(type(obj), type(obj).__module__)                              # on the line that the traceback names: whose class is it?
pip list | grep -iE "^(tensorflow|keras|tf.keras|tensorflow-\\w+|transformers|numpy|tensorboard) "     # releases that belong together?
grep -nE "^(from|import) .*(keras|tensorflow)" *.py                  # keras and tensorflow.keras mixed? use one of them everywhere
pip install "tensorflow==2.15.*"                                      # a script of the time of Keras 2 that shall stay as it is""",
        rivals=(
            Rival(
                cause="a script for Keras 2 on Keras 3 (or the reverse): inner attributes, optimizer.lr, metrics and callbacks changed",
                look_for="an attribute that begins with _, lr, decay, get_slot, compiled_loss, history, output_shape",
                decide='python -c "import keras; print(keras.__version__)"',
                cues=(
                    r"keras.{0,1500}?no attribute '_\w{1,40}",
                    r"no attribute '(?:lr|decay|get_slot|get_updates|compiled_\w{1,20}|output_shape|input_shape|iterations|metrics_names)'",
                    r"K\.variable\(lr",
                ),
                families=("optimizer-arguments", "mismatched-keras", "keras-model-attributes"),
            ),
            Rival(
                cause="objects of keras and of tensorflow.keras (or tf_keras) are mixed",
                look_for="both kinds of imports in the script; two file paths of Keras in the traceback",
                decide='grep -nE "import.*keras" train.py',
                cues=(
                    r"packages/keras/.{0,2000}?tensorflow\w{0,6}/python/keras",
                    r"tensorflow\w{0,6}/python/keras.{0,2000}?packages/keras/",
                    r"packages/tf_keras/.{0,2000}?packages/keras/",
                    r"packages/keras/.{0,2000}?packages/tf_keras/",
                ),
                families=("two-keras", "mismatched-keras"),
            ),
            Rival(
                cause="the value is of another type: a list, a string or an array where a tensor or a model is wanted, a tuple of which one part is meant",
                look_for="list, str, tuple, dict, int, ndarray as the type",
                decide="print(type(obj)) on that line",
                cues=(
                    r"'(?:list|str|tuple|dict|int|float|ndarray|set|generator|bytes|function)' object",
                ),
                families=("wrong-type", "not-a-tensor"),
            ),
        ),
        citations=("OverLordGoldDragon/keras-adamw#36",),
        evidence="recalled",
        example="AttributeError: 'Runner' object has no attribute 'something_of_another_release'",
        near_miss="INFO: object has no attribute list yet",
        yields_to=(
            "E914",
            "E769",
            "E795",
            "E404",
            "E621",
            "E212",
            "E615",
            "E617",
            "E557",
            "E610",
            "E611",
            "E607",
            "P120",
            "P07",
            "E281",
            "E282",
            "E280",
            "P29",
            "E491",
            "E200",
            "E509",
            "E510",
            "E114",
            "P73",
            "P74",
            "P75",
        ),
    ),
    KnownError(
        id="E496",
        family="missing-key",
        phase=Phase.READING,
        kind=Kind.BROAD,
        patterns=(
            r"KeyError: ?u?[\"']The key `?(?P<name>[\w./-]{1,60})`? does not exist",
            r"KeyError: ?u?[\"'](?P<name>[^\"']{1,80})[\"']",
            r"KeyError: (?P<name>\d{1,9})(?!\d)",
            r"KeyError\(",
        ),
        cause="A dict, a table, a configuration or the environment has no such key: a feature or column of another name than the dataset yields, a setting that the file of settings (JSON, YAML, gin) lacks, an environment variable that is not set, a metric that is named otherwise.",
        details=("The key is {name}.",),
        fix="""\
print(dataset.element_spec)                                # the names that an element has; print(frame.columns, config.keys())
os.environ.get("NAME")                                      # of the environment: export NAME=... before the program starts
print(history.history.keys())                               # the metrics that there are""",
        rivals=(
            Rival(
                cause="the settings (a JSON, YAML or gin file, a dict of parameters) lack the key, have it on another level, or are of another release of the program",
                look_for="config, params, hparams, metadata, settings, args or cfg in the line that fails",
                decide="grep -rn '<<name>>' --include=*.json --include=*.y*ml --include=*.gin --include=*.py . | head      # who sets it, who reads it",
                fix="# add <<name>> to the file that is given, where the program's own example has it; or take the example of the release that is installed",
                cues=(
                    r"(?:config|params|hparams|hps|metadata|settings|args|cfg|conf|opt|options|flags)(?:\.\w{1,30})?\[[^\]]{1,60}\].{0,300}?KeyError",
                    r"KeyError: ?u?[\"']The key `?[\w./-]{1,60}`? does not exist",
                ),
                families=("missing-key", "configuration"),
            ),
            Rival(
                cause="an environment variable is not set in the process that runs",
                look_for="os.environ in the line that fails, or os.py, __getitem__ as the last frame",
                decide="env | grep '<<name>>'",
                fix="export <<name>>=VALUE      # in the shell or service that starts the program (sudo and ssh drop it); os.environ.get('<<name>>', DEFAULT)",
                cues=(
                    r"environ\[.{0,300}?KeyError",
                    r"os\.py.{0,40}?in __getitem__.{0,300}?KeyError",
                ),
                families=("missing-key", "environment-variable"),
            ),
            Rival(
                cause="an element of the dataset, an example's features or the model's inputs have other names",
                look_for="features, example, batch, inputs, element or data in the line that fails; a map function or model_fn among the frames",
                decide="print(dataset.element_spec)",
                fix='dataset = dataset.map(lambda e: {**e, "<<name>>": e["THE_NAME_IT_HAS"]})      # or another name where it is read; Input(name="<<name>>")',
                cues=(
                    r"(?:features?|examples?|batch|inputs?|element|record|sample|labels|(?<!meta)data)\[[^\]]{1,60}\].{0,300}?KeyError",
                ),
                families=("missing-key", "parse-spec"),
            ),
            Rival(
                cause="a table has no such column (or index)",
                look_for="pandas in the traceback (get_loc, hashtable)",
                decide="print(list(frame.columns))",
                fix='frame = frame.rename(columns=str.strip)      # blanks and a BOM in the header: pd.read_csv(path, encoding="utf-8-sig")',
                cues=(r"pandas.{0,2000}?KeyError",),
                families=("missing-key",),
            ),
        ),
        evidence="recalled",
        example="KeyError: 'image'",
        yields_to=("E55", "E192", "P65", "E01", "E148", "E491", "E281", "P73"),
    ),
    KnownError(
        id="E497",
        family="undefined-name",
        phase=Phase.ANY,
        kind=Kind.BROAD,
        patterns=(
            r"NameError: (?:global )?name '(?P<name>\w{1,80})' is not defined",
            r"UnboundLocalError: .{0,60}?'(?P<name>\w{1,80})'",
            r"cannot access local variable '(?P<name>\w{1,80})'",
            r"local variable '(?P<name>\w{1,80})' referenced before assignment",
        ),
        cause="The name is not there when its line runs: a cell that was not run (after a restart none is), an import or definition that is missing, or a variable set only in a branch that was not taken (no TPU found, so no strategy).",
        details=("The name is {name}.",),
        fix="""\
# notebooks: Runtime, Run all after each restart
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")      # set strategy in every branch
strategy = tf.distribute.TPUStrategy(resolver)                                  # else: strategy = tf.distribute.get_strategy()""",
        evidence="recalled",
        example="NameError: name 'strategy' is not defined",
        yields_to=("P70", "E487"),
    ),
    KnownError(
        id="E498",
        family="wrong-arguments",
        phase=Phase.BUILDING,
        kind=Kind.BROAD,
        patterns=(
            r"(?P<name>[\w.]{1,60})\(\) takes (?:from \d{1,2} to |at most )?(?P<takes>\d{1,2}) positional arguments? but (?P<given>\d{1,2})",
            r"(?P<name>[\w.]{1,60})\(\) got multiple values for argument '(?P<argument>\w{1,40})'",
            r"(?P<name>[\w.]{1,60})\(\) missing (?P<missing>\d{1,2}) required",
            r"(?P<name>[\w.]{1,60})\(\) got an unexpected keyword argument '(?P<argument>\w{1,60})'",
            r"(?P<name>[\w.]{1,60})\(\) got some positional-only arguments passed",
            r"got unexpected keyword arguments?:",
            r"(?P<name>[\w.]{1,60})\(\) takes no (?:keyword )?arguments",
            r"unsupported operand type\(s\) for",
            r"can only concatenate",
            r"unhashable type: '(?P<type>\w{1,40})'",
            r"(?<!iterator_id\]TypeError:)unhashable type: '(?P<type>numpy\.ndarray)'",
            r"'[<>]=?' not supported between instances of",
            r"not enough values to unpack \(expected (?P<wanted>\d{1,3}), got (?P<got>\d{1,3})\)",
            r"too many values to unpack",
            r"cannot unpack non-iterable",
            r"(?:list|tuple) indices must be integers",
            r"string indices must be integers",
            r"not all arguments converted during string formatting",
            r"'(?P<type>\w{1,40})' object cannot be interpreted as an integer",
            r"argument must be a string(?:, a bytes-like object)? or a (?:real )?number, not '(?P<type>\w{1,40})'",
            r"unexpected keyword argument passed to",
            r"\(\) takes (?:at least|at most|exactly|no) (?P<takes>\d{0,2}) ?(?:positional )?arguments?",
            r"\(\) takes from \d",
            r"tf__(?P<name>\w{1,60})\(\) missing",
            r"tf__(?P<name>\w{1,60})\(\) takes",
            r"tf__(?P<name>\w{1,60})\(\) got an?",
            r"(?P<name>\b(?:call|train_step|test_step|step_fn|loss_fn|model_fn|input_fn|body|cond|__init__|build|update_state))\(\) missing (?P<missing>\d{1,2}) required",
        ),
        cause="A function is called with other arguments than it takes, or a value of one type is used as another: a signature that changed with a release of its library, a tuple of another length (a dataset that yields (x, y, weights), a model that returns two outputs), a number that is a string.",
        details=(
            "The function is {name}.",
            "The argument is {argument}.",
            "It takes {takes} arguments and was given {given}.",
            "{wanted} values were expected and {got} came.",
        ),
        fix="""\
python -c "import inspect, MODULE; print(MODULE.__version__, inspect.signature(MODULE.FUNCTION))"     # what this release takes
print(type(a), type(b)); print(dataset.element_spec)                                                    # at the line that the traceback names
def train_step(self, data): x, y, weights = keras.utils.unpack_x_y_sample_weight(data)                  # data of two or three parts""",
        evidence="recalled",
        example="TypeError: call() takes 2 positional arguments but 3 were given",
        yields_to=(
            "E914",
            "E631",
            "E621",
            "E615",
            "E617",
            "E281",
            "E196",
            "E480",
            "P22",
            "P20",
            "P31",
            "E155",
            "E282",
            "E474",
            "P30",
            "P41",
            "P71",
            "P44",
        ),
    ),
    KnownError(
        id="E499",
        family="out-of-bounds",
        phase=Phase.ANY,
        kind=Kind.BROAD,
        patterns=(
            r"(?:list|tuple|string|pop) (?:assignment )?index out of range",
            r"IndexError: pop from empty list",
            r"IndexError: .{0,60}?out of (?:range|bounds)",
            r"ZeroDivisionError",
            r"(?:float )?division by zero",
            r"\(\) arg is an empty sequence",
            r"iterable argument is empty",
            r"Cannot choose from an empty sequence",
            r"ValueError: (?:Sample larger than population|empty range for)",
            r"need at least one array to \w{3,12}",
            r"shorter than minimum length \d",
            r"passed list of length \d{1,4} less than minimum \d",
            r"Cannot pack an empty list of tensors",
            r"Length of params is currently 0",
            r"zero-size array to reduction operation",
            r"get arg(?:max|min) of an empty sequence",
            r"non-empty jnp\.take\(\) from an empty axis",
        ),
        cause="A list is shorter than expected, mostly empty: no file matched a pattern, no TPU or GPU is there (list_logical_devices gives []), a dataset has fewer examples than one global batch (steps become 0).",
        fix="""\
files = tf.io.gfile.glob(pattern); assert files, pattern
devices = tf.config.list_logical_devices("TPU"); assert devices, "no TPU here"
steps = max(1, N_EXAMPLES // global_batch)""",
        evidence="recalled",
        example="IndexError: list index out of range",
        yields_to=("E54", "E493"),
    ),
    KnownError(
        id="E500",
        family="text-encoding",
        phase=Phase.READING,
        patterns=(
            r"UnicodeDecodeError: '(?P<codec>[\w-]{1,20})' codec can't decode byte",
            r"UnicodeEncodeError: '(?P<codec>[\w-]{1,20})' codec can't encode",
            r"codec can't (?:de|en)code (?:byte|character)",
            r"a bytes-like object is required, not '?str",
            r"(?:must be str|expected str|can't concat), not bytes",
            r"'bytes' object has no attribute '(?:encode|format)'",
            r"'str' object has no attribute 'decode'",
        ),
        cause="Bytes are read as text or the reverse: a binary file (TFRecord, pickle, image, gzip) opened as text, a text in another encoding, or a library of the time of Python 2 or h5py 2.",
        fix="""\
open(path, "rb"); tf.io.gfile.GFile(path, "rb")                  # binary files
open(path, encoding="utf-8", errors="replace"); export PYTHONIOENCODING=utf-8 LANG=C.UTF-8
pickle.load(file, encoding="latin1")                              # pickles of Python 2
pip install "h5py<3"                                              # 'str' object has no attribute 'decode' while a TensorFlow before 2.4 loads .h5""",
        evidence="recalled",
        example="UnicodeDecodeError: 'utf-8' codec can't decode byte 0x89 in position 0: invalid start byte",
        yields_to=("E205",),
    ),
    KnownError(
        id="E501",
        family="recursion",
        phase=Phase.ANY,
        patterns=(r"maximum recursion depth exceeded", r"RecursionError"),
        cause="A function calls itself without end: mostly an attribute of a layer or model that is looked up before super().__init__() ran, a wrapper around a wrapper (a notebook cell run twice), or a model nested thousands of levels deep when it is copied or pickled.",
        fix="""\
super().__init__(**kwargs)                              # first statement of __init__ of layers and models
# notebooks: restart the runtime, then run each cell once
import sys; sys.setrecursionlimit(10_000)                # only where the nesting is meant: very deep models""",
        evidence="recalled",
        example="RecursionError: maximum recursion depth exceeded while calling a Python object",
    ),
    KnownError(
        id="N15",
        family="interrupted",
        phase=Phase.ANY,
        level="info",
        patterns=(r"(?<!except)(?<!\()KeyboardInterrupt(?![,)])",),
        cause="No error of the program: it was stopped by Ctrl-C, the stop button of a notebook, or a signal sent by a scheduler. The traceback shows what it was at.",
        fix="""\
# stopped because it seemed to hang? look where it waited:
py-spy dump --pid PID                                     # the stack of the running process
tpudiag attach PID                                         # what the TPU does meanwhile""",
        evidence="recalled",
        example="KeyboardInterrupt",
        near_miss="except (KeyboardInterrupt, SystemExit):",
    ),
)
