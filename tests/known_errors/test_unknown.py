"""An error that is not known: whole, with its phase and what it is nearest to."""

import pytest

from tpudiag.known_errors.facts import status_of
from tpudiag.known_errors.model import Phase
from tpudiag.known_errors.reader import HANDLED, in_text, is_answered
from tpudiag.known_errors.unknown import (
    LONGEST_HEAD,
    LONGEST_TAIL,
    UnknownError,
    phase_of,
    unknown,
)

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


REMARK = "2024-01-01 00:00:00.1: I tensorflow/core/platform/cpu_feature_guard.cc:210] This binary"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("InternalError: INTERNAL: the widget of the core is odd", "the widget of the core is odd"),
        ("F odd.cc:12] Check failed: widget_ != nullptr\nAborted (core dumped)", "widget_"),
        (
            "epoch 3\nThe widget is odd. [[node Widget (defined at /a/b.py:3)]]",
            "The widget is odd.",
        ),
        ("ERROR: (gcloud.alpha.widgets) it is odd", "it is odd"),
        ('{"severity":"ERROR","message":"ValueError: the odd thing\\\\nwas odd"}', "odd thing"),
        (f"{REMARK} is optimized\nthe frobnicator could not be opened", "could not be opened"),
        (f"{REMARK} could not be optimized", None),
        ("step 1\n" * 30 + "ERROR: it is odd", None),
        ("all is well: 0 errors, ValueErrorless", None),
        ("step 12, loss 0.1\nsaved", None),
    ],
)
def test_a_failure_is_shown_in_whatever_words_it_stands(text: str, shown: str | None) -> None:
    error = unknown(text)
    assert (error is None) if shown is None else (error is not None and shown in error.text)


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


def test_what_its_kind_means_where_and_what_next_are_said() -> None:
    error = unknown(
        'Traceback (most recent call last):\n  File "/home/me/train.py", line 37, in step\n'
        '  File "/usr/lib/python3/dist-packages/tensorflow/ops.py", line 3, in f\n'
        "tensorflow.python.framework.errors_impl.InvalidArgumentError: an odd widget [Op:OddOp]"
    )
    assert error is not None and error.status == "INVALID_ARGUMENT"
    assert error.facts.place.own_line == "/home/me/train.py:37"
    assert error.operation == "OddOp"
    assert error.meaning and error.next_steps


def test_status_is_told_in_any_of_its_spellings() -> None:
    assert status_of("(0) Failed precondition: odd") == "FAILED_PRECONDITION"
    assert status_of("errors_impl.DataLossError: odd") == "DATA_LOSS"
    assert status_of("INTERNAL: odd") == "INTERNAL"
    assert status_of("ValueError: odd") is None


def test_line_of_a_notebook_is_its_cell() -> None:
    error = unknown("Cell In[12], line 3\n      3 odd()\nValueError: the widget is odd")
    assert error is not None and error.facts.place.own_line == "cell 12, line 3"


def test_a_record_of_a_fatal_log_is_a_failure_beside_remarks() -> None:
    remark = "WARNING: Logging before InitGoogle() is written to STDERR\n"
    fatal = "F0000 00:00:1690231188.634652  174603 b29.cc:1205] File: the frobnicator is not up yet"
    told = in_text(remark + fatal)[0]
    assert isinstance(told, UnknownError) and "frobnicator" in told.text


@pytest.mark.parametrize(
    "text",
    [
        'Traceback (most recent call last):\n  File "a.py", line 10, in <module>\n    f(x)\n'
        "All kernels registered for op Odd: <no registered kernels> [Op:Odd]\n",
        "FAILED_PRECONDITION: an odd platform was registered already for this odd hardware",
        "ERROR:tensorflow:Error recorded from infeed: OddOp could not convert: a.jpg",
    ],
)
def test_a_failure_without_an_exceptions_name_is_one(text: str) -> None:
    failure = in_text(text)[0]
    assert isinstance(failure, UnknownError)
    assert failure.text.endswith(text.splitlines()[-1].removeprefix("ERROR:tensorflow:"))


def test_a_remark_about_a_caught_exception_is_no_answer_to_the_one_raised_after_it() -> None:
    remark = "InvalidArgumentError: Operation 'T_489' has no attr named '_XlaCompile'."
    assert is_answered(in_text(f"{remark}\n{HANDLED}:\n{remark}"))
    assert not is_answered(in_text(f"{remark}\n{HANDLED}:\nValueError: the widgets are lost"))
