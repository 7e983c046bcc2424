"""A program that harms a folder and a home in all the ways that training scripts know.

`python harms.py FOLDER make` makes what is to be harmed; without `make` each harm is done, and what
raised is printed as JSON: where something holds it back the same as where nothing does.
"""

import asyncio
import atexit
import contextlib
import ctypes
import fcntl
import fileinput
import io
import json
import logging.handlers
import mmap
import os
import pathlib
import pty
import shelve
import shutil
import socket
import sqlite3
import stat
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable

HARMS: dict[str, Callable[[], object]] = {
    "open_to_write": lambda: open("a.txt", "w").write("gone"),
    "raw_file": lambda: io.FileIO("a.txt", "w").write(b"raw"),
    "remove": lambda: os.remove("a.txt"),
    "path_unlink": lambda: pathlib.Path("a.txt").unlink(),
    "rename_file": lambda: os.rename("log.txt", "log.txt.1"),
    "replace_file": lambda: os.replace("a.txt", "b.txt"),
    "path_rename": lambda: pathlib.Path("a.txt").rename("c.txt"),
    "rename_folder_into_another": lambda: os.rename("runs/old", "empty/old"),
    "remove_empty_folder": lambda: os.rmdir("empty"),
    "truncate": lambda: os.truncate("a.txt", 1),
    "through_a_hard_link": lambda: open("hard", "w").write("by its other name"),
    "through_a_link": lambda: open("link", "w").write("through the link"),
    "git_clean": lambda: git(".", "clean", "-fdxq"),
    "git_checkout": lambda: git(".", "checkout", "-q", "--", "a.txt"),
    "shell": lambda: subprocess.run(
        "echo x > a.txt; rm b.txt; mv log.txt c.txt; mv runs r2", shell=True, check=True
    ),
    "home_new": lambda: write(home("netrc")),
    "home_cache_cleared": lambda: shutil.rmtree(home("cache")),
    "attributes": lambda: os.setxattr("a.txt", "user.seen", b"1"),
    "owner": lambda: os.chown("a.txt", os.getuid(), os.getgid()),
    "shell_in_another_folder": lambda: subprocess.run(
        "echo x > ../a.txt; : > old/1.txt", shell=True, cwd="runs", check=True
    ),
    "at_exit": lambda: atexit.register(pathlib.Path("a.txt").absolute().unlink),
}


def harm(function: Callable[[], None]) -> Callable[[], None]:
    HARMS[function.__name__] = function
    return function


def write(path: str, text: str = "mine") -> None:
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    pathlib.Path(path).write_text(text)


def made() -> None:
    """What there is to harm: a folder for each harm, with the files that it needs."""
    for name in HARMS:
        for file in ("a.txt", "b.txt", "runs/old/1.txt", "runs/old/2.txt", "log.txt"):
            write(f"{name}/{file}")
        os.makedirs(f"{name}/empty", exist_ok=True)
        os.symlink("a.txt", f"{name}/link")
        os.link(f"{name}/b.txt", f"{name}/hard")
    for name in ("sqlite", "sqlite_wal"):
        with contextlib.closing(sqlite3.connect(f"{name}/runs.db")) as base:
            base.execute("create table runs (name text)")
            base.commit()
    with shelve.open("shelf/shelf") as shelf:
        shelf["a"] = 1
    with zipfile.ZipFile("zip_append/a.zip", "w") as archive:
        archive.writestr("a", "a")
    for name in ("git_commit", "git_clean", "git_checkout"):
        git(name, "init", "-q", ".")
        git(name, "add", "a.txt", "runs")
        git(name, "commit", "-q", "-m", "first")
        write(f"{name}/a.txt", "not committed")
    for step in (1000, 2000, 3000):
        for part in (".index", ".data-00000-of-00001"):
            write(f"checkpoint_rotation/model/ckpt-{step}{part}", str(step))
    write("checkpoint_rotation/model/checkpoint", "ckpt-3000")
    write(home("bashrc"))
    write(home("cache/data/part-0"))


def home(name: str) -> str:
    return os.path.join(os.environ["HOME"], f".harmed-{name}")


def git(folder: str, *arguments: str) -> None:
    subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments],
        cwd=folder, check=True, capture_output=True,
        env={**os.environ, "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null"},
    )  # fmt: skip


@harm
def open_in_place() -> None:
    with open("a.txt", "r+b") as file:
        file.seek(1)
        file.write(b"XX")


@harm
def move_folder() -> None:
    shutil.move("runs", "runs_old")
    os.makedirs("runs")


@harm
def rename_folder() -> None:
    os.rename("runs", "runs_old")
    assert open("runs_old/old/1.txt").read() == "mine"


@harm
def remove_tree() -> None:
    shutil.rmtree("runs")
    assert not os.path.exists("runs")


@harm
def remove_and_make_again() -> None:
    shutil.rmtree("runs")
    os.makedirs("runs/old")
    assert os.listdir("runs/old") == []
    write("runs/old/1.txt", "new")


@harm
def make_folders() -> None:
    os.makedirs("out/deep/deeper")
    write("out/deep/deeper/a.txt")


@harm
def open_descriptor() -> None:
    descriptor = os.open("a.txt", os.O_WRONLY | os.O_TRUNC)
    os.write(descriptor, b"x")
    os.close(descriptor)


@harm
def folder_descriptor() -> None:
    descriptor = os.open("runs/old", os.O_RDONLY)
    os.unlink("1.txt", dir_fd=descriptor)
    os.rename("2.txt", "3.txt", src_dir_fd=descriptor, dst_dir_fd=descriptor)
    os.close(descriptor)


@harm
def hard_link() -> None:
    os.link("a.txt", "again")
    open("again", "w").write("by its other name")


@harm
def link_replaced() -> None:
    os.symlink("b.txt", "link.new")
    os.replace("link.new", "link")


@harm
def bytes_path() -> None:
    open(b"a.txt", "w").write("gone")
    os.remove(b"b.txt")


@harm
def memory_map() -> None:
    with open("a.txt", "r+b") as file, mmap.mmap(file.fileno(), 0) as mapped:
        mapped[:2] = b"XX"
        mapped.flush()


@harm
def sqlite() -> None:
    with contextlib.closing(sqlite3.connect("runs.db")) as base:
        base.execute("insert into runs values ('rehearsed')")
        base.commit()


@harm
def sqlite_wal() -> None:
    with contextlib.closing(sqlite3.connect("runs.db")) as base:
        base.execute("pragma journal_mode=wal")
        base.execute("delete from runs")
        base.commit()


@harm
def shelf() -> None:
    with shelve.open("shelf") as shelf_:
        shelf_["a"] = 2


@harm
def zip_append() -> None:
    with zipfile.ZipFile("a.zip", "a") as archive:
        archive.writestr("b", "b")


@harm
def written_beside_then_replaced() -> None:
    with tempfile.NamedTemporaryFile("w", dir=".", delete=False) as file:
        file.write("new")
    os.replace(file.name, "a.txt")


@harm
def fileinput_in_place() -> None:
    with fileinput.input("a.txt", inplace=True, backup=".bak") as lines:
        for line in lines:
            sys.stdout.write(line.upper())


@harm
def log_rotation() -> None:
    handler = logging.handlers.RotatingFileHandler("log.txt", maxBytes=5, backupCount=2)
    for _ in range(4):
        handler.emit(logging.LogRecord("a", 20, "", 1, "a line", (), None))
    handler.close()


@harm
def checkpoint_rotation() -> None:
    for step in (38000, 39000, 40000):
        for part in (".index", ".data-00000-of-00001"):
            write(f"model/ckpt-{step}{part}", str(step))
            os.remove(f"model/ckpt-{step - 37000}{part}")
    write("model/checkpoint.tmp", "ckpt-40000")
    os.replace("model/checkpoint.tmp", "model/checkpoint")


@harm
def git_commit() -> None:
    git(".", "add", "-A")
    git(".", "commit", "-q", "-m", "by the script")


@harm
def system() -> None:
    command = "cp a.txt log.txt && sed -i s/m/M/ a.txt"
    assert os.system(command) == 0  # pyright: ignore[reportDeprecated]


@harm
def spawned() -> None:
    pid = os.posix_spawnp("rm", ["rm", "-rf", "runs"], os.environ)
    assert os.waitpid(pid, 0)[1] == 0


@harm
def forked() -> None:
    pid = os.fork()
    if not pid:
        with contextlib.suppress(OSError):
            open("a.txt", "w").write("by a child")
        os._exit(0)
    os.waitpid(pid, 0)


@harm
def daemon() -> None:
    # It would write for ever, when the script is long over.
    again = "while [ -e a.txt ]; do date +%N >> a.txt; sleep 0.1; done"
    subprocess.run(f"(setsid sh -c '{again}' >/dev/null 2>&1 &)", shell=True, check=True)


@harm
def home_append() -> None:
    with open(home("bashrc"), "a") as file:
        file.write("export A=1\n")


@harm
def rights() -> None:
    os.chmod("a.txt", stat.S_IRUSR)
    os.chmod("runs", 0o700)


@harm
def times() -> None:
    os.utime("a.txt", (1, 1))
    pathlib.Path("b.txt").touch()


@harm
def locked_and_changed() -> None:
    with open("a.txt", "r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.truncate(0)


@harm
def allocated() -> None:
    with open("a.txt", "r+b") as file:
        os.posix_fallocate(file.fileno(), 0, 4096)


@harm
def copied_over() -> None:
    shutil.copy("a.txt", "b.txt")
    shutil.copytree("runs", "empty", dirs_exist_ok=True)


@harm
def pipe_and_socket() -> None:
    os.mkfifo("pipe")
    with socket.socket(socket.AF_UNIX) as made_:
        made_.bind("socket")


@harm
def copied_by_the_kernel() -> None:
    source, target = os.open("b.txt", os.O_RDONLY), os.open("a.txt", os.O_WRONLY)
    os.copy_file_range(source, target, 2)
    os.sendfile(target, source, 0, 2)
    os.pwrite(target, b"x", 0)
    os.ftruncate(target, 1)
    os.close(source)
    os.close(target)


@harm
def by_a_descriptor_to_read() -> None:
    descriptor = os.open("a.txt", os.O_RDONLY)
    os.fchmod(descriptor, stat.S_IRUSR)
    os.utime(descriptor, (1, 1))
    os.setxattr(descriptor, "user.seen", b"1")
    os.close(descriptor)


@harm
def through_proc() -> None:
    with open("a.txt") as read, open(f"/proc/self/fd/{read.fileno()}", "w") as again:
        again.write("by its descriptor's name")


@harm
def by_c_code() -> None:
    libc = ctypes.CDLL(None)
    libc.unlink(b"a.txt")
    libc.truncate(b"b.txt", 1)
    libc.chmod(b"log.txt", 0)


@harm
def on_a_terminal() -> None:
    pid, terminal = pty.fork()
    if not pid:
        os.execlp("sh", "sh", "-c", "rm -r runs; echo x > a.txt")
    with contextlib.suppress(OSError):
        while os.read(terminal, 100):
            pass
    os.waitpid(pid, 0)


@harm
def child_not_waited_for() -> None:
    async def start() -> None:
        child = await asyncio.create_subprocess_shell("rm a.txt; echo x >> log.txt")
        await child.wait()

    asyncio.run(start())


@harm
def renamed_with_its_folders() -> None:
    os.renames("log.txt", "deep/deeper/log.txt")
    os.removedirs("empty")


@harm
def out_by_a_link() -> None:
    os.symlink(os.path.dirname(home("bashrc")), "out")
    write("out/.harmed-by-a-link")


@harm
def shared_memory() -> None:
    path = f"/dev/shm/tpudiag-test-{os.getpid()}"
    write(path)
    os.remove(path)


def done() -> dict[str, str]:
    """What raised when all was done, in the folder at hand."""
    whole = os.getcwd()
    raised: dict[str, str] = {}
    for name, function in HARMS.items():
        os.chdir(f"{whole}/{name}")
        try:
            function()
        except Exception as error:
            raised[name] = f"{type(error).__name__}: {error}"[:200]
    return raised


def main() -> None:
    os.chdir(sys.argv[1])
    if sys.argv[2:] == ["make"]:
        made()
    else:
        print(json.dumps(done()))


if __name__ == "__main__":
    main()
