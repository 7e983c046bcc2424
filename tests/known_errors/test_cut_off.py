"""Tracebacks that end before their last sentence: told by the frame in which they end."""

from __future__ import annotations

import re

import pytest

from tpudiag.known_errors import reader
from tpudiag.known_errors.catalogue import known_errors
from tpudiag.known_errors.cut_off import LONGEST_TEXT, cut_off
from tpudiag.known_errors.model import CUT_OFF, ONLY_A_PLACE, KnownError, Match
from tpudiag.known_errors.unknown import UnknownError

PLACED = [error for error in known_errors() if not error.patterns]
KERAS = "/venv/lib/python3.9/site-packages/keras"
REDUCTION = f"""\
Traceback (most recent call last):
  File "train.py", line 9, in train_step
    loss = loss_object(y, model(x))
  File "{KERAS}/losses.py", line 143, in __call__
    losses, sample_weight, reduction=self._get_redu"""
LOSS = f"""\
  File "{KERAS}/losses.py", line 143, in __call__
    losses = call_fn(y_true, y_pred)
"""


def first(text: str) -> Match:
    answer = reader.in_text(text)[0]
    assert isinstance(answer, Match)
    return answer


@pytest.mark.parametrize("error", PLACED, ids=lambda error: error.id)
def test_example_is_told_by_its_place(error: KnownError) -> None:
    answer = first(error.example)
    assert answer.error.id == error.id
    assert answer.told_by == "cut"
    assert answer.confidence == "low"
    assert answer.message.startswith(CUT_OFF)


def test_what_has_no_words_of_its_own_has_a_place_and_rivals() -> None:
    assert PLACED
    assert all(error.places and error.rivals for error in PLACED)


def test_places_are_regular_expressions_without_unbounded_repeats() -> None:
    for error in known_errors():
        for place in error.places:
            bare = re.sub(r"\\.|\[(?:[^\]\\]|\\.)*\]", "x", place)
            assert not re.search(r"[*+]|,\}", bare), error.id


def test_the_innermost_known_place_tells_and_its_error_stands_before_what_only_follows() -> None:
    answer = first(REDUCTION)
    assert answer.error.id == "E33"
    assert answer.line == 4
    first_of_log, *others = reader.in_text("INFO:Error reported to Coordinator: x\n" + REDUCTION)
    assert isinstance(first_of_log, Match) and first_of_log.error.id == "E33"
    assert all(isinstance(each, Match) and each.secondary for each in others)


@pytest.mark.parametrize(
    "frame",
    [
        "C:\\envs\\tf\\lib\\keras\\losses.py in __call__(self, y_true, y_pred)",
        "File ~\\envs\\keras\\losses.py:143, in Loss.__call__(self)",
        "[/usr/lib/keras/losses.py](https://localhost:8080/#) in __call__(self)",
        "    /usr/lib/keras/losses.py:143 __call__  **",
        "> ~/keras/losses.py in __call__(self)",
    ],
)
def test_frames_are_read_in_each_form(frame: str) -> None:
    answer = cut_off(f"Epoch 1/5\n{frame}\n    142 \n--> 143   losses = call_fn(")
    assert answer is not None and answer.error.id == "E864"


def test_an_error_that_nobody_knows_stands_before_its_place() -> None:
    frame = (
        'File "tensorflow/python/ops/nn_impl.py", line 9, in sigmoid_cross_entropy_with_logits\n'
    )
    unknown, placed = reader.in_text(f"  {frame}    return f(labels)\nOddError: the widget is odd")
    assert isinstance(unknown, UnknownError) and "widget" in unknown.text
    assert isinstance(placed, Match) and placed.error.id == "E864"
    assert placed.message.startswith(ONLY_A_PLACE)


def test_an_error_with_words_of_its_own_needs_no_place() -> None:
    assert first(LOSS + "ValueError: Please provide a TPU Name to connect to.").error.id == "E01"


def test_a_rival_is_supported_by_the_rest_of_the_text() -> None:
    supported = first(REDUCTION.replace("_get_redu", "call(").replace("143", "7")).supported
    assert supported is None
    text = LOSS + "    return K.categorical_crossentropy(y_true, y_pr"
    supported = first(text).supported
    assert supported is not None and supported.line == 3


def test_a_log_that_goes_on_after_its_frames_is_no_cut_text() -> None:
    assert cut_off(LOSS + "step 1, loss 0.1\n" * 100) is None
    assert reader.in_text("epoch 1\nsaved model.py in 3 s\n") == []


def test_lines_are_counted_from_the_texts_own_beginning() -> None:
    long = "all is well\n" * (LONGEST_TEXT // 8)
    placed = cut_off(long + REDUCTION)
    assert placed is not None
    assert placed.line == long.count("\n") + 4
