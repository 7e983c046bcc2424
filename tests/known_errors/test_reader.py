"""Logs from files and from pipes: the same answers, known and not known."""

import os
from io import BytesIO
from pathlib import Path
from threading import Thread

import pytest

from tpudiag.errors import UnreadableInput
from tpudiag.known_errors.model import Match
from tpudiag.known_errors.reader import SMALL_BYTES, in_log, in_pipe, in_text, nothing_in
from tpudiag.known_errors.unknown import UnknownError

NOISE = b"step 12, loss 0.25\n"
LOST = b"UnavailableError: Socket closed\n"
ODD = b'  File "train.py", line 3, in <module>\nOddError: the frobnicator is out of tune\n'


@pytest.mark.parametrize("before", [0, SMALL_BYTES // len(NOISE) + 1], ids=["small", "large"])
def test_pipe_is_answered_as_a_file_is(before: int, tmp_path: Path) -> None:
    for end in (LOST, ODD):
        text = NOISE * before + end
        (tmp_path / "log").write_bytes(text)
        (of_pipe,) = in_pipe(BytesIO(text))
        (of_file,) = in_log(str(tmp_path / "log"))
        assert type(of_pipe) is type(of_file)
        assert isinstance(of_pipe, Match if end is LOST else UnknownError)


def test_unknown_error_of_a_pipe_names_the_line() -> None:
    (answer,) = in_pipe(BytesIO(NOISE * 100_000 + ODD))
    assert isinstance(answer, UnknownError)
    assert answer.facts.place.own_line == "train.py:3"


CUT = '  File "tensorflow/python/tpu/tpu_strategy_util.py", line 9, in initialize_tpu_system\n'


def test_known_last_line_stands_alone() -> None:
    (answer,) = in_text(CUT + LOST.decode())
    assert isinstance(answer, Match)
    assert answer.error.id == "E28"


def test_what_has_no_end_is_not_read() -> None:
    with pytest.raises(UnreadableInput, match="a device, which has no end"):
        in_log("/dev/urandom")


def test_a_named_pipe_is_read_as_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "log")
    writer = Thread(target=(tmp_path / "log").write_bytes, args=(LOST,))
    writer.start()
    (answer,) = in_log(str(tmp_path / "log"))
    writer.join()
    assert isinstance(answer, Match)


def test_what_ended_the_program_is_told_with_its_own_fix() -> None:
    caught = "ValueError: Please provide a TPU Name to connect to.\n"
    between = "\nDuring handling of the above exception, another exception occurred:\n\n"
    ended = "AttributeError: module 'keras.api.mixed_precision' has no attribute 'experimental'"
    found = [each for each in in_text(caught + between + ended) if isinstance(each, Match)]
    assert [each.error.id for each in found if not each.secondary] == ["E01", "P29"]


def test_what_was_raised_last_stands_before_a_vague_remark_about_what_was_caught() -> None:
    caught = "AttributeError: module 'abc' has no attribute 'foo'\n"
    between = "\nDuring handling of the above exception, another exception occurred:\n\n"
    found = in_text(caught + between + "FrobError: the frobnicator has no quux")
    assert [each.error.id if isinstance(each, Match) else "" for each in found] == ["", "E281"]


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("module 'jax' has no attribute 'linear_util'", "AttributeError"),
        ("cannot import name 'abc' from 'collections'", "ImportError"),
    ],
)
def test_a_sentence_of_pythons_without_its_exception_is_read_as_that(said: str, name: str) -> None:
    def ids(text: str) -> list[str]:
        return [each.error.id for each in in_text(text) if isinstance(each, Match)]

    assert ids(said) == ids(f"{name}: {said}") != []


def test_what_is_told_of_an_error_in_other_words_is_read_as_that() -> None:
    (told, *_) = in_text("which JAX? It says module 'jax' has no attribute 'linear_util'")
    assert isinstance(told, Match) and "`jax.linear_util` is in JAX up to" in told.message


def test_a_few_words_lead_to_the_errors_that_hold_them() -> None:
    assert "E28" in nothing_in("the text", "Socket closed")


def test_a_raise_statement_alone_is_what_it_raises() -> None:
    (answer,) = in_text('raise ValueError("`steps` must be a positive integer")')
    assert isinstance(answer, UnknownError) and "wanted: a positive integer" in answer.fix


def test_what_was_raised_comes_before_what_was_warned_of() -> None:
    text = "WARNING:tensorflow:Your input ran out of data\nTraceback\nKeyError: 'val_acc'"
    told = [each.error.family for each in in_text(text) if isinstance(each, Match)]
    assert told.index("metric-name") < told.index("end-of-data")
