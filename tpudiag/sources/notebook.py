"""Reads a notebook and makes one plain Python program of its code cells, line for line.

nbformat reads the file and IPython's own input transformer finds what is no Python, so that the
job's side needs neither. Cells are numbered as IPython numbers them when a notebook runs from its
top: `In[7]` is cell 7.
"""

import re
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from tpudiag.bounded_files import read_text
from tpudiag.errors import MissingExtra, UnreadableInput
from tpudiag.records import dataclass

ENDING = ".ipynb"
_TRANSPARENT = ("time", "timeit", "capture", "prun", "tpudiag_check")
"""Cell magics whose cell runs all the same."""
_WRITES = ("writefile", "file")
_STATEMENT = re.compile(r"(\s*)%(?:time|timeit|prun)\b((?:\s+-\w+(?:\s*\d+)?)*)\s+(?=\S)(.*)", re.S)
_MAGIC = re.compile(r"%%(\w+)(.*)")
_ALONE = re.compile(r"(\w+)(?:[ \t]+(?![=,]|[-+*/%&|<>]{1,2}=?[ \t]).*)?")
_DEFINED = r"(?m)\b{0}\s*=[^=]|(?:import|def|class|as|for)[ \t]+{0}\b"
_UNMARKED = {
    "cat", "cd", "clear", "conda", "cp", "env", "history", "ldir", "less", "load_ext", "ls",
    "man", "matplotlib", "mkdir", "more", "mv", "pip", "pwd", "pycat", "reload_ext", "rm", "rmdir",
    "run", "set_env", "who", "who_ls", "whos",
}  # fmt: skip
"""Magics that notebooks use without their `%`, which IPython takes in a cell of one line."""


_STARTS_PYTHON = re.compile(
    r"(?:^[\s!]*|[\s;&|])python[\d.]*\s+(?:-[uBO]\s+)*"
    r"(?:-m\s+(?P<module>[\w.]+)|(?P<file>[\w./{}$-]+\.py)\b)(?P<arguments>[^;&|>\"]*)"
)
_TOOLS = {"pip", "venv", "http", "IPython", "ipykernel", "jupyter", "spacy", "nltk", "unittest"}
"""Modules that no one trains with."""


@dataclass(frozen=True)
class SkippedLine:
    """A shell command or magic of a notebook that is not run."""

    cell: int
    line: int
    text: str

    def __str__(self) -> str:
        return f"cell {self.cell}, line {self.line}: {self.text}"


@dataclass(frozen=True)
class Notebook:
    """A notebook as one Python program, and what of it is left out."""

    name: str
    """The path as the user gave it."""
    program: str
    cells: tuple[int, ...]
    """The line of the program with which each cell begins."""
    skipped: tuple[SkippedLine, ...]


def python_command(text: str) -> str | None:
    """The user's program that a shell line starts, with its arguments after `--`; None for others.

    A file, or `-m` and a module.
    """
    started = _STARTS_PYTHON.search(text)
    if started is None or started["module"] in _TOOLS:
        return None
    program = started["file"] or f"-m {started['module']}"
    arguments = started["arguments"].strip().removesuffix("\\").strip()
    return f"{program} -- {arguments}" if arguments else program


def is_notebook(target: str) -> bool:
    """Whether a target is a notebook, by its ending."""
    return target.endswith(ENDING)


def read(path: str) -> Notebook:
    """The notebook at `path`; MissingExtra without nbformat, UnreadableInput for what is none."""
    return of_cells(path, code_cells(path))


def of_cells(name: str, sources: Sequence[str]) -> Notebook:
    """The cells of a notebook, or of a session that goes on, in the order in which they run."""
    program: list[str] = []
    cells: list[int] = []
    skipped: list[SkippedLine] = []
    for number, source in enumerate(sources, 1):
        lines, commands = _plain(source, "\n".join(program))
        cells.append(len(program) + 1)
        skipped += [SkippedLine(number, line, text) for line, text in commands]
        program += lines
    return Notebook(name, "\n".join(program) + "\n", tuple(cells), tuple(skipped))


def _loaded(path: str) -> Any:
    """The notebook as nbformat 4 has it."""
    try:
        nbformat: Any = import_module("nbformat")
        import_module("IPython.core.inputtransformer2")
    except ImportError as error:
        raise MissingExtra(
            f"{path} is a notebook, and {error.name} is not installed: "
            "pip install 'tpudiag[notebook]'"
        ) from error
    try:
        text = read_text(path)
    except OSError as error:
        raise UnreadableInput(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UnreadableInput(f"{path} is no notebook: it is not UTF-8 text") from error
    try:
        return nbformat.reads(text, as_version=4)
    except Exception as error:  # nbformat lets out what its converters and JSON raise
        lines = str(error).strip().splitlines()
        reason = lines[0][:120] if lines else type(error).__name__
        raise UnreadableInput(f"{path} is no notebook that nbformat can read: {reason}") from error


def code_cells(path: str) -> list[str]:
    """The source of each code cell that is not blank; another language is refused."""
    notebook = _loaded(path)
    try:
        kernel = notebook.get("metadata", {}).get("kernelspec", {})
        language = str(kernel.get("language") or "python").lower()
        cells: list[Any] = list(notebook.cells)
    except (AttributeError, TypeError) as error:  # what should hold others is a text or a number
        reason = "what should hold its cells is of another kind"
        raise UnreadableInput(f"{path} is no notebook: {reason}") from error
    if not language.startswith("python"):
        raise UnreadableInput(f"{path} is a notebook in {language}, not Python")
    dicts: list[dict[str, Any]] = [cell for cell in cells if isinstance(cell, dict)]
    code = [cell for cell in dicts if cell.get("cell_type") == "code"]
    # A front end has lines end in one way before it sends a cell to IPython.
    sources = [re.sub("\r\n?", "\n", str(cell.get("source", ""))) for cell in code]
    return [source for source in sources if source.strip()]


def _plain(source: str, before: str) -> tuple[list[str], list[tuple[int, str]]]:
    """A cell as plain Python with as many lines, and its (line, text) that will not be run."""
    lines = source.split("\n")
    first = next((n for n, line in enumerate(lines) if line.strip()), 0)
    lines[first:] = _without_indent(lines[first:])
    # Colab takes a magic below comments for the cell's, too.
    code = next((n for n in range(first, len(lines)) if re.match(r"\s*[^\s#]", lines[n])), first)
    magic = _MAGIC.match(lines[code])
    first = code if magic else first
    if magic is None:
        return _without_commands(_marked(lines, first, before))
    if magic[1] in _TRANSPARENT:
        rest, commands = _without_commands(lines[first + 1 :])
        # The magic's line stays as a blank: line 12 of a cell is to be line 12 in every finding.
        return [""] * (first + 1) + rest, [(line + first + 1, text) for line, text in commands]
    if magic[1] in _WRITES:
        return _file_written(lines, first, magic[2]), []
    starts = (n for n in range(first + 1, len(lines)) if python_command(lines[n]) is not None)
    return [""] * len(lines), [(n + 1, lines[n].strip()) for n in (first, *starts)]


def _without_indent(lines: list[str]) -> list[str]:
    """Lines without what IPython takes off a cell: the first one's indentation, and prompts."""
    transformer: Any = import_module("IPython.core.inputtransformer2")
    code = [f"{line}\n" for line in lines]
    for taken_off in ("leading_indent", "classic_prompt", "ipython_prompt"):
        code = getattr(transformer, taken_off)(code)
    return [line.removesuffix("\n") for line in code]


def _marked(lines: list[str], first: int, before: str) -> list[str]:
    """A cell of one line that is a magic without its `%`, with it: `pwd`, `pip install x`.

    A name that the cells before it define is none.
    """
    alone = _ALONE.fullmatch(lines[first].rstrip())
    if any(line.strip() for line in lines[first + 1 :]) or not alone:
        return lines
    if alone[1] not in _UNMARKED or re.search(_DEFINED.format(alone[1]), before):
        return lines
    return [*lines[:first], f"%{lines[first]}", *lines[first + 1 :]]


def _file_written(lines: list[str], first: int, options: str) -> list[str]:
    """`%%writefile [-a] NAME`, which later cells may import."""
    words = options.split()
    append = bool({"-a", "--append"} & set(words))
    name = next((word for word in words if not word.startswith("-")), "")
    body = "\n".join(lines[first + 1 :]) + "\n"
    name = name.strip("'\"")
    write = f"get_ipython().write_file({name!r}, {body!r}, {append})"
    return [*lines[:first], write, *[""] * (len(lines) - first - 1)]


def _without_commands(lines: list[str]) -> tuple[list[str], list[tuple[int, str]]]:
    """Lines in which IPython's shell commands and magics became calls, none of them moved."""
    manager: Any = import_module("IPython.core.inputtransformer2").TransformerManager()
    code = [line + "\n" for line in lines]
    commands: list[tuple[int, str]] = []
    for _ in range(len(lines)):
        # One change at a time: changing all at once would not show which lines were commands.
        try:
            changed, transformed = manager.do_one_token_transform(list(code))
        except SyntaxError:  # of the cell: running it will show it
            break
        if not changed:
            break
        pairs = enumerate(zip(code, transformed, strict=False))
        at = next((n for n, (one, other) in pairs if one != other), len(code) - 1)
        removed = len(code) - len(transformed)
        statement = _STATEMENT.fullmatch(code[at])
        if statement and not removed:
            transformed[at] = statement[1] + statement[3]
        else:
            commands.append((at + 1, code[at].strip()))
        # A command over several lines became one: blank lines keep all later ones where they were.
        code = [*transformed[: at + 1], *["\n"] * removed, *transformed[at + 1 :]]
    return [line.removesuffix("\n") for line in code], commands
