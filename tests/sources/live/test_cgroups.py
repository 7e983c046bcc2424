"""Memory that a process can still take, from cgroups of both versions of our own making."""

from pathlib import Path

import pytest

from tpudiag.sources.live.cgroups import FreeMemory, free_memory

GB = 10**9


def machine(folder: Path, group: str, available: int = 64 * GB) -> tuple[Path, Path]:
    proc, groups = folder / "proc", folder / "cgroup"
    (proc / "7").mkdir(parents=True)
    (proc / "7" / "cgroup").write_text(group)
    (proc / "meminfo").write_text(
        f"MemTotal: 99999 kB\nMemFree: 1 kB\nMemAvailable: {available // 1024} kB\n"
    )
    return proc, groups


def group(folder: Path, **files: object) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(f"{text}\n")


def free(folder: Path, text: str, **options: int) -> FreeMemory | None:
    proc, groups = machine(folder, text, **options)
    return free_memory(7, proc, groups)


def test_version_2_with_its_file_cache(tmp_path: Path) -> None:
    group(
        tmp_path / "cgroup" / "pod" / "trainer",
        memory__max=8 * GB,
        memory__current=7 * GB,
        memory__stat=f"anon 1\ninactive_file {2 * GB}\nactive_file 5",
    )
    assert free(tmp_path, "0::/pod/trainer\n") == FreeMemory(3 * GB, "in its cgroup")


def test_the_tightest_group_above_counts(tmp_path: Path) -> None:
    group(tmp_path / "cgroup" / "pod" / "trainer", memory__max="max", memory__current=7 * GB)
    group(tmp_path / "cgroup" / "pod", memory__max=9 * GB, memory__current=8 * GB)
    assert free(tmp_path, "0::/pod/trainer\n") == FreeMemory(GB, "in its cgroup")


def test_version_1_and_a_group_that_only_the_host_sees(tmp_path: Path) -> None:
    """In a container the path is the host's, and the mount is its own group."""
    group(
        tmp_path / "cgroup" / "memory",
        memory__limit_in_bytes=4 * GB,
        memory__usage_in_bytes=3 * GB,
        memory__stat=f"total_inactive_file {GB // 2}",
    )
    text = "5:cpu,cpuacct:/kube/abc\n4:memory:/kube/abc\n0::/\n"
    assert free(tmp_path, text) == FreeMemory(3 * GB // 2, "in its cgroup")


@pytest.mark.parametrize("text", ["", "4:memory:/a\n", "0::/a\n"])
def test_without_a_limit_it_is_the_machines(tmp_path: Path, text: str) -> None:
    group(
        tmp_path / "cgroup" / "memory" / "a",
        memory__limit_in_bytes=9223372036854771712,
        memory__usage_in_bytes=1,
    )
    group(tmp_path / "cgroup" / "a", memory__max="max", memory__current=1)
    found = free(tmp_path, text, available=1_024_000)
    assert found == FreeMemory(1_024_000, "on the machine")


def test_what_is_not_there_is_not_known(tmp_path: Path) -> None:
    assert free_memory(7, tmp_path, tmp_path) is None


def test_this_process_has_some() -> None:
    found = free_memory(1)
    assert found is not None
    assert found.free_bytes > 0
