"""What only a frame of a traceback shows tells less than an error's own words."""

from tpudiag.known_errors.frames import all_frames
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


def test_words_in_the_source_of_a_frame_are_not_sure() -> None:
    text = (
        'File "train.py", line 3, in main\n'
        "    # XLA compiled computations cannot be nested\nSomethingError: else"
    )
    answer = next(each for each in match(text) if each.error.id == "E803")
    assert answer.told_by == "frame"
    assert answer.confidence == "medium"
