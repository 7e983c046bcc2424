"""Child processes of the TPU compiler: one compiles a program, one converts an older one."""

import contextlib
import os
import re
import signal
import subprocess
from pathlib import Path
from typing import Any

import msgspec

from tpudiag import scratch
from tpudiag.sources.compiler.topologies import Topology

CHILD = Path(__file__).with_name("child.py")


class Made(msgspec.Struct):
    """The result of a compilation; the child's answer file holds the first two."""

    error: str | None = None
    """Of the compiler."""
    amounts: dict[str, Any] = {}
    """Bytes and FLOPs of the program, by the names of a Compilation; empty without one."""
    optimised: str | None = None
    """The text of the optimised HLO; None where it could not be printed."""
    failure: str | None = None
    """How the child failed; None where it succeeded."""


class CompilerChild:
    """Loads the compiler for a topology, and waits for a program to compile."""

    def __init__(self, python: str, slice_: Topology, flags: str) -> None:
        self._own = contextlib.ExitStack()
        self._folder = self._own.enter_context(scratch.folder("compiler"))
        self._log = self._folder / "log"
        with self._log.open("wb") as stream:
            command = [python, str(CHILD), "-", slice_.name, str(slice_.replicas)]
            self._process = subprocess.Popen(
                [*command, slice_.chip_config, str(self._folder)],
                stdin=subprocess.PIPE,
                stdout=stream,
                stderr=subprocess.STDOUT,
                # Ctrl-C goes to a terminal's whole group: only we may end the child.
                start_new_session=True,
                # For its temporary files, which would otherwise stay in /tmp.
                env=environment(flags)
                | dict.fromkeys(("TMPDIR", "TPU_LOG_DIR"), str(self._folder)),
            )

    def compile(self, path: str, timeout_s: float) -> Made:
        """Compile this program, and read the answer."""
        assert self._process.stdin is not None
        # A dead child already has the reason in its log.
        with contextlib.suppress(OSError):
            self._process.stdin.write(f"{path}\n".encode())
            self._process.stdin.close()
        try:
            # While C++ compiles no Python handler runs, and it may hang: wait with a limit, and
            # kill it from outside.
            code = self._process.wait(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            return Made(failure=f"it took longer than {timeout_s:.0f} s (--compile-timeout)")
        ended = f"ended by signal {-code}" if code < 0 else f"ended with code {code}"
        failure = None if code == 0 else f"the TPU compiler {ended}: {_last_line(self._log)}"
        try:
            made = msgspec.json.decode((self._folder / "answer.json").read_bytes(), type=Made)
        except (OSError, msgspec.MsgspecError):
            return Made(failure=failure or "it left no answer")
        printed = self._folder / "optimised.hlo"
        made.optimised = printed.read_text(encoding="utf-8") if printed.exists() else None
        made.failure = failure
        return made

    def kill(self) -> None:
        """Kill it and its children (it has its own session), from any thread."""
        if self._process.poll() is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def close(self) -> None:
        """Kill it, and remove its files."""
        self.kill()
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()
        self._own.close()


def environment(flags: str = "") -> dict[str, str]:
    """The child's environment: no flags but ours, for libtpu; no other tool's path."""
    # Flags may be for another release: an unknown one in XLA_FLAGS ends the process at once.
    dropped = ("XLA_FLAGS", "LIBTPU_INIT_ARGS", "PYTHONPATH")
    kept = {name: value for name, value in os.environ.items() if name not in dropped}
    if flags:
        kept["LIBTPU_INIT_ARGS"] = flags
    return kept | {"PYTHONSAFEPATH": "1"}  # as -P, which Python 3.10 refuses


def _last_line(log: Path) -> str:
    with contextlib.suppress(OSError):
        lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        # libtpu ends by a CHECK: the line beginning with F and the date (glog) has the reason, the
        # lines after it are its stack.
        fatal = [line for line in lines if re.match(r"F\d{4}|.*(Error|fatal)", line)]
        return (fatal or lines or ["it said nothing"])[-1].strip()[:300]
    return "it said nothing"


HLO = ".hlo"
"""The ending of files with a serialised HLO module."""
LIMIT_S = 120.0


class NotConverted(Exception):
    """The module could not be converted to StableHLO; the text gives the reason in one line."""


def as_stablehlo(path: str, python: str) -> str:
    """The file of a program's StableHLO text, converted beside an HLO file if necessary."""
    file = Path(path)
    if file.suffix != HLO:
        return path
    made, beside = file.with_suffix(".mlir"), file.with_suffix(f".{os.getpid()}.part")
    if made.is_file() and made.stat().st_mtime >= file.stat().st_mtime:
        return str(made)
    command = [python, str(CHILD), "--stablehlo", path, str(beside)]
    try:
        done = subprocess.run(
            command, check=False, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=LIMIT_S,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotConverted(f"the HLO of an older TensorFlow was not converted: {error}") from error
    if done.returncode or not beside.is_file():
        lines = done.stderr.strip().splitlines() or ["no word of why"]
        raise NotConverted(f"the HLO of an older TensorFlow was not converted: {lines[-1]}")
    beside.replace(made)
    return str(made)
