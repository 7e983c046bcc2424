"""Programs that send, however the job starts them."""

import os
from pathlib import Path

from tests.sources.job.programs import printed

PROGRAM = """
import os, sys
from tpudiag.sources.job.held_back.layer import Layer
from tpudiag.sources.job.held_back.programs import Programs
from tpudiag.sources.job.points import barrier

folder = sys.argv[1]
own = {"PATH": folder}
Programs(f"{folder}/programs", f"{folder}/sends", Layer(f"{folder}/layer"))
curl, args = f"{folder}/curl", ["curl", "-T", "a", "http://files.example/a"]

def forked(start, *given):
    pid = os.fork()
    if not pid:
        start(*given)
    return os.waitpid(pid, 0)[1]

ended = [
    forked(os.execv, curl, args),
    forked(os.execve, os.fsencode(curl), args, {}),
    forked(os.execvpe, "curl", args, own),
    os.waitpid(os.posix_spawn(curl, args, own), 0)[1],
    os.waitpid(os.posix_spawnp("curl", args, own), 0)[1],
    os.spawnlp(os.P_WAIT, "curl", *args),
    forked(os.execv, f"{folder}/other", ["other"]),
]
assert ended == [0] * 6 + [7 << 8], ended
assert not barrier.defects(), barrier.defects()
"""


def test_a_program_is_stood_in_for_however_it_is_started(tmp_path: Path) -> None:
    for name in ("curl", "other"):
        (tmp_path / name).write_text("#!/bin/sh\nexit 7\n")
        (tmp_path / name).chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    printed(PROGRAM, str(tmp_path), env={**os.environ, "PATH": path})
    sends = (tmp_path / "sends").read_text().splitlines()
    assert len(sends) == 6 and all("curl files.example" in line for line in sends)
