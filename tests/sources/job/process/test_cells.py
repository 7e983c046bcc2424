"""Cells run as IPython runs them; in a process of their own, for they become __main__."""

import subprocess
import sys
from pathlib import Path

from tpudiag.sources.job.process import cells

START = """
from tpudiag.sources.job.process import cells
from tpudiag.sources.job.process.protocol import JobSpec
spec = JobSpec(
    program={file!r}, arguments=("--epochs", "3"), replicas=1, real_replicas=1, hosts=1,
    rehearse=True, steps=1, warmup_steps=1, budget_s=0.0, log_dir="", cells={cells!r},
    notebook={notebook!r},
)
cells.run(spec)
"""


def ran(folder: Path, *sources: str) -> subprocess.CompletedProcess[str]:
    """These cells, run one after another."""
    firsts: list[int] = []
    program = ""
    for source in sources:
        firsts.append(program.count("\n") + 1)
        program += source + "\n"
    file = folder / "notebook.py"
    file.write_text(program)
    code = START.format(file=str(file), cells=tuple(firsts), notebook=str(folder / "train.ipynb"))
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=800, check=False
    )


def test_cells_share_a_namespace_and_the_future(tmp_path: Path) -> None:
    job = ran(
        tmp_path,
        "get_ipython().system('ls')\nfrom __future__ import annotations\nx = 1",
        "def f(a: NotThere) -> int: return a\nprint(f(x), __name__, '__file__' in globals())",
        "import asyncio, pickle, sys\nawait asyncio.sleep(0)\nprint(sys.argv[1:])\ndisplay(x)",
        "class C: pass\nprint(type(pickle.loads(pickle.dumps(C()))).__name__)",
    )
    assert job.stdout.splitlines() == ["1 __main__ False", "['--epochs', '3']", "C"]


def test_commands_do_nothing(tmp_path: Path) -> None:
    job = ran(
        tmp_path,
        "get_ipython().system('touch there')\nprint(get_ipython().getoutput('ls'))",
        "get_ipython().display_formatter.formatters['text/html'].for_type(int, str)",
        "assert 'IPKernelApp' not in get_ipython().kernel.parent",
        "get_ipython().run_line_magic('env', 'A=b')\nimport os\nprint(os.environ['A'])",
        "get_ipython().write_file('helper.py', 'x = 5', False)\nimport helper\nprint(helper.x)",
    )
    assert job.stdout.splitlines() == ["[]", "b", "5"]
    assert not (tmp_path / "there").exists()


def test_an_error_has_its_line_in_the_program(tmp_path: Path) -> None:
    job = ran(tmp_path, "x = 1\ny = 2", "z = 3\nz / 0", "print('never')")
    assert 'notebook.py", line 4' in job.stderr
    assert "never" not in job.stdout


def test_a_notebook_that_restarts_its_kernel_goes_on(tmp_path: Path) -> None:
    job = ran(
        tmp_path,
        "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)",
        "os._exit(0)",
        "get_ipython().kernel.do_shutdown(True)\nprint('goes on')",
    )
    assert job.stdout == "goes on\n", job.stderr


def test_a_cell_that_is_only_timed_runs(tmp_path: Path) -> None:
    job = ran(
        tmp_path,
        "get_ipython().run_cell_magic('time', '', 'x = 3')",
        "get_ipython().run_line_magic('timeit', '-n 1 -r1 y = 4')",
        "get_ipython().magic('time z = 5')\nget_ipython().magic('matplotlib inline')",
        "cell = 'y = 7'\nget_ipython().run_cell_magic('time', '', cell)",
        "get_ipython().run_cell_magic('bash', '', 'echo none > x')\nprint(x, y, z)",
    )
    assert job.stdout == "3 7 5\n"


def test_commands_that_change_files_alone() -> None:
    for line in (
        "! mkdir ../images",
        "!mkdir -p a/b && cp x.csv a/b",
        "!unzip -q data.zip -d data",
    ):
        assert cells.is_of_files(line), line
    for line in (
        "!pip install a", "!mkdir $OUT", "!mkdir {out}", "!cp a b & python t.py", "%mkdir a", "!",
        "!rm a; python train.py", "!cp a b > log",
    ):  # fmt: skip
        assert not cells.is_of_files(line), line


def test_they_run_where_writes_are_held_back(tmp_path: Path) -> None:
    made = tmp_path / "made"
    cells.Shell({}).system(f"mkdir {made}")
    assert not made.exists()
    cells.Shell({}, holds_writes=True).system(f"mkdir {made}")
    assert made.is_dir()
