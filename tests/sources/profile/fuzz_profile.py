"""Fuzzes the profile reader with atheris; no part of the test run.

    pip install atheris
    python tests/sources/profile/fuzz_profile.py CORPUS_FOLDER -max_total_time=300

Whatever the bytes, reading must end in a report without a broken check, or in one line of
UnreadableInput.
"""

from __future__ import annotations

import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

atheris: Any = import_module("atheris")
with atheris.instrument_imports(include=["tpudiag"]):
    from tpudiag import report_json
    from tpudiag.diagnoses.profile import ProfileRequest, diagnose
    from tpudiag.errors import UnreadableInput
    from tpudiag.model import Verdict
    from tpudiag.settings import Settings

FILE = Path(tempfile.mkdtemp()) / "a.xplane.pb"


def one_input(data: bytes) -> None:
    """Read the bytes as a profile."""
    FILE.write_bytes(data)
    try:
        report = diagnose(ProfileRequest(path=str(FILE), xprof_limit_s=0), Settings())
    except UnreadableInput as error:
        if "\n" in str(error) or str(FILE) not in str(error):
            raise AssertionError(f"no clear line: {error!r}") from error
        return
    if report.measurements["profile_bytes"].value != len(data):
        raise AssertionError("a part of the file was not read")
    for outcome in report.outcomes:
        if outcome.verdict is Verdict.BROKEN:
            raise AssertionError(f"{outcome.id}: {outcome.reason}")
    for name, measurement in report.measurements.items():
        if name.startswith("step_time") and float(str(measurement.value)) < 0:
            raise AssertionError("a step of negative length")
    report_json.dumps(report)


if __name__ == "__main__":
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()
