"""Detects a JAX trainer whose profiler, and so the trainer, a capture would crash.

jaxlib's profiler calls libtpu's, and where their versions do not match it continues after
`Unexpected PLUGIN_Profiler_Api size` into a null pointer (reproduced: jaxlib 0.10.2 with libtpu
0.0.52). JAX's metadata names the matching libtpu.
"""

import re
from collections.abc import Iterable
from pathlib import Path

_JAXLIB, _LIBTPU = re.compile(r"(/.*)/jaxlib/"), re.compile(r"(/.*)/libtpu/libtpu\.so")
_ASKED = re.compile(
    r"^Requires-Dist: *libtpu *\(?== *([\d.]+?)(?:\.\*)?\)? *;.*\btpu\b", re.MULTILINE
)


def crash_feared(root: Path, mapped: Iterable[str]) -> str:
    """Why a capture could crash the process that has these files mapped; empty where it is safe.

    `root` is the process's root folder.
    """
    jax = libtpu = ""
    for path in mapped:
        jax = jax or _first(_JAXLIB, path)
        libtpu = libtpu or _first(_LIBTPU, path)
    if not jax or not libtpu:
        return ""
    have, _ = _distribution(root, libtpu, "libtpu")
    version, metadata = _distribution(root, jax, "jax")
    pinned = _ASKED.search(metadata)
    # With dots at both ends, so that 0.0.5 does not match 0.0.51.
    if not have or pinned is None or f"{have}.".startswith(f"{pinned[1]}."):
        return ""
    return (
        f"a capture could crash it: JAX {version} goes with libtpu {pinned[1]}, and {have} is "
        "loaded (its profiler ends in `Unexpected PLUGIN_Profiler_Api size` and SIGSEGV); pip "
        f"install 'jax[tpu]=={version}' there; --force captures all the same"
    )


def _first(pattern: re.Pattern[str], path: str) -> str:
    """The package folder of a mapped file."""
    match = pattern.match(path)
    return match[1] if match else ""


def _distribution(root: Path, site: str, name: str) -> tuple[str, str]:
    """Version and metadata of a package; empty where it is missing."""
    folder = Path(f"{root}{site}")
    try:
        # By the folder's name: importlib.metadata knows this environment, not the trainer's.
        for entry in sorted(folder.glob(f"{name}-*.dist-info")):
            version = entry.name.removeprefix(f"{name}-").removesuffix(".dist-info")
            metadata = (entry / "METADATA").read_text(encoding="utf-8", errors="replace")
            return version, metadata
    except OSError:
        pass
    return "", ""
