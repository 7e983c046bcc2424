"""Real optimised programs, compiled by libtpu 0.0.52 for TPUs that were not there.

conv-v3: a convolution with its bias, batch norm and momentum on 8 replicas of a v3-8.
lstm-v5e: the gradient of an LSTM over 40 steps, on one v5e.
embedding-v5e: tied embeddings of 50,000 words with Adam on 4 replicas.
"""

import gzip
from functools import cache
from pathlib import Path

from tpudiag.prediction.instructions import work_of
from tpudiag.prediction.module import Module, parse
from tpudiag.prediction.work import Work

FOLDER = Path(__file__).parents[1] / "data" / "programs"


@cache
def module(name: str) -> Module:
    """One of the programs."""
    return parse(gzip.decompress((FOLDER / f"{name}.hlo.gz").read_bytes()).decode())


@cache
def work(name: str) -> tuple[Work, ...]:
    """What one of the programs has to do."""
    return work_of(module(name))
