"""What is kept of an exception of the job."""

import runpy
import sys
import sysconfig
from pathlib import Path

import pytest

from tpudiag.signals import HiddenModule
from tpudiag.sources.job.points import hidden_modules
from tpudiag.sources.job.process import job_error

SCRIPT = """\
def load(path):
    with open(path) as file:
        return file.read()

def main():
    try:
        load("/no/such/file")
    except OSError as error:
        raise ValueError("no data") from error

main()
"""


@pytest.fixture
def raised(tmp_path: Path) -> BaseException:
    script = tmp_path / "train.py"
    script.write_text(SCRIPT)
    with pytest.raises(ValueError, match="no data") as caught:
        runpy.run_path(str(script), run_name="__main__")
    return caught.value


def test_the_frames_are_the_users_outermost_first(raised: BaseException) -> None:
    end = job_error.job_end(raised)
    assert end.crash is not None
    scripts = [f for f in end.crash.frames if f.location.file.endswith("train.py")]
    assert [(f.location.line, f.function, f.text) for f in scripts] == [
        (11, "<module>", "main()"),
        (9, "main", 'raise ValueError("no data") from error'),
    ]
    assert end.location == scripts[-1].location


def test_the_text_and_the_traceback_hold_the_cause(raised: BaseException) -> None:
    end = job_error.job_end(raised)
    assert end.error is not None
    assert end.crash is not None
    assert end.error.splitlines()[0] == "ValueError: no data"
    assert "caused by FileNotFoundError" in end.error
    assert "direct cause of the following exception" in end.crash.traceback
    assert "<frozen runpy>" not in end.crash.traceback
    assert end.crash.traceback.rstrip().endswith("ValueError: no data")


def test_a_text_without_end_is_cut_in_its_middle() -> None:
    text = job_error.error_text(ValueError("a" * 50_000 + "z"))
    assert len(text) < 21_000
    assert text.startswith("ValueError: aaa")
    assert text.endswith("z")


def test_colours_in_an_exceptions_text_are_taken_out() -> None:
    end = job_error.job_end(ValueError("\x1b[1mException in layer\x1b[0m"))
    assert end.error == "ValueError: Exception in layer"
    assert end.crash is not None and "\x1b" not in end.crash.traceback


def test_a_line_that_cannot_be_parsed_is_named(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    with pytest.raises(SyntaxError) as caught:
        compile("steps = 3\ntext = 'no end\n", str(script), "exec")
    end = job_error.job_end(caught.value)
    location = end.location
    assert location is not None and location.file.endswith("train.py") and location.line == 2
    assert end.error == "SyntaxError: unterminated string literal", "its line is told beside it"


@pytest.mark.parametrize("asks", ["import csv; csv.reader", "from csv import reader"])
def test_a_file_of_the_jobs_that_hides_an_installed_module_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asks: str
) -> None:
    (tmp_path / "csv.py").touch()
    monkeypatch.syspath_prepend(tmp_path)  # pyright: ignore[reportUnknownMemberType]
    monkeypatch.delitem(sys.modules, "csv")
    by = {"library": f"{sysconfig.get_path('purelib')}/asking.py", "job": f"{tmp_path}/train.py"}
    hidden = {}
    for who, file in by.items():
        with pytest.raises((AttributeError, ImportError)) as caught:
            exec(compile(asks, file, "exec"), {})
        hidden[who] = job_error.job_end(caught.value).hidden
    assert hidden["library"] == HiddenModule("csv", str(tmp_path / "csv.py"))
    assert hidden["job"] is None  # it asks its own file


def test_a_library_in_another_folder_hides_nothing(tmp_path: Path) -> None:
    package = tmp_path / "json"
    package.mkdir()
    for name in ("__init__.py", "decoder.py"):
        (package / name).touch()
    assert hidden_modules.hides("json", str(package / "__init__.py"))
    for name in ("encoder.py", "scanner.py", "tool.py"):
        (package / name).touch()
    assert not hidden_modules.hides("json", str(package / "__init__.py"))


def test_a_call_over_several_lines_is_shown_whole(tmp_path: Path) -> None:
    file = tmp_path / "job.py"
    file.write_text("def f(*, x): ...\nf(\n    'balanced',\n    [1],\n)\nafter = 1\n")
    with pytest.raises(TypeError) as caught:
        runpy.run_path(str(file))
    assert [*job_error.user_frames(caught.value)][-1].text == "f( 'balanced', [1], )"
