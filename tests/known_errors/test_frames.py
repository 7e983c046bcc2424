"""What only a frame of a traceback shows tells less than an error's own words."""

from __future__ import annotations

from tpudiag.known_errors.frames import all_frames, ends_in_any_error
from tpudiag.known_errors.model import ONLY_A_PLACE
from tpudiag.known_errors.search import match

FRAMES = b"""Traceback (most recent call last):
  File "train.py", line 3, in main
    step(batch)
~/env/lib/python3.10/site-packages/keras/engine/training.py in fit(self, x)
---> 12     raise ValueError("no data")
ValueError: no data""".split(b"\n")


def test_frames_are_where_it_stands_and_its_source() -> None:
    of_frames = [all_frames(FRAMES, at, at) for at in range(len(FRAMES))]
    assert of_frames == [False, True, True, True, True, False]
    assert all_frames(FRAMES, 1, 4)
    assert not all_frames(FRAMES, 1, 5)


def test_a_message_behind_a_frame_is_no_frame() -> None:
    rows = [b'  File "a.py", line 1, in f', b"  ValueError: shapes differ"]
    assert not all_frames(rows, 1, 1)


def test_patterns_that_end_in_any_error() -> None:
    assert ends_in_any_error(r"mesh_tensorflow/[\w/]{1,60}\.py.{0,900}?Error: ")
    assert not ends_in_any_error(r"DataLossError")
    assert not ends_in_any_error(r"TPU.{0,40}?NotImplementedError")


def test_any_error_behind_a_package_is_told_as_a_place_and_without_confidence() -> None:
    text = (
        'File "/usr/lib/python3/site-packages/mesh_tensorflow/ops.py", line 12, in f\n'
        "    return g(x)\nSomethingError: nobody has met this sentence"
    )
    answer = next(each for each in match(text) if each.error.id == "E553")
    assert answer.told_by == "gap"
    assert answer.confidence == "low"
    assert answer.message.startswith(ONLY_A_PLACE)


def test_an_error_that_is_known_stands_before_it() -> None:
    text = (
        'File "/usr/lib/python3/site-packages/mesh_tensorflow/ops.py", line 12, in f\n'
        "    return g(x)\nValueError: Please provide a TPU Name to connect to."
    )
    assert match(text)[0].error.id == "E01"


def test_words_in_the_source_of_a_frame_are_not_sure() -> None:
    text = (
        'File "train.py", line 3, in main\n'
        "    # XLA compiled computations cannot be nested\nSomethingError: else"
    )
    answer = next(each for each in match(text) if each.error.id == "E803")
    assert answer.told_by == "frame"
    assert answer.confidence == "medium"
