"""Compilations on a cluster: over the wire on loopback, with a compiler that answers at once."""

import threading
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tpudiag.compiled import Compilation, LoweredStep
from tpudiag.errors import UnreadableInput
from tpudiag.hardware import target
from tpudiag.sources.compiler.dask_compiler import ClusterCompiler

pytestmark = pytest.mark.slow

STARTED, RELEASED = threading.Event(), threading.Event()


def answered(program: str, step: LoweredStep, target: str, timeout_s: float) -> Compilation:
    if program == "wrong":
        raise RuntimeError("no such dialect")
    if program == "long":
        STARTED.set()
        RELEASED.wait(100)
    return Compilation(
        target=target,
        batch=step.batch,
        replicas=step.replicas,
        compiler=f"{program} within {timeout_s:.0f} s",
        usable_bytes=1,
    )


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    distributed: Any = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=1,
        threads_per_worker=2,
        processes=False,
        protocol="tcp://",
        host="127.0.0.1",
        dashboard_address=None,
    ) as cluster:
        yield cluster.scheduler_address


def step(folder: Path, program: str) -> LoweredStep:
    file = folder / "step.mlir"
    file.write_text(program)
    return LoweredStep(batch=8, replicas=4, path=str(file))


def test_a_worker_compiles_and_what_fails_there_is_an_answer(tmp_path: Path, address: str) -> None:
    compiler = ClusterCompiler(address, 7.0, answered)
    assert compiler.at_a_time == 1
    answer = compiler.compile(step(tmp_path, "module"), target("v5e-4"))
    assert (answer.target, answer.batch, answer.compiler) == ("v5e-4", 8, "module within 7 s")
    failed = compiler.compile(step(tmp_path, "wrong"), target("v5e-4"))
    assert failed.error is not None
    assert "no such dialect" in failed.error
    assert failed.fits is None
    unlowered = LoweredStep(batch=8, replicas=4, error="shapes differ")
    assert compiler.compile(unlowered, target("v5e-4")).error == "shapes differ"
    waiting = threading.Thread(
        target=lambda: answers.append(compiler.compile(step(tmp_path, "long"), target("v5e-4")))
    )
    answers: list[Compilation] = []
    waiting.start()
    assert STARTED.wait(100)
    compiler.stop()
    waiting.join(10)
    RELEASED.set()
    assert answers[0].error is not None
    assert compiler.stopped


def test_a_scheduler_that_is_not_there_is_one_line() -> None:
    import_module("distributed")
    with pytest.raises(UnreadableInput, match=r"--dask tcp://127\.0\.0\.1:1: no Dask scheduler"):
        ClusterCompiler("tcp://127.0.0.1:1", 7.0)
