"""Other names for files and folders, where the system refuses them because of layers."""

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tpudiag.sources.job.held_back.renames import Renames


def refusing(number: int) -> Callable[..., None]:
    """As the system does over layers."""

    def rename(src: object, dst: object) -> None:
        raise OSError(number, os.strerror(number), src, None, dst)

    return rename


@pytest.mark.parametrize("number", [errno.EXDEV, errno.EBUSY])
def test_a_folder_gets_another_name_by_a_copy(tmp_path: Path, number: int) -> None:
    (tmp_path / "runs" / "old").mkdir(parents=True)
    (tmp_path / "runs" / "old" / "a.txt").write_text("a")
    (tmp_path / "runs" / "link").symlink_to("old")
    (tmp_path / "empty").mkdir()
    renames = Renames(["/"])
    renames.renamed(refusing(number), str(tmp_path / "runs"), str(tmp_path / "empty"))
    assert not (tmp_path / "runs").exists()
    assert (tmp_path / "empty" / "old" / "a.txt").read_text() == "a"
    assert (tmp_path / "empty" / "link").is_symlink()
    renames.renamed(refusing(number), tmp_path / "empty" / "link", bytes(tmp_path / "b"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b", "empty"]


def test_what_would_fail_without_layers_fails(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a")
    elsewhere = Renames(["/", str(tmp_path / "disk")])
    with pytest.raises(OSError, match="cross-device"):
        elsewhere.renamed(refusing(errno.EXDEV), str(tmp_path / "a"), str(tmp_path / "disk" / "a"))
    with pytest.raises(FileNotFoundError):
        elsewhere.renamed(refusing(errno.ENOENT), str(tmp_path / "b"), str(tmp_path / "c"))
    assert (tmp_path / "a").read_text() == "a"
