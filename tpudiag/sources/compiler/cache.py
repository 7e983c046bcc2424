"""Compilations that were done before, by program, topology and compiler.

One JSON file each, written beside and renamed: two processes that compile the same program at once
write the same file, and a reader sees a whole one or none.
"""

import contextlib
import hashlib
import os
import re
from pathlib import Path

import msgspec

from tpudiag.compiled import Compilation
from tpudiag.sources.compiler.topologies import Topology
from tpudiag.whole_files import write_whole

FORM = 8
"""Counts up when what is kept of a compilation changes, or what is compiled."""
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
    """The name of a compilation: places in the source and the module's number do not count."""
    lines = (line for line in program.splitlines() if not line.startswith("#loc"))
    # TensorFlow numbers modules by how many it traced before, and lines move when a comment is
    # added above: neither changes the program.
    text = _MODULE.sub("module", _PLACE.sub("", "\n".join(lines)))
    parts = (str(FORM), compiler, topology.name, topology.chip_config, str(topology.replicas), text)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def load(name: str) -> Compilation | None:
    """The compilation of this name, None where there is none that can be read."""
    try:
        return msgspec.json.decode((folder() / f"{name}.json").read_bytes(), type=Compilation)
    except (OSError, msgspec.MsgspecError):
        return None


def save(name: str, compilation: Compilation) -> None:
    """Keep a compilation; a cache that cannot be written costs time and nothing else."""
    with contextlib.suppress(OSError):
        folder().mkdir(parents=True, exist_ok=True)
        write_whole(folder() / f"{name}.json", msgspec.json.encode(compilation))
