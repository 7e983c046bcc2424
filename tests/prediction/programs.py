"""Real optimised programs, compiled by libtpu 0.0.52 for TPUs that were not there.

conv-v3: a convolution with its bias, batch norm and momentum on 8 replicas of a v3-8.
lstm-v5e: the gradient of an LSTM over 40 steps, on one v5e.
embedding-v5e: tied embeddings of 50,000 words with Adam on 4 replicas.
"""

import gzip
from dataclasses import replace
from functools import cache
from pathlib import Path

from tpudiag.compiled import Compilation, CompilerFacts, Program
from tpudiag.hardware import target
from tpudiag.prediction.instructions import work_of
from tpudiag.prediction.module import Module, parse
from tpudiag.prediction.work import Work
from tpudiag.signals import Batch, Origin, Signals
from tpudiag.sources.compiler.libtpu_process import timed

GIB = 2**30
PLAIN = Program(
    cycles=1, recomputed=(), recomputed_cycles=0, padded=(), collectives=(), sharded_update=False
)
FOLDER = Path(__file__).parents[1] / "data" / "programs"


@cache
def module(name: str) -> Module:
    """One of the programs."""
    return parse(gzip.decompress((FOLDER / f"{name}.hlo.gz").read_bytes()).decode())


@cache
def work(name: str) -> tuple[Work, ...]:
    """What one of the programs has to do."""
    return work_of(module(name))


def signals(step: Compilation) -> Signals:
    """A rehearsal that compiled this step."""
    return Signals(
        origin=Origin.REHEARSAL,
        target=target("v5e-4"),
        compiler=CompilerFacts(step=step),
        batch=Batch(128, 32, 4),
    )


def compiled(
    work: tuple[Work, ...], lines: dict[str, str], batch: int = 32, compiler: str = "libtpu 1",
    need: int = GIB, cycles: int = 10**6,
) -> Compilation:  # fmt: skip
    """A step that has this to do, as if it had been compiled for a v5e-4."""
    step = Compilation(
        target="v5e-4", batch=batch, replicas=4, compiler=compiler, usable_bytes=16 * GIB,
        temporary_bytes=need, flops=1.0, compiled=True, lines=lines,
        program=replace(PLAIN, cycles=cycles, work=work),
    )  # fmt: skip
    return timed(step, target("v5e-4"))
