"""A JAX trainer whose profiler a capture would crash, and the trainer with it.

jaxlib's profiler asks libtpu for its own, and where the two are of different ages it goes on after
`Unexpected PLUGIN_Profiler_Api size` into a null pointer (reproduced: jaxlib 0.10.2 with libtpu
0.0.52). JAX names the libtpu that fits in its own metadata.
"""

import re
from collections.abc import Iterable
from pathlib import Path

_JAXLIB, _LIBTPU = re.compile(r"(/.*)/jaxlib/"), re.compile(r"(/.*)/libtpu/libtpu\.so")
_ASKED = re.compile(
    r"^Requires-Dist: *libtpu *\(?== *([\d.]+?)(?:\.\*)?\)? *;.*\btpu\b", re.MULTILINE
)


def crash_feared(root: Path, mapped: Iterable[str]) -> str:
    """Why a capture could crash the process that has these files mapped; nothing where it fits.

    `root` is what the process sees as /.
    """
    jax = libtpu = ""
    for path in mapped:
        jax = jax or _first(_JAXLIB, path)
        libtpu = libtpu or _first(_LIBTPU, path)
    if not jax or not libtpu:
        return ""
    have, _ = _distribution(root, libtpu, "libtpu")
    version, metadata = _distribution(root, jax, "jax")
    asked = _ASKED.search(metadata)
    # With dots at both ends, so that 0.0.5 is not taken for 0.0.51.
    if not have or asked is None or f"{have}.".startswith(f"{asked[1]}."):
        return ""
    return (
        f"a capture could crash it: JAX {version} goes with libtpu {asked[1]}, and {have} is "
        "loaded (its profiler ends in `Unexpected PLUGIN_Profiler_Api size` and SIGSEGV); pip "
        f"install 'jax[tpu]=={version}' there; --force captures all the same"
    )


def _first(pattern: re.Pattern[str], path: str) -> str:
    """The folder of the packages that a mapped file belongs to."""
    match = pattern.match(path)
    return match[1] if match else ""


def _distribution(root: Path, site: str, name: str) -> tuple[str, str]:
    """Version and metadata of a package; nothing where it is not there."""
    folder = Path(f"{root}{site}")
    try:
        # By the folder's own name: importlib.metadata knows this environment, and not the
        # trainer's.
        for entry in sorted(folder.glob(f"{name}-*.dist-info")):
            version = entry.name.removeprefix(f"{name}-").removesuffix(".dist-info")
            metadata = (entry / "METADATA").read_text(encoding="utf-8", errors="replace")
            return version, metadata
    except OSError:
        pass
    return "", ""
