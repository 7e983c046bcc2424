"""Programs of a TensorFlow without StableHLO: its HLO module, converted by jaxlib."""

import os
import subprocess
from pathlib import Path

HLO = ".hlo"
"""The ending of files with a serialised HLO module."""
LIMIT_S = 120.0
_CHILD = Path(__file__).with_name("child.py")


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
    command = [python, str(_CHILD), "--stablehlo", path, str(beside)]
    try:
        done = subprocess.run(
            command,
            check=False,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotConverted(f"the HLO of an older TensorFlow was not converted: {error}") from error
    if done.returncode or not beside.is_file():
        lines = done.stderr.strip().splitlines() or ["no word of why"]
        raise NotConverted(f"the HLO of an older TensorFlow was not converted: {lines[-1]}")
    beside.replace(made)
    return str(made)
