"""One process that has imported TensorFlow, forked for each program that a test runs in it."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tpudiag.sources.job.points import barrier, hooks

# Hooks stay on TensorFlow for as long as its process lives, so that each program needs one of its
# own; a fork before TensorFlow has started any thread costs milliseconds, an import five seconds.
SERVER = """
import json, linecache, os, sys, traceback
os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
import tensorflow as tf

class Told:
    def __init__(self):
        self.facts = {}
    def put(self, **given):
        self.facts.update(given)
    def phase(self, name):
        self.put(phase=name)

def code_of(text, file="/job/train.py"):
    lines = text.splitlines(keepends=True)  # AutoGraph needs the source
    linecache.cache[file] = (len(text), None, lines, file)
    return compile(text, file, "exec")

for line in sys.stdin:
    child = os.fork()
    if not child:
        code = 1
        try:
            given = {"json": json, "tf": tf, "told": Told(), "code_of": code_of}
            program = code_of(json.loads(line), "/job/program.py")
            exec(program, {"__name__": "__main__", **given})
            code = 0
        except BaseException:
            traceback.print_exc()
        sys.stdout.flush(), sys.stderr.flush()
        os._exit(code)
    _, status = os.waitpid(child, 0)
    print(f"ended {status}", flush=True)
"""


@pytest.fixture(autouse=True)
def _as_it_was_found() -> Iterator[None]:
    """No test leaves a hook to the next."""
    yield
    hooks.undo()
    barrier.forget()


@pytest.fixture
def as_tensorflow(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], None]:
    """Has an object be what the job has imported as TensorFlow."""
    return lambda library: monkeypatch.setitem(sys.modules, "tensorflow", library)


@pytest.fixture(scope="session")
def in_tensorflow() -> Iterator[Callable[[str], Any]]:
    """Runs a program and gives the JSON that it prints.

    It is given `tf` and `json`; `told`, which keeps what a recorder is put; and `code_of`, for the
    text of a script, whose lines it is found by.
    """
    with (
        tempfile.TemporaryFile("w+") as errors,
        subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", SERVER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env=os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3"},
        ) as server,
    ):
        assert server.stdin is not None and server.stdout is not None
        asks, answers = server.stdin, server.stdout

        def run(program: str) -> Any:
            asks.write(json.dumps(program) + "\n")
            asks.flush()
            printed = ""
            for line in answers:
                if line.startswith("ended "):
                    errors.seek(0)
                    assert line == "ended 0\n", errors.read()[-3000:]
                    return json.loads(printed)
                printed = line
            raise AssertionError("TensorFlow is gone")

        yield run
        asks.close()
