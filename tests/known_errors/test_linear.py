"""The time of an answer grows with the text, whatever its lines hold and however long they are."""

import time

import pytest

from tpudiag.known_errors.reader import in_text
from tpudiag.known_errors.unknown import LONGEST_ROW, folded, unknown

PIECES = {
    "progress bar": "\r{n}/1875 [==>.....] - ETA: 3s - loss: 0.{n} - accuracy: 0.9\x08\x08\x08",
    "JSON in one line": '{{"severity":"INFO","message":"step {n} took 0.3 s, {{{{node a}}}}"}},',
    "words with dots": "word_and.more ",
    "one word": "x",
    "capitals": "AbcDef",
    "blanks": " ",
    "escapes of a terminal": "\x1b[31m\x1b[0m",
    "backslashes": "\\n\\\\",
    "bold": "**a ",
    "entities": "&lt;&amp;",
    "arrows": "---> {n} ",
    "nodes": "{{{{node a/b}}}} [[node ",
    "frames": 'File "a.py", line {n}, in ',
    "buckets": "gs://a/b tpu='a' --project a ",
    "exceptions": "ValueError ",
    "layers": "Input {n} of layer a Layer 'b' ",
    "the same failure": "ValueError: what nobody knows {n}\n",
    "frames in lines": '  File "/a/b.py", line {n}, in f\n    return g(x)\n',
}
TIMES = 16
MOST_TIMES = 30
LEAST_S = 0.02
"""What is quicker than this is all start-up, and of no order."""


def cpu_s(piece: str, size: int) -> float:
    """What the quicker of two answers to a text of about this size takes of a core."""
    count = max(1, size // len(piece))
    text = "".join(piece.format(n=number) for number in range(count)) + "\nValueError: new\n"
    taken: list[float] = []
    for _ in range(2):
        begun = time.process_time()
        in_text(text)
        taken.append(time.process_time() - begun)
    return min(taken)


def growth(piece: str, size: int) -> float:
    """How many times longer sixteen times the text takes."""
    return cpu_s(piece, TIMES * size) / max(LEAST_S, cpu_s(piece, size))


@pytest.mark.slow
@pytest.mark.parametrize("name", PIECES)
def test_sixteen_times_the_text_takes_no_more_than_thirty_times_the_time(name: str) -> None:
    assert growth(PIECES[name], 12_000) <= MOST_TIMES


def test_a_long_line_is_folded_before_any_pattern_is_tried() -> None:
    rows = folded("a\n" + "x" * (3 * LONGEST_ROW) + "\n" + "y" * LONGEST_ROW).split("\n")
    assert [len(row) for row in rows] == [1, *[LONGEST_ROW] * 4]


def test_a_failure_at_the_end_of_a_long_line_is_found() -> None:
    failure = unknown('{"log": "' + "step 1 took 0.3 s, " * 5000 + 'FooError: what nobody knows"}')
    assert failure is not None
    assert "what nobody knows" in failure.text
