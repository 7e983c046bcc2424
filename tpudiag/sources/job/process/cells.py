"""Runs a notebook's cells, converted to plain Python by the parent, as IPython does."""

import ast
import asyncio
import builtins
import codeop
import contextlib
import inspect
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from tpudiag.sources.job.points import Kwargs, hooks, script_text, table, user_lines
from tpudiag.sources.job.process.protocol import JobSpec

Tried = Callable[[Any, str, dict[str, Any], int], Any]
"""Compiles and runs a text: its file, its namespace, the compiler flags."""

_OF_FILES = frozenset(("mkdir", "cp", "mv", "ln", "touch", "rm", "unzip", "tar", "gunzip"))
"""Programs that only change files, which a rehearsal discards."""


def is_of_files(line: str) -> bool:
    """Whether a line is a shell command that only changes files: `!mkdir -p out`."""
    parts = re.split(r"&&|;", line.strip().removeprefix("!"))
    programs = {part.split(maxsplit=1)[0] for part in parts if part.strip()}
    # Substitutions by IPython or the shell, and redirected output, are not examined.
    return bool(programs) and programs <= _OF_FILES and not re.search(r"[`$|<>&{]", "".join(parts))


class Nothing:
    """Stands for a part of a kernel: whatever it is asked, it has nothing."""

    def __getattr__(self, name: str) -> object:
        # copy, pickle and displays look up such names, which must be missing.
        if name.startswith("_"):
            raise AttributeError(name)
        return Nothing()

    def __getitem__(self, _: object) -> object:
        return Nothing()

    def __iter__(self) -> Iterator[object]:
        return iter(())

    def __call__(self, *_: object, **__: object) -> object:
        """As IPython's display, it has no effect."""
        return Nothing()


class Shell(Nothing):
    """Replaces IPython's shell: commands and magics do nothing, with a few exceptions."""

    def __init__(self, namespace: dict[str, Any], *, holds_writes: bool = False) -> None:
        self.user_ns, self._holds_writes = namespace, holds_writes
        self.config: dict[str, Any] = {}

    def system(self, command: str) -> None:
        """`!command`: not run, unless it only changes files and writes are held back."""
        if self._holds_writes and is_of_files(command):
            subprocess.run(command, shell=True, check=False)

    def getoutput(self, command: str) -> list[str]:  # noqa: ARG002
        """`lines = !command`: not run, returns no lines."""
        return []

    def run_line_magic(self, name: str, line: str, *_: object) -> None:
        """`%name line`: only `%env NAME=VALUE` and `%cd` work, since cells rely on them."""
        variable, _sign, value = line.partition("=" if "=" in line else " ")
        folder = Path(line.strip().strip("'\"")).expanduser()
        if name in ("env", "set_env") and value:
            os.environ[variable.strip()] = value.strip()
        elif name == "cd" and folder.is_dir():
            os.chdir(folder)

    def run_cell_magic(self, name: str, line: str, cell: str) -> None:  # noqa: ARG002
        """`%%name line` over a cell: ignored, unless it runs the cell unchanged."""
        if name in script_text.PLAIN_CELLS:
            exec(compile(cell, f"<%%{name}>", "exec"), self.user_ns)

    def magic(self, line: str) -> None:
        """The old way to call a line magic."""
        name, _, rest = line.partition(" ")
        self.run_line_magic(name, rest)

    def write_file(self, name: str, text: str, append: bool) -> None:
        """`%%writefile name`: later cells may import it."""
        with open(os.path.expanduser(name), "a" if append else "w") as file:  # noqa: PTH111, PTH123
            file.write(text)


def asked_of_ipython(_: ModuleType) -> None:
    """Libraries that ask IPython for the shell get that of the cells, if there are any."""
    known = getattr(builtins, "get_ipython", None)
    if known is not None:
        hooks.stand_in(table.SHELL_OF_IPYTHON, known)


def _unless_by_cell(namespace: Kwargs, end: Callable[..., None], *args: object) -> None:
    """End a process, unless a cell of the notebook ends this one."""
    # multiprocessing and launchers use the same functions: theirs must work.
    frame = user_lines.direct_frame()
    by_cell = frame is not None and frame.f_globals is namespace
    if by_cell and (len(args) < 2 or args[0] == os.getpid()):
        return None
    return end(*args)


def offer_shell(namespace: Kwargs, *, holds_writes: bool = False) -> None:
    """Provide a shell to a notebook, or to a script exported from one, as under IPython."""
    shell = Shell(namespace, holds_writes=holds_writes)
    namespace.update(display=Nothing(), get_ipython=lambda: shell)
    # Libraries that find it import IPython, which would fail in the place of what they tell.
    if find_spec("IPython") is not None:
        hooks.added(table.SHELL_ASKED, lambda: shell)


def _futures_first(cell: Any, file: str, flags: int) -> Any:
    """A cell as IPython runs it, statement by statement: anywhere in it may be a `__future__`."""
    tree = script_text.tree_of(cell, file, flags)
    tree.body.sort(key=lambda each: getattr(each, "module", "") != "__future__")
    return tree


def plain(text: object, _: str, __: Kwargs, ___: int) -> Any:
    """A text as it is."""
    return text


def run(spec: JobSpec, tried: Tried = plain) -> None:
    """Run a notebook's program cell by cell as __main__, in the notebook's folder."""
    main = ModuleType("__main__")
    main.__dict__.update(In=[""], Out={}, __builtins__=builtins)
    offer_shell(main.__dict__, holds_writes=spec.isolation == "overlay")
    sys.modules["__main__"] = main
    sys.argv = [spec.notebook, *spec.arguments]
    # As in a kernel: the empty entry is the working folder, wherever `%cd` moves it.
    sys.path.insert(0, "")
    # Before chdir, since the path may be relative.
    file = os.path.abspath(spec.program)  # noqa: PTH100
    os.chdir(Path(spec.notebook).resolve().parent)
    text = Path(file).read_text(encoding="utf-8")
    # Disable the ways in which a notebook restarts its own kernel.
    # IPython is imported only where it is used: the import is slow, and may fail.
    if "do_shutdown" in text:
        with contextlib.suppress(ImportError, AttributeError):
            application: Any = import_module("IPython").Application.instance()
            application.kernel = Nothing()
    hooks.around(table.PROCESS_ENDED, partial(_unless_by_cell, main.__dict__))
    lines = text.split("\n")
    compiler = codeop.Compile()  # remembers `from __future__` of earlier cells, as IPython does
    # Instead of codeop's own flags, which are for an interactive prompt.
    compiler.flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    for first, end in zip(spec.cells, [*spec.cells[1:], len(lines) + 1], strict=True):
        # Prepend empty lines: tracebacks need the program's line numbers, which map back to the
        # cell.
        source = "\n" * (first - 1) + "\n".join(lines[first - 1 : end - 1]) + "\n"
        tree = tried(source, file, main.__dict__, compiler.flags)
        code = compiler(_futures_first(tree, file, compiler.flags), file, "exec")
        result: Any = eval(code, main.__dict__)
        # A cell with `await` at its top level compiles to a coroutine.
        if inspect.iscoroutine(result):
            asyncio.run(result)
