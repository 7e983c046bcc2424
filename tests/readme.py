"""Makes the generated parts of the README: `python -m tests.readme`, or `--check` to compare."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from tpudiag.catalogue import checks
from tpudiag.model import Check

README = Path(__file__).parents[1] / "README.md"
PART = re.compile(r"(<!-- checks -->\n).*?(<!-- end -->)", re.DOTALL)


def row(check: Check) -> str:
    """One line of the table."""
    return f"| {check.id} | {check.name} | {check.severity.label} | {check.title.rstrip('.')} |"


def table() -> str:
    """All checks, by id."""
    head = "| id | name | severity | fails when |\n|---|---|---|---|\n"
    return head + "\n".join(row(check) for check in checks()) + "\n"


def made(text: str) -> str:
    """The README with its generated parts made anew."""
    return PART.sub(lambda match: match[1] + table() + match[2], text)


def main() -> int:
    """Write the README, or say whether it is current."""
    text = README.read_text(encoding="utf-8")
    if "--check" in sys.argv[1:]:
        if made(text) != text:
            print("README.md: the table of checks is old: python -m tests.readme", file=sys.stderr)
            return 1
        return 0
    README.write_text(made(text), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
