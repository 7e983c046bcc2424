"""Detects a JAX trainer whose profiler, and so the trainer, a capture would crash.

jaxlib's profiler calls libtpu's, and where their versions do not match it continues after
`Unexpected PLUGIN_Profiler_Api size` into a null pointer (reproduced: jaxlib 0.10.2 with libtpu
0.0.52). JAX's metadata names the matching libtpu.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from tpudiag.sources.live.packages import package

_JAXLIB, _LIBTPU = re.compile(r"(/.*)/jaxlib/"), re.compile(r"(/.*)/libtpu/libtpu\.so")
_ASKED = re.compile(r"libtpu *\(?== *([\d.]+?)(?:\.\*)?\)? *;.*\btpu\b")


def crash_feared(root: Path, mapped: Sequence[str]) -> str:
    """Why a capture could crash the process that has these files mapped; empty where it is safe.

    `root` is the process's root folder.
    """
    jax, libtpu = _folder(_JAXLIB, mapped), _folder(_LIBTPU, mapped)
    if not jax or not libtpu:
        return ""
    loaded, by = package(f"{root}{libtpu}", "libtpu"), package(f"{root}{jax}", "jax")
    lines = (by.requires or ()) if by is not None else ()
    asked = next((found for line in lines if (found := _ASKED.match(line))), None)
    # With dots at both ends, so that 0.0.5 does not match 0.0.51.
    if by is None or loaded is None or not asked or f"{loaded.version}.".startswith(f"{asked[1]}."):
        return ""
    return (
        f"a capture could crash it: JAX {by.version} goes with libtpu {asked[1]}, and another is "
        f"loaded, {loaded.version} (its profiler ends in `Unexpected PLUGIN_Profiler_Api size` "
        f"and SIGSEGV); pip install 'jax[tpu]=={by.version}' there; --force captures all the same"
    )


def _folder(pattern: re.Pattern[str], mapped: Sequence[str]) -> str:
    """The package folder of the first mapped file that matches; empty where none does."""
    return next((match[1] for path in mapped if (match := pattern.match(path))), "")
