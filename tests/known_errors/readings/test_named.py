# ruff: noqa: E501  (texts of other programs stay as they are)
"""What an error names decides between narrower cases, whatever case it belongs to."""

import ast
import re
from dataclasses import replace
from pathlib import Path

import pytest

from tpudiag.known_errors.catalogue import known_errors
from tpudiag.known_errors.model import Kind, defaults
from tpudiag.known_errors.readings import ANY, OPEN, narrower, reading
from tpudiag.known_errors.readings.meeting import BY_RANK, BY_SIZES, BY_USE, Meeting
from tpudiag.known_errors.readings.named import named
from tpudiag.known_errors.readings.narrower import shared
from tpudiag.known_errors.search import match

READINGS = Path(narrower.__file__).parent
NO = "AttributeError: '{}' object has no attribute '{}'"
KERAS3 = 'File "/venv/keras/src/layers/layer.py", line 223, in build_wrapper\n'
NAMED = {
    # An object and what is asked of it; a calculation.
    NO.format("History", "predict"): "model = model.fit",
    NO.format("NoneType", "scope"): "no strategy or TPU was found",
    NO.format("list", "shape"): "np.asarray",
    NO.format("Namespace", "tpu_zone"): '"--tpu_zone"',
    "TypeError: 'type' object is not subscriptable": "Python 3.9",
    "TypeError: 'module' object is not callable": "module",
    "TypeError: unsupported operand type(s) for |: 'type' and 'NoneType'": "Python 3.10",
    "TypeError: unsupported operand type(s) for *: 'int' and 'NoneType'": "tf.shape(x)[0]",
    # A function and the argument that it misses, or how many it takes.
    "TypeError: reduce() missing 1 required positional argument: 'per_replica_value'": "Class() in place of",
    "TypeError: train_step() takes 1 positional argument but 2 were given": "args=(batch,)",
    "TypeError: tf__train_step() missing 1 required positional argument: 'labels'": "args=(images, labels)",
    "TypeError: outer_factory.<locals>.inner_factory.<locals>.tf__one_step() missing 1 required positional argument: 'labels'": "args=(images, labels)",
    "TypeError: __init__() missing 1 required positional argument: 'units'": "get_config",
    "TypeError: call() missing 1 required positional argument: 'memory'": "memory = inputs",
    "TypeError: <lambda>() takes 1 positional argument but 2 were given": "lambda x, y",
    # A layer and the number of dimensions that it gets.
    "ValueError: Input 0 is incompatible with layer flatten_2: expected min_ndim=3, found ndim=2": "flat already",
    "ValueError: Input 0 is incompatible with layer conv2d_1: expected ndim=4, found ndim=3": "without their axis of channels",
    "Input 0 of layer mine is incompatible with the layer: : expected min_ndim=2, found ndim=1.": "one example comes without a batch",
    "Input 0 of layer sequential is incompatible with the layer: : expected ndim=4, found ndim=5. Full shape received: [None, None, 8, 8, 3]": "batched twice",
    # The variable that a checkpoint lacks.
    "NotFoundError: Key output_bias not found in checkpoint": "another run",
    "NotFoundError: Key bert/layer_0/attention/kernel/adam_m not found in checkpoint": "belongs to the optimizer",
    # The releases of a package that pip finds.
    "Could not find a version that satisfies the requirement tensorflow==1.15.0 (from versions: 2.2.0, 2.3.0)": "python --version; pip",
    "Could not find a version that satisfies the requirement tensorflow-text==2.13.0 (from versions: 2.12.1, 2.14.0)": '"tensorflow-text==2.12.1"',
    "Could not find a version that satisfies the requirement tensorflow-text==1.15.0 (from versions: 0.1.0, 1.15.1)": '"tensorflow-text==1.15.1"',
    "NotFoundError: Key class_net/bias/ExponentialMovingAverage not found in checkpoint": "moving average",
    # What ssh and the cloud's services say.
    "Permission denied (publickey).\nERROR: (gcloud.compute.ssh) [/usr/bin/ssh] exited with return code [255].": "ssh-key-file",
    "ssh: connect to host 35.2.4.6 port 22: Connection refused": "describe NAME",
    "googleapi: Error 403: Read access to project 'test' was denied, forbidden": "set project",
    "ValueError: implies that array axis 0 is partitioned 8 times, but the dimension size is 7": "to 8; or a batch",
    "ValueError: spec=PartitionSpec(None, ('x', 'y')), which implies that the global size of its dimension 1 should be divisible by 4, but it is equal to 6": "axis ('x','y')",
    "ValueError: pmap got inconsistent sizes for array axes to be mapped:\n  * most axes (1530 of them) had size 1, e.g. axis 0 of args[0] of type int32[1,1,77];\n  * one axis had size 8: axis 0 of args[2] of type uint32[8,2]": "jax.random.split(key, n)",
    # What stands around it.
    f"File \"/venv/transformers/modeling_tf_utils.py\", line 2919, in from_pretrained\n{KERAS3}TypeError: 'NoneType' object is not callable": "TF_USE_LEGACY_KERAS",
    "with strategy.scope():\n  model = tf.keras.models.load_model('m.h5')\nAttributeError: 'NoneType' object has no attribute 'merge_call'": "compile=False",
    "hub.KerasLayer(H)\nValueError: Variable (<tf.Variable 'w:0'>) was not created in the distribution strategy scope of (<TPUStrategy>)": "HANDLE",
    'File "train.py", line 9, in <module>\n    resolve(TPU_NAME_CONST)\n  File "train.py", line 2, in resolve\n    return pattern.search(x).group(0)\n'
    + NO.format("NoneType", "group"): "pattern.search(text)",
    'File "t.py", line 7\n    defaults[3] = x y\n    ^\nSyntaxError: invalid syntax': "a bracket or quote",
    "def __getitem__(self, i):\n    ...\nValueError: None values not supported.": "sequence[0]",
}
FACTS = [
    ("file-missing", {"file": "/content/drive/MyDrive/a.csv"}, "drive.mount"),
    ("file-missing", {"file": "gs://mine/a"}, "gcloud storage ls 'gs://mine/a*'"),
    ("file-missing", {"file": "gs:/mine/a"}, "one slash too few"),
    ("file-missing", {"file": "C:\\data\\a.txt"}, "Windows"),
    ("file-missing", {"file": "/path/to/data"}, "placeholder"),
    ("file-missing", {"file": "data/a.txt"}, "relative"),
    ("constant-shape", {"op": "Range"}, "x.shape[1]"),
    ("constant-shape", {"op": "Mean"}, "axis=-1"),
    ("unsupported-op", {"op": "ImageProjectiveTransformV3"}, "RandomFlip"),
    ("unsupported-op", {"op": "Where"}, "three arguments"),
    ("unsupported-op", {"op": "Odd", "type": "DT_UINT8"}, "float32"),
    ("unsupported-op", {"op": "StatelessShuffle"}, "tf.argsort"),
    ("type-not-on-tpu", {"type": "STRING"}, "tokenize"),
    ("type-not-on-tpu", {"type": "float64"}, "np.float32"),
]
NOTHING: list[tuple[str, dict[str, str]]] = [
    ("file-missing", {"file": "/tmp/out/results.json"}),
    ("constant-shape", {"op": "Odd"}),
    ("constant-shape", {}),
    ("unsupported-op", {"op": "SparseSoftmaxCrossEntropyWithLogits"}),
    ("type-not-on-tpu", {"type": "float32"}),
    ("keras-argument", {"argument": "frobnicator"}),
    (ANY, {"object": "Frobnicator", "used": "spin"}),
    (ANY, {"key": "xyz123"}),
]


def said(family: str, facts: dict[str, str]) -> str:
    told = narrower.first(shared()[family], {name: (each,) for name, each in facts.items()})
    return f"{told.cause} {told.fix}" if told else ""


@pytest.mark.parametrize("text", NAMED)
def test_what_an_error_names_tells_its_cause(text: str) -> None:
    best = match(text)[0]
    assert NAMED[text] in f"{best.message} {best.fix}"


@pytest.mark.parametrize(("family", "facts", "words"), FACTS)
def test_a_fact_decides(family: str, facts: dict[str, str], words: str) -> None:
    assert words in said(family, facts)


@pytest.mark.parametrize(("family", "facts"), NOTHING)
def test_what_is_not_known_tells_nothing(family: str, facts: dict[str, str]) -> None:
    assert not said(family, facts)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("ValueError:`steps_per_epoch`mustbeaninteger,received3.5", "(it got 3.5)"),
        ("ValueError:yargumentisnotsupportedwhenusingdatasetasinput", "no y="),
        ("invalidvaluefor`units`,expectedapositiveinteger.Received:units=128.0", "it got 128.0"),
        ("Onlycall`softmax`withnamedarguments(labels=...,logits=...", "labels=labels"),
    ],
)
def test_a_refused_argument_is_told_by_its_name(text: str, words: str) -> None:
    cases = shared()["keras-argument"]
    told = [narrower.first(cases, facts) for facts in named(text, 0, len(text))]
    best = next(each for each in told if each)
    assert words in f"{best.cause} {best.fix}"


def test_a_cause_that_an_error_names_itself_is_not_overruled() -> None:
    busy = next(each for each in known_errors() if each.family == "tpu-busy")
    text = b'transformers/modeling_tf_utils.py",line1keras/src/layers/layer.py",line2 theerror'
    hit = re.search(b"theerror", text)
    assert hit
    assert reading(text, hit, replace(busy, kind=Kind.TELLING), {}, (), shared()) is None
    assert reading(text, hit, replace(busy, kind=Kind.BROAD), {}, (), shared()) is not None


def test_shared_cases_are_of_families_that_there_are() -> None:
    families = {each.family for each in known_errors()}
    assert shared().keys() <= families | {ANY, OPEN, narrower.FIGURES}


def test_shared_cases_end_and_fill_their_blanks() -> None:
    groups = {
        *("object", "used", "sign", "left", "right", "function", "missing", "takes", "given"),
        *("name", "key", "argument", "received", "operation", "op", "type", "file", "layer"),
        *("wanted", "got", "library", "library_line", "unexpected", "twice", "own"),
    }
    for case in {case for cases in shared().values() for case in cases}:
        if dict(case.when).keys() == {narrower.FIGURES}:
            continue  # the code that finds it fills its blanks
        blanks = set(re.findall(r"<<(\w+)>>", case.cause + case.fix))
        assert blanks <= groups | defaults().keys() | re.compile(case.says).groupindex.keys()
        assert case.cause.endswith(".")


def test_what_is_computed_has_its_words_and_fills_their_blanks() -> None:
    files = [*READINGS.glob("*.py"), *READINGS.with_name("releases").glob("*.py")]
    trees = [each for file in files for each in ast.walk(ast.parse(file.read_text("utf-8")))]
    texts = {each.value for each in trees if isinstance(each, ast.Constant)}
    known = {dict(case.when)[narrower.FIGURES]: case for case in shared()[narrower.FIGURES]}
    assert known.keys() <= texts
    calls = [each for each in trees if isinstance(each, ast.Call) and each.args]
    for call in calls:
        figures, asked = call.args[0], {one.arg for one in call.keywords}
        if not isinstance(figures, ast.Constant) or figures.value not in known or None in asked:
            continue
        case = known[str(figures.value)]
        blanks = set(re.findall(r"<<(\w+)>>", case.cause + case.fix))
        assert blanks - defaults().keys() == asked - defaults().keys(), figures.value


@pytest.mark.parametrize("figures", [*BY_USE, *BY_RANK, *BY_SIZES])
def test_two_shapes_fill_the_blanks_of_each_rule(figures: str) -> None:
    read = Meeting((2,), (3,)).read(figures)
    assert {*re.findall(r"<<(\w+)>>", read.cause + read.fix)} <= defaults().keys()
