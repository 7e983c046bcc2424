"""What holds for every test: a limit on memory, and an end of the run where a worker dies."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

LEAST_BYTES = 6 << 30
"""A rehearsal of the reference job and the TPU compiler need less."""


def pytest_configure(config: pytest.Config) -> None:
    _limit_memory()
    if hasattr(config, "workerinput"):
        _keep_pipes_from_forks()


def _limit_memory() -> None:
    """A test that takes too much fails by MemoryError, and the kernel need not kill a worker.

    RLIMIT_DATA counts what a process may write; RLIMIT_AS would count address space that
    TensorFlow, browsers and the TPU compiler reserve and never touch. Children inherit it.
    """
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    limit = max(LEAST_BYTES, machine // 3)
    if hard == resource.RLIM_INFINITY or limit < hard:
        resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))


def _keep_pipes_from_forks() -> None:
    """A worker that dies is seen to be dead, though processes that it forked live on.

    pytest-xdist waits for the end of the worker's pipe, which every fork holds open.
    """
    pipes = list(_pipes())

    def close() -> None:
        for pipe in pipes:
            with suppress(OSError):
                os.close(pipe)

    os.register_at_fork(after_in_child=close)


def _pipes() -> Iterator[int]:
    """The pipes of this process, but for its three standard ones."""
    for entry in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            if int(entry.name) > 2 and os.readlink(entry).startswith("pipe:"):  # noqa: PTH115
                yield int(entry.name)


@pytest.hookimpl(optionalhook=True)
def pytest_handlecrashitem(crashitem: str, report: pytest.TestReport, sched: object) -> None:
    """Where a worker died, the run ends with its test's name, and waits for no other test."""
    config: pytest.Config = getattr(sched, "config")  # noqa: B009
    config.hook.pytest_runtest_logreport(report=report)
    pytest.exit(f"a worker of the test run died in {crashitem}", returncode=1)
