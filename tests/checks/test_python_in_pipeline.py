"""A generator is the user's, unless it replaces the data of a package."""

from importlib import import_module

import pytest

from tpudiag.model import Check, Evidence, Finding, Location, Severity
from tpudiag.signals import DatasetOp, Origin, Pipeline, Signals, StandInKind

CHECK: Check = import_module("tpudiag.checks.python_in_pipeline").python_in_pipeline
GENERATED = Pipeline(
    ops=(DatasetOp(kind="FlatMap", python=True, location=Location("train.py", 3)),), elements=()
)


def findings(*kinds: StandInKind) -> list[Finding]:
    signals = Signals(origin=Origin.REHEARSAL, pipelines=(GENERATED,), stand_in_kinds=kinds)
    return [each for each in CHECK.function(signals) if isinstance(each, Finding)]


def test_a_generator_of_ours_is_not_the_users() -> None:
    assert findings("data")
    assert not findings("data", "generator")


def test_what_runs_python_is_not_counted_among_what_does_not() -> None:
    ops = (*GENERATED.ops, CACHE)
    signals = Signals(origin=Origin.REHEARSAL, pipelines=(Pipeline(ops=ops, elements=()),))
    (counted,) = [each for each in CHECK.function(signals) if isinstance(each, Evidence)]
    assert counted.value == 1


PYTHON = DatasetOp(kind="FlatMap", python=True, location=Location("train.py", 3))
CACHE = DatasetOp(kind="Cache", location=Location("train.py", 3))


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
