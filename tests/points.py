"""Which points of the table a Python's libraries lack.

`python -m tests.points [--python PYTHON]` resolves each row where TensorFlow and Keras are
imported, and prints those that are not there, private ones first. It ends with 1 where one is
lacking that its row promises for all releases. Rows of packages that are not installed there, and
of objects that are found while a job runs, are left out.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

ROWS = """
from tpudiag.sources.job.points import files, privates, table
from tpudiag.sources.job.points.point import Point
ROWS = {name: row for name, row in vars(table).items() if isinstance(row, Point)}
OF_FILES = {each.at.name: each.at for each in
            (*files.PYTHON, *files.BY_C_CODE, *files.TENSORFLOW, *files.OF_TENSORS)}
PRIVATES = {name: row for name, row in vars(privates).items()
            if isinstance(row, privates.Private)}

def private(row):
    parts = [part for each in (*row.owners, *row.names) for part in each.split(".")]
    return any(p in ("python", "src") or p.startswith("_") and p[-2:] != "__" for p in parts)
"""
"""Run there, for a package of another name may be installed as `tests`."""
LOOK = """
import importlib, json, os, sys
sys.path.insert(0, sys.argv[1])
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf
import random, numpy
try:
    import keras
except ImportError:
    keras = None
# rows
found = []
for name, row in {**ROWS, **OF_FILES}.items():
    first = row.owners[0].partition(".")[0] if row.owners else ""
    of = keras if first == "keras" else None
    first = "tensorflow" if first == "tf" else first
    if first and first not in sys.modules:
        try:
            importlib.import_module(first)
        except Exception:
            first = ""
    known = bool(first) and (first != "keras" or keras is not None)
    lacking = row.lacking(of) if known else None
    found.append([name, row.name, private(row), row.releases, lacking])
for name, row in PRIVATES.items():
    if row.module:
        found.append([name, f"{row.module}.{row.name}", True, row.releases,
                      () if row.get() is not None else (row.name,)])
print(json.dumps([tf.__version__, getattr(keras, "__version__", ""), found]))
"""


def look(python: str) -> tuple[str, str, list[tuple[str, str, bool, str, list[str] | None]]]:
    """The versions of TensorFlow and Keras there, and what each row lacks, None where unknown."""
    done = subprocess.run(
        [
            python,
            "-W",
            "ignore",
            "-c",
            LOOK.replace("# rows", ROWS),
            str(Path(__file__).parents[1]),
        ],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"},
    )
    if done.returncode:
        raise SystemExit(done.stderr[-2000:])
    tensorflow, keras, rows = json.loads(done.stdout.splitlines()[-1])
    return tensorflow, keras, rows


def main() -> int:
    """Print what is lacking."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", default=sys.executable)
    tensorflow, keras, rows = look(parser.parse_args().python)
    asked = [row for row in rows if row[4] is not None]
    lacking = sorted((row for row in asked if row[4]), key=lambda row: not row[2])
    private = sum(row[2] for row in rows)
    print(
        f"TensorFlow {tensorflow}, Keras {keras}: {len(asked)} of {len(rows)} rows looked for"
        f" ({private} private), {len(lacking)} lack something"
    )
    for name, where, is_private, releases, names in lacking:
        kind = "private" if is_private else "public"
        print(f"{kind:8}{name}: {', '.join(names or ())} ({where}; {releases or 'all releases'})")
    return int(any(not row[3] for row in lacking))


if __name__ == "__main__":
    sys.exit(main())
