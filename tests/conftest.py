"""What holds for every test: a limit on memory, and an end of the run where a worker dies.

And what makes the run shorter: each module is compiled once, and what is loaded is not swept.
"""

import compileall
import gc
import importlib
import os
import resource
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

LEAST_BYTES = 6 << 30
"""A rehearsal of the reference job and the TPU compiler need less."""
TOP = Path(__file__).parents[1]
SLOW_AS_A_WHOLE = b"\npytestmark = pytest.mark.slow\n"


def pytest_configure(config: pytest.Config) -> None:
    gc.disable()
    _limit_memory()
    # A shell that starts the run behind "&" has Ctrl-C ignored, and so would what the tests start.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # Hundreds of Pythons are started: each would compile the package anew.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    if hasattr(config, "workerinput"):
        _keep_pipes_from_forks()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files with slow tests first: at the end both workers have short ones to share."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


def pytest_collection_finish() -> None:
    """What the collection loaded stays to the end: no search for garbage looks at it again."""
    gc.freeze()
    gc.enable()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Modules that are slow as a whole need not be imported for the quick tests."""
    if config.option.markexpr != "not slow" or collection_path.suffix != ".py":
        return None
    return SLOW_AS_A_WHOLE in collection_path.read_bytes() or None


def pytest_sessionstart(session: pytest.Session) -> None:
    """Each worker compiles its share, and finds what the others compiled."""
    config = session.config
    worker: dict[str, Any] = getattr(config, "workerinput", {"workerid": "gw0", "workercount": 1})
    number, count = int(worker["workerid"][2:]), int(worker["workercount"])
    if config.args != config.getini("testpaths") or config.option.dist != "no":
        return  # not all tests, or the process that runs none
    folders = ("tpudiag", "checks", "reports")
    code = sorted(path for folder in folders for path in (TOP / folder).rglob("*.py"))
    for path in code[number::count]:
        compileall.compile_file(path, quiet=2)
    for path in sorted((TOP / "tests").rglob("test_*.py"))[number::count]:
        if not pytest_ignore_collect(path, config):
            with suppress(Exception):  # the collection tells of it
                importlib.import_module(".".join(path.relative_to(TOP).with_suffix("").parts))


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
