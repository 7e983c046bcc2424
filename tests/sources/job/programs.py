"""Programs that run in a process of their own, and what the parent says of a job to run."""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tpudiag.sources.job.process.job_python import JobPython
from tpudiag.sources.job.process.protocol import JobSpec

InTensorFlow = Callable[[str], Any]
"""The fixture `in_tensorflow`: the JSON that a program prints beside TensorFlow."""
THIS_PYTHON = JobPython(
    path=sys.executable,
    because="this",
    release="3.11",
    prefix=sys.prefix,
    distributions={},
    tensorflow=None,
)
SPEC = JobSpec(
    program="train.py", arguments=(), replicas=8, real_replicas=8, hosts=1, rehearse=True, steps=1,
    warmup_steps=1, budget_s=0.0, log_dir="",
)  # fmt: skip


def spec(program: str = "train.py", **fields: Any) -> JobSpec:
    """A job of 8 replicas to rehearse."""
    return replace(SPEC, program=program, **fields)


def told(program: str, *arguments: str, **options: Any) -> Any:
    """The JSON that a Python program prints last; it must end well."""
    return json.loads(printed(program, *arguments, **options).splitlines()[-1])


def printed(program: str, *arguments: str, **options: Any) -> str:
    """What a Python program prints; it must end well."""
    return ran(sys.executable, "-c", program, *arguments, **options).stdout


def ran(*command: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """What a command says; it must end well."""
    done: subprocess.CompletedProcess[str] = subprocess.run(
        command, capture_output=True, text=True, timeout=800, check=False, **options
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done
