"""Fuzzes the profile reader with atheris; no part of the test run.

    pip install atheris
    python tests/sources/profile/fuzz_profile.py CORPUS_FOLDER -max_total_time=300

Whatever the bytes, the reader must end in facts or in one line of UnreadableInput.
"""

from __future__ import annotations

import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

atheris: Any = import_module("atheris")
with atheris.instrument_imports(include=["tpudiag"]):
    from tpudiag.errors import UnreadableInput
    from tpudiag.sources.profile import facts

FILE = Path(tempfile.mkdtemp()) / "a.xplane.pb"


def one_input(data: bytes) -> None:
    """Read the bytes as a profile."""
    FILE.write_bytes(data)
    try:
        found, steps = facts(FILE)
    except UnreadableInput as error:
        if "\n" in str(error) or str(FILE) not in str(error):
            raise AssertionError(f"no clear line: {error!r}") from error
        return
    if found.bytes_read != len(data):
        raise AssertionError("a part of the file was not read")
    if steps is not None and any(ms < 0 for ms in steps.step_ms):
        raise AssertionError("a step of negative length")


if __name__ == "__main__":
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()
