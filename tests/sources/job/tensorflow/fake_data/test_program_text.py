"""The classes that a script's text tells."""

from __future__ import annotations

import pytest

from tpudiag.sources.job.tensorflow.fake_data import paths, text_files
from tpudiag.sources.job.tensorflow.fake_data.program_text import (
    CLASSES,
    before_number,
    classes,
    trees,
    with_cells,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('CLASS_NAMES = ["HEALTHY", "ILL"]', ("HEALTHY", "ILL")),
        ("labels = ('daisy', 'rose', 'tulip')", ("daisy", "rose", "tulip")),
        ('if "gpu" in devices: pass', CLASSES),
        ('classes = ["daisy", 3]', CLASSES),
        ("x = (", CLASSES),
    ],
)
def test_classes_are_listed(text: str, expected: tuple[str, ...]) -> None:
    assert classes([text]) == expected


def test_names_of_files_and_records_carry_them() -> None:
    names = paths.matching("gs://bucket/train/*/*", ("ILL", "WELL"))
    assert {name.split("/")[-2] for name in names} == {"ILL", "WELL"}
    assert text_files.marked(1, ("ILL", "WELL")).split("/")[-2] == "WELL"


def test_the_number_in_a_name_stands_where_the_script_reads_it() -> None:
    for text, name in (
        (r"finder = re.compile(r'nb_([0-9]*)\.')", "gs://b/file-03-nb_512.tfrec"),
        (r'n = re.compile(r"-([0-9]*)\.").search(f)', "gs://b/file-03-512.tfrec"),
        ("nothing", "gs://b/file-03-512.tfrec"),
    ):
        assert name in paths.matching("gs://b/*.tfrec", CLASSES, before_number([text]))


def test_cells_that_were_exported_as_text_are_read_too() -> None:
    text = "get_ipython().run_cell_magic('time', '', '\\nx = table.column')"
    assert with_cells(text).endswith("x = table.column")
    assert with_cells("x = 1") == "x = 1"


def test_texts_of_another_language_are_passed_over() -> None:
    texts = ["print 'Python 2'", "a = 1", "nul \0 byte", "b = 2"]
    assert [len(tree.body) for tree in trees(texts)] == [1, 1]
