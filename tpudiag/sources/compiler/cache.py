"""Cached compilations, by program, topology and compiler.

One JSON file each, written beside and renamed: two processes that compile the same program write
the same file, and a reader never sees a partial one.
"""

import contextlib
import hashlib
import os
import re
from pathlib import Path

import msgspec

from tpudiag.bounded_files import write_whole
from tpudiag.compiled import Compilation
from tpudiag.sources.compiler.topologies import Topology

FORM = 8
"""Incremented when the record of a compilation, or what is compiled, changes."""
_PLACE = re.compile(r" ?loc\((?:#\w+|\"(?:[^\"\\]|\\.)*\"|unknown)\)")
_MODULE = re.compile(r"^module @\S+", re.MULTILINE)


def folder() -> Path:
    """The user's cache folder for compilations; TPUDIAG_CACHE names another."""
    named = os.environ.get("TPUDIAG_CACHE")
    if named:
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "tpudiag" / "compiled"


def key(program: str, topology: Topology, compiler: str) -> str:
    """The name of a compilation; source locations and the module's number are ignored."""
    lines = (line for line in program.splitlines() if not line.startswith("#loc"))
    # TensorFlow numbers modules by order of tracing, and lines move when a comment is added:
    # neither changes the program.
    text = _MODULE.sub("module", _PLACE.sub("", "\n".join(lines)))
    parts = (str(FORM), compiler, topology.name, topology.chip_config, str(topology.replicas), text)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def load(name: str) -> Compilation | None:
    """The compilation of this name, None where there is no readable one."""
    with contextlib.suppress(OSError, msgspec.MsgspecError):
        return msgspec.json.decode((folder() / f"{name}.json").read_bytes(), type=Compilation)
    return None


def save(name: str, compilation: Compilation) -> None:
    """Store a compilation; an unwritable cache only costs time."""
    with contextlib.suppress(OSError):
        folder().mkdir(parents=True, exist_ok=True)
        write_whole(folder() / f"{name}.json", msgspec.json.encode(compilation))
