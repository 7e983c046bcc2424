"""Writes which names of TensorFlow 1 are where in TensorFlow 2, from TensorFlow's own tables.

    uv run python -m tests.tensorflow_renames           # writes the file anew
    uv run python -m tests.tensorflow_renames --check   # says whether it is that of this release

The tables are those of tf_upgrade_v2: `tensorflow/tools/compatibility/{renames,all_renames}_v2.py`.
They are read as text: TensorFlow itself is not imported.
"""

import ast
import sys
from importlib.metadata import files, version
from pathlib import Path

WRITTEN = Path(__file__).parents[1] / "tpudiag" / "known_errors" / "readings" / "renames.txt"
TABLES = {"renames_v2.py": "renames", "all_renames_v2.py": "manual_symbol_renames"}


def package() -> str:
    """The installed package that brings TensorFlow."""
    return next(name for name in ("tensorflow-cpu", "tensorflow", "tensorflow-tpu") if files(name))


def table(name: str, variable: str) -> dict[str, str]:
    """A table of names in a module of TensorFlow's tools."""
    path = next(each for each in files(package()) or () if each.match(f"*/compatibility/{name}"))
    tree = ast.parse(Path(str(path.locate())).read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == variable:
            return dict(ast.literal_eval(node.value))
    raise LookupError(f"{path} has no {variable}")


def text() -> str:
    """The file: its source, then `old new` on each line."""
    renames: dict[str, str] = {}
    for name, variable in TABLES.items():
        renames |= table(name, variable)
    release = version(package())
    head = f"# TensorFlow {release}, tensorflow/tools/compatibility: {', '.join(TABLES)}\n"
    return head + "".join(f"{old} {new}\n" for old, new in sorted(renames.items()))


def main() -> None:
    """Writes or compares."""
    if "--check" not in sys.argv:
        WRITTEN.write_text(text(), encoding="utf-8")
    elif WRITTEN.read_text(encoding="utf-8") != text():
        sys.exit(f"{WRITTEN.name} is not of this TensorFlow: python -m tests.tensorflow_renames")


if __name__ == "__main__":
    main()
