"""A generator is the user's, unless it replaces the data of a package."""

import pytest

from tests.checks.rehearsal import HERE, examine, found
from tpudiag.model import Finding, Severity
from tpudiag.signals import DatasetOp, Origin, Pipeline, Signals, StandInKind

PYTHON = DatasetOp(kind="FlatMap", python=True, location=HERE)
CACHE = DatasetOp(kind="Cache", location=HERE)


def findings(*ops: DatasetOp, kinds: tuple[StandInKind, ...] = ()) -> tuple[Finding, ...]:
    pipeline = Pipeline(ops=ops, elements=())
    return found("TPU207", pipelines=(pipeline,), stand_in_kinds=kinds)


def test_a_generator_of_ours_is_not_the_users() -> None:
    assert findings(PYTHON, kinds=("data",))
    assert not findings(PYTHON, kinds=("data", "generator"))


def test_what_runs_python_is_not_counted_among_what_does_not() -> None:
    pipeline = Pipeline(ops=(PYTHON, CACHE), elements=())
    seen = examine(Signals(origin=Origin.REHEARSAL, pipelines=(pipeline,)), "TPU207")
    assert [each.value for each in seen.evidence] == [1]


@pytest.mark.parametrize(
    ("ops", "severity"),
    [((PYTHON,), None), ((PYTHON, CACHE), Severity.INFO), ((CACHE, PYTHON), None)],
)
def test_a_cache_behind_it_makes_it_a_note(
    ops: tuple[DatasetOp, ...], severity: Severity | None
) -> None:
    (finding,) = findings(*ops)
    assert finding.severity is severity
    assert ("first epoch" in finding.message) is (severity is not None)
