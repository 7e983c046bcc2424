"""Each format of each kind of report, against tests/golden/.

The Markdown files end in .markdown, as ruff formats the code within .md files.

After a change that is meant: `TPUDIAG_UPDATE_GOLDEN=1 pytest tests/reports/test_golden.py`, and
look at the difference.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tpudiag.catalogue import renderer
from tpudiag.model import Report

GOLDEN = Path(__file__).parents[1] / "golden"
ENDINGS = {"json": "json", "markdown": "markdown", "rich": "ansi", "text": "txt"}


@pytest.mark.parametrize("format_", ENDINGS)
def test_report_is_as_agreed(
    format_: str, name: str, specimen: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tpudiag.saved.__version__", "0.0.0")
    file = GOLDEN / f"{name}.{ENDINGS[format_]}"
    text = renderer(format_)(specimen)
    if os.environ.get("TPUDIAG_UPDATE_GOLDEN"):
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")
