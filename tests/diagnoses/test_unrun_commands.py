"""A crash that follows from a command of the notebook that was not run."""

from dataclasses import replace
from pathlib import Path

import pytest

from tpudiag.diagnoses.unrun_commands import behind, exported, followed
from tpudiag.model import Location
from tpudiag.signals import CodeFrame, Crash, JobEnd
from tpudiag.sources.notebook import Notebook, SkippedLine

COMMANDS = tuple(
    SkippedLine(cell, 1, text)
    for cell, text in enumerate(
        (
            "!pip install -q tensorflow-addons",
            "!gsutil cp gs://bucket/labels.txt .",
            "!wget https://example.org/flower_photos.tgz && tar xf flower_photos.tgz",
            "!git clone https://github.com/someone/detector",
            "!ls",
            "!pip install -qq wandb",
            "!pip install torch==1.2",
        ),
        1,
    )
)


def crashed(error: str) -> JobEnd:
    return JobEnd(how="exception", error=error)


@pytest.mark.parametrize(
    ("error", "cell"),
    [
        ("FileNotFoundError: [Errno 2] No such file or directory: 'labels.txt'", 2),
        ("NotFoundError: /content/flower_photos/train; No such file or directory", 3),
        ("ModuleNotFoundError: No module named 'detector.utils'", 4),
        ("ModuleNotFoundError: No module named 'tensorflow_addons'", 1),
        ("ModuleNotFoundError: No module named 'wandb'", 6),
        ("ModuleNotFoundError: No module named 'wandb.keras'", None),
        ("ModuleNotFoundError: No module named 'torch.old'", 7),
        ("FileNotFoundError: [Errno 2] No such file or directory: '/content/other.txt'", None),
        ("ValueError: labels.txt is odd", None),
        ("IndexError: list index out of range", None),
    ],
)
def test_the_command_that_would_have_brought_it(error: str, cell: int | None) -> None:
    command = behind(crashed(error), COMMANDS)
    assert (command.cell if command is not None else None) == cell


def test_the_end_says_what_it_follows_from() -> None:
    missing = crashed("FileNotFoundError: No such file: 'labels.txt'")
    end = followed(missing, Notebook("nb.ipynb", "", (), COMMANDS))
    assert end is not None
    assert end.follows_from == "`!gsutil cp gs://bucket/labels.txt .` (cell 2, line 1)"


def test_a_notebook_that_was_saved_as_a_script_is_told_as_that(tmp_path: Path) -> None:
    script = tmp_path / "nb.py"
    script.write_text('"""From Colab."""\n\n!pip install tensorflow\nx = = 1\n')
    end = crashed("SyntaxError: invalid syntax")
    told = exported(replace(end, location=Location("nb.py", 3)), str(script))
    assert told is not None and "line 3 (`!pip install tensorflow`)" in told
    for other in (Location("nb.py", 4), Location("other.py", 3), None):
        assert exported(replace(end, location=other), str(script)) is None


@pytest.mark.parametrize(
    ("module", "statement", "cell"),
    [
        ("detector", "from detector.data import read", 4),
        ("layers2", "from layers2 import Resnet", 4),
        ("jinja2", "import note_seq", None),
    ],
)
def test_a_module_stands_in_the_line_of_its_import(
    module: str, statement: str, cell: int | None
) -> None:
    frame = CodeFrame(Location("nb.py", 3), "<module>", statement)
    end = crashed(f"ModuleNotFoundError: No module named '{module}'")
    whole = replace(end, crash=Crash(end.error or "", (frame,), ""))
    program = f"run('{COMMANDS[3].text}')\nsys.path.append('detector')\n"
    command = behind(whole, COMMANDS, program)
    assert (command.cell if command is not None else None) == cell
    unused = behind(whole, COMMANDS, program.replace("('detector", "(detector.detector"))
    assert (unused is None) == (module != "detector")
