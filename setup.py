"""What pyproject.toml cannot say: a wheel holds the cases of the error desk compiled."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

PACKAGE = Path(__file__).parent / "tpudiag" / "known_errors"


class WithCases(build_py):
    """Puts the compiled cases into the wheel; a source tree compiles its own when asked."""

    def run(self) -> None:
        """Build as ever, then compile."""
        super().run()
        if self.editable_mode:
            return
        sys.path.insert(0, str(PACKAGE.parents[1]))
        from tpudiag.known_errors.compiled import read

        # `TPUDIAG_DESK_WITHOUT=beside uv build`: what is not training on a TPU stays away.
        without = os.environ.get("TPUDIAG_DESK_WITHOUT", "").split()
        cases = read(PACKAGE / "cases", without)
        target = Path(self.build_lib) / "tpudiag" / "known_errors" / "cases.json"
        target.write_text(
            json.dumps(cases, ensure_ascii=False, separators=(",", ":")), encoding="utf-8"
        )


setup(cmdclass={"build_py": WithCases})
