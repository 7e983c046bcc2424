"""What nothing in a text speaks for is no answer."""

from pathlib import Path

import pytest

from tpudiag.known_errors.model import Match
from tpudiag.known_errors.reader import in_log, in_text
from tpudiag.known_errors.unknown import UnknownError

RAISED_IN = """Traceback (most recent call last):
  File "train.py", line 8, in <module>
    main()
  File "/usr/lib/python3.10/site-packages/{file}", line 88, in read
    raise error
{error}"""


@pytest.mark.parametrize(
    ("file", "error"),
    [
        ("jax/_src/api.py", "KeyError: 'Got several values, none of which is a key of these.'"),
        ("grain/_src/queue.py", "ValueError: Queue main is closed"),
        ("keras/src/utils/odd.py", "ValueError: Got a value that is odd."),
        ("transformers/trainer.py", "ValueError: indices should be the same length as features"),
    ],
)
def test_words_of_any_program_or_of_another_library_are_no_answer(file: str, error: str) -> None:
    said = in_text(RAISED_IN.format(file=file, error=error))
    assert isinstance(said[0], UnknownError) and error.partition(": ")[2].strip("'") in said[0].text


@pytest.mark.parametrize(
    "error",
    [
        "TypeError: build() argument after ** must be a mapping, not Tensor",
        "TypeError: slice indices must be integers or None or have an __index__ method",
        "TypeError: __init__() got an unexpected keyword argument 'lr'",
        "AttributeError: can't set attribute 'name'",
        "KeyError: 'loss'",
        "ValueError: axes don't match array",
    ],
)
def test_pythons_own_words_are_no_librarys_where_the_traceback_names_none(error: str) -> None:
    own = (
        "Traceback (most recent call last):\n"
        + '  File "report.py", line 8, in rows\n    f(*a)\n' * 2
    )
    assert isinstance(in_text(own + error)[0], UnknownError)


def test_same_words_of_its_own_library_are_answered() -> None:
    error = "ValueError: Queue main is closed"
    assert not isinstance(in_text(error)[0], UnknownError)


def test_a_number_is_not_divided_by_a_path() -> None:
    error = RAISED_IN.format(file="widgets/core.py", error="ZeroDivisionError: division by zero")
    assert "core.py`" not in str(in_text(error)[0])


def test_a_path_does_not_take_in_the_words_before_it() -> None:
    (hit,) = in_text("FileNotFoundError: Checkpoint at /data/run1 not found.")
    assert isinstance(hit, Match) and hit.values["file"] == "/data/run1"


def test_a_large_log_is_doubted_as_a_small_one_is(tmp_path: Path) -> None:
    (tmp_path / "log").write_text(
        "step 12, loss 0.25\n" * 60_000
        + RAISED_IN.format(file="grain/_src/queue.py", error="ValueError: Queue main is closed")
    )
    assert isinstance(in_log(str(tmp_path / "log"))[0], UnknownError)
