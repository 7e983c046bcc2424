"""JAX beside a libtpu that is not its own, by the metadata of both."""

import os
import subprocess
from collections.abc import Generator
from pathlib import Path

import pytest

from tests import made
from tpudiag.monitoring.causes import stacks
from tpudiag.sources.live import job_log, processes
from tpudiag.sources.live.processes import crash_feared

SITE = "/opt/venv/lib/python3.12/site-packages"
JAXLIB, LIBTPU = f"{SITE}/jaxlib/libjax_common.so", f"{SITE}/libtpu/libtpu.so"


def installed(root: Path, asked: str, have: str) -> Path:
    site = root / SITE.lstrip("/")
    numpy = "Requires-Dist: numpy>=1\n"
    made.distribution(site, "jax", "0.10.2", f"{numpy}Requires-Dist: {asked}\n")
    made.distribution(site, "libtpu", have, numpy)
    return root


@pytest.mark.parametrize(
    ("asked", "have", "feared"),
    [
        ('libtpu==0.0.42.*; extra == "tpu"', "0.0.52", True),
        ('libtpu==0.0.42.*; extra == "tpu"', "0.0.42.1", False),
        ('libtpu==0.0.42.*; extra == "tpu"', "0.0.42", False),
        ("libtpu (==0.0.4.*) ; extra == 'tpu'", "0.0.42", True),
        ('libtpu>=0.0.42; extra == "tpu"', "0.0.52", False),
        ('libtpu==0.0.42.*; extra == "cuda"', "0.0.52", False),
    ],
)
def test_the_libtpu_that_jax_asks_for(tmp_path: Path, asked: str, have: str, feared: bool) -> None:
    said = crash_feared(installed(tmp_path, asked, have), [JAXLIB, LIBTPU])
    assert bool(said) == feared
    if feared:
        assert "JAX 0.10.2 goes with libtpu 0.0.4" in said
        assert f"another is loaded, {have}" in said


def test_without_libtpu_or_without_metadata_nothing_is_feared(tmp_path: Path) -> None:
    assert crash_feared(tmp_path, [JAXLIB, LIBTPU]) == ""
    installed(tmp_path, 'libtpu==0.0.42.*; extra == "tpu"', "0.0.52")
    assert crash_feared(tmp_path, [JAXLIB]) == ""
    assert crash_feared(tmp_path, [LIBTPU]) == ""


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
    assert processes.is_own(os.getpid())
    assert processes.owner(stranger) == NOBODY
    assert not processes.is_own(stranger)
    assert processes.owner(1 << 30) is None


def test_root_looks_into_no_strangers_process(stranger: int) -> None:
    assert "another user" in stacks.look(stranger).fault


def test_the_log_of_a_strangers_process_is_not_read(stranger: int) -> None:
    assert job_log.log_files(stranger) == ()
