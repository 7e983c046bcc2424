# ruff: noqa: E501  (patterns stay in one piece)
# mypy: ignore-errors
# pyright: basic, reportMissingImports=false
"""Writes what the packages of the field hold in which release, from their wheels.

    uv run --no-project --with pip python tests/release_facts.py      # writes both files anew, in some minutes

Wheels are read in part, without installing or importing them: the list of their files, and the
modules that bind public names. What comes of it are, in tpudiag/known_errors/releases, names.txt
and arguments.txt: public names and modules, and arguments of public functions, that came or went, by
the releases that have them.
"""

import ast
import re
import sys
import zipfile
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from release_wheels import FOLDER, Registry, Release, bound, contents, dotted, series, spelled

WIDTH = 100
Spans = dict[str, tuple[str, str]]

ROOTS = {
    "tensorflow": "tensorflow", "keras": "keras", "tf-keras": "tf_keras",
    "tensorflow-text": "tensorflow_text", "tensorflow-hub": "tensorflow_hub",
    "tensorflow-datasets": "tensorflow_datasets", "tensorflow-addons": "tensorflow_addons",
    "tensorflow-probability": "tensorflow_probability", "tensorflow-estimator": "tensorflow_estimator",
    "tensorflow-model-optimization": "tensorflow_model_optimization", "tf-models-official": "official",
    "tensorflow-io": "tensorflow_io", "tensorflow-recommenders-addons": "tensorflow_recommenders_addons",
    "keras-tuner": "keras_tuner", "autokeras": "autokeras", "keras-nlp": "keras_nlp", "keras-hub": "keras_hub",
    "keras-cv": "keras_cv", "numpy": "numpy", "protobuf": "google",
    "ml-dtypes": "ml_dtypes", "jax": "jax", "flax": "flax", "optax": "optax",
    "chex": "chex", "orbax-checkpoint": "orbax", "dm-haiku": "haiku", "t5": "t5", "mesh-tensorflow": "mesh_tensorflow",
    "gin-config": "gin", "tensorboard": "tensorboard", "fsspec": "fsspec", "gcsfs": "gcsfs", "tensorstore": "tensorstore",
}  # fmt: skip
"""The packages, and what is imported of each."""
NAMED = ("keras", "tf-keras", "jax", "flax", "optax", "chex", "tensorflow-addons", "protobuf", "orbax-checkpoint",
         "tensorflow-datasets", "fsspec", "gcsfs", "tensorstore")  # fmt: skip
"""Those of which names are read, beside TensorFlow; of others, modules alone."""
WITH_ARGUMENTS = ("tensorflow", "keras", "jax", "flax", "optax", "chex", "orbax-checkpoint", "tensorflow-datasets",
                  "tensorflow-hub", "keras-hub", "keras-cv", "numpy")  # fmt: skip
"""Those of which the arguments of public functions are read."""
USUAL = {
    "tensorflow": "tf",
    "jax": "jnp",
    "flax": "nnx?",
    "numpy": "np",
    "orbax-checkpoint": "ocp",
    "tensorflow-datasets": "tfds",
    "tensorflow-hub": "hub",
}
"""What programs mostly call them."""
API = re.compile(
    r"(?:^|/)tensorflow(?:_core)?/_api/v[12]/(?!v[12]/)(?!.*(?:compat|__internal__))(?P<path>.*)\.py$"
)
KERAS_WITHIN = {
    major: re.compile(
        rf"(?:^|/)tensorflow(?:_core)?/(?:python/keras/api/_v{major}/)?(?P<path>keras/.*)\.py$"
    )
    for major in (1, 2)
}
CONTRIB = re.compile(r"(?:^|/)tensorflow(?:_core)?/(?P<path>contrib/(?:\w+/)?\w+)\.py$")
PYTHON = re.compile(
    r"(?:^|/)tensorflow(?:_core)?/(?P<path>(?:python|core|compiler)/[\w/]+)\.(?:py|so)$"
)
KERAS = re.compile(r"^keras/(?:api/)?(?:_v2|_tf_keras)/(?P<path>keras/.*)\.py$")


def names_of_tensorflow(archive: zipfile.ZipFile, release: Release) -> set[str]:
    """The public names of TensorFlow, and its modules that others reach for."""
    found: set[str] = set()
    for pattern in (API, KERAS_WITHIN[release[0]], *((CONTRIB,) if release < (2,) else ())):
        for path, source in contents(archive, pattern):
            module = dotted(pattern.search(path)["path"])  # type: ignore[index]
            prefix = "tf." + (f"{module}." if module else "")
            found |= {
                prefix.rstrip("."),
                *(prefix + name for name in bound(source) if name not in STATIC),
            }
    return found | {
        f"tensorflow.{dotted(hit['path'])}"
        for each in archive.namelist()
        if (hit := PYTHON.search(each))
    }


STATIC = {
    "absolute_import", "division", "print_function", "sys", "os", "logging", "app", "np",
    "annotations", "typing", "Any",
}  # fmt: skip
"""Names that modules import for themselves."""


def names_of(package: str, archive: zipfile.ZipFile, release: Release) -> set[str]:
    """The public names of a package by full name, and all its modules."""
    root = ROOTS[package]
    if package == "tensorflow":
        return names_of_tensorflow(archive, release)
    paths = [
        each
        for each in archive.namelist()
        if each.startswith(f"{root}/")
        and each.endswith(".py")
        and not re.search(r"(?:^|[/_])tests?(?:[/_.]|$)|conftest|integration_test|/api/_v1", each)
    ]
    found = {dotted(each.removesuffix(".py")) for each in paths}
    if package not in NAMED or (package == "keras" and release[:2] == (2, 4)):
        return found
    public = re.compile(rf"^{root}/(?!src/|_src/|api/)(?:[a-z][\w]*/)*(?:__init__|[a-z]\w*)\.py$")
    if package == "keras" and release >= (3,):
        public = re.compile(r"^keras/(?:(?!src/|_)[a-z]\w*/)*__init__\.py$")
    for path, source in contents(archive, public):
        module = dotted(path.removesuffix(".py"))
        whole = path.endswith("__init__.py")
        found |= {f"{module}.{name}" for name in bound(source, whole=whole) if name not in STATIC}
    if package == "keras":
        for path, source in contents(archive, KERAS):
            module = dotted(KERAS.search(path)["path"])  # type: ignore[index]
            found |= {f"tf.{module}", *(f"tf.{module}.{name}" for name in bound(source))}
    return found


Arguments = dict[str, set[str]]
"""By function or method, what it takes; `**` where it takes any."""
DEFINING = {
    "tensorflow": re.compile(
        r"(?:^|/)tensorflow(?:_core)?/python/(?:data/(?:experimental/)?ops/[a-z]\w*|distribute/(?:tpu_strategy|distribute_lib|mirrored_strategy)|distribute/cluster_resolver/(?:tpu/)?\w+|tpu/tpu_strategy_util|training/(?:checkpoint|checkpoint_management|tracking/util)|checkpoint/\w+|eager/(?:def_function|polymorphic_function/\w+|backprop)|saved_model/(?:save|load|save_options|load_options)|ops/(?:image_ops_impl|math_ops|array_ops|nn_ops|nn_impl|io_ops|parsing_ops|clip_ops)|profiler/profiler_v2|summary/writer/writer|framework/config)\.py$"
    ),
    "keras": re.compile(
        r"^keras/(?:src/)?(?:engine|layers|optimizers?(?:_v2|_experimental)?|callbacks|losses|metrics|models|trainers|saving|utils|distribution|ops|initializers|mixed_precision|applications|regularizers|export)\b.*\.py$"
    ),
    "jax": re.compile(
        r"^jax/(?:_src/)?(?:api|numpy/[a-z]\w*|lax/[a-z]\w*|random|nn/\w+|sharding\w*|mesh\w*|pjit|shard_map|distributed|checkpoint|ad_checkpoint|array|tree_util|tree|profiler|named_sharding|experimental/(?:pjit|shard_map|multihost_utils|mesh_utils|maps)|interpreters/pxla)\.py$"
    ),
    "keras within": re.compile(
        r"(?:^|/)tensorflow(?:_core)?/python/keras/(?:engine|layers|optimizers?(?:_v2)?|callbacks|losses|metrics|models|saving|utils|initializers|mixed_precision|applications|regularizers|constraints|preprocessing|datasets)\b.*\.py$"
    ),
    "tensorflow-datasets": re.compile(
        r"^tensorflow_datasets/core/(?:load|registered|dataset_builder|dataset_info|split_builder|splits|read_only_builder|writer|features/[a-z]\w*|download/\w+|dataset_utils|decode/\w+)\.py$"
    ),
    "numpy": re.compile(
        r"^numpy/(?:_?core|lib|random)/(?:numeric|fromnumeric|function_base|shape_base|npyio|_npyio_impl|_function_base_impl|arraysetops|_arraysetops_impl)\.py$"
    ),
}
"""Where the functions are made that others call; of other packages, in every module."""


def arguments_of(package: str, archive: zipfile.ZipFile) -> Arguments:
    """What the functions, classes and methods of a package take."""
    found: Arguments = defaultdict(set)
    pattern = DEFINING.get(package) or re.compile(rf"^{ROOTS[package]}/.*\.py$")
    for path, source in contents(archive, pattern):
        try:
            tree = ast.parse(source)
        except SyntaxError:
            continue
        if not re.search(r"(?:^|[/_])tests?(?:[/_.]|$)|test_util", path):
            for node in tree.body:
                _take(node, found)
    return found


def _take(node: ast.stmt, found: Arguments) -> None:
    """Note what a function takes, or a class and its methods."""
    if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
        found[node.name] |= _arguments(node)
    if not isinstance(node, ast.ClassDef) or node.name.startswith("_"):
        return
    methods = {each.name: each for each in node.body if isinstance(each, ast.FunctionDef)}
    for name, each in methods.items():
        if not name.startswith("_"):
            found[f"{node.name}.{name}"] |= _arguments(each)
    if made := methods.get("__init__") or methods.get("__new__"):
        found[node.name] |= _arguments(made)
    elif fields := [each for each in node.body if isinstance(each, ast.AnnAssign)]:
        found[node.name] |= {each.target.id for each in fields if isinstance(each.target, ast.Name)}
    else:
        found[node.name].add("**")


def _arguments(node: ast.FunctionDef) -> set[str]:
    """What a function takes."""
    given = node.args
    names = {each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs)}
    return names - {"self", "cls"} | ({"**"} if given.kwarg else set())


METHODS = frozenset({
    "fit", "compile", "evaluate", "predict", "save", "save_weights", "load_weights", "export", "summary", "minimize",
    "apply_gradients", "batch", "shuffle", "map", "interleave", "cache", "prefetch", "repeat", "from_generator", "take",
    "filter", "window", "padded_batch", "shard", "restore", "download_and_prepare", "as_dataset", "init", "apply", "bind",
    "init_with_output", "create", "run", "reduce", "flow_from_directory", "get_config", "add_weight", "add_loss", "update",
    "tabulate", "variable", "param", "metadata", "should_save", "all_steps", "gradient", "jacobian", "watch",
})  # fmt: skip
"""Methods that others call."""


def argument_spans(holding: dict[Release, Arguments], public: set[str]) -> Spans:
    """By `function.argument` the first and last release that takes it, where only some do.

    `public`: the names of functions and classes that others see.
    """
    told: Spans = {}
    releases = sorted(holding)
    for function in sorted(set().union(*holding.values())):
        of, _, method = function.partition(".")
        if not {of, re.sub(r"V[12]$", "", of)} & public or (method and method not in METHODS):
            continue
        having = [each for each in releases if function in holding[each]]
        for name in sorted(set().union(*(holding[each][function] for each in having))):
            # What is named first after `**kwargs` was refused before: of an error it came then.
            first = next(n for n, each in enumerate(having) if name in holding[each][function])
            taking = [each for each in having[first:] if {name, "**"} & holding[each][function]]
            at = [having.index(each) for each in taking]
            if len(taking) == len(having) or at != list(range(at[0], at[-1] + 1)):
                continue
            if name.startswith(("_", "*")) or name in {"name", "kwargs"}:
                continue
            first = spelled(taking[0]) if at[0] else ""
            last = spelled(taking[-1]) if at[-1] < len(having) - 1 else ""
            told[re.sub(r"V[12]\b", "", f"{function}.{name}")] = first, last
    return told


def spans(holding: dict[Release, set[str]]) -> dict[str, tuple[str, str]]:
    """By name the first and last release that has it, of those that came or went."""
    releases = sorted(holding)
    at: dict[str, list[int]] = defaultdict(list)
    for number, release in enumerate(releases):
        for name in holding[release]:
            at[name].append(number)
    told: Spans = {}
    for name, there in at.items():
        begin = spelled(releases[there[0]]) if there[0] else ""
        end = spelled(releases[there[-1]]) if there[-1] < len(releases) - 1 else ""
        if begin or end:
            told[name] = begin, end
    # What came or went with its module is told by it.
    return {name: span for name, span in told.items() if told.get(name.rpartition(".")[0]) != span}


def is_told(name: str, span: tuple[str, str]) -> bool:
    """Whether others ask for a name: no test, no data set, no inner part of a deep module."""
    first, _, rest = name.partition(".")
    if INNER.search(name) or (OWN_PART.search(name) and not span[1]):
        return False
    # What TensorFlow 2 took away has its table (readings/renames.txt); 1.12 is the first that lists its names.
    of_one = (
        first == "tf"
        and not rest.startswith("contrib")
        and (span[1].startswith("1.") or span[0] in FIRST_LISTED)
    )
    return not of_one and rest.count(".") < DEPTH.get(first, 1)


INNER = re.compile(
    r"(?:^|[._])tests?(?:[._]|$)|test_util|testing|keras\.api\.\w+\.\w|keras\.(?:distribute|premade_models|feature_column|estimator|wrappers|cntk|dtensor)\b|backend\.\w+_backend|^jax\.(?:extend|example_libraries|custom_\w+|ad_checkpoint|errors|profiler|dtypes|tools)\.|contrib\.\w+\.\w+\.|^tf\.contrib\.(?:boosted_trees|bayesflow|distributions|eager|factorization|fused_conv|gan|kfac|labeled_tensor|lite|periodic|quantize|receptive|rpc|sparsemax|timeseries|tensorrt|verbs|meta_graph|legacy_seq2seq|learn|linear_optimizer|losses|metrics|slim)\.|^flax\.(?:errors|typing|configurations|traverse_util)\."
    r"|keras\.utils\.\w+\.|keras\.(?:backend|preprocessing|saving)\.\w+\.|jax\.experimental\.(?:hijax|attrs|colocated_python|compute_on|roofline|scheduling_groups|serialize|source_mapper|topologies|transfer|x64|xla_metadata|key_reuse|checkify|ode|custom|export|mesh_utils|layout|multihost)|\.experimental\.host_callback\.[a-z_]*_|optax\.contrib|optax\.\w+\.\w"
    r"|raw_ops|_vendor|\.(?:datasets|projects|scripts|testing|tests?|testdata|tools|cli|benchmarks?|demo|mosaic|triton|array_serialization)\b"
    r"|_(?:test|pb2|grpc|lib|internal|impl)\b|applications\.\w+\.|^jax\.experimental\.(?:pallas|jax2tf|sparse|array_api)\.|^tensorflow_datasets\.\w+\.\w+\.|^tensorflow_probability\.(?:python|substrates)\.\w+\."
    r"|^tf\.(?:lite|mlir|quantization|types|debugging|autograph|test|queue|xla|sets|bitcast|audio)\b|^keras\.(?:src|api)\.\w+\.\w+\.|^jax\.(?:_src|extend)\.\w+\.|\.wrappers\.|^keras\.\w+\.\w+\.\w+\.\w|^keras\.(?:engine|saving|applications)\.\w+\.\w"
    r"|^flax\.(?:nnx|experimental|nn|linen|core|training|metrics|optim|serving|struct)\.\w+\.\w+|^orbax\.checkpoint\.\w+\.\w|^tensorflow_addons\.\w+\.\w+\.\w|^tensorboard\.(?:plugins|uploader|backend|data)\."
)
OWN_PART = re.compile(
    r"^tensorflow\.(?:python|core|compiler)\.(?!keras|distribute|tpu|trackable|checkpoint|util|types|kernels|platform)|\._src\.|\.src\."
)
FIRST_LISTED = ("1.12", "1.13")
DEPTH = {
    "tensorflow": 6,
    "tf": 6,
    "keras": 4,
    "jax": 3,
    "flax": 3,
    "optax": 2,
    "tensorflow_addons": 3,
    "google": 4,
    "orbax": 3,
}


def rows_of_names(package: str, told: Spans) -> Iterator[str]:
    """`first-last module:name,name ...`, wrapped."""
    root = ROOTS[package]
    yield f"[{package} {root} {USUAL.get(package, root)}]"
    by_span: dict[tuple[str, str], dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for name in sorted(told):
        module, _, last = name.rpartition(".")
        by_span[told[name]][module].append(last)
    for span, modules in sorted(by_span.items()):
        row = head = f"{span[0]}-{span[1]}"
        for module, names in modules.items():
            row += f" {module}:"
            for at, name in enumerate(names):
                if len(row) + len(name) > WIDTH:
                    yield row.rstrip(",")
                    row = f"{head} {module}:"
                row += name + ("," if at < len(names) - 1 else "")
        yield row


Held = tuple[dict[Release, set[str]], dict[Release, Arguments]]


def read(registry: Registry, package: str) -> Held:
    """What each release of a package holds, and what its functions take."""
    wheels = registry.wheels(package)
    if package == "tensorflow":
        wheels += registry.wheels("tensorflow-cpu")
    newest = {series(package, wheel.release): wheel for wheel in wheels}
    holding: dict[Release, set[str]] = {}
    taking: dict[Release, Arguments] = {}
    for release, wheel in newest.items():
        try:
            with registry.archive(wheel) as archive:
                holding[release] = names_of(package, archive, release)
                if package in WITH_ARGUMENTS:
                    taking[release] = arguments_of(package, archive)
        except Exception as error:
            print(package, release, repr(error), file=sys.stderr)
    print(package, len(wheels), len(holding), file=sys.stderr)
    if package == "numpy":  # its second release says itself what it lost
        with registry.archive(wheels[-1]) as archive:
            ((_, lost),) = contents(archive, re.compile(r"^numpy/_expired_attrs_2_0\.py$"))
        gone = {f"numpy.{each}" for each in re.findall(r'^    "(\w+)":', lost, re.MULTILINE)}
        holding |= {at: each | gone for at, each in holding.items() if at < (2,)}
    if package == "keras":
        apart = {at: each for at, each in taking.items() if at >= KERAS_APART}
        taking = keras_within(registry) | apart
    return holding, taking


KERAS_APART = (2, 6)
"""The first TensorFlow whose Keras is a package of its own."""


def keras_within(registry: Registry) -> dict[Release, Arguments]:
    """What the functions of the Keras take that TensorFlow held, by its releases."""
    wheels = (each for each in registry.wheels("tensorflow") if each.release < KERAS_APART)
    taking: dict[Release, Arguments] = {}
    for release, wheel in {series("tensorflow", each.release): each for each in wheels}.items():
        with registry.archive(wheel) as archive:
            taking[release] = arguments_of("keras within", archive)
    return {release: each for release, each in taking.items() if each}


def main() -> None:
    """Writes the file."""
    registry = Registry()
    only = sys.argv[1:] or list(ROOTS)
    with ThreadPoolExecutor(8) as pool:
        held = dict(zip(only, pool.map(lambda package: read(registry, package), only), strict=True))
    write({package: names for package, (names, _) in held.items()})
    write_arguments({package: both for package, both in held.items() if both[1]})


def write_arguments(held: dict[str, Held]) -> None:
    """The table of arguments."""
    rows: list[str] = []
    for package, (names, taking) in held.items():
        public = {name.rpartition(".")[2] for each in names.values() for name in each}
        if told := argument_spans({at: each for at, each in taking.items() if each}, public):
            # What TensorFlow 1 lost is still taken by functions that 2 exports beside new ones.
            rows += rows_of_names(
                package,
                {n: s for n, s in told.items() if package != "tensorflow" or s[1][:2] != "1."},
            )
    (FOLDER / "arguments.txt").write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")


def write(all_read: dict[str, dict[Release, set[str]]]) -> None:
    """The table."""
    tensorflow, keras = all_read["tensorflow"], all_read["keras"]
    of_three = set[str]().union(*(held for release, held in keras.items() if release >= (3,)))
    for release, held in tensorflow.items():
        if release >= (2, 6):  # Keras is a package of its own then, with TensorFlow's number or 3
            brought = of_three if release >= (2, 16) else keras.get(release, set[str]())
            tensorflow[release] = {name for name in held if not name.startswith("tf.keras")} | {
                name for name in brought if name.startswith("tf.keras")
            }
    for release in keras:
        keras[release] = {name for name in keras[release] if not name.startswith("tf.keras")}
    names: list[str] = []
    for package, holding in all_read.items():
        told = spans({release: held for release, held in holding.items() if held})
        told = {name: span for name, span in told.items() if is_told(name, span)}
        names += rows_of_names(package, told) if told else ()
    (FOLDER / "names.txt").write_text("".join(f"{row}\n" for row in names), encoding="utf-8")


if __name__ == "__main__":
    main()
