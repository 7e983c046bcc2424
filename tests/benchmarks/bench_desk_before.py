"""How the error desk of an earlier commit answers the questions that were met after it.

    uv run python -m tests.benchmarks.bench_desk_before REVISION

What is asked again and again is answered at last: the questions that a change was made for say
nothing of its worth. Those that were not known when a desk was made do.
"""

import argparse
import io
import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from .bench_desk import QUESTIONS

TOP = Path(__file__).parents[2]


def git(*arguments: str) -> bytes:
    """What git says of this repository."""
    return subprocess.run(
        ["git", "-C", str(TOP), *arguments], check=True, capture_output=True
    ).stdout


def met_after(revision: str) -> list[dict[str, object]]:
    """The questions of today whose thread was not among those of a commit."""
    path = QUESTIONS.relative_to(TOP)
    then, now = json.loads(git("show", f"{revision}:{path}")), json.loads(QUESTIONS.read_bytes())
    known = {each["source"] for name in ("tune", "hold") for each in then[name]}
    asked = [each for name in ("tune", "hold") for each in now[name]]
    return [each for each in asked if each["source"] not in known]


def main() -> None:
    """Prints the figures of the desk of a commit on what it had not met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("revision", help="the commit whose desk answers")
    revision = parser.parse_args().revision
    questions = met_after(revision)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with tarfile.open(fileobj=io.BytesIO(git("archive", revision, "tpudiag"))) as tree:
            tree.extractall(folder, filter="data")
        asking = folder / "tests" / "benchmarks"
        asking.mkdir(parents=True)
        shutil.copy(Path(__file__).with_name("bench_desk.py"), asking)
        data = folder / "tests" / "data" / QUESTIONS.name
        data.parent.mkdir()
        data.write_text(json.dumps({"tune": questions, "hold": []}), encoding="utf-8")
        # Its own folder first: the desk of then, not the one that is installed.
        command = [sys.executable, "-m", "tests.benchmarks.bench_desk"]
        subprocess.run(command, cwd=folder, env={"PYTHONPATH": name}, check=True)


if __name__ == "__main__":
    main()
