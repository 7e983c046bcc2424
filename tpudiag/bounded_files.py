"""Files that are held in memory whole: read up to a limit, for a device has no end; and written."""

import contextlib
import errno
import os
from pathlib import Path

MOST_BYTES = 1 << 29
"""Of a report, a notebook, prices, settings: a report of a pod has some 10 MB."""
MOST_SOURCE_BYTES = 5_000_000


def read_bytes(path: str | Path, most: int = MOST_BYTES) -> bytes:
    """The bytes of a file; raises OSError, for one that is larger as well."""
    with Path(path).open("rb") as stream:
        data = stream.read(most + 1)
    if len(data) > most:
        raise OSError(errno.EFBIG, f"larger than {most >> 20} MB, which is read at most", str(path))
    return data


def read_text(path: str | Path) -> str:
    """The same as UTF-8; raises OSError and UnicodeDecodeError."""
    return read_bytes(path).decode("utf-8")


def python_lines(file: str) -> tuple[str, ...]:
    """The lines of a Python file; none of any other, and of one that cannot be read."""
    try:
        # A name in a profile may be that of a pipe, which would be waited for.
        is_python = file.endswith(".py") and Path(file).is_file()
        data = read_bytes(file, MOST_SOURCE_BYTES) if is_python else b""
    except OSError:
        return ()
    return tuple(data.decode("utf-8", "replace").splitlines())


def write_whole(file: Path, data: bytes) -> None:
    """Write a file that nobody ever sees in part, and Ctrl-C does not leave so; raises OSError."""
    # In the same folder: a rename is one step only within a file system.
    beside = file.with_name(f".tpudiag.{os.urandom(6).hex()}")
    try:
        with beside.open("xb") as stream:
            stream.write(data)
        beside.replace(file)
    finally:
        with contextlib.suppress(OSError):
            beside.unlink()
