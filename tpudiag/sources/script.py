"""A static look at a script: TensorFlow 1 interfaces, and calls that save."""

import ast
import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from tpudiag.errors import MissingExtra, UnreadableInput
from tpudiag.missing_modules import packages_of
from tpudiag.model import Location
from tpudiag.signals import Framework, Tf1Use
from tpudiag.sources import notebook
from tpudiag.sources.imported_files import UNPARSED, helpers
from tpudiag.sources.job.points import script_text

_V1_ONLY = frozenset((
    "Session", "InteractiveSession", "placeholder", "disable_v2_behavior",
    "disable_eager_execution", "global_variables_initializer", "ConfigProto",
))  # fmt: skip
_GONE = ("contrib", "estimator", "flags", "logging", "app")
_SAVES = frozenset((
    "save", "save_weights", "export", "ModelCheckpoint", "BackupAndRestore", "CheckpointManager",
    "save_pretrained", "save_model", "save_checkpoint", "push_to_hub", "savez", "savez_compressed",
    "save_file", "tree_serialise_leaves", "to_bytes", "msgpack_serialize", "save_pytree", "dump",
))  # fmt: skip
_VERSION_TEST = re.compile(r"executing_eagerly|version|tf2|tf1|hasattr|v1_mode", re.IGNORECASE)

_OTHERS = {
    "jax": {"jax", "flax", "haiku", "optax", "equinox", "maxtext", "MaxText"},
    "torch": {"torch", "torch_xla", "lightning", "pytorch_lightning"},
}
"""Framework -> the modules by which a script shows that it trains with it."""


@dataclass(frozen=True)
class ScriptFacts:
    """Facts from a script's source, without running it."""

    tf1: tuple[Tf1Use, ...]
    saves: tuple[Location, ...]
    has_strategy: bool = False
    framework: str | None = None
    """The framework that it imports where none of its kind is known here: torch."""
    defines: tuple[str, ...] = ()
    """Its functions, where it defines and calls none: another script runs them."""

    @property
    def is_tensorflow_1(self) -> bool:
        """Whether the script is a TensorFlow 1 script throughout: running it would show nothing."""
        return bool(self.tf1) and not self.has_strategy


def module_file(module: str, python: str | None = None) -> str:
    """The file that `python -m` would run, below this folder or among that Python's packages.

    The name where it is in neither.
    """
    path = Path(*module.split("."))
    for folder in (Path(), *packages_of(python)):
        for file in (folder / path.with_suffix(".py"), folder / path / "__main__.py"):
            if file.is_file():
                return str(file)
    return module


def file_of(program: str, python: str | None = None) -> str:
    """The file of a script, of a module (`python -m`) or of a `module:function`."""
    return program if Path(program).is_file() else module_file(program.partition(":")[0], python)


def look(file: str, overlay: Mapping[str, str] | None = None) -> ScriptFacts:
    """The facts of one file; none of an unparsable file, whose error running will show."""
    try:
        tree = script_text.tree_of(Path((overlay or {}).get(file, file)).read_bytes(), file)
    except UNPARSED:
        return ScriptFacts((), ())
    names = dict(_imported(tree))
    uses: dict[str, Tf1Use] = {}
    dead = _guarded(tree)
    for node in ast.walk(tree):
        for dotted in _dotted(node, names) if id(node) not in dead else ():
            if _is_tf1(dotted):
                api = dotted.replace("tensorflow.", "tf.", 1)
                line = getattr(node, "lineno", None)
                # The first line of each: a script of TensorFlow 1 uses an interface a hundred
                # times.
                uses.setdefault(api, Tf1Use(api, Location(file, line)))
    saves = tuple(
        Location(name, node.lineno)
        for name, each in ((file, tree), *helpers(file, tree))
        for node in ast.walk(each)
        if isinstance(node, ast.Call) and _saves_something(node)
    )
    strategy = any(
        isinstance(node, ast.Attribute) and node.attr.endswith("Strategy")
        for node in ast.walk(tree)
    )
    return ScriptFacts(
        _outermost(uses), saves, strategy, _framework(tree), tuple(_only_defined(tree))
    )


def _only_defined(tree: ast.Module) -> Iterator[str]:
    """The functions of a file whose own lines call nothing."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
    lines = [node for node in tree.body if not isinstance(node, functions)]
    if not any(isinstance(inner, ast.Call) for line in lines for inner in ast.walk(line)):
        yield from (node.name for node in tree.body if isinstance(node, ast.FunctionDef))


def trains_with(
    file: str, variables: Mapping[str, str] = os.environ, home: Path | None = None,
    keras: str = "3",
) -> Framework:  # fmt: skip
    """The framework of a script or notebook, as far as its text and the settings show.

    The modules beside it that it imports are read as well. `keras` is the installed release: before
    the third it knows no backend.
    """
    try:
        cells = notebook.read(file).program if notebook.is_notebook(file) else None
        program = ast.parse(Path(file).read_bytes() if cells is None else cells)
    except (*UNPARSED, UnreadableInput, MissingExtra):
        return Framework.TENSORFLOW
    trees = [program, *(tree for _, tree in helpers(file, program))]
    tops = {top for tree in trees for top in _tops(tree)}
    backends, true = ("jax", "tensorflow", "torch"), ("1", "true")
    set_here = (_set_to(tree, "KERAS_BACKEND", backends) for tree in trees)
    backend = next(filter(None, set_here), None) or _backend_of(variables, home or Path.home())
    if keras.partition(".")[0] in ("1", "2"):
        backend = "tensorflow"
    if "keras" in tops:
        return Framework.JAX if backend == "jax" else Framework.TENSORFLOW
    # tf.keras is the same Keras, unless the setting asks for the older one.
    legacy = "TF_USE_LEGACY_KERAS"
    older = variables.get(legacy, "").lower() in true or any(
        _set_to(tree, legacy, true) for tree in trees
    )
    of_keras = backend == "jax" and not older
    of_jax = tops & _OTHERS["jax"] or (of_keras and any(map(_names_keras, trees)))
    return Framework.JAX if of_jax and not any(map(_distributes, trees)) else Framework.TENSORFLOW


def _set_to(tree: ast.AST, name: str, values: tuple[str, ...]) -> str | None:
    """Which of these values a script gives a variable of its own environment.

    One that is set in one branch of another condition is not known to be set.
    """
    strings = [str(c.value) for c in ast.walk(tree) if isinstance(c, ast.Constant)]
    if name not in strings:
        return None
    if isinstance(tree, (ast.Assign, ast.Call, ast.Dict)):
        return next((s for s in strings if s.lower() in values), None)
    if isinstance(tree, ast.If) and name not in ast.unparse(tree.test):
        return None
    inner = (_set_to(each, name, values) for each in ast.iter_child_nodes(tree))
    return next(filter(None, inner), None)


def _backend_of(variables: Mapping[str, str], home: Path) -> str | None:
    """The backend that the environment or Keras' own settings name."""
    if "KERAS_BACKEND" in variables:
        return variables["KERAS_BACKEND"]
    folder = Path(variables.get("KERAS_HOME", home / ".keras"))
    try:
        settings: object = json.loads((folder / "keras.json").read_bytes())
    except (OSError, ValueError):
        return None
    return cast("dict[str, str]", settings).get("backend") if isinstance(settings, dict) else None


def _names_keras(tree: ast.AST) -> bool:
    names, nodes = dict(_imported(tree)), ast.walk(tree)
    return any(each.startswith("tensorflow.keras") for n in nodes for each in _dotted(n, names))


def _distributes(tree: ast.AST) -> bool:
    """Whether a script trains with TensorFlow: by a strategy of its own, or by tf.function."""
    names = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    return any(name.endswith("Strategy") for name in names) or "GradientTape" in names


def _framework(tree: ast.AST) -> str | None:
    """PyTorch, where a script imports it, and nothing of TensorFlow's, Keras' or JAX's."""
    tops = _tops(tree)
    known = ("tensorflow", "keras", "tf_", "transformers", *_OTHERS["jax"])
    relative = any(isinstance(node, ast.ImportFrom) and node.level for node in ast.walk(tree))
    # Imports by its own modules show at run time.
    if relative or any(top.startswith(known) for top in tops):
        return None
    return "torch" if tops & _OTHERS["torch"] else None


def _guarded(tree: ast.AST) -> set[int]:
    """What runs only under another TensorFlow: behind a test of it, or of what it lacks.

    Which branch of such a test runs is seen when the job is run.
    """
    dead: set[int] = set()
    inside: list[ast.AST]
    for node in ast.walk(tree):
        if isinstance(node, (ast.If, ast.IfExp)) and _VERSION_TEST.search(ast.unparse(node.test)):
            inside = (
                [*node.body, *node.orelse] if isinstance(node, ast.If) else [node.body, node.orelse]
            )
        elif isinstance(node, ast.Try):
            inside = [*node.body, *node.handlers] if node.handlers else []
        else:
            continue
        dead.update(id(inner) for part in inside for inner in ast.walk(part))
    return dead


def _saves_something(call: ast.Call) -> bool:
    """Whether a call saves a model or a checkpoint, by its name; `write` only of a checkpoint."""
    name = script_text.called(call)
    if name == "write" and isinstance(call.func, ast.Attribute):
        return bool(re.search(r"ckpt|checkpoint", ast.unparse(call.func.value), re.IGNORECASE))
    return name in _SAVES


def _imported(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Each local name of a module, or of what is imported from one, with its dotted path."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for item in node.names:
                bound = item.asname or item.name.partition(".")[0]
                yield bound, item.name if item.asname else bound
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for item in node.names:
                yield item.asname or item.name, f"{node.module}.{item.name}"


def _tops(tree: ast.AST) -> set[str]:
    """The top names of what is imported by its whole name."""
    return {path.partition(".")[0] for _, path in _imported(tree)}


def _dotted(node: ast.AST, names: dict[str, str]) -> Iterator[str]:
    if isinstance(node, ast.Attribute):
        parts: list[str] = []
        inner: ast.expr = node
        while isinstance(inner, ast.Attribute):
            parts.append(inner.attr)
            inner = inner.value
        if isinstance(inner, ast.Name) and inner.id in names:
            yield ".".join([names[inner.id], *reversed(parts)])
    elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
        yield from (f"{node.module}.{item.name}" for item in node.names)
    elif isinstance(node, ast.Import):
        yield from (item.name for item in node.names)


def _is_tf1(dotted: str) -> bool:
    head, _, rest = dotted.partition(".")
    if head != "tensorflow" or not rest:
        return False
    first = rest.removeprefix("compat.v1.").partition(".")[0]
    in_v1 = dotted.startswith("tensorflow.compat.v1.")
    # tf.compat.v1.logging and flags are there to this day, and harmless; without compat.v1 they are
    # gone.
    return first in _V1_ONLY or first in ("contrib", "estimator") or (not in_v1 and first in _GONE)


def _outermost(uses: dict[str, Tf1Use]) -> tuple[Tf1Use, ...]:
    """Each interface once: tf.contrib.tpu.X says it for tf.contrib and tf.contrib.tpu."""
    return tuple(
        use
        for api, use in uses.items()
        if not any(other != api and other.startswith(f"{api}.") for other in uses)
    )
