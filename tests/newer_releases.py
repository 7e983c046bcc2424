"""What the package index has that the table of installs lacks: `python -m tests.newer_releases`.

Run by hand: it asks the index that pip uses. It ends with 1 where a release is newer than any row.
"""

import re
import subprocess
import sys

from tpudiag.installs.table import NEWEST_SEEN

LIMIT_S = 60.0


def releases(package: str) -> list[str]:
    """The releases of a package that the index offers, the newest first."""
    done = subprocess.run(
        ["uvx", "--quiet", "pip", "index", "versions", package],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=True,
    )
    listed = re.search(r"^Available versions: (.+)$", done.stdout, re.MULTILINE)
    return listed[1].split(", ") if listed else []


def number(version: str) -> tuple[int, ...]:
    """A release to compare by."""
    return tuple(int(part) for part in re.findall(r"\d+", version))


def lacking(package: str, offered: list[str]) -> list[str]:
    """The releases that no row knows of."""
    return [each for each in offered if number(each) > number(NEWEST_SEEN[package])]


def main() -> int:
    """Say what the table lacks."""
    missing = {package: lacking(package, releases(package)) for package in NEWEST_SEEN}
    for package, newer in missing.items():
        print(f"{package}: rows up to {NEWEST_SEEN[package]}; newer: {', '.join(newer) or 'none'}")
    return int(any(missing.values()))


if __name__ == "__main__":
    sys.exit(main())
