"""A job whose writes nothing can hold back."""

from pathlib import Path

from tests.sources.job.programs import told

JOB = """
import json, os, pathlib, shutil, sqlite3, subprocess, sys, tempfile
from tpudiag.sources.job.held_back.no_writes import NoWrites
folder, own = sys.argv[1:]
layer = NoWrites(folder, lambda path: True)
layer.leave_alone(own)
layer.watch()
attempts = {
    "opens": lambda: open("a.txt", "w"),
    "appends": lambda: open("a.txt", "a"),
    "by a descriptor": lambda: os.open("a.txt", os.O_RDWR),
    "removes": lambda: os.remove("a.txt"),
    "renames": lambda: os.rename("a.txt", "b.txt"),
    "makes": lambda: os.makedirs("out/deep"),
    "removes a tree": lambda: shutil.rmtree("runs"),
    "rights": lambda: os.chmod("a.txt", 0),
    "a data base": lambda: sqlite3.connect("a.db"),
    "a shell": lambda: os.system("echo > a.txt"),
    "a program": lambda: subprocess.run(["rm", "a.txt"]),
    "a child": lambda: os.fork() or os._exit(0),
    "reads": lambda: pathlib.Path("a.txt").read_text() and os.listdir("."),
    "its own folder": lambda: pathlib.Path(own, "a.txt").write_text("a"),
    "a device": lambda: open("/dev/null", "w").write("a"),
}
ended = {}
for name, attempt in attempts.items():
    try:
        attempt()
        ended[name] = "went"
    except PermissionError as error:
        ended[name] = "in-place" in str(error)
print(json.dumps(ended))
"""


def test_nothing_is_written_and_each_try_is_told(tmp_path: Path) -> None:
    home, own = tmp_path / "home", tmp_path / "own"
    (home / "runs").mkdir(parents=True)
    own.mkdir()
    for name in ("a.txt", "runs/a.txt"):
        (home / name).write_text("mine")
    ended = told(JOB, str(tmp_path / "layer"), str(own), cwd=home)
    went = {name for name, how in ended.items() if how == "went"}
    assert went == {"reads", "its own folder", "a device"}
    assert all(how is True for name, how in ended.items() if name not in went)
    left = {p.relative_to(home).as_posix(): p.read_text() for p in home.rglob("*") if p.is_file()}
    assert left == {"a.txt": "mine", "runs/a.txt": "mine"}
