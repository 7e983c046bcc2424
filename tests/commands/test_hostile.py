"""What a user, a disk or another program may do to a command line: one clear line, exit code 2."""

import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.commands.called import called, refused
from tpudiag import cli
from tpudiag.commands import _parser
from tpudiag.diagnoses import script_coverage
from tpudiag.diagnoses.job_request import run_folder
from tpudiag.errors import UsageError
from tpudiag.script_run import HookDefect

LEAST = {
    "check": [],
    "fix": ["train.py"],
    "read": ["logs"],
    "attach": ["localhost:1"],
    "watch": ["logs", "--once"],
    "plan": [],
    "compare": ["a.json", "b.json"],
    "alerts": ["export", "--job", "j"],
    "explain": ["TPU101"],
    "render": ["a.json"],
    "mcp": [],
}


@pytest.mark.parametrize("verb", _parser.VERBS)
def test_a_working_folder_that_was_deleted(
    verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    assert "working folder" in refused(called(verb, *LEAST[verb]))


@pytest.mark.parametrize(
    "python", ["a" * 5000, "/" + "a/" * 3000, "~nobody-of-this-name/python", "a\0b"]
)
def test_a_python_that_cannot_be_looked_at(python: str, tmp_path: Path) -> None:
    assert "--python" in refused(called("check", "--python", python, cwd=tmp_path))
    assert list(tmp_path.iterdir()) == []


WRONG = (
    ("check missing.py", "missing.py: no such file"),
    ("check --for v9-8", "not a TPU name"),
    ("check --select TPU9", "TPU9: no check has this id or family"),
    ("plan missing.py", "missing.py: no such file"),
    ("plan --for v9-8", "not a TPU name"),
    ("plan --for ,", "name at least one TPU"),
    ("plan --batch 1024..64", "write 64..1024"),
    ("plan --batch many", "write 64..1024"),
    ("plan --cost missing.toml", "--cost missing.toml"),
    ("plan --cost prices.toml", "--cost prices.toml: the price of v5e must be above 0"),
    ("plan --compiler-python /nowhere/python", "--compiler-python /nowhere/python"),
    ("plan --compiler-python bare/python", "the TPU compiler is not installed"),
    ("attach host", "neither HOST:PORT nor the pid"),
    ("attach https://host:443", "has no TLS"),
    ("attach host:99999", "no port has the number"),
    ("attach 999999999", "no process has this pid"),
    ("attach localhost:1 --duration 0s", "not a time such as 2s"),
    ("attach localhost:1 --duration soon", "not a time such as 2s"),
    ("attach localhost:1 --duration 1h", "not a time such as 2s"),
    ("attach localhost:1 --duration 31s", "at most 30 s: the trainer holds"),
    ("watch nowhere --once", "nothing is recorded"),
    ("watch text --once", "neither a recording"),
    ("watch broken.sqlite --once", "broken.sqlite: "),
    ("watch text --once --prometheus x", "HOST:"),
    ("watch text --once --project p --endpoint 127.0.0.1:1 --period 9", "never below 10"),
    ("watch text --once --project p", "no Google credentials"),
    ("watch text --once --endpoint x:1", "needs --project"),
    ("watch s3x://bucket/logs --once", "s3x"),
    ("read logs --xprof http://[", "not a URL"),
)


@pytest.mark.slow
@pytest.mark.parametrize(("words", "says"), WRONG)
def test_what_a_user_gets_wrong_is_refused_at_once(
    words: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bare").mkdir()
    for name, text in (
        ("text", "hello"),
        ("prices.toml", "[chip_hour]\nv5e = -1"),
        ("broken.sqlite", "SQLite format 3\0" + "x" * 4096),
        ("bare/python", "#!/bin/sh\nexit 1\n"),
    ):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("HOME", str(tmp_path / "bare"))
    monkeypatch.setenv("NO_GCE_CHECK", "true")
    assert says in refused(called(*words.split(), cwd=tmp_path))
    made = {path.name for path in tmp_path.iterdir()} - {"bare"}
    assert made == {"text", "prices.toml", "broken.sqlite"}, "nothing is left"


@pytest.mark.parametrize(
    "arguments",
    [
        ["render", "a.json", "-o", "a.json"],
        ["render", "a.json", "-o", "link.json"],
        ["compare", "a.json", "b.json", "-o", "./b.json"],
        ["check", "train.py", "--baseline", "a.json", "-o", "a.json"],
        ["check", "train.py", "-o", "a.json", "--", "--config", "a.json"],
        ["check", "train.py", "-o", "a.json", "--", "--config=a.json"],
        ["plan", "train.py", "--cost", "a.json", "-o", "a.json"],
        ["watch", "logs", "--log", "log.txt", "-o", "log.txt"],
        ["fix", "train.py", "--patch", "train.py"],
        ["fix", "train.py", "--patch", "link.py"],
        ["fix", "train.py", "--patch", "helper.py"],
        ["fix", "train.py", "--patch", "folder"],
    ],
    ids=" ".join,
)
def test_a_target_that_is_an_input(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.json", "b.json", "train.py", "helper.py", "log.txt"):
        Path(name).write_text(name)
    Path("folder").mkdir()
    Path("link.json").symlink_to("a.json")
    os.link("train.py", "link.py")
    said = refused(called(*arguments))
    assert any(word in said for word in ("is an input", "holds no patch", "is a folder"))
    for name in ("a.json", "b.json", "train.py", "helper.py", "log.txt"):
        assert Path(name).read_text() == name


def test_runs_of_one_second_have_folders_of_their_own(tmp_path: Path) -> None:
    def made(_: int) -> Path:
        return run_folder(tmp_path, "train.py")

    with ThreadPoolExecutor(8) as pool:
        folders = list(pool.map(made, range(40)))
    assert len(set(folders)) == 40
    assert all(folder.is_dir() for folder in folders)


def test_a_log_folder_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "dangling").symlink_to("nowhere/at/all")
    for name in ("file", "file/below", "dangling"):
        with pytest.raises(UsageError, match="--log-dir"):
            run_folder(tmp_path / name, "train.py")


def test_a_full_disk_is_no_defect_of_ours() -> None:
    full = HookDefect("profile", "OSError: [Errno 28] No space left on device: '/logs/a'", "")
    other = HookDefect("steps", "KeyError: 'a'", "")
    said = list(script_coverage.urgent(None, (), (full,), {}))
    assert len(said) == 1
    assert "A disk was full" in said[0]
    assert "defect" not in said[0]
    assert (
        "1 hook of tpudiag failed (steps)"
        in list(script_coverage.urgent(None, (), (full, other), {}))[1]
    )


def test_an_output_on_a_full_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device", "/tmp/tpudiag-x")

    monkeypatch.setattr("tempfile.mkdtemp", full)
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text("import tensorflow as tf\n")
    assert cli.main(["fix", "train.py"]) == 2
    assert capsys.readouterr() == ("", "tpudiag: /tmp/tpudiag-x: No space left on device\n")


def test_a_defect_of_ours_is_said_to_be_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(_: object) -> object:
        return json.loads("\x1b")

    monkeypatch.setattr("tpudiag.report_json.load", load)
    done = called("render", "a.json")
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("tpudiag: a defect of tpudiag")
    assert "\x1b" not in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["render", "/dev/zero"],
        ["check", "--baseline", "/dev/zero"],
        ["plan", "--cost", "/dev/zero"],
        ["watch", "logs", "--once", "--expect", "zero.json"],
    ],
    ids=" ".join,
)
def test_a_file_without_end(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "zero.json").symlink_to("/dev/zero")
    monkeypatch.setattr("tpudiag.bounded_files.read_bytes.__defaults__", (1 << 20,))
    monkeypatch.setattr("tpudiag.bounded_files.read_text.__defaults__", (1 << 20,))
    assert "larger than 1 MB" in refused(called(*arguments, cwd=tmp_path))


@pytest.mark.parametrize("closed", ["stdout", "stderr"])
def test_a_stream_that_was_closed(closed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, closed, None)
    assert cli.main(["explain", "TPU101"]) == 0


def test_memory_that_does_not_suffice(monkeypatch: pytest.MonkeyPatch) -> None:
    def too_much(_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("tpudiag.report_json.load", too_much)
    assert "memory" in refused(called("render", "a.json"))
