"""The data files: their form is checked, and nothing in them is without a text."""

import json
import os
from pathlib import Path

import pytest

from tests.benchmarks.bench_desk import QUESTIONS
from tpudiag.known_errors.catalogue import known_errors
from tpudiag.known_errors.compiled import FOLDER, BadCase, load, read
from tpudiag.known_errors.plain_text import plain, squeezed, without_prefixes
from tpudiag.known_errors.probes import Probe, candidates, hits_of, probes

SENTENCES = QUESTIONS.with_name("sentences.json")
"""What libraries write, each with the file that holds its words (empty: from experience)."""

CASE = """
[case.E01]
family = 'a'
phase = 'any'
says = ['x']
cause = 'A cause.'
fix = 'mend'
hit = 'x'
"""


def written(folder: Path, text: str) -> Path:
    """A folder of data files with one file in one room."""
    (folder / "cases" / "tpu").mkdir(parents=True, exist_ok=True)
    (folder / "cases" / "tpu" / "one.toml").write_text(text, encoding="utf-8")
    return folder / "cases"


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (CASE.replace("cause = 'A cause.'", ""), "E01: case lacks cause"),
        (CASE + "yields = ['E02']", "E01: case has no yields"),
        (CASE.replace("['x']", "'x'"), "E01: says is of another type"),
        (CASE + "[[case.E01.narrower]]\nsays = 'y'\n", "E01: narrower lacks cause, fix"),
        (
            CASE + "[[case.E01.narrower]]\ncause = 'c'\nfix = 'f'\n",
            "E01: narrower lacks says or when",
        ),
        (CASE.replace("['x']", "['{{odd}}']"), "no fragment is called 'odd'"),
        ("[[entry]]\nid = 'E01'\n", "no table is called entry"),
    ],
)
def test_a_file_of_another_form_is_refused(wrong: str, told: str, tmp_path: Path) -> None:
    with pytest.raises(BadCase, match=told):
        read(written(tmp_path, wrong))


def test_fragments_are_put_into_patterns_and_names_into_tables(tmp_path: Path) -> None:
    text = CASE.replace("['x']", "['{{who}} failed']") + (
        "[fragments]\nwho = 'the worker'\n[names.moved.'tf']\n'tf.io' = 'gfile'\n"
        "[[shared]]\nof = ['a']\n[[shared.narrower]]\n"
        "when = { op = '{{who}}' }\ncause = 'c'\nfix = 'f'\n"
    )
    cases = read(written(tmp_path, text))
    assert cases["case"][0]["says"] == ["the worker failed"]
    assert cases["shared"][0]["narrower"][0]["when"] == {"op": "the worker"}
    assert cases["names"] == {"moved": {"tf tf.io": "gfile"}}


def test_a_data_file_that_is_newer_is_compiled_anew(tmp_path: Path) -> None:
    compiled = tmp_path / "cases.json"
    folder = written(tmp_path, CASE)
    assert load(folder, compiled)["case"][0]["cause"] == "A cause."
    assert json.loads(compiled.read_text(encoding="utf-8"))["case"][0]["id"] == "E01"
    written(tmp_path, CASE.replace("A cause.", "Another."))
    later = compiled.stat().st_mtime_ns + 1_000_000_000
    os.utime(folder / "tpu" / "one.toml", ns=(later, later))
    assert load(folder, compiled)["case"][0]["cause"] == "Another."


def test_a_wheel_has_the_compiled_file_alone(tmp_path: Path) -> None:
    compiled = tmp_path / "cases.json"
    compiled.write_text('{"case": []}', encoding="utf-8")
    assert load(tmp_path / "none", compiled)["case"] == []


def test_a_room_can_be_left_out(tmp_path: Path) -> None:
    folder = written(tmp_path, CASE)
    (folder / "beside").mkdir()
    other = CASE.replace("E01", "E02") + "[names.replaced]\n'jax.host_id' = 'x'\n"
    (folder / "beside" / "two.toml").write_text(other, encoding="utf-8")
    assert [each["id"] for each in read(folder)["case"]] == ["E02", "E01"]
    left = read(folder, without=["beside"])
    assert [each["id"] for each in left["case"]] == ["E01"] and not left["names"]


def test_where_nobody_may_write_the_sources_are_read(tmp_path: Path) -> None:
    assert load(written(tmp_path, CASE), tmp_path / "no folder" / "cases.json")["case"]


def test_one_subject_a_file_and_one_room_a_folder() -> None:
    assert {path.parent.name for path in FOLDER.glob("*/*.toml")} == {"tpu", "beside"}


@pytest.mark.slow
def test_nothing_is_looked_for_that_no_text_holds() -> None:
    sets = json.loads(QUESTIONS.read_text(encoding="utf-8"))
    texts = [each["text"] for name in ("tune", "hold") for each in sets[name]]
    texts += [each["text"] for each in json.loads(SENTENCES.read_text(encoding="utf-8"))]
    for error in known_errors():
        texts += [error.example, *error.more_examples, *(each.hit for each in error.narrower)]
    held: set[Probe] = set()
    for text in texts:
        raw = without_prefixes(text.encode(errors="replace"))
        bare = squeezed(plain(raw)).lower().replace(b"`", b"'")
        for probe, places in candidates(bare).items():
            if probe not in held and next(hits_of(probe, bare, places, 0), None):
                held.add(probe)
    unheld = [(known_errors()[each.error].id, each.pattern) for each in probes()]
    assert not [row for row, each in zip(unheld, probes(), strict=True) if each not in held]
