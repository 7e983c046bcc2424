"""Child processes of the job: sending programs are replaced, and Pythons block sends, too."""

import os
import shlex
import shutil
import subprocess
import sys
from typing import Any, cast

from tpudiag.sources.job.held_back import child_python, program_shim
from tpudiag.sources.job.held_back.layer import Layer
from tpudiag.sources.job.points import Call, hooks, table, user_lines


class Programs:
    """A folder of replacements first on PATH, and our startup code for each child Python."""

    def __init__(self, folder: str, file: str, layer: Layer) -> None:
        """`file`: where child processes append what they held back."""
        self._folder, self._layer = folder, layer
        os.makedirs(folder, exist_ok=True)
        for name in program_shim.names():
            # A missing program must stay missing.
            if shutil.which(name):
                self._stand_in(name)
        self._variables = {program_shim.PROGRAMS: folder, program_shim.FILE: file}
        self._first = {
            "PATH": folder,
            "PYTHONPATH": os.path.dirname(os.path.abspath(child_python.__file__)),
        }
        self._prepare(cast("dict[str, str]", os.environ))
        hooks.around(table.PROGRAM_STARTED, self._started, subprocess, hooks.always)
        hooks.around(table.SHELL_STARTED, self._shell, sends=hooks.always)
        hooks.around(table.PROGRAM_EXECUTED, self._become, sends=hooks.always)

    def _stand_in(self, name: str) -> None:
        """One replacement: a shell script that calls a fast-starting Python."""
        path = os.path.join(self._folder, name)
        command = [sys.executable, "-S", "-E", "-s", program_shim.__file__, name]
        # Created with its permissions: Landlock does not allow changing them later.
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o700)
        with open(descriptor, "w") as file:
            file.write(f'#!/bin/sh\nexec {" ".join(map(shlex.quote, command))} "$@"\n')

    def _prepare(self, environment: dict[str, str]) -> None:
        """Add our variables to an environment; its own search path follows ours."""
        for name, first in self._first.items():
            known = environment.get(name, os.defpath if name == "PATH" else "")
            if first not in known.split(os.pathsep):
                environment[name] = first + (os.pathsep + known if known else "")
        environment.update(self._variables)

    def _started(
        self, original: Call, process: object, args: object, *rest: Any, **kwargs: Any
    ) -> object:
        self._say_line()
        if kwargs.get("env") is not None:
            kwargs["env"] = environment = {**kwargs["env"]}
            self._prepare_given(environment)
        if isinstance(args, (list, tuple)) and args:
            args = [self._argument(each, n) for n, each in enumerate(cast("list[object]", args))]
        if kwargs.get("cwd") is not None:
            kwargs["cwd"] = self._layer.entered(kwargs["cwd"])
        return original(process, args, *rest, **kwargs)

    def _argument(self, argument: object, index: int) -> object:
        """Replace a program given by its full path; a file that exists in the layer only."""
        if index == 0 and isinstance(argument, (bytes, os.PathLike)):
            argument = os.fsdecode(cast("os.PathLike[str]", argument))
        if not isinstance(argument, str):
            return argument
        if index == 0:
            stand_in = os.path.join(self._folder, os.path.basename(argument))
            return stand_in if os.path.isabs(argument) and os.path.exists(stand_in) else argument
        return self._layer.read(argument) if self._layer.holds(argument) else argument

    def _prepare_given(self, environment: dict[Any, Any]) -> None:
        if all(isinstance(name, str) for name in environment):
            self._prepare(environment)
            environment[program_shim.LINE] = os.environ.get(program_shim.LINE, "")

    def _become(
        self, original: Call, path: object, args: object, *rest: Any, **kwargs: Any
    ) -> object:
        """A program is started, or replaces this process; `env` may follow `args`."""
        self._say_line()
        if rest and rest[0] is not None:
            rest = ({**rest[0]}, *rest[1:])
            self._prepare_given(rest[0])
        elif kwargs.get("env") is not None:
            kwargs["env"] = {**kwargs["env"]}
            self._prepare_given(kwargs["env"])
        return original(self._argument(path, 0), args, *rest, **kwargs)

    def _shell(self, original: Call, command: object) -> object:
        self._say_line()
        return original(command)

    @staticmethod
    def _say_line() -> None:
        """Export the current user line to child processes."""
        line = user_lines.caller()
        os.environ[program_shim.LINE] = f"{line.file}:{line.line}" if line is not None else ""
