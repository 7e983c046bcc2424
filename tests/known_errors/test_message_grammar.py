"""What an error's own sentence says is read, whatever it is about."""

import pytest

from tpudiag.known_errors.message_grammar import own_words
from tpudiag.known_errors.model import Match
from tpudiag.known_errors.reader import in_text
from tpudiag.known_errors.unknown import UnknownError


@pytest.mark.parametrize(
    ("text", "about", "wanted", "given"),
    [
        ("ValueError: `variance` must be length 4, got 3", "variance", "length 4", "3"),
        ("ValueError: Expected float dtype. Received: int8", None, "float dtype", "int8"),
        ("ValueError: `axis` should be a number. Received: (1, 2)", "axis", "a number", "(1, 2)"),
    ],
)
def test_what_was_wanted_and_what_came_are_told_apart(
    text: str, about: str | None, wanted: str, given: str
) -> None:
    said = own_words(text)
    assert said is not None
    assert (said.about, said.wanted, said.given) == (about, wanted, given)


def test_a_kind_of_what_is_wanted_is_not_made_of_it_once_more() -> None:
    for given, made in (("FrozenDict({})", False), ("list", True)):
        said = own_words(f"ValueError: Expected dict, got {given}")
        assert said is not None and ('{"name": x}' in said.fix) is made


@pytest.mark.parametrize(
    ("text", "part", "said"),
    [
        # What is not found is not what came, and what came instead is no advice.
        ("AbortedError: Session 5a is not found. Possibly, it has restarted.", "given", None),
        ("InvalidArgumentError: Expected size 2, but got size 3 instead.", "advice", ()),
        # What hands an error on, and the function in which it happened, is no part of its sentence.
        ("TypeError: It fails. Error encountered:\n\nq must be 3-D.", "cause", "q must be 3-D."),
        ("XLA:TPU compile permanent error. Compilation failure: No viable count. See x.",
         "sentence", "No viable count."),
        ("InvalidArgumentError: {{function_node __wrapped__Odd_CPU:0}} It is not odd. [Op:Odd]",
         "sentence", "It is not odd."),
        # Rows of their own behind a colon say what it is.
        ("ValueError: Sizes are not evenly divisible:\n\nThe mesh.\n\n* 8 is not by 3", "cause",
         "* 8 is not by 3"),
    ],
)  # fmt: skip
def test_the_parts_of_a_message_are_told_apart(text: str, part: str, said: object) -> None:
    assert getattr(own_words(text), part) == said


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        ("No endpoints have been set yet. Call add_endpoint().", "Call add_endpoint()"),
        # A number that does not divide gets its neighbours.
        ("17 is not divisible by 4", "16 or 20 in place of 17"),
        ("Number of devices (8) does not evenly divide batch size (1).", "8 in place of 1:"),
        ("3 does not divide 17", "15 or 18 in place of 17"),
        ("More bytes than reserved: 96636764160 > 96000000000", "96.64 GB against 96.00 GB: 0.64"),
        # Dimensions are counted.
        ("Expected `serialized` to be a scalar, got shape: [1,1]", "2 dimensions too many"),
        ("predictions should be rank 2, got (4, 5, 6)", "one dimension too many"),
        ("images must be 4-D, got shape [28, 28, 3]", "one dimension too few"),
        # What is wanted is of the argument, and not of the function.
        ("dtype argument to `f` must be an int, got bool", "dtype=...      # wanted: an int"),
        ("M.from_rows requires n=2; got 3", "# wanted: n=2; here it is 3"),
        ("to_all send_sizes must be in [0,1).", "# wanted: in [0,1)"),
        ("`cross` inputs must have rank >= 2", "# wanted: to have rank >= 2"),
        ("`ks` must be a list.Received: ks=3", "ks=...      # wanted: a list; here it is 3"),
        ("`labels` must be a NumPy array, got <class 'list'>", "labels = np.asarray(labels)"),
    ],
)
def test_what_can_be_changed_is_read_from_the_sentence(text: str, fix: str) -> None:
    said = own_words(f"ValueError: {text}")
    assert said is not None and fix in said.fix


@pytest.mark.parametrize(
    "text",
    [
        "images must be 4-D, got shape [8, 28, 28, 3]",
        "`x` must be at least 2-D, got shape [8, 28, 28]",
        "`axis` should be a scalar. Received: (1, 2)",
    ],
)
def test_dimensions_that_fit_are_not_counted(text: str) -> None:
    said = own_words(f"ValueError: {text}")
    assert said is not None and "dimension" not in said.fix


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("Node: 'P_1'\nExpected `x` to be odd, got 4\n\t [[{{node P_1}}]]", "to be odd"),
        ("ValueError: The odd `width` must be 3, got 4", "The odd `width` must be 3, got 4."),
        ('  File "a.py", line 3, in f\n    assert a.legs == 3\nAssertionError', "a.legs == 3"),
    ],
)
def test_what_is_not_known_is_told_by_its_own_words(text: str, cause: str) -> None:
    (told, *_) = in_text(text)
    assert isinstance(told, UnknownError) and cause in (told.cause or "")


def test_a_sentence_ends_where_the_log_goes_on() -> None:
    gone = "Failed to open libtpu: libtpu.so: cannot open shared object file: No such file"
    (told, *_) = in_text(f"{gone}\nW1120 11:35:14.5 1 a.py:7] The width must be odd, got 4.")
    assert isinstance(told, Match) and "odd" not in told.message


def test_that_something_failed_is_no_cause() -> None:
    assert own_words("RuntimeError: Failed to create trace directory at /tmp/x") is None


def test_what_an_argument_was_to_be_stands_before_what_its_name_mostly_is() -> None:
    (told, *_) = in_text(
        "ValueError: Argument `width` can only be set when `mode == 'a'`. Received: mode=b"
    )
    assert isinstance(told, UnknownError) and told.cause
    assert told.cause.startswith("Argument `width` can only be set when")
    assert told.fix.startswith("width=...      # wanted: set when `mode == 'a'`; here it is mode=b")


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        ("ValueError: num_keys=3 must be between 1 and 2", "num_keys=...      # wanted: between 1"),
        (
            "ValueError: Unknown merge mode 'sums'. Supported modes: 'sum', 'ave'.",
            "'sum'      # in",
        ),
        ("ValueError: shape (2,) is not compatible with shape (None, 2)", "once; or the first"),
        (
            '  File "a.py", line 3, in f\n    g(2)\nValueError: x must be odd, got 2',
            "# a.py:3: g(2)",
        ),
    ],
)
def test_an_error_that_is_no_case_says_what_can_be_changed(text: str, fix: str) -> None:
    (told,) = in_text(text)
    assert isinstance(told, UnknownError) and told.told
    assert fix in told.fix


@pytest.mark.parametrize(
    "text",
    [
        "If the `request` argument is set, then none of the fields should be set.",
        "The node does not expect saved values but its file has some.",
        "Unsupported gather index layout: 16",
        "You can't use two different meshes.",
        "The elements of shape (8, 2) and those of (3, 4) are not enough",
        "It was lost\n\t [[{{node a/MatMul}}]]",
    ],
)
def test_what_a_sentence_does_not_say_is_not_told(text: str) -> None:
    (told,) = in_text(f"ValueError: {text}")
    assert isinstance(told, UnknownError) and not told.told


@pytest.mark.parametrize(
    ("text", "lacks"),
    [
        ("No model that is created without `input_shape` in its first layer.", "input_shape"),
        ("`train_dir` is missing.", "train_dir"),
        ("You must specify an export_dir first.", "export_dir"),
        ("It works without strategy.", None),
    ],
)
def test_what_was_not_given(text: str, lacks: str | None) -> None:
    said = own_words(f"ValueError: {text}")
    assert (said.lacks if said else None) == lacks


def test_advice_of_the_message_comes_first_where_nothing_narrower_is_known() -> None:
    (told,) = in_text(
        "ValueError:  We currently do not support distribution strategy with a `Sequential` model"
        " that is created without `input_shape`/`input_dim` set in its first layer."
    )
    assert isinstance(told, UnknownError) and told.fix.startswith("input_shape=...      # what it")


def test_advice_that_the_case_knows_to_be_no_help_is_not_repeated() -> None:
    (hit, *_) = in_text(
        "TypeError: Descriptors cannot not be created directly.\n"
        " 1. Downgrade the protobuf package to 3.20.x or lower.\n"
        " 2. Set PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION=python (but this will be much slower)."
    )
    assert isinstance(hit, Match)
    assert hit.fix.startswith("pip install") and "it says itself" not in hit.fix
