"""What the measured speeds of a pipeline say of a fix."""

import importlib

import pytest

from tpudiag.signals import InputSpeed, Pipeline

_input = importlib.import_module("tpudiag.checks._input")


def pipeline(
    before: float, after: float, slowest: float | None, others: float | None = None
) -> Pipeline:
    """A pipeline whose prefetch was measured."""
    speed = InputSpeed("prefetch", before, after, slowest, others)
    return Pipeline(ops=(), elements=(), speeds=(speed,))


@pytest.mark.parametrize(
    ("slowest", "others", "refuted", "evidence"),
    [(None, None, True, 2), (950.0, 0.03, True, 2), (6e2, 0.03, False, 0), (950.0, 0.5, False, 0)],
    ids=["one turn", "turns that agree", "turns that do not", "a machine with other work"],
)
def test_a_slower_fix_is_refuted_by_turns_that_agree_on_a_free_machine(
    slowest: float | None, others: float | None, refuted: bool, evidence: int
) -> None:
    measured = pipeline(1000.0, 700.0, slowest, others)
    assert _input.refuted(measured, "prefetch") is refuted
    sentence, shown = _input.worth(measured, "prefetch")
    assert sentence == ""
    assert len(shown) == evidence


def test_a_faster_one_is_said_with_its_figures() -> None:
    sentence, shown = _input.worth(pipeline(1000.0, 1500.0, 900.0), "prefetch")
    assert "1,000 -> 1,500" in sentence
    assert len(shown) == 2
