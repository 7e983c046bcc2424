"""Texts are made plain: what was not raised is left out, and lines keep their numbers."""

from tpudiag.known_errors.plain_text import all_frames, without_source_around
from tpudiag.known_errors.search import match

NOTEBOOK = b"""\
<ipython-input-1-76b0dd665776> in <module>()
     84 model.summary()
---> 85 shuffled = model.predict(data)
     86 print('shuffled')

training.py in predict(self, x)
   1641             end_step = step + 1
-> 1642             callbacks.on_predict_batch_end(end_step)
   1643       if batch_outputs is None:
   1644         raise ValueError('Expect x to be a non-empty array or dataset.')
   1645
  12 samples
"""
RAISED = b"""\
    852       show = 1
--> 853       raise AssertionError(
    854           "Socket closed")
"""
FRAMES = b"""Traceback (most recent call last):
  File "train.py", line 3, in main
    step(batch)
~/env/lib/python3.10/site-packages/keras/engine/training.py in fit(self, x)
---> 12     raise ValueError("no data")
ValueError: no data""".split(b"\n")


def test_source_that_did_not_run_is_left_out() -> None:
    left = without_source_around(NOTEBOOK)
    assert b"non-empty" not in left and b"end_step = step" not in left
    assert b"model.predict(data)" in left and b"on_predict_batch_end" in left
    assert b"12 samples" in left
    assert left.count(b"\n") == NOTEBOOK.count(b"\n")
    assert not any(each.error.id == "E211" for each in match(NOTEBOOK.decode()))


def test_what_a_line_that_ran_raises_stays() -> None:
    left = without_source_around(RAISED)
    assert b"Socket closed" in left and b"show = 1" not in left


def test_a_text_without_arrows_stays_as_it_is() -> None:
    text = b"  1 a\n  2 b\nUnavailableError: Socket closed\n"
    assert without_source_around(text) == text


def test_a_figure_of_the_progress_bar_is_no_answer_of_a_server() -> None:
    said = "BERT model selected: https://tfhub.dev/organisation/encoder/1"
    assert not match(f"{said}\nEpoch 1/5\n 1/26 - loss: 12.2908 - accuracy: 0.5000\n")
    assert [hit.error.id for hit in match(f"{said}\nHTTP Error 404\n")]


def test_frames_are_where_it_stands_and_its_source() -> None:
    of_frames = [all_frames(FRAMES, at, at) for at in range(len(FRAMES))]
    assert of_frames == [False, True, True, True, True, False]
    assert all_frames(FRAMES, 1, 4)
    assert not all_frames(FRAMES, 1, 5)
    assert not all_frames([FRAMES[1], b"  ValueError: shapes differ"], 1, 1), "a message behind it"


def test_words_in_the_source_of_a_frame_are_not_sure() -> None:
    source = b"    # XLA compiled computations cannot be nested\nSomethingError: else"
    answers = match(b"\n".join((FRAMES[1], source)).decode())
    answer = next(each for each in answers if each.error.id == "E803")
    assert answer.told_by == "frame"
    assert answer.confidence == "medium"
