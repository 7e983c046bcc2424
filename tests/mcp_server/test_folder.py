"""What an agent names stays within the folder."""

from pathlib import Path

import pytest

from tpudiag.errors import UsageError
from tpudiag.mcp_server.folder import Folder


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """A project with links: two that stay, three that lead out."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "host.xplane.pb").write_bytes(b"")
    project = tmp_path / "project"
    (project / "logs" / "run").mkdir(parents=True)
    (project / "logs" / "run" / "again").symlink_to(project / "logs")
    (project / "train.py").write_text("")
    (project / "package").mkdir()
    (project / "package" / "job.py").write_text("")
    (project / "here.py").symlink_to(project / "train.py")
    (project / "there.py").symlink_to(outside / "host.xplane.pb")
    (project / "linked").symlink_to(outside)
    (project / "leaky").mkdir()
    (project / "leaky" / "host.xplane.pb").symlink_to(outside / "host.xplane.pb")
    (project / "circle").symlink_to(project / "circle")
    return project


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("train.py", "train.py"),
        ("./logs/../train.py", "train.py"),
        ("here.py", "train.py"),
        ("logs", "logs"),
        ("logs/run/again/run", "logs/run"),
    ],
)
def test_what_lies_within_is_taken(top: Path, name: str, path: str) -> None:
    assert Folder(top).path(name) == path
    assert Folder(top).path(str(top / name)) == path


@pytest.mark.parametrize(
    "name",
    ["", "..", "../outside/host.xplane.pb", "/etc/passwd", "there.py", "linked", "circle",
     "linked/host.xplane.pb", "leaky", "~", "~root/x", "gs://bucket/logs", "train.py\0",
     "nowhere.py", "file:///etc/passwd", "x" * 5000],
)  # fmt: skip
def test_what_lies_outside_is_refused(top: Path, name: str) -> None:
    with pytest.raises(UsageError):
        Folder(top).path(name)


def test_a_folder_that_is_itself_reached_by_a_link_is_served(top: Path) -> None:
    link = top.parent / "link"
    link.symlink_to(top)
    assert Folder(link).path("train.py") == "train.py"
    assert Folder(link).path(str(link / "train.py")) == "train.py"


def test_programs_and_modules_are_those_of_the_folder(top: Path) -> None:
    folder = Folder(top)
    assert folder.program("train.py") == "train.py"
    assert folder.program("package.job:main") == "package.job:main"
    assert folder.module("package.job") == "package.job"
    for name in ("os:abort", "there:main", "logs", "../outside:main", "package.job:a b"):
        with pytest.raises(UsageError):
            folder.program(name)
    for name in ("os", "there", "package.none", "..outside", ""):
        with pytest.raises(UsageError):
            folder.module(name)
