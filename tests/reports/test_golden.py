"""Each format of each kind of report, against tests/golden/.

The Markdown files end in .markdown, as ruff formats the code within .md files. Explanations are
left out but for one, and HTML without the plotting library, the style and the script. Plain text
is that of the terminal without its colours (`test_renderers.py`), and the reports that are left
out have nothing that another one has not.

After a change that is meant: `TPUDIAG_UPDATE_GOLDEN=1 pytest tests/reports/test_golden.py`, and
look at the difference.
"""

import os
import re
from pathlib import Path

import pytest

from tpudiag.catalogue import renderer
from tpudiag.explanation import Explanation
from tpudiag.model import Report, Severity

GOLDEN = Path(__file__).parents[1] / "golden"
ENDINGS = {
    "html": "html",
    "json": "json",
    "junit": "xml",
    "markdown": "markdown",
    "rich": "ansi",
    "sarif": "sarif",
    "text verbose": "verbose.txt",
}
AGREED = ("healthy", "crashed", "empty", "profile", "hostile", "long", "plots")
BODY = "## What it sees\nThe *wait*, `next()`.\n\n## What to do\n```python\nprefetch()\n```"
EXPLAINED = {
    "TPU201": Explanation("TPU201", "input-bound", Severity.WARNING, "The step waits.", BODY)
}


def without_library(text: str) -> str:
    """HTML without what is the same in every report."""
    text = re.sub(r"sha256-[^&]*", "sha256-...", text)
    return re.sub(
        r"(<style>|<script>|<script type=\"text/plain\"[^>]*>).*?(</style>|</script>)",
        r"\1...\2",
        text,
        flags=re.DOTALL,
    )


@pytest.mark.parametrize("format_", ENDINGS)
@pytest.mark.parametrize("name", AGREED, indirect=True)
def test_report_is_as_agreed(
    format_: str, name: str, specimen: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    for unit in ("tpudiag.report_json", "tpudiag.reports.html", "tpudiag.reports.sarif"):
        monkeypatch.setattr(f"{unit}.__version__", "0.0.0")
    monkeypatch.setattr("tpudiag.explanation.by_id", lambda: EXPLAINED)
    file = GOLDEN / f"{name}.{ENDINGS[format_]}"
    kind, _, verbose = format_.partition(" ")
    text = renderer(kind)(specimen, verbose=True) if verbose else renderer(kind)(specimen)
    if format_ == "html":
        text = without_library(text)
    if os.environ.get("TPUDIAG_UPDATE_GOLDEN"):
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")
