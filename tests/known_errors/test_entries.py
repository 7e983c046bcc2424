"""The entries: complete, actionable, and searched for in linear time."""

import json
import re

from tpudiag.known_errors import search
from tpudiag.known_errors.catalogue import known_errors
from tpudiag.known_errors.compiled import cases
from tpudiag.known_errors.literals import anchor, squeezed_pattern
from tpudiag.known_errors.model import KnownError, defaults

CATALOGUE = known_errors()
IDS = [error.id for error in CATALOGUE]
LEAST_ANCHOR = 5


def patterns(error: KnownError) -> list[str]:
    """What is looked for in every text."""
    if not error.patterns:
        return []
    return [*error.patterns, *(cue for rival in error.rivals for cue in rival.cues)]


def test_ids_are_unique_and_told_apart_from_the_silent_ones() -> None:
    without_text = [each["id"] for each in cases()["silent"]]
    assert len({*IDS, *without_text}) == len(IDS) + len(without_text)
    assert {"E34", "E42", "E51", "E52"} <= set(without_text)


def test_entry_can_be_acted_on() -> None:
    for error in CATALOGUE:
        assert re.fullmatch(r"[ENPR]\d{2,3}", error.id)
        assert re.fullmatch(r"[a-z0-9]+(?:-[a-z0-9]+)*", error.family)
        assert error.cause.endswith(".") and len(error.cause) > 30, error.id
        assert len(error.fix) > 10 and error.fix == error.fix.strip()
        assert error.example.strip()
        assert error.citations or error.evidence != "reported"
        values = {name for pattern in error.patterns for name in re.compile(pattern).groupindex}
        asked = {name for detail in error.details for name in re.findall(r"{(\w+)}", detail)}
        assert asked <= values
        fixes = (error.fix, *(rival.fix for rival in error.rivals))
        values |= {"package"} if "No module named" in error.example else set()
        blanks = {name for fix in fixes for name in re.findall(r"<<(\w+)>>", fix)}
        assert blanks <= values | defaults().keys(), error.id


def test_rival_causes_can_be_told_apart() -> None:
    for error in CATALOGUE:
        assert len(error.rivals) != 1
        for rival in error.rivals:
            assert rival.cause and rival.look_for


def test_no_registry_or_download_host_is_named() -> None:
    for error in CATALOGUE:
        assert not re.search(r"https?://|pypi|storage\.googleapis", f"{error.fix} {error.cause}")


def test_an_advised_mesh_lets_the_compiler_decide_in_all_releases_of_jax() -> None:
    lines = json.dumps(cases()).split("\\n")
    assert not [each for each in lines if "jax.make_mesh(" in each and "axis_types" not in each]


def test_patterns_keep_the_search_linear_and_the_window_small() -> None:
    for error in CATALOGUE:
        for pattern in patterns(error):
            bare = re.sub(r"\\.|\[(?:[^\]\\]|\\.)*\]", "x", pattern)
            assert not re.search(r"[*+]|,\}|\)\{", bare), "unbounded or nested repeat"
            outside = bare
            while (inner := re.sub(r"\([^()]*\)", "", outside)) != outside:
                outside = inner
            assert "|" not in outside, "alternatives belong into a group"
            longest = sum(int(bound) for bound in re.findall(r"(\d+)\}", bare)) + len(pattern)
            assert longest < search.LONGEST_MATCH
            assert len(anchor(squeezed_pattern(pattern))) >= LEAST_ANCHOR
            re.compile(squeezed_pattern(pattern))


def test_rehearsal_only_entries_do_not_blame_the_user() -> None:
    for error in CATALOGUE:
        assert error.rehearsal_only == error.id.startswith("R")
        if error.rehearsal_only:
            assert "artefact of the rehearsal" in error.cause
            assert "not a fault of the script" in error.cause
            assert error.level == "info"


def test_noise_says_that_it_is_no_error() -> None:
    for error in CATALOGUE:
        if error.noise:
            assert error.level == "info"
            assert error.cause.startswith("No error")


def test_anchor_is_the_longest_required_literal() -> None:
    assert anchor(r"abc\(def\)(?:optional)?x.{0,3}y") == "abc(def)"
    assert anchor(r"[abc]de?f\dghij") == "ghij"
    assert anchor(r"\w{1,3}") == ""


def test_output_holds_no_tpu() -> None:
    pattern = re.compile(squeezed_pattern("not on a TPU"))
    assert pattern.search("notonatpu")
    assert not re.compile(squeezed_pattern("TPU core")).search("outputcore")
