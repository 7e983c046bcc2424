"""Makes the generated parts of the README: `python -m tests.readme`, or `--check` to compare."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import sys
from pathlib import Path

from tpudiag.catalogue import checks
from tpudiag.cli import main as tpudiag
from tpudiag.model import Check

README = Path(__file__).parents[1] / "README.md"
PART = re.compile(r"(<!-- checks -->\n).*?(<!-- end -->)", re.DOTALL)
CONSOLE = re.compile(r"(?<=```console\n)\$ tpudiag explain.*?(?=```)", re.DOTALL)
PLANNED = {
    "TPU603": ("throughput-drop", "Throughput fell against its own baseline"),
    "TPU604": ("stalled", "No step for far longer than the longest normal pause"),
}
"""Checks whose ids are given and that are not there yet; one that is there is told by itself."""


def row(check: Check) -> str:
    """One line of the table."""
    title = check.title.rstrip(".")
    return f"| {check.id} | {check.name} | {check.severity.value} | {title} | there |"


def table() -> str:
    """All checks, by id."""
    head = "| id | name | severity | fails when | state |\n|---|---|---|---|---|\n"
    rows = {check.id: row(check) for check in checks()}
    for id_, (name, fails) in PLANNED.items():
        rows.setdefault(id_, f"| {id_} | {name} | | {fails} | planned |")
    return head + "\n".join(rows[id_] for id_ in sorted(rows)) + "\n"


def console(block: str) -> str:
    """The commands of a block, each with what it says."""
    commands = re.findall(r"^\$ (.+)$", block, re.MULTILINE)
    return "\n".join(f"$ {command}\n{said(command)}" for command in commands)


def said(command: str) -> str:
    """What a command of tpudiag writes to stdout."""
    with contextlib.redirect_stdout(io.StringIO()) as captured:
        tpudiag(shlex.split(command)[1:])
    return captured.getvalue()


def made(text: str) -> str:
    """The README with its generated parts made anew."""
    text = CONSOLE.sub(lambda match: console(match[0]), text)
    return PART.sub(lambda match: match[1] + table() + match[2], text)


def main() -> int:
    """Write the README, or say whether it is current."""
    text = README.read_text(encoding="utf-8")
    if "--check" in sys.argv[1:]:
        if made(text) != text:
            print("README.md: a generated part is old: python -m tests.readme", file=sys.stderr)
            return 1
        return 0
    README.write_text(made(text), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
