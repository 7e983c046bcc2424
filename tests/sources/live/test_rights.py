"""Whose a process is."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Generator

import pytest

from tpudiag.monitoring.causes import stacks
from tpudiag.sources.live import job_log, rights

NOBODY = 65534


@pytest.fixture
def stranger() -> Generator[int]:
    """A process of another user, whose log is a file."""
    if os.geteuid() != 0:
        pytest.skip("only root becomes another user")
    with subprocess.Popen(["sleep", "60"], user=NOBODY) as process:
        yield process.pid
        process.kill()


def test_a_process_is_its_users(stranger: int) -> None:
    assert rights.is_own(os.getpid())
    assert rights.owner(stranger) == NOBODY
    assert not rights.is_own(stranger)
    assert rights.owner(1 << 30) is None


def test_root_looks_into_no_strangers_process(stranger: int) -> None:
    assert "another user" in stacks.look(stranger).fault


def test_the_log_of_a_strangers_process_is_not_read(stranger: int) -> None:
    assert job_log.log_files(stranger) == ()
