"""The user's own files that a program imports, read without running it."""

import ast
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

MOST_HELPERS = 50
"""Modules beside a script that are read."""
UNPARSED = (OSError, SyntaxError, ValueError, MemoryError, RecursionError)
"""What a file raises that Python cannot parse: MemoryError where brackets nest too deep."""


def helpers(
    file: str, tree: ast.AST, tops: tuple[Path, ...] = (), known: set[Path] | None = None
) -> Iterator[tuple[str, ast.AST]]:
    """The user's modules that a program imports, and those that they do; what can be parsed."""
    known = {Path(file).resolve()} if known is None else known
    tops = tops or _tops(Path(file).absolute())
    for helper in _imported_files(Path(file), tree, tops):
        if helper.resolve() in known or len(known) >= MOST_HELPERS:
            continue
        known.add(helper.resolve())
        with suppress(*UNPARSED):
            made = ast.parse(helper.read_bytes(), str(helper))
            yield str(helper), made
            yield from helpers(str(helper), made, tops, known)


def _tops(program: Path) -> tuple[Path, ...]:
    """Where a program's absolute imports are looked for: its folder, and, with it inside, the top
    of its package and the working directory.
    """
    folder, here = program.parent, Path.cwd()
    package = next(each for each in program.parents if not (each / "__init__.py").is_file())
    return tuple(dict.fromkeys((folder, package, *({here} & set(program.parents)))))


def _imported_files(file: Path, tree: ast.AST, tops: tuple[Path, ...]) -> Iterator[Path]:
    """The files of the modules and packages that a file imports, as far as they are there."""
    for node in ast.walk(tree):
        names, folders = list[str](), tops
        if isinstance(node, ast.Import):
            names = [item.name for item in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module or ''}.{item.name}".strip(".") for item in node.names]
            folders = tuple(file.parents)[node.level - 1 : node.level] if node.level else tops
        for parts in (tuple(name.split(".")) for name in names):
            paths = (
                folder.joinpath(*parts[:count])
                for count in range(len(parts), 0, -1)
                for folder in folders
            )
            for path in paths:
                yield from filter(_is_file, (path.with_suffix(".py"), path / "__init__.py"))


def _is_file(path: Path) -> bool:
    with suppress(OSError):
        return path.is_file()
    return False
