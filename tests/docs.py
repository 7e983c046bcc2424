"""Pages of the documentation that are made and not written: an mkdocs hook.

The front page is the README, a check's page its docstring with the planted script of the corpus
as the example; CONTRIBUTING.md and CHANGELOG.md stand at the top of the repository alone.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from tpudiag.explanation import Explanation, explanations

TOP = Path(__file__).parents[1]
JOBS = TOP / "tests" / "corpus" / "jobs"
LINKS = {
    "](.readme/report.svg)": "](report.svg)",
    "](CONTRIBUTING.md)": "](contributing.md)",
    "](CHANGELOG.md)": "](changelog.md)",
    "[LICENSE](LICENSE)": "LICENSE",
    "](checks/)": "](checks/index.md)",
    "](docs/": "](",
}
"""Links of the README, and the same from within the documentation."""
_PLANTED = re.compile(r"^# corpus: must-fail: *(.*)$", re.MULTILINE)


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the pages that are made; mkdocs calls it."""
    for name, text in pages().items():
        files.append(File.generated(config, name, content=text))
    files.append(File.generated(config, "report.svg", abs_src_path=str(TOP / ".readme/report.svg")))
    return files


def pages() -> dict[str, str]:
    """Every made page by its path within the documentation."""
    checks = explanations()
    return {
        "index.md": _front(),
        "contributing.md": (TOP / "CONTRIBUTING.md").read_text(encoding="utf-8"),
        "changelog.md": (TOP / "CHANGELOG.md").read_text(encoding="utf-8"),
        "checks/index.md": _table(checks),
        **{f"checks/{check.id}.md": _page(check) for check in checks},
    }


def _front() -> str:
    """The README, its links as they are from within the documentation."""
    text = (TOP / "README.md").read_text(encoding="utf-8")
    for here, there in LINKS.items():
        text = text.replace(here, there)
    return text


def _table(checks: tuple[Explanation, ...]) -> str:
    """All checks, by id."""
    head = "# Checks\n\n| id | name | severity | fails when |\n|---|---|---|---|\n"
    rows = (
        f"| [{c.id}]({c.id}.md) | {c.name} | {c.severity.value} | {c.title.rstrip('.')} |"
        for c in checks
    )
    return head + "\n".join(rows) + "\n"


def _page(check: Explanation) -> str:
    """One check, with a script that it fails."""
    parts = [f"# {check.id} {check.name}", f"*{check.severity.value}*: {check.title}", check.body]
    example = next(_scripts(check.id), None)
    if example is not None:
        parts += [f"## A script that fails it\n\n```python\n{example}```"]
    return "\n\n".join(parts) + "\n"


def _scripts(id_: str) -> Iterator[str]:
    """The corpus scripts in which the defect was planted, without their headers."""
    for file in sorted(JOBS.glob(f"{id_.lower()}_*.py")):
        text = file.read_text(encoding="utf-8")
        if (planted := _PLANTED.search(text)) and id_ in planted[1]:
            yield re.sub(r"^# corpus:.*\n", "", text, flags=re.MULTILINE).lstrip("\n")
