"""How sure an answer is, by what it was told by."""

from tpudiag.known_errors.model import Match
from tpudiag.known_errors.reader import in_text
from tpudiag.known_errors.search import match
from tpudiag.known_errors.unknown import UnknownError

FRAME = """\
  File "site-packages/tensorflow/python/framework/type_spec.py", line 1005, in from_value
    raise TypeError(f"Could not build a TypeSpec for {value} of "
"""


def test_a_family_of_which_nothing_more_is_known_is_not_sure() -> None:
    alone = match("AttributeError: 'Runner' object has no attribute 'something'")[0]
    assert alone.error.id == "E495"
    assert alone.confidence == "low"


def test_a_reading_that_nothing_speaks_for_is_only_likely() -> None:
    unlike = match("InvalidArgumentError: Incompatible shapes: [8,3,5] vs. [2,7]")[0]
    assert unlike.reading is not None and unlike.reading.guess
    assert unlike.confidence == "medium"


def test_a_sentence_that_tells_all_is_likely() -> None:
    told = match("TypeError: 'EagerTensor' object does not support item assignment")[0]
    assert told.confidence != "low"


def test_what_was_said_stands_before_the_source_line_that_says_it() -> None:
    said = 'TypeError: Could not build a TypeSpec for name: "AssignAddVariableOp_1"'
    answers = match(FRAME + said)
    assert [each.error.id for each in answers[:2]] == ["E411", "E480"]
    assert answers[1].told_by == "frame"


def test_a_consequence_that_stands_alone_is_not_sure() -> None:
    alone = match("TPU compilation failed")[0]
    assert alone.error.kind.name == "CONSEQUENCE"
    assert alone.confidence == "low"


def test_the_line_that_failed_may_tell_the_cause() -> None:
    error = "TypeError: Trainer.compile() got an unexpected keyword argument 'metric'"
    (alone, *_) = in_text(error)
    (shown, *_) = in_text(f'  File "t.py", line 2, in f\n    m.compile("adam", metric=[])\n{error}')
    assert isinstance(alone, UnknownError)
    assert isinstance(shown, Match) and not shown.undecided
