"""What a notebook's shell lines tell of the environment that it was written for."""

import pytest

from tpudiag.diagnoses.notebook_job import NotebookProgram
from tpudiag.sources.notebook import Notebook, SkippedLine


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("!pip install tensorflow==2.9.1 tensorflow_datasets==4.6.0", "installs tensorflow 2.9"),
        ("!pip install -q tensorflow==2.15.0 einops==0.3.0", None),
        ("!pip install tensorflow", None),
    ],
)
def test_a_release_that_a_notebook_installs_and_the_job_has_not_is_told(
    command: str, told: str | None
) -> None:
    source = Notebook("train.ipynb", "", (), (SkippedLine(3, 1, command),))
    said = NotebookProgram("notebook.py", source).other_release({"tensorflow": "2.15.1"})
    assert (said or "").startswith(f"cell 3, line 1 {told}" if told else "")
    assert (said is None) is (told is None)
