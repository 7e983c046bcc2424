"""A job's own calls on files, in a process whose writes go into a sandbox."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

JOB = """
import glob, json, os, pathlib, shutil, sys, tarfile, tempfile
from tpudiag.sources.job.tensorflow import barrier
from tpudiag.sources.job.tensorflow.sandbox import Sandbox
from tpudiag.sources.job.tensorflow.sandbox_files import FileCalls
FileCalls(Sandbox(sys.argv[1])).install()

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
os.remove("data/old.csv")
print(json.dumps({
    "glob": [os.path.basename(p) for p in sorted(glob.glob("records/*.csv"))],
    "opened by C code": [os.path.getsize(p) for p in glob.glob("records/*.csv")],
    "Path.glob": sorted(p.name for p in records.glob("*.csv")),
    "iterdir": sorted(p.name for p in pathlib.Path("data").iterdir()),
    "rglob": sorted(p.name for p in pathlib.Path(".").rglob("*.csv")),
    "listdir": os.listdir("data"),
    "here": sorted(os.listdir()),
    "walk": sorted(os.path.join(r, f) for r, _, files in os.walk("records") for f in files),
    "exists": [records.exists(), records.is_dir(), pathlib.Path("none").exists()],
    "copied": pathlib.Path("copied.csv").read_text(),
    "unpacked": pathlib.Path("unpacked/data/old.csv").read_text(),
    "temporary": [inner[1], os.path.exists(temporary)],
    "removed from the sandbox alone": pathlib.Path("data/old.csv").exists(),
    "defects": [each.error for each in barrier.defects()],
}))
"""


def test_what_a_job_writes_it_finds_again_and_nothing_else_is_touched(tmp_path: Path) -> None:
    home, sandbox = tmp_path / "home", tmp_path / "sandbox"
    (home / "data").mkdir(parents=True)
    (home / "data" / "old.csv").write_text("old", encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "-c", JOB, str(sandbox)],
        cwd=home, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    seen = json.loads(run.stdout)
    assert seen["defects"] == []
    assert seen["glob"] == seen["Path.glob"] == ["a.csv", "b.csv"]
    assert seen["opened by C code"] == [5, 5]
    assert seen["iterdir"] == ["new.csv", "old.csv"], "what was there and what the job wrote"
    assert seen["listdir"] == ["new.csv", "old.csv"]
    assert seen["rglob"] == ["a.csv", "b.csv", "copied.csv", "new.csv", "old.csv", "old.csv"]
    assert seen["here"] == ["all.tar", "copied.csv", "data", "records", "unpacked"]
    assert [Path(name).is_file() for name in seen["walk"]] == [True, True]
    assert seen["exists"] == [True, True, False]
    assert seen["copied"] == seen["unpacked"] == "old"
    assert seen["temporary"] == [True, False]
    written = sorted(each.name for each in home.rglob("*"))
    assert written == ["data", "old.csv"], "the user's folder is as it was"
