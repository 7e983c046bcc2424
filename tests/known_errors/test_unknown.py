"""An error that is not known: whole, with its phase and what it is nearest to."""

from __future__ import annotations

from tpudiag.known_errors.model import Phase
from tpudiag.known_errors.unknown import LONGEST_HEAD, LONGEST_TAIL, phase_of, unknown

CHAIN = """\
Traceback (most recent call last):
  File "train.py", line 3, in <module>
KeyError: 'labels'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "train.py", line 5, in <module>
RuntimeError: the pipeline could not be made
  of these files
"""


def test_chain_is_shown_whole_with_the_cause_first() -> None:
    error = unknown(CHAIN)
    assert error is not None
    expected = "KeyError: 'labels' | RuntimeError: the pipeline could not be made of these files"
    assert error.text == expected


def test_text_without_a_failure_holds_no_unknown_error() -> None:
    assert unknown("step 12, loss 0.1\nsaved") is None


def test_status_code_and_check_failures_are_failures() -> None:
    error = unknown("InternalError: INTERNAL: the widget of the core is odd")
    assert error is not None and error.status == "INTERNAL"
    aborted = unknown("F odd.cc:12] Check failed: widget_ != nullptr\nAborted (core dumped)")
    assert aborted is not None and "widget_" in aborted.text


def test_endless_error_keeps_its_ends() -> None:
    error = unknown("ValueError: " + "x" * 100_000 + " the end")
    assert error is not None
    assert len(error.text) < LONGEST_HEAD + LONGEST_TAIL + 20
    assert error.text.endswith("the end")


def test_phases_are_told_by_their_words() -> None:
    assert phase_of("ImportError: no such symbol") is Phase.INSTALLING
    assert phase_of("InternalError: Compilation failure: odd") is Phase.COMPILING
    assert phase_of("InvalidArgumentError: [[{{node IteratorGetNext}}]]") is Phase.READING
    assert phase_of("ZeroDivisionError: division by zero") is Phase.ANY


def test_nearest_shares_its_words() -> None:
    error = unknown("ValueError: the distributed variable has an odd aggregation and dtype here")
    assert error is not None
    assert "E81" in [near.id for near in error.nearest]
