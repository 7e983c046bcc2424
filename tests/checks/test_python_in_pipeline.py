"""What Python in a pipeline costs where a cache keeps what it made."""

from __future__ import annotations

import pytest

from tpudiag.catalogue import checks
from tpudiag.model import Finding, Location, Severity
from tpudiag.signals import DatasetOp, Origin, Pipeline, Signals

CHECK = next(check for check in checks() if check.id == "TPU207")
HERE = Location("train.py", 7)
PYTHON = DatasetOp(kind="FlatMap", python=True, location=HERE)
CACHE = DatasetOp(kind="Cache", location=HERE)


@pytest.mark.parametrize(
    ("ops", "severity"),
    [((PYTHON,), None), ((PYTHON, CACHE), Severity.INFO), ((CACHE, PYTHON), None)],
)
def test_a_cache_behind_it_makes_it_a_note(
    ops: tuple[DatasetOp, ...], severity: Severity | None
) -> None:
    signals = Signals(origin=Origin.REHEARSAL, pipelines=(Pipeline(ops=ops, elements=()),))
    (finding,) = [each for each in CHECK.function(signals) if isinstance(each, Finding)]
    assert finding.severity is severity
    assert ("first epoch" in finding.message) is (severity is not None)
