"""The catalogue of known errors: every entry recognises its own text, and the search is linear."""

from __future__ import annotations

import io
import re
import subprocess
import sys
import textwrap
import time
import tracemalloc
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tpudiag.known_errors import search
from tpudiag.known_errors.model import KnownError
from tpudiag.known_errors.search import Match, anchor, match, scan, scan_stream, silent

CATALOGUE = search.known_errors()
BY_ID = {error.id: error for error in CATALOGUE}
NOISE = "2026-01-02 03:04:05: I trainer.py:12] epoch 3, step 1234, loss 0.12, 1900 images/s\n"

each_error = pytest.mark.parametrize("error", CATALOGUE, ids=lambda error: error.id)


def ids(found: tuple[Match, ...]) -> list[str]:
    return [each.error.id for each in found]


def test_every_id_of_the_facts_is_an_entry_or_silent_with_a_reason() -> None:
    known = [error.id for error in CATALOGUE if error.id.startswith("E")]
    without_text = [each.id for each in silent()]
    assert sorted(known + without_text) == [f"E{number:02}" for number in range(1, 54)]
    assert {"E34", "E42", "E51", "E52"} <= set(without_text)
    assert all(each.reason for each in silent())


def test_ids_are_unique() -> None:
    assert len(BY_ID) == len(CATALOGUE)


@each_error
def test_example_is_recognised_as_itself_and_as_nothing_better(error: KnownError) -> None:
    found = match(error.example)
    assert found[0].error == error
    assert all(other.secondary for other in found[1:])
    assert not found[0].secondary


@each_error
def test_near_miss_is_not_recognised(error: KnownError) -> None:
    assert error.id not in ids(match(error.near_miss))


@each_error
@pytest.mark.parametrize("width", [40, 80, 100])
def test_wrapped_example_is_recognised(error: KnownError, width: int) -> None:
    soft = "\n".join(textwrap.wrap(error.example, width))
    flat = " ".join(error.example.split())
    hard = "\r\n".join(flat[start : start + width] for start in range(0, len(flat), width))
    framed = "\n".join(f"│ {line:<{width}} │" for line in hard.splitlines())
    for text in (soft, hard, framed, textwrap.indent(soft, "        ")):
        assert match(text)[0].error == error


@each_error
def test_coloured_example_is_recognised_without_its_colours(error: KnownError) -> None:
    coloured = re.sub(r"(\S{7})", "\x1b[1;31m\\1\x1b[0m", error.example)
    found = match(coloured)
    assert found[0].error == error
    assert "\x1b" not in found[0].excerpt
    assert found[0].values == match(error.example)[0].values


@each_error
def test_entry_can_be_acted_on(error: KnownError) -> None:
    assert error.cause.endswith(".") and len(error.cause) > 30
    assert len(error.fix) > 20 and error.fix == error.fix.strip()
    assert error.example.strip() and error.near_miss.strip()
    assert error.citations or error.evidence == "reproduced"
    values = {name for pattern in error.patterns for name in re.compile(pattern).groupindex}
    asked = {name for detail in error.details for name in re.findall(r"{(\w+)}", detail)}
    assert asked <= values
    assert set(error.yields_to) <= {"*", *BY_ID}


@each_error
def test_no_registry_or_download_host_is_named(error: KnownError) -> None:
    assert not re.search(r"https?://|pypi|storage\.googleapis", f"{error.fix} {error.cause}")


@each_error
def test_patterns_keep_the_search_linear_and_the_window_small(error: KnownError) -> None:
    for pattern in error.patterns:
        bare = re.sub(r"\\.|\[(?:[^\]\\]|\\.)*\]", "x", pattern)
        assert not re.search(r"[*+]|,\}|\)\{", bare), "unbounded or nested repeat"
        outside = re.sub(r"\((?:[^()]|\([^()]*\))*\)", "", bare)
        assert "|" not in outside, "alternatives belong into a group"
        longest = sum(int(bound) for bound in re.findall(r"(\d+)\}", bare)) + len(pattern)
        assert longest < search.LONGEST_MATCH
        assert len(anchor(pattern.replace(" ", ""))) >= 10
        re.compile(pattern)


@each_error
def test_rehearsal_only_entries_do_not_blame_the_user(error: KnownError) -> None:
    assert error.rehearsal_only == error.id.startswith("R")
    if error.rehearsal_only:
        assert "artefact of the rehearsal" in error.cause
        assert "not a fault of the script" in error.cause
        assert error.level == "info"


def test_anchor_is_the_longest_required_literal() -> None:
    assert anchor(r"abc\(def\)(?:optional)?x.{0,3}y") == "abc(def)"
    assert anchor(r"[abc]de?f\dghij") == "ghij"
    assert anchor(r"\w{1,3}") == ""


def test_out_of_memory_gives_its_sizes() -> None:
    (found,) = match(BY_ID["E19"].example)
    assert found.values == {
        "used": "41.74G",
        "limit": "16.00G",
        "over": "25.74G",
        "padding": "31.00G",
        "expansion": "32.0",
    }
    assert "41.74G of 16.00G" in found.message and "32.0x" in found.message


def test_details_without_their_values_are_left_out() -> None:
    (found,) = match("RESOURCE_EXHAUSTED: E1000: CompileTimeHbmOom")
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
    assert ids(found) == ["E26", "E35", "E28"]
    assert [each.secondary for each in found] == [False, False, True]


def test_consequence_alone_is_no_consequence() -> None:
    found = match(f"{BY_ID['E35'].example}\n{BY_ID['E28'].example}")
    assert ids(found) == ["E28", "E35"]
    assert not found[0].secondary


@pytest.mark.parametrize("shift", range(-12, 13))
def test_match_across_the_edge_of_a_window_is_found_once(shift: int) -> None:
    edge = search.WINDOW - search.LONGEST_MATCH
    for edge_shift in (edge, search.WINDOW, search.LONGEST_PIECE):
        filler = "x" * (edge_shift - 20 + shift * 3)
        text = f"{filler}\n{BY_ID['E01'].example}\n" + "y\n" * search.WINDOW
        (found,) = match(text)
        assert (found.error.id, found.line, found.count) == ("E01", 2, 1)


def test_every_repetition_is_counted() -> None:
    (found,) = match((BY_ID["E06"].example + "\n") * 5_000)
    assert (found.count, found.line, found.last_line) == (5_000, 1, 5_000)


@given(st.text(st.characters()))
def test_any_text_is_searched_without_an_exception(text: str) -> None:
    match(text)


fragments = st.sampled_from(
    [error.example for error in CATALOGUE] + [error.near_miss for error in CATALOGUE]
)
pieces = st.one_of(st.text(), fragments, st.sampled_from(["\n", "\x1b[31m", "\x1b]0;", "│", "\r"]))


@given(st.lists(pieces, max_size=12))
def test_stream_and_text_agree(parts: list[str]) -> None:
    text = "".join(parts)
    assert scan(line + "\n" for line in text.split("\n")) == match(text)
    assert scan_stream(io.StringIO(text, newline="\n")) == match(text)


HOSTILE = {
    "one head again and again": "You must feed a value for placeholder tensor 'cond/then/",
    "a head with a long gap": "Detected unsupported operations when trying to compile graph ",
    "a long tail": "Ran out of memory in memory space hbm. Used 1G of 1G hbm. "
    "Exceeded hbm capacity by 1G",
    "several gaps": "Trying to access resource a located in device /job:a/CPU:1 ",
    "every anchor": " ".join(anchor(p.replace(" ", "")) for e in CATALOGUE for p in e.patterns),
    "broken colours": "\x1b]\x1b[",
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
    small = min(took(1_250_000) for _ in range(2))
    assert took(5_000_000) < 4 * 2.5 * small + 0.1


@pytest.mark.slow
def test_log_is_scanned_in_bounded_memory() -> None:
    def log(lines: int) -> Iterator[str]:
        for number in range(lines):
            yield NOISE
            if number % 1_000 == 500:
                yield BY_ID["E35"].example + "\n"
        yield BY_ID["E22"].example

    def peak(lines: int) -> int:
        tracemalloc.start()
        found = scan(log(lines))
        size = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert ids(found) == ["E22", "E35"]
        assert found[1].count == lines // 1_000
        return size

    peak(2_000)
    assert peak(80_000) < 1.5 * peak(8_000)


def test_stream_finds_what_the_text_holds() -> None:
    text = NOISE.join(error.example + "\n" for error in CATALOGUE)
    assert scan(text.splitlines(keepends=True)) == match(text)
    assert scan_stream(io.StringIO(text)) == match(text)
    assert set(ids(match(text))) == set(BY_ID)


def test_import_is_cheap() -> None:
    code = (
        "import sys; before = set(sys.modules); import tpudiag.known_errors.search;"
        "print(*sorted(set(sys.modules) - before))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(run.stdout.split())
    heavy = {"tensorflow", "numpy", "rich", "msgspec", "tomllib", "tpudiag.known_errors.entries"}
    assert not loaded & heavy
