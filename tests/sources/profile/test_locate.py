import os
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from tests.sources.profile import spaces
from tpudiag.errors import UnreadableInput
from tpudiag.sources.profile import facts
from tpudiag.sources.profile.locate import choose, runs

OLD, NEW = "2024_01_31_23_59_59", "2025_02_01_00_00_00"


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    made = spaces.training(steps=2)
    new = spaces.write(made, tmp_path / "train", NEW)
    spaces.write(made, tmp_path / "train", OLD)
    spaces.write(made, tmp_path / "validation", OLD)
    os.utime(new, (1, 1))
    return tmp_path


def test_newest_by_name_not_by_file_time(logs: Path) -> None:
    found = runs(str(logs))
    assert [run.name for run in found] == [f"train/{NEW}", f"validation/{OLD}", f"train/{OLD}"]
    assert choose(found, str(logs), None).name == f"train/{NEW}"
    assert found[0].log_dir == str(logs / "train")


def test_a_run_by_name(logs: Path) -> None:
    found = runs(str(logs))
    assert choose(found, str(logs), NEW) is found[0]
    assert choose(found, str(logs), f"validation/{OLD}") is found[1]
    with pytest.raises(UnreadableInput, match="several runs of this name"):
        choose(found, str(logs), OLD)
    with pytest.raises(UnreadableInput, match=f"no run of this name; there are train/{NEW}"):
        choose(found, str(logs), "2030")


@pytest.mark.parametrize(
    "below", ["", "train", "train/plugins", "train/plugins/profile", f"train/plugins/profile/{NEW}"]
)
def test_any_folder_of_a_log_folder(logs: Path, below: str) -> None:
    (first, *_) = runs(str(logs / below))
    assert first.name.endswith(NEW)
    assert first.log_dir == str(logs / "train")


def test_a_bare_file(tmp_path: Path) -> None:
    file = tmp_path / "elsewhere.xplane.pb"
    file.write_bytes(spaces.training(steps=2).SerializeToString())
    (run,) = runs(str(file))
    assert (run.name, run.log_dir, run.files) == (file.name, None, (str(file),))


def test_links_to_folders_are_followed_once(logs: Path, tmp_path: Path) -> None:
    linked = tmp_path / "linked"
    linked.mkdir()
    (linked / "a").symlink_to(logs / "validation")
    (linked / "itself").symlink_to(linked)
    assert [run.name for run in runs(str(linked))] == [f"a/{OLD}"]
    profiles = logs / "train" / "plugins" / "profile"
    (profiles / "0_latest").symlink_to(profiles / NEW)
    assert [run.name for run in runs(str(logs / "train"))] == [NEW, OLD]


def test_what_cannot_be_read_beside_a_profile_hides_none_of_it(logs: Path) -> None:
    folder = logs / "train" / "plugins" / "profile" / NEW
    (folder / "gone.xplane.pb").symlink_to(logs / "nowhere")
    os.mkfifo(folder / "pipe.xplane.pb")
    found, _ = facts(logs)
    unread = {host.name: host.reason for host in found.unread}
    assert unread == {"gone": "No such file or directory", "pipe": "not a file"}


def test_a_packed_host_is_missed_unless_it_is_there_unpacked(logs: Path) -> None:
    folder = logs / "train" / "plugins" / "profile" / NEW
    (folder / "packed.xplane.pb.gz").write_bytes(b"\x1f\x8b rest")
    (folder / "vm.xplane.pb.gz").write_bytes(b"\x1f\x8b rest")
    found, _ = facts(logs)
    (missed,) = found.unread
    assert missed.name.startswith("packed")
    assert "gunzip" in missed.reason
    (folder / "vm.xplane.pb").unlink()
    with pytest.raises(UnreadableInput, match="gunzip"):
        facts(logs)


def test_no_path_and_no_home() -> None:
    with pytest.raises(UnreadableInput, match="the path is empty"):
        runs("")
    with pytest.raises(UnreadableInput, match=r"~no such user/logs: .*home directory"):
        runs("~no such user/logs")


def test_nothing_there(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInput, match=f"{tmp_path}/none: does not exist"):
        runs(str(tmp_path / "none"))
    with pytest.raises(UnreadableInput, match=f"{tmp_path}: no profile in this folder"):
        runs(str(tmp_path))


@pytest.fixture
def remote(logs: Path) -> Iterator[str]:
    """The same log folder behind a URL."""
    filesystem = import_module("fsspec").filesystem("memory")
    filesystem.put(str(logs), "/bucket/logs", recursive=True)
    yield "memory://bucket/logs"
    filesystem.rm("/bucket", recursive=True)


def test_a_url(remote: str, logs: Path) -> None:
    found = runs(remote)
    assert [run.name for run in found] == [run.name for run in runs(str(logs))]
    assert found[0].log_dir == "memory://bucket/logs/train"
    assert facts(remote)[1] == facts(logs)[1]
    assert facts(found[0].files[0])[1] == facts(logs)[1]


def test_a_url_with_nothing_behind_it(remote: str) -> None:
    with pytest.raises(UnreadableInput, match=f"{remote}/none: does not exist"):
        runs(remote + "/none")
    with pytest.raises(UnreadableInput, match="nowhere://x"):
        runs("nowhere://x")
