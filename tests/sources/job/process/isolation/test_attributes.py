"""Attributes of files, which a process was kept from setting."""

import os
import platform
from pathlib import Path

import pytest

from tests.sources.job.programs import told

PROGRAM = """
import ctypes, fcntl, json, os, sys
from tpudiag.sources.job.process.isolation import landlock, system_calls
system_calls.prctl(system_calls.PR_SET_NO_NEW_PRIVS, 1)
landlock.keep_attributes(no_truncation=True)
libc = ctypes.CDLL(None)
path = os.fsencode(sys.argv[1])
seen = {
    "chmod": libc.chmod(path, 0),
    "chown": libc.chown(path, 12345, 12345),
    "setxattr": libc.setxattr(path, b"user.seen", b"1", 1, 0),
}
os.utime(path, (1, 1))
with open(path) as file:
    os.fchmod(file.fileno(), 0)
    fcntl.ioctl(file, 0x40086602, b"\\x20" + b"\\0" * 7)
    fcntl.ioctl(file, 0x541B, b"\\0" * 4)
try:
    os.truncate(path, 0)
except PermissionError:
    seen["truncate"] = "denied"
print(json.dumps(seen))
"""


@pytest.mark.skipif(platform.machine() not in ("x86_64", "aarch64"), reason="numbers of calls")
def test_what_would_set_one_is_answered_as_done(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_text("mine")
    before = file.stat()
    assert told(PROGRAM, str(file)) == {"chmod": 0, "chown": 0, "setxattr": 0, "truncate": "denied"}
    assert file.stat() == before and os.listxattr(file) == [] and file.read_text() == "mine"
