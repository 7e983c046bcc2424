"""Jobs in environments of their own, from one installed tool.

`uv run python -m tests.benchmarks.environments [NAME ...] [--oldest] [--folder DIR]` makes an
environment with TensorFlow alone for each row that this machine has a Python for, runs both
reference loops and ten scripts of the corpus in it with `tpudiag check --python`, and looks
whether it is the same afterwards: its packages, and every file in its folder.
"""

import argparse
import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.corpus import run as corpus
from tpudiag.installs.words import REQUIREMENT

SCRIPTS = (
    "healthy_custom_loop", "healthy_epochs_with_eval", "healthy_plain_module",
    "healthy_tfrecord_interleave", "tpu107_python_random", "tpu108_loss_each_step",
    "tpu209_concatenated_files", "tpu211_next_iter", "tpu501_variables_outside_scope",
    "tpu502_sum_over_batch",
)  # fmt: skip
"""They ask for no tf-keras: most environments have none."""
OF_THE_OLDEST = ("healthy_clip_of_the_sum", "tpu502_sum_over_batch")
"""The norms of TensorFlow 2.13 take no bfloat16 on every processor: these have none."""
LEGACY_SCRIPTS = ("tpu101_new_function", "many_custom_loop")
"""They ask for Keras 2 by TF_USE_LEGACY_KERAS."""
TIMEOUT_S = 400.0
NOT_ASKED = ("--no-compile", "--ignore", "TPU004")
"""TensorFlow 2.13 drives no v5e, which is no matter here."""


@dataclass(frozen=True)
class Row:
    """An environment: its Python and what is installed in it."""

    python: str
    requirements: tuple[str, ...]
    without_dependencies: tuple[str, ...] = ()
    imports_only: bool = False

    @property
    def scripts(self) -> tuple[str, ...]:
        """The scripts of the corpus that can run there."""
        return (*SCRIPTS, *(LEGACY_SCRIPTS if self.without_dependencies else ()))

    @property
    def name(self) -> str:
        """E.g. `3.10 tensorflow-cpu==2.13.*`."""
        return " ".join((self.python, *self.requirements, *self.without_dependencies))


ROWS = (
    Row("3.10", ("tensorflow-cpu==2.13.*",)),
    Row("3.11", ("tensorflow-cpu==2.15.*",)),
    Row("3.12", ("tensorflow-cpu==2.16.*",)),
    Row("3.11", ("tensorflow-cpu==2.18.*",), ("tf-keras==2.18.*",)),
    Row("3.12", ("tensorflow-cpu==2.19.*",)),
    Row("3.13", ("tensorflow-cpu==2.20.*",)),
    Row("3.13", ("tensorflow-cpu==2.21.*",)),
    Row("3.11", (REQUIREMENT,), imports_only=True),
)
"""The oldest first."""


@dataclass
class Outcome:
    """What came of one environment."""

    row: Row
    taken: str = ""
    """The Python that the report names, with its TensorFlow and Keras."""
    loops: str = ""
    right: int = 0
    scripts: int = 0
    unchanged: bool = False
    seconds: float = 0.0
    trouble: tuple[str, ...] = ()

    @property
    def good(self) -> bool:
        """Whether all went as it should."""
        return self.unchanged and not self.trouble and self.right == self.scripts


def find(version: str) -> str | None:
    """A Python of this version on this machine, None where there is none."""
    known = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python{version}"))
    return str(known[-1]) if known else shutil.which(f"python{version}")


def make(row: Row, folder: Path) -> str:
    """The environment's Python; made where it is not there yet."""
    python = folder / "bin" / "python"
    if not python.exists():
        base = find(row.python)
        _run("uv", "--no-config", "venv", "--quiet", "--seed", "--python", str(base), str(folder))
        install = (
            "uv", "--no-config", "pip", "install", "--quiet", "--compile-bytecode", "--python",
            str(python),
        )  # fmt: skip
        _run(*install, *row.requirements)
        if row.without_dependencies:
            _run(*install, "--no-deps", *row.without_dependencies)
    return str(python)


def state(folder: Path, python: str) -> str:
    """The environment's packages and its files, with their sizes and times, as one sum."""
    frozen = _run(python, "-B", "-m", "pip", "freeze")
    files = sorted(
        f"{path.relative_to(folder)} {path.stat().st_size} {path.stat().st_mtime_ns}"
        for path in folder.rglob("*")
        if path.is_file()
    )
    return hashlib.sha256("\n".join((frozen, *files)).encode()).hexdigest()


def tried(row: Row, tool: str, folder: Path, scripts: tuple[str, ...]) -> Outcome:
    """Run everything in one environment."""
    started = time.monotonic()
    python = make(row, folder)
    before = state(folder, python)
    outcome = Outcome(row)
    troubles: list[str] = []
    with tempfile.TemporaryDirectory(prefix="tpudiag-environment-") as name:
        for loop in ("custom", "fit"):
            report, said = _check(tool, python, Path(name), "--loop", loop)
            if report is None or report["partial"] or report["summary"]["broken"]:
                troubles.append(f"{loop}: {said}")
            else:
                outcome.loops += f" {loop}"
                note = next(n for n in report["notes"] if n.startswith("Python of the job: "))
                outcome.taken = note.removeprefix("Python of the job: ").partition(" (")[0]
    for script in () if row.imports_only else scripts:
        job = corpus.read_job(corpus.JOBS / f"{script}.py")
        result = corpus.rehearse(job, TIMEOUT_S, None, tool, ("--python", python, *NOT_ASKED))
        outcome.scripts += 1
        outcome.right += result.good
        if not result.good:
            wrong = result.trouble or result.missed or result.false or result.broken
            troubles.append(f"{script}: {wrong}")
    outcome.unchanged = state(folder, python) == before
    outcome.seconds = time.monotonic() - started
    outcome.trouble = tuple(troubles)
    return outcome


def _check(
    tool: str, python: str, folder: Path, *options: str
) -> tuple[dict[str, Any] | None, str]:
    """The report on the reference job, and the last that was said."""
    file = folder / "report.json"
    file.unlink(missing_ok=True)
    done = subprocess.run(
        [tool, "-P", "-m", "tpudiag", "check", "--python", python, "--no-compile", "--for", "v5e-4",
         "--tpu", "none", "--steps", "6", "--fail-on", "never", "-o", str(file), *options],
        cwd=folder, capture_output=True, text=True, timeout=TIMEOUT_S, check=False,
    )  # fmt: skip
    said = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
    return (json.loads(file.read_text()) if file.exists() else None), said


def _run(*command: str) -> str:
    """The output of a command that must succeed."""
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def main() -> int:
    """Try the requested environments, and print a table; 1 where one is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", metavar="NAME", nargs="*", help="rows that hold this text")
    parser.add_argument("--oldest", action="store_true", help="the oldest one, and two scripts")
    parser.add_argument("--tool", default=sys.executable, help="the Python that has tpudiag")
    parser.add_argument("--folder", type=Path, help="where the environments are, and stay")
    options = parser.parse_args()
    rows = [row for row in ROWS if all(name in row.name for name in options.names)]
    rows = rows[:1] if options.oldest else rows
    folder = options.folder or Path(tempfile.mkdtemp(prefix="tpudiag-environments-"))
    good = True
    print("environment | taken | reference loops | corpus | unchanged | s")
    try:
        for row in rows:
            if find(row.python) is None:
                print(f"{row.name} | no Python {row.python} on this machine")
                continue
            place = folder / row.name.replace("*", "").replace(" ", "_").replace("=", "")
            o = tried(row, options.tool, place, OF_THE_OLDEST if options.oldest else row.scripts)
            good &= o.good
            print(
                f"{row.name} | {o.taken} |{o.loops} | {o.right}/{o.scripts} | "
                f"{'yes' if o.unchanged else 'NO'} | {o.seconds:.0f}",
                *(f"  {trouble}" for trouble in o.trouble), sep="\n", flush=True,
            )  # fmt: skip
    finally:
        if options.folder is None:
            shutil.rmtree(folder, ignore_errors=True)
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
