"""A job's own calls on files, in a process whose writes go into a layer."""

import hashlib
import os
from pathlib import Path
from typing import Any

from tests.sources.job.programs import told

START = """
import glob, io, json, os, pathlib, shutil, sqlite3, sys, tarfile, tempfile
from tpudiag.sources.job.points import barrier
from tpudiag.sources.job.held_back.file_calls import FileCalls
from tpudiag.sources.job.held_back.layer import Layer
layer = Layer(sys.argv[1], lambda path: True)
layer.leave_alone(os.environ["TMPDIR"])
calls = FileCalls(layer)
calls.install()
sys.modules["sqlite3"].dbapi2
for name, tell in calls.by_module().items():
    if name in sys.modules:
        tell(sys.modules[name])
seen = {}

def raised(call, *args, **kwargs):
    try:
        call(*args, **kwargs)
    except OSError as error:
        return type(error).__name__
"""
END = """
print(json.dumps({**seen, "defects": [each.text for each in barrier.defects()]}))
"""
FOUND_AGAIN = """
records = pathlib.Path("records")
records.mkdir()
for name in ("b.csv", "a.csv"):
    (records / name).write_text(name)
open("data/new.csv", "w").write("new")
shutil.copy("data/old.csv", "copied.csv")
with tarfile.open("all.tar", "w") as archive:
    archive.add("data/old.csv")
with tarfile.open("all.tar") as archive:
    archive.extractall("unpacked")
with tempfile.TemporaryDirectory() as temporary:
    os.mkdir(os.path.join(temporary, "inner"))
    inner = [os.path.join(temporary, "inner"), os.path.exists(temporary)]
    real = os.open(os.path.join(temporary, "inner", "by-c-code"), os.O_CREAT)
pathlib.Path("written_module.py").write_text("VALUE = 3")
sys.path.insert(0, "")
import written_module
seen = {
    "glob": [os.path.basename(p) for p in sorted(glob.glob("records/*.csv"))],
    "opened by C code": [os.path.getsize(p) for p in glob.glob("records/*.csv")],
    "Path.glob": sorted(p.name for p in records.glob("*.csv")),
    "iterdir": sorted(p.name for p in pathlib.Path("data").iterdir()),
    "rglob": sorted({p.name for p in pathlib.Path(".").rglob("*.csv")}),
    "listdir": sorted(os.listdir("data")),
    "bytes": sorted(name.decode() for name in os.listdir(b"data")),
    "here": sorted(os.listdir()),
    "walk": sorted(os.path.join(r, f) for r, _, files in os.walk("records") for f in files),
    "exists": [records.exists(), records.is_dir(), pathlib.Path("none").exists()],
    "copied": pathlib.Path("copied.csv").read_text(),
    "unpacked": pathlib.Path("unpacked/data/old.csv").read_text(),
    "temporary": [inner[1], os.path.exists(temporary)],
    "module": written_module.VALUE,
}
"""


def run(tmp_path: Path, program: str) -> dict[str, Any]:
    """Runs a program in a folder with files of its own, and holds that it did not change them."""
    home, temporary = tmp_path / "home", tmp_path / "temporary"
    for folder in (home / "data", home / "runs" / "old", temporary):
        folder.mkdir(parents=True)
    for name in ("data/old.csv", "best.txt", "log.csv", "runs/old/ckpt", "array.bin"):
        (home / name).write_text(f"{name}\n", encoding="utf-8")
    (home / "link").symlink_to("data")
    before = fingerprint(home)
    variables = {**os.environ, "TMPDIR": str(temporary), "PYTHONDONTWRITEBYTECODE": "1"}
    layer = str(tmp_path / "layer")
    seen: dict[str, Any] = told(START + program + END, layer, cwd=home, env=variables)
    assert seen["defects"] == []
    assert fingerprint(home) == before, "the user's folder is as it was"
    return seen


def fingerprint(folder: Path) -> dict[str, str]:
    """All that is in a folder, with its content, mode and time."""
    return {
        str(path.relative_to(folder)): (
            hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        )
        + f" {path.lstat().st_mode:o} {path.lstat().st_mtime_ns}"
        for path in sorted(folder.rglob("*"))
    }


def test_what_a_job_writes_it_finds_again(tmp_path: Path) -> None:
    seen = run(tmp_path, FOUND_AGAIN)
    assert seen["glob"] == seen["Path.glob"] == ["a.csv", "b.csv"]
    assert seen["opened by C code"] == [5, 5]
    names = ["new.csv", "old.csv"]
    assert seen["iterdir"] == seen["listdir"] == seen["bytes"] == names, "there before, and written"
    assert seen["rglob"] == ["a.csv", "b.csv", "copied.csv", "log.csv", "new.csv", "old.csv"]
    before = ["array.bin", "best.txt", "data", "link", "log.csv", "runs"]
    written = ["all.tar", "copied.csv", "records", "unpacked", "written_module.py"]
    assert seen["here"] == sorted([*before, *written])
    assert [Path(name).is_file() for name in seen["walk"]] == [True, True]
    assert seen["exists"] == [True, True, False]
    assert seen["copied"] == seen["unpacked"] == "data/old.csv\n"
    assert seen["temporary"] == [True, False]
    assert seen["module"] == 3


def test_a_host_that_is_missing_has_its_folders_and_errors_name_the_jobs_paths(
    tmp_path: Path,
) -> None:
    seen = run(
        tmp_path,
        """
layer.hosts = ("/no-host/",)
os.mkdir("/no-host/my drive/models/")
open("/no-host/other/log.txt", "w").write("kept")
seen["kept"] = [os.listdir("/no-host/my drive"), open("/no-host/other/log.txt").read()]
try:
    open("runs/none/x", "w")
except OSError as error:
    seen["named"] = [error.filename, str(error)]
""",
    )
    assert seen["kept"] == [["models"], "kept"]
    assert seen["named"] == ["runs/none/x", "[Errno 2] No such file or directory: 'runs/none/x'"]


def test_files_that_are_moved_leave_their_names_and_no_more(tmp_path: Path) -> None:
    seen = run(
        tmp_path,
        """
os.replace("best.txt", "previous_best.txt")
shutil.move("runs", "runs_old")
os.rename("log.csv", "log.csv.1")
os.link("array.bin", "linked.bin")
os.symlink("array.bin", "soft.bin")
seen["moved"] = [os.path.exists(n) for n in ("best.txt", "previous_best.txt", "runs", "log.csv")]
seen["inside"] = open("runs_old/old/ckpt").read()
with tempfile.NamedTemporaryFile("w", dir=".", delete=False) as file:
    file.write("whole")
os.replace(file.name, "whole.txt")
os.remove("soft.bin")
os.symlink("data/old.csv", "soft.bin")
seen["whole"] = open("whole.txt").read()
seen["linked"] = [open("linked.bin").read(), open("soft.bin").read()]
seen["here"] = sorted(os.listdir("."))
seen["again"] = raised(os.rename, "best.txt", "x")
""",
    )
    assert seen["moved"] == [False, True, False, False]
    assert seen["inside"] == "runs/old/ckpt\n" and seen["whole"] == "whole"
    assert seen["linked"] == ["array.bin\n", "data/old.csv\n"]
    assert seen["here"] == [
        "array.bin", "data", "link", "linked.bin", "log.csv.1", "previous_best.txt", "runs_old",
        "soft.bin", "whole.txt",
    ]  # fmt: skip
    assert seen["again"] == "FileNotFoundError"


def test_what_is_removed_is_gone_for_the_job_alone(tmp_path: Path) -> None:
    seen = run(
        tmp_path,
        """
seen["refused"] = [raised(os.remove, "data"), raised(os.rmdir, "data"),
    raised(os.rmdir, "best.txt"), raised(os.remove, "none"), raised(open, "none/x", "w")]
os.remove(b"best.txt")
shutil.rmtree("runs")
folder = os.open("data", os.O_RDONLY)
os.unlink("old.csv", dir_fd=folder)
seen["data"] = os.listdir("data")
os.rmdir("data")
gone = ("best.txt", "runs/old", "runs", "data", "data/old.csv")
seen["gone"] = [raised(os.stat, name) for name in gone]
again = ((os.remove, "best.txt"), (os.listdir, "runs"), (open, "best.txt"))
seen["again"] = [raised(call, name) for call, name in again]
os.makedirs("runs/new")
open("best.txt", "w").write("new")
seen["anew"] = [os.listdir("runs"), open("best.txt").read(), sorted(os.listdir("."))]
""",
    )
    assert seen["refused"] == [
        "IsADirectoryError", "OSError", "NotADirectoryError", "FileNotFoundError",
        "FileNotFoundError",
    ]  # fmt: skip
    assert seen["data"] == []
    assert seen["gone"] == ["FileNotFoundError"] * 5
    assert seen["again"] == ["FileNotFoundError"] * 3
    assert seen["anew"] == [["new"], "new", ["array.bin", "best.txt", "link", "log.csv", "runs"]]


def test_files_are_changed_in_a_copy(tmp_path: Path) -> None:
    seen = run(
        tmp_path,
        """
open("log.csv", "a").write("more")
with open("array.bin", "r+b") as file:
    file.write(b"A")
os.truncate("best.txt", 2)
os.chmod("data/old.csv", 0o600)
os.utime("data/old.csv", (1, 1))
seen["exclusive"] = raised(open, "log.csv", "x")
with open("log.csv", "r+") as file:
    seen["log"] = file.read()
seen["changed"] = [open("array.bin").read(), open("best.txt").read()]
class Raw(io.FileIO):
    pass
with io.FileIO("raw.bin", "w") as file, open("raw.bin", "rb", buffering=0) as opened:
    seen["raw"] = [isinstance(opened, io.FileIO), isinstance(opened, Raw), isinstance(file, Raw)]
    file.write(b"raw")
with Raw("raw.bin") as file:
    seen["raw"] += [file.read().decode(), isinstance(file, (Raw)), open("raw.bin").read()]
seen["mode"] = [oct(os.stat("data/old.csv").st_mode)[-3:], os.stat("data/old.csv").st_mtime]
base = sqlite3.connect("log.db")
base.execute("create table t (x)")
base.commit()
seen["database"] = [os.path.exists("log.db"), len(sqlite3.connect("log.db").execute(
    "select * from sqlite_master").fetchall())]
open("link/by-link.csv", "w").write("linked")
seen["link"] = [open("data/by-link.csv").read(), sorted(os.listdir("link"))]
os.makedirs("deep/er")
os.chdir("deep/er")
open("here.txt", "w").write("here")
seen["cwd"] = [os.getcwd()[-12:], open("../../best.txt").read(), os.listdir(".")]
descriptor = os.open("../../flags.bin", os.O_WRONLY | os.O_CREAT)
os.write(descriptor, b"f")
seen["flags"] = open("../../flags.bin").read()
""",
    )
    assert seen["raw"] == [True, False, False, "raw", True, "raw"]
    assert seen["exclusive"] == "FileExistsError" and seen["log"] == "log.csv\nmore"
    assert seen["changed"] == ["Array.bin\n", "be"]
    assert seen["mode"] == ["600", 1.0]
    assert seen["database"] == [True, 1]
    assert seen["link"] == ["linked", ["by-link.csv", "old.csv"]]
    assert seen["cwd"] == ["home/deep/er", "be", ["here.txt"]] and seen["flags"] == "f"
