"""The report on a step that TensorFlow does not lower."""

from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tpudiag.compiled import LoweredStep, RefusedOp
from tpudiag.sources.job.tensorflow.graphs import lowering


class Refused(lowering.LoweringWatch):
    """A watch whose step is refused for one operation."""

    def __init__(self, kind: str) -> None:
        self._tf: Any = SimpleNamespace(__version__="2.15.1")
        self._gradients: Any = SimpleNamespace(calls=[])
        self.steps_per_dispatch = lambda: 1
        self._program: Any = SimpleNamespace(refused=partial(self._refusal, kind))

    def _lower(self, batch: int, wanted: int, replicas: int, folder: Path) -> LoweredStep:
        raise ValueError(f"Detected unsupported operations, {(batch, wanted, replicas, folder)}")

    def _refusal(self, kind: str, error: str) -> tuple[RefusedOp, ...]:
        return (RefusedOp(kind, kind),) if "unsupported" in error else ()


def test_the_operation_that_does_not_lower_is_named(tmp_path: Path) -> None:
    theirs = Refused("AsString").lower(8, 8, 8, tmp_path)
    assert [op.kind for op in theirs.refused_ops] == ["AsString"]
    assert theirs.error is not None and theirs.error.startswith("ValueError: Detected unsupported")
