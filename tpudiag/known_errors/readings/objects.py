# ruff: noqa: E501  (what is pasted stays in one piece)
"""Objects of another type than the code expects: what they mostly come from, by type and use."""

from __future__ import annotations

import re

from .meaning import Reading, first_over

_USE = re.compile(
    r"['\"`](?P<type>[\w.]{1,60})['\"`]object(?:hasnoattribute['\"`](?P<name>\w{1,60})['\"`]"
    r"|isnot(?P<use>callable|iterable|subscriptable|aniterator)|(?P<number>cannotbeinterpretedasaninteger))"
)
_OPERANDS = re.compile(
    r"unsupportedoperandtype\(s\)for(?P<sign>[^:\n]{1,4}):['\"`](?P<left>[\w.]{1,40})['\"`]and['\"`](?P<right>[\w.]{1,40})['\"`]"
)
_COMMON = frozenset(
    ("NoneType", "list", "tuple", "dict", "str", "int", "float", "method", "function")
)
"""Types that may come from anywhere: what they are asked for makes one cause likely, not sure."""
_MODEL = r"predict|evaluate|save|summary|save_weights|fit|layers|predict_classes|to_json|call"
_BY_USE: tuple[tuple[str, str, str, str], ...] = (
    (
        r"History",
        _MODEL,
        "`model = model.fit(...)` put the history of the training in the model's place",
        "history = model.fit(dataset, epochs=EPOCHS); model.predict(x)      # fit returns the history, the model stays what it was",
    ),
    (
        r"History|dict|list",
        r"history|epoch",
        "the curves are wanted of what is no History: fit_generator or a loop of one's own gives other things",
        'history = model.fit(dataset); history.history["loss"]      # History has .history, a dict of lists; a saved one is that dict itself',
    ),
    (
        r"NoneType",
        r"scope|num_replicas_in_sync|run|extended|experimental_run_v2|master|cluster_spec",
        "no strategy or TPU was found: the `try` around TPUClusterResolver failed and left None",
        'resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local"); strategy = tf.distribute.TPUStrategy(resolver)      # without try/except: the error says why\n'
        "strategy = strategy or tf.distribute.get_strategy()      # to go on without a TPU",
    ),
    (
        r"NoneType",
        r"compile|fit|predict|evaluate|summary|save|save_weights|load_weights|layers|trainable_variables|build|count_params",
        "the model itself is None: the function that makes it has no `return model` (or was written with `def` where a `class` was meant), or a load in a `try` failed",
        "def make_model():\n    model = keras.Sequential([...])\n    return model                     # each way ends with it\n"
        "class MyModel(keras.Model): ...      # class, not def, for a subclass",
    ),
    (
        r"NoneType",
        r"shape|astype|size|dtype|resize|copy|ndim|convert|subscriptable",
        "nothing was read or returned: cv2.imread gives None for a path that is not there, a function of one's own lacks its `return`, a dict has no such key",
        "image = cv2.imread(path); assert image is not None, path      # the path: print it; or the function: return x\n"
        "tf.io.decode_image(tf.io.read_file(path))                      # raises, and names the file",
    ),
    (
        r"NoneType",
        r"group|groups|text|find|attrs|string|get|items|keys|split|strip|lower|decode|startswith|endswith|read|name|value",
        "a search or look-up found nothing, or a setting was never given, and the next call takes its result for granted",
        "found = pattern.search(text); assert found, text      # what was searched, what for; a flag: give it, or a default",
    ),
    (
        r"NoneType",
        r"iterable",
        "a function that should return several values (or a list) returns nothing on one of its ways: `return` is missing, or stands in an `if`",
        "result = function(x); assert result is not None      # a model's call, an input_fn, train_step: each way ends with `return`",
    ),
    (
        r"NoneType",
        r"callable",
        "a function, loss, layer or activation was looked up and not found, or an argument that takes a function was left None",
        "assert callable(fn), fn      # where it is looked up: get(name), a dict of choices, an optional import that failed",
    ),
    (
        r"list",
        r"shape|dtype|reshape|astype|ndim|numpy|rank|mean|flatten|size|as_list|get_shape",
        "a Python list stands where an array or tensor does: the model has several outputs, arrays were collected in a list, data are not converted yet",
        "x = np.asarray(rows, np.float32); x = tf.stack(tensors); outputs = model(x)[0]      # an array, one tensor, the first output",
    ),
    (
        r"tuple",
        r"shape|dtype|rank|ndims|numpy|as_list|layer|get_shape|reshape|_keras_shape|op",
        "several things come where one is expected: (inputs, labels) of a dataset, outputs and state of a layer, or a shape that is a plain tuple by now",
        "for x, y in dataset: ...; x, state = layer(x); list(x.shape)      # take them apart; a shape of Keras 3 is a tuple",
    ),
    (
        r"dict",
        r"shape|dtype|ndim|size|get_shape|rank|numpy|items_|iteritems|has_key",
        "features by name come where one tensor is expected",
        'x = features["image"]; dataset = dataset.map(lambda d: (d["image"], d["label"]))      # tfds: as_supervised=True gives (image, label)',
    ),
    (
        r"float|int|float32|float64|numpy\.float(?:32|64)|bool",
        r"numpy|item|shape|dtype|as_list|eval|get_shape",
        "the value is a plain number already (a metric's result, a logged loss, a dimension)",
        "float(value)      # works on numbers, arrays of one value and eager tensors alike; delete .numpy(), .shape",
    ),
    (
        r"float|int",
        r"iterable|subscriptable|aniterator",
        "one number comes where several are taken apart: fit or train_step returns one loss, a shape is given as a number, axis or size as n in place of (n,)",
        "loss = model.train_on_batch(x, y)      # one value without metrics=; (n,) for a tuple of one; range(n) to loop over a number",
    ),
    (
        r"(?:numpy\.)?float(?:32|64)?",
        r"integer",
        "a size or count was computed with `/`, which gives a float",
        "n = total // size      # //, or int(...): range, shapes, steps_per_epoch and slices take whole numbers",
    ),
    (
        r"function",
        r"subscriptable|iterable|aniterator|shape|batch|map|repeat|keys|items|element_spec",
        "the function itself is used in place of what it returns: the call's parentheses are missing",
        "dataset = input_fn(); model.fit(generator())      # with ( ); from_generator and Estimators alone take the function itself",
    ),
    (
        r"method|builtin_function_or_method",
        r"subscriptable|iterable|shape|\w+",
        "a method is used without its parentheses",
        "x.numpy()[0]; d.keys(); model.summary()      # with ( )",
    ),
    (
        r"type|ABCMeta|_SpecialForm",
        r"subscriptable",
        "annotations such as list[int], dict[str, int] or type[X] are of Python 3.9 or later, and this Python is older",
        "python --version; uv venv --python 3.11      # a newer Python; or, first line of that file: from __future__ import annotations",
    ),
    (
        r"module",
        r"callable",
        "a module is called in place of the function or class of its name in it",
        "from tqdm import tqdm; import datetime; datetime.datetime.now()      # the name inside the module",
    ),
    (
        r"str",
        r"callable|shape|keys|items|dtype|numpy|get|read|\w+_dir|layers|call|apply_gradients|predict|name|minimize",
        "a name (text) stands where the object of that name is wanted: an optimizer, a loss, a model's path, a JSON text that was not parsed",
        'model = keras.models.load_model(path); optimizer = keras.optimizers.get("adam"); config = json.loads(text)      # the object, not its name',
    ),
    (
        r"TensorBoard|ModelCheckpoint|EarlyStopping|ReduceLROnPlateau|LearningRateScheduler|CSVLogger|LambdaCallback|History|BackupAndRestore|\w*Callback\w*",
        r"iterable|aniterator",
        "one callback is given where fit wants a list of them",
        "model.fit(dataset, callbacks=[callback])      # in brackets, one as well",
    ),
    (
        r"(?:Eager|Symbolic|Keras)?Tensor",
        r"lower|upper|split|strip|encode|decode|replace|startswith|endswith|join|format|find|isdigit|rstrip|lstrip|title",
        "a tensor comes where Python text is expected (a Tokenizer, a path, a function of strings inside dataset.map)",
        "text = tensor.numpy().decode()      # outside a graph: a Python string; [t.decode() for t in tensor.numpy()] for several\n"
        'tf.strings.lower(t); tf.strings.split(t, "/")      # inside dataset.map; keras.layers.TextVectorization in place of a Tokenizer',
    ),
    (
        r"list|tuple|dict|ndarray|int|float|(?:Eager|Symbolic|Keras)?Tensor|DataFrame|Series",
        r"callable",
        "( ) in place of [ ], or a variable that hides a function of the same name",
        "x[0], not x(0); del shape, list, len      # a notebook: a name such as `list` that was assigned to; restart the kernel",
    ),
    (
        r"generator|map|zip|filter|dict_keys|dict_values|range|enumerate",
        r"subscriptable|shape|append|\w+",
        "it gives its values one by one and holds none",
        "values = list(generator); first = next(iter(generator))      # a list where it is indexed",
    ),
    (
        r"Namespace|FlagValues|_FlagValuesWrapper|HParams|AttrDict|ConfigDict|DictConfig",
        r"\w+",
        "the configuration holds no such setting: it is of another release of the code, was not given, or flags were not parsed yet",
        'print(vars(args))      # what there is; parser.add_argument("--<<name>>", default=None), or the configuration that belongs to this code',
    ),
)
_BY_OPERANDS: tuple[tuple[str, str, str, str], ...] = (
    (
        r"\|",
        r"(?:type|NoneType|_GenericAlias|ABCMeta|_UnionGenericAlias|GenericAlias)",
        "annotations such as `int | None` are of Python 3.10 or later, and this Python is older",
        "python --version; uv venv --python 3.11      # a newer Python; or, first line of that file: from __future__ import annotations",
    ),
    (
        r".{1,4}",
        r"str",
        "a text is used as a number: from the command line, a CSV file, a YAML file (1e-3 is text there), an environment variable",
        'n = int(os.environ["N"]); parser.add_argument("--n", type=int); rate: 1.0e-3      # made a number where it is read',
    ),
    (
        r".{1,4}",
        r"NoneType",
        "one side is None: the static size of a dimension that is not known (x.shape[0]), a setting that was not given, a gradient of what has no part in the loss, a function without `return`",
        'n = tf.shape(x)[0]      # a size that is known at run time; batch(..., drop_remainder=True) makes it known\nassert value is not None, "which"      # a setting: give it',
    ),
    (
        r".{1,4}",
        r"(?:list|tuple|dict|set)",
        "a list, tuple or dict is calculated with: arrays that are not converted, several outputs of a model, parts of a loss",
        "total = tf.add_n(losses); x = np.asarray(rows); a, b = outputs      # an array or one tensor; take tuples apart",
    ),
    (
        r".{1,4}",
        r"(?:method|function|builtin_function_or_method)",
        "a function is calculated with: its parentheses are missing",
        "loss = loss_fn(y, x) + regularizer()      # with ( )",
    ),
)


def read(text: str, begin: int, end: int) -> Reading | None:
    """What an object of another type than expected mostly is."""
    if used := first_over(_USE, text, begin, end):
        what = used["name"] or used["use"] or "integer"
        return _of_use(used["type"], what)
    if combined := first_over(_OPERANDS, text, begin, end):
        return _of_operands(combined["sign"], (combined["left"], combined["right"]))
    return None


def _of_use(kind: str, what: str) -> Reading | None:
    """What an object that is used as it cannot be mostly is."""
    # By its whole name (numpy.float64) or, of another module's, the last part.
    names = (kind, kind.rsplit(".", 1)[-1])
    for kinds, uses, meaning, fix in _BY_USE:
        if any(re.fullmatch(kinds, name) for name in names) and re.fullmatch(uses, what):
            said = f"A `{kind}` where `{what}` is asked for: {meaning}."
            return Reading(said, fix.replace("<<name>>", what), guess=kind in _COMMON)
    return None


def _of_operands(sign: str, kinds: tuple[str, str]) -> Reading | None:
    """What a calculation with such types mostly is."""
    for signs, types, meaning, fix in _BY_OPERANDS:
        if re.fullmatch(signs, sign) and any(re.fullmatch(types, kind) for kind in kinds):
            left, right = kinds
            return Reading(f"`{left}` {sign} `{right}`: {meaning}.", fix, guess=True)
    return None
