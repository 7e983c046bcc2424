"""The search for known errors: in any wrapping, of any size, in linear time."""

import io
import json
import re
import textwrap
import time
import tracemalloc
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.sources.job.programs import printed
from tpudiag.known_errors import search
from tpudiag.known_errors.answers import all_rows
from tpudiag.known_errors.catalogue import known_errors
from tpudiag.known_errors.model import MOST_COUNTED, KnownError, Match
from tpudiag.known_errors.search import match, scan

CATALOGUE = tuple(error for error in known_errors() if error.patterns)
"""The others have no words of their own: tests of .cut_off."""
BY_ID = {error.id: error for error in CATALOGUE}
NOISE = "2026-01-02 03:04:05: I trainer.py:12] epoch 3, step 1234, loss 0.12, 1900 images/s\n"

# Each fourth in the quick part, all of them in the whole suite.
each_error = pytest.mark.parametrize(
    "error",
    [
        pytest.param(error, id=error.id, marks=[pytest.mark.slow] if number % 4 else [])
        for number, error in enumerate(CATALOGUE)
    ],
)


def ids(found: tuple[Match, ...]) -> list[str]:
    return [each.error.id for each in found]


def scanned(text: str) -> tuple[Match, ...]:
    return scan(io.BytesIO(text.encode(errors="replace")))


@each_error
def test_example_is_recognised_as_itself_and_as_nothing_better(error: KnownError) -> None:
    found = match(error.example)
    assert found[0].error == error
    assert all(other.secondary or other.error.level != "error" for other in found[1:])
    assert not found[0].secondary


HBM = BY_ID["E19"].example
PREFIXED = "\n".join(f"(worker-3, pid=77) 2026-01-02 03:04:05 {row}" for row in HBM.splitlines())
SIZES = {
    "used": "41.74G",
    "limit": "16.00G",
    "over": "25.74G",
    "padding": "31.00G",
    "expansion": "32.0",
}


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("worker 3: Collective ops is aborted by: the peer was\n    restarted too late",
         {"why": "the peer was restarted too late"}),
        ("Unsupported data type for TPU: String", {"type": "String"}),
        ("File not found: filepath=my_best. Please ensure the file is a zip.", {"path": "my_best"}),
        (HBM, SIZES),
        (PREFIXED, SIZES),
    ],
)  # fmt: skip
def test_the_values_of_a_text_are_read_whole(text: str, values: dict[str, str]) -> None:
    assert match(text)[0].values == values


def test_near_misses_are_not_recognised() -> None:
    for error in CATALOGUE:
        if error.miss:
            assert error.id not in ids(match(error.miss))


@pytest.mark.slow
def test_wrapped_examples_are_recognised() -> None:
    for error, width in product(CATALOGUE, (40, 100)):
        soft = "\n".join(textwrap.wrap(error.example, width))
        flat = " ".join(error.example.split())
        hard = "\r\n".join(flat[start : start + width] for start in range(0, len(flat), width))
        framed = "\n".join(f"│ {line:<{width}} │" for line in hard.splitlines())
        for text in (soft, hard, framed, textwrap.indent(soft, "        ")):
            assert match(text)[0].error.id == error.id


@pytest.mark.slow
def test_disguised_examples_are_recognised() -> None:
    for error in CATALOGUE:
        plain = match(error.example)[0]
        coloured = re.sub(r"(\S{7})", "\x1b[1;31m\\1\x1b[0m", error.example)
        escaped = json.dumps({"severity": "ERROR", "message": error.example})
        twice = json.dumps({"log": escaped})
        roots = f"9 root error(s) found.\n  (0) INTERNAL: {error.example}\n  (1) {error.example}"
        shouted, doubled = error.example.upper(), f"{error.example}\n{error.example}"
        for text in (coloured, escaped, twice, roots, shouted, doubled):
            found = match(text)[0]
            assert found.error.id == error.id
            assert "\x1b" not in found.excerpt
        assert match(coloured)[0].values == plain.values


def test_details_without_their_values_are_left_out() -> None:
    found = match("RESOURCE_EXHAUSTED: E1000: CompileTimeHbmOom")[0]
    assert found.error.id == "E18"
    assert found.message == found.error.cause


def test_line_excerpt_and_count() -> None:
    text = NOISE * 3 + "  ValueError: Please provide a TPU Name to connect to.\n" + NOISE
    (found,) = match(text * 2)
    assert (found.line, found.last_line, found.count) == (4, 9, 2)
    assert found.excerpt == "Please provide a TPU Name to connect to."


def test_long_excerpt_is_cut() -> None:
    (found,) = match("No TPU platform registered" + " and so on" * 100)
    assert len(found.excerpt) == search.LONGEST_EXCERPT + 1
    assert found.excerpt.startswith("No TPU platform registered and so on")


def test_cause_stands_before_its_consequence_and_failure_before_warning() -> None:
    consequence, cause, warning = (BY_ID[id_].example for id_ in ("E28", "E26", "E35"))
    found = match("\n".join([warning, consequence, cause]))
    assert ids(found)[:2] == ["E26", "E35"]
    assert ids(found)[-1] == "E28"
    assert found[-1].secondary and not found[0].secondary


def test_last_lines_of_an_abort_lead_to_the_first_reason() -> None:
    log = "\n".join([NOISE, BY_ID["E95"].example, NOISE * 50, BY_ID["E97"].example])
    found = match(log)
    assert found[0].error.id == "E95"
    assert next(each for each in found if each.error.id == "E97").secondary


def test_consequence_alone_is_no_consequence() -> None:
    found = match(f"{BY_ID['E35'].example}\n{BY_ID['E28'].example}")
    assert ids(found) == ["E28", "E35"]
    assert not found[0].secondary


def test_rest_of_the_log_decides_between_rival_causes() -> None:
    alone = match(BY_ID["E28"].example)[0]
    assert alone.confidence == "low" and alone.supported is None
    told = match(f"dataset = dataset.cache().shuffle(100000)\n{BY_ID['E28'].example}")[0]
    assert told.confidence == "medium"
    assert told.supported is not None and "memory" in told.supported.rival.cause
    assert told.rivals[0] == told.supported and told.supported.line == 1
    assert told.fix == told.supported.rival.fix


@pytest.mark.slow
@pytest.mark.parametrize("shift", range(-2, 3))
def test_match_across_the_edge_of_a_block_is_found_once(shift: int) -> None:
    for edge in (search.BLOCK - search.LONGEST_MATCH, search.BLOCK):
        for filler in ("x" * (edge - 20 + shift * 11), "xyz\n" * (edge // 4 - 6 + shift * 3)):
            text = f"{filler}\n{BY_ID['E01'].example}\n" + "y" * 40 * search.LONGEST_MATCH
            (found,) = match(text)
            assert (found.error.id, found.count) == ("E01", 1)
            assert found.line == filler.count("\n") + 2


def test_every_repetition_is_counted() -> None:
    found = match((BY_ID["E35"].example + "\n") * 1_000)[0]
    assert (found.count, found.line, found.last_line) == (1_000, 1, 1_000)


@pytest.mark.slow
def test_what_a_log_says_a_million_times_is_counted_up_to_a_limit() -> None:
    error = "ValueError: Please provide a TPU Name to connect to.\n"
    again = "all is well\n" * (search.BLOCK // 8)
    found = scanned(error * MOST_COUNTED + again + error * 5)[0]
    assert found.count == MOST_COUNTED
    assert "10,000 times or more" in next(all_rows([found]))


@pytest.mark.slow
@settings(deadline=None)  # the first call makes the automaton
@given(st.text(st.characters()))
def test_any_text_is_searched_without_an_exception(text: str) -> None:
    match(text)


fragments = st.sampled_from(
    [error.example for error in CATALOGUE] + [error.miss for error in CATALOGUE]
)
pieces = st.one_of(
    st.text(max_size=20), fragments, st.sampled_from(["\n", "\x1b[31m", "\x1b]0;", "│", "\\", "\r"])
)


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(st.lists(pieces, max_size=12))
def test_blocks_and_whole_text_agree(parts: list[str]) -> None:
    text = "".join(parts)
    filler = "step\n" * (search.BLOCK // 5)
    whole, late = scanned(text), scanned(filler + text)
    assert ids(late) == ids(whole)
    assert [each.count for each in late] == [each.count for each in whole]


HOSTILE = {
    "one head again and again": "You must feed a value for placeholder tensor 'cond/then/",
    "a head with a long gap": "Detected unsupported operations when trying to compile graph ",
    "a long tail": "Ran out of memory in memory space hbm. Used 1G of 1G hbm. "
    "Exceeded hbm capacity by 1G",
    "several gaps": "Trying to access resource a located in device /job:a/CPU:1 ",
    "broken colours": "\x1b]\x1b[",
    "escapes": "\\\\\\",
    "no line ends": "a",
    "nothing but space": " \n",
}


@pytest.mark.slow
@pytest.mark.parametrize("unit", HOSTILE.values(), ids=HOSTILE.keys())
def test_time_grows_with_the_text_and_not_faster(unit: str) -> None:
    def took(size: int) -> float:
        text = (unit * (size // len(unit) + 1))[:size]
        started = time.process_time()
        match(text)
        return time.process_time() - started

    match(unit)
    small = min(took(500_000) for _ in range(2))
    assert took(2_000_000) < 4 * 2.5 * small + 0.1


def test_log_is_scanned_in_bounded_memory() -> None:
    class Log(io.RawIOBase):
        """A log of so many lines, made while it is read."""

        def __init__(self, lines: int) -> None:
            self.left = lines

        def read(self, size: int = -1) -> bytes:
            lines = min(self.left, max(1, size // len(NOISE)))
            self.left -= lines
            last = BY_ID["E22"].example if lines and not self.left else ""
            return (NOISE * lines + last).encode()

    def peak(lines: int) -> int:
        tracemalloc.start()
        found = scan(Log(lines))
        size = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert ids(found)[0] == "E22"
        return size

    peak(2_000)
    assert peak(80_000) < 1.5 * peak(12_000)


@pytest.mark.slow
def test_one_text_may_hold_all() -> None:
    text = NOISE.join(error.example + "\n" for error in CATALOGUE)
    assert set(ids(scanned(text))) == {error.id for error in CATALOGUE}


@pytest.mark.slow
def test_import_is_cheap() -> None:
    code = (
        "import sys; before = set(sys.modules); import tpudiag.known_errors.search;"
        "print(*sorted(set(sys.modules) - before))"
    )
    loaded = set(printed(code).split())
    assert not loaded & {"tensorflow", "numpy", "rich", "msgspec", "ahocorasick_rs", "tomllib"}


def test_prefixes_that_split_a_wrapped_sentence_are_left_out() -> None:
    lines = textwrap.wrap(BY_ID["E12"].example, 50)
    for prefix in ("2026-01-02T03:04:05.678Z worker-3 trainer[77]: ", "(task 3, pid=812) ", "> "):
        text = "\n".join(prefix + line for line in lines)
        assert match(text)[0].error.id == "E12"


@pytest.mark.parametrize(
    ("text", "id_"),
    [
        # A package whose name begins as another's is not that.
        ("AttributeError: module 'tensorflow_datasets' has no attribute 'x'", "E281"),
        ("AttributeError: module 'keras_cv_attention_models' has no attribute 'x'", "E281"),
        # A layer that is given a KerasTensor is no matter of ranks.
        ("ValueError: Exception encountered when calling layer 'keras_layer'.\n"
         "A KerasTensor cannot be used as input to a TensorFlow function. It stands for a shape.",
         "P24"),
        ("ValueError: Exception encountered when calling layer 'tf_bert_model'.\n"
         "Data of type <class 'keras.src.backend.common.keras_tensor.KerasTensor'> is not allowed "
         "only (<class 'tensorflow.python.framework.tensor.Tensor'>) is accepted for input_ids.",
         "P33"),
    ],
)  # fmt: skip
def test_a_text_is_answered_by_this_case(text: str, id_: str) -> None:
    assert ids(match(text))[0] == id_


def test_what_addons_say_at_their_import_is_no_error() -> None:
    text = (
        "TensorFlow Addons (TFA) has ended development and introduction of new features.\n"
        "TFA has entered a minimal maintenance and release mode until a planned end of life."
    )
    assert all(hit.error.noise for hit in match(text))
